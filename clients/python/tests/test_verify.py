"""Holds the verifier against the vectors that every verifier of the project agrees on."""

import base64
import json
import pathlib
import threading

import pytest

from countersign.verify import MESSAGE, ApprovalRequired, Verifier, canonical

VECTORS = pathlib.Path(__file__).parents[3] / "corpus" / "tokens.jsonl"
ROWS = {row["name"]: row for row in map(json.loads, VECTORS.read_text(encoding="utf-8").splitlines())}


class Clock:
    now = 0

    def __call__(self):
        return self.now


def call_of(row):
    expected = dict(row["expected"])
    del expected["audience"]
    if "arguments_text" in expected:
        expected["arguments"] = json.loads(expected.pop("arguments_text"))
    if "arguments_raw" in expected:
        expected["arguments_raw"] = base64.b64decode(expected["arguments_raw"])
    return expected


def present(verifier, row):
    try:
        verifier.verify(row["token"], **call_of(row))
        return "ok"
    except ApprovalRequired as refusal:
        assert str(refusal) == MESSAGE
        return refusal.code


@pytest.mark.parametrize("name", ROWS)
def test_every_vector_ends_as_it_should(name):
    row = ROWS[name]
    clock = Clock()
    verifier = Verifier(row["jwks"], row["expected"]["audience"], clock)
    for step in [ROWS[row["after"]], row] if "after" in row else [row]:
        clock.now = step["now"]
        assert present(verifier, step) == step["result"]


def test_the_message_is_the_one_tools_promise():
    assert MESSAGE == "This action requires user approval. Ask the user to confirm."


@pytest.mark.parametrize("token", [None, b"a.b.c", 1, ["a"], {}])
def test_what_is_no_text_is_no_token(token):
    row = ROWS["honest"]
    verifier = Verifier(row["jwks"], row["expected"]["audience"], lambda: row["now"])
    with pytest.raises(ApprovalRequired) as refusal:
        verifier.verify(token, **call_of(row))
    assert refusal.value.code == "malformed"


def test_of_many_at_once_one_is_let_through():
    row = ROWS["honest"]
    verifier = Verifier(row["jwks"], row["expected"]["audience"], lambda: row["now"])
    results = []
    threads = [threading.Thread(target=lambda: results.append(present(verifier, row))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["ok"] + ["used"] * 15


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"), (1.5, "1.5"), (2.0, "2"), (-0.0, "0"), (1e-6, "0.000001"), (1e-7, "1e-7"), (1.25e-7, "1.25e-7"),
        (5e-324, "5e-324"), (123456.789, "123456.789"), (9007199254740991.0, "9007199254740991"), (-2.5, "-2.5"),
        (4503599627370495.5, "4503599627370495.5"), (333333333.33333329, "333333333.3333333"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_rfc_8785_does(value, text):
    assert canonical(value).decode() == text


@pytest.mark.parametrize("value", [2**53, -(2**53), 1e16, float("nan"), float("inf"), {1: 2}, {"a"}, b"a", "\ud800", {"\ud800": 1}])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(ValueError):
        canonical(value)

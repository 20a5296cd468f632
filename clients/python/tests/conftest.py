"""Fixtures: one gateway for all tests of a run, and a session of its own for each test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest
from gateway import Gateway


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    it = Gateway(tmp_path_factory.mktemp("home"))
    yield it
    it.stop()


@pytest.fixture
def gateway(shared: Gateway) -> Gateway:
    """The gateway of all tests, with a key of this test: a denial is remembered for the key that asked."""
    shared.key = shared.new_key("agent", f"tests-{uuid.uuid4()}")
    return shared


@pytest.fixture
def own_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway that the test may stop."""
    it = Gateway(tmp_path_factory.mktemp("own"))
    yield it
    it.stop()


@pytest.fixture
def session() -> str:
    return f"s-{uuid.uuid4()}"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of whoever runs the tests counts."""
    for name in [*os.environ]:
        if name.startswith("COUNTERSIGN_") and name != "COUNTERSIGN_BIN" or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)

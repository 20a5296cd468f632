"""Reads the corpus, and what the model reads in it."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpus" / "crisis"
HERE = ROOT / "training" / "crisis"
# Authors who are left out together.
FOLDS = [["anna", "farid", "ivan", "nora", "rosa"], ["bela", "chidi", "jun", "pia"], ["dao", "elif", "hana", "otto"], ["gus", "mara", "more", "quin"]]
# Authors whose texts neither the committed model nor anybody who chose something about it has seen.
AFTER = ["sami", "ulla"]


def read(pattern):
    found = []
    for path in sorted(CORPUS.glob(pattern)):
        found += map(json.loads, path.read_text(encoding="utf8").splitlines())
    return found


def rows():
    """Returns the texts of all authors, in the order of files and lines."""
    return [it for it in read("*.jsonl") if "text" in it]


def own():
    """Returns the texts that the rules were written beside. They are learnt from and measure nothing."""
    lines = (ROOT / "corpus" / "crisis.jsonl").read_text(encoding="utf8").splitlines()
    labels = {"must": "crisis", "no": "not_crisis"}
    found = []
    for index, row in enumerate(map(json.loads, lines)):
        if row.get("gate") in labels and row.get("text"):
            found.append({"id": f"own-{index}", "text": row["text"], "label": labels[row["gate"]], "lang": row["lang"], "author": "own"})
    return found


def talks():
    return read("talks*.jsonl")


def said(talk):
    """Returns the texts of a conversation that are scored, in the order of crates/crisis/src/talk.rs:
    every turn, what the person said taken together, and the message."""
    turns = [it["text"] for it in talk["context"]]
    return [*turns, together(talk, "person"), talk["outgoing"]]


def together(talk, role):
    return "\n".join(it["text"] for it in talk["context"] if it["role"] == role)


def telling(talks):
    """Returns conversations as texts with labels: what the person said, or what was quoted. Of near twins
    with different labels only what is not the same in both."""
    twins = {}
    for talk in talks:
        twins.setdefault(talk.get("pair") or talk["id"], []).append(talk)
    found = []
    for both in twins.values():
        for role in ("person", "quoted") if len(both) == 2 else ("person",):
            texts = [together(it, role) for it in both]
            if all(texts) and len(set(texts)) == len(both):
                found += [{**it, "id": f"{it['id']}:{role}", "text": text} for it, text in zip(both, texts)]
    return found


def asked_of(talks):
    """Returns what is scored in conversations, each text with its place."""
    return [{"id": f"{it['id']}/{place}", "author": it["author"], "text": text} for it in talks for place, text in enumerate(said(it))]


def read_by_model(texts):
    """Returns for each text its parts, each as letter groups, word groups, pieces and scripts.

    The program that the product is made of does it, so that training sees what the product sees."""
    command = "cargo run --quiet --release --locked -p countersign-crisis --example crisis_features".split()
    lines = "".join(json.dumps(it, ensure_ascii=False) + "\n" for it in texts)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, cwd=ROOT)
    return [json.loads(it) or [[[], [], [], []]] for it in done.stdout.splitlines()]

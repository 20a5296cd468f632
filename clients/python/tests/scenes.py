"""What every adapter must show, as data: how a person answers, what must have run, and what the model read.

Separate so that no framework is tried less than another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gateway import Gateway

ASKED = {"to": "ana@example.org", "text": "the draft"}
EDITED = {"to": "ana@example.org", "text": "the final text"}


@dataclass
class Seen:
    """What a run left: the arguments of every execution, and the results that the model read."""

    ran: list[dict[str, Any]]
    read: str


#: Runs an agent whose model calls `send_email` with `ASKED` once, against a gateway at a URL.
Agent = Callable[[str], Seen]


def approved_runs_once(gateway: Gateway, session: str, run: Agent) -> None:
    with gateway.answering(session, "once"):
        seen = run(gateway.url)
    assert seen.ran == [ASKED]
    assert "sent to ana@example.org" in seen.read
    outcome = gateway.trace(gateway.calls(session)[0]["call_id"])["outcome"]
    assert outcome["failed"] is False


def denied_never_runs(gateway: Gateway, session: str, run: Agent) -> None:
    with gateway.answering(session, "deny", note="ask her first"):
        seen = run(gateway.url)
    assert seen.ran == []
    assert "ana denied this call" in seen.read and "ask her first" in seen.read


def edited_runs_as_edited(gateway: Gateway, session: str, run: Agent) -> None:
    with gateway.answering(session, "once", args=EDITED):
        seen = run(gateway.url)
    assert seen.ran == [EDITED]


def away_never_runs(gateway: Gateway, session: str, run: Agent) -> None:
    seen = run("http://127.0.0.1:9")
    assert seen.ran == []
    assert "could not be reached" in seen.read


ALL = [approved_runs_once, denied_never_runs, edited_runs_as_edited, away_never_runs]

"""The conversation with the gateway, without a socket: which request follows which answer.

Separate so that `Client` and `AsyncClient` share every decision. Each step is a generator that yields
`Send` or `Pause` and is given a `Reply`, or thrown a `Lost`."""

from __future__ import annotations

import json
import random
import re
import time
import uuid
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from countersign.call import STATUSES, Asked, Call, Decision
from countersign.errors import (
    AWAY,
    UNREADABLE,
    AlreadyUsed,
    BadAnswer,
    CountersignError,
    Denied,
    Expired,
    GatewayAway,
    NotRun,
    Refused,
    Rejected,
    Withdrawn,
)

#: Longest answer that is read, in bytes.
ANSWER_BYTES_MAX = 4 * 1024 * 1024
#: How long the gateway holds one request while nobody has answered, in seconds.
WAIT_SECONDS = 25.0
#: How long a request may take beyond that, in seconds.
REQUEST_SECONDS = 15.0
#: How long a request may take that gives a question up, in seconds.
ABANDON_SECONDS = 2.0
#: Longest pause between two attempts, in seconds.
PAUSE_SECONDS_MAX = 5.0
#: Shortest time between two questions whether somebody has answered, in seconds.
PACE_SECONDS = 1.0
#: Longest text of an error that is passed on, in letters.
TEXT_MAX = 300

T = TypeVar("T")
Reply = tuple[int, bytes, "float | None"]
Flow = Generator["Send | Pause", "Reply | None", T]


@dataclass(frozen=True)
class Send:
    """A request to send."""

    method: str
    path: str
    body: bytes | None = None
    seconds: float = REQUEST_SECONDS
    name: str | None = None


@dataclass(frozen=True)
class Pause:
    """A time to let pass."""

    seconds: float


class Lost(Exception):
    """A request got no answer. `was_sent` is whether the gateway may have received it."""

    def __init__(self, why: str, was_sent: bool) -> None:
        super().__init__(why)
        self.why, self.was_sent = why, was_sent


class Ticket:
    """What must be known of a question to give it up: its idempotency key, and its call once there is one."""

    def __init__(self) -> None:
        self.name = str(uuid.uuid4())
        self.call_id: str | None = None
        self.was_sent = False
        self.is_settled = False


class Protocol:
    """The steps of one client."""

    def __init__(self, reach_seconds: float, away_seconds: float) -> None:
        self.reach_seconds, self.away_seconds = reach_seconds, away_seconds
        self._key_id: str | None = None

    def submit(self, asked: Asked, ticket: Ticket) -> Flow[Call]:
        """Submits a call once, however often the request is repeated."""
        key_id = yield from self._whoami()
        ticket.was_sent = True
        send = Send("POST", "/v1/calls", asked.body, name=ticket.name)
        try:
            view = _object((yield from _exchange(send, self.reach_seconds)))
        except Rejected:
            ticket.is_settled = True
            raise
        ticket.call_id = _text(view, "call_id")
        return self._noted(_call(view, asked, key_id), ticket)

    def wait(self, call: Call, ticket: Ticket) -> Flow[Call]:
        """Waits until a call is decided. The gateway may go away and come back meanwhile."""
        asked = call.asked
        if asked is None:
            raise TypeError("only a call that was submitted can be waited for")
        key_id = yield from self._whoami()
        while call.is_waiting:
            begun = time.monotonic()
            path = f"/v1/calls/{_segment(call.call_id)}?wait_seconds={WAIT_SECONDS:g}"
            send = Send("GET", path, seconds=WAIT_SECONDS + REQUEST_SECONDS)
            view = _object((yield from _exchange(send, self.away_seconds)))
            if _text(view, "call_id") != call.call_id:
                raise _nonsense("it is about another call")
            call = self._noted(_call(view, asked, key_id), ticket)
            early = PACE_SECONDS - (time.monotonic() - begun)
            if call.is_waiting and early > 0:
                yield Pause(early)
        return call

    def abandon(self, asked: Asked, ticket: Ticket) -> Flow[None]:
        """Withdraws a question whose asker has gone. Whoever does not know its call asks for it by the same
        idempotency key. One attempt: nobody waits for this."""
        if ticket.call_id is None:
            if not ticket.was_sent:
                return
            send = Send("POST", "/v1/calls", asked.body, ABANDON_SECONDS, ticket.name)
            ticket.call_id = _text(_object((yield from _once(send))), "call_id")
        path = f"/v1/calls/{_segment(ticket.call_id)}/withdraw"
        yield from _once(Send("POST", path, b"{}", ABANDON_SECONDS))

    def withdraw(self, call_id: str, note: str | None) -> Flow[None]:
        """Takes a call back."""
        body = json.dumps({"note": note} if note else {}).encode()
        send = Send("POST", f"/v1/calls/{_segment(call_id)}/withdraw", body)
        _object((yield from _exchange(send, self.reach_seconds)))

    def outcome(self, call_id: str, report: dict[str, Any]) -> Flow[None]:
        """Reports what came of a call."""
        send = Send("POST", f"/v1/calls/{_segment(call_id)}/outcome", json.dumps(report).encode())
        _object((yield from _exchange(send, self.reach_seconds)))

    def consume(self, call: Call) -> Flow[None]:
        """Uses the call's token up. A request that may have arrived is not repeated: whether the first one or
        somebody else used the token could not be told."""
        send = Send("POST", "/v1/tokens/consume", json.dumps({"token": call.token}).encode())
        try:
            view = _object((yield from _exchange(send, self.reach_seconds, repeats=False)))
        except Rejected as rejected:
            if rejected.code == "token_used":
                words = "The approval of this action was already used, so it was not carried out again."
                raise AlreadyUsed(words, detail=rejected.detail, call=call) from None
            if rejected.code == "token_expired":
                words = "The approval of this action expired before it ran, so it was not carried out."
                raise Expired(words, detail=rejected.detail, call=call) from None
            raise
        # Identical calls that wait together share one approval; it counts for the one that uses it.
        if not isinstance(view.get("jti"), str) or not isinstance(view.get("call_id"), str):
            raise _nonsense("it does not say which token was used")

    def jwks(self) -> Flow[dict[str, Any]]:
        """Returns the keys with which the gateway signs."""
        return _object((yield from _exchange(Send("GET", "/.well-known/jwks.json"), self.reach_seconds)))

    def _whoami(self) -> Flow[str]:
        if self._key_id is None:
            view = _object((yield from _exchange(Send("GET", "/v1/whoami"), self.reach_seconds)))
            self._key_id = _text(view, "key_id")
        return self._key_id

    @staticmethod
    def _noted(call: Call, ticket: Ticket) -> Call:
        ticket.is_settled = not call.is_waiting
        return call


def require_may_run(call: Call) -> Call:
    """Returns a call that may run; raises what became of any other."""
    if call.may_run:
        return call
    kinds: dict[str, type[NotRun]] = {
        "denied": Denied,
        "refused": Refused,
        "expired": Expired,
        "withdrawn": Withdrawn,
    }
    raise kinds.get(call.status, BadAnswer)(call.message, call=call)


def _exchange(send: Send, seconds: float, repeats: bool = True) -> Flow[Reply]:
    """Sends a request until the gateway has answered it, for as long as `seconds`."""
    deadline, pause = time.monotonic() + seconds, 0.2
    while True:
        try:
            status, data, after = _reply((yield send))
        except Lost as lost:
            why, is_final, after = lost.why, lost.was_sent and not repeats, None
        else:
            if status < 500 and status != 429:
                return status, data, after
            why, is_final = f"it answered {status}", status >= 500 and not repeats
        rest = max(after or 0.0, pause * random.uniform(0.5, 1.0))
        if is_final or time.monotonic() + rest > deadline:
            raise GatewayAway(AWAY, detail=why) from None
        yield Pause(rest)
        pause = min(pause * 2, PAUSE_SECONDS_MAX)


def _once(send: Send) -> Flow[Reply]:
    return _reply((yield send))


def _reply(reply: Reply | None) -> Reply:
    if reply is None:
        raise CountersignError("a request was not answered")
    return reply


def _object(reply: Reply) -> dict[str, Any]:
    """Reads the answer to a request that was taken."""
    status, data, _ = reply
    if 300 <= status < 400:
        raise _nonsense("it is a redirect, which is not followed")
    try:
        view = json.loads(data.decode())
    except (ValueError, RecursionError):
        raise _nonsense(f"it is not JSON (status {status})") from None
    if not isinstance(view, dict):
        raise _nonsense(f"it is not an object (status {status})")
    if status in (200, 202):
        return view
    error = view.get("error")
    error = error if isinstance(error, dict) else {}
    why, code = shown(error.get("message")), shown(error.get("code"))
    words = f"The gateway that confirms actions did not accept this one, so it was not carried out: {why}"
    raise Rejected(words, status=status, code=code, detail=f"{status} {code}")


def _call(view: dict[str, Any], asked: Asked, key_id: str) -> Call:
    """Reads a call and makes sure that it is the one that was asked about."""
    given = view.get("decision")
    decision = None
    if isinstance(given, dict):
        names = ("choice", "by", "via", "note")
        optional = {name: given[name] for name in names if isinstance(given.get(name), str)}
        args = given.get("args")
        if args is not None and not (isinstance(args, dict) and asked.editable):
            raise _nonsense("it changes arguments that cannot be changed")
        decision = Decision(_text(given, "outcome"), _text(given, "cause"), args=args, **optional)
    elif given is not None:
        raise _nonsense("its decision is not an object")
    edited = None if decision is None else decision.args
    expires, token = view.get("expires_at"), view.get("token")
    assessment, approval = view.get("assessment"), view.get("approval_id")
    call = Call(
        call_id=_text(view, "call_id"),
        tool=_text(view, "tool"),
        session_id=_text(view, "session_id"),
        status=_text(view, "status"),
        verdict=_text(view, "verdict"),
        digest=_text(view, "digest"),
        message=_text(view, "message"),
        args=asked.args if edited is None else edited,
        approval_id=approval if isinstance(approval, str) else None,
        expires_at=expires if isinstance(expires, (int, float)) else None,
        decision=decision,
        token=token if isinstance(token, str) else None,
        assessment=assessment if isinstance(assessment, dict) else {},
        asked=asked,
    )
    if call.status not in STATUSES:
        raise _nonsense("its status is unknown")
    if (call.tool, call.session_id) != (asked.tool, asked.session_id):
        raise _nonsense("it is about another call")
    try:
        digest = asked.digest(key_id, edited)
    except (ValueError, RecursionError):
        raise _nonsense("its arguments have no canonical form") from None
    if call.digest != digest:
        raise _nonsense("its digest is not the one of this call")
    if call.may_run and (decision is None or decision.outcome != call.status):
        raise _nonsense("it may run and nothing decided so")
    if call.status == "approved" and call.token is None:
        words = "The approval of this action expired before it ran, so it was not carried out."
        raise Expired(words, detail="approved without a token", call=replace(call, status="expired"))
    return call


def _nonsense(why: str) -> BadAnswer:
    return BadAnswer(UNREADABLE, detail=why)


def _text(view: dict[str, Any], name: str) -> str:
    value = view.get(name)
    if not isinstance(value, str):
        raise _nonsense(f"`{name}` is not a text")
    return value


def shown(text: object) -> str:
    """Returns a text of the gateway on one line of bounded length, without control letters or keys."""
    if not isinstance(text, str):
        return "it gives no reason"
    line = "".join(letter if letter.isprintable() else " " for letter in text[:TEXT_MAX])
    return re.sub(r"cs_[a-z]+_[A-Za-z0-9_-]+", "…", line)


def _segment(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", name):
        raise _nonsense("the id of the call is malformed")
    return name

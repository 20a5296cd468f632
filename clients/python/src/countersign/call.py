"""A call: what is asked, how it stands, and how a person answered.

Separate because it holds the types that callers see; it neither sends nor waits."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from countersign.verify import DEPTH_MAX, canonical, context, digest_of

#: Longest arguments, in bytes; the gateway takes no longer ones.
ARGUMENTS_BYTES_MAX = 256 * 1024
STATUSES = ("waiting", "allowed", "approved", "denied", "refused", "expired", "withdrawn")


@dataclass(frozen=True)
class Decision:
    """How a call was decided, and by whom."""

    outcome: str
    cause: str
    choice: str | None = None
    by: str | None = None
    via: str | None = None
    note: str | None = None
    #: The arguments as a person changed them; the call may run with these alone.
    args: dict[str, Any] | None = None


@dataclass(frozen=True)
class Call:
    """How a call stands. `args` are the arguments to run it with."""

    call_id: str
    tool: str
    session_id: str
    status: str
    verdict: str
    digest: str
    message: str
    args: dict[str, Any]
    approval_id: str | None = None
    expires_at: float | None = None
    decision: Decision | None = None
    #: The proof of a person's approval. It is not shown when the call is printed.
    token: str | None = field(default=None, repr=False)
    assessment: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: What was asked, to which every further answer is held.
    asked: Asked | None = field(default=None, repr=False, compare=False)

    @property
    def is_waiting(self) -> bool:
        """Whether nobody has decided yet."""
        return self.status == "waiting"

    @property
    def may_run(self) -> bool:
        """Whether it may run, with exactly `args`."""
        return self.status in ("allowed", "approved")

    @property
    def was_edited(self) -> bool:
        """Whether a person changed the arguments."""
        return self.decision is not None and self.decision.args is not None


class Asked:
    """A call as it is sent. It keeps its own copy of the arguments: whatever the caller does to theirs
    while a person decides, what was hashed is what runs."""

    def __init__(
        self,
        tool: str,
        args: Mapping[str, Any],
        *,
        session_id: str,
        cwd: str | None = None,
        executor: str | None = None,
        agent: str | None = None,
        explanation: str | None = None,
        replying_to: Any = None,
        annotations: Mapping[str, Any] | None = None,
        tool_definition: Mapping[str, Any] | None = None,
        attachments: Sequence[str] = (),
        run_id: str | None = None,
        workspace: str | None = None,
        editable: bool = True,
    ) -> None:
        self.tool, self.session_id = tool, session_id
        self.args: dict[str, Any] = snapshot(dict(args))
        self.cwd, self.executor, self.attachments = cwd, executor or f"tool:{tool}", list(attachments)
        self.editable = editable
        try:
            self.data, self.encoding = canonical(self.args), "jcs"
        except ValueError:
            # An integer beyond 2**53-1 has no canonical form; as bytes it is kept exactly.
            text = json.dumps(self.args, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            self.data, self.encoding = text.encode(), "raw"
        if len(self.data) > ARGUMENTS_BYTES_MAX:
            raise ValueError(f"the arguments are longer than {ARGUMENTS_BYTES_MAX} bytes")
        definition = None if tool_definition is None else snapshot(dict(tool_definition))
        self.tdh = "0" * 64 if definition is None else hashlib.sha256(canonical(definition)).hexdigest()
        optional = {
            "cwd": cwd,
            "executor": executor,
            "agent": agent,
            "explanation": explanation,
            "replying_to": snapshot(replying_to),
            "annotations": None if annotations is None else snapshot(dict(annotations)),
            "tool_definition": definition,
            "attachments": [f"sha256:{_hex(it)}" for it in attachments] or None,
            "run_id": run_id,
            "workspace": workspace,
            "takes_changes": None if editable else False,
        }
        body: dict[str, Any] = {"tool": tool, "session_id": session_id}
        body |= {name: value for name, value in optional.items() if value is not None}
        # The bytes that are hashed are the bytes that are sent.
        if self.encoding == "raw":
            body["args_raw"] = base64.b64encode(self.data).decode()
            self.body = json.dumps(body).encode()
        else:
            self.body = json.dumps(body).encode()[:-1] + b',"args":' + self.data + b"}"

    def digest(self, key_id: str, edited: Mapping[str, Any] | None) -> str:
        """Returns the digest that a decision about this call, or about it as edited, must have."""
        data, encoding = (self.data, self.encoding) if edited is None else (canonical(dict(edited)), "jcs")
        where = context(self.cwd, self.executor, [_hex(it) for it in self.attachments])
        return "sha256:" + digest_of(self.tool, self.tdh, encoding, data, where, self.session_id, key_id)


def snapshot(value: Any, depth: int = 0) -> Any:
    """Returns a copy of a JSON value that shares nothing with it; raises TypeError for anything else."""
    if depth > DEPTH_MAX:
        raise ValueError("the arguments are nested too deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise TypeError("not a JSON value: a number that is not finite")
        return float.__float__(value)
    if isinstance(value, (list, tuple)):
        return [snapshot(item, depth + 1) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("not a JSON value: a key that is not a text")
        return {str.__str__(key): snapshot(item, depth + 1) for key, item in value.items()}
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")

"""The gate in Hermes: asks before a tool call, and runs only the calls that got a yes.

There are two gates, because the hook alone is not enough. `pre_tool_call` asks and can block, but
Hermes allows a call whose hook raises, and lets another plugin's answer win over a block. So a yes
leaves a permit, bound to exactly that call, and the `tool_execution` middleware, which wraps the
tool itself, runs nothing without one.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .gateway import Gateway, GatewayAway, GatewayError, settings
from .host import Host, started

logger = logging.getLogger(__name__)
T = TypeVar("T")

POLL_SECONDS = 1.0
AWAY_SECONDS_MAX = 30.0
AWAY_PAUSE_SECONDS = 0.5
# The gateway ends a question at `expires_at`; this is how much later it may say so.
LATE_SECONDS_MAX = 60.0
WAIT_SECONDS_MAX = 24 * 3600.0
MESSAGE_CHARS_MAX = 2000
HEARD_CHARS_MAX = 8000
HEARD_MAX = 8
REMEMBERED_MAX = 1000
DEPTH_MAX = 16
YES = frozenset({"allowed", "approved"})
NO = frozenset({"denied", "refused", "expired", "withdrawn"})
NOT_RUN = "The call was not run."


class Refused(Exception):
    """The call must not run. The text is for the agent."""


@dataclass(frozen=True)
class Call:
    """One tool call, as Hermes names it."""

    tool: str
    args: dict[str, Any]
    session: str
    task: str
    turn: str
    answer: str
    id: str

    def fingerprint(self, args: dict[str, Any]) -> str:
        """Returns what tells this call from every other, with `args` as its arguments."""
        parts = [self.tool, args, self.session, self.task, self.turn, self.answer, self.id]
        text = json.dumps(parts, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True)
class Permit:
    """A yes for one call. `args` are the arguments of that yes."""

    call_id: str
    args: dict[str, Any]
    note: str | None = None


@dataclass
class Conversation:
    """What is known of a session: what its user said since the last call, and its run."""

    heard: list[str] = field(default_factory=list)
    run_id: str | None = None


class Running(threading.local):
    """The calls that run in this thread, outermost first."""

    def __init__(self) -> None:
        self.names: list[str] = []


class Recent(OrderedDict[str, T]):
    """A dictionary that forgets its oldest entries."""

    def __setitem__(self, key: str, value: T) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > REMEMBERED_MAX:
            self.popitem(last=False)


class Gate:
    """The hooks and the middleware, and what they remember between each other."""

    def __init__(self, gateway: Gateway, host: Host) -> None:
        self._gateway = gateway
        self._host = host
        self._lock = threading.Lock()
        self._permits: Recent[Permit] = Recent()
        self._used: Recent[bool] = Recent()
        self._conversations: Recent[Conversation] = Recent()
        self._parents: Recent[str] = Recent()
        self._sessions_of_tasks: Recent[str] = Recent()
        self._running = Running()

    def pre_tool_call(
        self, tool_name: str = "", args: Any = None, **context: Any
    ) -> dict[str, str] | None:
        """Asks the gateway. Returns None for yes, else why not. Never raises an `Exception`."""
        try:
            call = self._call(tool_name, args, context)
            permit = self._ask(call)
            self._remember(call, permit)
            if isinstance(args, dict) and permit.note is not None:
                # What Hermes shows from here on is what will run.
                args.clear()
                args.update(permit.args)
            return None
        except Refused as refused:
            return _block(str(refused))
        except GatewayError as error:
            return _block(f"{NOT_RUN} Reason: {error}. Nobody has denied it; tell the user.")
        except Exception as error:
            logger.exception("the Countersign plugin failed")
            return _block(f"{NOT_RUN} The Countersign plugin failed: {error!r}. Tell the user.")

    def tool_execution(
        self, tool_name: str, args: Any, next_call: Callable[[Any], Any], **context: Any
    ) -> Any:
        """Runs the tool if exactly this call has a permit."""
        try:
            call = self._call(tool_name, args, context)
            name = call.fingerprint(call.args)
            is_inner = name in self._running.names
            permit = None if is_inner else self._take(name)
        except Exception as error:
            logger.exception("the Countersign plugin failed")
            return _error(f"{NOT_RUN} The Countersign plugin failed: {error!r}. Tell the user.")
        if is_inner:
            # Hermes passes some calls through the middleware twice, one inside the other.
            return next_call(args)
        if permit is None:
            return _error(f"{NOT_RUN} Countersign has not allowed this call with these arguments.")
        return self._run(call, name, permit, args, next_call)

    def post_tool_call(self, tool_name: str = "", args: Any = None, **context: Any) -> None:
        """Reports a call that got a yes and then was not run, because Hermes itself stopped it."""
        try:
            call = self._call(tool_name, args, context)
            permit = self._take(call.fingerprint(call.args))
        except Exception:
            logger.exception("the Countersign plugin failed")
            return
        if permit is not None:
            why = str(context.get("error_type") or context.get("status") or "it was not run")
            self._report(permit, {"failed": True, "summary": f"Hermes did not run it: {why[:200]}"})

    def pre_llm_call(self, session_id: str = "", user_message: Any = None, **_: Any) -> None:
        """Remembers what the user said, for the assessment of the calls that follow."""
        try:
            text = _text_of(user_message)[:HEARD_CHARS_MAX]
            with self._lock:
                conversation = self._conversation(session_id)
                conversation.run_id = self._host.run_id() or conversation.run_id
                if text:
                    conversation.heard = [*conversation.heard, text][-HEARD_MAX:]
        except Exception:
            logger.exception("the Countersign plugin failed")

    def subagent_start(
        self, parent_session_id: Any = None, child_session_id: Any = None, **_: Any
    ) -> None:
        """Remembers whose work a subagent does: it shares the session of the one who sent it."""
        if isinstance(parent_session_id, str) and isinstance(child_session_id, str):
            with self._lock:
                self._parents[child_session_id] = parent_session_id

    def _call(self, tool: str, args: Any, context: dict[str, Any]) -> Call:
        task = str(context.get("task_id") or "")
        session = str(context.get("session_id") or "")
        with self._lock:
            if task and session:
                self._sessions_of_tasks[task] = session
            elif task:
                # A call from inside a script of `execute_code` names its task alone.
                session = self._sessions_of_tasks.get(task, "")
        return Call(
            tool=str(tool),
            args=self._host.as_run(str(tool), args if isinstance(args, dict) else {}),
            session=session or task or self._host.session_key() or "hermes",
            task=task,
            turn=str(context.get("turn_id") or ""),
            answer=str(context.get("api_request_id") or ""),
            id=str(context.get("tool_call_id") or ""),
        )

    def _ask(self, call: Call) -> Permit:
        session, body = self._body(call)
        # A model may use an id again in a later answer, and a script has none: only the same call
        # may share a decision.
        name = call.fingerprint(call.args) if call.id else uuid.uuid4().hex
        view = self._checked(self._gateway.submit(body, f"hermes-{name}"), call)
        self._sent(call.session, session)
        if view["status"] == "waiting":
            view = self._wait(view, call)
        if view["status"] not in YES:
            raise Refused(_reason(view))
        return self._permit(view, call)

    def _body(self, call: Call) -> tuple[str, dict[str, Any]]:
        with self._lock:
            root = self._root(call.session)
            conversation = self._conversation(root)
            conversation.run_id = self._host.run_id() or conversation.run_id
            turns = [{"from": "user", "text": text} for text in conversation.heard]
            if root != call.session:
                goal = self._conversation(call.session).heard
                turns += [{"from": "agent", "text": text} for text in goal]
            run_id = conversation.run_id
        body = {
            "tool": call.tool,
            "args": call.args,
            "session_id": root,
            "agent": "hermes",
            "cwd": self._host.directory(call.task),
            "workspace": self._host.workspace(),
            "run_id": run_id,
            "replying_to": turns or None,
        }
        return root, {name: value for name, value in body.items() if value is not None}

    def _sent(self, *sessions: str) -> None:
        """Keeps the last message of each session alone: the gateway has seen the earlier ones."""
        with self._lock:
            for session in sessions:
                conversation = self._conversation(session)
                conversation.heard = conversation.heard[-1:]

    def _wait(self, view: dict[str, Any], call: Call) -> dict[str, Any]:
        call_id = view["call_id"]
        try:
            return self._answer(view, call)
        except Refused:
            raise
        except GatewayAway as error:
            raise Refused(f"{NOT_RUN} It was waiting for a person, and {error}.") from None
        except BaseException:
            self._withdraw(call_id, "the run ended")
            raise

    def _answer(self, view: dict[str, Any], call: Call) -> dict[str, Any]:
        call_id, state = view["call_id"], started()
        self._host.show(
            f"Countersign: `{call.tool}` waits for a person. "
            f"Answer with `countersign` in another terminal, or at {self._gateway.where()}"
        )
        away_since: float | None = None
        while True:
            if self._host.interrupted():
                self._withdraw(call_id, "the run was interrupted")
                raise Refused(f"{NOT_RUN} The run was interrupted while the call was waiting.")
            if time.monotonic() - state["start"] > _patience(view):
                self._withdraw(call_id, "no answer in time")
                raise Refused(f"{NOT_RUN} Nobody answered in time; that is not a denial.")
            self._host.alive(state)
            try:
                view = self._checked(self._gateway.poll(call_id, POLL_SECONDS), call, call_id)
                away_since = None
            except GatewayAway:
                # A gateway that restarts keeps its questions.
                now = time.monotonic()
                away_since = now if away_since is None else away_since
                if now - away_since > AWAY_SECONDS_MAX:
                    raise
                time.sleep(AWAY_PAUSE_SECONDS)
                continue
            if view["status"] != "waiting":
                return view

    def _permit(self, view: dict[str, Any], call: Call) -> Permit:
        decision = view["decision"]
        edited = decision.get("args")
        if edited is not None and not isinstance(edited, dict):
            raise Refused(f"{NOT_RUN} The changed arguments cannot be read.")
        self._use(view)
        if edited is None:
            return Permit(view["call_id"], call.args)
        who = decision.get("by") if isinstance(decision.get("by"), str) else "A person"
        args = self._host.as_run(call.tool, edited)
        note = f"{who} changed the arguments before approving. This ran: {json.dumps(args)}"
        return Permit(view["call_id"], args, note)

    def _use(self, view: dict[str, Any]) -> None:
        """Uses a yes up. An identical call that waited beside this one shares its approval, and a
        call that is submitted twice its decision; one of them runs."""
        token = view.get("token")
        if isinstance(token, str) and token:
            try:
                self._gateway.consume(token)
            except GatewayError as error:
                why = f"{NOT_RUN} The permission cannot be used: {error}"
                raise Refused(f"{why}. Try the call again to ask anew.") from None
        with self._lock:
            is_used = view["call_id"] in self._used
            self._used[view["call_id"]] = True
        if is_used or (view["status"] == "approved" and not token):
            raise Refused(f"{NOT_RUN} The permission is used up. Try the call again to ask anew.")

    def _checked(
        self, view: dict[str, Any], call: Call, call_id: str | None = None
    ) -> dict[str, Any]:
        """Returns an answer of the gateway if it is about this call and can be understood."""
        status, decision = view.get("status"), view.get("decision")
        is_good = (
            isinstance(view.get("call_id"), str)
            and bool(view["call_id"])
            and view["call_id"] == (call_id or view["call_id"])
            and view.get("tool") == call.tool
            and isinstance(status, str)
        )
        if is_good and status != "waiting":
            is_good = (
                status in YES | NO
                and isinstance(decision, dict)
                and decision.get("outcome") == status
            )
        if not is_good:
            raise GatewayError("the answer of the Countersign gateway cannot be understood")
        return view

    def _remember(self, call: Call, permit: Permit) -> None:
        names = {call.fingerprint(call.args), call.fingerprint(permit.args)}
        with self._lock:
            for name in names:
                self._permits[name] = permit

    def _take(self, name: str) -> Permit | None:
        """Returns the permit of a call, once."""
        with self._lock:
            permit = self._permits.get(name)
            names = [other for other, same in self._permits.items() if same is permit]
            for other in names:
                del self._permits[other]
            return permit

    def _run(
        self,
        call: Call,
        name: str,
        permit: Permit,
        args: Any,
        next_call: Callable[[Any], Any],
    ) -> Any:
        is_edited = permit.note is not None
        running = self._running.names
        names = [name, call.fingerprint(permit.args)] if is_edited else [name]
        running.extend(names)
        start = time.monotonic()
        outcome: dict[str, Any] = {"failed": True}
        try:
            with self._host.answered(call.tool, call.task):
                result = next_call(permit.args if is_edited else args)
            outcome = _outcome(result)
        finally:
            del running[-len(names) :]
            outcome["duration_millis"] = int((time.monotonic() - start) * 1000)
            self._report(permit, outcome)
        return _with_note(result, permit.note) if permit.note is not None else result

    def _report(self, permit: Permit, outcome: dict[str, Any]) -> None:
        try:
            self._gateway.report(permit.call_id, outcome)
        except Exception as error:
            logger.warning("the outcome of %s was not reported: %s", permit.call_id, error)

    def _withdraw(self, call_id: str, note: str) -> None:
        try:
            self._gateway.withdraw(call_id, note)
        except Exception as error:
            logger.warning("%s was not withdrawn: %s", call_id, error)

    def _root(self, session: str) -> str:
        for _ in range(DEPTH_MAX):
            parent = self._parents.get(session)
            if parent is None:
                break
            session = parent
        return session

    def _conversation(self, session: str) -> Conversation:
        conversation = self._conversations.get(session)
        if conversation is None:
            conversation = Conversation()
        self._conversations[session] = conversation
        return conversation


def install(ctx: Any) -> None:
    """Registers the gate with Hermes. Raises if this Hermes lacks a place to stand."""
    from hermes_cli.plugins import VALID_HOOKS, VALID_MIDDLEWARE

    gate = Gate(Gateway(settings()), Host())
    hooks = {
        "pre_tool_call": gate.pre_tool_call,
        "post_tool_call": gate.post_tool_call,
        "pre_llm_call": gate.pre_llm_call,
        "subagent_start": gate.subagent_start,
    }
    # Hermes accepts a hook it never calls with a warning in its log.
    missing = sorted(set(hooks) - set(VALID_HOOKS)) + sorted(
        {"tool_execution"} - set(VALID_MIDDLEWARE)
    )
    if missing:
        raise RuntimeError(f"this version of Hermes has no {', '.join(missing)}")
    for name, hook in hooks.items():
        ctx.register_hook(name, hook)
    ctx.register_middleware("tool_execution", gate.tool_execution)
    offer_toolsets()


def offer_toolsets() -> None:
    """Names every set of tools a second time: `countersign-cli` has the tools of `hermes-cli`.

    A configuration that asks for the second name gets no built-in tool while this plugin is not
    loaded, because Hermes drops names that it does not know.
    """
    from toolsets import TOOLSETS, create_custom_toolset

    for name in [name for name in TOOLSETS if name.startswith("hermes-")]:
        platform = name.removeprefix("hermes-")
        description = f"The tools of {name}, while Countersign is loaded"
        create_custom_toolset(f"countersign-{platform}", description, includes=[name])


def _block(message: str) -> dict[str, str]:
    return {"action": "block", "message": f"Countersign: {message}"[:MESSAGE_CHARS_MAX]}


def _error(message: str) -> str:
    """Returns a result that says the tool was not run, in Hermes' own form."""
    return json.dumps({"error": _block(message)["message"]}, ensure_ascii=False)


def _reason(view: dict[str, Any]) -> str:
    message = view.get("message")
    if isinstance(message, str) and message.strip():
        return message.strip()
    return f"{NOT_RUN} It was {view['status']}."


def _patience(view: dict[str, Any]) -> float:
    """Returns after how many seconds a call that still waits is given up. The gateway's own two
    times are compared, because its clock may differ from ours."""
    created_at, expires_at = view.get("created_at"), view.get("expires_at")
    if not isinstance(created_at, (int, float)) or not isinstance(expires_at, (int, float)):
        return LATE_SECONDS_MAX
    return min(WAIT_SECONDS_MAX, expires_at - created_at + LATE_SECONDS_MAX)


def _text_of(message: Any) -> str:
    """Returns the text of a message that may consist of parts."""
    if isinstance(message, str):
        return message
    if not isinstance(message, list):
        return ""
    texts = [part.get("text") for part in message if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _outcome(result: Any) -> dict[str, Any]:
    """Returns what is reported of a result: whether it failed, never its text."""
    try:
        value = json.loads(result) if isinstance(result, str) else result
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return {"failed": False}
    code = value.get("exit_code")
    has_code = isinstance(code, int) and not isinstance(code, bool) and abs(code) < 2**31
    outcome: dict[str, Any] = {"failed": bool(value.get("error")) or (has_code and code != 0)}
    if has_code:
        outcome["exit_code"] = code
    return outcome


def _with_note(result: Any, note: str) -> Any:
    """Returns the result with a line for the model, which asked for something else."""
    if not isinstance(result, str):
        return result
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return json.dumps({"countersign": note, **value}, ensure_ascii=False)
    return f"{note}\n\n{result}"

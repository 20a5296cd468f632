"""Tests the plugin alone: no Hermes, a gateway in this process that answers what a test says.

Usage: python3 -m unittest discover -s integrations/hermes
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import threading
import unittest
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from countersign import gateway as gateway_module  # noqa: E402
from countersign import plugin  # noqa: E402
from countersign.gateway import Gateway, GatewayError, Settings  # noqa: E402
from countersign.host import Host  # noqa: E402
from lab import Server, free_port  # noqa: E402

CONTEXT = {
    "task_id": "t1",
    "session_id": "s1",
    "turn_id": "turn1",
    "api_request_id": "answer1",
    "tool_call_id": "call_a",
}
COMMAND = {"command": "hermes update --check"}


def view(status: Any = "allowed", **changes: Any) -> dict[str, Any]:
    """Returns a call as the gateway shows it."""
    decision = None if status == "waiting" else {"outcome": status, "args": None, "by": "ana"}
    made = {
        "call_id": "call_1",
        "tool": "terminal",
        "status": status,
        "decision": decision,
        "created_at": 100.0,
        "expires_at": 400.0,
        "token": None,
        "message": f"It is {status}.",
    }
    return made | changes


def run(args: Any) -> str:
    """The tool."""
    return json.dumps({"ran": args})


class FakeHost(Host):
    """Hermes as the tests want it."""

    def __init__(self) -> None:
        super().__init__()
        self.key = ""
        self.is_interrupted: Callable[[], bool] = lambda: False
        self.lines: list[str] = []
        self.lifted: list[str] = []

    def session_key(self) -> str:
        return self.key

    def directory(self, task_id: str) -> str | None:
        return f"/srv/app/{task_id}"

    def workspace(self) -> str | None:
        return "/srv/app"

    def as_run(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        return {name: 5 if value == "5" else value for name, value in args.items()}

    def interrupted(self) -> bool:
        return self.is_interrupted()

    def alive(self, since: dict[str, float]) -> None:
        """Gives no sign."""

    def show(self, line: str) -> None:
        self.lines.append(line)

    @contextmanager
    def answered(self, tool: str, task_id: str) -> Iterator[None]:
        self.lifted.append(tool)
        yield


class PluginTest(unittest.TestCase):
    """A gate, a gateway whose answers are a list, and what it was sent."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        (self.home / "hooks").mkdir()
        (self.home / "hooks" / "hermes.key").write_text("cs_agent_secret\n")
        self.sent: list[tuple[str, str, Any]] = []
        self.answers: deque[tuple[int, Any]] = deque()
        self.server = Server(self.respond)
        self.addCleanup(self.server.close)
        (self.home / "gateway.url").write_text(f"{self.server.url}\n")
        self.count = 0
        self.host = FakeHost()
        self.gate = plugin.Gate(Gateway(Settings(self.home)), self.host)
        for name in ("POLL_SECONDS", "AWAY_PAUSE_SECONDS"):
            self.change(plugin, name, 0.01)

    def change(self, module: Any, name: str, value: Any) -> None:
        """Changes a constant for one test."""
        changed = mock.patch.object(module, name, value)
        changed.start()
        self.addCleanup(changed.stop)

    def respond(self, method: str, path: str, data: bytes) -> tuple[int, str, bytes]:
        """Answers as the gateway does."""
        self.sent.append((method, path, json.loads(data) if data else None))
        if path.endswith(("/outcome", "/withdraw")):
            return 200, "application/json", b"{}"
        status, body = self.answers.popleft() if self.answers else (500, {})
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return status, "application/json", data

    def fresh(self) -> str:
        """Returns an id for one more call: `call_1`, `call_2` and so on."""
        self.count += 1
        return f"call_{self.count}"

    def paths(self) -> list[str]:
        """Returns what was requested, without the waits."""
        return [path for _, path, _ in self.sent if "wait_seconds" not in path]

    def ask(self, args: dict[str, Any] | None = None, **context: Any) -> str | None:
        """Asks for one call; returns why it is blocked."""
        asked = dict(COMMAND) if args is None else args
        answer = self.gate.pre_tool_call(tool_name="terminal", args=asked, **(CONTEXT | context))
        if answer is None:
            return None
        self.assertEqual(answer["action"], "block")
        return answer["message"]

    def execute(
        self,
        args: dict[str, Any] | None = None,
        tool: Callable[[Any], Any] = run,
        **context: Any,
    ) -> Any:
        """Runs one call as Hermes does after the hooks."""
        asked = dict(COMMAND) if args is None else args
        return self.gate.tool_execution(
            tool_name="terminal", args=asked, next_call=tool, **(CONTEXT | context)
        )

    def assert_blocked(self, result: Any) -> None:
        """Checks that the tool did not run and the model is told."""
        self.assertIn("Countersign: ", json.loads(result)["error"])


class Asking(PluginTest):
    """The hook."""

    def test_an_allowed_call_runs_once(self) -> None:
        self.answers.append((200, view()))
        self.assertIsNone(self.ask())
        self.assertEqual(json.loads(self.execute()), {"ran": COMMAND})
        self.assert_blocked(self.execute())
        self.assertEqual(self.paths(), ["/v1/calls", "/v1/calls/call_1/outcome"])

    def test_the_gateway_is_told_who_asks_for_what_and_where(self) -> None:
        self.host.key = "run_7"
        self.gate.pre_llm_call(session_id="s1", user_message="update it")
        self.answers.append((200, view()))
        self.ask({"command": "ls", "timeout": "5"})
        self.assertEqual(
            self.sent[0][2],
            {
                "tool": "terminal",
                "args": {"command": "ls", "timeout": 5},
                "session_id": "s1",
                "run_id": "run_7",
                "agent": "hermes",
                "cwd": "/srv/app/t1",
                "workspace": "/srv/app",
                "replying_to": [{"from": "user", "text": "update it"}],
            },
        )

    def test_a_held_call_waits_and_its_approval_is_used_up(self) -> None:
        waiting = [(202, view("waiting"))] * 3
        self.answers.extend([*waiting, (200, view("approved", token="tok")), (200, {"jti": "x"})])
        self.assertIsNone(self.ask())
        self.assertEqual(self.paths(), ["/v1/calls", "/v1/tokens/consume"])
        self.assertIn(self.server.url, self.host.lines[0])
        self.assertEqual(json.loads(self.execute()), {"ran": COMMAND})
        self.assertEqual(self.host.lifted, ["terminal"])

    def test_an_approval_that_another_call_has_used_does_not_count(self) -> None:
        used = {"error": {"message": "the token was already used", "code": "token_used"}}
        self.answers.extend([(200, view("approved", token="tok")), (409, used)])
        self.assertIn("already used", self.ask() or "")
        self.assert_blocked(self.execute())

    def test_a_decision_counts_once(self) -> None:
        rows = [("allowed", None), ("approved", "tok")]
        for status, token in rows:
            with self.subTest(status):
                call_id = f"call_{status}"
                answer = view(status, call_id=call_id, token=token)
                self.answers.extend([(200, answer), (200, {"jti": "x"})][: 2 if token else 1])
                self.assertIsNone(self.ask())
                self.assertIn("ran", json.loads(self.execute()))
                self.answers.append((200, answer | {"token": None}))
                self.assertIn("used up", self.ask() or "")
                self.assert_blocked(self.execute())

    def test_an_approval_without_its_proof_does_not_count(self) -> None:
        self.answers.append((200, view("approved")))
        self.assertIn("used up", self.ask() or "")

    def test_a_no_gives_the_reason_and_runs_nothing(self) -> None:
        for status in ("denied", "refused", "expired", "withdrawn"):
            with self.subTest(status):
                self.answers.append((200, view(status)))
                self.assertEqual(self.ask(), f"Countersign: It is {status}.")
                self.assert_blocked(self.execute())

    def test_a_no_without_words_still_has_a_message(self) -> None:
        # Hermes ignores a block whose message is empty.
        self.answers.append((200, view("denied", message="")))
        self.assertIn("denied", self.ask() or "")

    def test_an_answer_that_cannot_be_understood_blocks(self) -> None:
        rows: list[tuple[str, int, Any]] = [
            ("nothing", 200, b""),
            ("no JSON", 200, b"<html>"),
            ("no text", 200, b"\xff\xfe"),
            ("deep", 200, b"[" * 100_000),
            ("a list", 200, []),
            ("null", 200, None),
            ("an empty object", 200, {}),
            ("no call", 200, view(call_id=None)),
            ("an empty id", 200, view(call_id="")),
            ("another tool", 200, view(tool="read_file")),
            ("no status", 200, view(status=None)),
            ("a new status", 200, view("permitted")),
            ("a status that is no text", 200, view(status=["allowed"])),
            ("another case", 200, view("Allowed")),
            ("no decision", 200, view(decision=None)),
            ("another decision", 200, view(decision={"outcome": "denied"})),
            ("odd arguments", 200, view(decision={"outcome": "allowed", "args": "x"})),
            ("created", 201, view()),
            ("a redirect", 302, view()),
            ("a rejection", 403, {"error": {"message": "no"}}),
            ("an error", 500, view()),
        ]
        for what, status, body in rows:
            with self.subTest(what):
                self.answers.append((status, body))
                self.assertIsNotNone(self.ask(), what)
                self.assert_blocked(self.execute())

    def test_an_answer_about_another_call_does_not_end_the_wait_with_a_yes(self) -> None:
        self.answers.extend([(202, view("waiting")), (200, view(call_id="call_2"))])
        self.assertIn("cannot be understood", self.ask() or "")
        self.assertIn("/v1/calls/call_1/withdraw", self.paths())

    def test_an_answer_that_is_too_long_blocks(self) -> None:
        self.change(gateway_module, "ANSWER_BYTES_MAX", 1000)
        self.answers.append((200, view(message="x" * 2000)))
        self.assertIn("too long", self.ask() or "")

    def test_no_gateway_blocks(self) -> None:
        (self.home / "gateway.url").write_text(f"http://127.0.0.1:{free_port()}\n")
        self.assertIn("does not answer", self.ask() or "")
        (self.home / "gateway.url").unlink()
        self.assertIn("no Countersign gateway is running", self.ask() or "")
        self.assert_blocked(self.execute())

    def test_a_gateway_that_goes_away_and_stays_away_blocks(self) -> None:
        self.change(plugin, "AWAY_SECONDS_MAX", 0.05)
        address = self.home / "gateway.url"
        self.answers.append((202, view("waiting")))

        def leave() -> bool:
            address.unlink(missing_ok=True)
            return False

        self.host.is_interrupted = leave
        self.assertIn("It was waiting for a person", self.ask() or "")
        self.assert_blocked(self.execute())

    def test_a_gateway_that_comes_back_elsewhere_is_found(self) -> None:
        address = self.home / "gateway.url"
        steps = deque([f"http://127.0.0.1:{free_port()}", self.server.url])

        def move() -> bool:
            if steps:
                address.write_text(steps.popleft())
            return False

        self.host.is_interrupted = move
        self.answers.extend([(202, view("waiting")), (200, view("allowed"))])
        self.assertIsNone(self.ask())

    def test_a_question_that_never_ends_is_given_up(self) -> None:
        self.change(plugin, "LATE_SECONDS_MAX", 0.0)
        self.answers.extend([(202, view("waiting", expires_at=100.05))] * 100)
        self.assertIn("Nobody answered in time", self.ask() or "")
        self.assertIn("/v1/calls/call_1/withdraw", self.paths())

    def test_a_question_that_a_person_extended_is_waited_for(self) -> None:
        longer = (202, view("waiting", expires_at=700.0))
        self.answers.extend([(202, view("waiting")), longer, (200, view("allowed"))])
        rewinds = deque([400.0])

        def pass_time(since: dict[str, float]) -> None:
            # The first deadline, and a minute, pass while the person reads.
            since["start"] -= rewinds.popleft() if rewinds else 0.0

        self.host.alive = pass_time  # type: ignore[method-assign]
        self.assertIsNone(self.ask())

    def test_an_interrupted_run_withdraws_its_call(self) -> None:
        self.answers.append((202, view("waiting")))
        self.host.is_interrupted = lambda: True
        self.assertIn("interrupted", self.ask() or "")
        self.assertEqual(self.paths()[-1], "/v1/calls/call_1/withdraw")

    def test_a_run_that_ends_withdraws_its_call(self) -> None:
        def pressed() -> bool:
            raise KeyboardInterrupt

        self.answers.append((202, view("waiting")))
        self.host.is_interrupted = pressed
        with self.assertRaises(KeyboardInterrupt):
            self.ask()
        self.assertEqual(self.paths()[-1], "/v1/calls/call_1/withdraw")

    def test_the_hook_never_raises(self) -> None:
        # Hermes runs a call whose hook raised.
        for args in ({"command": object()}, {"command": float("nan")}, {1: 2, "a": 3}):
            with self.subTest(args=args), self.assertLogs(plugin.logger):
                answer = self.gate.pre_tool_call(tool_name="terminal", args=args, **CONTEXT)
                self.assertIsNotNone(answer)
        broken = mock.patch.object(self.host, "as_run", side_effect=ValueError("boom"))
        with broken, self.assertLogs(plugin.logger):
            self.assertIn("boom", self.ask() or "")
            self.assert_blocked(self.execute())
        for odd in (None, "text"):
            self.assertIsNotNone(self.gate.pre_tool_call(tool_name="terminal", args=odd))
        self.assertIsNotNone(self.gate.pre_tool_call())

    def test_only_the_same_call_has_the_same_idempotency_key(self) -> None:
        keys: list[str] = []

        def submit(body: dict[str, Any], key: str) -> dict[str, Any]:
            keys.append(key)
            return view()

        with mock.patch.object(self.gate._gateway, "submit", submit):
            self.ask()
            self.ask()
            self.ask({"command": "ls"})
            self.ask(turn_id="turn2")
            self.ask(api_request_id="answer2")
            self.ask(tool_call_id="")
            self.ask(tool_call_id="")
        self.assertEqual(keys[0], keys[1])
        self.assertEqual(len(set(keys)), 6)


class Running(PluginTest):
    """The middleware."""

    def allow(self, **context: Any) -> None:
        self.answers.append((200, view(call_id=self.fresh())))
        self.assertIsNone(self.ask(**context))

    def test_a_call_that_nobody_asked_for_does_not_run(self) -> None:
        self.assert_blocked(self.execute())

    def test_a_yes_is_for_exactly_that_call(self) -> None:
        rows: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            ("other arguments", {"command": "hermes update"}, {}),
            ("one more argument", COMMAND | {"background": True}, {}),
            ("another id", COMMAND, {"tool_call_id": "call_b"}),
            ("another turn", COMMAND, {"turn_id": "turn2"}),
            ("another session", COMMAND, {"session_id": "s2"}),
        ]
        for what, args, context in rows:
            with self.subTest(what):
                self.allow()
                self.assert_blocked(self.execute(args, **context))
                self.assertIn("ran", json.loads(self.execute()))

    def test_arguments_that_hermes_converts_are_the_same_arguments(self) -> None:
        self.answers.append((200, view()))
        self.ask({"command": "ls", "timeout": "5"})
        result = self.execute({"command": "ls", "timeout": 5})
        self.assertEqual(json.loads(result)["ran"]["timeout"], 5)

    def test_hermes_passes_a_call_through_twice(self) -> None:
        self.allow()
        result = self.execute(tool=self.execute)
        self.assertEqual(json.loads(result), {"ran": COMMAND})
        self.assertEqual(self.paths().count("/v1/calls/call_1/outcome"), 1)
        self.assert_blocked(self.execute())

    def test_changed_arguments_run_and_the_model_is_told(self) -> None:
        changed = {"outcome": "approved", "args": {"command": "hermes version"}, "by": "ana"}
        for is_twice in (False, True):
            for is_same_object in (False, True):
                with self.subTest(is_twice=is_twice, is_same_object=is_same_object):
                    approved = view("approved", call_id=self.fresh(), token="tok", decision=changed)
                    self.answers.extend([(200, approved), (200, {"jti": "x"})])
                    asked = dict(COMMAND)
                    self.assertIsNone(self.ask(asked))
                    self.assertEqual(asked, {"command": "hermes version"})
                    tool = self.execute if is_twice else run
                    result = self.execute(asked if is_same_object else dict(COMMAND), tool=tool)
                    self.assertEqual(json.loads(result)["ran"], {"command": "hermes version"})
                    self.assertIn("ana changed", json.loads(result)["countersign"])
                    self.assert_blocked(self.execute())
                    self.assert_blocked(self.execute({"command": "hermes version"}))

    def test_the_outcome_is_reported_without_its_text(self) -> None:
        rows: list[tuple[Any, dict[str, Any]]] = [
            ('{"output": "secret", "exit_code": 0}', {"failed": False, "exit_code": 0}),
            ('{"output": "secret", "exit_code": 3}', {"failed": True, "exit_code": 3}),
            ('{"error": "secret"}', {"failed": True}),
            ("secret", {"failed": False}),
            ({"_multimodal": True, "content": ["secret"]}, {"failed": False}),
        ]
        for result, expected in rows:
            with self.subTest(result=result):
                self.allow()
                self.assertEqual(self.execute(tool=mock.Mock(return_value=result)), result)
                reported = self.sent[-1][2]
                self.assertGreaterEqual(reported.pop("duration_millis"), 0)
                self.assertEqual(reported, expected)

    def test_an_error_of_the_tool_passes_and_is_reported(self) -> None:
        def broken(_: Any) -> Any:
            raise RuntimeError("the tool failed")

        self.allow()
        with self.assertRaisesRegex(RuntimeError, "the tool failed"):
            self.execute(tool=broken)
        self.assertTrue(self.sent[-1][2]["failed"])
        self.assert_blocked(self.execute())

    def test_a_report_that_fails_does_not_lose_the_result(self) -> None:
        self.allow()
        (self.home / "gateway.url").unlink()
        with self.assertLogs(plugin.logger):
            self.assertEqual(json.loads(self.execute()), {"ran": COMMAND})

    def test_a_call_that_hermes_stops_after_a_yes_is_reported_and_cannot_run(self) -> None:
        self.allow()
        self.gate.post_tool_call(
            tool_name="terminal", args=dict(COMMAND), error_type="guardrail_block", **CONTEXT
        )
        self.assertEqual(
            self.sent[-1][2], {"failed": True, "summary": "Hermes did not run it: guardrail_block"}
        )
        self.assert_blocked(self.execute())

    def test_old_permits_are_forgotten(self) -> None:
        self.change(plugin, "REMEMBERED_MAX", 2)
        for name in ("a", "b", "c"):
            self.allow(tool_call_id=name)
        self.assert_blocked(self.execute(tool_call_id="a"))
        self.assertIn("ran", json.loads(self.execute(tool_call_id="c")))


class Conversations(PluginTest):
    """What the gateway learns of the conversation."""

    def body(self, **context: Any) -> dict[str, Any]:
        self.answers.append((200, view(call_id=self.fresh())))
        self.assertIsNone(self.ask(**context))
        return dict(self.sent[-1][2])

    def test_messages_before_the_first_call_are_all_sent_and_then_the_last_alone(self) -> None:
        self.gate.pre_llm_call(session_id="s1", user_message="I cannot go on")
        self.gate.pre_llm_call(session_id="s1", user_message=[{"type": "text", "text": "write it"}])
        texts = [turn["text"] for turn in self.body()["replying_to"]]
        self.assertEqual(texts, ["I cannot go on", "write it"])
        self.assertEqual(self.body()["replying_to"], [{"from": "user", "text": "write it"}])

    def test_messages_that_were_not_sent_are_kept(self) -> None:
        self.gate.pre_llm_call(session_id="s1", user_message="one")
        self.gate.pre_llm_call(session_id="s1", user_message="two")
        self.answers.append((500, {}))
        self.ask()
        self.assertEqual(len(self.body()["replying_to"]), 2)

    def test_a_subagent_works_in_the_session_and_run_of_its_sender(self) -> None:
        self.host.key = "run_7"
        self.gate.pre_llm_call(session_id="s1", user_message="help me")
        self.host.key = ""
        self.gate.subagent_start(parent_session_id="s1", child_session_id="s2")
        self.gate.subagent_start(parent_session_id="s2", child_session_id="s3")
        self.gate.pre_llm_call(session_id="s3", user_message="delete it")
        body = self.body(session_id="s3", task_id="t3")
        self.assertEqual((body["session_id"], body["run_id"]), ("s1", "run_7"))
        self.assertEqual(
            body["replying_to"],
            [{"from": "user", "text": "help me"}, {"from": "agent", "text": "delete it"}],
        )

    def test_a_call_of_a_script_belongs_to_the_session_of_its_task(self) -> None:
        self.body()
        body = self.body(session_id="", turn_id="", tool_call_id="")
        self.assertEqual(body["session_id"], "s1")

    def test_sessions_that_send_each_other_do_not_hang(self) -> None:
        self.gate.subagent_start(parent_session_id="s1", child_session_id="s2")
        self.gate.subagent_start(parent_session_id="s2", child_session_id="s1")
        self.assertIn(self.body()["session_id"], ("s1", "s2"))


class Reaching(PluginTest):
    """Which gateway is asked, and with which key."""

    def test_settings_come_from_the_environment(self) -> None:
        read = Settings.from_environment
        self.assertEqual(read({}).home, Path.home() / ".countersign")
        named = {"COUNTERSIGN_HOME": "/h", "COUNTERSIGN_URL": " http://x ", "COUNTERSIGN_KEY": "k"}
        self.assertEqual(read(named), Settings(Path("/h"), "http://x", "k"))

    def test_a_file_of_settings_makes_the_environment_count_for_nothing(self) -> None:
        file = self.home / "settings.json"
        environment = {"COUNTERSIGN_URL": "http://elsewhere", "COUNTERSIGN_KEY": "k"}
        self.assertEqual(Settings.load(file, environment).url, "http://elsewhere")
        file.write_text('{"home": "/h"}')
        self.assertEqual(Settings.load(file, environment), Settings(Path("/h")))
        file.write_text('{"home": "/h", "url": "https://gate.example"}')
        self.assertEqual(Settings.load(file, {}).url, "https://gate.example")
        wrong = ("", "[]", "{}", '{"home": "h"}', '{"home": "/h", "key": 1}')
        for text in (*wrong, '{"home": "/h", "url": "x"}'):
            file.write_text(text)
            with self.subTest(text), self.assertRaises((ValueError, GatewayError)):
                Settings.load(file, environment)

    def test_the_socket_for_agents_is_used_and_nothing_else(self) -> None:
        path = self.home / "agent.sock"
        server = Server(self.respond, path)
        self.answers.append((200, view()))
        with mock.patch.object(gateway_module, "TIMEOUT_SECONDS", 5.0):
            (self.home / "gateway.url").write_text(f"http://127.0.0.1:{free_port()}\n")
            self.assertIsNone(self.ask())
        server.close()
        (self.home / "gateway.url").write_text(f"{self.server.url}\n")
        self.answers.append((200, view()))
        self.assertIn("agent.sock does not answer", self.ask() or "")

    def raw(self, answer: bytes, command: str, end: bytes) -> str:
        """Asks for a call at a gateway that reads up to `end`, sends `answer` and leaves."""
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.home / "agent.sock"))
        listener.listen()

        def respond() -> None:
            connection, _ = listener.accept()
            with connection:
                read = b""
                while end not in read:
                    read += connection.recv(100)
                connection.sendall(answer)

        responding = threading.Thread(target=respond)
        responding.start()
        message = self.ask({"command": command}) or ""
        responding.join()
        return message

    def test_an_answer_before_the_whole_call_was_read_is_heard(self) -> None:
        answer = b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\n{}"
        self.assertIn("HTTP 401", self.raw(answer, "x" * 1_000_000, b"\r\n\r\n"))

    def test_half_an_answer_is_none(self) -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + json.dumps(view()).encode()
        self.assertIn("ends early", self.raw(answer, "ls", b'"workspace": "/srv/app"}'))

    def test_a_named_address_is_used_and_the_file_holds_the_key(self) -> None:
        (self.home / "gateway.url").unlink()
        self.gate._gateway = Gateway(Settings(self.home, self.server.url, "other"))
        self.answers.append((200, view()))
        self.assertIsNone(self.ask())
        self.assertEqual(self.gate._gateway._key(), "cs_agent_secret")

    def test_no_key_blocks_and_no_message_shows_one(self) -> None:
        file = self.home / "hooks" / "hermes.key"
        for text in ("", "a\nb", "kéy"):
            file.write_text(text)
            self.assertIn("no key", self.ask() or "")
        file.unlink()
        self.assertIn("no key", self.ask() or "")
        self.gate._gateway = Gateway(Settings(self.home, None, "cs_other_secret"))
        self.answers.append((401, {"error": {"message": "unknown key"}}))
        message = self.ask() or ""
        self.assertIn("unknown key", message)
        self.assertNotIn("secret", message + repr(self.gate._gateway._settings))

    def test_an_address_that_is_none_blocks(self) -> None:
        own = self.server.url.replace("http://", "http://user:word@")
        for text in (
            own,
            f"{self.server.url}?a",
            "ftp://x",
            "http://",
            "nonsense",
            "http://x:99999",
        ):
            with self.subTest(text):
                (self.home / "gateway.url").write_text(text)
                self.assertIsNotNone(self.ask())
        self.assertEqual(self.sent, [])

    def test_no_proxy_is_asked_and_no_redirect_followed(self) -> None:
        with mock.patch.dict(os.environ, {"http_proxy": f"http://127.0.0.1:{free_port()}"}):
            self.answers.append((200, view()))
            self.assertIsNone(self.ask())
        self.answers.append((307, view()))
        self.assertIn("HTTP 307", self.ask() or "")
        self.assertEqual(len(self.sent), 2)


if __name__ == "__main__":
    unittest.main()

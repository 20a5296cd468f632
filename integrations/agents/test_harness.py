"""Fast checks of the runner itself; no agent is installed or started.

python3 -m unittest discover -s integrations/agents -p 'test_*.py'
"""

from __future__ import annotations

import json
import tempfile
import unittest
import urllib.request
from pathlib import Path
from typing import Any

import mcp_server
from codex import trusted_hash
from deeds import NOTE, Approved, Denied, Sight, Unasked, Way
from scripted_model import ScriptedModel

CALL = {"tool": "shell", "args": {"command": "ls"}}
CARD = {"tool": "shell", "args": {}, "assessment": {"crisis_sensitive": False}}


def post(url: str, body: dict[str, Any]) -> Any:
    """Posts JSON and returns the parsed answer."""
    request = urllib.request.Request(url, data=json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


class ScriptedModelTest(unittest.TestCase):
    """Each protocol carries the call to the agent and the report back."""

    def test_messages(self) -> None:
        with ScriptedModel([CALL]) as model:
            url = model.url + "/v1/messages"
            tools = [{"name": "shell"}]
            first = post(url, {"tools": tools, "messages": [{"role": "user", "content": "go"}]})
            block = first["content"][0]
            self.assertEqual(("shell", {"command": "ls"}), (block["name"], block["input"]))
            result = {"type": "tool_result", "tool_use_id": block["id"], "content": "a.txt"}
            answer = {"tools": tools, "messages": [{"role": "user", "content": [result]}]}
            self.assertEqual("done", post(url, answer)["content"][0]["text"])
            self.assertEqual(["a.txt"], model.script.results())

    def test_responses(self) -> None:
        with ScriptedModel([{"tool": "patch", "input": "*** Begin Patch"}]) as model:
            url = model.url + "/v1/responses"
            hidden = {"type": "additional_tools", "tools": [{"type": "custom", "name": "patch"}]}
            item = post(url, {"input": [hidden]})["output"][0]
            self.assertEqual("*** Begin Patch", item["input"])
            result = {
                "type": "custom_tool_call_output",
                "call_id": item["call_id"],
                "output": [{"type": "input_text", "text": "patched"}],
            }
            self.assertEqual("message", post(url, {"input": [hidden, result]})["output"][0]["type"])
            self.assertEqual(["patched"], model.script.results())

    def test_chat_completions(self) -> None:
        with ScriptedModel([CALL]) as model:
            url = model.url + "/v1/chat/completions"
            tools = [{"type": "function", "function": {"name": "shell"}}]
            message = post(url, {"tools": tools, "messages": []})["choices"][0]["message"]
            call = message["tool_calls"][0]
            self.assertEqual({"command": "ls"}, json.loads(call["function"]["arguments"]))
            result = {"role": "tool", "tool_call_id": call["id"], "content": "a.txt"}
            post(url, {"tools": tools, "messages": [result]})
            self.assertEqual(["a.txt"], model.script.results())

    def test_gemini_reports_without_our_id(self) -> None:
        with ScriptedModel([CALL]) as model:
            url = model.url + "/v1beta/models/any:generateContent"
            tools = [{"functionDeclarations": [{"name": "shell"}]}]
            post(url, {"tools": tools, "contents": []})
            part = {"functionResponse": {"name": "shell", "response": {"output": "a.txt"}}}
            post(url, {"tools": tools, "contents": [{"role": "user", "parts": [part]}]})
            self.assertEqual(["a.txt"], model.script.results())

    def test_a_track_is_for_the_subagent_alone(self) -> None:
        with ScriptedModel([{**CALL, "track": "SUB"}]) as model:
            url = model.url + "/v1/messages"

            def asks(text: str) -> str:
                messages = [{"role": "user", "content": text}]
                answer = post(url, {"tools": [{"name": "shell"}], "messages": messages})
                return str(answer["content"][0]["type"])

            self.assertEqual("text", asks("the person's task"))
            self.assertEqual("tool_use", asks("SUB: a part of it"))

    def test_a_tool_that_is_not_offered_is_not_called(self) -> None:
        with ScriptedModel([CALL]) as model:
            body = {"tools": [{"name": "other"}], "messages": []}
            answer = post(model.url + "/v1/messages", body)
            self.assertEqual("done", answer["content"][0]["text"])
            self.assertEqual([CALL], model.script.unplayed())


class McpServerTest(unittest.TestCase):
    """What it sent is on disk."""

    def test_send_message(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            outbox = Path(folder) / "outbox"
            call = {"name": "send_message", "arguments": {"to": "alice", "text": "hi"}}
            mcp_server.answer({"method": "tools/call", "params": call}, str(outbox))
            self.assertEqual({"to": "alice", "text": "hi"}, json.loads(outbox.read_text("utf-8")))


class TrustedHashTest(unittest.TestCase):
    """The hashes are those that Codex 0.166.0 itself reported for these entries."""

    def test_with_matcher_and_message(self) -> None:
        handler = {
            "type": "command",
            "command": "/usr/local/bin/countersign hook codex || exit 2",
            "timeout": 3600,
            "statusMessage": "Prüfung",
        }
        self.assertEqual(
            "sha256:8c6952620814a434cadd158757efc5d2d4532c5577a1a43a4c9c56406dc33cde",
            trusted_hash("pre_tool_use", {"matcher": "*", "hooks": [handler]}),
        )
        self.assertEqual(
            "sha256:7a221c8f2ee559685200ed4c6a1ff656d262fbcf2a1cded8eaed22a48de0ef08",
            trusted_hash("user_prompt_submit", {"hooks": [handler]}),
        )

    def test_without_matcher(self) -> None:
        handler = {
            "type": "command",
            "command": "/usr/local/bin/countersign hook codex",
            "timeout": 3600,
        }
        self.assertEqual(
            "sha256:acd14cd435edfcd541137f811de44daf5a3ecfa4acc99e58865b00d19ddd123b",
            trusted_hash("post_tool_use", {"hooks": [handler]}),
        )


class JudgeTest(unittest.TestCase):
    """A cell is good only if what must be seen was seen."""

    def test_an_effect_without_an_answer_is_open(self) -> None:
        self.assertTrue(Way().judge(sight(effect=True, cards=[CARD])).startswith("OPEN"))

    def test_a_call_that_nobody_was_asked_about_is_not_held(self) -> None:
        self.assertTrue(Way().judge(sight(reports=["not run"])).startswith("FAILED"))

    def test_a_card_about_another_tool_fails(self) -> None:
        seen = sight(cards=[CARD], other_cards=[CARD], reports=["not run"])
        self.assertTrue(Way().judge(seen).startswith("FAILED"))

    def test_held(self) -> None:
        self.assertEqual("held", Way().judge(sight(cards=[CARD], reports=["It did not run."])))

    def test_a_safe_call_must_not_ask(self) -> None:
        self.assertTrue(Unasked().judge(sight(effect=True, cards=[CARD])).startswith("FAILED"))

    def test_a_denial_carries_the_note(self) -> None:
        self.assertEqual("denied", Denied().judge(sight(cards=[CARD], reports=[f"x: {NOTE}"])))
        self.assertTrue(Denied().judge(sight(cards=[CARD])).startswith("FAILED"))

    def test_an_approval_is_for_one_call(self) -> None:
        facts = {"asked": 2, "ran_first": True, "outcome": {"failed": False}}
        self.assertEqual("ran once", Approved().judge(sight(cards=[CARD], facts=facts)))
        seen = sight(effect=True, cards=[CARD], facts={"asked": 1})
        self.assertTrue(Approved().judge(seen).startswith("OPEN"))


def sight(**seen: Any) -> Sight:
    """Returns what was seen, with nothing where nothing is given."""
    usual: dict[str, Any] = {"effect": False, "cards": [], "other_cards": [], "reports": []}
    return Sight(**{**usual, "exit_code": 0, "unplayed": [], **seen})


if __name__ == "__main__":
    unittest.main()

"""A small editor: starts an agent in ACP mode, sends one message and allows all that it asks.

    python3 acp_client.py MESSAGE PROGRAM [ARGUMENT...]

Ends with 0 when the agent says that its turn is over. The agent's methods of authentication that
need no person are chosen by the environment it runs in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import IO, Any

Json = dict[str, Any]

PROTOCOL_VERSION = 1


class Editor:
    """One connection: JSON-RPC, one object in a line."""

    def __init__(self, to_agent: IO[str], from_agent: IO[str]) -> None:
        self._to_agent = to_agent
        self._from_agent = from_agent
        self._last_id = 0

    def request(self, method: str, params: Json) -> Json:
        """Sends a request and returns its result; answers what the agent asks meanwhile."""
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        for line in self._from_agent:
            message = json.loads(line)
            if "method" in message:
                self._answer(message)
            elif message.get("id") == self._last_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: Json = message.get("result") or {}
                return result
        raise RuntimeError(f"the agent ended before it answered {method}")

    def _answer(self, message: Json) -> None:
        if "id" not in message:
            return
        if message["method"] != "session/request_permission":
            error = {"code": -32601, "message": "this editor cannot do that"}
            self._send({"id": message["id"], "error": error})
            return
        options = message["params"]["options"]
        once = next(option for option in options if option["kind"] == "allow_once")
        outcome = {"outcome": "selected", "optionId": once["optionId"]}
        self._send({"id": message["id"], "result": {"outcome": outcome}})

    def _send(self, message: Json) -> None:
        self._to_agent.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._to_agent.flush()


def main() -> None:
    """Runs one turn and ends the agent."""
    message, *command = sys.argv[1:]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        editor = Editor(agent.stdin, agent.stdout)
        try:
            editor.request(
                "initialize",
                {"protocolVersion": PROTOCOL_VERSION, "clientCapabilities": {}},
            )
            method = os.environ.get("ACP_AUTHENTICATION")
            if method:
                editor.request("authenticate", {"methodId": method})
            session = editor.request("session/new", {"cwd": os.getcwd(), "mcpServers": []})
            prompt = [{"type": "text", "text": message}]
            turn = {"sessionId": session["sessionId"], "prompt": prompt}
            print(json.dumps(editor.request("session/prompt", turn)))
        finally:
            agent.kill()


if __name__ == "__main__":
    main()

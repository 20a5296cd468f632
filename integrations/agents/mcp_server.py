"""A small MCP server on stdio with one tool, `send_message`, that writes what it sent to a file.

    python3 mcp_server.py OUTBOX

Each message becomes one JSON line in OUTBOX, so that a test sees on disk whether it was sent.
OUTBOX.ready appears when the tools have been listed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

TOOL: Json = {
    "name": "send_message",
    "description": "Sends a message to a person.",
    "inputSchema": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
        "required": ["to", "text"],
    },
}


def send(outbox: str, arguments: Json) -> Json:
    """Appends the message to the outbox and returns the tool's result."""
    with open(outbox, "a", encoding="utf-8") as file:
        file.write(json.dumps(arguments, sort_keys=True) + "\n")
    return {"content": [{"type": "text", "text": f"sent to {arguments.get('to')}"}]}


def answer(request: Json, outbox: str) -> Json:
    """Returns the result of one request, or an error for an unknown method."""
    params = request.get("params") or {}
    match request.get("method"):
        case "initialize":
            return {
                "result": {
                    "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "post", "version": "1.0.0"},
                }
            }
        case "tools/list":
            Path(outbox + ".ready").touch()
            return {"result": {"tools": [TOOL]}}
        case "tools/call" if params.get("name") == TOOL["name"]:
            return {"result": send(outbox, params.get("arguments") or {})}
        case "ping":
            return {"result": {}}
        case method:
            return {"error": {"code": -32601, "message": f"unknown method `{method}`"}}


def main() -> None:
    """Serves until stdin ends. Notifications carry no id and get no answer."""
    outbox = sys.argv[1]
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            reply = {"jsonrpc": "2.0", "id": request["id"], **answer(request, outbox)}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()

"""A server over standard input and output for tests: it writes every line it gets into a file, and answers.

Lines are answered in order, in the bytes given here where a test looks at bytes.
"""

import json
import os
import sys

LOG = open(os.environ["SEEN"], "ab", buffering=0)
TOOLS = os.environ.get("TOOLS", "")
REPLIES = json.loads(os.environ.get("REPLIES", "{}"))


def tools():
    if TOOLS:
        with open(TOOLS) as file:
            return json.load(file)
    return [
        {"name": "wipe", "description": "Wipes", "inputSchema": {"type": "object"}},
        {"name": "notes_list", "description": "Lists notes", "inputSchema": {"type": "object"}},
    ]


def say(message):
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


def main():
    for line in sys.stdin.buffer:
        LOG.write(line)
        try:
            message = json.loads(line)
        except ValueError:
            sys.stdout.buffer.write(b"not json: " + line)
            sys.stdout.buffer.flush()
            continue
        if not isinstance(message, dict):
            say({"jsonrpc": "2.0", "method": "got", "params": {"kind": type(message).__name__}})
            continue
        ident, method = message.get("id"), message.get("method")
        if method == "tools/list" and (message.get("params") or {}).get("again"):
            method = "tools/listed"
        if method in REPLIES:
            sys.stdout.buffer.write(REPLIES[method].encode("utf-8", "surrogateescape") + b"\n")
            sys.stdout.buffer.flush()
        elif method == "exit":
            sys.stderr.write("last words\n")
            sys.exit(message["params"]["code"])
        elif ident is None or method is None:
            continue
        elif method == "initialize":
            result = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "fixture", "version": "0"},
            }
            say({"jsonrpc": "2.0", "id": ident, "result": result})
        elif method == "tools/list":
            say({"jsonrpc": "2.0", "id": ident, "result": {"tools": tools()}})
        elif method == "tools/call":
            done = {"content": [{"type": "text", "text": "ran " + message["params"]["name"]}]}
            say({"jsonrpc": "2.0", "id": ident, "result": done})
        elif method == "big":
            say({"jsonrpc": "2.0", "id": ident, "result": {"text": "x" * message["params"]["bytes"]}})
        else:
            say({"jsonrpc": "2.0", "id": ident, "result": {"echo": message.get("params")}})


main()

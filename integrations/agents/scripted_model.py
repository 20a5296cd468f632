"""A model server on loopback that plays a script of tool calls.

It speaks the four wire protocols that coding agents use: Anthropic Messages, OpenAI Responses,
OpenAI chat completions and Gemini. A script is a list of steps in the agent's own tool names:

    {"tool": "Bash", "args": {"command": "ls"}}
    {"tool": "send_message", "namespace": "mcp__post", "args": {...}}   Responses namespaces
    {"tool": "apply_patch", "input": "*** Begin Patch..."}              Responses custom tools
    {"say": "the folder is empty"}                                      text, no tool call

`args` may be a function that takes the reports so far, for a call that names what an earlier one
returned. `before` is a function that is called when the step is played. `"unlisted": true` plays a
step whose tool the agent keeps out of the request's list, as agents do that let the model search
for tools.

Each request that offers the tool of the next step is answered with that step; any other request,
and every request after the last step, with the text "done". Steps with `"track": "MARK"` are for a
subagent: only conversations with MARK in the text of a user message get them, and no others.
The server keeps what the agent reported about each call.
"""

from __future__ import annotations

import argparse
import gzip
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Json = dict[str, Any]

REQUEST_BYTES_MAX = 64 * 1024 * 1024
FINAL_TEXT = "done"
MODEL_NAME = "scripted-model"


@dataclass
class Turn:
    """One answer of the model: a tool call (`call_id` is set) or a text."""

    text: str = ""
    call_id: str = ""
    tool: str = ""
    namespace: str = ""
    args: Json = field(default_factory=dict)
    free_input: str | None = None

    def arguments(self) -> str:
        """Returns the arguments as the JSON text that most protocols carry."""
        return json.dumps(self.args)


@dataclass
class Exchange:
    """One request the agent sent, with its parsed body."""

    method: str
    path: str
    body: Json


class Script:
    """The steps, how far the agent is, and what it reported about each call."""

    def __init__(self, steps: list[Json]) -> None:
        self._lock = threading.Lock()
        self._steps = list(steps)
        self._unplayed = list(steps)
        self._tool_of: dict[str, str] = {}
        self._results: dict[str, str] = {}
        self.exchanges: list[Exchange] = []

    def next_turn(self, offered: set[str], user_text: str) -> Turn:
        """Returns the next step if the request offers its tool, else the final text.

        `user_text` is the text of the conversation's user messages; it chooses the track.
        """
        with self._lock:
            marks = (step["track"] for step in self._steps if "track" in step)
            track = next((mark for mark in marks if mark in user_text), None)
            todo = (step for step in self._unplayed if step.get("track") == track)
            step = next(todo, None)
            if not offered or step is None:
                return Turn(text=FINAL_TEXT)
            if "say" in step:
                self._unplayed.remove(step)
                return Turn(text=str(step["say"]))
            if step["tool"] not in offered and not step.get("unlisted"):
                return Turn(text=FINAL_TEXT)
            self._unplayed.remove(step)
            if "before" in step:
                step["before"]()
            args = step.get("args", {})
            if callable(args):
                args = args(list(self._results.values()))
            call_id = f"call_{len(self._tool_of) + 1:04d}"
            self._tool_of[call_id] = step["tool"]
            return Turn(
                call_id=call_id,
                tool=step["tool"],
                namespace=step.get("namespace", ""),
                args=args,
                free_input=step.get("input"),
            )

    def record(self, exchange: Exchange) -> None:
        """Keeps the request."""
        with self._lock:
            self.exchanges.append(exchange)

    def report(self, call_id: str, tool: str, text: str) -> None:
        """Keeps what the agent said about a call. The first report of a call counts."""
        with self._lock:
            if call_id not in self._tool_of:
                call_id = self._unreported(tool)
            if call_id:
                self._results.setdefault(call_id, text)

    def _unreported(self, tool: str) -> str:
        """Finds the oldest call of that tool without a report, for agents that drop our ids."""
        for call_id, name in self._tool_of.items():
            if name == tool and call_id not in self._results:
                return call_id
        return ""

    def results(self) -> list[str | None]:
        """Returns, for each call issued so far, what the agent told the model about it."""
        with self._lock:
            return [self._results.get(call_id) for call_id in self._tool_of]

    def finished(self) -> bool:
        """Returns whether every step was played and every call reported."""
        with self._lock:
            return not self._unplayed and len(self._results) == len(self._tool_of)

    def unplayed(self) -> list[Json]:
        """Returns the steps that no request asked for."""
        with self._lock:
            return list(self._unplayed)


class ScriptedModel:
    """The server. `with ScriptedModel(steps) as model:` serves on a free loopback port."""

    def __init__(self, steps: list[Json] | None = None, port: int = 0) -> None:
        self.script = Script(steps or [])
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Returns the base address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def play(self, steps: list[Json]) -> Script:
        """Starts a new script and returns it."""
        self.script = Script(steps)
        return self.script

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler_for(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        owner = model

    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ScriptedModel

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the terminal quiet; the script holds every request."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.owner.script.record(Exchange("GET", self.path, {}))
        if self.path.split("?")[0].endswith("/models"):
            entry = {"id": MODEL_NAME, "object": "model"}
            self.send_json({"object": "list", "data": [entry]})
        else:
            self.send_json({"error": {"message": "not found"}}, 404)

    def do_POST(self) -> None:
        body = self._read_body()
        path = self.path.split("?")[0]
        script = self.owner.script
        script.record(Exchange("POST", self.path, body))
        if path.endswith("/count_tokens"):
            self.send_json({"input_tokens": 10})
        elif path.endswith(":countTokens"):
            self.send_json({"totalTokens": 10})
        elif path.endswith("/messages"):
            _answer_messages(self, script, body)
        elif path.endswith("/responses"):
            _answer_responses(self, script, body)
        elif path.endswith("/chat/completions"):
            _answer_chat(self, script, body)
        elif path.endswith((":streamGenerateContent", ":generateContent")):
            _answer_gemini(self, script, body, streaming=path.endswith(":streamGenerateContent"))
        else:
            self.send_json({"error": {"message": "not found"}}, 404)

    def _read_body(self) -> Json:
        """Reads the body, plain, chunked or gzip; what is not a JSON object is an empty one."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            raw = b"".join(self._chunks())
        else:
            size = int(self.headers.get("Content-Length", 0))
            raw = self.rfile.read(min(size, REQUEST_BYTES_MAX))
        if self.headers.get("Content-Encoding", "") == "gzip":
            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw)
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def send_json(self, value: object, status: int = 200) -> None:
        """Sends one JSON value."""
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_stream(self, lines: Iterator[str]) -> None:
        """Sends server-sent events; the connection ends with the stream."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for line in lines:
            self.wfile.write(line.encode())
            self.wfile.flush()
        self.close_connection = True


def _named_event(name: str, value: Json) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **value})}\n\n"


def _data_event(value: Json) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _text_of(content: Any) -> str:
    """Joins the text parts of a message's content, whichever of the usual shapes it has."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, (_text_of(part) for part in content)))
    if isinstance(content, dict):
        for key in ("text", "content", "output"):
            if key in content:
                return _text_of(content[key])
        return json.dumps(content)
    return "" if content is None else str(content)


# Anthropic Messages


def _answer_messages(handler: _Handler, script: Script, body: Json) -> None:
    said = []
    for message in body.get("messages", []):
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            if block.get("type") == "tool_result":
                script.report(block.get("tool_use_id", ""), "", _text_of(block.get("content")))
            elif block.get("type") == "text" and message.get("role") == "user":
                said.append(_text_of(block))
    names = {tool.get("name", "") for tool in body.get("tools") or []}
    turn = script.next_turn(names, "\n".join(said))
    block, stop = _messages_block(turn)
    message = {
        "id": "msg_" + (turn.call_id or "text"),
        "type": "message",
        "role": "assistant",
        "model": body.get("model", MODEL_NAME),
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    if body.get("stream"):
        handler.send_stream(_messages_events(message, turn))
    else:
        handler.send_json(message)


def _messages_block(turn: Turn) -> tuple[Json, str]:
    if not turn.call_id:
        return {"type": "text", "text": turn.text}, "end_turn"
    block = {"type": "tool_use", "id": turn.call_id, "name": turn.tool, "input": turn.args}
    return block, "tool_use"


def _messages_events(message: Json, turn: Turn) -> Iterator[str]:
    start = {**message, "content": [], "stop_reason": None}
    yield _named_event("message_start", {"message": start})
    block = message["content"][0]
    if turn.call_id:
        opening = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": turn.arguments()}
    else:
        opening = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn.text}
    yield _named_event("content_block_start", {"index": 0, "content_block": opening})
    yield _named_event("content_block_delta", {"index": 0, "delta": delta})
    yield _named_event("content_block_stop", {"index": 0})
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _named_event("message_delta", {"delta": ending, "usage": {"output_tokens": 5}})
    yield _named_event("message_stop", {})


# OpenAI Responses


def _answer_responses(handler: _Handler, script: Script, body: Json) -> None:
    items = body.get("input")
    tools = list(body.get("tools") or [])
    said = [items] if isinstance(items, str) else []
    for item in items if isinstance(items, list) else []:
        kind = str(item.get("type", ""))
        if kind.endswith("_call_output"):
            script.report(item.get("call_id", ""), "", _text_of(item.get("output")))
        elif kind == "additional_tools":
            tools += item.get("tools") or []
        elif item.get("role") == "user":
            said.append(_text_of(item.get("content")))
    turn = script.next_turn(_responses_tools(tools), "\n".join(said))
    item = _responses_item(turn)
    response: Json = {
        "id": "resp_" + (turn.call_id or "text"),
        "object": "response",
        "model": body.get("model", MODEL_NAME),
        "status": "completed",
        "output": [item],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        },
    }
    if body.get("stream"):
        handler.send_stream(_responses_events(response, item))
    else:
        handler.send_json(response)


def _responses_tools(tools: list[Json]) -> set[str]:
    names = set()
    for tool in tools:
        if tool.get("type") == "namespace":
            names |= _responses_tools(tool.get("tools") or [])
        else:
            names.add(tool.get("name") or tool.get("type", ""))
    return names


def _responses_item(turn: Turn) -> Json:
    if not turn.call_id:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        return {"type": "message", "id": "msg_text", "role": "assistant", "content": [part]}
    item: Json = {"id": "item_" + turn.call_id, "call_id": turn.call_id, "name": turn.tool}
    if turn.namespace:
        item["namespace"] = turn.namespace
    if turn.free_input is not None:
        return {**item, "type": "custom_tool_call", "input": turn.free_input}
    return {**item, "type": "function_call", "arguments": turn.arguments()}


def _responses_events(response: Json, item: Json) -> Iterator[str]:
    opened = {**response, "status": "in_progress", "output": []}
    yield _named_event("response.created", {"response": opened})
    yield _named_event("response.output_item.added", {"output_index": 0, "item": item})
    yield _named_event("response.output_item.done", {"output_index": 0, "item": item})
    yield _named_event("response.completed", {"response": response})


# OpenAI chat completions


def _answer_chat(handler: _Handler, script: Script, body: Json) -> None:
    said = []
    for message in body.get("messages", []):
        text = _text_of(message.get("content"))
        if message.get("role") == "tool":
            script.report(message.get("tool_call_id", ""), "", text)
        elif message.get("role") == "user":
            said.append(text)
    names = {tool.get("function", {}).get("name", "") for tool in body.get("tools") or []}
    turn = script.next_turn(names, "\n".join(said))
    finish = "tool_calls" if turn.call_id else "stop"
    message = _chat_message(turn)
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    head = {"id": "chatcmpl-scripted", "created": 0, "model": body.get("model", MODEL_NAME)}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": finish}
        handler.send_json(
            {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        )
        return
    head["object"] = "chat.completion.chunk"
    handler.send_stream(_chat_events(head, message, finish, usage))


def _chat_message(turn: Turn) -> Json:
    if not turn.call_id:
        return {"role": "assistant", "content": turn.text}
    function = {"name": turn.tool, "arguments": turn.arguments()}
    call = {"id": turn.call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _chat_events(head: Json, message: Json, finish: str, usage: Json) -> Iterator[str]:
    calls = [{"index": at, **call} for at, call in enumerate(message.get("tool_calls", []))]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": finish}):
        yield _data_event({**head, "choices": [{"index": 0, **choice}]})
    yield _data_event({**head, "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


# Gemini


def _answer_gemini(handler: _Handler, script: Script, body: Json, *, streaming: bool) -> None:
    said = []
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if content.get("role") == "user" and "text" in part:
                said.append(part["text"])
            answer = part.get("functionResponse")
            if answer:
                text = _text_of(answer.get("response"))
                script.report(answer.get("id", ""), answer.get("name", ""), text)
    names = {
        function.get("name", "")
        for tool in body.get("tools") or []
        for function in tool.get("functionDeclarations", [])
    }
    turn = script.next_turn(names, "\n".join(said))
    response = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [_gemini_part(turn, body)]},
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 10,
            "candidatesTokenCount": 5,
            "totalTokenCount": 15,
        },
        "modelVersion": MODEL_NAME,
    }
    if streaming:
        handler.send_stream(iter([_data_event(response)]))
    else:
        handler.send_json(response)


def _gemini_part(turn: Turn, body: Json) -> Json:
    if turn.call_id:
        return {"functionCall": {"name": turn.tool, "args": turn.args, "id": turn.call_id}}
    wanted = body.get("generationConfig", {}).get("responseMimeType")
    if wanted == "application/json" and not body.get("tools"):
        # The agent's own helper questions: who speaks next, how hard is the task.
        return {
            "text": json.dumps(
                {
                    "reasoning": "scripted",
                    "next_speaker": "user",
                    "complexity_reasoning": "scripted",
                    "complexity_score": 10,
                    "model_choice": "flash",
                }
            )
        }
    return {"text": turn.text}


def main() -> None:
    """Serves one script from a file, for trying an agent by hand."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("script", help="JSON file with a list of steps")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    with open(options.script, encoding="utf-8") as file:
        steps = json.load(file)
    with ScriptedModel(steps, options.port) as model:
        print(model.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()

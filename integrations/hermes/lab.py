"""Starts what the check needs, on loopback: Hermes' API server, a scripted model, a gateway.

Everything lives in one folder that is removed before and kept after, for its logs.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
HERMES_VERSION = "0.19.0"
# Hermes' API server needs aiohttp, which only its messaging extras name; the version is theirs.
PACKAGES = (f"hermes-agent=={HERMES_VERSION}", "aiohttp==3.14.1")
API_KEY = "a-key-of-the-check-0123456789"
START_SECONDS_MAX = 120.0
RUN_SECONDS_MAX = 120.0
POLL_SECONDS = 0.1


class Failed(Exception):
    """Something was not as it must be."""


def expect(is_so: bool, what: str) -> None:
    """Raises if something is not so."""
    if not is_so:
        raise Failed(what)


def until(find: Callable[[], Any], seconds: float, what: str) -> Any:
    """Returns what `find` finds, or raises when it has found nothing for so long."""
    deadline = time.monotonic() + seconds
    while True:
        found = find()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failed(f"not within {seconds:g} s: {what}")
        time.sleep(POLL_SECONDS)


def request(
    method: str, url: str, key: str, body: Any = None, seconds: float = 60.0
) -> tuple[int, Any]:
    """Sends one request; returns the status and the body."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    sent = urllib.request.Request(url, data=data, headers=headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(sent, timeout=seconds) as response:
            return response.status, json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        text = error.read()
        try:
            return error.code, json.loads(text)
        except ValueError:
            return error.code, text.decode(errors="replace")


def free_port() -> int:
    """Returns a port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class SocketServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A server at a socket in the file system."""

    daemon_threads = True


class Server:
    """A small HTTP server in a thread; `answer(method, path, body)` returns status, type, bytes."""

    def __init__(
        self, answer: Callable[[str, str, bytes], tuple[int, str, bytes]], path: Path | None = None
    ) -> None:
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                """Logs nothing."""

            def respond(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                status, kind, data = answer(self.command, self.path, self.rfile.read(length))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                try:
                    self.wfile.write(data)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = respond

        self._server: socketserver.TCPServer
        if path is not None:
            self._server = SocketServer(str(path), Handler)
        else:
            self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._server.server_close()


class Model:
    """A model that does what it is told: a user's message carries the tool calls it makes.

    `CALLS: [[tool, arguments], …]` in the last message makes those calls at once; the answer after
    that is the list of their results.
    """

    def __init__(self) -> None:
        self.tools: list[str] = []
        self._count = 0
        self._server = Server(self._answer)
        self.url = f"{self._server.url}/v1"

    def close(self) -> None:
        """Ends it."""
        self._server.close()

    def _answer(self, method: str, path: str, data: bytes) -> tuple[int, str, bytes]:
        if method == "GET" or not path.endswith("/chat/completions"):
            models = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
            return 200, "application/json", json.dumps(models).encode()
        body = json.loads(data)
        if body.get("tools"):
            self.tools = [tool["function"]["name"] for tool in body["tools"]]
        message = self._message(body["messages"])
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "answer", "model": "scripted", "created": 0, "usage": usage}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            answer |= {"object": "chat.completion", "choices": [choice]}
            return 200, "application/json", json.dumps(answer).encode()
        for index, call in enumerate(message.get("tool_calls") or []):
            call["index"] = index
        choice = {"index": 0, "delta": message, "finish_reason": finish}
        answer |= {"object": "chat.completion.chunk", "choices": [choice]}
        stream = f"data: {json.dumps(answer)}\n\ndata: [DONE]\n\n"
        return 200, "text/event-stream", stream.encode()

    def _message(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        results: list[str] = []
        for message in reversed(messages):
            if message["role"] != "tool":
                break
            results.insert(0, _text(message.get("content")))
        if results:
            return {"role": "assistant", "content": json.dumps(results)}
        text = _text(messages[-1].get("content"))
        if messages[-1]["role"] != "user" or "CALLS:" not in text:
            return {"role": "assistant", "content": "ok"}
        calls, _ = json.JSONDecoder().raw_decode(text.split("CALLS:", 1)[1].strip())
        made = []
        for tool, args in calls:
            self._count += 1
            function = {"name": tool, "arguments": json.dumps(args)}
            made.append({"id": f"call_{self._count}", "type": "function", "function": function})
        return {"role": "assistant", "content": None, "tool_calls": made}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content)


class Lab:
    """The folder, the processes, and the requests that a scenario makes."""

    def __init__(self, folder: Path, hermes: Path, countersign: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("home", "work", "hermes/plugins", "countersign/hooks", "bin"):
            (folder / name).mkdir(parents=True)
        self.work = folder / "work"
        self.home = folder / "countersign"
        self.hermes_home = folder / "hermes"
        self.model = Model()
        self._hermes, self._countersign = hermes, countersign
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._port = free_port()
        self.api = f"http://127.0.0.1:{self._port}"
        self.plugin = self.hermes_home / "plugins" / "countersign"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(HERE / "countersign", self.plugin, ignore=ignored)
        (self.plugin / "settings.json").write_text(json.dumps({"home": str(self.home)}))
        self.configure("countersign")
        self._make_command()

    def configure(self, *plugins: str, toolset: str | None = None) -> None:
        """Says which plugins and which set of tools Hermes has when it starts next."""
        config: dict[str, Any] = {
            "model": {
                "default": "scripted",
                "provider": "custom",
                "base_url": self.model.url,
                "api_key": "none",
            },
            "terminal": {"cwd": str(self.work)},
            "approvals": {"mode": "manual", "timeout": 60},
            "plugins": {"enabled": list(plugins)},
            "platforms": {
                "api_server": {
                    "enabled": True,
                    "extra": {"host": "127.0.0.1", "port": self._port, "key": API_KEY},
                }
            },
        }
        if toolset is not None:
            config["platform_toolsets"] = {"api_server": [toolset]}
        (self.hermes_home / "config.yaml").write_text(json.dumps(config, indent=1))

    def _make_command(self) -> None:
        """Puts a `hermes` on the agent's path that counts its runs and touches no network."""
        command = self.folder / "bin" / "hermes"
        command.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/ran\necho checked\n')
        command.chmod(0o755)
        # Hermes starts a login shell, and /etc/profile may set another path.
        profile = self.folder / "home" / ".bash_profile"
        profile.write_text(f'PATH="{self.folder / "bin"}:$PATH"\n')

    def ran(self) -> list[str]:
        """Returns how the agent has run `hermes`, and forgets it."""
        file = self.folder / "ran"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def _environment(self) -> dict[str, str]:
        path = f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        return {
            "PATH": path,
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "HERMES_HOME": str(self.hermes_home),
            # The plugin has settings, so this counts for nothing.
            "COUNTERSIGN_URL": "http://127.0.0.1:1",
        }

    def start(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        """Starts a process in its own group, with its output in a log."""
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self.work,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes[name] = process
        return process

    def stop(self, name: str, how: signal.Signals = signal.SIGTERM) -> None:
        """Ends a process that was started, and waits for it."""
        process = self._processes.pop(name, None)
        if process is None or process.poll() is not None:
            return
        process.send_signal(how)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=20)

    def close(self) -> None:
        """Ends everything."""
        for name in list(self._processes):
            self.stop(name)
        self.model.close()

    def hermes(self, *words: str) -> list[str]:
        """Returns a command line of Hermes."""
        return [str(self._hermes), *words]

    def start_hermes(self) -> None:
        """Starts Hermes' gateway with its API server."""
        process = self.start("hermes", self.hermes("gateway", "run"))

        def is_up() -> bool:
            expect(process.poll() is None, f"Hermes ended, see {self.folder}/hermes.log")
            try:
                return request("GET", f"{self.api}/health", API_KEY, seconds=2)[0] == 200
            except OSError:
                return False

        until(is_up, START_SECONDS_MAX, "Hermes answers")

    def start_gateway(self, timeout: str = "5m") -> None:
        """Starts a Countersign gateway on a fresh port. Scenarios deny the same command again and
        again, so a denial is not remembered."""
        config = {"approvals": {"timeout": timeout, "deny_memory": "0s"}}
        (self.home / "config.yaml").write_text(json.dumps(config))
        (self.home / "gateway.url").unlink(missing_ok=True)
        address = self.home / "gateway.url"
        self.start("gateway", self.countersign("serve", "--listen", "127.0.0.1:0"))
        what = "the gateway listens"
        until(lambda: address.exists() and address.read_text(), START_SECONDS_MAX, what)
        until(self._is_ready, START_SECONDS_MAX, "the gateway is ready")
        if not (self.home / "hooks" / "hermes.key").exists():
            (self.home / "hooks" / "hermes.key").write_text(self.key("agent", "hermes"))
            self._ana = self.key("approver", "ana")

    def _is_ready(self) -> bool:
        try:
            return request("GET", f"{self.gateway_url()}/ready", "none", seconds=2)[0] == 200
        except OSError:
            return False

    def countersign(self, *words: str) -> list[str]:
        """Returns a command line of Countersign for this home."""
        return [str(self._countersign), *words, "--home", str(self.home)]

    def key(self, role: str, name: str) -> str:
        """Creates a key."""
        command = self.countersign("keys", "create", "--role", role, "--name", name)
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
        return done.stdout.strip()

    def gateway_url(self) -> str:
        """Returns where the gateway is."""
        return (self.home / "gateway.url").read_text().splitlines()[0]

    def run(self, *calls: tuple[str, dict[str, Any]], **more: Any) -> str:
        """Starts a run of Hermes that makes these calls; returns its id."""
        body = {"input": f"Please do it. CALLS: {json.dumps(calls)}", **more}
        status, answer = request("POST", f"{self.api}/v1/runs", API_KEY, body)
        expect(status == 202, f"Hermes takes the run: {answer}")
        return str(answer["run_id"])

    def stop_run(self, run_id: str) -> None:
        """Stops a run, as a client of Hermes does."""
        status, answer = request("POST", f"{self.api}/v1/runs/{run_id}/stop", API_KEY, {})
        expect(status == 200, f"Hermes stops the run: {answer}")

    def state(self, run_id: str) -> dict[str, Any]:
        """Returns the run as Hermes shows it."""
        return dict(request("GET", f"{self.api}/v1/runs/{run_id}", API_KEY)[1])

    def results(self, run_id: str, seconds: float = RUN_SECONDS_MAX) -> list[str]:
        """Waits until a run has ended; returns the results that its model saw."""

        def ended() -> dict[str, Any] | None:
            state = self.state(run_id)
            return state if state["status"] in ("completed", "failed", "cancelled") else None

        state = until(ended, seconds, f"the run ends: {run_id}")
        expect(state["status"] == "completed", f"the run completes: {state}")
        try:
            return list(json.loads(state["output"]))
        except ValueError:
            return [state["output"]]

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Asks the gateway as the approver Ana."""
        return request(method, f"{self.gateway_url()}{path}", self._ana, body)

    def waiting(self) -> list[dict[str, Any]]:
        """Returns the approvals that wait."""
        status, answer = self.ask("GET", "/v1/approvals?status=waiting")
        expect(status == 200, f"the gateway lists approvals: {answer}")
        return list(answer["approvals"])

    def card(self, run_id: str) -> dict[str, Any]:
        """Waits for an approval of a run."""

        def find() -> dict[str, Any] | None:
            found = [one for one in self.waiting() if one["run_id"] == run_id]
            return found[0] if found else None

        return dict(until(find, RUN_SECONDS_MAX, f"a card of {run_id}"))

    def answer(self, card: dict[str, Any], choice: str, **more: Any) -> None:
        """Answers an approval."""
        path = f"/v1/approvals/{card['approval_id']}/resolve"
        status, answer = self.ask("POST", path, {"choice": choice, **more})
        expect(status == 200, f"the answer counts: {answer}")

    def trace(self, card: dict[str, Any]) -> dict[str, Any]:
        """Returns the call of an approval, as recorded."""
        return dict(self.ask("GET", f"/v1/traces/{card['call_id']}")[1])

    def ledger(self, run_id: str) -> list[str]:
        """Returns the names of the entries about a run."""
        entries = self.ask("GET", "/v1/ledger?limit=500")[1]["entries"]
        return [entry["event"] for entry in entries if entry["run"] == run_id]

    def events(self, run_id: str) -> list[str]:
        """Returns the names of the events on the stream of a run of Hermes that has ended."""
        sent = urllib.request.Request(
            f"{self.api}/v1/runs/{run_id}/events", headers={"Authorization": f"Bearer {API_KEY}"}
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(sent, timeout=30) as response:
            lines = response.read().decode().splitlines()
        return [json.loads(line[5:])["event"] for line in lines if line.startswith("data:")]

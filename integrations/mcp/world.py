"""What the measurements of MCP start: programs, a gateway, a script that answers cards."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

READY_SECONDS = 60
STOP_SECONDS = 10
# The approver follows the events of the gateway; a stream that is silent for longer than this has ended.
SILENCE_SECONDS = 60


class Started:
    """A program that was started and is ended with `stop`."""

    def __init__(self, command: list[str], variables: dict[str, str] | None = None, **more: Any) -> None:
        self.port = int((variables or {}).get("PORT", 0))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | (variables or {}),
            text=True,
            **more,
        )

    def first_line(self) -> str:
        """Returns the first line it writes."""
        line = self.process.stdout.readline().strip()
        if not line:
            raise SystemExit(f"error: {self.process.args} did not start")
        return line

    def wait_for_port(self, path: str) -> str:
        """Returns the address of its port once something listens there."""
        since = time.monotonic()
        while time.monotonic() - since < READY_SECONDS and self.process.poll() is None:
            with socket.socket() as line:
                if line.connect_ex(("127.0.0.1", self.port)) == 0:
                    return f"http://127.0.0.1:{self.port}{path}"
            time.sleep(0.05)
        raise SystemExit(f"error: {self.process.args} did not start")

    def stop(self) -> None:
        """Ends it."""
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    @staticmethod
    def free_port() -> int:
        """Returns a port that was free a moment ago."""
        with socket.socket() as line:
            line.bind(("127.0.0.1", 0))
            return line.getsockname()[1]


class Gateway(Started):
    """A gateway with MCP servers, in a home of its own."""

    def __init__(self, countersign: Path, folder: Path, settings: dict[str, Any]) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        # The suite asks through a program that keeps its own `Host`.
        settings = settings | {"api": {"hosts": ["127.0.0.1", "localhost"], "rate_per_second": 100000}}
        (self.home / "config.yaml").write_text(json.dumps(settings))
        command = [str(countersign), "--home", str(self.home), "serve", "--listen", "127.0.0.1:0", "--json"]
        # The proxies it starts find the gateway and their key by these.
        super().__init__(command, {"COUNTERSIGN_HOME": str(self.home)})
        self.url = json.loads(self.first_line())["url"]
        self.admin_key = (self.home / "cli.key").read_text().strip()
        self.agent_key = self.ask("POST", "/v1/keys", {"name": "suite", "role": "agent"})["key"]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Sends a request as the admin and returns the answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        request.add_header("authorization", f"Bearer {self.admin_key}")
        request.add_header("content-type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


class Approver:
    """Answers every card of a gateway with *once*, as a person would."""

    def __init__(self, gateway: Gateway, choice: str = "once") -> None:
        self.gateway = gateway
        self.choice = choice
        self.answered = 0
        request = urllib.request.Request(f"{gateway.url}/v1/events", headers={"last-event-id": "0"})
        request.add_header("authorization", f"Bearer {gateway.admin_key}")
        self.stream = urllib.request.urlopen(request, timeout=SILENCE_SECONDS)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self) -> None:
        """Reads events until the stream ends."""
        try:
            for line in self.stream:
                if line.startswith(b"data:") and b"approval.required" in line:
                    self.answer(json.loads(line[5:])["approval_id"])
        except (OSError, ValueError, AttributeError):
            # The stream was closed.
            return

    def answer(self, approval: str) -> None:
        """Answers one card; one that is gone is nobody's fault."""
        try:
            self.gateway.ask("POST", f"/v1/approvals/{approval}/resolve", {"choice": self.choice})
            self.answered += 1
        except urllib.error.HTTPError as error:
            error.close()

    def stop(self) -> None:
        """Stops answering."""
        self.stream.close()

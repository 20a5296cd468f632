"""The little world of one test cell: folders, a gateway, a person who answers.

Each cell gets a fresh one, because the gateway remembers: a denial, an approval or a file that the
session wrote changes the next verdict.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

Json = dict[str, Any]

MARKER_FILE = "marker-5d81.txt"
KEPT_FILE = "kept.txt"
SUBAGENT_MARK = "SUBTASK-5d81"
POLL_SECONDS = 0.05
STOP_SECONDS = 10.0


@dataclass
class World:
    """The folders. `project` is the agent's workspace; what is in `outside` it must not touch."""

    root: Path
    # The agent's own settings file, once the agent is known.
    settings: Path = field(default_factory=Path)
    # The word of our program that the agent's hook runs, or that stands in front of the agent.
    guard: str = "hook"

    @property
    def countersign(self) -> Path:
        """Returns the binary that the hooks run."""
        return self.root / "bin" / "countersign"

    @property
    def home(self) -> Path:
        """Returns the agent's HOME."""
        return self.root / "home"

    @property
    def project(self) -> Path:
        """Returns the agent's working directory."""
        return self.root / "project"

    @property
    def countersign_home(self) -> Path:
        """Returns the gateway's home."""
        return self.root / "countersign"

    @property
    def data(self) -> Path:
        """Returns the folder that dangerous deeds delete."""
        return self.root / "outside" / "data"

    @property
    def scratch(self) -> Path:
        """Returns the folder that a person puts in place of `data` when they edit the call."""
        return self.root / "outside" / "scratch"

    @property
    def shell_rc(self) -> Path:
        """Returns the start-up file of the person's shell."""
        return self.home / ".bashrc"

    @property
    def outbox(self) -> Path:
        """Returns the file to which the MCP server writes what it sent."""
        return self.root / "outbox.jsonl"

    @property
    def outbox_ready(self) -> Path:
        """Returns the file that the MCP server makes when its tools have been listed."""
        return self.outbox.with_name(self.outbox.name + ".ready")

    @property
    def mcp_command(self) -> list[str]:
        """Returns the command that starts the MCP server `post`."""
        return ["python3", str(Path(__file__).with_name("mcp_server.py")), str(self.outbox)]

    @property
    def hook_keys(self) -> Path:
        """Returns the folder with the hooks' keys."""
        return self.countersign_home / "hooks"

    def create(self, binary: Path) -> None:
        """Makes the folders and what the deeds act on, and links the binary into `bin`."""
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in (self.home, self.project, self.countersign_home, self.countersign.parent):
            folder.mkdir(parents=True)
        self.restore()
        self.shell_rc.write_text("# start-up file\n", encoding="utf-8")
        (self.project / MARKER_FILE).write_text("marker\n", encoding="utf-8")
        subprocess.run(["git", "init", "--quiet", self.project], check=True)
        try:
            os.link(binary, self.countersign)
        except OSError:
            shutil.copy2(binary, self.countersign)

    def restore(self) -> None:
        """Puts back what deeds delete."""
        for folder in (self.data, self.scratch):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / KEPT_FILE).write_text("kept\n", encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """Returns the variables that the gateway, the agent and its hooks share."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "COUNTERSIGN_HOME": str(self.countersign_home),
            "LANG": "C.UTF-8",
        }

    def limit_hooks(self, seconds: int) -> None:
        """Lets hooks give up waiting for a person after so many seconds."""
        program = self.countersign.with_name("countersign-unlimited")
        self.countersign.rename(program)
        line = f'exec {shlex.quote(str(program))} "$@" --wait {seconds}'
        self.countersign.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        self.countersign.chmod(0o755)

    def hook_processes(self) -> list[int]:
        """Returns the processes that run the linked binary. The gateway runs the original."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if os.fsencode(self.countersign) in words and self.guard.encode() in words:
                found.append(int(entry.name))
        return found

    def signal_hooks(self, what: signal.Signals) -> int:
        """Sends a signal to every running hook and returns how many there were."""
        found = self.hook_processes()
        for process in found:
            try:
                os.kill(process, what)
            except ProcessLookupError:
                continue
        return len(found)


class Gateway:
    """A gateway on a free loopback port, with a key for a person."""

    def __init__(self, world: World, binary: Path, answer_seconds: int) -> None:
        self._world = world
        self._binary = binary
        config = f"approvals:\n  timeout: {answer_seconds}s\n"
        (world.countersign_home / "config.yaml").write_text(config, encoding="utf-8")
        self._log = (world.root / "gateway.log").open("wb")
        self._process = subprocess.Popen(
            [binary, "serve", "--home", world.countersign_home, "--listen", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=world.environment(),
            text=True,
        )
        assert self._process.stdout is not None
        first_line = self._process.stdout.readline()
        if "listening on " not in first_line:
            raise RuntimeError(f"the gateway did not start, see {self._log.name}")
        self.url = first_line.rsplit(" ", 1)[1].strip()
        self.running = True
        self._approver = self._create_key("approver", "ana")

    def create_hook_key(self, agent: str) -> None:
        """Makes the key with which the agent's hook asks, as `countersign init` does."""
        self._world.hook_keys.mkdir(mode=0o700, exist_ok=True)
        key_file = self._world.hook_keys / f"{agent}.key"
        key_file.touch(mode=0o600)
        key_file.write_text(self._create_key("agent", agent) + "\n", encoding="utf-8")

    def _create_key(self, role: str, name: str) -> str:
        home = str(self._world.countersign_home)
        options = ["--home", home, "--role", role, "--name", name]
        command = [str(self._binary), "keys", "create", *options]
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env=self._world.environment()
        )
        return done.stdout.strip()

    def waiting(self) -> list[Json]:
        """Returns the approvals that wait for a person, the oldest first."""
        found = self._request("GET", "/v1/approvals?status=waiting")["approvals"]
        return sorted(found, key=lambda approval: approval["created_at"])

    def outcome(self, call_id: str) -> Json | None:
        """Returns what the agent reported about a call after it ran, if anything."""
        for trace in self._request("GET", "/v1/traces")["traces"]:
            if trace["call_id"] == call_id:
                found: Json | None = trace["outcome"]
                return found
        return None

    def answer(self, approval: Json, choice: str, **more: Any) -> None:
        """Answers as the person."""
        path = f"/v1/approvals/{approval['approval_id']}/resolve"
        self._request("POST", path, {"choice": choice, **more})

    def _request(self, method: str, path: str, body: Json | None = None) -> Json:
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._approver}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            value: Json = json.load(response)
        return value

    def stop(self) -> None:
        """Stops the gateway and waits for it."""
        self.running = False
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


class Person:
    """Watches the inbox and calls `on_card(gateway, approval, index)` once for each new card."""

    def __init__(self, gateway: Gateway, on_card: Callable[[Gateway, Json, int], None]) -> None:
        self._gateway = gateway
        self._on_card = on_card
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.cards: list[Json] = []
        self.failure: Exception | None = None

    def _watch(self) -> None:
        try:
            while not self._end.is_set():
                self._look()
                time.sleep(POLL_SECONDS)
        except Exception as failure:  # noqa: BLE001 (reported by the cell, not lost in a thread)
            if self._gateway.running:
                self.failure = failure

    def _look(self) -> None:
        seen = {card["approval_id"] for card in self.cards}
        for approval in self._gateway.waiting():
            if approval["approval_id"] not in seen:
                self.cards.append(approval)
                self._on_card(self._gateway, approval, len(self.cards) - 1)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

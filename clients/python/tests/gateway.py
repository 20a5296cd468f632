"""A real gateway for the tests, on a free port of this machine, and a person who answers in it.

Separate because the tests of the client, of every adapter and of the documentation need the same one."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx

PROJECT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ.get("COUNTERSIGN_BIN", str(PROJECT / "target/debug/countersign"))
SECONDS_MAX = 10.0


class Gateway:
    """A gateway in `home`; it can be stopped and started again at the same port."""

    def __init__(self, home: pathlib.Path) -> None:
        self.home, self.url = home, ""
        self.home.mkdir(parents=True, exist_ok=True)
        self._process: subprocess.Popen[str] | None = None
        self.start()
        self.key = self.new_key("agent", "first")
        self._person = httpx.Client(headers={"Authorization": f"Bearer {self.new_key('approver', 'ana')}"}, trust_env=False)

    def start(self) -> None:
        """Starts it, and returns when it takes requests."""
        listen = self.url.removeprefix("http://") or "127.0.0.1:0"
        command = [BINARY, "serve", "--home", str(self.home), "--listen", listen]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.home)}
        log = (self.home / "log.txt").open("a")
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("countersign listening on "), (self.home / "log.txt").read_text()
        self.url = line.removeprefix("countersign listening on ").strip()

    def stop(self, how: int = signal.SIGTERM) -> None:
        """Stops it."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(SECONDS_MAX)
            self._process = None

    def new_key(self, role: str, name: str, *more: str) -> str:
        """Returns a new key."""
        command = [BINARY, "keys", "create", "--home", str(self.home), "--role", role, "--name", name, *more]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def ask(self, method: str, path: str, **options: Any) -> Any:
        """Sends a request as the person."""
        response = self._person.request(method, self.url + path, **options)
        assert response.status_code == 200, response.text
        return response.json()

    def waiting(self, session: str | None) -> list[dict[str, Any]]:
        """Returns the questions of a session, or all, that wait."""
        found = self.ask("GET", "/v1/approvals?status=waiting&limit=200")["approvals"]
        return [it for it in found if session in (None, it["session_id"])]

    def next_question(self, session: str | None) -> dict[str, Any]:
        """Returns the question of a session as soon as there is one."""
        return until(lambda: next(iter(self.waiting(session)), None), f"a question of {session}")

    def answer(self, session: str | None, choice: str, **more: Any) -> dict[str, Any]:
        """Answers the next question of a session."""
        question = self.next_question(session)
        self.ask("POST", f"/v1/approvals/{question['approval_id']}/resolve", json={"choice": choice, **more})
        return question

    @contextlib.contextmanager
    def answering(self, session: str | None, choice: str, **more: Any) -> Iterator[list[dict[str, Any]]]:
        """Answers the next question of a session while the block runs; gives the questions it answered."""
        answered: list[Any] = []

        def work() -> None:
            try:
                answered.append(self.answer(session, choice, **more))
            except BaseException as error:
                answered.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield answered
        finally:
            thread.join(SECONDS_MAX)
        for it in answered:
            if isinstance(it, BaseException):
                raise it

    def answering_any(self, choice: str) -> contextlib.AbstractContextManager[Any]:
        """As `answering`, for a program whose session is not known. No other question may wait."""
        assert self.waiting(None) == []
        return self.answering(None, choice)

    def calls(self, session: str) -> list[dict[str, Any]]:
        """Returns the calls of a session, the newest first."""
        return list(self.ask("GET", f"/v1/calls?session_id={session}")["calls"])

    def trace(self, call_id: str) -> Any:
        """Returns all that is known of a call."""
        return self.ask("GET", f"/v1/traces/{call_id}")


def until(find: Any, what: str) -> Any:
    """Returns what `find` finds."""
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        found = find()
        if found:
            return found
        assert time.monotonic() < deadline, f"not in time: {what}"
        time.sleep(0.02)


"""Talks to a Countersign gateway over HTTP.

It uses `http.client`, not `urllib.request`: no proxy of the environment is asked, no redirect is
followed, and the certificate of the home's own gateway is compared before the key is sent.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import json
import os
import socket
import ssl
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ANSWER_BYTES_MAX = 4 * 1024 * 1024
ADDRESS_BYTES_MAX = 4096
TIMEOUT_SECONDS = 10.0
REPORT_TIMEOUT_SECONDS = 3.0


class GatewayError(Exception):
    """The gateway gave no answer that can be used. The text is for the agent and its user."""


class GatewayAway(GatewayError):
    """Nothing answered; it may come back."""


@dataclass(frozen=True)
class Settings:
    """Where the gateway is. Read once, so that nothing that runs later in the process moves it."""

    home: Path
    url: str | None = None
    key: str | None = field(default=None, repr=False)

    @classmethod
    def load(cls, file: Path, environment: Mapping[str, str]) -> Settings:
        """Reads `file`, or the environment if there is no such file. Where there is one, variables
        do not count: whoever sets them could name a gateway that allows everything."""
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls.from_environment(environment)
        said = json.loads(text)
        if not isinstance(said, dict) or not set(said) <= {"home", "url"}:
            raise ValueError(f"{file} must be an object with `home` and, if need be, `url`")
        home, url = said.get("home"), said.get("url")
        if not isinstance(home, str) or not Path(home).is_absolute():
            raise ValueError(f"`home` in {file} must be an absolute path")
        if url is not None:
            _url(str(url))
        return cls(Path(home), url)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Reads COUNTERSIGN_HOME, COUNTERSIGN_URL and COUNTERSIGN_KEY."""
        home = environment.get("COUNTERSIGN_HOME", "").strip()
        return cls(
            home=Path(home) if home else Path.home() / ".countersign",
            url=environment.get("COUNTERSIGN_URL", "").strip() or None,
            key=environment.get("COUNTERSIGN_KEY", "").strip() or None,
        )


@dataclass(frozen=True)
class Address:
    """A gateway's URL, the SHA-256 of its certificate where its home names one, and the socket for
    agents where the home has one."""

    url: urllib.parse.SplitResult
    fingerprint: str | None = None
    socket: Path | None = None


class SocketConnection(http.client.HTTPConnection):
    """HTTP through a socket in the file system."""

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("agents", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Connects."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class Gateway:
    """A gateway, as an agent's key may use it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def where(self) -> str:
        """Returns where people find the page."""
        left = self._left_by_gateway()
        return (left or self._address()).url.geturl()

    def submit(self, call: dict[str, Any], idempotency_key: str) -> dict[str, Any]:
        """Asks whether `call` may run."""
        return self._request("POST", "/v1/calls", call, {"Idempotency-Key": idempotency_key})

    def poll(self, call_id: str, wait_seconds: float) -> dict[str, Any]:
        """Returns the call, once it is decided or after `wait_seconds`."""
        path = f"{_call_path(call_id)}?wait_seconds={wait_seconds:g}"
        return self._request("GET", path, timeout=TIMEOUT_SECONDS + wait_seconds)

    def consume(self, token: str) -> None:
        """Uses up the proof of an approval. Raises if somebody else has used it."""
        self._request("POST", "/v1/tokens/consume", {"token": token})

    def withdraw(self, call_id: str, note: str) -> None:
        """Takes a waiting call back."""
        path = f"{_call_path(call_id)}/withdraw"
        self._request("POST", path, {"note": note}, timeout=REPORT_TIMEOUT_SECONDS)

    def report(self, call_id: str, outcome: dict[str, Any]) -> None:
        """Reports what came of a call."""
        path = f"{_call_path(call_id)}/outcome"
        self._request("POST", path, outcome, timeout=REPORT_TIMEOUT_SECONDS)

    def _request(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = TIMEOUT_SECONDS,
    ) -> dict[str, Any]:
        address = self._address()
        sent = {"Authorization": f"Bearer {self._key()}", "Accept": "application/json"}
        sent.update(headers or {})
        data = None
        if body is not None:
            data = _encoded(body)
            sent["Content-Type"] = "application/json"
        try:
            status, answer = _exchange(address, method, path, data, sent, timeout)
        except (OSError, http.client.HTTPException) as error:
            where = address.socket or address.url.geturl()
            why = str(error) or type(error).__name__
            raise GatewayAway(
                f"the Countersign gateway at {where} does not answer ({why})"
            ) from None
        return _read(status, answer)

    def _address(self) -> Address:
        """Returns where the gateway is now: one that restarts may listen on another port."""
        left = self._left_by_gateway()
        named = self._settings.url
        agents = self._settings.home / "agent.sock"
        if named is None and agents.exists():
            # Anybody on the machine can listen at the port of a gateway that is gone; only the
            # owner of the home can put a socket there.
            return Address(_url("http://agents"), socket=agents)
        if named is None:
            if left is None:
                raise GatewayAway(f"no Countersign gateway is running in {self._settings.home}")
            return left
        if left is not None and left.url == _url(named):
            return left
        return Address(_url(named))

    def _left_by_gateway(self) -> Address | None:
        try:
            with open(self._settings.home / "gateway.url", encoding="utf-8") as file:
                lines = file.read(ADDRESS_BYTES_MAX).splitlines()
        except (OSError, ValueError):
            return None
        if not lines:
            return None
        fingerprint = lines[1].strip() if len(lines) > 1 else ""
        return Address(_url(lines[0]), fingerprint or None)

    def _key(self) -> str:
        file = self._settings.home / "hooks" / "hermes.key"
        try:
            key = file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            key = self._settings.key or ""
        if not key or not key.isascii() or not key.isprintable():
            raise GatewayError(f"there is no key for Countersign in {file}")
        return key


def settings() -> Settings:
    """Returns the settings of this plugin."""
    return Settings.load(Path(__file__).parent / "settings.json", os.environ)


def _url(text: str) -> urllib.parse.SplitResult:
    try:
        url = urllib.parse.urlsplit(text.strip().rstrip("/"))
        is_good = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        is_good = False
    if not is_good or url.username is not None or url.query or url.fragment:
        raise GatewayError(f"`{text.strip()[:200]}` is not the address of a Countersign gateway")
    return url


def _call_path(call_id: str) -> str:
    return "/v1/calls/" + urllib.parse.quote(call_id, safe="")


def _encoded(body: dict[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise GatewayError(f"the call cannot be written as JSON ({error})") from None


def _exchange(
    address: Address,
    method: str,
    path: str,
    data: bytes | None,
    headers: dict[str, str],
    timeout: float,
) -> tuple[int, bytes]:
    """Sends one request; returns the status and the body."""
    deadline = time.monotonic() + timeout
    connection = _connected(address, timeout)
    try:
        # A gateway that rejects the key answers before it has read the call.
        with contextlib.suppress(BrokenPipeError):
            connection.request(method, address.url.path + path, body=data, headers=headers)
        response = connection.getresponse()
        answer = bytearray()
        while chunk := response.read1(64 * 1024):
            answer += chunk
            if len(answer) > ANSWER_BYTES_MAX:
                raise http.client.HTTPException("its answer is too long")
            if time.monotonic() > deadline:
                raise http.client.HTTPException("it does not respond in time")
        if response.length:
            raise http.client.HTTPException("its answer ends early")
        return response.status, bytes(answer)
    finally:
        connection.close()


def _connected(address: Address, timeout: float) -> http.client.HTTPConnection:
    if address.socket is not None:
        return SocketConnection(address.socket, timeout)
    host, port = address.url.hostname or "", address.url.port
    if address.url.scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=timeout)
    context = ssl.create_default_context()
    if address.fingerprint is None:
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
    connection.connect()
    certificate = connection.sock.getpeercert(binary_form=True) or b""
    if not hmac.compare_digest(
        hashlib.sha256(certificate).hexdigest(), address.fingerprint.lower()
    ):
        connection.close()
        raise GatewayError("the certificate of the Countersign gateway is another one")
    return connection


def _read(status: int, answer: bytes) -> dict[str, Any]:
    try:
        value = json.loads(answer) if answer else {}
    except (ValueError, RecursionError):
        raise GatewayError(
            f"the answer of the Countersign gateway is not JSON (HTTP {status})"
        ) from None
    if not isinstance(value, dict):
        raise GatewayError(
            f"the answer of the Countersign gateway is not an object (HTTP {status})"
        )
    if status in (200, 202):
        return value
    said = value.get("error")
    message = said.get("message") if isinstance(said, dict) else None
    if not isinstance(message, str) or not message:
        message = "no reason given"
    raise GatewayError(
        f"the Countersign gateway rejected the request (HTTP {status}): {message[:500]}"
    )

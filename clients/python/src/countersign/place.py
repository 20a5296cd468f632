"""Finds the gateway and the key, and refuses ways on which the key would be readable.

Separate because it alone reads the environment and files."""

from __future__ import annotations

import ipaddress
import os
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from countersign.errors import ConfigError

#: The address of a gateway behind the agents' socket.
SOCKET_URL = "http://agents"
NEAR = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


class Key:
    """An agent's key; never shown."""

    def __init__(self, text: str) -> None:
        text = text.strip()
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise ConfigError("the key is empty or has letters that no key has")
        self._text = text

    def headers(self) -> dict[str, str]:
        """Returns the headers that prove it."""
        return {"Authorization": f"Bearer {self._text}", "Content-Type": "application/json"}

    def __repr__(self) -> str:
        return "Key(…)"


class Place:
    """Where a gateway is: an address, or a socket in the file system."""

    def __init__(self, url: str | None, socket: str | os.PathLike[str] | None, tls: ssl.SSLContext | None) -> None:
        if url is not None and socket is not None:
            raise ConfigError("give either url or socket")
        if url is None and socket is None:
            url = os.environ.get("COUNTERSIGN_URL", "").strip() or None
        if url is None and socket is None:
            home = os.environ.get("COUNTERSIGN_HOME", "").strip() or Path.home() / ".countersign"
            socket = Path(home) / "agent.sock"
            if not socket.exists():
                # Anybody on this machine can listen at a port that no gateway uses.
                hint = "give url, or set COUNTERSIGN_URL; the socket is there while a gateway runs in that home"
                raise ConfigError(f"no gateway is named, and there is no {socket}; {hint}")
        self.socket = None if socket is None else str(socket)
        self.url = SOCKET_URL if url is None else _checked(url)
        self.tls = tls

    def options(self) -> dict[str, Any]:
        """Returns what a transport is built with."""
        if self.socket is not None:
            return {"uds": self.socket, "trust_env": False}
        if self.url.startswith("https:"):
            # The machine's own authorities; SSL_CERT_FILE names a private one.
            return {"verify": self.tls or ssl.create_default_context(), "trust_env": False}
        return {"verify": False, "trust_env": False}

    def __str__(self) -> str:
        return self.socket or self.url


def key_of(key: str | None, key_file: str | os.PathLike[str] | None) -> Key:
    """Returns the key that is given, or the one in the environment."""
    if key is not None and key_file is not None:
        raise ConfigError("give either key or key_file")
    if key_file is not None:
        try:
            key = Path(key_file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the key file {key_file} cannot be read: {type(error).__name__}") from None
    if key is None:
        key = os.environ.get("COUNTERSIGN_KEY")
    if key is None:
        hint = "`countersign keys create --role agent --name NAME` creates one"
        raise ConfigError(f"no key is given: give key or key_file, or set COUNTERSIGN_KEY; {hint}")
    return Key(key)


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise ConfigError("the url of the gateway is malformed") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError("the url of the gateway must not contain a password, a query or a fragment")
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError("the url of the gateway must begin with https:// or http://")
    if parts.scheme == "http" and not _is_near(host):
        raise ConfigError("http:// would send the key in the clear to another network; use https://")
    return url.rstrip("/")


def _is_near(host: str) -> bool:
    """Whether plain HTTP to `host` stays on this machine or its network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(NEAR)
    return address.is_private and not address.is_unspecified

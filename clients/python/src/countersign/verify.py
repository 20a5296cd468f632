"""Checks, inside a tool, that a person said yes to exactly the call the tool is about to make.

    verifier = Verifier(jwks, audience="tool:send_message")
    verifier.verify(token, tool="send_message", arguments={...}, session="...", cwd="...")

`jwks` is what the gateway serves at `/.well-known/jwks.json`. `verify` returns the claims or raises
`ApprovalRequired`; then do nothing and hand its message back. Each verifier accepts a token once.
Only the gateway can promise once in all: where several processes run the same tool, send the token
to `POST /v1/tokens/consume` as well, before acting.

Separate because a tool needs nothing else of the client: this file can be copied alone. `Verifier` needs
cryptography, the rest only Python."""

from __future__ import annotations

import base64
import decimal
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MESSAGE = "This action requires user approval. Ask the user to confirm."
TOKEN_BYTES_MAX, TOKEN_SECONDS_MAX, SKEW_SECONDS = 4096, 300, 30
DEPTH_MAX, WHOLE_NUMBER_MAX = 64, 2**53 - 1
TEXTS = ("iss", "aud", "sub", "jti", "tool", "tdh", "enc", "adg", "ses", "agt", "tier", "pol")
HEADER = dict.fromkeys(("alg", "kid", "typ"), str)
CLAIMS = dict.fromkeys(TEXTS, str) | dict.fromkeys(("v", "iat", "nbf", "exp"), int) | {"apr": dict}
APPROVER = dict.fromkeys(("who", "channel", "tier"), str)


class ApprovalRequired(Exception):
    """The call must not be made. `code` says why, for the log; the message is for the agent."""

    def __init__(self, code: str) -> None:
        super().__init__(MESSAGE)
        self.code = code


class Verifier:
    """Verifies the tokens of one gateway for one executor."""

    def __init__(self, jwks: dict[str, Any], audience: str, clock: Callable[[], float] = time.time) -> None:
        self._keys = dict(filter(None, map(_key, jwks["keys"])))
        self._audience, self._clock = audience, clock
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()

    def verify(
        self,
        token: object,
        *,
        tool: str,
        session: str,
        arguments: Any = None,
        arguments_raw: bytes | None = None,
        cwd: str | None = None,
        attachments: Sequence[str] = (),
        agent: str | None = None,
    ) -> dict[str, Any]:
        """Returns the claims of `token` if it is for exactly this call, and uses it up. `arguments` is a JSON value; or
        `arguments_raw`, the bytes the gateway was given. `agent` is the key that asked, where the tool knows it."""
        now = self._clock()
        claims = self._open(token, now)
        enc = "jcs" if arguments_raw is None else "raw"
        expected = {"executor": self._audience, "tool": tool, "session": session, "agent": agent, "encoding": enc}
        for (what, value), claim in zip(expected.items(), ("aud", "tool", "ses", "agt", "enc")):
            _require(value == claims[claim] or (what == "agent" and agent is None), f"other_{what}")
        try:
            data = canonical(arguments) if arguments_raw is None else bytes(arguments_raw)
            text = context(cwd, self._audience, attachments)
            found = digest_of(tool, claims["tdh"], enc, data, text, session, claims["agt"])
        except (ValueError, RecursionError):
            raise ApprovalRequired("other_call") from None
        _require(found == claims["adg"], "other_call")
        with self._lock:
            self._used = {jti: end for jti, end in self._used.items() if end > now}
            _require(claims["jti"] not in self._used, "used")
            self._used[claims["jti"]] = claims["exp"] + SKEW_SECONDS
        return claims

    def _open(self, token: object, now: float) -> dict[str, Any]:
        if not (isinstance(token, str) and len(token) <= TOKEN_BYTES_MAX and token.count(".") == 2):
            _refuse("malformed")
        head, body, signature = map(_decoded, token.split("."))
        header = _closed(head, HEADER)
        _require(header["alg"] == "EdDSA" and header["typ"] == "countersign+jwt", "malformed")
        _require(header["kid"] in self._keys, "unknown_key")
        if not _is_signed(self._keys[header["kid"]], signature, token.rpartition(".")[0].encode()):
            _refuse("bad_signature")
        claims = _closed(body, CLAIMS)
        _closed(canonical(claims["apr"]), APPROVER)
        is_hash = (re.fullmatch("[0-9a-f]{64}", claims[name]) for name in ("tdh", "adg", "pol"))
        _require(claims["v"] == 1 and claims["enc"] in ("jcs", "raw") and all(is_hash), "malformed")
        _require(0 < claims["exp"] - claims["iat"] <= TOKEN_SECONDS_MAX and claims["nbf"] <= claims["exp"], "malformed")
        _require(now < claims["exp"] + SKEW_SECONDS, "expired")
        _require(now + SKEW_SECONDS >= max(claims["nbf"], claims["iat"]), "not_yet_valid")
        return claims


def canonical(value: Any, depth: int = 0) -> bytes:
    """Returns the bytes of a JSON value in the form that is hashed (RFC 8785), or raises ValueError."""
    if depth > DEPTH_MAX:
        raise ValueError("nested too deep")
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False).encode()
    if isinstance(value, (int, float)):
        return _number(value).encode()
    if isinstance(value, (list, tuple)):
        return b"[" + b",".join(canonical(item, depth + 1) for item in value) + b"]"
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return b"{" + b",".join(canonical(key) + b":" + canonical(value[key], depth + 1) for key in keys) + b"}"
    raise ValueError("not a JSON value")


def context(cwd: str | None, executor: str, attachments: Sequence[str] = ()) -> bytes:
    """Returns where and by whom a call is run, as it is hashed."""
    return canonical({"attachments": list(attachments), "cwd": cwd, "executor": executor})


def digest_of(tool: str, tdh: str, enc: str, data: bytes, where: bytes, session: str, agent: str) -> str:
    """Returns the digest of a call, to which decisions and tokens are bound, in hexadecimal."""
    parts = (tool.encode(), bytes.fromhex(tdh), enc.encode(), data, where, session.encode(), agent.encode())
    text = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hashlib.sha256(b"countersign/v1/action\0" + text).hexdigest()


def _number(value: float) -> str:
    if not abs(value) <= WHOLE_NUMBER_MAX:  # Also what is no number at all.
        raise ValueError("a number that not every reader keeps")
    if value == int(value):
        return str(int(value))
    sign, found, exponent = decimal.Decimal(repr(value)).as_tuple()
    digits, point = "".join(map(str, found)), len(found) + int(exponent)
    if point > -6:  # The point stands among the digits, or a few zeros before them.
        digits, point = "0" * (1 - point) + digits, max(point, 1)
        return f"{'-' * sign}{digits[:point]}.{digits[point:]}"
    return f"{'-' * sign}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1}"


def _refuse(code: str) -> NoReturn:
    raise ApprovalRequired(code)


def _require(is_so: object, code: str) -> None:
    if not is_so:
        _refuse(code)


def _is_signed(key: Ed25519PublicKey, signature: bytes, text: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, text)
    except InvalidSignature:
        return False
    return True


def _closed(data: bytes, members: Mapping[str, type]) -> dict[str, Any]:
    """Reads an object of exactly these members. Any other spelling, a doubled key included, is refused."""
    try:
        value = json.loads(data.decode())
        _require(canonical(value) == data and isinstance(value, dict), "malformed")
    except (ValueError, RecursionError):
        raise ApprovalRequired("malformed") from None
    _require({name: type(it) for name, it in value.items()} == members, "malformed")
    return dict(value)


def _decoded(part: str) -> bytes:
    _require(re.fullmatch("[A-Za-z0-9_-]*", part) and len(part) % 4 != 1, "malformed")
    data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    _require(_encoded(data) == part, "malformed")
    return data


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _key(jwk: dict[str, Any]) -> tuple[str, Ed25519PublicKey] | None:
    """Returns an Ed25519 key under its thumbprint (RFC 7638); other keys are passed over."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    member = {"crv": "Ed25519", "kty": "OKP", "x": jwk.get("x")}
    try:
        kid = _encoded(hashlib.sha256(canonical(member)).digest())
        if any(jwk.get(name) != value for name, value in (member | {"kid": kid}).items()):
            return None
        return kid, Ed25519PublicKey.from_public_bytes(_decoded(member["x"] or ""))
    except (ValueError, TypeError, ApprovalRequired):
        return None

"""Checks, inside a tool, that a person said yes to exactly the call the tool is about to make.

    verifier = Verifier(jwks, audience="tool:send_message")
    verifier.verify(token, tool="send_message", arguments={...}, session="...", cwd="...")

`jwks` is what the gateway serves at `/.well-known/jwks.json`. `verify` returns the claims or raises
`ApprovalRequired`; then do nothing and hand its message back. A token is accepted once by each
verifier. Only the gateway can promise once in all: where several processes run the same tool, send
the token to `POST /v1/tokens/consume` as well, before acting.

Needs PyJWT and cryptography.
"""

import base64
import decimal
import hashlib
import json
import math
import re
import threading
import time

import jwt

MESSAGE = "This action requires user approval. Ask the user to confirm."
TOKEN_BYTES_MAX = 4096
TOKEN_SECONDS_MAX = 300
SKEW_SECONDS = 30
DEPTH_MAX = 64
WHOLE_NUMBER_MAX = 2**53 - 1

TEXTS = {"iss", "aud", "sub", "jti", "tool", "tdh", "enc", "adg", "ses", "agt", "tier", "pol"}
NUMBERS = {"v", "iat", "nbf", "exp"}


class ApprovalRequired(Exception):
    """The call must not be made. `code` says why, for the log; the message is for the agent."""

    def __init__(self, code):
        super().__init__(MESSAGE)
        self.code = code


class Verifier:
    """Verifies the tokens of one gateway for one executor."""

    def __init__(self, jwks, audience, clock=time.time):
        self._keys = dict(filter(None, map(_key, jwks["keys"])))
        self._audience = audience
        self._clock = clock
        self._used = {}
        self._lock = threading.Lock()

    def verify(self, token, *, tool, session, arguments=None, arguments_raw=None, cwd=None, attachments=(), agent=None):
        """Returns the claims of `token` if it is for exactly this call, and uses it up.

        `arguments` is a JSON value, or `arguments_raw` the bytes the gateway was given. `agent` is
        the id of the key that asked, where the tool knows it.
        """
        now = self._clock()
        claims = self._open(token, now)
        encoding = "jcs" if arguments_raw is None else "raw"
        for what, said, expected in (
            ("executor", claims["aud"], self._audience),
            ("tool", claims["tool"], tool),
            ("session", claims["ses"], session),
            ("agent", claims["agt"], claims["agt"] if agent is None else agent),
            ("encoding", claims["enc"], encoding),
        ):
            if said != expected:
                raise ApprovalRequired(f"other_{what}")
        context = {"attachments": list(attachments), "cwd": cwd, "executor": self._audience}
        try:
            data = canonical(arguments) if arguments_raw is None else bytes(arguments_raw)
            parts = [tool.encode(), bytes.fromhex(claims["tdh"]), encoding.encode(), data]
            parts += [canonical(context), session.encode(), claims["agt"].encode()]
        except (ValueError, RecursionError):
            raise ApprovalRequired("other_call") from None
        text = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        if hashlib.sha256(b"countersign/v1/action\0" + text).hexdigest() != claims["adg"]:
            raise ApprovalRequired("other_call")
        with self._lock:
            self._used = {jti: end for jti, end in self._used.items() if end > now}
            if claims["jti"] in self._used:
                raise ApprovalRequired("used")
            self._used[claims["jti"]] = claims["exp"] + SKEW_SECONDS
        return claims

    def _open(self, token, now):
        if not isinstance(token, str) or len(token) > TOKEN_BYTES_MAX or token.count(".") != 2:
            raise ApprovalRequired("malformed")
        header, claims, _ = (_decoded(part) for part in token.split("."))
        header = _closed(header)
        if not isinstance(header, dict) or set(header) != {"alg", "kid", "typ"}:
            raise ApprovalRequired("malformed")
        if header["alg"] != "EdDSA" or header["typ"] != "countersign+jwt" or type(header["kid"]) is not str:
            raise ApprovalRequired("malformed")
        if header["kid"] not in self._keys:
            raise ApprovalRequired("unknown_key")
        try:
            jwt.PyJWS().decode(token, self._keys[header["kid"]], algorithms=["EdDSA"])
        except jwt.InvalidTokenError:
            raise ApprovalRequired("bad_signature") from None
        claims = _closed(claims)
        if not _is_in_order(claims):
            raise ApprovalRequired("malformed")
        if claims["exp"] + SKEW_SECONDS <= now:
            raise ApprovalRequired("expired")
        if max(claims["nbf"], claims["iat"]) > now + SKEW_SECONDS:
            raise ApprovalRequired("not_yet_valid")
        return claims


def canonical(value, depth=0):
    """Returns the bytes of a JSON value in the form that is hashed (RFC 8785)."""
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


def _number(value):
    if not math.isfinite(value) or (value == int(value) and abs(value) > WHOLE_NUMBER_MAX):
        raise ValueError("a number that not every reader keeps")
    if value == int(value):
        return str(int(value))
    sign, digits, exponent = decimal.Decimal(repr(value)).as_tuple()
    digits, point = "".join(map(str, digits)), len(digits) + exponent
    if point > 0:
        text = f"{digits[:point]}.{digits[point:]}"
    elif point > -6:
        text = f"0.{'0' * -point}{digits}"
    else:
        text = f"{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1}"
    return "-" * sign + text


def _is_in_order(claims):
    if not isinstance(claims, dict) or set(claims) != TEXTS | NUMBERS | {"apr"}:
        return False
    apr = claims["apr"]
    return (
        all(type(claims[name]) is str for name in TEXTS)
        and all(type(claims[name]) is int for name in NUMBERS)
        and isinstance(apr, dict) and set(apr) == {"who", "channel", "tier"}
        and all(type(value) is str for value in apr.values())
        and claims["v"] == 1
        and 0 < claims["exp"] - claims["iat"] <= TOKEN_SECONDS_MAX
        and claims["nbf"] <= claims["exp"]
        and all(re.fullmatch("[0-9a-f]{64}", claims[name]) for name in ("tdh", "adg", "pol"))
        and claims["enc"] in ("jcs", "raw")
    )  # fmt: skip


def _closed(data):
    """Reads canonical JSON. Any other spelling, a doubled key included, is refused."""
    try:
        value = json.loads(data.decode())
        if canonical(value) == data:
            return value
    except (ValueError, RecursionError):
        pass
    raise ApprovalRequired("malformed")


def _decoded(part):
    if re.fullmatch("[A-Za-z0-9_-]*", part) and len(part) % 4 != 1:
        data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
        if _encoded(data) == part:
            return data
    raise ApprovalRequired("malformed")


def _encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _key(jwk):
    """Returns an Ed25519 key under its thumbprint (RFC 7638); other keys are passed over."""
    member = {"crv": "Ed25519", "kty": "OKP", "x": jwk.get("x")}
    kid = _encoded(hashlib.sha256(canonical(member)).digest())
    if jwk.get("kid") != kid or any(jwk.get(name) != value for name, value in member.items()):
        return None
    try:
        return kid, jwt.PyJWK(member, algorithm="EdDSA")
    except jwt.PyJWTError:
        return None

"""`Client` and `AsyncClient`: submit calls, wait for people, run what they approved.

Separate because it holds the sockets: what is sent when is decided in `protocol`."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import logging
import os
import ssl
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar, cast

import httpx

from countersign.call import Asked, Call
from countersign.errors import BadAnswer, NotRun
from countersign.errors import UNREADABLE as UNREADABLE_ANSWER
from countersign.fit import Fit
from countersign.place import Place, key_of
from countersign.protocol import ANSWER_BYTES_MAX, Flow, Lost, Pause, Protocol, Reply, Send, Ticket, require_may_run

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_log = logging.getLogger("countersign")
#: Failures of a request that reached nobody; every other failure may have reached the gateway.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class _Base:
    """What both clients have."""

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        key_file: str | os.PathLike[str] | None = None,
        socket: str | os.PathLike[str] | None = None,
        session_id: str | None = None,
        agent: str | None = None,
        cwd: str | None = None,
        tls: ssl.SSLContext | None = None,
        reach_seconds: float = 10.0,
        away_seconds: float = 300.0,
    ) -> None:
        """`url` is the gateway's address, or `socket` the path of its `agent.sock`; by default COUNTERSIGN_URL, then
        the socket in COUNTERSIGN_HOME. `session_id` is the conversation that calls belong to; a new one by default.
        A gateway that cannot be reached is tried again for `reach_seconds`, and for `away_seconds` while a question
        waits. Proxies of the environment are not used."""
        self._place = Place(url, socket, tls)
        self._key = key_of(key, key_file)
        self.session_id = session_id or f"py-{uuid.uuid4()}"
        self._defaults = {"agent": agent, "cwd": cwd}
        self._protocol = Protocol(reach_seconds, away_seconds)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._place)!r})"

    def _asked(self, tool: str, args: Mapping[str, Any], options: Mapping[str, Any]) -> Asked:
        try:
            return Asked(tool, args, **{"session_id": self.session_id, **self._defaults, **options})
        except (ValueError, RecursionError) as error:
            words = "The arguments of this action cannot be shown to a person, so it was not carried out"
            raise NotRun(f"{words}: {error if type(error) is ValueError else type(error).__name__}.") from None

    def _http(self) -> dict[str, Any]:
        headers = {**self._key.headers(), "Accept-Encoding": "identity"}
        return {"base_url": self._place.url, "headers": headers, "trust_env": False, "follow_redirects": False}


def _request(send: Send) -> dict[str, Any]:
    headers = {} if send.name is None else {"Idempotency-Key": send.name}
    timeout = httpx.Timeout(send.seconds, connect=min(send.seconds, 5.0))
    return {"method": send.method, "url": send.path, "content": send.body, "headers": headers, "timeout": timeout}


def _grown(data: bytearray, piece: bytes, deadline: float) -> None:
    data += piece
    if len(data) > ANSWER_BYTES_MAX:
        raise BadAnswer(UNREADABLE_ANSWER, detail=f"it is longer than {ANSWER_BYTES_MAX} bytes")
    if time.monotonic() > deadline:
        raise Lost("it does not answer in time", True)


def _after(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() and len(value) < 6 else None


def _lost(error: Exception) -> Lost:
    return Lost(type(error).__name__, not isinstance(error, _UNSENT))


def _report(failed: bool, begun: float, summary: str | None) -> dict[str, Any]:
    report: dict[str, Any] = {"failed": failed, "duration_millis": int((time.monotonic() - begun) * 1000)}
    return report if summary is None else {**report, "summary": summary[:1000]}


class Client(_Base):
    """A gateway, for code that blocks. It can be used by several threads."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        transport = httpx.HTTPTransport(**self._place.options())
        self._client = httpx.Client(transport=transport, **self._http())

    def submit(self, tool: str, args: Mapping[str, Any], **options: Any) -> Call:
        """Submits a call and returns how it stands at once. `options` are `session_id`, `cwd`, `agent`,
        `executor`, `explanation`, `replying_to`, `annotations`, `tool_definition`, `attachments`, `run_id`,
        `workspace`, and `editable=False` for a tool that cannot take changed arguments."""
        return self._drive(self._protocol.submit(self._asked(tool, args, options), Ticket()))

    def wait(self, call: Call) -> Call:
        """Waits until a submitted call is decided, and returns it."""
        return self._drive(self._protocol.wait(call, Ticket()))

    def confirm(self, tool: str, args: Mapping[str, Any], *, consume: bool = True, **options: Any) -> Call:
        """Submits a call, waits, and uses its token up: who gets a call back runs it, once, with exactly its `args`.
        Raises `NotRun` otherwise. Whatever interrupts the wait withdraws the question."""
        asked, ticket = self._asked(tool, args, options), Ticket()
        try:
            call = self._drive(self._protocol.submit(asked, ticket))
            call = self._drive(self._protocol.wait(call, ticket))
        except BaseException:
            if not ticket.is_settled:
                with contextlib.suppress(Exception):
                    self._drive(self._protocol.abandon(asked, ticket))
            raise
        require_may_run(call)
        if consume and call.token is not None:
            self._drive(self._protocol.consume(call))
        return call

    def withdraw(self, call: Call, note: str | None = None) -> None:
        """Takes a call back."""
        self._drive(self._protocol.withdraw(call.call_id, note))

    def consume(self, call: Call) -> None:
        """Uses the token of an approved call up; whoever returns from here may run the call."""
        require_may_run(call)
        if call.token is not None:
            self._drive(self._protocol.consume(call))

    def outcome(self, call: Call, *, failed: bool, summary: str | None = None) -> None:
        """Reports what came of a call."""
        report = {"failed": failed} if summary is None else {"failed": failed, "summary": summary}
        self._drive(self._protocol.outcome(call.call_id, report))

    def jwks(self) -> dict[str, Any]:
        """Returns the keys with which the gateway signs, for `countersign.verify.Verifier`."""
        return self._drive(self._protocol.jwks())

    @contextlib.contextmanager
    def running(self, call: Call) -> Iterator[None]:
        """Reports the outcome of what runs inside. A report that fails is logged, and changes nothing."""
        begun, failure = time.monotonic(), None
        try:
            yield
        except BaseException as error:
            failure = type(error).__name__
            raise
        finally:
            try:
                report = _report(failure is not None, begun, failure)
                self._drive(self._protocol.outcome(call.call_id, report))
            except Exception as error:
                _log.warning("the outcome of %s was not reported: %s", call.call_id, type(error).__name__)

    def guard(
        self,
        tool: str | None = None,
        *,
        pass_token: str | None = None,
        injected: tuple[str, ...] = (),
        consume: bool = True,
        **options: Any,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Wraps a function so that every call of it is confirmed first and runs with exactly what was approved. The
        parameter `pass_token` names gets the token; those in `injected` are no part of the call: nobody sees them.
        `consume=False` leaves using the token up to the function. Other options are those of `submit`."""

        def decorate(function: Callable[P, R]) -> Callable[P, R]:
            if inspect.iscoroutinefunction(function):
                raise TypeError("guard an async function with AsyncClient")
            fit, name = Fit(function, pass_token, injected), tool or str(getattr(function, "__name__", ""))

            @functools.wraps(function)
            def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
                given, aside = fit.split(args, kwargs)
                call = self.confirm(name, given, consume=False, **options)
                run = fit.bind(call, aside)
                if consume:
                    self.consume(call)
                with self.running(call):
                    return function(*run.args, **run.kwargs)

            return guarded

        return decorate

    def close(self) -> None:
        """Closes its connections."""
        self._client.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _drive(self, flow: Flow[T]) -> T:
        reply: Reply | None = None
        lost: Lost | None = None
        try:
            while True:
                step = flow.send(reply) if lost is None else flow.throw(lost)
                reply, lost = None, None
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    continue
                try:
                    reply = self._send(step)
                except Lost as error:
                    lost = error
        except StopIteration as stop:
            return cast(T, stop.value)

    def _send(self, send: Send) -> Reply:
        data, deadline = bytearray(), time.monotonic() + send.seconds
        try:
            with self._client.stream(**_request(send)) as response:
                for piece in response.iter_raw():
                    _grown(data, piece, deadline)
                return response.status_code, bytes(data), _after(response)
        except httpx.HTTPError as error:
            raise _lost(error) from None


class AsyncClient(_Base):
    """A gateway, for asyncio."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        transport = httpx.AsyncHTTPTransport(**self._place.options())
        self._client = httpx.AsyncClient(transport=transport, **self._http())

    async def submit(self, tool: str, args: Mapping[str, Any], **options: Any) -> Call:
        """As `Client.submit`."""
        return await self._drive(self._protocol.submit(self._asked(tool, args, options), Ticket()))

    async def wait(self, call: Call) -> Call:
        """As `Client.wait`."""
        return await self._drive(self._protocol.wait(call, Ticket()))

    async def confirm(self, tool: str, args: Mapping[str, Any], *, consume: bool = True, **options: Any) -> Call:
        """As `Client.confirm`; a task that is cancelled withdraws the question."""
        asked, ticket = self._asked(tool, args, options), Ticket()
        try:
            call = await self._drive(self._protocol.submit(asked, ticket))
            call = await self._drive(self._protocol.wait(call, ticket))
        except BaseException:
            if not ticket.is_settled:
                with contextlib.suppress(Exception):
                    await asyncio.shield(self._drive(self._protocol.abandon(asked, ticket)))
            raise
        require_may_run(call)
        if consume and call.token is not None:
            await self._drive(self._protocol.consume(call))
        return call

    async def withdraw(self, call: Call, note: str | None = None) -> None:
        """As `Client.withdraw`."""
        await self._drive(self._protocol.withdraw(call.call_id, note))

    async def consume(self, call: Call) -> None:
        """As `Client.consume`."""
        require_may_run(call)
        if call.token is not None:
            await self._drive(self._protocol.consume(call))

    async def outcome(self, call: Call, *, failed: bool, summary: str | None = None) -> None:
        """As `Client.outcome`."""
        report = {"failed": failed} if summary is None else {"failed": failed, "summary": summary}
        await self._drive(self._protocol.outcome(call.call_id, report))

    async def jwks(self) -> dict[str, Any]:
        """As `Client.jwks`."""
        return await self._drive(self._protocol.jwks())

    @contextlib.asynccontextmanager
    async def running(self, call: Call) -> AsyncIterator[None]:
        """As `Client.running`."""
        begun, failure = time.monotonic(), None
        try:
            yield
        except BaseException as error:
            failure = type(error).__name__
            raise
        finally:
            try:
                report = _report(failure is not None, begun, failure)
                await asyncio.shield(self._drive(self._protocol.outcome(call.call_id, report)))
            except Exception as error:
                _log.warning("the outcome of %s was not reported: %s", call.call_id, type(error).__name__)

    def guard(
        self,
        tool: str | None = None,
        *,
        pass_token: str | None = None,
        injected: tuple[str, ...] = (),
        consume: bool = True,
        **options: Any,
    ) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
        """As `Client.guard`, for async functions."""

        def decorate(function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
            fit, name = Fit(function, pass_token, injected), tool or str(getattr(function, "__name__", ""))

            @functools.wraps(function)
            async def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
                given, aside = fit.split(args, kwargs)
                call = await self.confirm(name, given, consume=False, **options)
                run = fit.bind(call, aside)
                if consume:
                    await self.consume(call)
                async with self.running(call):
                    return await function(*run.args, **run.kwargs)

            return guarded

        return decorate

    async def close(self) -> None:
        """Closes its connections."""
        await self._client.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _drive(self, flow: Flow[T]) -> T:
        reply: Reply | None = None
        lost: Lost | None = None
        try:
            while True:
                step = flow.send(reply) if lost is None else flow.throw(lost)
                reply, lost = None, None
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    continue
                try:
                    reply = await asyncio.wait_for(self._send(step), step.seconds)
                except (asyncio.TimeoutError, TimeoutError):
                    lost = Lost("it does not answer in time", True)
                except Lost as error:
                    lost = error
        except StopIteration as stop:
            return cast(T, stop.value)

    async def _send(self, send: Send) -> Reply:
        data, deadline = bytearray(), time.monotonic() + send.seconds
        try:
            async with self._client.stream(**_request(send)) as response:
                async for piece in response.aiter_raw():
                    _grown(data, piece, deadline)
                return response.status_code, bytes(data), _after(response)
        except httpx.HTTPError as error:
            raise _lost(error) from None


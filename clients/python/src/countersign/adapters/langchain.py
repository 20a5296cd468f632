"""LangChain and LangGraph: a middleware that confirms every tool call before it runs.

    agent = create_agent(model, tools, middleware=[Confirmed(client)])

Separate because it alone needs langchain. For `agent.invoke` give a `Client`, for `agent.ainvoke` an
`AsyncClient`. What is not approved becomes the result that the model reads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from countersign.client import AsyncClient, Client
from countersign.errors import NotRun

Result = ToolMessage | Command[Any]


class Confirmed(AgentMiddleware[Any, Any, Any]):
    """Confirms the calls of `tools`, or of all tools."""

    def __init__(self, client: Client | AsyncClient, tools: Collection[str] | None = None, **options: Any) -> None:
        super().__init__()
        self._client, self._tools, self._options = client, tools, options

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        """Confirms one call, and runs it with what was approved."""
        if self._is_left_out(request):
            return handler(request)
        if not isinstance(self._client, Client):
            raise TypeError("use ainvoke, or give a Client")
        try:
            call = self._client.confirm(request.tool_call["name"], request.tool_call["args"], **self._options)
        except NotRun as not_run:
            return _told(request, not_run)
        with self._client.running(call):
            return handler(_with(request, call.args))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """As `wrap_tool_call`; a run that is cancelled withdraws the question."""
        if self._is_left_out(request):
            return await handler(request)
        if not isinstance(self._client, AsyncClient):
            raise TypeError("use invoke, or give an AsyncClient")
        try:
            call = await self._client.confirm(request.tool_call["name"], request.tool_call["args"], **self._options)
        except NotRun as not_run:
            return _told(request, not_run)
        async with self._client.running(call):
            return await handler(_with(request, call.args))

    def _is_left_out(self, request: ToolCallRequest) -> bool:
        return self._tools is not None and request.tool_call["name"] not in self._tools


def _with(request: ToolCallRequest, args: dict[str, Any]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": args})


def _told(request: ToolCallRequest, not_run: NotRun) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(not_run.message, name=call["name"], tool_call_id=call["id"] or "", status="error")

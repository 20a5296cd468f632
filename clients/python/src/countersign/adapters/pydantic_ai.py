"""pydantic-ai: a capability that answers deferred tool calls by asking people.

    agent = Agent(model, capabilities=[Confirmed(client)])

    @agent.tool_plain(requires_approval=True)
    def send_email(to: str, text: str) -> str: ...

Separate because it alone needs pydantic-ai. Tools with `requires_approval=True` are confirmed; what is
not approved becomes the result that the model reads."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDefinition, ToolDenied

from countersign.call import Call
from countersign.client import AsyncClient
from countersign.errors import NotRun


class Confirmed(AbstractCapability[Any]):
    """Confirms the calls of every tool that requires approval."""

    def __init__(self, client: AsyncClient, **options: Any) -> None:
        self._client, self._options = client, options
        self._approved: dict[str, Call] = {}

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[Any], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        """Asks about all calls at once."""
        if not requests.approvals:
            return None
        return await self.resolve(requests)

    async def resolve(self, requests: DeferredToolRequests) -> DeferredToolResults:
        """Asks about the calls that a run ended with, for an agent without this capability."""
        names = [part.tool_call_id for part in requests.approvals]
        if len(set(names)) < len(names):
            # An answer to one call would hold for the other.
            denied = ToolDenied("Two actions have the same id, so neither was carried out.")
            return DeferredToolResults(approvals=dict.fromkeys(names, denied))
        answers = await asyncio.gather(*(self._ask(part) for part in requests.approvals))
        return DeferredToolResults(approvals=dict(zip(names, answers)))

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, handler: Any
    ) -> Any:
        """Reports what came of an approved call."""
        approved = self._approved.pop(call.tool_call_id, None)
        if approved is None:
            return await handler(args)
        async with self._client.running(approved):
            return await handler(args)

    async def _ask(self, part: ToolCallPart) -> ToolApproved | ToolDenied:
        try:
            call = await self._client.confirm(part.tool_name, part.args_as_dict(), **self._options)
        except NotRun as not_run:
            return ToolDenied(not_run.message)
        self._approved[part.tool_call_id] = call
        return ToolApproved(override_args=call.args)

"""OpenAI Agents SDK: tools that need approval, and the resumption of runs that wait for it.

    confirmed = Confirmed(client)
    agent = Agent("mailer", tools=[confirmed.tool(send_email)])
    result = await confirmed.run(agent, "write to Ana")

Separate because it alone needs openai-agents. A tool runs only with arguments that this adapter had
approved, whoever else approves the item in the run's state: it asks itself if it has not asked before."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from agents import Agent, FunctionTool, Runner, RunResult, RunState
from agents.items import ToolApprovalItem
from agents.tool_context import ToolContext

from countersign.call import Call, snapshot
from countersign.client import AsyncClient
from countersign.errors import NotRun


class Confirmed:
    """Confirms the calls of the tools it is given."""

    def __init__(self, client: AsyncClient, **options: Any) -> None:
        self._client, self._options = client, options
        self._approved: dict[str, Call] = {}

    def tool(self, tool: FunctionTool) -> FunctionTool:
        """Returns a tool that needs approval, and runs with exactly what was approved."""

        async def invoke(context: ToolContext[Any], text: str) -> Any:
            call = self._approved.pop(context.tool_call_id, None)
            try:
                args = _read(text)
                # A model may use an id twice: what was approved under it must be this very call.
                if call is None or call.asked is None or (call.tool, call.asked.args) != (tool.name, args):
                    call = await self._client.confirm(tool.name, args, consume=False, **self._options)
                await self._client.consume(call)
            except NotRun as not_run:
                return not_run.message
            async with self._client.running(call):
                return await tool.on_invoke_tool(context, json.dumps(call.args))

        return replace(tool, on_invoke_tool=invoke, needs_approval=True)

    async def resolve(self, result: RunResult) -> RunState[Any]:
        """Asks people about everything a run waits for, and returns the state to go on with."""
        state = result.to_state()
        await asyncio.gather(*(self._ask(state, item) for item in result.interruptions))
        return state

    async def run(self, agent: Agent[Any], given: Any, **options: Any) -> RunResult:
        """Runs an agent to its end, with people asked on the way."""
        result = await Runner.run(agent, given, **options)
        while result.interruptions:
            result = await Runner.run(agent, await self.resolve(result), **options)
        return result

    async def _ask(self, state: RunState[Any], item: ToolApprovalItem) -> None:
        try:
            args = _read(item.arguments or "{}")
            call = await self._client.confirm(item.tool_name or "", args, consume=False, **self._options)
        except NotRun as not_run:
            state.reject(item, rejection_message=not_run.message)
            return
        self._approved[item.call_id or ""] = call
        state.approve(item)


def _read(text: str) -> dict[str, Any]:
    """Reads the arguments that a model wrote. A key that stands twice could mean either value."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise NotRun("The arguments of this action have a key twice, so it was not carried out.")
        return dict(pairs)

    try:
        args = snapshot(json.loads(text, object_pairs_hook=once))
    except (ValueError, RecursionError, TypeError):
        args = None
    if not isinstance(args, dict):
        raise NotRun("The arguments of this action are not a JSON object, so it was not carried out.")
    return args

"""The adapter of the OpenAI Agents SDK in real runs, with its scripted model and a real gateway."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from gateway import Gateway

pytest.importorskip("agents")

import scenes  # noqa: E402
from agents import Agent, Runner, RunState, function_tool, set_tracing_disabled  # noqa: E402
from agents.testing import ScriptedModel, assistant_message, function_call  # noqa: E402

from countersign import AsyncClient  # noqa: E402
from countersign.adapters.openai_agents import Confirmed  # noqa: E402

set_tracing_disabled(True)


def agent_with(ran: list[dict[str, Any]], confirmed: Confirmed, text: str | None = None) -> Agent[Any]:
    @function_tool
    def send_email(to: str, text: str) -> str:
        """Sends an e-mail."""
        ran.append({"to": to, "text": text})
        return f"sent to {to}"

    asks = function_call("send_email", text or json.dumps(scenes.ASKED), call_id="call-1")
    model = ScriptedModel([[asks], [assistant_message("done")]])
    return Agent("mailer", model=model, tools=[confirmed.tool(send_email)])


def read(result: Any) -> str:
    return "\n".join(str(it.output) for it in result.new_items if it.type == "tool_call_output_item")


@pytest.mark.parametrize("scene", scenes.ALL)
def test_a_run(scene: Callable[..., None], gateway: Gateway, session: str) -> None:
    async def go(url: str) -> scenes.Seen:
        ran: list[dict[str, Any]] = []
        async with AsyncClient(url, key=gateway.key, session_id=session, reach_seconds=0.5) as client:
            confirmed = Confirmed(client)
            result = await confirmed.run(agent_with(ran, confirmed), "write to Ana")
        return scenes.Seen(ran, read(result))

    scene(gateway, session, lambda url: asyncio.run(go(url)))


@pytest.mark.parametrize("scene", scenes.ALL)
def test_a_run_that_something_else_approved_is_confirmed_all_the_same(
    scene: Callable[..., None], gateway: Gateway, session: str
) -> None:
    async def go(url: str) -> scenes.Seen:
        ran: list[dict[str, Any]] = []
        async with AsyncClient(url, key=gateway.key, session_id=session, reach_seconds=0.5) as client:
            agent = agent_with(ran, Confirmed(client))
            result = await Runner.run(agent, "write to Ana")
            state = await RunState.from_string(agent, result.to_state().to_string())
            for item in state.get_interruptions():
                state.approve(item)
            result = await Runner.run(agent, state)
        return scenes.Seen(ran, read(result))

    scene(gateway, session, lambda url: asyncio.run(go(url)))


@pytest.mark.parametrize("text", ['{"to":"ana@example.org","to":"eve@example.org","text":"x"}', "[1]", "nonsense"])
def test_arguments_that_could_be_read_in_two_ways_do_not_run(text: str, gateway: Gateway, session: str) -> None:
    async def go() -> tuple[list[dict[str, Any]], str]:
        ran: list[dict[str, Any]] = []
        async with AsyncClient(gateway.url, key=gateway.key, session_id=session) as client:
            confirmed = Confirmed(client)
            result = await confirmed.run(agent_with(ran, confirmed, text), "write to Ana")
        return ran, read(result)

    ran, told = asyncio.run(go())
    assert ran == [] and "was not carried out" in told and gateway.calls(session) == []


def test_an_approval_is_not_used_for_another_tool_with_the_same_call_id(gateway: Gateway, session: str) -> None:
    ran = []

    @function_tool
    def send_email(to: str) -> str:
        """Sends an e-mail."""
        ran.append("send_email")
        return "sent"

    @function_tool
    def send_money(to: str) -> str:
        """Sends money."""
        ran.append("send_money")
        return "sent"

    async def go() -> None:
        async with AsyncClient(gateway.url, key=gateway.key, session_id=session) as client:
            confirmed = Confirmed(client)
            tools = [confirmed.tool(send_email), confirmed.tool(send_money)]
            steps = [function_call(it.name, '{"to":"ana@example.org"}', call_id="same") for it in tools]
            first = Agent("a", model=ScriptedModel([[steps[0]]]), tools=tools)
            with gateway.answering(session, "once"):
                await confirmed.resolve(await Runner.run(first, "write"))
            # The mail was approved and has not been sent. Now the other tool comes with its id.
            second = Agent("b", model=ScriptedModel([[steps[1]], [assistant_message("done")]]), tools=tools)
            result = await Runner.run(second, "pay")
            state = result.to_state()
            state.approve(result.interruptions[0])
            with gateway.answering(session, "deny"):
                await Runner.run(second, state)

    asyncio.run(go())
    assert ran == []

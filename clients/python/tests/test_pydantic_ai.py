"""The pydantic-ai adapter in a real agent, with a function as the model and a real gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from gateway import Gateway

pytest.importorskip("pydantic_ai")

import scenes  # noqa: E402
from pydantic_ai import Agent, DeferredToolRequests  # noqa: E402
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart  # noqa: E402
from pydantic_ai.models.function import AgentInfo, FunctionModel  # noqa: E402

from countersign import AsyncClient  # noqa: E402
from countersign.adapters.pydantic_ai import Confirmed  # noqa: E402


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    if returned(messages):
        return ModelResponse([TextPart("done")])
    return ModelResponse([ToolCallPart("send_email", dict(scenes.ASKED), "1")])


def returned(messages: list[ModelMessage]) -> list[str]:
    return [str(part.content) for it in messages for part in it.parts if isinstance(part, ToolReturnPart)]


def agent_with(ran: list[dict[str, Any]], **options: Any) -> Agent[None, Any]:
    agent: Agent[None, Any] = Agent(FunctionModel(answer), **options)

    @agent.tool_plain(requires_approval=True)
    def send_email(to: str, text: str) -> str:
        ran.append({"to": to, "text": text})
        return f"sent to {to}"

    return agent


@pytest.mark.parametrize("scene", scenes.ALL)
def test_a_run_with_the_capability(scene: Callable[..., None], gateway: Gateway, session: str) -> None:
    async def go(url: str) -> scenes.Seen:
        ran: list[dict[str, Any]] = []
        async with AsyncClient(url, key=gateway.key, session_id=session, reach_seconds=0.5) as client:
            result = await agent_with(ran, capabilities=[Confirmed(client)]).run("write to Ana")
        return scenes.Seen(ran, "\n".join(returned(result.all_messages())))

    scene(gateway, session, lambda url: asyncio.run(go(url)))


@pytest.mark.parametrize("scene", scenes.ALL[1:])
def test_a_run_that_ends_with_deferred_calls(scene: Callable[..., None], gateway: Gateway, session: str) -> None:
    async def go(url: str) -> scenes.Seen:
        ran: list[dict[str, Any]] = []
        async with AsyncClient(url, key=gateway.key, session_id=session, reach_seconds=0.5) as client:
            agent = agent_with(ran, output_type=[str, DeferredToolRequests])
            first = await agent.run("write to Ana")
            assert isinstance(first.output, DeferredToolRequests)
            results = await Confirmed(client).resolve(first.output)
            result = await agent.run(message_history=first.all_messages(), deferred_tool_results=results)
        return scenes.Seen(ran, "\n".join(returned(result.all_messages())))

    scene(gateway, session, lambda url: asyncio.run(go(url)))


def test_two_calls_with_one_id_are_both_denied(gateway: Gateway, session: str) -> None:
    async def go() -> Any:
        async with AsyncClient(gateway.url, key=gateway.key, session_id=session) as client:
            parts = [ToolCallPart("send_email", {"to": "a"}, "1"), ToolCallPart("send_money", {"to": "b"}, "1")]
            return await Confirmed(client).resolve(DeferredToolRequests(approvals=parts))

    results = asyncio.run(go())
    assert [it.kind for it in results.approvals.values()] == ["tool-denied"] and gateway.calls(session) == []

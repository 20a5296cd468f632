"""The LangChain adapter in a real agent, with a scripted model and a real gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from gateway import Gateway

pytest.importorskip("langchain")

import scenes  # noqa: E402
from langchain.agents import create_agent  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage, ToolMessage  # noqa: E402
from langchain_core.tools import tool  # noqa: E402

from countersign import AsyncClient, Client  # noqa: E402
from countersign.adapters.langchain import Confirmed  # noqa: E402


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **_: Any) -> Scripted:
        return self


def agent_with(ran: list[dict[str, Any]], confirmed: Confirmed) -> Any:
    @tool
    def send_email(to: str, text: str) -> str:
        """Sends an e-mail."""
        ran.append({"to": to, "text": text})
        return f"sent to {to}"

    asks = AIMessage("", tool_calls=[{"name": "send_email", "args": dict(scenes.ASKED), "id": "1"}])
    model = Scripted(messages=iter([asks, AIMessage("done")]))
    return create_agent(model, [send_email], middleware=[confirmed])


def read(result: Any) -> str:
    return "\n".join(str(it.content) for it in result["messages"] if isinstance(it, ToolMessage))


START = {"messages": [{"role": "user", "content": "write to Ana"}]}


@pytest.mark.parametrize("scene", scenes.ALL)
def test_a_blocking_agent(scene: Callable[..., None], gateway: Gateway, session: str) -> None:
    def run(url: str) -> scenes.Seen:
        ran: list[dict[str, Any]] = []
        with Client(url, key=gateway.key, session_id=session, reach_seconds=0.5) as client:
            result = agent_with(ran, Confirmed(client)).invoke(START)
        return scenes.Seen(ran, read(result))

    scene(gateway, session, run)


@pytest.mark.parametrize("scene", scenes.ALL)
def test_an_async_agent(scene: Callable[..., None], gateway: Gateway, session: str) -> None:
    async def go(url: str) -> scenes.Seen:
        ran: list[dict[str, Any]] = []
        async with AsyncClient(url, key=gateway.key, session_id=session, reach_seconds=0.5) as client:
            result = await agent_with(ran, Confirmed(client)).ainvoke(START)
        return scenes.Seen(ran, read(result))

    scene(gateway, session, lambda url: asyncio.run(go(url)))


def test_tools_that_are_left_out_are_not_asked_about(gateway: Gateway, session: str) -> None:
    ran: list[dict[str, Any]] = []
    with Client(gateway.url, key=gateway.key, session_id=session) as client:
        agent_with(ran, Confirmed(client, tools=["other"])).invoke(START)
    assert ran == [scenes.ASKED] and gateway.calls(session) == []

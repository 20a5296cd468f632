"""Every Python example of docs/clients.md runs against a real gateway, with a scripted model where it needs one."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from gateway import PROJECT, Gateway

ASKED = {"to": "ana@example.org", "text": "The release is ready."}
TEXT = (PROJECT / "docs/clients.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```", TEXT, re.M | re.S)


def langchain_model() -> Any:
    from test_langchain import AIMessage, Scripted

    asks = AIMessage("", tool_calls=[{"name": "send_email", "args": ASKED, "id": "1"}])
    return Scripted(messages=iter([asks, AIMessage("done")]))


def openai_model() -> Any:
    from test_openai_agents import ScriptedModel, assistant_message, function_call

    return ScriptedModel([[function_call("send_email", json.dumps(ASKED), call_id="1")], [assistant_message("done")]])


def pydantic_model() -> Any:
    from test_pydantic_ai import FunctionModel, answer

    return FunctionModel(answer)


MODELS: dict[str, tuple[str, Callable[[], Any]]] = {
    "Plain Python": ("countersign", lambda: None),
    "LangChain and LangGraph": ("langchain", langchain_model),
    "OpenAI Agents SDK": ("agents", openai_model),
    "pydantic-ai": ("pydantic_ai", pydantic_model),
}


def test_there_is_an_example_for_each_framework() -> None:
    assert [name for name, _ in EXAMPLES] == list(MODELS)


@pytest.mark.parametrize("choice", ["once", "deny"])
@pytest.mark.parametrize(("name", "code"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_runs(
    name: str, code: str, choice: str, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, model = MODELS[name]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    monkeypatch.setenv("COUNTERSIGN_URL", gateway.url)
    monkeypatch.setenv("COUNTERSIGN_KEY", gateway.key)
    before = {it["call_id"] for it in gateway.ask("GET", "/v1/calls?limit=500")["calls"]}
    scope: dict[str, Any] = {"model": model(), "__name__": "example"}
    with gateway.answering_any(choice):
        exec(compile(code, f"docs/clients.md: {name}", "exec"), scope)  # noqa: S102
    assert scope["result"] is not None
    (call,) = (it for it in gateway.ask("GET", "/v1/calls?limit=500")["calls"] if it["call_id"] not in before)
    outcome = gateway.trace(call["call_id"])["outcome"]
    if choice == "once":
        assert call["status"] == "approved" and outcome["failed"] is False
    else:
        assert call["status"] == "denied" and outcome is None
    if name == "Plain Python":
        assert scope["result"].startswith("sent to ana" if choice == "once" else "ana denied")


def test_the_example_of_the_readme_runs(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSIGN_URL", gateway.url)
    monkeypatch.setenv("COUNTERSIGN_KEY", gateway.key)
    code = re.findall(r"^```python\n(.*?)^```", (PROJECT / "README.md").read_text(encoding="utf-8"), re.M | re.S)[0]
    scope: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), scope)  # noqa: S102
    with gateway.answering_any("once"):
        scope["send_email"]("ana@example.org", "x")

"""The agents that the runner knows, by the name that `countersign hook` uses."""

from __future__ import annotations

from agent import Agent
from claude_code import ClaudeCode
from codex import Codex

AGENTS: dict[str, type[Agent]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
}

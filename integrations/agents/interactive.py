"""Claude Code and Codex as a person uses them, in a terminal."""

from __future__ import annotations

import json

from agent import Steps, write_json
from claude_code import ClaudeCode
from codex import Codex
from world import World


class ClaudeCodeInteractive(ClaudeCode):
    """Claude Code without `--print`. The questions of a first start are answered beforehand."""

    interactive = True
    run_seconds = 40

    def prepare(self, world: World, model_url: str) -> None:
        super().prepare(world, model_url)
        key = self.environment(world, model_url)["ANTHROPIC_API_KEY"]
        seen = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        write_json(
            world.home / ".claude.json",
            {
                "hasCompletedOnboarding": True,
                "theme": "dark",
                "bypassPermissionsModeAccepted": True,
                "customApiKeyResponses": {"approved": [key], "rejected": []},
                "projects": {str(world.project): seen},
            },
        )

    def command(self, world: World, prompt: str) -> list[str]:
        # The prompt comes first: `--mcp-config` takes every word that follows it.
        mcp = ["--mcp-config", str(world.root / "mcp.json")]
        return [*self.program(), prompt, "--dangerously-skip-permissions", *mcp]

    def calls(self, world: World) -> dict[str, Steps]:
        # In a terminal the first turn does not wait for MCP servers.
        found = super().calls(world)
        wait = f"until [ -e {world.outbox_ready} ]; do sleep 0.1; done"
        first = {"tool": "Bash", "args": {"command": wait, "description": "wait"}}
        return {**found, "mcp_send": [first, *found["mcp_send"]]}


class CodexInteractive(Codex):
    """Codex without `exec`, and without the daemon that would outlive the test."""

    interactive = True
    # Codex asks a person to leave this model; the plain one has all that the deeds need.
    model = "scripted-model"

    def prepare(self, world: World, model_url: str) -> None:
        super().prepare(world, model_url)
        with (world.home / ".codex" / "config.toml").open("a", encoding="utf-8") as config:
            config.write(f"[projects.{json.dumps(str(world.project))}]\n")
            config.write('trust_level = "trusted"\n')

    def command(self, world: World, prompt: str) -> list[str]:
        del world
        options = ["--no-daemon", "--sandbox", "danger-full-access", "--ask-for-approval", "never"]
        return [*self.program(), *options, prompt]

    def calls(self, world: World) -> dict[str, Steps]:
        # The plain model has no `apply_patch`.
        return {
            deed: steps
            for deed, steps in super().calls(world).items()
            if not any("input" in step for step in steps)
        }

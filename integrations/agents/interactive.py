"""The agents as a person uses them, in a terminal."""

from __future__ import annotations

import json
import shlex
from typing import ClassVar

from agent import Steps, write_json
from claude_code import ClaudeCode
from cline import Cline
from codex import Codex
from copilot import Copilot
from gemini import Gemini
from opencode import OpenCode
from world import KEPT_FILE, World


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


class CopilotInteractive(Copilot):
    """Copilot CLI without `--prompt`, in a folder that the person trusts."""

    interactive = True

    def prepare(self, world: World, model_url: str) -> None:
        super().prepare(world, model_url)
        self.trust(world)

    def command(self, world: World, prompt: str) -> list[str]:
        del world
        return [*self.program(), "--interactive", prompt, "--allow-all-tools", "--allow-all-paths"]


class GeminiInteractive(Gemini):
    """Gemini CLI without `--prompt`, in a folder that the person trusts."""

    interactive = True

    def command(self, world: World, prompt: str) -> list[str]:
        words = super().command(world, prompt)
        return ["--prompt-interactive" if word == "--prompt" else word for word in words]


class GeminiUntrusted(GeminiInteractive):
    """Gemini CLI in a folder that the person does not trust, where it asks about each call itself.

    It runs the hooks of the user's extensions there, but not those of the user's settings.
    """

    open_cells: ClassVar[dict[str, str]] = {}

    def prepare(self, world: World, model_url: str) -> None:
        super().prepare(world, model_url)
        write_json(
            world.home / ".gemini" / "trustedFolders.json",
            {str(world.project): "DO_NOT_TRUST"},
        )

    def environment(self, world: World, model_url: str) -> dict[str, str]:
        found = super().environment(world, model_url)
        del found["GEMINI_CLI_TRUST_WORKSPACE"]
        return found

    def calls(self, world: World) -> dict[str, Steps]:
        # Nobody answers Gemini's own question here, so a call that we allow would not run either.
        found = super().calls(world)
        place = shlex.quote(str(world.data))
        args = {"command": f"cd {place} && rm {KEPT_FILE}", "description": "clean up"}
        return {
            "delete_elsewhere": [{"tool": "run_shell_command", "args": args}],
            "change_own_settings": found["change_own_settings"],
        }


class OpenCodeInteractive(OpenCode):
    """OpenCode's own screen instead of `run`."""

    interactive = True

    def command(self, world: World, prompt: str) -> list[str]:
        del world
        return [*self.program(), "--prompt", prompt]


class ClineInteractive(Cline):
    """Cline's own screen instead of `--json`."""

    interactive = True

    def command(self, world: World, prompt: str) -> list[str]:
        del world
        return [*self.program(), "--tui", prompt]

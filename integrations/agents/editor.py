"""The agents as an editor runs them, in ACP mode."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

from agent import Steps
from copilot import Copilot
from gemini import Gemini
from world import World

CLIENT = [sys.executable, str(Path(__file__).with_name("acp_client.py"))]


class CopilotEditor(Copilot):
    """Copilot CLI in ACP mode asks its hooks as it always does."""

    def command(self, world: World, prompt: str) -> list[str]:
        del world
        options = ["--acp", "--allow-all-tools", "--allow-all-paths"]
        return [*CLIENT, prompt, *self.program(), *options]


class GeminiEditor(Gemini):
    """Gemini CLI in ACP mode tells its hooks what the person said, but of no tool call.

    So the hook for what the person said refuses every turn there.
    """

    open_cells: ClassVar[dict[str, str]] = {}

    def environment(self, world: World, model_url: str) -> dict[str, str]:
        found = super().environment(world, model_url)
        return {**found, "ACP_AUTHENTICATION": "gemini-api-key"}

    def command(self, world: World, prompt: str) -> list[str]:
        del world
        return [*CLIENT, prompt, *self.program(), "--acp", "--model", "gemini-2.5-flash"]

    def calls(self, world: World) -> dict[str, Steps]:
        return {"delete_unhooked": super().calls(world)["shell_delete"]}

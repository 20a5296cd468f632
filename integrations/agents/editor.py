"""The agents as an editor runs them, in ACP mode: with their own hooks, and behind `countersign acp`.

The editor allows whatever it is asked, so that only Countersign stands in the way.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

from agent import WAIT_SECONDS, Agent, Steps
from copilot import Copilot
from gemini import Gemini
from opencode import OpenCode, allow_asking
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


class BehindAcp(Agent):
    """An agent without a hook, started by the editor through `countersign acp`.

    The protocol has no words for a reason, so the model is not told why a call did not run.
    """

    guard = "acp"
    takes_edits = False
    project_can_disarm = False
    tells_model = False

    @property
    def set_up(self) -> str:
        return "acp"

    def through(self, world: World, prompt: str, words: list[str]) -> list[str]:
        """Returns the command of an editor that starts the agent by `words`."""
        home = ["--home", str(world.countersign_home)]
        return [*CLIENT, prompt, str(world.countersign), "acp", *home, "--", *words]

    def expendable_file(self, world: World) -> Path | None:
        del world
        return None

    def install_hook(self, world: World, wait_seconds: int = WAIT_SECONDS) -> None:
        """Writes nothing: what stands in front of the agent is on the editor's command line."""


class OpenCodeAcp(BehindAcp, OpenCode):
    """OpenCode, with settings by which it asks before everything that is not a read.

    It asks about an MCP tool before it tells the arguments, so that the card shows the tool alone.
    """

    marks: ClassVar[dict[str, str]] = {"mcp_send": "post_send_message"}

    def prepare(self, world: World, model_url: str) -> None:
        super().prepare(world, model_url)
        allow_asking(world)

    def command(self, world: World, prompt: str) -> list[str]:
        return self.through(world, prompt, [*self.program(), "acp"])

    def calls(self, world: World) -> dict[str, Steps]:
        calls = super().calls(world)
        # A plugin is not there to be changed.
        del calls["change_own_settings"]
        # OpenCode asks an editor about no call of a subagent; it waits for ever, and nothing runs.
        for deed in ("subagent_delete", "subagent_send", "write_then_subagent_runs"):
            del calls[deed]
        return calls


class GeminiAcp(BehindAcp, Gemini):
    """Gemini CLI in its default mode, which asks before edits, MCP tools and most commands.

    It tells of a command nothing but a title, so each is a question, the safe ones too; those that
    it takes for reads it does not ask about. It keeps its file tools inside of the project.
    """

    open_cells: ClassVar[dict[str, str]] = {}

    def environment(self, world: World, model_url: str) -> dict[str, str]:
        found = super().environment(world, model_url)
        return {**found, "ACP_AUTHENTICATION": "gemini-api-key"}

    def command(self, world: World, prompt: str) -> list[str]:
        words = [*self.program(), "--acp", "--model", "gemini-2.5-flash"]
        return self.through(world, prompt, words)

    def calls(self, world: World) -> dict[str, Steps]:
        calls = super().calls(world)
        # It neither asks about a subagent's command here nor runs it.
        wanted = ("safe_read", "shell_delete", "mcp_send", "write_then_run")
        return {deed: calls[deed] for deed in wanted}

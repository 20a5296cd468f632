"""Codex with a model that runs JavaScript: every tool is called from inside one script.

The newer models get a single tool, `exec`, and reach the others through it. Each of those calls
must pass the hook just the same.
"""

from __future__ import annotations

import json

from agent import Json, Steps
from codex import Codex
from world import World


class CodexCodeMode(Codex):
    """The same program and settings as Codex; only the model's way of calling differs."""

    model = "gpt-6.1-sol"

    def calls(self, world: World) -> dict[str, Steps]:
        found = {}
        for deed, steps in super().calls(world).items():
            # A step that names what an earlier one returned belongs to the plain variant.
            if not any(callable(step.get("args")) or "track" in step for step in steps):
                found[deed] = [_scripted(step) for step in steps]
        return found


def _scripted(step: Json) -> Json:
    """Returns the step as a script that makes the same call."""
    tool = "__".join(filter(None, (step.get("namespace"), step["tool"])))
    argument = step["input"] if "input" in step else step["args"]
    call = f"text(JSON.stringify(await tools.{tool}({json.dumps(argument)})));"
    return {"tool": "exec", "namespace": "functions", "input": call}

"""What the runner needs to know about one coding agent."""

from __future__ import annotations

import json
import shlex
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from world import World

Json = dict[str, Any]
Steps = list[Json]

WAIT_SECONDS = 3600
DISARM_TEXT = "disarmed-5d81"
COULD_NOT_JUDGE = "Countersign could not judge this call, so it was not run."


class Agent(ABC):
    """One agent: how to install it, start it against a model on loopback, and hook into it.

    `calls` names the agent's own tool calls for each deed; a deed the agent cannot do is left out.
    `open_cells` names the cells that the agent leaves open whatever the settings say, and why.
    `takes_edits` says whether a hook can change the arguments of a call, `project_can_disarm`
    whether settings in a project can switch hooks off. An `interactive` one runs in a terminal and
    is ended when its script is.

    `guard` is the word of our program that stands in front of the agent, and `set_up` what
    `countersign init` is told. Where it is no hook, nothing gives up early or judges alone.
    `tells_model` says whether the model reads why a call did not run; `marks` names the text by which
    the card of a deed is known, where the agent shows less than the arguments.
    """

    name: str
    package: str
    pinned: str
    open_cells: ClassVar[dict[str, str]] = {}
    takes_edits = True
    project_can_disarm = False
    interactive = False
    run_seconds = 120
    guard = "hook"
    tells_model = True
    marks: ClassVar[dict[str, str]] = {}

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    def install(self) -> None:
        """Installs the pinned package into the cache folder, unless it is there."""
        stamp = self.cache / "installed.txt"
        wanted = f"{self.package}@{self.pinned}"
        if stamp.exists() and stamp.read_text(encoding="utf-8").strip() == wanted:
            return
        self.cache.mkdir(parents=True, exist_ok=True)
        (self.cache / "package.json").write_text("{}\n", encoding="utf-8")
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", wanted]
        subprocess.run(command, cwd=self.cache, check=True, stdout=subprocess.DEVNULL)
        stamp.write_text(wanted + "\n", encoding="utf-8")

    @property
    def set_up(self) -> str:
        """Returns what `countersign init` is told, and the name of the key."""
        return self.name

    @abstractmethod
    def program(self) -> list[str]:
        """Returns the words that start the agent."""

    def version(self) -> str:
        """Returns what the agent itself says its version is."""
        done = subprocess.run(
            [*self.program(), "--version"], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    @abstractmethod
    def prepare(self, world: World, model_url: str) -> None:
        """Writes the agent's settings: the model, the MCP server `post`; no hook."""

    def environment(self, world: World, model_url: str) -> dict[str, str]:
        """Returns the agent's environment."""
        del model_url
        return world.environment()

    @abstractmethod
    def command(self, world: World, prompt: str) -> list[str]:
        """Returns the command for one headless run that asks for no permission itself."""

    @abstractmethod
    def calls(self, world: World) -> dict[str, Steps]:
        """Returns the agent's own tool calls, by the name of the deed."""

    @abstractmethod
    def own_settings(self, world: World) -> Path:
        """Returns the file whose change takes the hook away; `calls` writes DISARM_TEXT to it."""

    @abstractmethod
    def install_hook(self, world: World, wait_seconds: int = WAIT_SECONDS) -> None:
        """Writes the hook into the agent's settings, as `countersign init` does.

        After `wait_seconds` the agent no longer waits for its hook.
        """

    def expendable_file(self, world: World) -> Path | None:
        """Returns a file of the hook without which the agent runs no tool, if there is one."""
        del world
        return None

    def disarm(self, world: World) -> None:
        """Writes settings of the project that switch hooks off, if `project_can_disarm`."""
        del world

    def after_run(self, world: World) -> None:
        """Ends what the agent left running. Most leave nothing."""
        del world


def hook_command(world: World, agent: str) -> str:
    """Returns the shell line that asks the hook and denies if the hook is missing or was killed.

    Exit code 2 is the hook's own denial, which has said its reason already.
    """
    return f"{report_command(world, agent)} || {{ [ $? = 2 ] || echo '{COULD_NOT_JUDGE}' >&2; exit 2; }}"


def report_command(world: World, agent: str) -> str:
    """Returns the shell line that tells the hook of an event. A hook reads no environment."""
    home = str(world.countersign_home)
    return shlex.join([str(world.countersign), "hook", agent, "--home", home])


def strict_hook_command(world: World, agent: str, denial: Json) -> str:
    """Returns a shell line that passes on only a whole JSON answer with exit code 0 or 2.

    Some agents take any other output, or JSON from a program that crashed, for a yes. For these
    the line answers with `denial` instead.
    """
    return (
        f"o=$({report_command(world, agent)}); s=$?; "
        "case \"$s:$o\" in 0:'{'*'}'|2:'{'*'}') printf '%s\\n' \"$o\"; exit $s;; esac; "
        f"printf '%s\\n' {shlex.quote(json.dumps(denial))}; exit 2"
    )


def write_json(path: Path, value: object) -> None:
    """Writes a settings file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")

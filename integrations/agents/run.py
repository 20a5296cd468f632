"""Runs real coding agents against the hook and prints a table of deeds and results.

    python3 integrations/agents/run.py AGENT... [--countersign PATH] [--only CELL] [--keep]

Each cell gets a fresh home, a fresh gateway and a scripted model, all on loopback. The exit code is
1 if a cell that must be closed is open or anything else went wrong.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from agent import WAIT_SECONDS, Agent, Json, Steps
from agents import AGENTS
from deeds import CELLS, DEEDS, Sight, Way, cell_name
from scripted_model import ScriptedModel
from terminal import run_in_terminal
from world import Gateway, Person, World

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = REPOSITORY / "target" / "agents"


@dataclass
class Result:
    """One line of the table."""

    agent: str
    cell: str
    word: str
    seconds: float
    good: bool


def main() -> int:
    """Runs the chosen agents and returns the exit code."""
    options = _options()
    binary = options.countersign.resolve()
    results: list[Result] = []
    versions: dict[str, str] = {}
    for name in options.agents:
        agent = AGENTS[name](CACHE / AGENTS[name].name)
        agent.install()
        versions[name] = agent.version()
        print(f"{name}: {versions[name]}", flush=True)
        for deed, way in CELLS:
            if options.only and options.only not in cell_name(deed, way):
                continue
            result = _run_cell(name, agent, binary, deed, way, options)
            if result:
                results.append(result)
                print(_line(result), flush=True)
    bad = [result for result in results if not result.good]
    print(f"\n{len(results)} cells, {len(bad)} failed")
    for result in bad:
        print(_line(result))
    return 1 if bad or not results else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agents", nargs="+", choices=sorted(AGENTS), metavar="AGENT")
    parser.add_argument(
        "--countersign",
        type=Path,
        default=REPOSITORY / "target" / "release" / "countersign",
        help="the binary to test [default: target/release/countersign]",
    )
    parser.add_argument(
        "--cells",
        type=Path,
        default=CACHE / "cells",
        help="folder for the cells; not under /tmp, where a deletion harms nobody",
    )
    parser.add_argument("--only", help="run only cells whose name contains this")
    parser.add_argument(
        "--by-hand",
        action="store_true",
        help="let the test write the agent's settings instead of `countersign init`",
    )
    parser.add_argument("--keep", action="store_true", help="keep the folders of good cells too")
    return parser.parse_args()


def _run_cell(
    label: str, agent: Agent, binary: Path, deed: str, way: Way, options: argparse.Namespace
) -> Result | None:
    """Runs one cell; nothing if the agent cannot do the deed."""
    name = cell_name(deed, way)
    world = World(options.cells.resolve() / label / name.replace("/", "-"))
    steps = agent.calls(world).get(deed.removesuffix("_in_crisis"))
    if steps is None or not way.applies(agent):
        return None
    world.create(binary)
    world.settings = agent.own_settings(world)
    world.guard = agent.guard
    started = time.monotonic()
    try:
        sight = _play(agent, world, binary, deed, way, steps, by_hand=options.by_hand)
        word = way.judge(sight)
    except (OSError, RuntimeError) as failure:
        sight = None
        word = f"FAILED: {failure!r}"
    good = not word.startswith(("OPEN", "FAILED"))
    if name in agent.open_cells:
        if word.startswith("OPEN"):
            word, good = f"open (agent): {agent.open_cells[name]}", True
        elif good:
            word, good = f"{word}, but listed as open: take it off the list", False
    if not good or options.keep:
        (world.root / "sight.txt").write_text(f"{word}\n{sight}\n", encoding="utf-8")
    else:
        shutil.rmtree(world.root, ignore_errors=True)
    return Result(label, name, word, time.monotonic() - started, good)


def _play(
    agent: Agent, world: World, binary: Path, deed: str, way: Way, steps: Steps, *, by_hand: bool
) -> Sight:
    """Starts everything, runs the agent once, and reports what was seen."""
    facts: Json = {}
    gateway = Gateway(world, binary, way.answer_seconds)
    try:
        with ScriptedModel() as model:
            script = model.play(way.steps(steps))
            agent.prepare(world, model.url)
            if by_hand or way.wait_seconds:
                gateway.create_hook_key(agent.set_up)
                agent.install_hook(world, way.wait_seconds or WAIT_SECONDS)
            else:
                _init(agent, world)
            with Person(gateway, lambda it, card, _: way.on_card(world, it, card, facts)) as person:
                way.before(world, gateway, agent)
                exit_code = _run_agent(agent, world, DEEDS[deed].prompt, model)
                way.after(world, gateway, facts)
            if person.failure:
                raise person.failure
            reports = script.results()
            mark = agent.marks.get(deed.removesuffix("_in_crisis"))
            cards = DEEDS[deed].cards(world, person.cards, mark)
            return Sight(
                effect=DEEDS[deed].happened(world, reports),
                cards=cards,
                other_cards=[card for card in person.cards if card not in cards],
                reports=reports,
                exit_code=exit_code,
                unplayed=script.unplayed(),
                facts=facts,
                tells_model=agent.tells_model,
            )
    finally:
        agent.after_run(world)
        gateway.stop()


def _init(agent: Agent, world: World) -> None:
    """Lets `countersign init` write the agent's settings."""
    done = subprocess.run(
        [world.countersign, "init", agent.set_up, "--yes"],
        check=False,
        cwd=world.project,
        env=world.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    (world.root / "init.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"countersign init failed:\n{done.stderr}")


def _run_agent(agent: Agent, world: World, prompt: str, model: ScriptedModel) -> int | None:
    """Runs the agent to its end; no exit code if it had to be killed."""
    command = agent.command(world, prompt)
    environment = agent.environment(world, model.url)
    with (world.root / "agent.log").open("wb") as log:
        if agent.interactive:
            finished = model.script.finished
            limit = agent.run_seconds
            return run_in_terminal(command, environment, world.project, log, finished, limit)
        process = subprocess.Popen(
            command,
            cwd=world.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            return process.wait(agent.run_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None


def _line(result: Result) -> str:
    mark = "ok" if result.good else "BAD"
    return f"{mark:4}{result.agent:25}{result.cell:32}{result.seconds:6.1f} s  {result.word}"


if __name__ == "__main__":
    sys.exit(main())

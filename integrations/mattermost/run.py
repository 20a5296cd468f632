"""Builds a real Mattermost server and runs a command while it is up.

    python3 integrations/mattermost/run.py [COMMAND...]

The command finds the server by `COUNTERSIGN_TEST_MATTERMOST_URL` and an administrator's token in
`COUNTERSIGN_TEST_MATTERMOST_ADMIN_TOKEN`. Without a command both are printed and the server stays up
until Enter is pressed. The exit code is the command's.

The server is the Team Edition, built from Go modules alone, once: it and Go's caches, some gigabytes,
stay in `~/.cache/countersign-mattermost` (or `COUNTERSIGN_MATTERMOST_CACHE`). Its database is a
PostgreSQL of its own. Everything listens on loopback or a socket, lies in a temporary folder, and ends
with this process, however that ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
SERVER = "github.com/mattermost/mattermost/server/v8"
PUBLIC = "github.com/mattermost/mattermost/server/public"
# One commit of both; it calls itself 11.4.0. Few versions are in the module registry.
VERSION = "v8.0.0-20260130160320-3321db82c3e7"
PUBLIC_VERSION = "v0.1.22"
# The versions these pin are missing in the registry.
REPLACED = {
    "github.com/vmihailenco/msgpack/v5": "github.com/mattermost/msgpack/v5@v5.0.0-20260408165622-cadfad56a815",
    "github.com/richardlehane/msoleps": "github.com/richardlehane/msoleps@v1.0.6",
}
READY_SECONDS = 180

# Each ends what it started when its standard input ends.
POSTGRES = r"""
set -eu
directory=$(mktemp -d /tmp/countersign-mm.XXXXXX)
trap 'rm -rf "$directory"' EXIT
trap '' INT TERM HUP
initdb -D "$directory/data" -U postgres -A trust -E UTF8 --locale=C >"$directory/log" 2>&1 || {
  cat "$directory/log" >&2
  exit 1
}
printf "listen_addresses = ''\nunix_socket_directories = '%s'\nfsync = off\nmax_connections = 200\n" "$directory" \
  >>"$directory/data/postgresql.conf"
pg_ctl -D "$directory/data" -l "$directory/log" -w start >/dev/null || {
  cat "$directory/log" >&2
  exit 1
}
createdb -U postgres -h "$directory" mattermost
echo "$directory"
cat >/dev/null
pg_ctl -D "$directory/data" -m immediate -w stop >/dev/null 2>&1 || true
"""
GUARDED = r"""
trap '' INT TERM HUP
exec 3<&0
"$@" </dev/null >server.log 2>&1 &
server=$!
{ cat <&3 >/dev/null; kill "$server"; } &
wait "$server"
"""


def main() -> int:
    """Runs the command of the command line beside a server and returns its exit code."""
    program, files = build()
    with database() as data_source, tempfile.TemporaryDirectory(prefix="countersign-mattermost-") as folder:
        with server(program, files, Path(folder), data_source) as url:
            token = administrator(url)
            variables = {
                "COUNTERSIGN_TEST_MATTERMOST_URL": url,
                "COUNTERSIGN_TEST_MATTERMOST_ADMIN_TOKEN": token,
            }
            print(f"Mattermost {version(url)} at {url}", flush=True)
            if len(sys.argv) > 1:
                return subprocess.run(sys.argv[1:], env=os.environ | variables, check=False).returncode
            for name, value in variables.items():
                print(f"export {name}={value}")
            input("Enter stops it. ")
            return 0


def build() -> tuple[Path, Path]:
    """Builds the server unless that was done before; returns it and the folder of its own files."""
    cache = Path(os.environ.get("COUNTERSIGN_MATTERMOST_CACHE", Path.home() / ".cache/countersign-mattermost"))
    source = cache / VERSION
    program, files = source / "mattermost", source / "files"
    if program.is_file() and files.is_dir():
        return program, files
    if not shutil.which("go"):
        sys.exit("error: Go is not installed; it builds the server (https://go.dev/dl)")
    source.mkdir(parents=True, exist_ok=True)
    go = os.environ | {
        "GOMODCACHE": str(cache / "modules"),
        "GOCACHE": str(cache / "build"),
        "GOFLAGS": "-mod=mod -buildvcs=false -modcacherw",
        "GOTOOLCHAIN": "local",
    }

    def run(*words: str) -> str:
        done = subprocess.run(["go", *words], cwd=source, env=go, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    print(f"building Mattermost in {source}: some minutes, once", flush=True)
    module = Path(json.loads(run("mod", "download", "-json", f"{SERVER}@{VERSION}"))["Dir"])
    # Its own requirements, under another name.
    lines = (module / "go.mod").read_text().splitlines()
    renamed = ["module countersign.test/mattermost" if line.startswith("module ") else line for line in lines]
    (source / "go.mod").write_text("\n".join(renamed) + "\n")
    (source / "go.sum").write_text((module / "go.sum").read_text())
    shutil.copy(HERE / "main.go", source / "main.go")
    edits = [f"-require={SERVER}@{VERSION}", f"-require={PUBLIC}@{PUBLIC_VERSION}"]
    edits += [f"-replace={old}={new}" for old, new in REPLACED.items()]
    run("mod", "edit", *edits)
    run("build", "-o", "mattermost.new", ".")
    shutil.rmtree(files, ignore_errors=True)
    for name in ("i18n", "templates", "fonts"):
        shutil.copytree(module / name, files / name, copy_function=shutil.copyfile)
    (source / "mattermost.new").rename(program)
    return program, files


@contextlib.contextmanager
def database() -> Iterator[str]:
    """Runs a PostgreSQL and returns the address of an empty database in it."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda it: int(it.parts[-3]))
    path = f"{folders[-1].parent}:{os.environ['PATH']}" if folders else os.environ["PATH"]
    if not shutil.which("initdb", path=path):
        sys.exit("error: PostgreSQL is not installed: apt-get install postgresql")
    # It refuses to run as root.
    other = {}
    if os.geteuid() == 0:
        names = {user.pw_name: user for user in pwd.getpwall()}
        user = names.get("postgres") or names["nobody"]
        other = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    guard = subprocess.Popen(
        ["sh", "-c", POSTGRES],
        cwd="/",
        env={"PATH": path, "LC_ALL": "C"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **other,
    )
    directory = guard.stdout.readline().strip()
    if not directory:
        sys.exit("error: PostgreSQL does not start; see above")
    try:
        yield f"postgres://postgres@/mattermost?host={directory}&sslmode=disable"
    finally:
        guard.stdin.close()
        guard.wait()


@contextlib.contextmanager
def server(program: Path, files: Path, folder: Path, data_source: str) -> Iterator[str]:
    """Runs the server in `folder` and returns its address once it answers."""
    for name in ("i18n", "templates", "fonts"):
        shutil.copytree(files / name, folder / name)
    for name in ("client", "data", "config", "logs", "plugins"):
        (folder / name).mkdir()
    (folder / "client/root.html").write_text("<!doctype html><title>Mattermost</title>")
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{line.getsockname()[1]}"
    url = f"http://{address}"
    guard = subprocess.Popen(
        ["sh", "-c", GUARDED, "sh", program],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)} | settings(url, address, data_source),
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        since = time.monotonic()
        while not is_up(url):
            if time.monotonic() - since > READY_SECONDS or guard.poll() is not None:
                sys.exit("error: the server does not start:\n" + (folder / "server.log").read_text()[-4000:])
            time.sleep(0.2)
        yield url
    finally:
        guard.stdin.close()
        guard.wait()


def settings(url: str, address: str, data_source: str) -> dict[str, str]:
    """Returns how the server is set up: bots and integrations on this machine, and nothing sent anywhere."""
    return {
        "MM_SQLSETTINGS_DRIVERNAME": "postgres",
        "MM_SQLSETTINGS_DATASOURCE": data_source,
        "MM_SERVICESETTINGS_SITEURL": url,
        "MM_SERVICESETTINGS_LISTENADDRESS": address,
        "MM_SERVICESETTINGS_ENABLEBOTACCOUNTCREATION": "true",
        "MM_SERVICESETTINGS_ENABLEUSERACCESSTOKENS": "true",
        "MM_SERVICESETTINGS_ALLOWEDUNTRUSTEDINTERNALCONNECTIONS": "127.0.0.1 localhost",
        "MM_SERVICESETTINGS_ENABLESECURITYFIXALERT": "false",
        "MM_TEAMSETTINGS_ENABLEOPENSERVER": "true",
        "MM_TEAMSETTINGS_MAXUSERSPERTEAM": "1000",
        "MM_PLUGINSETTINGS_ENABLE": "false",
        "MM_EMAILSETTINGS_SENDEMAILNOTIFICATIONS": "false",
        "MM_EMAILSETTINGS_SENDPUSHNOTIFICATIONS": "false",
        "MM_LOGSETTINGS_ENABLEDIAGNOSTICS": "false",
        "MM_LOGSETTINGS_ENABLESENTRY": "false",
        "MM_ANNOUNCEMENTSETTINGS_ADMINNOTICESENABLED": "false",
        "MM_ANNOUNCEMENTSETTINGS_USERNOTICESENABLED": "false",
    }


def is_up(url: str) -> bool:
    """Whether the server answers."""
    try:
        with urllib.request.urlopen(f"{url}/api/v4/system/ping", timeout=2) as said:
            return said.status == 200
    except OSError:
        return False


def version(url: str) -> str:
    """Returns what the server calls itself."""
    with urllib.request.urlopen(f"{url}/api/v4/config/client?format=old", timeout=10) as said:
        return json.load(said)["Version"]


def administrator(url: str) -> str:
    """Makes the first account, who administers the server, and returns a token of theirs."""
    password = secrets.token_urlsafe(24) + "Aa1!"
    account = {"email": "admin@example.org", "username": "admin", "password": password}
    user, _ = ask(url, "/users", account)
    _, session = ask(url, "/users/login", {"login_id": "admin", "password": password})
    token, _ = ask(url, f"/users/{user['id']}/tokens", {"description": "tests"}, session["Token"])
    return token["token"]


def ask(url: str, path: str, body: dict[str, str], token: str = "") -> tuple[dict, dict]:
    """Posts to the API and returns the answer and its headers."""
    request = urllib.request.Request(f"{url}/api/v4{path}", data=json.dumps(body).encode())
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=60) as said:
        return json.load(said), said.headers


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failed:
        sys.exit(f"error: {failed}")
    except urllib.error.HTTPError as failed:
        sys.exit(f"error: {failed.url} answered {failed.code}: {failed.read().decode(errors='replace')}")

#!/usr/bin/env python3
"""Makes the home in this folder: `make.py BINARY`, with the build of the gateway that is to leave it.

It starts the gateway in a new home and puts something of everything into it, then writes the files
and `expected.json`, which says what the test must find. All keys and names in it are made up.
"""

import http.server
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.abspath(sys.argv[1])
KEPT = ["cli.key", "countersign.db", "ledger.head", "signing.key"]
# Long enough that what waits still waits whenever the test runs; the longest that may be configured.
LONG = "365d"
PATIENCE_SECONDS = 60
RUNNING = []


class Stub(http.server.BaseHTTPRequestHandler):
    """A chat that takes every card, and a model that says what the script says."""

    script = []

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path != "/v1/chat/completions":
            self.send_response(204)
            self.end_headers()
            return
        delta = Stub.script.pop(0)
        reason = "tool_calls" if "tool_calls" in delta else "stop"
        chunks = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}},
        ]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


class Gateway:
    def __init__(self, home, config):
        with open(os.path.join(home, "config.yaml"), "w") as file:
            file.write(config)
        environment = {"HOME": home, "COUNTERSIGN_HOME": home, "PAGER_SECRET": "a secret of both"}
        words = ["serve", "--listen", "127.0.0.1:0", "--home", home, "--json"]
        RUNNING.append(self)
        self.child = subprocess.Popen([BINARY] + words, env=environment, stdout=subprocess.PIPE)
        self.url = json.loads(self.child.stdout.readline())["url"]
        with open(os.path.join(home, "cli.key")) as file:
            self.admin = file.read().strip()

    def stop(self):
        self.child.terminate()
        self.child.wait()

    def ask(self, key, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json", **(headers or {})}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            text = error.read()
            if error.code in (202, 403):
                return json.loads(text)
            raise SystemExit(f"{method} {path}: {error.code} {text}")

    def submit(self, key, command, name=None, **more):
        body = {"tool": "terminal", "args": {"command": command}, "session_id": "s1", "cwd": "/srv/app", **more}
        return self.ask(key, "POST", "/v1/calls", body, {"idempotency-key": name} if name else None)

    def resolve(self, key, call, **answer):
        return self.ask(key, "POST", f"/v1/approvals/{call['approval_id']}/resolve", answer)

    def look(self, key, call):
        return self.ask(key, "GET", f"/v1/calls/{call['call_id']}")

    def until(self, key, path, is_it):
        """Asks until it is so. Only time settles what this waits for, so there is no event to wait on."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while not is_it(seen := self.ask(key, "GET", path)):
            if time.monotonic() > ends:
                raise SystemExit(f"{path} did not change in {PATIENCE_SECONDS} s: {seen}")
            time.sleep(0.1)
        return seen


def main():
    stub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    threading.Thread(target=stub.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{stub.server_port}"
    home = tempfile.mkdtemp()
    work = tempfile.mkdtemp()
    try:
        keys = short_waits(home)
        reviews_and_held_answer(home, keys)
        expected = everything(home, work, at, keys)
        keep(home, expected)
    finally:
        for gateway in RUNNING:
            gateway.stop()
        shutil.rmtree(home)
        shutil.rmtree(work)


def short_waits(home):
    """What time settles: a question and a clarification nobody answers."""
    gateway = Gateway(home, "approvals: { timeout: 1s }\n")
    admin = gateway.admin
    new = lambda name, role: gateway.ask(admin, "POST", "/v1/keys", {"name": name, "role": role})
    keys = {name: new(name, role)["key"] for name, role in [("bot", "agent"), ("eager", "agent"), ("ana", "approver")]}
    new("lost", "agent")
    gateway.ask(admin, "DELETE", f"/v1/keys/{key_id(gateway, 'lost')}")
    bot = keys["bot"]
    expired = gateway.submit(bot, "rm -rf /srv/expired")
    asked = {"question": "Which?", "choices": ["one"], "session_id": "s1"}
    gateway.ask(bot, "POST", "/v1/clarifications", asked)
    path = f"/v1/calls/{expired['call_id']}"
    gateway.until(bot, path, lambda call: call["status"] == "expired")
    is_settled = lambda page: all(it["status"] != "waiting" for it in page["clarifications"])
    gateway.until(bot, "/v1/clarifications", is_settled)
    gateway.stop()
    return keys


def everything(home, work, at, keys):
    agent = json.dumps({"base_url": at + "/v1", "model": "scripted", "cwd": work})
    pager = f'{{ type: webhook, url: "{at}/card", secret_env: PAGER_SECRET }}'
    config = (
        f"approvals: {{ timeout: {LONG}, undo_seconds: 0, deny: [ {{ command: git push --force *, name: no force }} ] }}\n"
        f"agent: {agent}\nchannels: {{ pager: {pager} }}\n"
    )
    gateway = Gateway(home, config)
    admin, bot, ana = gateway.admin, keys["bot"], keys["ana"]
    gateway.ask(admin, "POST", "/v1/people", {"name": "ana", "roles": ["approver"], "accounts": {"pager": "a1"}})
    gateway.ask(admin, "POST", "/v1/people", {"name": "cy", "roles": ["approver"], "accounts": {}})
    gateway.ask(admin, "DELETE", "/v1/people/cy")
    gateway.ask(admin, "POST", "/v1/login/code")
    code = gateway.ask(ana, "POST", "/v1/login/code")["code"]
    gateway.ask(ana, "POST", "/v1/login", {"code": code})
    gateway.submit(bot, "ls -la")
    gateway.submit(bot, "git push --force origin main")
    gateway.submit(bot, "rm -rf /")
    calls(gateway, bot, ana)
    asked = {"question": "Which branch?", "choices": ["main", "next"], "session_id": "s1"}
    one = gateway.ask(bot, "POST", "/v1/clarifications", asked)
    gateway.ask(ana, "POST", f"/v1/clarifications/{one['clarification_id']}/answer", {"choice": 2})
    open_question = gateway.ask(bot, "POST", "/v1/clarifications", asked)
    gateway.ask(ana, "POST", "/v1/sessions/s1/yolo", {"minutes": 5, "reason": "a move", "key_id": key_id(gateway, "bot")})
    gateway.ask(ana, "DELETE", f"/v1/sessions/s1/yolo?key_id={key_id(gateway, 'bot')}")
    crisis(gateway, bot, ana)
    run(gateway, admin)
    flood(gateway, keys["eager"])
    waiting = gateway.submit(bot, "rm -rf /srv/waiting", name="retry-1", session_id="s9")
    gateway.submit(bot, "cat notes.txt", name="retry-2", session_id="s9")
    gateway.until(ana, f"/v1/approvals/{waiting['approval_id']}/deliveries",
                  lambda it: any(one["status"] == "delivered" for one in it["deliveries"]))
    gateway.ask(admin, "GET", "/v1/ledger/verify")
    expected = {
        "made_at": int(time.time()), "agent_key": bot, "approver_key": ana, "waiting": waiting["approval_id"], "waiting_call": waiting["call_id"],
        "clarification": open_question["clarification_id"],
        "lists": {path: len(next(it for it in gateway.ask(admin, "GET", path).values() if isinstance(it, list)))
                  for path in ["/v1/calls?limit=500", "/v1/approvals?limit=500", "/v1/traces?limit=500", "/v1/grants?all=true",
                               "/v1/runs", "/v1/sessions", "/v1/keys", "/v1/people", "/v1/reviews", "/v1/crisis",
                               "/v1/clarifications", "/v1/usage"]},
        "statuses": {call["call_id"]: call["status"] for call in gateway.ask(admin, "GET", "/v1/calls?limit=500")["calls"]},
    }
    gateway.stop()
    return expected


def key_id(gateway, name):
    keys = gateway.ask(gateway.admin, "GET", "/v1/keys")["keys"]
    return next(it["id"] for it in keys if it["name"] == name)


def calls(gateway, bot, ana):
    """Every way a question ends, and what is left of it."""
    once = gateway.submit(bot, "rm -rf /srv/once")
    gateway.resolve(ana, once, choice="once", note="fine")
    token = gateway.look(bot, once)["token"]
    gateway.ask(bot, "POST", "/v1/tokens/consume", {"token": token})
    gateway.ask(bot, "POST", f"/v1/calls/{once['call_id']}/outcome", {"failed": True, "exit_code": 1, "duration_millis": 12})
    collected = gateway.submit(bot, "rm -rf /srv/collected")
    gateway.resolve(ana, collected, choice="once")
    gateway.look(bot, collected)
    gateway.resolve(ana, gateway.submit(bot, "rm -rf /srv/uncollected"), choice="once")
    edited = gateway.submit(bot, "rm -rf /srv/edited")
    gateway.ask(ana, "POST", f"/v1/approvals/{edited['approval_id']}/viewed")
    gateway.resolve(ana, edited, choice="once", args={"command": "rm -rf /srv/edited/old"})
    denied = gateway.submit(bot, "rm -rf /srv/denied")
    gateway.resolve(ana, denied, choice="deny", note="keep it")
    gateway.submit(bot, "rm -rf /srv/denied")
    lifted = gateway.submit(bot, "rm -rf /srv/lifted")
    gateway.resolve(ana, lifted, choice="deny")
    gateway.ask(ana, "POST", f"/v1/approvals/{lifted['approval_id']}/lift")
    withdrawn = gateway.submit(bot, "rm -rf /srv/withdrawn")
    gateway.ask(bot, "POST", f"/v1/calls/{withdrawn['call_id']}/withdraw", {"note": "not needed"})
    standing = gateway.submit(bot, "rm -rf /srv/always")
    gateway.resolve(ana, standing, choice="always", lasts_seconds=3600)
    gateway.submit(bot, "rm -rf /srv/always")
    gateway.resolve(ana, gateway.submit(bot, "rm -rf /srv/session"), choice="session", uses=1)
    gateway.submit(bot, "rm -rf /srv/session")
    grants = gateway.ask(ana, "GET", "/v1/grants")["grants"]
    gateway.ask(ana, "DELETE", f"/v1/grants/{grants[0]['grant_id']}")


def reviews_and_held_answer(home, keys):
    thresholds = "{ auto_below: 0.0, ask_above: 0.6, confidence_min: 1.0 }"
    gateway = Gateway(home, f"review: {{ enabled: true }}\napprovals: {{ undo_seconds: 3600, thresholds: {thresholds} }}\n")
    bot, ana = keys["bot"], keys["ana"]
    for end in ["keep", "undo", None]:
        file = {"path": "/home/dev/project/notes.md", "content": f"{end}"}
        body = {"tool": "write_file", "args": file, "session_id": "s2", "cwd": "/home/dev/project"}
        assert gateway.ask(bot, "POST", "/v1/calls", body)["verdict"] == "allow_then_review"
        if end:
            waiting = gateway.ask(ana, "GET", "/v1/reviews")["reviews"]
            gateway.ask(ana, "POST", f"/v1/reviews/{waiting[0]['review_id']}/{end}")
    taken_back = gateway.submit(bot, "rm -rf /srv/taken_back")
    gateway.resolve(ana, taken_back, choice="once")
    gateway.ask(ana, "POST", f"/v1/approvals/{taken_back['approval_id']}/take_back")
    gateway.resolve(ana, gateway.submit(bot, "rm -rf /srv/held"), choice="once")
    gateway.stop()


def crisis(gateway, bot, ana):
    mail = {"tool": "send_email", "args": {"to": "kim@example.org", "body": "I read what you wrote."}, "session_id": "s3",
            "replying_to": [{"from": "kim@example.org", "text": "I want to end my life. I have no hope left."}]}
    call = gateway.ask(bot, "POST", "/v1/calls", mail)
    gateway.resolve(ana, call, choice="deny", note="I will call")
    gateway.ask(ana, "POST", "/v1/crisis/clear", {"recipient": "kim@example.org", "note": "we spoke"})


def run(gateway, admin):
    """A run that reads, asks, is answered, and ends; and one that fails."""
    request = lambda number, command: {"tool_calls": [{"index": 0, "id": f"c{number}", "type": "function", "function": {
        "name": "terminal", "arguments": json.dumps({"command": command})}}]}
    Stub.script = [request(1, "ls"), request(2, "rm -rf ~/precious"), {"role": "assistant", "content": "Done. All gone."}]
    run = gateway.ask(admin, "POST", "/v1/runs", {"input": "clean up"})["run_id"]
    gateway.until(admin, f"/v1/runs/{run}", lambda it: it["status"] == "waiting_for_approval")
    gateway.ask(admin, "POST", f"/v1/runs/{run}/approval", {"choice": "approve"})
    gateway.until(admin, f"/v1/runs/{run}", lambda it: it["status"] == "completed")
    Stub.script = [request(1, "rm -rf ~/other"), {"role": "assistant", "content": "Fine."}]
    run = gateway.ask(admin, "POST", "/v1/runs", {"input": "again"})["run_id"]
    gateway.until(admin, f"/v1/runs/{run}", lambda it: it["status"] == "waiting_for_approval")
    gateway.ask(admin, "POST", f"/v1/runs/{run}/stop")
    gateway.until(admin, f"/v1/runs/{run}", lambda it: it["status"] == "cancelled")


def flood(gateway, bot):
    """More questions than people can answer: all but the last are taken back."""
    for number in range(40):
        call = gateway.submit(bot, f"rm -rf /srv/flood/{number}", session_id="s4")
        if call["status"] == "refused":
            return
        gateway.ask(bot, "POST", f"/v1/calls/{call['call_id']}/withdraw", {})
    raise SystemExit("there was no flood")


def keep(home, expected):
    database = os.path.join(home, "countersign.db")
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("VACUUM")
    connection.close()
    for name in KEPT:
        shutil.copy(os.path.join(home, name), os.path.join(HERE, name))
        os.chmod(os.path.join(HERE, name), 0o600)
    with open(os.path.join(HERE, "expected.json"), "w") as file:
        json.dump(expected, file, indent=1, sort_keys=True)
        file.write("\n")


main()

"""`Client` and `AsyncClient` against a real gateway."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from typing import Any

import pytest
from gateway import Gateway, until

from countersign import (
    AlreadyUsed,
    AsyncClient,
    Client,
    ConfigError,
    Denied,
    GatewayAway,
    NotRun,
    Refused,
    Rejected,
    Unfit,
    Withdrawn,
)
from countersign.verify import ApprovalRequired, Verifier


class Sent:
    """A tool that keeps what it was run with."""

    def __init__(self, client: Client, **options: Any) -> None:
        self.ran: list[dict[str, Any]] = []

        @client.guard("send_email", **options)
        def send_email(to: str, text: str = "hello") -> str:
            self.ran.append({"to": to, "text": text})
            return "sent"

        self.call = send_email


@pytest.fixture
def client(gateway: Gateway, session: str) -> Client:
    return Client(gateway.url, key=gateway.key, session_id=session, reach_seconds=0.5)


def status_of(gateway: Gateway, question: dict[str, Any]) -> str:
    return str(gateway.ask("GET", f"/v1/approvals/{question['approval_id']}")["status"])


def test_an_approved_call_runs_once_and_its_outcome_is_reported(gateway: Gateway, client: Client, session: str) -> None:
    sent = Sent(client)
    with gateway.answering(session, "once"):
        assert sent.call("ana@example.org") == "sent"
    assert sent.ran == [{"to": "ana@example.org", "text": "hello"}]
    (call,) = gateway.calls(session)
    assert gateway.trace(call["call_id"])["outcome"]["failed"] is False


def test_a_harmless_call_runs_without_a_question(client: Client) -> None:
    ran = []

    @client.guard("terminal")
    def terminal(command: str) -> None:
        ran.append(command)

    terminal("ls")
    assert ran == ["ls"]


def test_a_denied_call_does_not_run(gateway: Gateway, client: Client, session: str) -> None:
    sent = Sent(client)
    with gateway.answering(session, "deny", note="not today"), pytest.raises(Denied, match="not today") as denied:
        sent.call("ana@example.org")
    assert sent.ran == []
    assert denied.value.call is not None and denied.value.call.decision is not None
    assert denied.value.call.decision.note == "not today"


def test_a_refused_call_does_not_run(client: Client) -> None:
    with pytest.raises(Refused):
        client.guard("terminal")(lambda command: pytest.fail("it ran"))("rm -rf /")


def test_edited_arguments_are_those_that_run(gateway: Gateway, client: Client, session: str) -> None:
    sent = Sent(client)
    edited = {"to": "bo@example.org", "text": "edited"}
    with gateway.answering(session, "once", args=edited):
        sent.call("ana@example.org", "draft")
    assert sent.ran == [edited]


@pytest.mark.parametrize("edited", [{"to": "a@example.org"}, {"to": "a@example.org", "text": "x", "bcc": "eve@example.org"}])
def test_edited_arguments_that_do_not_fit_run_nothing(
    edited: dict[str, Any], gateway: Gateway, client: Client, session: str
) -> None:
    sent = Sent(client)
    with gateway.answering(session, "once", args=edited), pytest.raises(Unfit):
        sent.call("ana@example.org", "draft")
    assert sent.ran == []


def test_a_call_that_takes_no_changes_is_not_offered_to_be_edited(gateway: Gateway, client: Client, session: str) -> None:
    sent = Sent(client, editable=False)
    with gateway.answering(session, "once") as answered:
        sent.call("ana@example.org")
    assert gateway.ask("GET", f"/v1/approvals/{answered[0]['approval_id']}")["editable"] is False


def test_changing_the_arguments_while_a_person_decides_has_no_effect(
    gateway: Gateway, client: Client, session: str
) -> None:
    ran, files = [], ["notes.txt"]

    @client.guard("send_email")
    def send(to: str, files: list[str]) -> None:
        ran.append(files)

    thread = threading.Thread(target=send, args=("ana@example.org", files))
    thread.start()
    gateway.next_question(session)
    files.append("/etc/shadow")
    gateway.answer(session, "once")
    thread.join()
    assert ran == [["notes.txt"]]


def test_large_integers_arrive_as_they_are(gateway: Gateway, client: Client, session: str) -> None:
    ran = []

    @client.guard("send_email")
    def send(to: str, chat: int) -> None:
        ran.append(chat)

    with gateway.answering(session, "once"):
        send("ana@example.org", 2**63 + 1)
    assert ran == [2**63 + 1]
    assert gateway.trace(gateway.calls(session)[0]["call_id"])["args"]["chat"] == 2**63 + 1


@pytest.mark.parametrize("value", [object(), {1: 2}, float("nan"), b"x", {"a": {1, 2}}])
def test_what_is_no_json_is_an_error_and_nothing_is_asked(
    value: Any, gateway: Gateway, client: Client, session: str
) -> None:
    with pytest.raises(TypeError, match="not a JSON value"):
        Sent(client).call(value)
    assert gateway.calls(session) == []


@pytest.mark.parametrize("text", ["x" * (256 * 1024), "\ud800"])
def test_what_cannot_be_shown_does_not_run(text: str, gateway: Gateway, client: Client, session: str) -> None:
    with pytest.raises(NotRun):
        Sent(client).call("ana@example.org", text)
    assert gateway.calls(session) == []


def test_the_token_is_passed_on_request_and_is_good_for_this_call_alone(
    gateway: Gateway, client: Client, session: str
) -> None:
    tokens = []

    @client.guard("send_email", pass_token="approval")
    def send(to: str, approval: str | None = None) -> None:
        tokens.append(approval)

    with gateway.answering(session, "once"):
        send("ana@example.org")
    verifier = Verifier(client.jwks(), "tool:send_email")
    with pytest.raises(ApprovalRequired):
        verifier.verify(tokens[0], tool="send_email", session=session, arguments={"to": "eve@example.org"})
    verifier.verify(tokens[0], tool="send_email", session=session, arguments={"to": "ana@example.org"})
    assert tokens[0] not in repr(client) and tokens[0] not in repr(client.__dict__)


def test_a_caller_cannot_pass_a_token_of_its_own(gateway: Gateway, client: Client, session: str) -> None:
    tokens = []

    @client.guard("terminal", pass_token="approval")
    def run(command: str, approval: str | None = None) -> None:
        tokens.append(approval)

    run("ls", approval="forged")
    assert tokens == [None]


def test_injected_arguments_are_no_part_of_the_call(gateway: Gateway, client: Client, session: str) -> None:
    context, ran = object(), []

    @client.guard("terminal", injected=("context",))
    def run(command: str, context: object) -> None:
        ran.append((command, context))

    run("ls", context)
    assert ran == [("ls", context)]
    assert gateway.trace(gateway.calls(session)[0]["call_id"])["args"] == {"command": "ls"}


def test_one_approval_of_two_equal_calls_runs_one(gateway: Gateway, client: Client, session: str) -> None:
    sent, ends = Sent(client), []

    def work() -> None:
        try:
            ends.append(sent.call("ana@example.org"))
        except AlreadyUsed:
            ends.append("used")

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: len(gateway.calls(session)) == 2, "two calls")
    gateway.answer(session, "once")
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["sent", "used"] and len(sent.ran) == 1


def test_a_failure_is_reported_and_passed_on(gateway: Gateway, client: Client, session: str) -> None:
    @client.guard("terminal")
    def run(command: str) -> None:
        raise KeyError("secret")

    with pytest.raises(KeyError):
        run("ls")
    outcome = gateway.trace(gateway.calls(session)[0]["call_id"])["outcome"]
    assert outcome["failed"] is True and outcome["summary"] == "KeyError"


def test_the_single_steps(gateway: Gateway, client: Client, session: str) -> None:
    call = client.submit("send_email", {"to": "ana@example.org"})
    assert call.is_waiting and not call.may_run
    gateway.answer(session, "once")
    call = client.wait(call)
    client.consume(call)
    with pytest.raises(AlreadyUsed):
        client.consume(call)
    client.outcome(call, failed=False, summary="sent")
    other = client.submit("send_email", {"to": "bo@example.org"})
    client.withdraw(other, "not needed")
    assert client.wait(other).status == "withdrawn"


def test_a_question_that_is_withdrawn_elsewhere_does_not_run(gateway: Gateway, client: Client, session: str) -> None:
    sent = Sent(client)

    def withdraw() -> None:
        gateway.next_question(session)
        with Client(gateway.url, key=gateway.key, session_id=session) as other:
            other.withdraw(other.submit("send_email", {"to": "ana@example.org", "text": "hello"}))

    thread = threading.Thread(target=withdraw)
    thread.start()
    # The other call joined the question of this one, and takes the whole question back.
    with pytest.raises(Withdrawn):
        sent.call("ana@example.org")
    thread.join()
    assert sent.ran == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_gateway_that_restarts_while_a_question_waits_loses_nothing(
    how: signal.Signals, own_gateway: Gateway, session: str
) -> None:
    gateway = own_gateway
    client = Client(gateway.url, key=gateway.key, session_id=session)
    sent, results = Sent(client), []
    thread = threading.Thread(target=lambda: results.append(sent.call("ana@example.org")))
    thread.start()
    gateway.next_question(session)
    gateway.stop(how)
    gateway.start()
    gateway.answer(session, "once")
    thread.join(20)
    assert results == ["sent"] and len(sent.ran) == 1 and len(gateway.calls(session)) == 1


def test_a_gateway_that_is_away_runs_nothing(gateway: Gateway, session: str) -> None:
    sent = Sent(Client("http://127.0.0.1:9", key=gateway.key, reach_seconds=0.3))
    with pytest.raises(GatewayAway, match="could not be reached"):
        sent.call("ana@example.org")
    assert sent.ran == []


def test_a_gateway_that_never_comes_back_runs_nothing(own_gateway: Gateway, session: str) -> None:
    gateway, ends = own_gateway, []
    sent = Sent(Client(gateway.url, key=gateway.key, session_id=session, away_seconds=0.5))

    def work() -> None:
        try:
            sent.call("ana@example.org")
        except GatewayAway as away:
            ends.append(away)

    thread = threading.Thread(target=work)
    thread.start()
    gateway.next_question(session)
    gateway.stop(signal.SIGKILL)
    thread.join(20)
    assert len(ends) == 1 and sent.ran == []


def test_ctrl_c_withdraws_the_question(
    gateway: Gateway, client: Client, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, questions = Sent(client), []

    def press() -> None:
        questions.append(gateway.next_question(session))
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        sent.call("ana@example.org")
    thread.join()
    assert status_of(gateway, questions[0]) == "withdrawn" and sent.ran == []


def test_a_key_that_may_not_ask_runs_nothing(gateway: Gateway, session: str) -> None:
    key = gateway.new_key("approver", "bo")
    sent = Sent(Client(gateway.url, key=key, session_id=session, reach_seconds=0.3))
    with pytest.raises(Rejected) as rejected:
        sent.call("ana@example.org")
    assert rejected.value.status == 403 and sent.ran == []


def test_the_socket_of_a_home_is_found(gateway: Gateway, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSIGN_HOME", str(gateway.home))
    monkeypatch.setenv("COUNTERSIGN_KEY", gateway.key)
    with Client(session_id=session) as client:
        assert client.confirm("terminal", {"command": "ls"}).status == "allowed"


def test_without_an_address_or_a_key_nothing_is_guessed(
    gateway: Gateway, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERSIGN_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match="no gateway is named"):
        Client(key="cs_agent_x")
    with pytest.raises(ConfigError, match="no key is given"):
        Client(gateway.url)
    file = tmp_path / "key"
    file.write_text(gateway.key + "\n")
    with Client(gateway.url, key_file=file) as client:
        assert client.confirm("terminal", {"command": "ls"}).may_run


def test_functions_whose_arguments_have_no_names_cannot_be_guarded(client: Client) -> None:
    with pytest.raises(TypeError, match="no names"):
        client.guard("x")(lambda *rest: None)
    with pytest.raises(TypeError, match="AsyncClient"):
        client.guard("x")(asyncio.sleep)


def test_parameters_of_every_kind_arrive(gateway: Gateway, client: Client, session: str) -> None:
    ran = []

    @client.guard("terminal")
    def run(command: str, /, cwd: str = ".", *, deep: bool = False, **more: int) -> None:
        ran.append((command, cwd, deep, more))

    run("ls", deep=True, limit=3)
    assert ran == [("ls", ".", True, {"limit": 3})]
    with pytest.raises(TypeError, match="the same name"):
        run("ls", command="rm")


# The async client.


def test_async_calls_run_edited_or_not_at_all(gateway: Gateway, session: str) -> None:
    ran: list[Any] = []

    async def go() -> None:
        async with AsyncClient(gateway.url, key=gateway.key, session_id=session) as client:

            @client.guard("send_email")
            async def send(to: str) -> str:
                ran.append(to)
                return "sent"

            with gateway.answering(session, "once", args={"to": "bo@example.org"}):
                assert await send("ana@example.org") == "sent"
            with gateway.answering(session, "deny"), pytest.raises(Denied):
                await send("eve@example.org")

    asyncio.run(go())
    assert ran == ["bo@example.org"]


def test_a_cancelled_task_withdraws_its_question(gateway: Gateway, session: str) -> None:
    async def go() -> dict[str, Any]:
        async with AsyncClient(gateway.url, key=gateway.key, session_id=session) as client:
            task = asyncio.create_task(client.confirm("send_email", {"to": "ana@example.org"}))
            question = await asyncio.to_thread(gateway.next_question, session)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return question

    question = asyncio.run(go())
    assert status_of(gateway, question) == "withdrawn"


def test_fifty_calls_at_once(gateway: Gateway, session: str) -> None:
    async def go() -> int:
        async with AsyncClient(gateway.url, key=gateway.key, session_id=session) as client:
            calls = (client.confirm("terminal", {"command": f"ls {number}"}) for number in range(50))
            return len({call.call_id for call in await asyncio.gather(*calls)})

    begun = time.monotonic()
    assert asyncio.run(go()) == 50
    assert time.monotonic() - begun < 20

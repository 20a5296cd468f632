"""An app of Slack's own SDK: posts a button, opens a dialog on the press, changes its message, answers a command.

library.py URL BOT_TOKEN APP_TOKEN CHANNEL USER
"""

import sys
import threading

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

URL, BOT_TOKEN, APP_TOKEN, CHANNEL, USER = sys.argv[1:6]

client = WebClient(token=BOT_TOKEN, base_url=URL)
app = App(client=client, token=BOT_TOKEN)
done = threading.Event()


def text(words):
    return {"type": "plain_text", "text": words}


def refused(error, call):
    try:
        call()
    except SlackApiError as refused:
        assert refused.response["error"] == error, refused
        return
    raise SystemExit(f"{error} was not refused")


@app.action("once")
def pressed(ack, body, client):
    ack()
    element = {"type": "plain_text_input", "action_id": "words"}
    client.views_open(
        trigger_id=body["trigger_id"],
        view={
            "type": "modal",
            "callback_id": "where",
            "title": text("Where?"),
            "submit": text("Send"),
            "blocks": [{"type": "input", "block_id": "words", "label": text("Where"), "element": element}],
        },
    )
    refused("exchanged_trigger_id", lambda: client.views_open(
        trigger_id=body["trigger_id"],
        view={"type": "modal", "title": text("Again?"), "blocks": [{"type": "divider"}]},
    ))


@app.view("where")
def submitted(ack, view, client):
    ack()
    words = view["state"]["values"]["words"]["words"]["value"]
    client.chat_update(channel=CHANNEL, ts=card["ts"], text=f"Done: {words}")


@app.command("/countersign")
def typed(ack, command, respond):
    ack()
    respond(text=f"you typed {command['text']}", response_type="ephemeral")


@app.event("message")
def said(event):
    if event["text"] == "goodbye" and event["channel_type"] == "im":
        done.set()


assert client.auth_test()["bot_id"] == "B0COUNTER"
assert client.users_info(user=USER)["user"]["name"] == "ana"
refused("channel_not_found", lambda: client.chat_postMessage(channel="C0NOWHERE", text="x"))
refused("invalid_blocks", lambda: client.chat_postMessage(
    channel=CHANNEL, text="x", blocks=[{"type": "divider"}] * 51))
button = {"type": "button", "action_id": "once", "value": "1", "text": text("Allow Once")}
card = client.chat_postMessage(
    channel=CHANNEL,
    text="Approval needed",
    blocks=[{"type": "actions", "block_id": "row", "elements": [button]}],
    metadata={"event_type": "sdk", "event_payload": {"key": "k1"}},
)
history = client.conversations_history(channel=CHANNEL, include_all_metadata=True, limit=10)
assert history["messages"][0]["metadata"]["event_payload"]["key"] == "k1", history
SocketModeHandler(app, APP_TOKEN, web_client=client).connect()
assert done.wait(60), "nobody said goodbye"

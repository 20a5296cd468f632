"""A bot of matrix-nio: signs in, joins, sends a card, reacts to it, waits for a reaction, edits its message.

library.py URL USER PASSWORD ROOM
"""

import asyncio
import sys

from nio import AsyncClient, JoinError, LoginResponse, RoomSendError, RoomSendResponse, SyncResponse

URL, USER, PASSWORD, ROOM = sys.argv[1:]


async def main():
    client = AsyncClient(URL, USER)
    try:
        wrong = await client.login("wrong")
        assert not isinstance(wrong, LoginResponse), wrong
        assert isinstance(await client.login(PASSWORD), LoginResponse)
        invited = await client.sync(timeout=0)
        assert isinstance(invited, SyncResponse) and ROOM in invited.rooms.invite, invited
        assert not isinstance(await client.join(ROOM), JoinError)
        card = {"msgtype": "m.text", "body": "Approval needed", "m.mentions": {}}
        sent = await client.room_send(ROOM, "m.room.message", card, tx_id="card")
        again = await client.room_send(ROOM, "m.room.message", card, tx_id="card")
        assert isinstance(sent, RoomSendResponse) and sent.event_id == again.event_id, (sent, again)
        big = {"msgtype": "m.text", "body": "x" * 70000}
        refused = await client.room_send(ROOM, "m.room.message", big)
        assert isinstance(refused, RoomSendError) and refused.status_code == "M_TOO_LARGE", refused
        seen = {"m.relates_to": {"rel_type": "m.annotation", "event_id": sent.event_id, "key": "👀"}}
        assert isinstance(await client.room_send(ROOM, "m.reaction", seen), RoomSendResponse)
        twice = await client.room_send(ROOM, "m.reaction", seen)
        assert isinstance(twice, RoomSendError) and twice.status_code == "M_DUPLICATE_ANNOTATION", twice
        await client.room_typing(ROOM, True)
        while True:
            new = await client.sync(timeout=10000)
            assert isinstance(new, SyncResponse), new
            room = new.rooms.join.get(ROOM)
            for event in room.timeline.events if room else []:
                content = event.source["content"].get("m.relates_to", {})
                if event.sender == USER or content.get("event_id") != sent.event_id:
                    continue
                assert content["key"] == "✅", content
                text = f"Approved by {event.sender}"
                edit = {
                    "msgtype": "m.text",
                    "body": f"* {text}",
                    "m.new_content": {"msgtype": "m.text", "body": text},
                    "m.relates_to": {"rel_type": "m.replace", "event_id": sent.event_id},
                }
                assert isinstance(await client.room_send(ROOM, "m.room.message", edit), RoomSendResponse)
                return
    finally:
        await client.close()


asyncio.run(main())

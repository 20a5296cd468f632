"""A bot of python-telegram-bot: sends buttons, waits for the press, asks for words, edits its message.

library.py URL TOKEN CHAT
"""

import asyncio
import sys

from telegram import Bot, BotCommand, ForceReply, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import MessageLimit
from telegram.error import BadRequest

URL, TOKEN, CHAT = sys.argv[1], sys.argv[2], int(sys.argv[3])


async def main():
    bot = Bot(TOKEN, base_url=f"{URL}/bot")
    async with bot:
        assert bot.bot.is_bot and bot.username == "countersign_bot", bot.bot
        await bot.set_my_commands([BotCommand("pending", "list what is waiting")])
        assert [it.command for it in await bot.get_my_commands()] == ["pending"]
        try:
            await bot.send_message(CHAT, "x" * (MessageLimit.MAX_TEXT_LENGTH + 1))
            raise SystemExit("a message that is too long was taken")
        except BadRequest as refused:
            assert "too long" in str(refused), refused
        buttons = InlineKeyboardMarkup([[InlineKeyboardButton("Allow Once", callback_data="once")]])
        card = await bot.send_message(CHAT, "Approval needed", reply_markup=buttons)
        offset, asked = None, None
        while True:
            for update in await bot.get_updates(offset=offset, timeout=10, allowed_updates=["message", "callback_query"]):
                offset = update.update_id + 1
                if update.callback_query:
                    assert update.callback_query.message.message_id == card.message_id
                    await update.callback_query.answer("thank you")
                    asked = await card.reply_text("Where?", reply_markup=ForceReply(selective=True))
                elif asked and update.message.reply_to_message.message_id == asked.message_id:
                    await card.edit_text(f"Done: {update.message.text}")
                    await bot.get_updates(offset=offset, timeout=0)
                    return


asyncio.run(main())

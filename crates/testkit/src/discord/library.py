"""A bot of discord.py: posts a button, opens a dialog on the press, changes its message, answers a command,
and hears a message after its connection was cut.

library.py URL GATEWAY TOKEN CHANNEL
"""

import asyncio
import sys

import discord
import yarl
from discord import app_commands

URL, GATEWAY, TOKEN, CHANNEL = sys.argv[1:5]

discord.http.Route.BASE = URL.rstrip("/")
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(GATEWAY)

client = discord.Client(intents=discord.Intents(guild_messages=True, dm_messages=True))
tree = app_commands.CommandTree(client)
posted = {}


class Where(discord.ui.Modal, title="Where?"):
    words = discord.ui.TextInput(label="Where")

    async def on_submit(self, interaction):
        await interaction.response.send_message("thank you", ephemeral=True)
        await posted["card"].edit(content=f"Done: {self.words.value}", view=None)


class Card(discord.ui.View):
    @discord.ui.button(label="Allow Once", custom_id="once", style=discord.ButtonStyle.success)
    async def once(self, interaction, button):
        await interaction.response.send_modal(Where())
        try:
            await interaction.response.send_message("again")
            raise SystemExit("a second first answer was sent")
        except discord.InteractionResponded:
            pass


@tree.command(name="pending", description="list what is waiting")
async def pending(interaction):
    await interaction.response.defer(ephemeral=True)
    await interaction.followup.send("nothing waits", ephemeral=True)


@client.event
async def on_message(message):
    if message.author != client.user and message.content == "goodbye":
        await client.close()


@client.event
async def on_ready():
    assert client.user.name == "countersign", client.user
    channel = client.get_partial_messageable(int(CHANNEL))
    try:
        await channel.send("x" * 2001)
        raise SystemExit("a message that is too long was taken")
    except discord.HTTPException as refused:
        assert refused.status == 400, refused
    view = Card(timeout=None)
    posted["card"] = await channel.send("Approval needed", view=view, nonce="card-1")
    await tree.sync()


asyncio.run(client.start(TOKEN))

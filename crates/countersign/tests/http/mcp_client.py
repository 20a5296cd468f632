"""Reads what waits through an MCP server, with the Python package `mcp`, and prints its tools.

    EXPECTED=APPROVAL python mcp_client.py COMMAND...

Ends with 0 if the approval is listed and can be explained.
"""

from __future__ import annotations

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    """Connects as any program does."""
    expected = os.environ["EXPECTED"]
    server = StdioServerParameters(
        command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ)
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        waiting = await session.call_tool("list_waiting_approvals", {})
        assert expected in waiting.content[0].text, waiting
        card = await session.call_tool("explain_approval", {"id": expected})
        assert "rm -rf" in card.content[0].text, card
        print(*sorted(tool.name for tool in tools.tools))


asyncio.run(main())

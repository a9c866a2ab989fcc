"""The official Python client of MCP publishes a packet with `svc mcp`, with consent."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ElicitResult

NODE, SVC, HOME = sys.argv[1:]
asked = []


async def consent(_context, params):
    asked.append(params.message)
    return ElicitResult(action="accept", content={"send": True})


async def main() -> None:
    server = StdioServerParameters(command=NODE, args=[SVC, "mcp", "--home", HOME])
    async with (
        stdio_client(server) as (read, write),
        ClientSession(read, write, elicitation_callback=consent) as session,
    ):
        await session.initialize()
        result = await session.call_tool(
            "publish_packet", {"title": "T", "summary": "S", "body": "B"}
        )
        packet = (result.structured_content or {}).get("artifact", {}).get("id")
        print(f"asked {len(asked)}, published {packet}")


asyncio.run(main())

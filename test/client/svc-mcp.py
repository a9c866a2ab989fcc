"""The official Python client of MCP publishes a packet with `svc mcp`, with consent."""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

NODE, SVC, HOME, MODE = sys.argv[1:]
asked = []


async def consent(_context, params):
    asked.append(params.message)
    return ElicitResult(action="accept", content={"send": True})


async def main() -> None:
    server = StdioServerParameters(command=NODE, args=[SVC, "mcp", "--home", HOME])
    async with Client(server, mode=MODE, elicitation_callback=consent) as client:
        result = await client.call_tool(
            "publish_packet", {"title": "T", "summary": "S", "body": "B"}
        )
        packet = (result.structured_content or {}).get("artifact", {}).get("id")
        print(f"{client.protocol_version}: asked {len(asked)}, published {packet}")


asyncio.run(main())

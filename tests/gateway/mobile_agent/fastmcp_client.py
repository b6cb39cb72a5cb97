"""Calls tools with FastMCP's own client, in a session for each call, as UFO does.

    python fastmcp_client.py    reads lines `{"url":, "tool":, "arguments":}`, prints a line for each answer

Runs in an environment of its own: FastMCP 2 needs another version of the MCP SDK than droidgate. It reads
each answer as UFO's client does: from `data`, with what is not true as nothing.
"""

import asyncio
import json
import sys
import warnings

warnings.simplefilter("ignore")

from fastmcp import Client  # type: ignore[import-not-found]  # noqa: E402 - importing it warns


async def call(url: str, tool: str, arguments: dict[str, object]) -> dict[str, object]:
    """Call a tool and return whether it is an error, and its value or its text."""
    async with Client(url, timeout=60) as client:
        await client.list_tools()
        result = await client.call_tool(tool, arguments, raise_on_error=False)
    if result.is_error:
        return {"is_error": True, "value": result.content[0].text}
    return {"is_error": False, "value": result.data or None}


for line in sys.stdin:
    asked = json.loads(line)
    answer = asyncio.run(call(asked["url"], asked["tool"], asked["arguments"]))
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()

"""A program that serves fixture tools on standard input and output, and prints where it should not.

python stdio_server.py [results]    serves `ResultTools` with that word
"""

import sys
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from droidgate.serving.server_application import McpServer
from droidgate.serving.stdio_transport import serve_stdio
from droidgate.serving.tools import ToolCall, ToolOutcome
from gateway.serving.fixture_tools import NOTHING, RUNS, FixtureTools, ResultTools, text


async def printing(_tools: FixtureTools, _call: ToolCall) -> ToolOutcome:
    print("this is not part of the protocol")  # noqa: T201
    return text("printed")


served = ResultTools() if "results" in sys.argv else FixtureTools({**RUNS, "printing": (printing, NOTHING)})
anyio.run(serve_stdio, McpServer(served))

"""A program that serves fixture tools on standard input and output, and prints where it should not.

python stdio_server.py [results]    serves `ResultTools` with that word
python stdio_server.py http         serves over HTTP, and prints the URL on standard error
"""

import sys
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from droidgate.cli.interrupts import catch_ctrl_c
from droidgate.serving.http_transport import parse_address
from droidgate.serving.server_process import serve_tools
from droidgate.serving.tools import ToolCall, ToolOutcome
from gateway.serving.fixture_tools import NOTHING, RUNS, FixtureTools, ResultTools, text


async def printing(_tools: FixtureTools, _call: ToolCall) -> ToolOutcome:
    print("this is not part of the protocol")  # noqa: T201
    return text("printed")


async def endless(_tools: FixtureTools, _call: ToolCall) -> ToolOutcome:
    print("runs", file=sys.stderr, flush=True)  # noqa: T201
    await anyio.sleep_forever()
    raise AssertionError


runs = {**RUNS, "printing": (printing, NOTHING), "endless": (endless, NOTHING)}
catch_ctrl_c()
try:
    serve_tools(
        ResultTools() if "results" in sys.argv else FixtureTools(runs),
        address=parse_address("0") if "http" in sys.argv else None,
        needs_token=False,
        on_listening=lambda listening: print(listening.url, file=sys.stderr, flush=True),  # noqa: T201
    )
except KeyboardInterrupt:
    sys.exit(130)

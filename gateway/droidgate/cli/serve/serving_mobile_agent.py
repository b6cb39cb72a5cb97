"""What `serve-mobile-agent` does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Literal

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.pages import print_note
from droidgate.computer.optional_packages import need

if TYPE_CHECKING:
    from collections.abc import Sequence

    from droidgate.serving.mobile_agent.mobile_agent_process import ListeningServer
    from droidgate.serving.mobile_agent.mobile_agent_server import Extension

_KEY: Final = "UFO_MCP_API_KEY"
"""UFO's variable: from 3.0.8 on its clients send the value as their bearer token."""

_ALL: Final = "all"


def serve_mobile_agent_and_report(
    serials: Sequence[str],
    *,
    server: Literal["data", "action", "both"],
    host: str,
    data_port: int,
    action_port: int,
    seconds: float,
    needs_token: bool,
    extensions: Sequence[str],
) -> int:
    """Serve until a signal ends it.

    Raises:
        UsageError: an address, the key or a choice cannot be used, or the MCP SDK is not installed.
        InputError: a token's file cannot be used.
    """
    need("mcp", "serve")
    from droidgate.serving.mobile_agent.mobile_agent_process import serve_mobile_agent

    serve_mobile_agent(
        serials,
        server=server,
        host=host,
        data_port=data_port,
        action_port=action_port,
        seconds=seconds,
        extensions=_chosen(extensions),
        token=os.environ.get(_KEY) or needs_token,
        on_listening=_print_address,
    )
    return ExitCode.OK


def _chosen(names: Sequence[str]) -> Sequence[Extension]:
    from droidgate.serving.mobile_agent.mobile_agent_server import EXTENSIONS

    return [name for name in EXTENSIONS if name in names or _ALL in names]


def _print_address(listening: ListeningServer) -> None:
    from droidgate.serving.mobile_agent.mobile_agent_server import NAMES

    print_note(f"{NAMES[listening.role]}: {listening.url}")
    if listening.token_file is not None:
        print_note(f"token: {listening.token_file}")
    elif os.environ.get(_KEY):
        print_note(f"token: the value of {_KEY}")

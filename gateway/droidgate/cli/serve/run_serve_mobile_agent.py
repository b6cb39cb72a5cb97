"""What `serve-mobile-agent` does."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import print_hint
from droidgate.cli.output.pages import print_note, print_warning
from droidgate.cli.output.unread_errors import errors_that_nobody_need_read
from droidgate.cli.output.waiting_line import run_with_steps_shown
from droidgate.cli.serve.serve_options import ServeMobileAgent
from droidgate.computer.optional_packages import need
from droidgate.devices.device import connect_device
from droidgate_mappings.model.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from droidgate.serving.mobile_agent.mobile_agent_process import ListeningServer
    from droidgate.serving.mobile_agent.mobile_agent_server import Extension

_KEY: Final = "UFO_MCP_API_KEY"
"""UFO's variable: from 3.0.8 on its clients send the value as their bearer token."""

_ALL: Final = "all"


def serve_mobile_agent_and_report(options: ServeMobileAgent) -> int:
    """Serve until a signal ends it.

    Raises:
        UsageError: an address, the key or a choice cannot be used, or the MCP SDK is not installed.
        InputError: a token's file cannot be used.
    """
    need("mcp", "serve")
    from droidgate.serving.mobile_agent.mobile_agent_process import serve_mobile_agent

    for serial in options.serials or (None,):
        try:
            run_with_steps_shown(partial(connect_device, serial))
        except DeviceError as error:
            print_warning(f"{error.located}; each call looks for it again")
            print_hint(error)
    with errors_that_nobody_need_read():
        serve_mobile_agent(
            options.serials or (),
            server=options.server.value,
            host=options.host,
            data_port=options.data_port,
            action_port=options.action_port,
            seconds=options.deadline,
            extensions=_chosen_extensions(options.extend or ()),
            token=os.environ.get(_KEY) or options.token,
            on_listening=_print_address,
        )
    return ExitCode.OK


def _chosen_extensions(names: Sequence[str]) -> Sequence[Extension]:
    from droidgate.serving.mobile_agent.mobile_agent_server import EXTENSIONS

    return [name for name in EXTENSIONS if name in names or _ALL in names]


def _print_address(listening: ListeningServer) -> None:
    from droidgate.serving.mobile_agent.mobile_agent_server import NAMES

    print_note(f"{NAMES[listening.role]}: {listening.url}")
    if listening.token_file is not None:
        print_note(f"token: {listening.token_file}")
    elif os.environ.get(_KEY):
        print_note(f"token: the value of {_KEY}")

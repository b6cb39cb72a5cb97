"""What `serve` does.

Standard output is the protocol's: nothing here prints to it but `--plan`.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import print_hint
from droidgate.cli.output.pages import print_note, print_warning
from droidgate.cli.output.unread_errors import errors_that_nobody_need_read
from droidgate.cli.output.waiting_line import run_with_steps_shown
from droidgate.cli.serve.serve_options import Serve
from droidgate.computer.optional_packages import need
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.text.counted_nouns import amount

if TYPE_CHECKING:
    from droidgate.serving.phone_tools import PhoneTools
    from droidgate.serving.server_process import Listening
    from droidgate.serving.tool_search import SearchTools


def serve(options: Serve) -> int:
    """Serve until the client leaves or a signal ends it, or print what that would cost a model.

    Raises:
        DeviceError: a phone is not there, or fails.
        UsageError: the address cannot be used, or the MCP SDK is not installed.
        InputError: the token's file or the user's policy cannot be used.
        WriteError: the trace cannot be written, or there is a file of its name.
    """
    if options.as_json and not options.plan:
        raise UsageError("--json needs --plan", hint="a server prints the protocol only")
    if options.no_token and options.http is None:
        raise UsageError("--no-token needs --http", hint="only a server over HTTP has a token")
    # What the start makes stays as long as the server; a collection in it takes a twentieth of the start.
    gc.disable()
    try:
        need("mcp", "serve")
        if not options.plan:
            return _serve(options)
        from droidgate.cli.serve.run_serve_plan import print_plan

        provider = print_plan(_tools_of(options), options)
        if not options.as_json:
            _print_mode(provider, options)
        return ExitCode.OK
    finally:
        gc.enable()


def _tools_of(options: Serve) -> PhoneTools:
    from droidgate.serving.server_process import phone_tools

    return phone_tools(
        options.serials or (),
        select=options.select or (),
        allow=options.allow or (),
        screens=options.screens,
        files=options.files or (),
        app_instructions=options.app_instructions,
        deadline=options.deadline,
    )


def _serve(options: Serve) -> int:
    from droidgate.serving.server_process import http_address, serve_tools
    from droidgate.serving.tool_search import SearchTools

    address = http_address(options.http)
    tools = _tools_of(options)
    # A phone may come later: a client that starts with the computer would otherwise have to be restarted.
    with _log_lines_printed():
        run_with_steps_shown(tools.look)
    for error in tools.problems:
        print_hint(error)
    provider = SearchTools(tools, always=options.search)
    print_note(f"serving {amount(len(tools.snapshot().tools), 'tool')}")
    _print_mode(provider, options)
    if address is None and sys.stdin is not None and sys.stdin.isatty():
        print_note(
            "waiting for an MCP client on standard input, which is a terminal; "
            "`droidgate install-client CLIENT` lets a client start this command; Ctrl-C ends it"
        )
    gc.freeze()
    gc.enable()
    with errors_that_nobody_need_read():
        serve_tools(provider, address=address, needs_token=not options.no_token, on_listening=_print_address)
    return ExitCode.OK


class _Printer(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        print_warning(record.getMessage())


@contextlib.contextmanager
def _log_lines_printed() -> Iterator[None]:
    """Print what the server logs while a waiting line may be shown, which `logging` does not know of."""
    logger, printer = logging.getLogger("droidgate.serving"), _Printer()
    logger.addHandler(printer)
    try:
        yield
    finally:
        logger.removeHandler(printer)


def _print_mode(provider: SearchTools, options: Serve) -> None:
    from droidgate.serving.tool_search import MANY_TOOLS

    if provider.is_searched and options.search is None:
        print_note(
            f"search mode, since there are more than {MANY_TOOLS} tools: a client gets three that find, "
            "describe and call them; --select APP serves fewer, --all serves every tool by itself"
        )


def _print_address(listening: Listening) -> None:
    print_note(f"listening on {listening.url}")
    if listening.token_file is not None:
        print_note(f"token: {listening.token_file}")

"""What `serve` does, and its document.

Standard output is the protocol's: nothing here prints to it but `--plan`.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import print_hint
from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate.cli.output.pages import Block, Line, Table, print_note, print_warning
from droidgate.cli.output.reports import Report
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


class PlannedAppPart(Document):
    """The tools of one app.

    Attributes:
        app: Its package, after its phone's serial number and a slash where several phones are served.
        tools: How many.
        tokens: Estimate of what a model is given for them: the bytes of their JSON divided by four.
        output_tokens: How many of these are for the schemas of outputs, which not every client gives to it.
    """

    app: str
    tools: int
    tokens: int
    output_tokens: int


class ServedPart(Document):
    """What a client is given.

    Attributes:
        mode: `all` for every tool by itself, `search` for three that find, describe and call the others.
        tools: How many.
        tokens: Estimate of what a model is given for them.
    """

    mode: Literal["all", "search"]
    tools: int
    tokens: int


class ServePlanDocument(PublishedDocument, schema="droidgate.serve-plan/1"):
    """What serving the apps of phones costs a model.

    Attributes:
        apps: The apps, the most expensive first.
        tools: How many tools all of them have.
        tokens: Estimate for all of them.
        output_tokens: How many of these are for the schemas of outputs.
        served: What a client is given.
    """

    apps: tuple[PlannedAppPart, ...]
    tools: int
    tokens: int
    output_tokens: int
    served: ServedPart


_COLUMNS: Final = ("APP", "TOOLS", "TOKENS", "OUTPUTS")


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
        return _print_plan(options) if options.plan else _serve(options)
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


def _print_plan(options: Serve) -> int:
    from droidgate.serving.server_application import plan_tokens
    from droidgate.serving.tool_search import SearchTools

    tools = _tools_of(options)
    run_with_steps_shown(lambda: tools.look(strict=True))
    provider = SearchTools(tools, always=options.search)
    apps = plan_tokens(tools.snapshot().tools)
    served = plan_tokens(provider.snapshot().tools)
    count, tokens = sum(app.tools for app in apps), sum(app.tokens for app in apps)
    output_tokens = sum(app.output_tokens for app in apps)
    rows = [(app.group, f"{app.tools:,}", f"{app.tokens:,}", f"{app.output_tokens:,}") for app in apps]
    sums = f"{amount(len(apps), 'app')}, {amount(count, 'tool')}, {amount(tokens, 'token')}"
    explained = (
        f"{sums}, {output_tokens:,} of them for the schemas of outputs, which not every client gives to its "
        "model; a token is about four bytes of a tool's JSON"
    )
    page: list[Block] = [Table(_COLUMNS, rows), Line(explained)] if rows else [Line("no tools")]
    if provider.is_searched:
        cost = amount(sum(app.tokens for app in served), "token")
        page.append(Line(f"in search mode a client gets three tools in their place: {cost}"))
    report = Report(
        lambda: page,
        lambda: ServePlanDocument(
            apps=tuple(PlannedAppPart.of(app, app=app.group) for app in apps),
            tools=count,
            tokens=tokens,
            output_tokens=output_tokens,
            served=ServedPart(
                mode="search" if provider.is_searched else "all",
                tools=sum(app.tools for app in served),
                tokens=sum(app.tokens for app in served),
            ),
        ),
    )
    report.print(options.form)
    if not options.as_json:
        _print_mode(provider, options)
    return ExitCode.OK


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

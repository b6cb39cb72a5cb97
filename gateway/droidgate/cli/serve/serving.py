"""What `serve` does, and its document.

Standard output is the protocol's: nothing here prints to it but `--plan`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import Document, PublishedDocument, print_json
from droidgate.cli.output.pages import Line, Table, amount, print_note, show
from droidgate.computer.optional_packages import need

if TYPE_CHECKING:
    from droidgate.serving.search import SearchTools
    from droidgate.serving.server_process import Listening


class PlannedAppPart(Document):
    """The tools of one app.

    Attributes:
        app: Its package, after its phone's serial number and a slash where several phones are served.
        tools: How many.
        tokens: Estimate of what a model is given for them: the bytes of their JSON divided by four.
    """

    app: str
    tools: int
    tokens: int


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
        served: What a client is given.
    """

    apps: tuple[PlannedAppPart, ...]
    tools: int
    tokens: int
    served: ServedPart


_COLUMNS: Final = ("APP", "TOOLS", "TOKENS")


def plan_and_print(
    serials: Sequence[str], *, select: Sequence[str], search: bool | None, screens: bool, as_json: bool
) -> int:
    """Print what the tools of each app cost a model, and what a client would be served.

    Raises:
        DeviceError: a phone is not there, or fails.
        UsageError: the MCP SDK is not installed.
    """
    need("mcp", "serve")
    from droidgate.serving.search import SearchTools
    from droidgate.serving.server_application import plan_tokens
    from droidgate.serving.server_process import phone_tools

    tools = phone_tools(serials, select=select, screens=screens)
    tools.look(strict=True)
    provider = SearchTools(tools, always=search)
    apps = plan_tokens(tools.snapshot().tools)
    served = plan_tokens(provider.snapshot().tools)
    mode: Literal["all", "search"] = "search" if provider.is_searched else "all"
    count, tokens = sum(app.tools for app in apps), sum(app.tokens for app in apps)
    if as_json:
        shown = sum(app.tools for app in served), sum(app.tokens for app in served)
        print_json(
            ServePlanDocument(
                apps=tuple(PlannedAppPart(app=app.group, tools=app.tools, tokens=app.tokens) for app in apps),
                tools=count,
                tokens=tokens,
                served=ServedPart(mode=mode, tools=shown[0], tokens=shown[1]),
            )
        )
        return ExitCode.OK
    rows = [(app.group, f"{app.tools:,}", f"{app.tokens:,}") for app in apps]
    sums = f"{amount(len(apps), 'app')}, {amount(count, 'tool')}, {amount(tokens, 'token')}"
    show([Table(_COLUMNS, rows), Line(f"{sums}; a token is four bytes of a tool's JSON")])
    _print_mode(provider, search=search)
    return ExitCode.OK


def serve_and_report(  # noqa: PLR0913
    serials: Sequence[str],
    *,
    http: str | None,
    select: Sequence[str],
    search: bool | None,
    screens: bool,
    allow: Sequence[str],
    files: Sequence[Path],
    trace: Path | None,
    app_instructions: bool,
    needs_token: bool,
) -> int:
    """Serve until the client leaves or a signal ends it.

    Raises:
        UsageError: the address cannot be used, or the MCP SDK is not installed.
        InputError: the token's file or the user's policy cannot be used.
        WriteError: the trace cannot be written, or there is a file of its name.
    """
    need("mcp", "serve")
    from droidgate.calls.traces import open_trace
    from droidgate.serving.http import parse_address
    from droidgate.serving.search import SearchTools
    from droidgate.serving.server_process import phone_tools, serve_tools

    address = None if http is None else parse_address(http)
    with open_trace(trace) as steps:
        tools = phone_tools(
            serials,
            select=select,
            allow=allow,
            screens=screens,
            files=files,
            trace=steps,
            app_instructions=app_instructions,
        )
        # A phone may come later: a client that starts with the computer would otherwise have to be restarted.
        tools.look()
        provider = SearchTools(tools, always=search)
        print_note(f"serving {amount(len(tools.snapshot().tools), 'tool')}")
        _print_mode(provider, search=search)
        if address is None and sys.stdin is not None and sys.stdin.isatty():
            print_note(
                "waiting for an MCP client on standard input, which is a terminal; "
                "`droidgate install-client CLIENT` lets a client start this command; Ctrl-C ends it"
            )
        serve_tools(provider, address=address, needs_token=needs_token, on_listening=_print_address)
    return ExitCode.OK


def _print_mode(provider: SearchTools, *, search: bool | None) -> None:
    from droidgate.serving.search import MANY_TOOLS

    if provider.is_searched and search is None:
        print_note(
            f"search mode, since there are more than {MANY_TOOLS} tools: a client gets three that find, "
            "describe and call them; --select APP serves fewer, --all serves every tool by itself"
        )


def _print_address(listening: Listening) -> None:
    print_note(f"listening on {listening.url}")
    if listening.token_file is not None:
        print_note(f"token: {listening.token_file}")

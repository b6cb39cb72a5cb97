"""What `serve` does. Standard output is the protocol's: nothing here prints to it but `--plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.pages import Line, Table, amount, print_note, show
from droidgate.extras import need

if TYPE_CHECKING:
    from droidgate.serving.phone_tools import PhoneTools
    from droidgate.serving.running import Listening

MANY_TOOLS: Final = 40
"""Clients take 40 to 128 tools (reference style-and-peers 2.1)."""

_COLUMNS: Final = ("APP", "TOOLS", "TOKENS")


def plan_and_print(serials: Sequence[str], *, select: Sequence[str], search: bool) -> int:
    """Print what the tools of each app cost a model.

    Raises:
        DeviceError: a phone is not there, or fails.
        UsageError: the MCP SDK is not installed.
    """
    need("mcp", "serve")
    from droidgate.serving.plan import plan_tokens
    from droidgate.serving.search import SearchTools

    tools = _ready_tools(serials, select=select, allow=())
    provider = SearchTools(tools) if search else tools
    apps = plan_tokens(provider.snapshot().tools)
    rows = [(app.group or "droidgate", f"{app.tools:,}", f"{app.tokens:,}") for app in apps]
    rows.append(("all", f"{sum(app.tools for app in apps):,}", f"{sum(app.tokens for app in apps):,}"))
    show([Table(_COLUMNS, rows), Line("TOKENS: the bytes of each tool's JSON divided by four")])
    _print_advice(tools, search=search)
    return ExitCode.OK


def serve_and_report(
    serials: Sequence[str],
    *,
    http: str | None,
    select: Sequence[str],
    search: bool,
    allow: Sequence[str],
    needs_token: bool,
) -> int:
    """Serve until the client leaves or a signal ends it.

    Raises:
        UsageError: the address cannot be used, or the MCP SDK is not installed.
        InputError: the token's file or the user's policy cannot be used.
    """
    need("mcp", "serve")
    from droidgate.serving.http import parse_address
    from droidgate.serving.running import phone_tools, serve_tools

    address = None if http is None else parse_address(http)
    tools = phone_tools(serials, select=select, allow=allow)
    # A phone may come later: a client that starts with the computer would otherwise have to be restarted.
    tools.look()
    print_note(f"serving {amount(len(tools.snapshot().tools), 'tool')}")
    _print_advice(tools, search=search)
    serve_tools(tools, address=address, search=search, needs_token=needs_token, on_listening=_print_address)
    return ExitCode.OK


def _ready_tools(serials: Sequence[str], *, select: Sequence[str], allow: Sequence[str]) -> PhoneTools:
    from droidgate.serving.running import phone_tools

    tools = phone_tools(serials, select=select, allow=allow)
    tools.look(strict=True)
    return tools


def _print_advice(tools: PhoneTools, *, search: bool) -> None:
    count = len(tools.snapshot().tools)
    if count > MANY_TOOLS and not search:
        print_note(
            f"many clients take no more than {MANY_TOOLS} tools: choose apps with --select, or --search"
        )


def _print_address(listening: Listening) -> None:
    print_note(f"listening on {listening.url}")
    if listening.token_file is not None:
        print_note(f"token: {listening.token_file}")

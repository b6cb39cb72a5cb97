"""`droidgate serve` and `droidgate serve-mobile-agent`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.completing import complete_serials
from droidgate.cli.options import AsJson
from droidgate.cli.output.page_length import with_details


@with_details
def _serve(  # noqa: PLR0913
    *,
    serial: Annotated[
        list[str] | None,
        typer.Option(
            "--serial",
            help="A phone; may be repeated. The only one by default",
            autocompletion=complete_serials,
        ),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(
            "--http",
            metavar="[HOST:]PORT",
            help="Serve over Streamable HTTP on this address of loopback, not on standard input and output",
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Over HTTP, let in every program of this computer")
    ] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select", metavar="APP", help="Serve this app only: its package, or a pattern; may be repeated"
        ),
    ] = None,
    search: Annotated[
        bool | None,
        typer.Option(
            "--search/--all",
            help="Serve three tools that find, describe and call the others, or serve every tool by itself. "
            "By default above 40 tools the three",
        ),
    ] = None,
    screens: Annotated[
        bool,
        typer.Option(
            "--screens", help="Serve MobileAgent's commands too: they work on the screens of every app"
        ),
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="PATTERN",
            help="Ask for no approval of these: CAPABILITY or PACKAGE/CAPABILITY; may be repeated",
        ),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--files",
            metavar="FOLDER",
            help="Let clients send the files in this folder to apps; may be repeated",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="Write each step of each call with its values into a new file, a JSON object a line",
            show_default=False,
        ),
    ] = None,
    app_instructions: Annotated[
        bool,
        typer.Option(
            "--app-instructions",
            help="Put the apps' own texts for models into the server's instructions, marked as theirs",
        ),
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print what the tools of each app cost a model, and serve nothing")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Give what the apps of phones declare to any MCP client.

    The client usually starts this command and talks to it over standard input and output. A call needs the
    user's approval, which the client asks for where it can, unless the policy or --allow gives it. Over
    HTTP, clients send the token in the file that is named at the start.
    """
    from droidgate.cli.serve.serving import plan_and_print, serve_and_report
    from droidgate_mappings.model.errors import UsageError

    if plan:
        return plan_and_print(
            serial or (), select=select or (), search=search, screens=screens, as_json=as_json
        )
    if as_json:
        raise UsageError("--json needs --plan", hint="a server prints the protocol only")
    return serve_and_report(
        serial or (),
        http=http,
        select=select or (),
        search=search,
        screens=screens,
        allow=allow or (),
        files=files or (),
        trace=trace,
        app_instructions=app_instructions,
        needs_token=not no_token,
    )


class ServerChoice(StrEnum):
    """What `--server` takes."""

    DATA = "data"
    ACTION = "action"
    BOTH = "both"


class ExtensionChoice(StrEnum):
    """What `--extend` takes."""

    COMPACT = "compact"
    FIND = "find"
    IMAGES = "images"
    GESTURES = "gestures"
    ANNOTATIONS = "annotations"
    ALL = "all"


def _serve_mobile_agent(
    *,
    server: Annotated[ServerChoice, typer.Option("--server", help="Which of the two servers to run")] = (
        ServerChoice.BOTH
    ),
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; elsewhere than on loopback with tokens")
    ] = "localhost",
    data_port: Annotated[
        int, typer.Option("--data-port", min=0, max=65_535, help="Port of the data collection server")
    ] = 8020,
    action_port: Annotated[
        int, typer.Option("--action-port", min=0, max=65_535, help="Port of the action server")
    ] = 8021,
    serial: Annotated[
        list[str] | None,
        typer.Option(
            "--serial",
            help="A phone; may be repeated. The only one by default",
            show_default=False,
            autocompletion=complete_serials,
        ),
    ] = None,
    extend: Annotated[
        list[ExtensionChoice] | None,
        typer.Option(
            "--extend",
            help="Serve tools that UFO does not have, or annotate all tools; may be repeated",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="Longest time of one call, 1 to 600")
    ] = 30.0,
    token: Annotated[
        bool, typer.Option("--token", help="Let in only clients that send the token, on loopback too")
    ] = False,
) -> int:
    """Serve a phone to UFO's MobileAgent, in place of UFO's own two servers.

    The data collection server sees the screen, the action server works on it. Where UFO_MCP_API_KEY is set,
    both ask for its value as UFO's own do; else on loopback they ask for a token only with --token. Ctrl-C
    ends both.
    """
    from droidgate.cli.serve.serving_mobile_agent import serve_mobile_agent_and_report

    return serve_mobile_agent_and_report(
        serial or (),
        server=server.value,
        host=host,
        data_port=data_port,
        action_port=action_port,
        seconds=timeout,
        needs_token=token,
        extensions=[choice.value for choice in extend or ()],
    )


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("serve", short_help="Give what the apps of phones declare to any MCP client")(_serve)
    app.command("serve-mobile-agent", short_help="Serve a phone to UFO's MobileAgent")(_serve_mobile_agent)

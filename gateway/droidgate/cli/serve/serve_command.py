"""`droidgate serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.completing import complete_serials
from droidgate.cli.options import AsJson
from droidgate.cli.output.page_length import with_details


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("serve", short_help="Give what the apps of phones declare to any MCP client")(_serve)


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

"""`droidgate install-client`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.completing import complete_clients, complete_serials
from droidgate.cli.options import AsJson

Client = Annotated[
    str,
    typer.Argument(
        metavar="CLIENT",
        help="claude-desktop, claude-code, cursor, vscode, gemini-cli or goose",
        autocompletion=complete_clients,
    ),
]
Serials = Annotated[
    list[str] | None,
    typer.Option(
        "--serial",
        help="A phone to serve; may be repeated. The only one by default",
        autocompletion=complete_serials,
    ),
]
Name = Annotated[str, typer.Option("--name", help="Name of the server in the client")]
Project = Annotated[
    Path | None,
    typer.Option(
        "--project", metavar="FOLDER", help="Change the settings of the project in FOLDER, not the user's"
    ),
]
Url = Annotated[str | None, typer.Option("--url", help="Use the running server at this address")]
Variable = Annotated[
    str, typer.Option("--variable", metavar="NAME", help="Environment variable with the server's token")
]
PrintOnly = Annotated[bool, typer.Option("--print", help="Print the entry and change nothing")]
Remove = Annotated[bool, typer.Option("--remove", help="Remove the server from the client")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("install-client", short_help="Make an MCP client use droidgate")(_install_client)


def _install_client(  # noqa: PLR0913
    client: Client,
    *,
    serial: Serials = None,
    name: Name = "droidgate",
    project: Project = None,
    url: Url = None,
    variable: Variable = "DROIDGATE_TOKEN",
    print_only: PrintOnly = False,
    remove: Remove = False,
    as_json: AsJson = False,
) -> int:
    """Make an MCP client start droidgate's server, so that its model can call what the phone's apps declare.

    Everything else in the client's settings stays, comments included; a copy of them is kept next to the
    file. With --url, the file names the environment variable that has the token, never the token.
    """
    from droidgate.cli.clients.installing_client import ClientRequest, install

    request = ClientRequest(
        client, tuple(serial or ()), name, project, url, variable, is_printed=print_only, remove=remove
    )
    return install(request, as_json=as_json)

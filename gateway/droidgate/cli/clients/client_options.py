"""`droidgate install-client`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from droidgate.cli.command_classes import Command, argument, flag, option
from droidgate.cli.completing import complete_clients
from droidgate.cli.shared_options import AS_JSON, SERIALS

SERVER_NAME: Final = "droidgate"


class InstallClient(Command, work="droidgate.cli.clients.run_install_client:install"):
    """Make an MCP client start droidgate's server, so that its model can call what the phone's apps declare.

    Everything else in the client's settings stays, comments included; a copy of them is kept next to the
    file.
    """

    client: str = argument(
        "CLIENT",
        "claude-desktop, claude-code, cursor, vscode, gemini-cli, goose, codex, windsurf, zed, cline, "
        "lm-studio, copilot-cli, opencode or amp",
        ...,
        autocompletion=complete_clients,
    )
    serials: list[str] | None = SERIALS
    name: str = option("--name NAME", "Name of the server in the client", SERVER_NAME)
    project: Path | None = option(
        "--project FOLDER", "Change the settings of the project in FOLDER, not the user's"
    )
    is_printed: bool = flag("--print", "Print the entry and change nothing")
    remove: bool = flag("--remove", "Remove the server from the client")
    as_json: bool = AS_JSON

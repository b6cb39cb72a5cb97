"""MCP clients and their settings (`clients.toml`)."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import Field

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.loading import load_table


class ClientRow(Frozen):
    """One MCP client.

    Attributes:
        id: Stable id.
        title: Name to show users.
        source: The documentation that the row follows.
        syntax: Of its settings: JSON, JSON with comments, TOML, or YAML.
        key: The object of the settings that has an entry for each server.
        path: Of the user's settings, with `{home}`, `{settings}` or `{xdg}`.
        mac_path: The same on macOS, where it is another one.
        windows_path: The same on Windows, where it is another one.
        windows_package: The family name of its package on Windows, which has settings of its own.
        folder_variable: The environment variable that names another folder for the user's settings.
        project_path: Of the settings of one project, below its folder; None where it has none.
        more_names: Other names that the client reads in the same folders; a file that is there is changed.
        after: What the user does next, one sentence, with `{name}` for the server's.
        stdio: The entry of a server that the client starts.
        environment: The member of that entry that has the server's environment variables.
    """

    id: str
    title: str
    source: str
    syntax: Literal["json", "jsonc", "toml", "yaml"]
    key: str
    path: str
    mac_path: str | None = None
    windows_path: str | None = None
    windows_package: str | None = None
    folder_variable: str | None = None
    project_path: str | None = None
    more_names: tuple[str, ...] = ()
    after: str
    stdio: dict[str, Any]
    environment: str = "env"


class ClientTable(Frozen):
    """All clients."""

    clients: tuple[ClientRow, ...] = Field(min_length=1)


@cache
def load_clients() -> dict[str, ClientRow]:
    """Return the clients by id, in the order of the table."""
    return {row.id: row for row in load_table("clients.toml", ClientTable).clients}

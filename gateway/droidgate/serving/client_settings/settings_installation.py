"""Adding droidgate's MCP server to the settings of a client, and removing it."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from droidgate.computer.output_folder import write_files
from droidgate.serving.client_settings import json_edit, yaml_edit
from droidgate_mappings.model.errors import InputError, UsageError, WriteError
from droidgate_mappings.tables.clients import ClientRow, load_clients
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mappings.user_folders import HOME_VARIABLE

BACKUP_ENDING: Final = ".before-droidgate"
USUAL_VARIABLE: Final = "DROIDGATE_TOKEN"

_VARIABLES: Final = (
    "ADB_SERVER_SOCKET",
    "ANDROID_ADB_SERVER_ADDRESS",
    "ANDROID_ADB_SERVER_PORT",
    "ANDROID_SERIAL",
)
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_ADDRESS: Final = re.compile(r"https?://[^\s\"'<>{}$]+")
_INPUTS: Final = "inputs"
_MOST_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ClientChange:
    """A change of a client's settings.

    Attributes:
        client: Id of the client.
        path: The settings.
        before: Their text, None where the file does not exist yet.
        after: Their text after the change.
        entry: The entry of the server; None where it is removed.
        backup: Where the text before is kept; None where nothing was replaced.
        next_step: What the user does next, one sentence.
        input: What the client asks its user for, in the list `inputs` of its settings; None where nothing.
    """

    client: str
    path: Path
    before: str | None
    after: str
    entry: Mapping[str, Any] | None
    backup: Path | None
    next_step: str
    input: Mapping[str, Any] | None = None

    @property
    def is_change(self) -> bool:
        """Return whether the text changes."""
        return (self.before or "") != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff without lines around it, which may hold secrets; empty where there is
        none.
        """
        name = str(self.path)
        lines = difflib.unified_diff(
            (self.before or "").splitlines(), self.after.splitlines(), name, name, n=0, lineterm=""
        )
        return "\n".join(lines)


def install_client(
    client: str,
    *,
    serials: Sequence[str] = (),
    name: str = "droidgate",
    project: str | os.PathLike[str] | None = None,
    url: str | None = None,
    variable: str = USUAL_VARIABLE,
    remove: bool = False,
    write: bool = True,
) -> ClientChange:
    """Make an MCP client start droidgate's server, or reach one that runs, and return the change.

    Everything else in the client's settings stays as it is.

    Args:
        client: Id of the client, such as `claude-code`.
        serials: The phones to serve; the only one that is attached by default.
        name: Name of the server in the client.
        project: Folder of a project, for its settings in place of the user's.
        url: Address of a running server, in place of one that the client starts.
        variable: The environment variable that has the server's token; only its name is written. A client
            that cannot use one, such as VS Code, asks its user for the token.
        remove: Take the entry out.
        write: Write the settings, and a backup of those before next to them.

    Raises:
        UsageError: the client is unknown, or cannot do what is asked for.
        InputError: its settings cannot be read, or cannot be changed without touching anything else.
        WriteError: its settings cannot be written.
    """
    row = _find(client)
    entry = None if remove else _entry(row, serials, _checked_name(name), url, variable, project)
    path = _path(row, project).resolve()
    before = _read(path)
    asked = row.http_input if url is not None or remove else None
    after = _change(row, path, before or "", name, entry, asked)
    asked = None if remove else asked
    next_step = row.http_after if asked is not None and row.http_after is not None else row.after
    change = ClientChange(row.id, path, before, after, entry, None, next_step, asked)
    if not write or not change.is_change:
        return change
    return _write(change)


def settings_with_entry(
    client: str,
    *,
    serials: Sequence[str] = (),
    name: str = "droidgate",
    project: str | os.PathLike[str] | None = None,
    url: str | None = None,
    variable: str = USUAL_VARIABLE,
) -> dict[str, Any]:
    """Return settings that have the entry alone, to be added by hand; a client's own are not read.

    Args:
        client, serials, name, project, url, variable: As for `install_client`.

    Raises:
        UsageError: the client is unknown, or cannot do what is asked for.
    """
    row = _find(client)
    entry = _entry(row, serials, _checked_name(name), url, variable, project)
    inputs = {} if url is None or row.http_input is None else {_INPUTS: [dict(row.http_input)]}
    return {row.key: {name: entry}, **inputs}


def _find(client: str) -> ClientRow:
    clients = load_clients()
    if client not in clients:
        raise UsageError(f"unknown client {client!r}", hint=suggest_name(client, clients))
    return clients[client]


def _checked_name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        message = f"invalid server name {name!r}"
        raise UsageError(message, hint="use up to 64 letters, digits, `_` and `-`, a letter first")
    return name


def _entry(
    row: ClientRow,
    serials: Sequence[str],
    name: str,
    url: str | None,
    variable: str,
    project: str | os.PathLike[str] | None,
) -> dict[str, Any]:
    """Return the entry of the server in the client's form."""
    if url is None:
        command, *arguments = _command(is_shared=project is not None)
        arguments += ["serve", *(word for serial in serials for word in ("--serial", serial))]
        entry = _fill_entry(row.stdio, {"command": command, "arguments": arguments, "name": name})
        environment = _environment() if project is None else {}
        return {**entry, row.environment: environment} if environment else entry
    if row.http is None:
        message = f"the settings of {row.title} have no servers with an address"
        raise UsageError(message, hint="leave --url out; the client starts the server itself")
    if serials:
        message = "a running server has its phones already"
        raise UsageError(message, hint="choose the phones where the server is started")
    if _ADDRESS.fullmatch(url) is None:
        raise UsageError(f"invalid address {url!r}", hint="use http://127.0.0.1:PORT/mcp")
    if _VARIABLE.fullmatch(variable) is None:
        raise UsageError(f"invalid variable name {variable!r}", hint="use letters, digits and `_`")
    return _fill_entry(row.http, {"url": url, "variable": variable, "name": name})


def _command(*, is_shared: bool) -> list[str]:
    """Return the words that start droidgate; without a path of this computer where others use them too."""
    if is_shared:
        return ["droidgate"]
    program = shutil.which("droidgate", path=str(Path(sys.executable).parent))
    return [program] if program is not None else [sys.executable, "-m", "droidgate"]


def _environment() -> dict[str, str]:
    """Return the variables that lead to the phone and to droidgate's folder; clients pass few on."""
    given = {name: os.environ[name] for name in _VARIABLES if os.environ.get(name)}
    if os.environ.get(HOME_VARIABLE):
        given[HOME_VARIABLE] = str(Path(os.environ[HOME_VARIABLE]).expanduser().absolute())
    return given


def _fill_entry(template: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _filled(value, values) for name, value in template.items()}


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, dict):
        return _fill_entry(template, values)
    if isinstance(template, list):
        return [_filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    for name, value in values.items():
        if template == f"{{{name}}}":
            return value
    # Only the name of a variable is inside of another text.
    return template.replace("{variable}", str(values.get("variable", "")))


def _path(row: ClientRow, project: str | os.PathLike[str] | None) -> Path:
    if project is not None:
        if row.project_path is None:
            message = f"{row.title} has no settings of a project"
            raise UsageError(message, hint="leave --project out")
        folder = Path(project)
        if not folder.is_dir():
            raise UsageError("the project is not a folder", hint=f"make {folder}, or name another one")
        return folder / row.project_path
    is_windows = sys.platform == "win32"
    stated = row.windows_path if is_windows and row.windows_path is not None else row.path
    start, _, rest = stated.partition("/")
    return (Path.home() if start == "{home}" else _settings_folder()) / rest


def _settings_folder() -> Path:
    """Return the folder in which programs of the operating system keep settings of the user."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(error.strerror or "it cannot be read", place=str(path)) from error
    if len(data) > _MOST_BYTES:
        hint = "check that it is the client's settings"
        raise InputError("the file is too large", place=str(path), hint=hint)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("it is not UTF-8", place=str(path), hint="save it as UTF-8") from error


def _change(
    row: ClientRow,
    path: Path,
    text: str,
    name: str,
    entry: Mapping[str, Any] | None,
    asked: Mapping[str, Any] | None,
) -> str:
    """Return the settings with the entry, or without it; checked to differ in nothing else."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(mark)
    read = _reader(row, str(path))
    expected = read(body)
    servers = expected.get(row.key)
    if servers is not None and not isinstance(servers, dict):
        message = f"{row.key!r} does not hold servers by their names"
        raise InputError(message, place=str(path), hint="mend the file, or move it away")
    if entry is None:
        if not servers or name not in servers:
            return text
        del servers[name]
        edit = yaml_edit.remove_entry if row.syntax == "yaml" else json_edit.remove_member
        changed = edit(body, row.key, name)
        inputs = expected.get(_INPUTS)
        if isinstance(inputs, list) and asked in inputs and not _is_used(asked, expected):
            changed = json_edit.remove_item(changed, _INPUTS, inputs.index(asked))
            inputs.remove(asked)
    else:
        inputs = expected.get(_INPUTS, [])
        if not isinstance(inputs, list):
            raise InputError(
                f"{_INPUTS!r} is not a list", place=str(path), hint="mend the file, or move it away"
            )
        known = [item.get("id") for item in inputs if isinstance(item, dict)]
        is_asked = asked is None or asked["id"] in known
        if servers is not None and servers.get(name) == entry and is_asked:
            return text
        expected[row.key] = {**(servers or {}), name: dict(entry)}
        setting = yaml_edit.set_entry if row.syntax == "yaml" else json_edit.set_member
        changed = setting(body, row.key, name, dict(entry))
        if asked is not None and not is_asked:
            expected[_INPUTS] = [dict(asked), *inputs]
            changed = json_edit.add_item(changed, _INPUTS, dict(asked))
    try:
        is_as_meant = read(changed) == expected
    except InputError:
        is_as_meant = False
    if not is_as_meant:
        message = "it cannot be changed without touching its other parts"
        hint = "add the entry yourself: `--print` prints it"
        raise InputError(message, place=str(path), hint=hint)
    return mark + changed


def _is_used(asked: Mapping[str, Any] | None, settings: Mapping[str, Any]) -> bool:
    """Return whether settings refer to what their user is asked for."""
    return asked is None or f"${{input:{asked['id']}}}" in json.dumps(settings)


def _reader(row: ClientRow, path: str) -> Callable[[str], dict[str, Any]]:
    if row.syntax == "yaml":
        return lambda text: yaml_edit.read_settings(text, path=path)
    return lambda text: json_edit.read_settings(text, path=path, comments=row.syntax == "jsonc")


def _write(change: ClientChange) -> ClientChange:
    path, before = change.path, change.before
    backup = None if before is None else path.with_name(path.name + BACKUP_ENDING)
    try:
        if before is not None and backup is not None:
            write_files({backup: before.encode()}, force=True)
            # The settings may hold secrets: the backup is as private as they are.
            shutil.copymode(path, backup)
        if _read(path) != before:
            raise WriteError("another program changed it just now", place=str(path), hint="try again")
        write_files({path: change.after.encode()}, force=True)
    except OSError as error:
        raise WriteError(error.strerror or "it cannot be written", place=str(path)) from error
    return replace(change, backup=backup)

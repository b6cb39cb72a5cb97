"""Adding droidgate's MCP server to the settings of a client, and removing it."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from droidgate.computer.optional_packages import install_command
from droidgate.computer.output_folder import replace_file
from droidgate.devices.adb_client import AdbClient
from droidgate.devices.device_errors import ServerUnreachableError
from droidgate.devices.device_list import choose_device
from droidgate.serving.client_settings import HINT_OF_DAMAGED, json_edit, toml_edit, yaml_edit
from droidgate_android.projects.project_files import check_inside, read_project_file
from droidgate_mappings.model.errors import (
    DeviceError,
    DroidgateError,
    InputError,
    UsageError,
    WriteError,
    option_hint,
)
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.tables.clients import ClientRow, load_clients
from droidgate_mappings.text.nearest_names import nearest_names
from droidgate_mappings.user_folders import HOME_VARIABLE

BACKUP_ENDING: Final = ".before-droidgate"

_VARIABLES: Final = (
    "ADB_SERVER_SOCKET",
    "ANDROID_ADB_SERVER_ADDRESS",
    "ANDROID_ADB_SERVER_PORT",
    "ANDROID_SERIAL",
)
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_MARK: Final = "\ufeff"
_SHORTEST: Final = 3


class _Syntax(NamedTuple):
    """How settings are read, and how an entry of a text is set and removed."""

    read: Callable[..., dict[str, Any]]
    set: Callable[[str, str, str, Any], str]
    remove: Callable[[str, str, str], str]


_SYNTAXES: Final = {
    "json": _Syntax(
        partial(json_edit.read_settings, comments=False), json_edit.set_member, json_edit.remove_member
    ),
    "jsonc": _Syntax(
        partial(json_edit.read_settings, comments=True), json_edit.set_member, json_edit.remove_member
    ),
    "toml": _Syntax(toml_edit.read_settings, toml_edit.set_entry, toml_edit.remove_entry),
    "yaml": _Syntax(yaml_edit.read_settings, yaml_edit.set_entry, yaml_edit.remove_entry),
}


@dataclass(frozen=True, slots=True)
class ClientChange:
    """A change of a client's settings.

    Attributes:
        client: Id of the client.
        path: The settings.
        before: Their text, None where the file does not exist yet.
        after: Their text after the change, None where the file is removed.
        entry: The entry of the server; None where it is removed.
        backup: Where the text before is kept; None where nothing was replaced.
        next_step: What the user does next, one sentence.
        warnings: Why the client will not be able to start the server, or gets no tools of it; not raised.
    """

    client: str
    path: Path
    before: str | None = field(repr=False)
    after: str | None = field(repr=False)
    entry: Mapping[str, Any] | None
    backup: Path | None
    next_step: str
    warnings: tuple[DroidgateError, ...] = ()

    @property
    def is_change(self) -> bool:
        """Return whether the text changes."""
        return (self.before or "") != (self.after or "") or (self.before is None) != (self.after is None)

    @property
    def diff(self) -> str:
        """The change as a unified diff without lines around it, which may hold secrets; empty where there is
        none.
        """
        name = str(self.path)
        lines = difflib.unified_diff(
            (self.before or "").splitlines(), (self.after or "").splitlines(), name, name, n=0, lineterm=""
        )
        return "\n".join(lines)


def install_client(
    client: str,
    *,
    serials: Sequence[str] = (),
    name: str = "droidgate",
    project: str | os.PathLike[str] | None = None,
    remove: bool = False,
    write: bool = True,
) -> ClientChange:
    """Make an MCP client start droidgate's server, and return the change.

    Everything else in the client's settings stays as it is.

    Args:
        client: Id of the client, such as `claude-code`.
        serials: The phones to serve; the only one that is attached by default.
        name: Name of the server in the client.
        project: Folder of a project, for its settings in place of the user's.
        remove: Take the entry out, or put back the one that was there before. If nothing else changed since
            it was added, the settings are as they were before, byte for byte: the backup takes their place,
            and a file that was made is removed.
        write: Write the settings, and a backup of those before next to them.

    Raises:
        UsageError: the client is unknown, or has no settings of a project.
        InputError: its settings cannot be read, or cannot be changed without touching anything else.
        WriteError: its settings cannot be written.

    Example:
        >>> droidgate.install_client("cursor", write=False).entry["args"]
        ['serve']
    """
    row = _find(client)
    entry = None if remove else _entry(row, serials, _checked_name(name), project)
    path = _path(row, project)
    before = _read(path, project)
    kept = _kept(path, project)
    present = _entry_in(row, path, before, name)
    is_ours = partial(_is_ours, is_shared=project is not None)
    is_first = not remove and (present is None or (kept is None and not is_ours(present)))
    original = None if is_first or present is None else _original(row, path, before, kept, name, present)
    after: str | None
    put_back = partial(_put_back, row, path, before or "", kept, name, is_ours=is_ours)
    if remove:
        after = original.text if original is not None else None if before is None else put_back()
    else:
        after = _change(row, path, before or "", name, entry)
    if is_first or (remove and original is None and kept is None):
        backup = before
    else:
        backup = None if remove or original is not None else put_back()
    warnings = () if entry is None else start_warnings(serials, is_shared=project is not None)
    next_step = f"Restart {row.title}" if remove else row.after.replace("{name}", name)
    change = ClientChange(row.id, path, before, after, entry, None, next_step, warnings)
    if not write or not change.is_change:
        return change
    return _write(change, backup, project)


def settings_with_entry(
    client: str,
    *,
    serials: Sequence[str] = (),
    name: str = "droidgate",
    project: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Return settings that have the entry alone, to be added by hand; a client's own are not read.

    Args:
        client, serials, name, project: As for `install_client`.

    Raises:
        UsageError: the client is unknown, or the name is not one of a server.
    """
    row = _find(client)
    return {row.key: {name: _entry(row, serials, _checked_name(name), project)}}


def start_warnings(serials: Sequence[str], *, is_shared: bool) -> tuple[DroidgateError, ...]:
    """Return why a client will not be able to start the server, or gets no tools of it.

    Args:
        serials: The phones that the entry names.
        is_shared: The entry is one of a project, which starts `droidgate` from `PATH`.
    """
    warnings: list[DroidgateError] = list(_phone_warnings(serials)) if serials or not is_shared else []
    if find_spec("mcp") is None:
        message = "the server needs the package mcp, which is not installed"
        warnings.append(UsageError(message, hint=f"run: {install_command('serve')}"))
    if is_shared and shutil.which("droidgate") is None:
        folder = Path(sys.executable).parent
        hint = f"add {folder}, or install it where PATH leads: pipx install droidgate"
        warnings.append(UsageError("the entry starts `droidgate`, which is not on PATH", hint=hint))
    return tuple(warnings)


def _phone_warnings(serials: Sequence[str]) -> Iterator[DeviceError]:
    """Yield why the phones cannot be served now; no adb server is started."""
    try:
        devices = AdbClient(may_start=False).devices()
    except ServerUnreachableError as error:
        message = "no adb server runs yet, so it is not known which phones are attached"
        yield ServerUnreachableError(message, place=error.place, hint="run: droidgate devices")
        return
    except DeviceError as error:
        yield error
        return
    for serial in serials or (os.environ.get("ANDROID_SERIAL") or None,):
        try:
            choose_device(devices, serial)
        except DeviceError as error:
            yield error


def _find(client: str) -> ClientRow:
    clients = load_clients()
    if client not in clients:
        near = [repr(name) for name in _near(client, clients)]
        question = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"unknown client {client!r}", hint=f"{question}known: {', '.join(clients)}")
    return clients[client]


def _near(client: str, clients: Mapping[str, ClientRow]) -> list[str]:
    """Return the clients that a name was probably meant as: one word of it, or a misspelt one."""
    named = {row.id: row.id for row in clients.values()} | {row.title: row.id for row in clients.values()}
    letters = _letters(client)
    parts = [named[name] for name in named if len(letters) >= _SHORTEST and letters in _letters(name)]
    wholes = [row.id for row in clients.values() if len(row.id) >= _SHORTEST and _letters(row.id) in letters]
    return list(dict.fromkeys(parts or wholes or [named[name] for name in nearest_names(client, named)]))


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _checked_name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        message = f"invalid server name {name!r}"
        raise UsageError(message, hint="use up to 64 letters, digits, `_` and `-`, a letter first")
    return name


def _entry(
    row: ClientRow,
    serials: Sequence[str],
    name: str,
    project: str | os.PathLike[str] | None,
) -> dict[str, Any]:
    """Return the entry of the server in the client's form."""
    command, *arguments = _command(is_shared=project is not None)
    arguments += ["serve", *(word for serial in serials for word in ("--serial", serial))]
    words = [command, *arguments]
    values = {"{command}": command, "{arguments}": arguments, "{words}": words, "{name}": name}
    # A text is replaced as a whole; all else of the table is written as it is.
    entry = {
        member: values.get(value, value) if isinstance(value, str) else value
        for member, value in row.stdio.items()
    }
    environment = _environment() if project is None else {}
    return {**entry, row.environment: environment} if environment else entry


def _command(*, is_shared: bool) -> list[str]:
    """Return the words that start droidgate; without a path of this computer where others use them too."""
    if is_shared:
        return ["droidgate"]
    program = shutil.which("droidgate", path=str(Path(sys.executable).parent))
    return [program] if program is not None else [sys.executable, "-m", "droidgate"]


def _environment() -> dict[str, str]:
    """Return the variables that lead to the phone and to droidgate's folder; clients pass few on."""
    environment = {name: os.environ[name] for name in _VARIABLES if os.environ.get(name)}
    if os.environ.get(HOME_VARIABLE):
        environment[HOME_VARIABLE] = str(Path(os.environ[HOME_VARIABLE]).expanduser().absolute())
    return environment


def _path(row: ClientRow, project: str | os.PathLike[str] | None) -> Path:
    """Return the settings, with links followed; those of a project are inside it.

    Raises:
        UsageError: the client has no settings of a project, or the project is not a folder.
        InputError: a link leads out of the project.
    """
    if project is None:
        stated = row.path
        if sys.platform == "darwin":
            stated = row.mac_path or stated
        elif sys.platform == "win32":
            stated = row.windows_path or stated
        start, _, rest = stated.partition("/")
        path = _FOLDERS[start]() / rest
        if sys.platform == "win32" and row.windows_package is not None:
            local = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
            package = local / "Packages" / row.windows_package
            # Windows gives a packaged program this folder in place of %APPDATA%.
            path = package / "LocalCache" / "Roaming" / rest if _is_there(package) else path
        folder = None if row.folder_variable is None else os.environ.get(row.folder_variable)
        return _present(Path(folder) / path.name if folder else path, row).resolve()
    if row.project_path is None:
        message = f"{row.title} has no settings of a project"
        raise UsageError(message, hint=option_hint("leave {} out", "--project", "project="))
    if not Path(project).is_dir():
        raise UsageError(f"the project {str(project)!r} is not a folder", hint="make it, or name another one")
    path = _present(Path(project) / row.project_path, row)
    return _inside(path, project)


def _present(path: Path, row: ClientRow) -> Path:
    """Return the file that is there, of all that the client reads in the same folder; else the usual one."""
    others = (path.with_name(name) for name in row.more_names)
    return next((candidate for candidate in (path, *others) if _is_there(candidate)), path)


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", place=str(path)) from error
    return True


def _inside(path: Path, project: str | os.PathLike[str]) -> Path:
    try:
        return Path(check_inside(path, os.fspath(project), str(path)))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(reason, place=str(path)) from None


def _settings_folder() -> Path:
    """Return the folder in which programs of the operating system keep settings of the user."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return _xdg_folder()


def _xdg_folder() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _home_folder() -> Path:
    return Path.home()


_FOLDERS: Final[dict[str, Callable[[], Path]]] = {
    "{home}": _home_folder,
    "{settings}": _settings_folder,
    "{xdg}": _xdg_folder,
}


def _read(path: Path, project: str | os.PathLike[str] | None) -> str | None:
    """Return the text of a file, None where there is none.

    Raises:
        InputError: it is not a regular file of text, is too large, is outside of the project, or cannot be
            read.
    """
    if not _is_there(path):
        return None
    try:
        root = None if project is None else os.fspath(project)
        return read_project_file(path, root=root).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("it is not UTF-8", place=str(path), hint="save it as UTF-8") from error


class _Original(NamedTuple):
    """The settings before the entry was added.

    Attributes:
        text: Their text, None where there was no file.
    """

    text: str | None


def _kept(path: Path, project: str | os.PathLike[str] | None) -> str | None:
    """Return the backup, which is there from the first time the entry is added until it is removed."""
    try:
        return _read(_backup_of(path), project)
    except InputError:
        return None


def _entry_in(row: ClientRow, path: Path, text: str | None, name: str) -> dict[str, Any] | None:
    """Return the entry of a name in settings, None where they have none or cannot be read."""
    try:
        servers = _SYNTAXES[row.syntax].read((text or "").removeprefix(_MARK), path=str(path)).get(row.key)
    except InputError:
        return None
    entry = servers.get(name) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) else None


def _original(
    row: ClientRow, path: Path, text: str | None, backup: str | None, name: str, entry: Mapping[str, Any]
) -> _Original | None:
    """Return the settings without the entry, None where more than the entry changed since it was added.

    What was added to the text of the backup gives the text there is now if nothing else changed.
    """
    try:
        made = _change(row, path, backup or "", name, entry)
    except InputError:
        return None
    return _Original(backup) if text == made else None


def _put_back(
    row: ClientRow,
    path: Path,
    text: str,
    backup: str | None,
    name: str,
    *,
    is_ours: Callable[[Mapping[str, Any]], bool],
) -> str:
    """Return settings with the user's entry of the backup, without one where that has none."""
    entry = _entry_in(row, path, backup, name)
    removed = _change(row, path, text, name, None)
    return removed if entry is None or is_ours(entry) else _change(row, path, removed, name, entry)


def _is_ours(entry: Mapping[str, Any], *, is_shared: bool) -> bool:
    """Return whether an entry is one that we write, for any phones."""
    return {*_command(is_shared=is_shared), "serve"} <= {*_words(entry)}


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _words(item)


def _backup_of(path: Path) -> Path:
    return path.with_name(path.name + BACKUP_ENDING)


def _change(row: ClientRow, path: Path, text: str, name: str, entry: Mapping[str, Any] | None) -> str:
    """Return the settings with the entry, or without it; checked to differ in nothing else."""
    mark = _MARK if text.startswith(_MARK) else ""
    body = text.removeprefix(mark)
    syntax = _SYNTAXES[row.syntax]
    read = partial(syntax.read, path=str(path))
    expected = read(body)
    servers = expected.get(row.key)
    if servers is not None and not isinstance(servers, dict):
        message = f"{row.key!r} does not hold servers by their names"
        raise InputError(message, place=str(path), hint=HINT_OF_DAMAGED)
    if entry is None:
        if not servers or name not in servers:
            return text
        del servers[name]
        changed = syntax.remove(body, row.key, name)
    else:
        if servers is not None and servers.get(name) == entry:
            return text
        expected[row.key] = {**(servers or {}), name: dict(entry)}
        changed = syntax.set(body, row.key, name, dict(entry))
    # TOML has no table of servers without servers.
    meant = (expected, {word: value for word, value in expected.items() if value or word != row.key})
    try:
        is_as_meant = read(changed) in meant
    except InputError:
        is_as_meant = False
    if not is_as_meant:
        message = "cannot be changed without touching its other parts"
        hint = "add the entry yourself: `--print` prints it"
        raise InputError(message, place=str(path), hint=hint)
    return mark + changed


def _write(
    change: ClientChange, backup_text: str | None, project: str | os.PathLike[str] | None
) -> ClientChange:
    """Write settings, and keep those before in the backup, which ends with the entry."""
    path, before, after = change.path, change.before, change.after
    backup = _backup_of(path)
    try:
        if backup_text is not None:
            # The settings may hold secrets: the backup is as private as they are.
            replace_file(backup, backup_text.encode(), like=path)
        if _read(path, project) != before:
            raise WriteError("another program changed it just now", place=str(path), hint="try again")
        if after is None:
            path.unlink()
        else:
            replace_file(path, after.encode())
        if change.entry is None and backup_text is None:
            backup.unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(error.strerror or "cannot be written", place=str(path)) from error
    return replace(change, backup=None if backup_text is None else backup)

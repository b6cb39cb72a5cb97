"""`pm install` and its steps, and `pm uninstall` (AOSP's PackageManagerShellCommand)."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from droidgate_phone.app_api.values import AndroidError
from droidgate_phone.commands import CommandCall
from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader, parse_number
from droidgate_phone.commands.refusal import refuse
from droidgate_phone.commands.service_shell import ALL_USERS, is_known_user, read_user
from droidgate_phone.files import VirtualFileError
from droidgate_phone.system.installation import InstallError, InstallOptions
from droidgate_phone.system.packages import InstallSession

_STDIN: Final = "-"
_BLOCK: Final = 1 << 16

_FLAGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "-r": {}, "-R": {"replace": False}, "-d": {"downgrade": True}, "-t": {"test_only": True},
    "-g": {"grant": True},
}  # fmt: skip
_NOT_MODELLED: Final = frozenset(
    {"--apex", "--staged", "--multi-package", "--instant", "--ephemeral", "--preload", "-s"}
)
# Options that change nothing that the phone models; True: a value follows.
_NO_EFFECT: Final = {
    "-f": False, "--full": False, "--dont-kill": False, "--force-uuid": True, "--install-location": True,
    "--install-reason": True, "--originating-uri": True, "--referrer": True, "--abi": True,
    "--force-sdk": False,
    "--bypass-low-target-sdk-block": False, "--skip-verification": False, "--skip-enable": False,
    "--update-ownership": False, "--package-source": True, "--restrict-permissions": False,
    "--no-incremental": False, "--streaming": False, "--fastdeploy": False, "-l": False, "-q": False,
}  # fmt: skip


@dataclass(slots=True)
class _InstallArguments:
    options: InstallOptions
    size: int | None = None
    user: int = ALL_USERS


def _read_arguments(reader: ArgumentReader) -> _InstallArguments | str:
    """Return the options, or the name of one that is not modelled."""
    read = _InstallArguments(InstallOptions())
    while (option := reader.next_option()) is not None:
        if option == "-S":
            read.size = _read_size(reader.require())
        elif option == "--user":
            read.user = read_user(reader)
        elif option in _NO_EFFECT:
            if _NO_EFFECT[option]:
                reader.require()
        elif option in _NOT_MODELLED:
            return option
        else:
            read.options = _with_option(read.options, option, reader)
    return read


def _read_size(text: str) -> int:
    size = parse_number(text)
    if size <= 0:
        raise ArgumentError(f"Invalid size {size}")
    return size


def _with_option(options: InstallOptions, option: str, reader: ArgumentReader) -> InstallOptions:
    if option in _FLAGS:
        return replace(options, **_FLAGS[option])
    if option == "-i":
        return replace(options, installer=reader.require())
    if option == "-p":
        return replace(options, inherit=reader.require())
    raise ArgumentError(f"Unknown option {option}")


def run_install(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install [OPTIONS] [-S SIZE] [PATH...|-]`."""
    read = _read_arguments(reader)
    if isinstance(read, str):
        return refuse(call, f"pm install {read}")
    if not is_known_user(read.user):
        call.write(f"Failure [user {read.user} doesn't exist]\n")
        return 1
    paths = reader.rest()
    if (not paths or paths[0] == _STDIN) and read.size is None:
        call.write("Error: must either specify a package size or an APK file\n")
        return 1
    packages = call.system.packages
    session = packages.create_session(read.options)
    try:
        for number, path in enumerate(paths or [_STDIN]):
            name = "base.apk" if path == _STDIN else f"{number}-{posixpath.basename(path)}"
            session.parts[name] = _read_content(call, session, path, read.size)
    except BaseException:
        packages.abandon_session(session.id)
        raise
    return _commit(call, session)


def _read_content(call: CommandCall, session: InstallSession, path: str, size: int | None) -> bytes:
    files, reserve = call.system.files, call.system.packages.reserve
    if path == _STDIN:
        reserve(session, size or 0)
        return _read_input(call, size or 0)
    full = posixpath.join(call.directory, path)
    try:
        reserve(session, files.stat(full, uid=call.uid).size)
        return files.read(full, uid=call.uid)
    except VirtualFileError:
        call.write_error(f"Error: Can't open file: {path}\n")
        raise ArgumentError(f"Error: Can't open file: {path}") from None


def _read_input(call: CommandCall, size: int) -> bytes:
    read = bytearray()
    while len(read) < size and (block := call.streams.input.read(min(size - len(read), _BLOCK))):
        read += block
    return bytes(read)


def _commit(call: CommandCall, session: InstallSession) -> int:
    try:
        call.system.packages.commit_session(session)
    except InstallError as error:
        call.write(f"Failure [{error}]\n")
        return 1
    call.write("Success\n")
    return 0


def run_install_create(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install-create [OPTIONS] [-S SIZE]`."""
    read = _read_arguments(reader)
    if isinstance(read, str):
        return refuse(call, f"pm install-create {read}")
    session = call.system.packages.create_session(read.options)
    call.write(f"Success: created install session [{session.id}]\n")
    return 0


def _session(call: CommandCall, text: str | None) -> InstallSession:
    number = parse_number(text or "null")
    session = call.system.packages.sessions.get(number)
    if session is None:
        raise AndroidError("java.lang.SecurityException", f"Caller has no access to session {number}")
    return session


def run_install_write(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install-write [-S SIZE] SESSION NAME [PATH|-]`."""
    size: int | None = None
    while (option := reader.next_option()) is not None:
        if option != "-S":
            raise ArgumentError(f"Unknown option: {option}")
        size = _read_size(reader.require())
    session = _session(call, reader.next())
    name = reader.next() or ""
    path = reader.next() or _STDIN
    if path == _STDIN and size is None:
        call.write("Error: must either specify a package size or an APK file\n")
        return 1
    content = _read_content(call, session, path, size)
    if path == _STDIN and len(content) != size:
        call.write(f"Error: failed to write; Unable to write {size} bytes, only {len(content)} came\n")
        return 1
    session.parts[name] = content
    call.write(f"Success: streamed {len(content)} bytes\n")
    return 0


def run_install_remove(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install-remove SESSION NAME...`, which removes a part that was written."""
    session = _session(call, reader.next())
    names = reader.rest()
    if not names:
        call.write("Error: split name not specified\n")
        return 1
    for name in names:
        session.parts.pop(name, None)
    call.write("Success\n")
    return 0


def run_install_commit(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install-commit SESSION`."""
    option = reader.next_option()
    if option is not None:
        raise ArgumentError(f"Unknown option: {option}")
    return _commit(call, _session(call, reader.next()))


def run_install_abandon(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install-abandon SESSION`."""
    call.system.packages.abandon_session(_session(call, reader.next()).id)
    call.write("Success\n")
    return 0


def run_uninstall(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm uninstall [-k] [--user USER] PACKAGE`."""
    keep_data, user = False, ALL_USERS
    while (option := reader.next_option()) is not None:
        if option == "-k":
            keep_data = True
        elif option == "--user":
            user = read_user(reader)
        elif option == "--versionCode":
            return refuse(call, "pm uninstall --versionCode")
        else:
            call.write(f"Error: Unknown option: {option}\n")
            return 1
    name = reader.next()
    if name is None:
        call.write("Error: package name not specified\n")
        return 1
    if reader.rest():
        return refuse(call, "pm uninstall of single splits")
    if user != ALL_USERS and (not is_known_user(user) or call.system.packages.find(name) is None):
        call.write(f"Failure [not installed for {user}]\n")
        return 1
    if call.system.packages.uninstall(name, keep_data=keep_data):
        call.write("Success\n")
        return 0
    call.write("Failure [DELETE_FAILED_INTERNAL_ERROR]\n")
    return 1

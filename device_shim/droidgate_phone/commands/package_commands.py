"""`pm` and `cmd package`: queries, permissions, states, installing and uninstalling (AOSP's
PackageManagerShellCommand).
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader, parse_decimal
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.commands.intent_arguments import parse_intent
from droidgate_phone.commands.service_commands import (
    ALL_USERS,
    OWNER,
    Verb,
    check_single_user,
    is_known_user,
    read_user,
    run_guarded,
)
from droidgate_phone.common.uids import SHELL_UID
from droidgate_phone.files.phone_files import VirtualFileError
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.java.org_json import java_text
from droidgate_phone.system.installation import InstallError, InstallOptions
from droidgate_phone.system.manifests import PartKind
from droidgate_phone.system.package_records import EnabledState, InstalledPackage
from droidgate_phone.system.package_service import InstallSession
from droidgate_phone.system.processes import AndroidNotModelledError
from droidgate_phone.system.resolver import MATCH_DEFAULT_ONLY, Match

_STDIN: Final = "-"
_BLOCK: Final = 1 << 16

_FLAGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "-R": {"replace": False}, "-d": {"downgrade": True}, "-t": {"test_only": True}, "-g": {"grant": True},
}  # fmt: skip
_NOT_MODELLED: Final = frozenset(
    {
        "--apex", "--staged", "--multi-package", "--instant", "--instantapp", "--ephemeral", "--preload",
        "--pkg", "--enable-rollback", "--rollback-impact-level", "--dexopt-compiler-filter",
        "--install-location", "--install-reason", "--package-source", "--staged-ready-timeout",
        "--force-uuid", "--originating-uri", "--referrer", "--abi",
    }
)  # fmt: skip
_SHELL_INSTALLER: Final = "com.android.shell"


# Options that change nothing that the phone models.
_NO_EFFECT: Final = frozenset(
    {
        "-r", "-f", "--full", "--dont-kill", "--force-sdk", "--bypass-low-target-sdk-block",
        "--skip-verification", "--skip-enable", "--restrict-permissions", "--non-staged",
        "--force-non-staged", "--force-queryable", "--force-verification", "--ignore-dexopt-profile",
        "--disable-auto-install-dependencies",
    }
)  # fmt: skip


@dataclass(slots=True)
class _InstallArguments:
    options: InstallOptions
    size: int | None = None
    user: int = ALL_USERS


def _read_arguments(reader: ArgumentReader) -> _InstallArguments:
    """Return the options.

    Raises:
        AndroidNotModelledError: one of them is not modelled.
        ArgumentError: as Android would throw.
    """
    read = _InstallArguments(InstallOptions())
    while (option := reader.next_option()) is not None:
        if option == "-S":
            read.size = parse_decimal(reader.next(), long=True)
            if read.size <= 0:
                raise ArgumentError("Size must be positive")
        elif option == "--user":
            read.user = read_user(reader)
        elif option in _NOT_MODELLED:
            raise AndroidNotModelledError(f"pm install {option}")
        elif option not in _NO_EFFECT:
            read.options = _with_option(read.options, option, reader)
    return read


def _with_option(options: InstallOptions, option: str, reader: ArgumentReader) -> InstallOptions:
    if option in _FLAGS:
        return replace(options, **_FLAGS[option])
    if option == "--update-ownership":
        return replace(options, installer=options.installer or _SHELL_INSTALLER)
    if option not in ("-i", "-p"):
        raise ArgumentError(f"Unknown option {option}")
    package = reader.next()
    if package is None:
        raise ArgumentError(f"Missing {'installer package' if option == '-i' else 'inherit package name'}")
    return replace(options, installer=package) if option == "-i" else replace(options, inherit=package)


def run_install(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install [OPTIONS] [-S SIZE] [PATH...|-]`."""
    read = _read_arguments(reader)
    if not is_known_user(read.user):
        call.write(f"Failure [user {read.user} doesn't exist]\n")
        return 1
    paths = reader.rest() or [_STDIN]
    if paths[0] == _STDIN and read.size is None:
        call.write(_NO_SIZE)
        return 1
    if paths[0] == _STDIN and len(paths) > 1:
        call.write("Error: can't specify SPLIT(s) along with STDIN\n")
        return 1
    packages = call.system.packages
    session = packages.create_session(read.options)
    try:
        for number, path in enumerate(paths):
            name = "base.apk" if path == _STDIN else f"{number}-{posixpath.basename(path)}"
            content = _read_content(call, session, path, read.size)
            if content is None:
                packages.abandon_session(session.id)
                return 1 if read.size is not None else _print_unopened(call, path)
            session.parts[name] = content
    except BaseException:
        packages.abandon_session(session.id)
        raise
    return _commit(call, session)


def _print_unopened(call: CommandCall, path: str) -> int:
    problem = f"Error: Can't open file: {path}"
    call.write_error(f"{problem}\n")
    raise ArgumentError(problem)


_NO_SIZE: Final = "Error: must either specify a package size or an APK file\n"


def _read_content(call: CommandCall, session: InstallSession, path: str, size: int | None) -> bytes | None:
    """Return what is at a path or, with a size, on standard input; None, and say so, where nothing is."""
    files, reserve = call.system.files, call.system.packages.reserve
    if path == _STDIN and size is not None:
        reserve(session, size)
        return _read_input(call, size)
    full = posixpath.join(call.directory, path)
    try:
        reserve(session, files.stat(full, uid=call.uid).size)
        return files.read(full, uid=call.uid)
    except VirtualFileError:
        call.write_error(f"Error: Unable to open file: {path}\n")
        if not path.startswith(_SHELL_FILES):
            call.write_error(f"Consider using a file under {_SHELL_FILES}\n")
        return None


_SHELL_FILES: Final = "/data/local/tmp/"


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
    session = call.system.packages.create_session(_read_arguments(reader).options)
    call.write(f"Success: created install session [{session.id}]\n")
    return 0


def _session(call: CommandCall, number: int) -> InstallSession:
    session = call.system.packages.sessions.get(number)
    if session is None:
        raise AndroidError("java.lang.SecurityException", f"Caller has no access to session {number}")
    return session


def run_install_write(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install-write [-S SIZE] SESSION NAME [PATH|-]`."""
    size = -1
    while (option := reader.next_option()) is not None:
        if option != "-S":
            raise ArgumentError(f"Unknown option: {option}")
        size = parse_decimal(reader.next(), long=True)
    session_id, name, path = parse_decimal(reader.next()), reader.next() or "", reader.next() or _STDIN
    session = _session(call, session_id)
    if path == _STDIN and size <= 0:
        call.write_error("Error: must specify an APK size\n")
        return 1
    content = _read_content(call, session, path, size if path == _STDIN else None)
    if content is None:
        return FAILED
    if path == _STDIN and len(content) != size:
        call.write_error(f"Error: failed to write; Unable to write {size} bytes, only {len(content)} came\n")
        return 1
    session.parts[name] = content
    call.write(f"Success: streamed {len(content)} bytes\n")
    return 0


def run_install_commit(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install-commit SESSION`."""
    option = reader.next_option()
    if option == "--staged-ready-timeout":
        return refuse(call, f"pm install-commit {option}")
    if option is not None:
        raise ArgumentError(f"Unknown option: {option}")
    return _commit(call, _session(call, parse_decimal(reader.next())))


def run_install_abandon(call: CommandCall, reader: ArgumentReader) -> int:
    """`pm install-abandon SESSION`."""
    call.system.packages.abandon_session(_session(call, parse_decimal(reader.next())).id)
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
            if not is_known_user(user) and call.system.release.at_least(_FIRST_WITH_USERS):
                call.write(f"Failure [user {user} doesn't exist]\n")
                return 1
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


_FIRST_WITH_USERS: Final = 36
"""From here on `pm uninstall` looks for the user and `pm grant` for the package (as 16's class, not 14's)."""

# Number of each state, as PackageManager.COMPONENT_ENABLED_STATE_*.
_STATES: Final[Mapping[EnabledState, int]] = {
    "default": 0,
    "enabled": 1,
    "disabled": 2,
    "disabled-user": 3,
}
_STATE_VERBS: Final[Mapping[str, EnabledState]] = {
    "enable": "enabled",
    "disable": "disabled",
    "disable-user": "disabled-user",
}
_LIST_FLAGS: Final[Mapping[str, str]] = {
    "-d": "disabled",
    "-e": "enabled",
    "-f": "paths",
    "-i": "installer",
    "-s": "system",
    "-3": "third_party",
    "-U": "uid",
    "--show-versioncode": "version",
    "--show-stopped": "stopped",
    "--apex-only": "apex",
    "-q": "quarantined",
}
_NEVER_LISTED: Final = frozenset({"apex", "quarantined"})
_LIST_WITHOUT_EFFECT: Final = frozenset({"-a", "-l", "-u", "--match-libraries", "--factory-only"})


_OTHER_LISTS: Final = frozenset(
    {
        "features", "instrumentation", "libraries", "permission-groups", "permissions", "sdks",
        "staged-sessions", "users",
    }
)  # fmt: skip


def _run_list(call: CommandCall, reader: ArgumentReader) -> int:
    kind = reader.next()
    if kind in ("package", "packages"):
        return _list_packages(call, reader)
    if kind is None:
        call.write("Error: didn't specify type of data to list\n")
        return FAILED
    if kind in _OTHER_LISTS:
        return refuse(call, f"pm list {kind}")
    call.write(f"Error: unknown list type '{kind}'\n")
    return FAILED


def _list_packages(call: CommandCall, reader: ArgumentReader) -> int:
    flags: set[str] = set()
    only_uid: int | None = None
    user = ALL_USERS
    try:
        while (option := reader.next_option()) is not None:
            if option in _LIST_FLAGS:
                flags.add(_LIST_FLAGS[option])
            elif option == "--user":
                user = read_user(reader)
            elif option == "--uid":
                flags.add("uid")
                only_uid = parse_decimal(reader.require())
            elif option not in _LIST_WITHOUT_EFFECT:
                call.write(f"Error: Unknown option: {option}\n")
                return FAILED
    except ArgumentError as error:
        call.write(f"Error: {error.exception}: {error.message}\n")
        return FAILED
    if not is_known_user(user) or flags & _NEVER_LISTED:
        return 0
    part_of_name = reader.next()
    for package in call.system.packages.all():
        is_named = part_of_name is None or part_of_name in package.name
        if is_named and only_uid in (None, package.uid) and _is_listed(package, flags):
            call.write(_package_line(package, flags))
    return 0


def _is_listed(package: InstalledPackage, flags: set[str]) -> bool:
    left_out = {
        "enabled" if not package.is_enabled else "disabled",
        "third_party" if package.system else "system",
    }
    return not left_out & flags


def _package_line(package: InstalledPackage, flags: set[str]) -> str:
    line = f"package:{package.base_path + '=' if 'paths' in flags else ''}{package.name}"
    if "version" in flags:
        line += f" versionCode:{package.version_code}"
    if "stopped" in flags:
        line += f" stopped={java_text(package.stopped)}"
    if "installer" in flags:
        line += f"  installer={package.installer or 'null'}"
    if "uid" in flags:
        line += f" uid:{package.uid}"
    return line + "\n"


def _run_path(call: CommandCall, reader: ArgumentReader) -> int:
    user = read_user(reader) if reader.next_option() == "--user" else OWNER
    name = reader.require()
    check_single_user(user)
    package = call.system.packages.find(name)
    if package is None or not is_known_user(user):
        return 1
    call.write("".join(f"package:{path}\n" for path in package.paths))
    return 0


@dataclass(slots=True)
class _Query:
    intent: Intent
    brief: bool = False
    components: bool = False
    user: int = OWNER
    flags: int = 0


_QUERY_FLAGS: Final = {"--brief": "brief", "--components": "components"}


def _read_query(reader: ArgumentReader) -> _Query:
    query = _Query(Intent())

    def take(option: str, arguments: ArgumentReader) -> bool:
        if option in _QUERY_FLAGS:
            setattr(query, _QUERY_FLAGS[option], True)
        elif option == "--user":
            query.user = read_user(arguments)
        elif option == "--query-flags":
            query.flags = arguments.require_number()
        else:
            return False
        return True

    query.intent = parse_intent(reader, take)
    check_single_user(query.user)
    return query


_QUERIES: Final[Mapping[str, tuple[PartKind, str, str]]] = {
    "query-activities": ("activity", "Activity", "activities"),
    "query-services": ("service", "Service", "services"),
    "query-receivers": ("receiver", "Receiver", "receivers"),
}


def _run_query(verb: str, call: CommandCall, reader: ArgumentReader) -> int:
    kind, title, plural = _QUERIES[verb]
    query = _read_query(reader)
    matches = _find_matches(call, kind, query)
    if not matches:
        call.write(f"No {plural} found\n")
        return 0
    if query.components:
        call.write("".join(f"{item.name.flatten_short()}\n" for item in matches))
        return 0
    if not query.brief:
        return refuse(call, f"{verb} without --components or --brief")
    call.write(f"{len(matches)} {plural} found:\n")
    for number, item in enumerate(matches):
        call.write(f"  {title} #{number}:\n" + _brief_lines(item, "    "))
    return 0


def _find_matches(call: CommandCall, kind: PartKind, query: _Query) -> list[Match]:
    if not is_known_user(query.user):
        return []
    return call.system.resolver.query(kind, query.intent, caller_uid=call.uid, flags=query.flags)


def _brief_lines(match: Match, indent: str) -> str:
    return (
        f"{indent}priority={match.priority} preferredOrder=0 match=0x{match.match:x} specificIndex=-1 "
        f"isDefault={'true' if match.is_default else 'false'}\n{indent}{match.name.flatten_short()}\n"
    )


def _run_resolve(call: CommandCall, reader: ArgumentReader) -> int:
    query = _read_query(reader)
    query.flags |= MATCH_DEFAULT_ONLY if query.intent.component is None else 0
    matches = _find_matches(call, "activity", query)
    if not matches:
        call.write("No activity found\n")
        return 0
    if len(matches) > 1 and matches[0].priority == matches[1].priority:
        return refuse(call, "resolve-activity where several activities match equally (the chooser)")
    if query.components:
        call.write(f"{matches[0].name.flatten_short()}\n")
    elif query.brief:
        call.write(_brief_lines(matches[0], ""))
    else:
        return refuse(call, "resolve-activity without --components or --brief")
    return 0


def _run_clear(call: CommandCall, reader: ArgumentReader) -> int:
    user = OWNER
    while (option := reader.next_option()) is not None:
        if option == "--cache-only":
            return refuse(call, f"pm clear {option}")
        if option != "--user":
            call.write(f"Error: Unknown option: {option}\n")
            return 1
        user = read_user(reader)
    name = reader.next()
    if name is None:
        call.write_error("Error: no package specified\n")
        return 1
    check_single_user(user)
    if call.system.packages.find(name) is None:
        call.write_error("Failed\n")
        return 1
    call.system.force_stop(name)
    call.system.packages.clear_data(name)
    call.write("Success\n")
    return 0


def _run_state(state: EnabledState, call: CommandCall, reader: ArgumentReader) -> int:
    user = read_user(reader) if reader.next_option() == "--user" else OWNER
    target = reader.next()
    if target is None:
        call.write_error("Error: no package or component specified\n")
        return 1
    check_single_user(user)
    name = ComponentName.parse(target)
    package = call.system.packages.find(name.package if name else target)
    if package is None:
        message = f"Unknown package: {target}" if name is None else f"Unknown component: {name.flatten()}"
        raise AndroidError("java.lang.IllegalArgumentException", message)
    _check_shell_may_set(call, package, name, state)
    if name is None:
        package.enabled = state
        call.write(f"Package {package.name} new state: {state}\n")
    else:
        if all(component.name != name.class_name for component in package.components()):
            message = f"Component class {name.class_name} does not exist in {package.name}"
            raise AndroidError("java.lang.IllegalArgumentException", message)
        package.component_states[name.class_name] = state
        call.write(f"Component {{{name.flatten()}}} new state: {state}\n")
    call.system.packages.changed(package)
    return 0


def _check_shell_may_set(
    call: CommandCall, package: InstalledPackage, name: ComponentName | None, state: EnabledState
) -> None:
    """Check that the shell changes a whole package between enabled and disabled-user, or one for tests."""
    if call.uid != SHELL_UID or package.manifest.test_only:
        return
    if name is None and state in ("default", "enabled", "disabled-user") and package.enabled != "disabled":
        return
    target = f"{package.name}/{name.class_name if name else 'null'}"
    message = f"Shell cannot change component state for {target} to {_STATES[state]}"
    raise AndroidError("java.lang.SecurityException", message)


def _run_grant(call: CommandCall, reader: ArgumentReader, *, grants: bool) -> int:
    user = OWNER
    while (option := reader.next_option()) is not None:
        if option == "--all-permissions":
            return refuse(call, f"pm grant {option}")
        if option == "--user":
            user = read_user(reader)
    name, permission = reader.next(), reader.next()
    if name is None or permission is None:
        call.write_error(f"Error: no {'package' if name is None else 'permission'} specified\n")
        return 1
    check_single_user(user)
    package = call.system.packages.find(name)
    permissions = call.system.packages.permissions
    if package is None and call.system.release.at_least(_FIRST_WITH_USERS):
        call.write_error("Error: package not found\n")
        call.write("Failure [package not found]\n")
        return 1
    if package is None:
        raise AndroidError("java.lang.IllegalArgumentException", f"Unknown package: {name}")
    if permissions.protection_of(permission) is None:
        raise AndroidError("java.lang.IllegalArgumentException", f"Unknown permission: {permission}")
    if permission not in package.manifest.requested_permissions:
        message = f"Package {name} has not requested permission {permission}"
        raise AndroidError("java.lang.SecurityException", message)
    if not permissions.is_changeable(permission):
        message = f"Permission {permission} requested by {name} is not a changeable permission type"
        raise AndroidError("java.lang.SecurityException", message)
    if grants:
        package.granted.add(permission)
    else:
        package.granted.discard(permission)
        call.system.end_processes(package.name, "permissions revoked")
    return 0


_VERBS: Final[Mapping[str, Verb]] = {
    "clear": _run_clear,
    "install": run_install,
    "install-abandon": run_install_abandon,
    "install-commit": run_install_commit,
    "install-create": run_install_create,
    "install-destroy": run_install_abandon,
    "install-write": run_install_write,
    "list": _run_list,
    "path": _run_path,
    "resolve-activity": _run_resolve,
    "uninstall": run_uninstall,
    "grant": partial(_run_grant, grants=True),
    "revoke": partial(_run_grant, grants=False),
    **{verb: partial(_run_query, verb) for verb in _QUERIES},
    **{verb: partial(_run_state, state) for verb, state in _STATE_VERBS.items()},
}


def run_package(call: CommandCall) -> int:
    """`pm ARGUMENTS` and `cmd package ARGUMENTS`."""
    if not call.arguments:
        return refuse(call, "the help of pm")
    verb, reader = call.arguments[0], ArgumentReader(call.arguments, 1)
    if verb not in _VERBS:
        return refuse(call, f"pm {verb}")
    return run_guarded(call, verb, lambda: _VERBS[verb](call, reader))


COMMANDS: Final[Mapping[str, Command]] = {"pm": run_package}

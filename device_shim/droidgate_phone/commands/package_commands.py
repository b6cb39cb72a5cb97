"""`pm` and `cmd package` (AOSP's PackageManagerShellCommand)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from droidgate_phone.app_api.values import AndroidError
from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands import install_commands as installing
from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader, parse_number
from droidgate_phone.commands.intent_arguments import parse_intent
from droidgate_phone.commands.refusal import FAILED, refuse
from droidgate_phone.commands.service_shell import ALL_USERS, is_known_user, read_user, run_guarded
from droidgate_phone.intents import ComponentName, Intent
from droidgate_phone.system.manifests import PartKind
from droidgate_phone.system.package_records import EnabledState, InstalledPackage
from droidgate_phone.system.permissions import SHELL_UID
from droidgate_phone.system.resolver import MATCH_DEFAULT_ONLY, Match

Verb = Callable[[CommandCall, ArgumentReader], int]

# Number of each state, as PackageManager.COMPONENT_ENABLED_STATE_*.
_STATES: Final[Mapping[EnabledState, int]] = {
    "default": 0,
    "enabled": 1,
    "disabled": 2,
    "disabled-user": 3,
    "disabled-until-used": 4,
}
_STATE_VERBS: Final[Mapping[str, EnabledState]] = {
    "enable": "enabled",
    "disable": "disabled",
    "disable-user": "disabled-user",
    "disable-until-used": "disabled-until-used",
    "default-state": "default",
}
_FEATURES: Final = (
    "android.hardware.touchscreen",
    "android.software.app_widgets",
    "android.software.home_screen",
)


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
}
_LIST_WITHOUT_EFFECT: Final = frozenset({"-a", "-l", "-u", "--match-libraries", "--factory-only"})


def _run_list(call: CommandCall, reader: ArgumentReader) -> int:
    kind = reader.next()
    if kind in ("package", "packages"):
        return _list_packages(call, reader)
    if kind == "features":
        call.write("".join(f"feature:{name}\n" for name in _FEATURES))
        return 0
    if kind == "users":
        call.write("Users:\n\tUserInfo{0:Owner:c13} running\n")
        return 0
    if kind == "permissions":
        return _list_permissions(call, reader)
    if kind is None:
        call.write("Error: didn't specify type of data to list\n")
        return FAILED
    if kind in ("instrumentation", "libraries", "permission-groups", "staged-sessions", "sdks"):
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
                only_uid = parse_number(reader.require())
            elif option not in _LIST_WITHOUT_EFFECT:
                call.write(f"Error: Unknown option: {option}\n")
                return FAILED
    except ArgumentError as error:
        call.write(f"Error: {error.exception}: {error.message}\n")
        return FAILED
    if not is_known_user(user):
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
        line += f" stopped={'true' if package.stopped else 'false'}"
    if "installer" in flags:
        line += f"  installer={package.installer or 'null'}"
    if "uid" in flags:
        line += f" uid:{package.uid}"
    return line + "\n"


def _list_permissions(call: CommandCall, reader: ArgumentReader) -> int:
    option = reader.next_option()
    if option not in (None, "-f"):
        return refuse(call, f"pm list permissions {option}")
    call.write("All Permissions:\n\n")
    permissions = call.system.packages.permissions
    for name, level in permissions.known().items():
        if option is None:
            call.write(f"permission:{name}\n")
            continue
        owner = permissions.owner_of(name)
        call.write(
            f"+ permission:{name}\n  package:{owner.name if owner else 'android'}\n  label:null\n"
            f"  description:null\n  protectionLevel:{level}\n"
        )
    return 0


def _run_path(call: CommandCall, reader: ArgumentReader) -> int:
    user = read_user(reader) if reader.next_option() == "--user" else ALL_USERS
    package = call.system.packages.find(reader.require())
    if package is None or not is_known_user(user):
        return 1
    call.write("".join(f"package:{path}\n" for path in package.paths))
    return 0


@dataclass(slots=True)
class _Query:
    intent: Intent
    brief: bool = False
    components: bool = False
    user: int = ALL_USERS
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
    return query


_QUERIES: Final[Mapping[str, tuple[PartKind, str, str]]] = {
    "query-activities": ("activity", "Activity", "activities"),
    "query-services": ("service", "Service", "services"),
    "query-receivers": ("receiver", "Receiver", "receivers"),
}


def _run_query(verb: str, call: CommandCall, reader: ArgumentReader) -> int:
    kind, title, plural = _QUERIES[verb]
    query = _read_query(reader)
    found = _found(call, kind, query)
    if not found:
        call.write(f"No {plural} found\n")
        return 0
    if query.components:
        call.write("".join(f"{item.name.flatten_short()}\n" for item in found))
        return 0
    if not query.brief:
        return refuse(call, f"{verb} without --components or --brief")
    call.write(f"{len(found)} {plural} found:\n")
    for number, item in enumerate(found):
        call.write(f"  {title} #{number}:\n" + _brief_lines(item, "    "))
    return 0


def _found(call: CommandCall, kind: PartKind, query: _Query) -> list[Match]:
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
    found = _found(call, "activity", query)
    if not found:
        call.write("No activity found\n")
        return 0
    if len(found) > 1 and found[0].priority == found[1].priority:
        return refuse(call, "resolve-activity where several activities match equally (the chooser)")
    if query.components:
        call.write(f"{found[0].name.flatten_short()}\n")
    elif query.brief:
        call.write(_brief_lines(found[0], ""))
    else:
        return refuse(call, "resolve-activity without --components or --brief")
    return 0


def _run_clear(call: CommandCall, reader: ArgumentReader) -> int:
    while (option := reader.next_option()) is not None:
        if option != "--user":
            return refuse(call, f"pm clear {option}")
        read_user(reader)
    name = reader.next()
    if name is None:
        call.write_error("Error: no package specified\n")
        return 1
    if call.system.packages.find(name) is None:
        call.write_error("Failed\n")
        return 1
    call.system.force_stop(name)
    call.system.packages.clear_data(name)
    call.write("Success\n")
    return 0


def _run_state(state: EnabledState, call: CommandCall, reader: ArgumentReader) -> int:
    while reader.next_option() is not None:
        read_user(reader)
    target = reader.next()
    if target is None:
        call.write_error("Error: no package or component specified\n")
        return 1
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
    while reader.next_option() is not None:
        read_user(reader)
    name, permission = reader.next(), reader.next()
    if name is None or permission is None:
        call.write_error(f"Error: no {'package' if name is None else 'permission'} specified\n")
        return 1
    package = call.system.packages.find(name)
    permissions = call.system.packages.permissions
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
    "install": installing.run_install,
    "install-abandon": installing.run_install_abandon,
    "install-commit": installing.run_install_commit,
    "install-create": installing.run_install_create,
    "install-destroy": installing.run_install_abandon,
    "install-remove": installing.run_install_remove,
    "install-write": installing.run_install_write,
    "list": _run_list,
    "path": _run_path,
    "resolve-activity": _run_resolve,
    "uninstall": installing.run_uninstall,
    "grant": partial(_run_grant, grants=True),
    "revoke": partial(_run_grant, grants=False),
    **{verb: partial(_run_query, verb) for verb in _QUERIES},
    **{verb: partial(_run_state, state) for verb, state in _STATE_VERBS.items()},
}


def run_package(call: CommandCall) -> int:
    """`pm ARGUMENTS` and `cmd package ARGUMENTS`."""
    if not call.arguments:
        return refuse(call, "the help of pm")
    verb, reader = call.arguments[0], ArgumentReader(call.arguments[1:])
    if verb not in _VERBS:
        return refuse(call, f"pm {verb}")
    return run_guarded(call, verb, lambda: _VERBS[verb](call, reader))


COMMANDS: Final[Mapping[str, Command]] = {"pm": run_package}

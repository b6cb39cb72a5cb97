"""What is installed, and which components answer an Intent: `pm list packages`, `pm path` and `cmd package
query-services|query-activities|query-receivers`.

Shapes: reference android-runtime 1.8; AOSP PackageManagerShellCommand.runListPackages,
displayPackageFilePath, runQueryIntentServices and printResolveInfo.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from droidgate.devices.device import Condition, Device
from droidgate.devices.device_errors import DeviceOutputError, command_failed, output_lines
from droidgate.devices.quoting import check_action, check_package, check_user, is_component, is_package
from droidgate_mappings.records import dataclass

QueryKind = Literal["services", "activities", "receivers"]


def query_command(kind: QueryKind, action: str, user: int) -> list[str]:
    """Return the command that asks for the components of an action."""
    options = ["--components", "-a", check_action(action), "--user", check_user(user)]
    return ["cmd", "package", f"query-{kind}", *options]


def query_components(device: Device, kind: QueryKind, action: str, user: int = 0) -> list[str]:
    """Return the components that answer an action, as `package/full.class.Name`.

    Raises:
        DeviceError: the device fails, or its output is not that of `cmd package query-...`.
    """
    result = device.run(query_command(kind, action, user))
    return read_components(kind, result.text, result.exit_status, result.error_text)


def read_components(kind: QueryKind, text: str, exit_status: int = 0, error_text: str = "") -> list[str]:
    """Read what `cmd package query-KIND --components` printed: one component per line, or `No KIND found`.

    Returns:
        The components in Android's order, classes written out.

    Raises:
        CommandFailedError: it ended with an error.
        DeviceOutputError: a line is not a component.
    """
    command = f"cmd package query-{kind}"
    if exit_status != 0:
        raise command_failed(command, exit_status, text, error_text)
    lines = list(output_lines(command, text))
    if [line for _, line in lines] == [f"No {kind} found"]:
        return []
    if not lines:
        raise DeviceOutputError(command, "it printed nothing")
    for number, line in lines:
        if not is_component(line):
            raise DeviceOutputError(command, "the line is not a component", line=number, text=line)
    return [full_component(line) for _, line in lines]


def full_component(component: str) -> str:
    """Return a component with its class written out: `a.b/.C` is `a.b/a.b.C`."""
    package, _, name = component.partition("/")
    return f"{package}/{package}{name}" if name.startswith(".") else component


_LIST: Final = "pm list packages"
_PATH: Final = "pm path"
_PATH_MARK: Final = "package:"
_DETAILS: Final = re.compile(
    r"(?P<head>.*) versionCode:(?P<version>-?\d{1,19}) uid:(?P<uids>\d{1,10}(?:,\d{1,10})*)"
)
_MAX_VERSION: Final = 2**63


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """An installed package.

    Attributes:
        name: Its package name.
        path: Its APK, or its base APK.
        version_code: The long version code.
        uid: The uid that it runs as for the user asked for.
    """

    name: str
    path: str
    version_code: int
    uid: int


def list_command(user: int) -> list[str]:
    """Return the command that lists all packages of a user."""
    return ["pm", "list", "packages", "-f", "-U", "--show-versioncode", "--user", check_user(user)]


def list_packages(device: Device, user: int = 0) -> list[InstalledPackage]:
    """Return the packages that are installed for a user, sorted by name.

    Raises:
        DeviceError: the device fails, or its output is not that of `pm list packages`.
    """
    arguments = list_command(user)
    result = device.run(arguments)
    return read_packages(result.text, result.exit_status, result.error_text)


def read_packages(text: str, exit_status: int = 0, error_text: str = "") -> list[InstalledPackage]:
    """Read what `pm list packages -f -U --show-versioncode` printed.

    Each line is `package:PATH=NAME versionCode:N uid:N`; the path has `=` in it, the name has not.

    Raises:
        CommandFailedError: it ended with an error.
        DeviceOutputError: a line is none of these, or a package is duplicate.
    """
    if exit_status != 0:
        raise command_failed(_LIST, exit_status, text, error_text)
    packages: dict[str, InstalledPackage] = {}
    for number, line in output_lines(_LIST, text):
        package = _read_package(line, number)
        if package.name in packages:
            raise DeviceOutputError(_LIST, "duplicate package", line=number, text=package.name)
        packages[package.name] = package
    if not packages:
        raise DeviceOutputError(_LIST, "there is no package, not even Android's own", text=text)
    return [packages[name] for name in sorted(packages)]


def _read_package(line: str, number: int) -> InstalledPackage:
    match = _DETAILS.fullmatch(line.removeprefix(_PATH_MARK)) if line.startswith(_PATH_MARK) else None
    path, equals, name = match["head"].rpartition("=") if match else ("", "", "")
    if match is None or not equals or not path.startswith("/") or not is_package(name):
        raise DeviceOutputError(_LIST, "the line is not a package", line=number, text=line)
    version = int(match["version"])
    if version >= _MAX_VERSION:
        raise DeviceOutputError(_LIST, "the version code is too large", line=number, text=line)
    return InstalledPackage(name, path, version, int(match["uids"].split(",", 1)[0]))


_USER: Final = re.compile(r"\s*User (\d+):")
_FLAG: Final = re.compile(r"\b(installed|hidden|suspended|quarantined)=true\b", re.ASCII)
_REQUESTED: Final = re.compile(r"\s*([A-Za-z_][\w.]*)(?:: restricted=true)?", re.ASCII)
_GRANTED: Final = re.compile(r"\s*([A-Za-z_][\w.]*): granted=true\b", re.ASCII)


def permissions_of(device: Device, package: str, user: int = 0) -> tuple[frozenset[str], frozenset[str]]:
    """Return the permissions that a package requests, and those that it holds for a user.

    Raises:
        DeviceError: the device fails.
    """
    result = device.run(["dumpsys", "package", check_package(package)])
    return read_permissions(result.text, user)


def read_permissions(text: str, user: int = 0) -> tuple[frozenset[str], frozenset[str]]:
    """Read what `dumpsys package` printed of one package; nobody promises its form.

    Returns:
        What is below `requested permissions:`, and what is `granted=true` for all users or for this one.
    """
    requested: set[str] = set()
    held_permissions: set[str] = set()
    of_user, is_requested = user, False
    for line in text.splitlines():
        header = _USER.match(line)
        if header is not None:
            of_user = int(header[1])
        if line.rstrip().endswith(":"):
            is_requested = line.strip() == "requested permissions:"
            continue
        request, granted = _REQUESTED.fullmatch(line), _GRANTED.match(line)
        if is_requested and request is not None:
            requested.add(request[1])
        if granted is not None and of_user == user:
            held_permissions.add(granted[1])
    return frozenset(requested), frozenset(held_permissions)


@dataclass(frozen=True, slots=True)
class PackageState:
    """What a user, an administrator or another app did to a package, for one user of the phone.

    Attributes:
        is_installed: The user has it.
        is_hidden: An administrator hides it.
        is_suspended: Its activities do not open.
        is_quarantined: It is suspended, and none of its components is found.
        is_archived: Its APK was removed, and its icon and data kept (Android 15 and later).
    """

    is_installed: bool = True
    is_hidden: bool = False
    is_suspended: bool = False
    is_quarantined: bool = False
    is_archived: bool = False


def package_states(device: Device, package: str) -> dict[int, PackageState]:
    """Return the states of a package by user; nothing where no user ever had it.

    Raises:
        DeviceError: the device fails.
    """
    return read_package_states(device.run(["dumpsys", "package", check_package(package)]).text)


def read_package_states(text: str) -> dict[int, PackageState]:
    """Read what `dumpsys package` printed of one package; nobody promises its form."""
    flags: dict[int, set[str]] = {}
    archived: set[int] = set()
    user = None
    for line in text.splitlines():
        header = _USER.match(line)
        if header is not None:
            user = int(header[1])
            flags.setdefault(user, set()).update(_FLAG.findall(line))
        elif user is not None and line.strip().startswith("archiveTime="):
            archived.add(user)
    return {
        user: PackageState(
            is_installed="installed" in words,
            is_hidden="hidden" in words,
            is_suspended="suspended" in words,
            is_quarantined="quarantined" in words,
            is_archived=user in archived,
        )
        for user, words in flags.items()
    }


def disabled_packages(device: Device, user: int = 0) -> frozenset[str]:
    """Return the packages that are disabled as a whole for a user: by their manifest, the user or the shell.

    Raises:
        DeviceError: the device fails, or its output is not that of `pm list packages`.
    """
    result = device.run(["pm", "list", "packages", "-d", "--user", check_user(user)])
    return frozenset(read_package_names(result.text, result.exit_status, result.error_text))


def read_package_names(text: str, exit_status: int = 0, error_text: str = "") -> list[str]:
    """Read what `pm list packages` printed without `-f`: one `package:NAME` per line, or nothing.

    Returns:
        The packages in Android's order.

    Raises:
        CommandFailedError: it ended with an error.
        DeviceOutputError: a line is none of these.
    """
    if exit_status != 0:
        raise command_failed(_LIST, exit_status, text, error_text)
    names = []
    for number, line in output_lines(_LIST, text):
        name = line.removeprefix(_PATH_MARK)
        if name == line or not is_package(name):
            raise DeviceOutputError(_LIST, "the line is not a package", line=number, text=line)
        names.append(name)
    return names


def package_paths(device: Device, package: str, user: int = 0) -> list[str]:
    """Return the APKs of a package: the base APK first, then its splits; nothing where it is not installed.

    Raises:
        DeviceError: the device fails, or its output is not that of `pm path`.
    """
    result = device.run(_path_command(package, user))
    return read_paths(result.text, result.exit_status, result.error_text)


def is_installed_at(package: str, path: str, user: int = 0) -> Condition:
    """Return the condition that a package is installed for a user, with this base APK."""
    return Condition(_path_command(package, user), f"{_PATH_MARK}{path}")


def _path_command(package: str, user: int) -> list[str]:
    return ["pm", "path", "--user", check_user(user), check_package(package)]


def read_paths(text: str, exit_status: int = 0, error_text: str = "") -> list[str]:
    """Read what `pm path` printed: one `package:PATH` per line.

    For a package that is not there it prints nothing and ends with status 1.

    Raises:
        CommandFailedError: it ended with an error.
        DeviceOutputError: a line is none of these.
    """
    if exit_status == 1 and not text.strip() and not error_text.strip():
        return []
    if exit_status != 0:
        raise command_failed(_PATH, exit_status, text, error_text)
    paths: list[str] = []
    for number, line in output_lines(_PATH, text):
        path = line.removeprefix(_PATH_MARK)
        if path == line or not path.startswith("/") or path in paths:
            raise DeviceOutputError(_PATH, "the line is not an APK", line=number, text=line)
        paths.append(path)
    if not paths:
        raise DeviceOutputError(_PATH, "there is no APK")
    return paths

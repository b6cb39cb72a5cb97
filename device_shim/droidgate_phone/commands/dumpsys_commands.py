"""`dumpsys`: a few facts of a few services; no parser may depend on more (reference android-runtime 1.8)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.java.org_json import java_text
from droidgate_phone.system.activity_records import ActivityRecord

Dump = Callable[[CommandCall, tuple[str, ...]], int]


def _dump_package(call: CommandCall, arguments: tuple[str, ...]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        return refuse(call, " ".join(("dumpsys package", *arguments)))
    package = call.system.packages.find(arguments[0])
    if package is None:
        call.write(f"Unable to find package: {arguments[0]}\n")
        return 0
    flags = " ".join(("DEBUGGABLE",) * package.manifest.debuggable + ("HAS_CODE",))
    lines = [
        "Packages:",
        f"  Package [{package.name}] (0):",
        f"    {'appId' if call.system.release.at_least(33) else 'userId'}={package.uid}",
        f"    codePath={package.code_folder}",
        f"    versionCode={package.version_code} minSdk={package.minimum_sdk} targetSdk={package.target_sdk}",
        f"    versionName={package.version_name or 'null'}",
        f"    flags=[ {flags} ]",
        f"    firstInstallTime={_time(package.first_installed)}",
        f"    lastUpdateTime={_time(package.last_updated)}",
        f"    installerPackageName={package.installer or 'null'}",
        "    requested permissions:",
        *(f"      {requested_permission}" for requested_permission in package.manifest.requested_permissions),
        (
            "    User 0: installed=true hidden=false suspended=false "
            f"stopped={java_text(package.stopped)} enabled={_ENABLED[package.enabled]}"
        ),
        "      granted permissions:",
        *(f"        {item}: granted=true" for item in sorted(package.granted)),
    ]
    call.write("\n".join(lines) + "\n")
    return 0


_ENABLED: Final = {"default": 0, "enabled": 1, "disabled": 2, "disabled-user": 3}


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))


def _dump_trust(call: CommandCall, arguments: tuple[str, ...]) -> int:
    """Print the line of AOSP's TrustManagerService.dumpUser that clients read."""
    if arguments:
        return refuse(call, " ".join(("dumpsys trust", *arguments)))
    locked = int(call.system.is_locked)
    user = f'User "Owner" (id=0, flags=0x4c13) (current): trusted=0, trustManaged=0, deviceLocked={locked}'
    call.write(f"Trust manager state:\n {user}, strongAuthRequired=0x0\n")
    return 0


def _dump_idle(call: CommandCall, arguments: tuple[str, ...]) -> int:
    if arguments[:1] != ("whitelist",):
        return refuse(call, " ".join(("dumpsys deviceidle", *arguments)))
    system = call.system
    if len(arguments) == 1:
        for name in sorted(system.uid_states.idle_whitelist):
            package = system.packages.find(name)
            if package is not None:
                call.write(f"user,{name},{package.uid}\n")
        return 0
    for change in arguments[1:]:
        sign, name = change[:1], change[1:]
        if sign not in "+-" or not name:
            call.write(f"Package must be prefixed with +, -, or =: {change}\n")
            return FAILED
        if sign == "-":
            system.uid_states.idle_whitelist.discard(name)
            call.write(f"Removed: {name}\n")
        elif system.packages.find(name) is None:
            call.write(f"Unknown package: {name}\n")
        else:
            system.uid_states.idle_whitelist.add(name)
            call.write(f"Added: {name}\n")
    return 0


_BATTERY: Final = {
    "AC powered": "false",
    "USB powered": "true",
    "Wireless powered": "false",
    "Dock powered": "false",
    "Max charging current": "500000",
    "Max charging voltage": "5000000",
    "Charge counter": "3400000",
    "status": "2",
    "health": "2",
    "present": "true",
    "level": "85",
    "scale": "100",
    "voltage": "4200",
    "temperature": "250",
    "technology": "Li-ion",
}


def _dump_battery(call: CommandCall, arguments: tuple[str, ...]) -> int:
    if arguments:
        return refuse(call, " ".join(("dumpsys battery", *arguments)))
    names = [name for name in _BATTERY if name != "Dock powered" or call.system.release.at_least(33)]
    lines = [f"  {name}: {_BATTERY[name]}\n" for name in names]
    call.write("Current Battery Service state:\n" + "".join(lines))
    return 0


def _format_record(record: ActivityRecord, task: int) -> str:
    return f"ActivityRecord{{0 u0 {record.match.name.flatten_short()} t{task}}}"


def _dump_activity(call: CommandCall, arguments: tuple[str, ...]) -> int:
    if arguments not in (("activities",), ("top",)):
        return refuse(call, " ".join(("dumpsys activity", *arguments)))
    stack = call.system.stack
    call.write("ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n")
    for task in reversed(stack.tasks()):
        call.write(f"  * Task{{0 #{task.id} type=standard A={task.affinity}}}\n")
        for number, record in reversed(list(enumerate(task.activities))):
            call.write(f"    * Hist  #{number}: {_format_record(record, task.id)}\n")
    top = stack.top_record()
    if top is not None:
        number = next((task.id for task in stack.tasks() if top in task.activities), 0)
        name = "topResumedActivity" if call.system.release.at_least(30) else "mResumedActivity"
        call.write(f"  {name}={_format_record(top, number)}\n")
    return 0


def _dump_window(call: CommandCall, arguments: tuple[str, ...]) -> int:
    if arguments not in ((), ("windows",), ("displays",)):
        return refuse(call, " ".join(("dumpsys window", *arguments)))
    top = call.system.stack.top_record()
    focus = "com.android.launcher3/.Launcher" if top is None else top.match.name.flatten()
    call.write(f"  mCurrentFocus=Window{{0 u0 {focus}}}\n")
    return 0


_SERVICES: Final[Mapping[str, Dump]] = {
    "activity": _dump_activity,
    "battery": _dump_battery,
    "deviceidle": _dump_idle,
    "package": _dump_package,
    "trust": _dump_trust,
    "window": _dump_window,
}


def run_device_idle(call: CommandCall) -> int:
    """`cmd deviceidle ARGUMENTS`."""
    return _dump_idle(call, call.arguments)


def run_dumpsys(call: CommandCall) -> int:
    """`dumpsys SERVICE ARGUMENTS`."""
    if not call.arguments or call.arguments[0].startswith("-"):
        return refuse(call, " ".join(("dumpsys", *call.arguments)))
    name, *rest = call.arguments
    dump = _SERVICES.get(name)
    if dump is None:
        return refuse(call, f"dumpsys {name}")
    return dump(call, tuple(rest))


COMMANDS: Final[Mapping[str, Command]] = {"dumpsys": run_dumpsys}

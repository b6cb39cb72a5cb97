"""`ime`: input methods (AOSP's InputMethodManagerService.ShellCommandImpl)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.java.intents import Intent

_ACTION: Final = "android.view.InputMethod"
_PERMISSION: Final = "android.permission.BIND_INPUT_METHOD"
_ENABLED: Final = "enabled_input_methods"
_CURRENT: Final = "default_input_method"


def run_input_method(call: CommandCall) -> int:
    """`ime ARGUMENTS` and `cmd input_method ARGUMENTS`."""
    arguments = call.arguments
    if arguments[:1] == ("list",) and "-s" in arguments and set(arguments[1:]) <= {"-a", "-s"}:
        methods = _methods(call) if "-a" in arguments else _enabled(call)
        call.write("".join(f"{name}\n" for name in methods))
        return 0
    verb, *rest = arguments or ("",)
    if verb not in {"enable", "disable", "set"} or len(rest) != 1 or rest[0].startswith("-"):
        return refuse(call, " ".join(("ime", *arguments)))
    if verb == "set":
        return _select(call, rest[0])
    return _enable(call, rest[0], on=verb == "enable")


def _enable(call: CommandCall, method: str, *, on: bool) -> int:
    if on and method not in _methods(call):
        call.write_error(f"Unknown input method {method} cannot be enabled for user #0\n")
        return FAILED
    enabled = _enabled(call)
    was_enabled = method in enabled
    names = (
        [*enabled, method] if on and not was_enabled else [name for name in enabled if on or name != method]
    )
    call.system.settings.put("secure", _ENABLED, ":".join(names))
    word = "already" if on == was_enabled else "now"
    state = "enabled" if on else "disabled"
    call.write(f"Input method {method}: {word} {state} for user #0\n")
    return 0


def _select(call: CommandCall, method: str) -> int:
    if method not in _enabled(call):
        call.write_error(f"Unknown input method {method} cannot be selected for user #0\n")
        return FAILED
    call.system.settings.put("secure", _CURRENT, method)
    # Android binds it, so that its app is not stopped any more.
    package = call.system.packages.find(method.partition("/")[0])
    if package is not None:
        call.system.core.start_process(package, package.name)
        package.stopped = False
    call.write(f"Input method {method} selected for user #0\n")
    return 0


def _methods(call: CommandCall) -> list[str]:
    """Return the ids of the installed input methods."""
    services = call.system.resolver.query("service", Intent(action=_ACTION), caller_uid=call.uid)
    return [
        service.name.flatten_short() for service in services if service.component.permission == _PERMISSION
    ]


def _enabled(call: CommandCall) -> list[str]:
    written = call.system.settings.get("secure", _ENABLED) or ""
    installed = _methods(call)
    return [name for name in written.split(":") if name in installed]


COMMANDS: Final[Mapping[str, Command]] = {"ime": run_input_method}

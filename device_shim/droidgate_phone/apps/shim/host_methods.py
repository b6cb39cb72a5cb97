"""The host's methods, each a function on the shim's main thread (docs/shim.md 7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from droidgate_android.projects.manifest_limits import utf16_length
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.core import Receipt
from droidgate_phone.apps.shim.discovery import Tools
from droidgate_phone.apps.shim.functions import EXECUTE, FIRST_WITH_FUNCTIONS
from droidgate_phone.apps.shim.identity import Origin, StoredGrant
from droidgate_phone.apps.shim.process import ShimProcess
from droidgate_phone.clocks import Signal
from droidgate_phone.intents import ComponentName
from droidgate_shim.engine.authority import ANY_APP
from droidgate_shim.engine.strict_json import write_strict

REQUEST_EXTRA: Final = "mobile-mcp-request"
_HOST_UID: Final = 2000
_HOST_PACKAGE: Final = "com.android.shell"
_EVERYTHING: Final = "*"
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_CALL_ID: Final = re.compile("[0-9a-f]{32}")
_CANCELED: Final = "canceled"
_LONGEST_TRACE: Final = 100_000
"""In UTF-16 units: with the response it has to fit into what Binder carries at once."""


class HostError(Exception):
    """What the host gets in place of an answer: a failure's token and a text."""

    def __init__(self, token: str, message: str) -> None:
        super().__init__(message)
        self.token = token
        self.message = message


class HostReply:
    """An answer that a Binder thread waits for."""

    def __init__(self, signal: Signal) -> None:
        self.signal = signal
        self._answer: Mapping[str, Json] | HostError | None = None

    def put(self, answer: Mapping[str, Json]) -> None:
        """Answer."""
        self._answer = answer
        self.signal.set()

    def fail(self, error: HostError) -> None:
        """Answer with a failure."""
        self._answer = error
        self.signal.set()

    def take(self) -> Mapping[str, Json]:
        """Return the answer.

        Raises:
            HostError: there is a failure in its place, or the process ended.
        """
        if isinstance(self._answer, HostError):
            raise self._answer
        if self._answer is None:
            raise HostError("interrupted", "the shim's process ended")
        return self._answer


Method = Callable[[ShimProcess, Mapping[str, Json], HostReply], None]


def _text(argument: Mapping[str, Json], name: str) -> str:
    found = argument.get(name)
    if not isinstance(found, str):
        raise HostError("invalid_argument", f"/{name}: a text is needed")
    return found


def _flag(argument: Mapping[str, Json], name: str) -> bool:
    found = argument.get(name)
    if not isinstance(found, bool):
        raise HostError("invalid_argument", f"/{name}: true or false is needed")
    return found


def _hello_of(core: ShimProcess) -> dict[str, Json]:
    sources = core.app.get("sources")
    build = core.app.get("build")
    return {
        "application_id": core.context.package,
        "build": build if isinstance(build, str) else "",
        "sdk": core.platform.sdk,
        "routes": list(core.table.routes),
        "sources": sources if isinstance(sources, list) else [],
    }


def _hello(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    del argument
    reply.put(_hello_of(core))


def _status(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    """Report everything; receivers whose descriptor only a broadcast returns are asked first."""
    del argument
    targets = [route.route.target for route in core.table.routes.values()]
    waiting = [found for found in map(core.targets.to_discover, targets) if found is not None]

    def go_on(tools: Tools | None = None) -> None:
        del tools
        if waiting:
            core.discoveries.ask(waiting.pop(), go_on)
        else:
            reply.put(_status_of(core))

    go_on()


def _status_of(core: ShimProcess) -> dict[str, Json]:
    platform = core.platform
    may_execute = platform.holds(EXECUTE) or core.shell_identity.can_borrow
    access: dict[str, Json] = {
        "notifications": platform.may_notify(),
        "overlay": platform.may_draw_overlays(),
        "battery_exempt": platform.is_battery_exempt(),
        "execute_app_functions": platform.sdk >= FIRST_WITH_FUNCTIONS and may_execute,
    }
    return {
        **_hello_of(core),
        "grants": [item.as_json() for item in core.grants.all()],
        "switched_off": sorted(core.settings.switched_off),
        "asking": core.settings.asking,
        "open": core.open_count(),
        "targets": list(_target_states(core)),
        "access": access,
    }


_WORST: Final = ("as-approved", "changed", "other-signer", "absent")


def _target_states(core: ShimProcess) -> list[Json]:
    """Return the state of each package behind the shim: the worst of its routes' targets."""
    states: dict[str, tuple[str, int | None]] = {}
    for prepared in core.table.routes.values():
        target = prepared.route.target
        installed = core.targets(target)
        if installed is None:
            state = "absent"
        elif installed.signer != target.signer:
            state = "other-signer"
        else:
            state = "as-approved" if installed.digest == target.digest else "changed"
        version = None if installed is None else installed.version_code
        known = states.get(target.package)
        if known is None or _WORST.index(state) > _WORST.index(known[0]):
            states[target.package] = (state, version)
    return [
        {"package": package, "state": state, "version_code": version}
        for package, (state, version) in states.items()
    ]


def _grant(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    caller, capability = _text(argument, "caller"), _text(argument, "capability")
    if capability != _EVERYTHING and capability not in core.table.routes:
        raise HostError("unknown_capability", f"unknown capability {capability}")
    if caller == ANY_APP:
        grant = StoredGrant("", "", capability, core.now())
    else:
        grant = StoredGrant(caller, _signer_of(core, caller, argument), capability, core.now())
    core.grants.add(grant)
    reply.put({"grant": grant.as_json()})


def _signer_of(core: ShimProcess, caller: str, argument: Mapping[str, Json]) -> str:
    """Return a caller's certificate: what Android reports, else what the host names.

    From Android 11 on the shim sees no app that has never called it (reference android-runtime 1.4).
    """
    named = argument.get("signer")
    if named is not None and not (isinstance(named, str) and _DIGEST.fullmatch(named)):
        raise HostError("invalid_argument", "/signer: 64 hexadecimal digits in small letters are needed")
    found = core.platform.find_package(caller)
    if found is None:
        if named is None:
            raise HostError("unavailable", f"{caller} is not installed, or has never called this shim")
        return str(named)
    if not found.signers or (named is not None and named not in found.signers):
        raise HostError("unavailable", f"{caller} is signed by somebody else")
    return found.signers[0] if named is None else str(named)


def _revoke(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    caller, capability = _text(argument, "caller"), _text(argument, "capability")
    package = "" if caller == ANY_APP else caller
    revoked = core.grants.remove(package, None if capability == _EVERYTHING else capability)
    reply.put({"revoked": revoked})


def _switch(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    capability, on = _text(argument, "capability"), _flag(argument, "on")
    if capability not in core.table.routes:
        raise HostError("unknown_capability", f"unknown capability {capability}")
    core.settings.switch(capability, on=on)
    reply.put({})


def _ask(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    core.settings.ask(on=_flag(argument, "on"))
    reply.put({})


def _call(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    request = _text(argument, "request")
    deadline, name = argument.get("deadline_ms"), argument.get("id")
    if name is not None and not (isinstance(name, str) and _CALL_ID.fullmatch(name)):
        raise HostError("invalid_argument", "/id: 32 hexadecimal digits are needed")
    if name in core.host_calls:
        raise HostError("busy", "a call of this id is open")
    trace: dict[str, Json] = {}

    def deliver(extras: Mapping[str, str], token: str | None) -> None:
        response = next(iter(extras.values()), None)
        if response is None and token == _CANCELED:
            reply.fail(HostError(_CANCELED, "the computer ended the call"))
        elif response is None:
            reply.fail(HostError(token or "invalid_argument", "it is not a request"))
        else:
            is_short = bool(trace) and utf16_length(write_strict(trace)) <= _LONGEST_TRACE
            reply.put({"response": response, **({"trace": trace} if is_short else {})})

    origin = Origin(_HOST_UID, (), _HOST_PACKAGE)
    traced = trace if argument.get("trace") is True else None
    receipt = core.receive("bind", origin, {REQUEST_EXTRA: request}, deliver, approved=True, trace=traced)
    if isinstance(name, str) and not receipt.is_answered:
        _remember(core, name, receipt)
    if isinstance(deadline, int) and not isinstance(deadline, bool):

        def give_up() -> None:
            core.end(receipt, Failure("timeout", "no answer came in time; the call may have run"))

        receipt.on_end.append(core.platform.after(max(0, deadline) / 1000, give_up))


def _remember(core: ShimProcess, name: str, receipt: Receipt) -> None:
    """Keep an open call under the host's id."""

    def forget() -> None:
        del core.host_calls[name]

    core.host_calls[name] = receipt
    receipt.on_end.append(forget)


def _cancel(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    receipt = core.host_calls.get(_text(argument, "id"))
    if receipt is not None:
        core.end(receipt, Failure(_CANCELED, "the computer ended the call"))
    reply.put({"canceled": receipt is not None})


def _progress(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    receipt = core.host_calls.get(_text(argument, "id"))
    reply.put({"stage": None if receipt is None else receipt.stage})


def _discover(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    component = ComponentName.parse(_text(argument, "component"))
    if component is None:
        raise HostError("invalid_argument", "/component: a component `package/class` is needed")
    if core.platform.find_package(component.package) is None:
        raise HostError("unavailable", f"{component.package} is not installed")

    def tell(tools: Tools | None) -> None:
        if tools is None:
            reply.fail(HostError("timeout", "the receiver reported no tools"))
        else:
            reply.put({"tools": [list(tool) for tool in tools]})

    core.discoveries.ask(component, tell)


def _history(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    del argument
    reply.put({"calls": list(core.history.all())})


def _clear_history(core: ShimProcess, argument: Mapping[str, Json], reply: HostReply) -> None:
    del argument
    core.history.clear()
    reply.put({})


METHODS: Final[Mapping[str, Method]] = {
    "hello": _hello,
    "status": _status,
    "grant": _grant,
    "revoke": _revoke,
    "switch": _switch,
    "ask": _ask,
    "call": _call,
    "cancel": _cancel,
    "progress": _progress,
    "discover-broadcast": _discover,
    "history": _history,
    "clear-history": _clear_history,
}

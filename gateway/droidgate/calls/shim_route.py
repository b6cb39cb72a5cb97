"""The route through a shim on the phone: every protocol that no shell command calls (shim.md)."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import ClassVar, Final

from droidgate.calls.call_links import CallLink, RawResult, RoutePlan
from droidgate.calls.shim_presence import missing_shim, shims_for
from droidgate.calls.subjects import component_name
from droidgate.calls.targets import CallTarget
from droidgate.devices.device import Device
from droidgate.devices.device_errors import CanceledError, DeadlineError
from droidgate.devices.packages import InstalledPackage
from droidgate.shims.answers import CallStage
from droidgate.shims.device_user import DeviceUser, failures_of_apps
from droidgate.shims.host_client import DISCOVERY_SECONDS, HostClient
from droidgate.shims.refusals import ShimRefusalError
from droidgate.shims.shim_calls import check_signer, new_request, read_outputs
from droidgate.shims.shim_facts import installed_routes
from droidgate_mappings.formats.installed import INSTALL_SHIM, SHIM_PACKAGE, SHIM_PREFIX, DeviceFacts
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DeviceError, DroidgateError, InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.values.failures import CallError, Failure, call_error
from droidgate_shim.builder.route_types import type_json
from droidgate_shim.builder.source_app import with_discovered_tools
from droidgate_shim.deadlines import LONGEST_DEADLINE_MS
from droidgate_shim.engine.routes import (
    FORMAT as TABLE_FORMAT,
    AppActionBackend,
    Backend,
    FunctionBackend,
    NamedOutput,
    PreparedRoute,
    RouteTable,
    ToolBackend,
)

_STAGES: Final[Mapping[CallStage | None, str]] = {
    "waiting": "waiting for the shim to send the call",
    "window": "waiting for the app's window; unlock the phone, or tap the notification on it",
    "app": "waiting for the app's answer",
}
_REPLACE_SHIMS: Final = (
    f"replace the shims, whose grants are lost then: droidgate shim uninstall --all; {INSTALL_SHIM}"
)
_OF_APPS: Final = frozenset({"needs_approval", "unavailable"})
_OF_RECEIVERS: Final = frozenset({"timeout", "backend_failure"})
_ENDED: Final = "the shim ended the call; what the app has done by then is not undone"


@dataclass(frozen=True, slots=True)
class _Prepared:
    application_id: str
    route: PreparedRoute
    table: RouteTable
    identifier: str
    request: str
    deadline_ms: int


@dataclass(slots=True)
class ShimRoute:
    """Calls through the shims of one phone; may be shared by threads.

    Attributes:
        signed_by: SHA-256 of the certificate of shims to trust, instead of the user's own key.
        id: The route's id.
        title: The route, in a few words.
    """

    signed_by: str | None = None
    id: ClassVar[str] = "shim"
    title: ClassVar[str] = "a shim"
    _tables: dict[InstalledPackage, RouteTable] = field(default_factory=dict)
    _blind: set[InstalledPackage] = field(default_factory=set)
    """Shims to which Android shows their own apps only, so that they can ask no other one for its tools."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def plan(self, target: CallTarget, arguments: Mapping[str, Json], link: CallLink) -> RoutePlan:
        """Return the commands that would be run.

        Raises:
            CallError: with the token `unavailable`: no shim of the user offers the capability.
            DeviceError: the phone fails.
        """
        device_user = _device_user_of(link.device, link.facts)
        with link.hop("find the shim"):
            application_id, table, route = self.find(target, device_user, device_user.packages())
        names = {backend_name: name for name, backend_name in route.route.names.items()}
        shim_arguments = {names.get(name, name): value for name, value in arguments.items()}
        identifier, request = new_request(route.route.id, shim_arguments)
        deadline_ms = max(1, min(int(link.seconds * 1000), LONGEST_DEADLINE_MS))
        client = device_user.client(application_id)
        commands = client.call_commands(
            request, deadline_ms=deadline_ms, call_id=identifier, traced=link.trace.is_on
        )
        return RoutePlan(
            self.id,
            f"{self.title} ({application_id})",
            tuple(map(tuple, commands)),
            _Prepared(application_id, route, table, identifier, request, deadline_ms),
        )

    def send(self, plan: RoutePlan, target: CallTarget, link: CallLink) -> RawResult:
        """Send the request, once.

        Raises:
            CallError: the call failed.
            DeviceError: the phone or the shim failed; whether the call was made is not known.
        """
        sent: _Prepared = plan.payload
        client = HostClient(link.device, sent.application_id, user=link.facts.user)
        capability = sent.route.route.id
        with link.hop(plan.title, *plan.commands):
            link.progress.ask = lambda: _STAGES.get(client.stage(sent.identifier))
            try:
                answered = _call(client, sent, link)
                outputs = read_outputs(answered, sent.identifier, capability, sent.application_id)
            except ShimRefusalError as error:
                raise self._refusal(error, target.app.package, client) from error
            except DeadlineError as error:
                raise call_error(Failure("timeout", error.message)) from error
        return _raw_result(sent, outputs)

    @staticmethod
    def why_refused(client: HostClient) -> dict[str, CallError]:
        """Return the apps behind a shim of which it refuses each call; none where it does not answer.

        Raises:
            DeviceError: the phone cannot be reached.
        """
        try:
            return failures_of_apps(client.status())
        except DroidgateError:
            # The next command shows whether the phone failed, or only this shim.
            client.device.run(["true"])
            return {}

    def check(self, plan: RoutePlan, target: CallTarget, link: CallLink) -> None:
        """Raise the CallError by which the shim refuses each call of an app, as of an updated one."""
        sent: _Prepared = plan.payload
        client = HostClient(link.device, sent.application_id, user=link.facts.user)
        refusal = self.why_refused(client).get(target.app.package)
        if refusal is not None:
            raise refusal

    def _refusal(self, error: ShimRefusalError, package: str, client: HostClient) -> CallError:
        """Return a shim's refusal; where the app is not as the shim knows it, with what the user can do."""
        failure = None
        if error.failure.token in _OF_APPS:
            with suppress(DeviceError):
                failure = self.why_refused(client).get(package)
        return failure or call_error(error.failure, hint=error.hint)

    def find(
        self, target: CallTarget, device_user: DeviceUser, installed: Mapping[str, InstalledPackage]
    ) -> tuple[str, RouteTable, PreparedRoute]:
        """Return the shim that offers a capability, its table, and the route in it.

        Args:
            target: The capability.
            device_user: The phone.
            installed: What `device_user.packages` returned.

        Raises:
            CallError: with the token `unavailable`: no shim of the user offers it.
            DeviceError: the phone fails.
        """
        reasons: list[str] = []
        hint = "bring it up to date: droidgate shim sync"
        for package in shims_for(target.app.package, installed):
            try:
                table = self._table_of(package, device_user)
            except InputError as error:
                reasons.append(f"{package.name}: {error.message}")
                hint = _REPLACE_SHIMS
                continue
            names = (target.app.package, component_name(target.provider), target.capability.id)
            entry = next((route for route in table.routes.values() if _is_route_to(route, *names)), None)
            if entry is not None:
                return package.name, table, entry
            if package.name != SHIM_PACKAGE:
                reasons.append(f"{package.name} does not offer {target.capability.id}")
        if not reasons:
            raise missing_shim(target, device_user.device.serial)
        raise call_error(Failure("unavailable", "; ".join(reasons)), hint=hint)

    def _table_of(self, package: InstalledPackage, device_user: DeviceUser) -> RouteTable:
        """Return the route table of a shim whose signer is trusted, read once for each installation.

        Raises:
            InputError: its signer is not trusted, or its APK cannot be read.
        """
        with self._lock:
            table = self._tables.get(package)
            if table is None:
                check_signer(device_user, package, self.signed_by)
                table = self._tables[package] = installed_routes(device_user, package)
            return table

    def ask_for_tools(
        self,
        provider: Provider,
        shims: Iterable[InstalledPackage],
        facts: DeviceFacts,
        device: Device,
        *,
        ends_at: float | None = None,
    ) -> Provider | None:
        """Return a receiver of broadcasts with its tools; None where it does not answer.

        Args:
            provider: The receiver.
            shims: Those that may ask it: `shims_to_ask` returns them.
            facts: What the phone is.
            device: The phone.
            ends_at: When to stop asking, on `time.monotonic`; by default each shim has its time.

        Raises:
            DeviceError: the phone cannot be reached.
        """
        device_user = _device_user_of(device, facts)
        component = f"{provider.package}/{component_name(provider)}"
        for package in shims:
            remaining = math.inf if ends_at is None else ends_at - time.monotonic()
            if remaining <= 0:
                return None
            if package in self._blind and package.name != f"{SHIM_PREFIX}{provider.package}":
                continue
            try:
                check_signer(device_user, package, self.signed_by)
                seconds = min(remaining, DISCOVERY_SECONDS)
                tools = device_user.client(package.name).discover_broadcast(component, seconds=seconds)
                return with_discovered_tools(provider, tools, ReadingContext())
            except DeviceError:
                # The next command shows whether the phone failed, or only this shim or app.
                device.run(["true"])
            except ShimRefusalError as error:
                if error.failure.token in _OF_RECEIVERS:
                    return None  # a receiver that reports nothing to one shim reports nothing to another
                if error.failure.token == "unavailable":  # noqa: S105 - a failure token
                    self._blind.add(package)
            except DroidgateError:
                continue
        return None


def _call(client: HostClient, sent: _Prepared, link: CallLink) -> str:
    """Return the text of the response; if this computer gives up the call, end it in the shim, too.

    Raises:
        CallError: with the token `canceled`: the shim has ended the call.
        DeviceError: as `HostClient.call`.
    """
    try:
        answered = client.call(
            sent.request, deadline_ms=sent.deadline_ms, call_id=sent.identifier, traced=link.trace.is_on
        )
    except CanceledError as error:
        if _end(sent, link):
            raise call_error(Failure("canceled", _ENDED)) from error
        raise
    except (DeadlineError, KeyboardInterrupt):
        _end(sent, link)
        raise
    if answered.trace is not None:
        link.trace.record_delivery(sent.request, _routes_of(sent), answered.trace, answered.response)
    return answered.response


def _routes_of(sent: _Prepared) -> dict[str, Json]:
    """Return the route table as the shim has it, without the routes of other capabilities."""
    definitions = {name: type_json(type_) for name, type_ in sent.table.definitions.items()}
    return {"format": TABLE_FORMAT, "definitions": definitions, "routes": [type_json(sent.route.route)]}


def _end(sent: _Prepared, link: CallLink) -> bool:
    """End a call in the shim; return whether it was open there.

    adbd has ended the calling command by now, so a call that it had not handed over never begins.
    """
    # The call's own handle ends each command from now on.
    device = link.device.ended_by(threading.Event())
    try:
        with link.hop("end the call on the phone"):
            return HostClient(device, sent.application_id, user=link.facts.user).cancel(sent.identifier)
    except DroidgateError:
        return False


def _device_user_of(device: Device, facts: DeviceFacts) -> DeviceUser:
    return DeviceUser(device, facts.user, facts.sdk_full)


def _is_route_to(route: PreparedRoute, package: str, component: str, capability: str) -> bool:
    target_component, name = _called_by(route.route.backend)
    same_component = target_component is None or target_component == f"{package}/{component}"
    return route.route.target.package == package and same_component and name == capability


def _called_by(backend: Backend) -> tuple[str | None, str]:
    """Return the component that a backend calls, None where Android finds it, and the id that it names."""
    if isinstance(backend, FunctionBackend):
        return None, backend.function
    if isinstance(backend, ToolBackend):
        return backend.component, backend.tool
    if isinstance(backend, AppActionBackend):
        return None, backend.action
    return backend.component, backend.capability


def _raw_result(sent: _Prepared, outputs: Mapping[str, Json]) -> RawResult:
    """Return the result that outputs were made from (shim-engine.md 2)."""
    form, definitions = sent.route.route.outputs, sent.table.definitions
    if form is None:
        return RawResult(None, None)
    if not outputs:
        return RawResult(None, None, note="the app reported success and returned no result")
    if isinstance(form, NamedOutput) and form.kind == "text":
        return RawResult(_value_of(outputs.get(form.name)), None)
    if isinstance(form, NamedOutput):
        return RawResult(outputs.get(form.name), sent.route.capability, definitions)
    return RawResult(dict(outputs), sent.route.capability, definitions)


def _value_of(text: Json) -> Json:
    """Return the object or list that an output's text was written from; any other text as it is."""
    if not isinstance(text, str) or not text.startswith(("{", "[")):
        return text
    try:
        return parse_json(text)
    except InputError:
        return text

"""A phone whose capabilities can be called, for Python code."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Final

from droidgate.calls.call_requests import DEFAULT_SECONDS, CallRequest, CallResult, ProgressSink
from droidgate.calls.caller import CallControls, CallPlan, CapabilityCaller
from droidgate.calls.shim_presence import shims_to_ask
from droidgate.calls.shim_route import ShimRoute
from droidgate.calls.subjects import EVERY_CAPABILITY
from droidgate.calls.traces import open_trace
from droidgate.devices.adb_client import AdbClient
from droidgate.devices.device import Device, connect_device
from droidgate.sources.phone_source import PhoneReading, PhoneRequest, read_phone
from droidgate_mappings.formats.format import chosen_formats, load_formats
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.values.coercion import check_arguments

SECONDS_TO_ASK: Final = 10.0
"""How long `Phone.discover` waits for apps that list their tools only in answer to a broadcast."""


@dataclass(frozen=True)
class Phone:
    """A phone that adb reaches, real or virtual. May be shared by threads.

    Attributes:
        device: Its connection.
    """

    device: Device

    @property
    def serial(self) -> str:
        """What adb calls it."""
        return self.device.serial

    @cached_property
    def caller(self) -> CapabilityCaller:
        """What calls its capabilities, by the user's policy."""
        return CapabilityCaller(self.device)

    def discover(
        self,
        *,
        formats: Iterable[str] | None = None,
        every_app: bool = False,
        keep: bool = True,
        own_apps: bool = False,
    ) -> PhoneReading:
        """Return what its apps declare, for the user in front; an app that cannot be read is a problem.

        A shim of the user asks the apps that list their tools only in answer to a broadcast, for at most
        `SECONDS_TO_ASK`; the tools of those that do not answer stay unknown.

        Args:
            formats: Ids of the formats to look for; all installed ones by default.
            every_app: Read the manifest of every app, not only of those that answer a query.
            keep: Use and keep what was read of APKs.
            own_apps: Read shims and droidgate's agent apps, too.

        Raises:
            DeviceError: the phone fails.
            UsageError: a format is unknown.
        """
        chosen = tuple(chosen_formats(formats) or load_formats().values())
        request = PhoneRequest(chosen, every_app=every_app, keep=keep, own_apps=own_apps)
        reading = read_phone(self.device, request)
        if not reading.facts.shims:
            return reading
        ends_at = time.monotonic() + SECONDS_TO_ASK
        shims = ShimRoute()

        def with_tools(provider: Provider) -> Provider:
            asked = shims_to_ask(provider, reading.facts, self.device)
            tools = shims.ask_for_tools(provider, asked, reading.facts, self.device, ends_at=ends_at)
            return tools or provider

        apps = (replace(app, providers=tuple(map(with_tools, app.providers))) for app in reading.apps)
        return replace(reading, apps=tuple(apps))

    def call(  # noqa: PLR0913
        self,
        capability: str,
        arguments: Mapping[str, Json] | None = None,
        *,
        app: str | None = None,
        protocol: str | None = None,
        deadline: float = DEFAULT_SECONDS,
        approved: bool = False,
        files: Mapping[str, str | PathLike[str]] | None = None,
        cancel: threading.Event | None = None,
        trace: str | PathLike[str] | None = None,
        progress: ProgressSink | None = None,
    ) -> CallResult:
        """Call a capability, whatever its protocol.

        Args:
            capability: Its id, the end of its id, the ends of its package and id (`notes.createNote`),
                `PACKAGE/ID`, or `PACKAGE/COMPONENT/ID`.
            arguments: Name -> value; none by default.
            app: Only capabilities of this package.
            protocol: Only capabilities of this format.
            deadline: Seconds that the call may take, 1 to 150.
            approved: Make the call although the user has not approved the capability; what the policy denies
                is not called.
            files: Argument -> file on this computer, which the app can read for the time of the call.
            cancel: Ends the call when it is set.
            trace: A new file that gets each step with its values, a JSON object a line; only the user may
                read it.
            progress: Gets what the call waits for, each second, on another thread.

        Raises:
            UsageError: no capability, or more than one, is named so, the deadline is out of range, or the
                arguments are not a JSON object.
            CallError: the call failed or is not allowed; `failure.token` says why.
            DeviceError: the phone fails; whether the call was made is not known.
            WriteError: the trace cannot be written, or there is a file of its name.
        """
        sent = {name: Path(path) for name, path in (files or {}).items()}
        request = CallRequest(capability, _checked(arguments), app, protocol, deadline, files=sent)
        with open_trace(trace) as steps:
            allowed = EVERY_CAPABILITY if approved else ()
            controls = CallControls(cancel=cancel, allowed=allowed, trace=steps, progress=progress)
            return self.caller.call(request, controls)

    def explain(
        self,
        capability: str,
        arguments: Mapping[str, Json] | None = None,
        *,
        app: str | None = None,
        protocol: str | None = None,
        deadline: float = DEFAULT_SECONDS,
    ) -> CallPlan:
        """Return what a call would do: its route and the device commands; nothing is called.

        Arguments and errors are those of `call`.
        """
        return self.caller.explain(CallRequest(capability, _checked(arguments), app, protocol, deadline))


def _checked(arguments: Mapping[str, Json] | None) -> Mapping[str, Json]:
    arguments = {} if arguments is None else arguments
    check_arguments(arguments)
    return arguments


def open_device(serial: str | None = None, *, server: AdbClient | None = None) -> Phone:
    """Return a phone that adb lists as ready.

    Args:
        serial: Its serial number; the only phone that is attached by default.
        server: The adb server; by default the one that adb's own variables name.

    Raises:
        DeviceError: there is none, more than one, or it does not let adb in.

    Example:
        >>> phone = droidgate.open_device()
        >>> phone.discover().apps[0].package
        'dev.droidgate.sample.clockin'
    """
    return Phone(connect_device(serial, server=server))

"""What can be called on a phone: the capabilities that its apps declare, how users name them, and which are
refused because their names can be mistaken for others.

What apps declare is read once and kept. Before each call, the phone is asked whether the same installation of
the app is still there; if not, what it declares is read again. A capability is known by its package,
component and id. Ids that are equal in two apps are not a danger by themselves, since each name has its
package. Names that only look alike are: a person or a model that approves one may mean the other.
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final

from droidgate.calls.subjects import (
    MAX_LISTED,
    CapabilityKey,
    Pin,
    component_name,
    distinct_names,
    key_of,
    last_part,
    names_capability,
    pin_of,
    signer_of,
    suggest_capability,
)
from droidgate.devices.device import Device
from droidgate.devices.packages import package_paths
from droidgate.devices.properties import build_of, current_user, get_properties
from droidgate.devices.quoting import check_component, check_package
from droidgate.sources.callability import Callability, callability_of, why_not_by_shell
from droidgate.sources.phone_source import InstalledApp, PhoneReading, PhoneRequest, read_phone
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.installed import INSTALL_SHIM, DeviceFacts, is_shim
from droidgate_mappings.formats.reachability import capability_verdict, interface_of
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import DeviceError, InputError, UsageError
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.text.nearest_names import closest_name, suggest_name
from droidgate_mappings.text_safety.hidden import is_hidden
from droidgate_mappings.text_safety.look_alikes import folded_skeleton, skeleton
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_mobile_agent.format import FORMAT_ID
from droidgate_shim.builder.source_app import is_unasked

_BLANKS: Final = "\t\n"


def refused_names(keys: Iterable[CapabilityKey]) -> dict[CapabilityKey, str]:
    """Return which of a phone's capabilities are refused, with the reason, a sentence without a period.

    It refuses ids with invisible characters, ids that a provider declares twice, and names (`PACKAGE/ID`)
    that differ only in case, compatibility forms (NFKC) or characters that look alike. Of two such names it
    refuses both. The order of the capabilities makes no difference.

    Args:
        keys: All capabilities of the phone, one entry for each declaration.
    """
    refused: dict[CapabilityKey, str] = {}
    names_of_form: dict[tuple[str, str], set[str]] = {}
    seen: set[CapabilityKey] = set()
    every = list(keys)
    for key in every:
        hidden = hidden_in_id(key.capability)
        if hidden is not None:
            refused[key] = f"its id has a hidden character: {hidden}"
        elif key in seen:
            refused[key] = "its app declares this id twice"
        seen.add(key)
        for form in _forms_of(key):
            names_of_form.setdefault(form, set()).add(_name_of(key))
    for key in every:
        name = _name_of(key)
        others = {alias for form in _forms_of(key) for alias in names_of_form[form] if alias != name}
        if others:
            refused.setdefault(key, f"its name looks like {min(others)}")
    return refused


def hidden_in_id(capability_id: str) -> str | None:
    """Return the first invisible character of an id, as `U+200B`; None if there is none."""
    for character in capability_id:
        if character in _BLANKS or is_hidden(character):
            return f"U+{ord(character):04X}"
    return None


def _name_of(key: CapabilityKey) -> str:
    return f"{key.package}/{key.capability}"


def _forms_of(key: CapabilityKey) -> tuple[tuple[str, str], ...]:
    name = _name_of(key)
    return (("as written", skeleton(name)), ("folded", folded_skeleton(name)))


SCREENS: Final = FORMAT_ID
"""Takes the place of a package for commands that work on the screen; no package name has a `-`."""

Learn = Callable[[Provider, DeviceFacts, Device], Provider | None]
"""Asks a provider for the capabilities that its app's files do not list; None where it cannot be asked."""


@dataclass(frozen=True)
class CallTarget:
    """A capability on a phone. What follows from it is computed once.

    Attributes:
        provider: What declares it.
        capability: The capability.
        app: The app that it was read from.
        user: Android user number.
        is_learnt: The provider was asked for its capabilities on the phone.
    """

    provider: Provider
    capability: Capability
    app: InstalledApp
    user: int
    is_learnt: bool = False

    @cached_property
    def key(self) -> CapabilityKey:
        """Which capability it is."""
        return key_of(self.provider, self.capability.id, user=self.user)

    @cached_property
    def name(self) -> str:
        """The name that means this capability and no other of the phone: `PACKAGE/COMPONENT/ID`."""
        return f"{self.app.package}/{component_name(self.provider)}/{self.capability.id}"

    @cached_property
    def closed_because(self) -> str | None:
        """Why no other app may call it, whatever the phone; None where one may."""
        return capability_verdict(self.capability.access, interface_of(self.provider)).closed_because

    @cached_property
    def why_not_by_shell(self) -> str | None:
        """Why Android's shell carries no call of it, whatever the arguments; None if it does."""
        return why_not_by_shell(self.provider, self.capability)

    @cached_property
    def pin(self) -> Pin:
        """What an approval holds for.

        Raises:
            InputError: it is not known who signed the app.
        """
        application = self.app.application
        signer = signer_of(() if application is None else application.signers)
        if not signer:
            message = "the app has no signer that could be read, so no approval can be kept for it"
            raise InputError(message, place=self.app.package)
        return pin_of(self.provider, self.capability.id, user=self.user, signer=signer)

    @cached_property
    def named_provider(self) -> Provider:
        """The provider with the app's package and the whole name of its component, as commands name them.

        Raises:
            UnsafeArgumentError: one of them is not a name that a command can have.
        """
        package, component = check_package(self.app.package), component_name(self.provider)
        if component:
            check_component(f"{package}/{component}")
        return self.provider.changed({"package": package, "component": component or None})

    @cached_property
    def short_name(self) -> str:
        """`PACKAGE/ID`, which several components of one app may share."""
        return f"{self.app.package}/{self.capability.id}"


class ScreenTarget(CallTarget):
    """One of MobileAgent's commands: it works on the phone's screen, and no app declares it.

    Its approval holds for this phone only: a phone has no signer that another phone could share.
    """

    @cached_property
    def pin(self) -> Pin:
        """What an approval holds for."""
        return pin_of(self.provider, self.capability.id, user=self.user, signer=self.app.path)


def screen_targets(serial: str, user: int) -> tuple[ScreenTarget, ...]:
    """Return MobileAgent's commands on a phone."""
    from droidgate_mobile_agent.read import built_in

    provider = built_in().changed({"package": SCREENS})
    app = InstalledApp(SCREENS, 0, (provider,), path=f"phone:{serial.lower()}")
    return tuple(ScreenTarget(provider, capability, app, user) for capability in provider.capabilities)


class PhoneTargets:
    """The capabilities of one phone. May be shared by threads.

    Args:
        device: The phone.
        learn: Asks receivers of broadcasts for their tools.
    """

    def __init__(self, device: Device, learn: Learn) -> None:
        self._device = device
        self._learn = learn
        self._lock = threading.RLock()
        self._reading: PhoneReading | None = None
        self._learnt: dict[tuple[str, str], Provider] = {}
        self._known: tuple[CallTarget, ...] | None = None
        self._by_name: dict[str, list[CallTarget]] = {}
        self._refused: dict[CapabilityKey, str] = {}
        self._callable: dict[int, tuple[Provider, Callability]] = {}
        self._screen_facts: DeviceFacts | None = None
        self._screens: tuple[ScreenTarget, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether what the phone's apps declare is known, so that nobody waits for the phone."""
        return self._reading is not None

    def facts(self, protocol: str | None = None) -> DeviceFacts:
        """Return the facts of the phone; its apps are not read if only its screen is used.

        Args:
            protocol: Id of the only format that is meant.

        Raises:
            DeviceError: the phone fails.
        """
        with self._lock:
            if protocol != FORMAT_ID or self._reading is not None:
                return self.reading.facts
            if self._screen_facts is None:
                sdk = str(build_of(get_properties(self._device)).sdk)
                self._screen_facts = DeviceFacts(sdk, current_user(self._device))
            return self._screen_facts

    def screens(self) -> tuple[ScreenTarget, ...]:
        """Return MobileAgent's commands, which are called only where their protocol is named.

        Raises:
            DeviceError: the phone fails.
        """
        with self._lock:
            if not self._screens:
                user = self.facts(FORMAT_ID).user
                self._screens = screen_targets(self._device.serial, user)
            return self._screens

    @property
    def reading(self) -> PhoneReading:
        """What the phone's apps declare, read when it is first asked for.

        Raises:
            DeviceError: the phone fails.
        """
        with self._lock:
            if self._reading is None:
                self._reading = self._read()
            return self._reading

    def refresh(self) -> PhoneReading:
        """Read what the phone's apps declare anew.

        Raises:
            DeviceError: the phone fails.
        """
        # Not under the lock: nobody who needs what is known waits for the phone.
        reading = self._read()
        with self._lock:
            self._reading = reading
            self._learnt.clear()
            self._known = None
        return reading

    def all(self) -> tuple[CallTarget, ...]:
        """Return every capability, except those of shims; receivers are asked for theirs.

        Raises:
            DeviceError: the phone fails.
        """
        self._ask_receivers(app.package for app in self.reading.apps)
        return self._targets()

    def why_refused(self, target: CallTarget) -> str | None:
        """Return why a capability is refused for its name, such as a name that looks like another.

        One sentence without a period; None where it may be called.
        """
        if isinstance(target, ScreenTarget):
            return None
        self._targets()
        return self._refused.get(target.key)

    def callability(self, target: CallTarget) -> Callability:
        """Return whether and how the provider of a capability can be called; computed once."""
        provider = target.provider
        entry = self._callable.get(id(provider))
        if entry is None or entry[0] is not provider:
            entry = (provider, callability_of(provider, target.app, self.reading))
            self._callable[id(provider)] = entry
        return entry[1]

    def known(self, text: str, *, app: str | None, protocol: str | None) -> CallTarget | None:
        """Return the one capability that a text names, None where `find` would ask the phone, or fail."""
        matching = [] if self._known is None else self._matching(text, app, protocol)
        return matching[0] if len(matching) == 1 else None

    def find(self, text: str, *, app: str | None = None, protocol: str | None = None) -> CallTarget:
        """Return the one capability that a text names.

        Args:
            text: As in `names_capability`.
            app: Only of this package.
            protocol: Only of this format.

        Raises:
            UsageError: none is named so, or several are.
            DeviceError: the phone fails.
        """
        check_protocol(protocol)
        matching = self._matching(text, app, protocol)
        if not matching and protocol != FORMAT_ID:
            packages = (item.package for item in self.reading.apps if app in {None, item.package})
            self._ask_receivers(packages)
            matching = self._matching(text, app, protocol)
        if not matching:
            raise self.unknown(text, app, protocol)
        if len(matching) > 1:
            message = f"{len(matching)} capabilities on the phone are called {text!r}"
            every = (target.key for target in self._limited_to(None, protocol))
            names = distinct_names((target.key for target in matching), every)
            is_distinct = len(set(names)) == len(names)
            listed = ", ".join(map(shlex.quote, names)) + ("" if is_distinct else ", with --format")
            raise UsageError(message, hint=f"name one: {listed}")
        return matching[0]

    def current(self, target: CallTarget, device: Device) -> CallTarget:
        """Return a capability as the phone has it now.

        Args:
            target: As it was found.
            device: The handle to look with.

        Raises:
            CallError: with the token `unavailable`: the app is gone, or does not declare it any more.
            DeviceError: the phone fails.
        """
        if isinstance(target, ScreenTarget):
            return target
        paths = package_paths(device, target.app.package, target.user)
        if not paths:
            raise _unavailable_error(f"{target.app.package} is not installed any more")
        if paths[0] == target.app.path and not target.is_learnt:
            return target
        if paths[0] != target.app.path:
            self._read_again(target.app.package)
        if target.is_learnt:
            with self._lock:
                self._learnt.pop((target.app.package, component_name(target.provider)), None)
                self._known = None
            self._ask_receivers([target.app.package])
        now = next((candidate for candidate in self._targets() if candidate.key == target.key), None)
        if now is None:
            raise _unavailable_error(f"{target.app.package} does not declare {target.capability.id} any more")
        return now

    def _read(self, package: str | None = None) -> PhoneReading:
        formats = tuple(load_formats().values())
        return read_phone(self._device, PhoneRequest(formats, package=package))

    def _read_again(self, package: str) -> None:
        try:
            apps = self._read(package).apps
        except DeviceError as error:
            raise _unavailable_error(error.message) from error
        with self._lock:
            others = (app for app in self.reading.apps if app.package != package)
            self._reading = replace(self.reading, apps=(*others, *apps))
            self._known = None

    def _ask_receivers(self, packages: Iterable[str]) -> None:
        """Ask the receivers of these packages that have not been asked."""
        names = frozenset(packages)
        for app in self.reading.apps:
            for provider in app.providers if app.package in names and not is_shim(app.package) else ():
                key = (app.package, component_name(provider))
                if provider.capabilities or key in self._learnt:
                    continue
                learnt = self._learn(provider, self.reading.facts, self._device)
                if learnt is not None:
                    with self._lock:
                        self._learnt[key] = learnt
                        self._known = None

    def _targets(self) -> tuple[CallTarget, ...]:
        """Return what is known, computed once after each reading."""
        with self._lock:
            if self._known is None:
                self._known = tuple(self._every_target())
                by_name: dict[str, list[CallTarget]] = {}
                for target in self._known:
                    for name in {target.name, target.short_name}:
                        by_name.setdefault(name, []).append(target)
                self._by_name = by_name
                self._refused = refused_names(target.key for target in self._known)
                self._callable.clear()
            return self._known

    def _every_target(self) -> Iterator[CallTarget]:
        user = self.reading.facts.user
        for app in self.reading.apps:
            for provider in app.providers if not is_shim(app.package) else ():
                learnt = (
                    None
                    if provider.capabilities
                    else self._learnt.get((app.package, component_name(provider)))
                )
                for capability in (learnt or provider).capabilities:
                    yield CallTarget(learnt or provider, capability, app, user, learnt is not None)

    def _limited_to(self, app: str | None, protocol: str | None) -> list[CallTarget]:
        every: Iterable[CallTarget] = self.screens() if protocol == FORMAT_ID else self._targets()
        return _limited(every, app, protocol)

    def _matching(self, text: str, app: str | None, protocol: str | None) -> list[CallTarget]:
        whole: Iterable[CallTarget]
        if protocol == FORMAT_ID:
            whole = [target for target in self.screens() if text in {target.name, target.short_name}]
        else:
            self._targets()
            whole = self._by_name.get(text, ())
        serial = self._device.serial
        return _limited(whole, app, protocol) or [
            target
            for target in self._limited_to(app, protocol)
            if names_capability(text, target.key, serial=serial)
        ]

    def unknown(self, text: str, app: str | None = None, protocol: str | None = None) -> UsageError:
        """Return the error for a text that names no capability: what is close, and whose tools are not known.

        Args:
            text, app, protocol: As in `find`.
        """
        targets = self._limited_to(app, protocol)
        question = suggest_capability(text, (target.key for target in targets))
        where = "" if app is None else f" of {app}"
        message = f"no capability{where} on the phone is called {text!r}"
        if protocol != FORMAT_ID:
            if SCREENS in {app, text.partition("/")[0]}:
                command = f"droidgate call {text.rpartition('/')[2]} --format {FORMAT_ID}"
                hint = f"commands of MobileAgent are called by their format: `{command}`"
                return UsageError(message, hint=hint)
            packages = [known_app.package for known_app in self.reading.apps]
            if app is not None and app not in packages:
                meant = closest_name(app, packages)
                listing = "`droidgate discover` lists the apps that declare any"
                question = None if meant is None else f"did you mean the app {meant}?"
                return UsageError(message, hint=question or listing)
        unasked = ", ".join(self._unasked(app, protocol)) if protocol != FORMAT_ID else ""
        unknown = f"tools of {unasked} are not known: run `{INSTALL_SHIM}`"
        if question is not None:
            return UsageError(message, hint=f"{question} The {unknown}" if unasked else question)
        cause = f"the {unknown}; " if unasked else ""
        ids = list(dict.fromkeys(target.capability.id for target in targets))
        listed = ", ".join(map(last_part, ids[:MAX_LISTED])) + (
            f" and {len(ids) - MAX_LISTED} more" if len(ids) > MAX_LISTED else ""
        )
        return UsageError(message, hint=f"{cause}there are: {listed or 'none'}; see `droidgate inspect adb:`")

    def _unasked(self, app: str | None, protocol: str | None) -> list[str]:
        """Return the packages whose receivers list their tools only when a shim asks, and none has."""
        providers = (
            (installed_app.package, provider)
            for installed_app in self.reading.apps
            for provider in installed_app.providers
            if app in {None, installed_app.package} and protocol in {None, provider.protocol}
            if not is_shim(installed_app.package)
        )
        return sorted(
            package
            for package, provider in providers
            if is_unasked(provider) and (package, component_name(provider)) not in self._learnt
        )


def check_protocol(protocol: str | None) -> None:
    """Check that a format which limits a search is known.

    Raises:
        UsageError: it is not.
    """
    formats = load_formats()
    if protocol is not None and protocol not in formats:
        hint = suggest_name(protocol, formats, most=len(formats))
        raise UsageError(f"unknown format {protocol!r}", hint=hint)


def _limited(targets: Iterable[CallTarget], app: str | None, protocol: str | None) -> list[CallTarget]:
    return [
        target
        for target in targets
        if app in {None, target.app.package} and protocol in {None, target.provider.protocol}
    ]


def _unavailable_error(text: str) -> CallError:
    return CallError(Failure("unavailable", text))

"""Which route a call takes: Android's shell, a shim, or the phone's screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from droidgate.calls.call_links import CallLink, RoutePlan
from droidgate.calls.shell_route import ShellRoute
from droidgate.calls.shim_presence import missing_shim, shims_for
from droidgate.calls.subjects import CapabilityKey
from droidgate.calls.targets import CallTarget, PhoneTargets, ScreenTarget
from droidgate.devices.packages import InstalledPackage
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.shell_calls import NotCarriedError
from droidgate_mappings.model.errors import DeviceError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.values.failures import CallError, Failure, call_error

if TYPE_CHECKING:
    from droidgate.calls.screen_route import ScreenRoute
    from droidgate.calls.shim_route import ShimRoute

CapabilityRoute: TypeAlias = "ShellRoute | ShimRoute | ScreenRoute"
"""A route to a capability: it plans a call, and sends it once."""


@dataclass(frozen=True, slots=True)
class ChosenRoute:
    """The route that a call takes.

    Attributes:
        route: Sends the call.
        plan: What it would do.
        passed_over: Why earlier routes cannot carry the call, a sentence each without a period.
    """

    route: CapabilityRoute
    plan: RoutePlan
    passed_over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallRoutes:
    """The routes to the capabilities of one phone.

    Attributes:
        targets: The capabilities.
        shims: Returns the route through the phone's shims, which takes long to import.
        screens: Returns the route by its screen, which takes long to import too.
    """

    targets: PhoneTargets
    shims: Callable[[], ShimRoute]
    screens: Callable[[], ScreenRoute]

    def choose(self, target: CallTarget, arguments: Mapping[str, Json], link: CallLink) -> ChosenRoute:
        """Return the first route that can carry a call.

        Raises:
            CallError: no route can carry it.
            DeviceError: the phone fails.
        """
        failed: list[NotCarriedError | CallError] = []
        passed_over: list[str] = []
        for route in self._routes_to(target):
            try:
                plan = route.plan(target, arguments, link)
            except (NotCarriedError, CallError) as error:
                failed.append(error)
                passed_over.append(f"{route.title}: {error.message}")
            else:
                return ChosenRoute(route, plan, tuple(passed_over))
        first = failed[0]
        if isinstance(first, CallError):
            raise first
        token = "invalid_argument" if first.pointer else "unavailable"
        where = f"{first.pointer}: " if first.pointer else ""
        text = "; ".join([f"{where}{first.message}", *(error.message for error in failed[1:])])
        hint = next((error.hint for error in reversed(failed) if error.hint), None)
        raise call_error(Failure(token, text), pointer=first.pointer or None, hint=hint)

    def check(self, target: CallTarget, arguments: Mapping[str, Json], link: CallLink) -> None:
        """Check, before a person is asked, that some route can carry a call and that its shim takes it.

        Raises:
            CallError: no route can carry it, or the shim refuses each call of the app.
            DeviceError: the phone fails.
        """
        chosen = self.choose(target, arguments, link)
        from droidgate.calls.shim_route import ShimRoute

        if isinstance(chosen.route, ShimRoute):
            chosen.route.check(chosen.plan, target, link)

    def unreached(
        self, targets: Iterable[CallTarget], link: CallLink, packages: Iterable[InstalledPackage]
    ) -> dict[CapabilityKey, CallError]:
        """Return the capabilities that no route leads to, whatever the arguments, with the failure of each.

        Raises:
            DeviceError: the phone fails.
        """
        installed = {package.name: package for package in packages}
        failures: dict[CapabilityKey, CallError] = {}
        refused: dict[str, dict[str, CallError]] = {}
        for target in targets:
            if isinstance(target, ScreenTarget):
                continue
            try:
                if self.shell_if_first(target) is None:
                    if not any(shims_for(target.app.package, installed)):
                        raise missing_shim(target, link.device.serial)
                    from droidgate.shims.device_user import DeviceUser

                    device_user = DeviceUser(link.device, link.facts.user, link.facts.sdk_full)
                    shim, *_ = self.shims().find(target, device_user, installed)
                    if shim not in refused:
                        refused[shim] = self.shims().why_refused(device_user.client(shim))
                    if target.app.package in refused[shim]:
                        raise refused[shim][target.app.package]
            except CallError as error:
                failures[target.key] = error
            except DeviceError:
                # The next command shows whether the phone failed, or only this shim cannot be read now.
                link.device.run(["true"])
        return failures

    def shell_if_first(self, target: CallTarget) -> ShellRoute | None:
        """Return Android's shell if it is the first route to a capability; no command is run for that.

        Raises:
            CallError: Android lets only the app itself call it.
        """
        if isinstance(target, ScreenTarget):
            return None
        shell = self._shell_route(target)
        is_alone = load_formats()[target.provider.protocol].calls.shim_backend is None
        return None if target.why_not_by_shell and not is_alone else shell

    def _routes_to(self, target: CallTarget) -> Iterator[CapabilityRoute]:
        """Yield the routes to a capability, the best first.

        Raises:
            CallError: Android lets only the app itself call it.
        """
        return iter([self.screens()]) if isinstance(target, ScreenTarget) else self._routes_to_app(target)

    def _routes_to_app(self, target: CallTarget) -> Iterator[ShellRoute | ShimRoute]:
        shell = self._shell_route(target)
        if shell is not None:
            yield shell
        if shell is None or load_formats()[target.provider.protocol].calls.shim_backend is not None:
            yield self.shims()

    def _shell_route(self, target: CallTarget) -> ShellRoute | None:
        """Return Android's shell if it is a route to a capability.

        Raises:
            CallError: Android lets only the app itself call it.
        """
        provider = target.provider
        callability = self.targets.callability(target)
        closed = callability.verdict.closed_because or target.closed_because
        if closed is not None:
            raise call_error(Failure("unavailable", f"{target.capability.id} cannot be called: {closed}"))
        format_ = load_formats()[provider.protocol]
        if format_.calls.shell_calls is None:
            return None
        calls = format_.calls.shell_calls()
        ready = (route for route in callability.routes if route.ready and route.id == calls.route_id)
        return next((ShellRoute(route.title, calls) for route in ready), None)

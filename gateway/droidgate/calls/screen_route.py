"""The route to MobileAgent's commands: by the phone's screen and input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from droidgate.calls.call_links import CallLink, RawResult, RoutePlan
from droidgate.calls.screen.screen_tools import MobileAgentTools
from droidgate.calls.targets import CallTarget
from droidgate.devices.device_errors import CanceledError, DeadlineError
from droidgate_mappings.model.errors import DeviceError, DroidgateError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.values.failures import Failure, call_error


@dataclass(frozen=True, slots=True)
class ScreenRoute:
    """Runs the commands of one phone; may be shared by threads.

    Attributes:
        tools: The phone's tools: the ids of controls hold between the calls of one caller.
        id: The route's id.
        title: The route, in a few words.
    """

    tools: MobileAgentTools
    id: ClassVar[str] = "screen"
    title: ClassVar[str] = "the phone's screen and input"

    def plan(self, target: CallTarget, arguments: Mapping[str, Json], link: CallLink) -> RoutePlan:
        """Return the plan; which commands a tool sends depends on what it finds on the screen."""
        del target, link
        return RoutePlan(self.id, self.title, (), dict(arguments))

    def send(self, plan: RoutePlan, target: CallTarget, link: CallLink) -> RawResult:
        """Run the tool, once.

        Raises:
            CallError: the tool has no answer.
            DeviceError: the device failed; whether the tool acted is not known.
        """
        with link.hop(self.title):
            try:
                value = self.tools.run(
                    target.capability.id,
                    plan.payload,
                    link.device.cancel,
                    device=link.device,
                    seconds=link.seconds,
                )
            except DeadlineError as error:
                raise call_error(Failure("timeout", error.message)) from error
            except (CanceledError, DeviceError):
                raise
            except DroidgateError as error:
                raise call_error(Failure("backend_failure", error.message), hint=error.hint) from error
        cancel = link.device.cancel
        if cancel and cancel.is_set() and isinstance(value, dict) and not value.get("success", True):
            raise CanceledError(str(value.get("error") or "the call was canceled"), place=link.device.serial)
        return RawResult(value, target.capability, target.provider.definitions)

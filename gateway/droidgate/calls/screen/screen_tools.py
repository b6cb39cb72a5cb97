"""The tools of one phone, for both servers: UFO's 13, and those beyond them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from droidgate.calls.screen.extension_tools import EXTENSION_TOOLS, ExtensionCall
from droidgate.calls.screen.screen_state import SCREEN_SECONDS, Clock, PhoneState
from droidgate.calls.screen.ufo_tools import UFO_TOOLS
from droidgate.devices.device import Device
from droidgate_mappings.model.json_values import Json

DEFAULT_SECONDS: Final = 30.0

_TOOLS: Final[Mapping[str, Callable[..., Json]]] = {**UFO_TOOLS, **EXTENSION_TOOLS}


class MobileAgentTools:
    """The tools of one phone. May be shared by threads.

    Args:
        connect: Returns the phone; it is called again until it has returned one.
        seconds: Longest time of one call.
        keeps_screen: Whether a dump serves several calls: not where somebody else acts on the phone.
        keeps_ids: Whether a control has one id as long as it is on the screen; UFO's count anew in each list.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        connect: Callable[[], Device],
        *,
        seconds: float = DEFAULT_SECONDS,
        keeps_screen: bool = True,
        keeps_ids: bool = False,
        clock: Clock = time.monotonic,
    ) -> None:
        self._connect = connect
        self._seconds = seconds
        self._state = PhoneState(
            clock, screen_seconds=SCREEN_SECONDS if keeps_screen else 0.0, keeps_ids=keeps_ids
        )
        self._connecting = threading.Lock()
        self._device: Device | None = None

    def run(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        cancel: threading.Event | None = None,
        *,
        device: Device | None = None,
        seconds: float | None = None,
    ) -> Json:
        """Run a tool and return its result.

        Args:
            tool: One of UFO's 13, or one of those beyond them.
            arguments: As the tool's schema has them; the defaults of those left out apply.
            cancel: Ends the call when it is set.
            device: Another handle of the same phone, for this call.
            seconds: Longest time of this call; without it, `wait` takes up to 60 seconds.

        Raises:
            DroidgateError: a tool that answers with a list or a picture has none; all others return a result
                with `success` false.
        """
        connect = self._phone if device is None else lambda: device
        limits = (seconds or self._seconds, cancel or threading.Event(), seconds)
        call = ExtensionCall(self._state, connect, *limits)
        return _TOOLS[tool](call, **arguments)

    def _phone(self) -> Device:
        with self._connecting:
            if self._device is None:
                self._device = self._connect()
            return self._device

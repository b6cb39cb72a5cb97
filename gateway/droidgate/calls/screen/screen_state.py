"""What both servers share of one phone: its last dump, the ids that clients have, apps and device facts.

Time is the monotonic clock's. The screen and the phone's input have one lock: while a call dumps or acts, no
other call does, so no dump is kept that an action has made old.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from droidgate.calls.screen.controls import Control, find_again, find_all_again
from droidgate_mappings.model.errors import DeviceError, DroidgateError
from droidgate_mappings.records import dataclass, replace

SCREEN_SECONDS: Final = 5.0
APPS_SECONDS: Final = 300.0
INFO_SECONDS: Final = 60.0
KEPT_LISTS: Final = 8
"""Lists of controls whose ids are still known: several clients may each have one."""

Clock = Callable[[], float]


class ToolError(DroidgateError):
    """A tool cannot do what it was asked for; the message is its answer."""


@dataclass(frozen=True, slots=True)
class ScreenSnapshot:
    """One dump of the screen.

    Attributes:
        hierarchy: Its XML.
        controls: The controls in it.
        taken: When it was complete.
    """

    hierarchy: str
    controls: tuple[Control, ...]
    taken: float


@dataclass(frozen=True, slots=True)
class FoundControl:
    """A control that an id names.

    Attributes:
        control: As it was listed, with the name and id that the client knows.
        now: As it is on the screen.
    """

    control: Control
    now: Control


class PhoneState:
    """The state of one phone.

    Args:
        clock: Seconds that only grow.
        screen_seconds: How long a dump is kept.
        keeps_ids: Whether a control has one id as long as it is on the screen, which no other control gets;
            else ids count from 1 in each dump, as in UFO.
    """

    def __init__(
        self,
        clock: Clock = time.monotonic,
        *,
        screen_seconds: float = SCREEN_SECONDS,
        keeps_ids: bool = False,
    ) -> None:
        self._clock = clock
        self._screen_seconds = screen_seconds
        self._turn = threading.Lock()
        self._snapshot: ScreenSnapshot | None = None
        self._lists: deque[tuple[Control, ...]] = deque(maxlen=KEPT_LISTS)
        self._lists_given = 0
        self._keeps_ids = keeps_ids
        self._numbered: tuple[Control, ...] = ()
        self._ids_given = 0
        # Apart from the screen's: these lists do not change with it.
        self._facts = threading.Lock()
        self._apps: dict[bool, tuple[float, tuple[str, ...]]] = {}
        self._app_ids: dict[str, str] = {}
        self._info: tuple[float, dict[str, str]] | None = None
        self._side: tuple[float, int] | None = None

    @contextlib.contextmanager
    def turn(self, seconds: float) -> Iterator[None]:
        """Wait for the other calls that use the screen, and keep new ones out.

        Raises:
            DeviceError: they took longer than that.
        """
        with _hold(self._turn, seconds):
            yield

    def snapshot(
        self, dump: Callable[[], tuple[str, tuple[Control, ...]]], *, fresh: bool = False
    ) -> ScreenSnapshot:
        """Return the screen; call it in a turn.

        Args:
            dump: Takes a dump where none is kept that is fresh enough.
            fresh: Take one in any case.
        """
        snapshot = self._snapshot
        if snapshot is not None and not fresh and self._clock() - snapshot.taken < self._screen_seconds:
            return snapshot
        # If the dump fails, no earlier screen may be taken for this one.
        self._snapshot = None
        hierarchy, controls = dump()
        if self._keeps_ids:
            controls = self._numbered = tuple(self._with_kept_ids(controls))
        self._snapshot = ScreenSnapshot(hierarchy, controls, self._clock())
        return self._snapshot

    def _with_kept_ids(self, controls: Sequence[Control]) -> Iterator[Control]:
        before = find_all_again(self._numbered, controls)
        for position, control in enumerate(controls):
            if position in before:
                yield replace(control, id=self._numbered[before[position]].id)
            else:
                self._ids_given += 1
                yield replace(control, id=str(self._ids_given))

    def give_ids(self, snapshot: ScreenSnapshot) -> str:
        """Note that a client was given the ids of a snapshot's controls; return the number of that list."""
        if not self._lists or self._lists[0] is not snapshot.controls:
            self._lists.appendleft(snapshot.controls)
            self._lists_given += 1
        return str(self._lists_given)

    def given_list(self, number: str) -> tuple[Control, ...] | None:
        """Return the list of controls that a client was given with a number; None where it is not kept."""
        numbers = range(self._lists_given, 0, -1)
        listed = zip(map(str, numbers), self._lists, strict=False)
        return next((controls for list_number, controls in listed if list_number == number), None)

    def drop_screen(self) -> None:
        """Forget the dump: the screen may have changed."""
        self._snapshot = None

    def drop_ids(self) -> None:
        """Forget the ids of controls."""
        self._lists.clear()

    def find(self, control_id: str, name: str, look: Callable[[], ScreenSnapshot]) -> FoundControl:
        """Return the control that an id names, where it is now; call it in a turn.

        The newest list decides what an id means, unless the name is that of the same id in an earlier list:
        then the client has that one.

        Args:
            control_id: The id that a client was given.
            name: The name that the client has for it.
            look: Returns the screen, from a fresh dump where the kept one is old.

        Raises:
            ToolError: no list has the id, or its control is not on the screen any more.
        """
        candidates = [
            (control, controls)
            for controls in self._lists
            for control in controls
            if control.id == control_id
        ]
        if not candidates:
            message = (
                f"Control with ID '{control_id}' not found. "
                "Please call get_app_window_controls_target_info first."
            )
            raise ToolError(message)
        control, listed = next((each for each in candidates if each[0].name == name), candidates[0])
        screen = look()
        now = control if screen.controls is listed else find_again(control, listed, screen.controls)
        if now is None:
            message = (
                f"Control with ID '{control_id}' ('{control.name}') is no longer on the screen. "
                "Please call get_app_window_controls_target_info again."
            )
            raise ToolError(message)
        return FoundControl(control, now)

    def apps(
        self,
        read: Callable[[], Sequence[str]],
        *,
        include_system: bool,
        fresh: bool = False,
        seconds: float,
    ) -> tuple[str, ...]:
        """Return packages, in the phone's order; each has an id from then on.

        Args:
            read: Asks the phone.
            include_system: Whether these are all packages, or the user's.
            fresh: Ask the phone in any case.
            seconds: How long to wait for other calls.
        """
        with _hold(self._facts, seconds):
            cache_entry = self._apps.get(include_system)
            if cache_entry is None or fresh or self._clock() - cache_entry[0] >= APPS_SECONDS:
                packages = tuple(read())
                cache_entry = self._apps[include_system] = (self._clock(), packages)
                for package in packages:
                    self._app_ids.setdefault(package, str(len(self._app_ids) + 1))
            return cache_entry[1]

    def app_id(self, package: str) -> str:
        """Return the id of a listed package: the same in every list, filtered or not."""
        return self._app_ids[package]

    def package_of(self, app_id: str) -> str | None:
        """Return the package of an id; None where no list had it.

        Raises:
            ToolError: nothing was listed.
        """
        with self._facts:
            if not self._app_ids:
                raise ToolError("App cache is empty. Please call get_mobile_app_target_info first.")
            return next((package for package, number in self._app_ids.items() if number == app_id), None)

    def drop_apps(self) -> None:
        """Forget the apps and their ids."""
        with self._facts:
            self._apps.clear()
            self._app_ids.clear()

    def info(self, read: Callable[[], dict[str, str]], seconds: float) -> tuple[dict[str, str], bool]:
        """Return the facts of the device, and whether they were kept."""
        with _hold(self._facts, seconds):
            if self._info is not None and self._clock() - self._info[0] < INFO_SECONDS:
                return self._info[1], True
            self._info = None
            facts = read()
            self._info = (self._clock(), facts)
            return facts, False

    def drop_info(self) -> None:
        """Forget the facts of the device."""
        with self._facts:
            self._info = self._side = None

    def longest_side(self, read: Callable[[], int], seconds: float) -> int:
        """Return the longer side of the screen in pixels."""
        with _hold(self._facts, seconds):
            if self._side is None or self._clock() - self._side[0] >= INFO_SECONDS:
                self._side = (self._clock(), read())
            return self._side[1]


@contextlib.contextmanager
def _hold(lock: threading.Lock, seconds: float) -> Iterator[None]:
    if not lock.acquire(timeout=max(0.0, seconds)):
        raise DeviceError(f"other calls used the phone for {seconds:.0f} s", hint="try again")
    try:
        yield
    finally:
        lock.release()

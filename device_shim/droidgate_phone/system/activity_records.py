"""Activities that run, and the tasks that they are in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from droidgate_phone.java.app_values import ActivityResult
from droidgate_phone.java.intents import Intent
from droidgate_phone.system.behaviour import Activity
from droidgate_phone.system.processes import AppProcess
from droidgate_phone.system.resolver import Match


@dataclass(slots=True, eq=False)
class ActivityRecord:
    """An activity that runs.

    Attributes:
        match: Its component.
        intent: What started it.
        process: Where its code runs.
        on_result: Takes its result on the requester's main thread; None where no caller waits.
        requester: The process that waits for the result.
        instance: Its object; None until `on_create` was called.
        ended: It is finished.
        hides_overlays: Overlays are hidden while it is on top (`Window.setHideOverlayWindows`).
    """

    match: Match
    intent: Intent
    process: AppProcess
    on_result: Callable[[ActivityResult], None] | None = None
    requester: AppProcess | None = None
    instance: Activity | None = None
    ended: bool = False
    hides_overlays: bool = False

    def is_translucent(self) -> bool:
        """Return whether it shows nothing of its own: what lies under it is visible."""
        return self.instance is None or type(self.instance).view is Activity.view


@dataclass(slots=True, eq=False)
class Task:
    """A task: activities on top of each other.

    Attributes:
        id: Its number.
        affinity: The package that opened it.
        activities: Bottom first.
    """

    id: int
    affinity: str
    activities: list[ActivityRecord] = field(default_factory=list)

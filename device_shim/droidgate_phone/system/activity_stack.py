"""Activities: tasks, results, and who may start one from the background (AOSP's ActivityStarter).

Sources: reference android-runtime 0 findings 4 to 6, 1.2, 1.5.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Final, Literal

from droidgate_phone.common.uids import FIRST_APP_UID
from droidgate_phone.java.app_values import ActivityResult, AndroidError, View
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.screen.window import LauncherEntry, Shown, Touched
from droidgate_phone.system.activity_records import ActivityRecord, Task
from droidgate_phone.system.behaviour import Activity
from droidgate_phone.system.callers import SHELL, CallerIdentity
from droidgate_phone.system.intent_text import show_intent
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.parcels import TRANSACTION_LIMIT, cross_intent
from droidgate_phone.system.permissions import AppOps
from droidgate_phone.system.processes import (
    AndroidNotModelledError,
    AppNotRespondingError,
    AppProcess,
    DeadProcessError,
)
from droidgate_phone.system.resolver import MATCH_DEFAULT_ONLY, Match
from droidgate_phone.system.service_records import RunningServices
from droidgate_phone.system.system_core import SystemCore

FLAG_NEW_TASK: Final = 0x10000000
FLAG_MULTIPLE_TASK: Final = 0x08000000
FLAG_CLEAR_TASK: Final = 0x00008000
BIND_ALLOW_ACTIVITY_STARTS: Final = 0x200
"""Context.BIND_ALLOW_ACTIVITY_STARTS (reference android-runtime 1.2)."""
FLAG_SINGLE_TOP: Final = 0x20000000
LAUNCH_SECONDS: Final = 10.0
"""How long `am start -W` waits for an activity to come up."""
GRACE_SECONDS: Final = 10.0
"""How long after an own activity's start or end an app may start another (reference android-runtime 1.2)."""
AFTER_HOME_SECONDS: Final = 5.0
"""How long after the Home key that is not so (ActivityTaskManagerService.APP_SWITCH_DELAY_TIME)."""
RESULT_CANCELED: Final = 0
_MAIN: Final = "android.intent.action.MAIN"
_LAUNCHER: Final = "android.intent.category.LAUNCHER"
_UI_SECONDS: Final = 5.0
_OVERLAY: Final = "android.permission.SYSTEM_ALERT_WINDOW"
_FROM_BACKGROUND: Final = "android.permission.START_ACTIVITIES_FROM_BACKGROUND"

StartOutcome = Literal["started", "to-front", "delivered-to-top", "blocked"]


class ActivityNotFoundError(Exception):
    """No activity matches; `component` is that of an explicit intent."""

    def __init__(self, component: ComponentName | None) -> None:
        super().__init__()
        self.component = component


class ActivityStack:
    """The activities of one phone; also where the window finds what to show (`screen.window.Stage`)."""

    def __init__(self, core: SystemCore, services: RunningServices, app_ops: AppOps) -> None:
        self._core = core
        self._services = services
        self._app_ops = app_ops
        self._lock = threading.RLock()
        self._tasks: list[Task] = []
        self._at_home = False
        self._ids = itertools.count(1)
        self._last_use: dict[int, float] = {}
        self._home_pressed: float | None = None

    def tasks(self) -> list[Task]:
        """Return the tasks, that in front last."""
        with self._lock:
            return list(self._tasks)

    def top_record(self) -> ActivityRecord | None:
        """Return the activity that has the display, None where the home screen has it."""
        with self._lock:
            if self._at_home or not self._tasks:
                return None
            return self._tasks[-1].activities[-1]

    def visible(self) -> list[ActivityRecord]:
        """Return the activities that the user sees: the top one, and those under translucent ones."""
        with self._lock:
            if self._at_home or not self._tasks:
                return []
            seen: list[ActivityRecord] = []
            for record in reversed(self._tasks[-1].activities):
                seen.append(record)
                if not record.is_translucent():
                    break
            return seen

    def is_visible(self, uid: int) -> bool:
        """Return whether a uid shows an activity."""
        return any(record.match.package.uid == uid for record in self.visible())

    def last_of(self, package: str) -> ActivityRecord | None:
        """Return the topmost activity of a package, seen or not."""
        with self._lock:
            records = [
                record
                for task in self._tasks
                for record in task.activities
                if record.match.package.name == package
            ]
            return records[-1] if records else None

    def start(
        self,
        caller: CallerIdentity,
        intent: Intent,
        on_result: Callable[[ActivityResult], None] | None = None,
        *,
        created_by: InstalledPackage | None = None,
    ) -> tuple[StartOutcome, ActivityRecord | None]:
        """Start an activity.

        Args:
            caller: Who starts it.
            intent: Which.
            on_result: Takes its result; on Android only an activity can ask for one.
            created_by: Who made the PendingIntent that the caller sends; what that app may reach is reached.

        Returns:
            The outcome, and the activity that came or that is there.

        Raises:
            ActivityNotFoundError: no activity matches.
            AndroidError: Android refuses, or the code is not modelled.
        """
        crossed = cross_intent(intent, TRANSACTION_LIMIT)
        accessor = caller if created_by is None else CallerIdentity(created_by.uid, created_by.name)
        match = self._resolve(accessor, crossed)
        self._check_access(accessor, match, crossed)
        if not self._may_start(caller):
            text = "Background activity launch blocked! goo.gle/android-bal"
            self._core.log.record(
                "background-activity-blocked", text=text, caller_uid=caller.uid, intent=show_intent(crossed)
            )
            self._cancel(caller, on_result)
            return "blocked", None
        activity = self._modelled(match)
        self._core.resolver.interacted(caller.uid, match.package.uid)
        new_task = (
            bool(crossed.flags & FLAG_NEW_TASK) or match.component.launch_mode == "singleInstancePerTask"
        )
        if new_task and on_result is not None:
            # The caller learns at once that it gets no result; the activity starts all the same.
            self._cancel(caller, on_result)
            on_result = None
        if new_task and crossed.flags & FLAG_CLEAR_TASK:
            self._clear(match.package.name)
        with self._lock:
            existing = self._reuse_activity(match, crossed, new_task=new_task)
            if existing is not None:
                return existing
            process = self._core.start_process(match.package, match.component.process)
            record = ActivityRecord(match, crossed, process, on_result, caller.process)
            self._task_for(caller, match, new_task=new_task).activities.append(record)
            self._at_home = False
            self._note_use(match.package.uid)
        self._core.log.record(
            "activity-started",
            component=match.name.flatten_short(),
            intent=show_intent(crossed),
            caller_uid=caller.uid,
        )
        self._core.processes.run_code(process, lambda: self._create(record, activity))
        return "started", record

    def wait_created(self, record: ActivityRecord) -> bool:
        """Wait until an activity has come up; False where it has not within Android's time."""
        try:
            self._core.processes.call_code(record.process, lambda: None, LAUNCH_SECONDS)
        except DeadProcessError:
            return True
        except AppNotRespondingError:
            return False
        return True

    def top(self) -> Shown | None:
        """Return the activity that has the display, for the window; its calls run on its main thread."""
        record = self.top_record()
        if record is None:
            return None
        activity = _OnMainThread(self, record)
        return Shown(
            record,
            record.match.package.name,
            activity,
            hides_overlays=record.hides_overlays,
            set_touch_flags=activity.set_touch_flags,
        )

    def go_back(self) -> None:
        """End the top activity with the result that it has set."""
        record = self.top_record()
        if record is not None:
            self.finish(record)

    def go_home(self) -> None:
        """Show the home screen; the activities are stopped, and go on behind it."""
        with self._lock:
            visible_records = self.visible()
            for record in visible_records:
                self._note_use(record.match.package.uid)
            self._at_home = True
            self._home_pressed = self._core.clock.now()
        for record in visible_records:
            instance = record.instance
            if instance is not None and type(instance).on_stop is not Activity.on_stop:
                self.run(record, lambda activity: activity.on_stop())

    def launcher_entries(self) -> Sequence[LauncherEntry]:
        """Return the apps of the home screen, by label and package."""
        matches = self._core.resolver.query(
            "activity", Intent(action=_MAIN, categories=(_LAUNCHER,)), caller_uid=SHELL.uid
        )
        entries = [
            LauncherEntry(
                match.package.name,
                match.component.label or match.package.application.label or match.package.name,
                lambda name=match.name: self._launch(name),  # type: ignore[misc]
            )
            for match in matches
        ]
        return sorted(entries, key=lambda entry: (entry.label.casefold(), entry.package))

    def _launch(self, name: ComponentName) -> None:
        intent = Intent(action=_MAIN, categories=(_LAUNCHER,), component=name, flags=FLAG_NEW_TASK)
        try:
            _, record = self.start(SHELL, intent)
        except (ActivityNotFoundError, AndroidError) as error:
            self._core.log.record("launch-failed", component=name.flatten_short(), error=str(error))
            return
        if record is not None:
            self.wait_created(record)

    def finish(self, record: ActivityRecord, result: ActivityResult | None = None) -> None:
        """End an activity and deliver its result, or the one given, to the activity that waits for it."""
        with self._lock:
            if record.ended:
                return
            record.ended = True
            for task in self._tasks:
                if record in task.activities:
                    task.activities.remove(record)
            self._tasks = [task for task in self._tasks if task.activities]
            self._note_use(record.match.package.uid)
        if result is None:
            result = (
                record.instance.result if record.instance is not None else ActivityResult(RESULT_CANCELED)
            )
        instance = record.instance
        if instance is not None and type(instance).on_destroy is not Activity.on_destroy:
            self._core.processes.run_code(record.process, instance.on_destroy)
        self._core.log.record(
            "activity-finished", component=record.match.name.flatten_short(), result_code=result.code
        )
        try:
            self._deliver(record.requester, record.on_result, result)
        except AndroidError:
            # A result that is too large for the Binder ends the app that sets it; who waits sees no result.
            self._deliver(record.requester, record.on_result, ActivityResult(RESULT_CANCELED))
            raise

    def forget_process(self, process: AppProcess) -> None:
        """End the activities of a process that ended; callers that wait get RESULT_CANCELED."""
        with self._lock:
            ended = [
                record for task in self._tasks for record in task.activities if record.process is process
            ]
        for record in ended:
            self.finish(record, ActivityResult(RESULT_CANCELED))

    def _resolve(self, caller: CallerIdentity, intent: Intent) -> Match:
        flags = 0 if intent.component is not None else MATCH_DEFAULT_ONLY
        hits = self._core.resolver.query("activity", intent, caller_uid=caller.uid, flags=flags, unseen=True)
        if not hits:
            raise ActivityNotFoundError(intent.component)
        if len(hits) > 1 and hits[0].priority == hits[1].priority:
            raise AndroidNotModelledError("the chooser between several activities for one intent")
        return hits[0]

    def _check_access(self, caller: CallerIdentity, match: Match, intent: Intent) -> None:
        if caller.uid in (0, 1000, match.package.uid):
            return
        component = match.component
        start = f"Permission Denial: starting {show_intent(intent)} from {caller.describe()}"
        if not component.exported:
            message = f"{start} not exported from uid {match.package.uid}"
        elif not self._core.packages.permissions.holds(caller.uid, component.permission):
            message = f"{start} requires {component.permission}"
        else:
            return
        raise AndroidError("java.lang.SecurityException", message)

    def _may_start(self, caller: CallerIdentity) -> bool:
        """Return whether a caller may open an activity now (BackgroundActivityStartController)."""
        core, uid = self._core, caller.uid
        if uid < FIRST_APP_UID or not core.release.has("background-activities"):
            return True
        if self.is_visible(uid) or self._is_bound_by_visible(uid):
            return True
        if core.packages.permissions.holds(uid, _FROM_BACKGROUND) or self.may_overlay(uid):
            return True
        last, now = self._last_use.get(uid), core.clock.now()
        if self._home_pressed is not None and now - self._home_pressed < AFTER_HOME_SECONDS:
            return False
        return last is not None and now - last < GRACE_SECONDS

    def _is_bound_by_visible(self, uid: int) -> bool:
        """Return whether a visible client lends its right: with a binding's flag, or a target below 14."""
        for record in self._services.all():
            if record.process.uid != uid:
                continue
            for binding in record.bindings:
                client = self._core.packages.find(binding.caller.package or "")
                if client is None or not self.is_visible(client.uid):
                    continue
                lends = binding.flags & BIND_ALLOW_ACTIVITY_STARTS or not self._core.release.has(
                    "bind-lends-no-activity-start", client.target_sdk
                )
                if lends:
                    return True
        return False

    def may_overlay(self, uid: int) -> bool:
        """Return whether the user allowed a uid SYSTEM_ALERT_WINDOW."""
        return any(
            _OVERLAY in package.manifest.requested_permissions
            and self._app_ops.mode(package.name, "SYSTEM_ALERT_WINDOW") == "allow"
            for package in self._core.packages.of_uid(uid)
        )

    def _modelled(self, match: Match) -> type[Activity]:
        app = self._core.code_of(match.package)
        activity = app.ACTIVITIES.get(match.component.code_class) if app is not None else None
        if activity is None:
            raise AndroidNotModelledError(f"the code of activity {match.name.flatten_short()}")
        return activity

    def _reuse_activity(
        self, match: Match, intent: Intent, *, new_task: bool
    ) -> tuple[StartOutcome, ActivityRecord] | None:
        """Return an activity that is brought to the front or asked again in place of a new one."""
        top = self.top_record()
        single_top = bool(intent.flags & FLAG_SINGLE_TOP) or match.component.launch_mode != "standard"
        if single_top and top is not None and top.match.name == match.name:
            return "delivered-to-top", top
        # FLAG_ACTIVITY_MULTIPLE_TASK: a task of its own for each start.
        is_multiple = bool(intent.flags & FLAG_MULTIPLE_TASK)
        task = self._task_of(match.package.name) if new_task and not is_multiple else None
        if task is None:
            return None
        root = task.activities[0]
        is_same = root.intent.filter_comparison() == intent.filter_comparison()
        if root.match.name == match.name and is_same:
            self._bring_to_front(task)
            return "to-front", task.activities[-1]
        return None

    def _clear(self, affinity: str) -> None:
        """End the activities of a task, as FLAG_ACTIVITY_CLEAR_TASK does."""
        task = self._task_of(affinity)
        for record in reversed([] if task is None else list(task.activities)):
            self.finish(record, ActivityResult(RESULT_CANCELED))

    def _task_of(self, affinity: str) -> Task | None:
        return next((task for task in reversed(self._tasks) if task.affinity == affinity), None)

    def _bring_to_front(self, task: Task) -> None:
        self._tasks.remove(task)
        self._tasks.append(task)
        self._at_home = False

    def _task_for(self, caller: CallerIdentity, match: Match, *, new_task: bool) -> Task:
        if not new_task and caller.activity is not None:
            for task in self._tasks:
                if caller.activity in task.activities:
                    self._bring_to_front(task)
                    return task
        package_task = self._task_of(match.package.name)
        if package_task is None:
            package_task = Task(next(self._ids), match.package.name)
            self._tasks.append(package_task)
        else:
            self._bring_to_front(package_task)
        return package_task

    def _create(self, record: ActivityRecord, activity: type[Activity]) -> None:
        if record.ended:
            return
        record.instance = activity(
            self._core.context_for(record.match.package, record.process, activity=record)
        )
        record.instance.on_create(record.intent)
        self._end_if_finished(record)

    def _end_if_finished(self, record: ActivityRecord) -> None:
        if record.instance is not None and record.instance.finished:
            self.finish(record)

    def run(self, record: ActivityRecord, code: Callable[[Activity], None]) -> None:
        """Run code of an activity on its main thread and wait; nothing where the app does not answer."""

        def run() -> None:
            if record.instance is not None and not record.ended:
                code(record.instance)
                self._end_if_finished(record)

        try:
            self._core.processes.call_code(record.process, run, _UI_SECONDS)
        except (DeadProcessError, AppNotRespondingError):
            self._core.log.record("input-not-handled", component=record.match.name.flatten_short())

    def _note_use(self, uid: int) -> None:
        self._last_use[uid] = self._core.clock.now()
        self._core.processes.mark_active(uid)

    def _cancel(self, caller: CallerIdentity, on_result: Callable[[ActivityResult], None] | None) -> None:
        self._deliver(caller.process, on_result, ActivityResult(RESULT_CANCELED))

    def _deliver(
        self,
        process: AppProcess | None,
        on_result: Callable[[ActivityResult], None] | None,
        result: ActivityResult,
    ) -> None:
        if on_result is None:
            return
        data = None if result.data is None else cross_intent(result.data, TRANSACTION_LIMIT)
        crossed = ActivityResult(result.code, data)
        if process is None:
            on_result(crossed)
        else:
            self._core.processes.run_code(process, lambda: on_result(crossed))


class _OnMainThread(Touched):
    """An activity as the window touches it: each call runs on the app's main thread."""

    def __init__(self, stack: ActivityStack, record: ActivityRecord) -> None:
        self._stack = stack
        self._record = record
        self._touch_flags = 0

    def set_touch_flags(self, flags: int) -> None:
        """Take the flags of the tap that the next `on_click` handles."""
        self._touch_flags = flags

    def view(self) -> View | None:
        views: list[View | None] = []
        self._stack.run(self._record, lambda activity: views.append(activity.view()))
        return views[0] if views else None

    def on_click(self, view_id: str) -> None:
        def click(activity: Activity) -> None:
            activity.touch_flags = self._touch_flags
            try:
                activity.on_click(view_id)
            finally:
                activity.touch_flags = 0

        self._stack.run(self._record, click)

    def on_long_click(self, view_id: str) -> None:
        self._stack.run(self._record, lambda activity: activity.on_long_click(view_id))

    def on_drop(self, view_id: str, target_id: str) -> None:
        self._stack.run(self._record, lambda activity: activity.on_drop(view_id, target_id))

    def on_text(self, view_id: str, text: str) -> None:
        self._stack.run(self._record, lambda activity: activity.on_text(view_id, text))

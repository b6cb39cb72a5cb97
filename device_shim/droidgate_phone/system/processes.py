"""App processes: one main thread each, on which all of an app's code runs."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from droidgate_phone.common.clocks import Clock, start_work, wait_for_command
from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.system.package_records import InstalledPackage

Value = TypeVar("Value")

FIRST_PID: Final = 4000
FIRST_ISOLATED_UID: Final = 99000
LAST_ISOLATED_UID: Final = 99999
"""`Process.FIRST_ISOLATED_UID` and `LAST_ISOLATED_UID`: uids of isolated processes, which no package has."""
SETTLE_SECONDS: Final = 60.0
"""How long an app in the background still counts as active (ActivityManager's BACKGROUND_SETTLE_TIME)."""
_JOIN_SECONDS: Final = 5.0


class AndroidNotModelledError(AndroidError):
    """The phone does not model what was called; `what` says what, and `message` says so to a caller."""

    def __init__(self, what: str) -> None:
        super().__init__(
            "dev.droidgate.phone.NotModelledException", f"the virtual phone does not model {what}"
        )
        self.what = what


class DeadProcessError(Exception):
    """The process ended: before it answered, or before its code made a call."""


class AppNotRespondingError(Exception):
    """The app did not answer in time."""


def is_isolated(uid: int) -> bool:
    """Return whether a uid is that of an isolated process (`UserHandle.isIsolated`)."""
    return FIRST_ISOLATED_UID <= uid <= LAST_ISOLATED_UID


class AppProcess:
    """A process of an app.

    Attributes:
        package: Whose it is.
        name: Its name; the package's, or that of `android:process`.
        uid: Its uid: the package's, or that of an isolated process.
        pid: Its number.
        alive: It has not ended.
        watched: The system is notified when it ends.
        statics: What the app's code keeps for as long as the process lives (Java's static fields).
    """

    def __init__(self, package: str, name: str, uid: int, pid: int, clock: Clock) -> None:
        self.package = package
        self.name = name
        self.uid = uid
        self.pid = pid
        self.alive = True
        self.watched = False
        self.statics: dict[str, object] = {}
        self._clock = clock
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._loop, name=f"phone:{name}", daemon=True)
        self._deaths: dict[int, Callable[[], None]] = {}
        self._numbers = itertools.count()
        self._thread.start()

    def post(self, task: Callable[[], None]) -> bool:
        """Have a task run on the main thread; false where the process has ended."""
        with self._lock:
            if not self.alive:
                return False
            self._clock.work_added()
            self._tasks.put(task)
            return True

    def on_death(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have a listener called when the process ends, at once where it has ended.

        Returns:
            What forgets the listener again.
        """
        with self._lock:
            if self.alive:
                number = next(self._numbers)
                self._deaths[number] = listener
                return lambda: self._forget(number)
        listener()
        return lambda: None

    def _forget(self, number: int) -> None:
        with self._lock:
            self._deaths.pop(number, None)

    def end(self) -> None:
        """End it: what it has not begun is never done."""
        with self._lock:
            if not self.alive:
                return
            self.alive = False
            dropped = 0
            with suppress(queue.Empty):
                while self._tasks.get_nowait():
                    dropped += 1
            self._tasks.put(None)
            listeners, self._deaths = list(self._deaths.values()), {}
        for listener in listeners:
            listener()
        for _ in range(dropped):
            self._clock.work_dropped()

    def require_alive(self) -> None:
        """Stop code that goes on after its process has ended, whose threads Android's kernel ends at once.

        Raises:
            DeadProcessError: the process has ended.
        """
        if not self.alive:
            raise DeadProcessError

    def join(self) -> None:
        """Wait for the end of the main thread, unless this is it."""
        if threading.current_thread() is not self._thread:
            self._thread.join(_JOIN_SECONDS)

    def is_ending(self) -> bool:
        """Return whether its main thread still runs."""
        return self._thread.is_alive()

    def is_main_thread(self) -> bool:
        """Return whether the caller runs on the main thread."""
        return threading.current_thread() is self._thread

    def _loop(self) -> None:
        while (task := self._tasks.get()) is not None:
            with self._clock.working():
                task()


class ProcessManager:
    """The processes of one phone."""

    def __init__(self, clock: Clock, log: EventLog, faults: Callable[[], Faults]) -> None:
        self._clock = clock
        self._log = log
        self._faults = faults
        self._lock = threading.RLock()
        self._processes: dict[tuple[str, int], AppProcess] = {}
        self._ended: list[AppProcess] = []
        self._pids = itertools.count(FIRST_PID)
        self._isolated_uids = itertools.cycle(range(FIRST_ISOLATED_UID, LAST_ISOLATED_UID + 1))
        self._last_active: dict[int, float] = {}

    def start(self, package: InstalledPackage, name: str, *, isolated: bool = False) -> AppProcess:
        """Return an app's process of that name, started if it does not run; the app is not stopped any more.

        Args:
            package: The app.
            name: The process's name.
            isolated: Whether it is a new process with a uid of its own (`ProcessList.IsolatedUidRange`).
        """
        with self._lock:
            uid = next(self._isolated_uids) if isolated else package.uid
            running_process = self._processes.get((name, uid))
            if running_process is not None and running_process.alive:
                return running_process
            clock = self._clock
            process = AppProcess(package.name, name, uid, next(self._pids), clock)
            self._processes[name, uid] = process
            package.stopped = False
            self._log.record("process-started", package=package.name, process=name, pid=process.pid)
            return process

    def of_package(self, package: str) -> list[AppProcess]:
        """Return the processes of a package that run."""
        with self._lock:
            return [
                process
                for process in self._processes.values()
                if process.package == package and process.alive
            ]

    def of_uid(self, uid: int) -> list[AppProcess]:
        """Return the processes of a uid that run."""
        with self._lock:
            return [process for process in self._processes.values() if process.uid == uid and process.alive]

    def all(self) -> list[AppProcess]:
        """Return the processes that run, by pid."""
        with self._lock:
            return sorted(
                (process for process in self._processes.values() if process.alive),
                key=lambda process: process.pid,
            )

    def end(self, process: AppProcess, reason: str) -> None:
        """End a process."""
        if not process.alive:
            return
        self._log.record("process-ended", package=process.package, pid=process.pid, reason=reason)
        process.end()
        with self._lock:
            self._processes.pop((process.name, process.uid), None)
            self._ended = [*(ended for ended in self._ended if ended.is_ending()), process]

    def close(self) -> None:
        """End every process and wait for its thread."""
        for process in self.all():
            self.end(process, "shutdown")
        with self._lock:
            ended, self._ended = self._ended, []
        for process in ended:
            process.join()

    def mark_active(self, uid: int) -> None:
        """Remember that a uid does something that the user sees or waits for."""
        with self._lock:
            self._last_active[uid] = self._clock.now()

    def was_just_active(self, uid: int) -> bool:
        """Return whether a uid has run and was active a moment ago, so that it is not idle yet."""
        with self._lock:
            last = self._last_active.get(uid)
        if last is None or not self.of_uid(uid):
            return False
        return self._clock.now() - last < SETTLE_SECONDS

    def run_code(self, process: AppProcess, code: Callable[[], None]) -> bool:
        """Run an app's code on its main thread, some time: what it throws ends the process.

        Faults come in here: a silent app's code is never run, a crashing app dies instead.

        Returns:
            False where the process has ended.
        """
        faults = self._faults()
        if process.package in faults.silent:
            self._log.record("app-silent", package=process.package)
            return process.alive

        return process.post(lambda: self._guard(process, code))

    def call_binder(self, process: AppProcess, code: Callable[[], Value], seconds: float) -> Value:
        """Run an app's code on a Binder thread, next to the main thread, and return what it returns.

        Raises:
            AndroidError: what the code threw of Android's exceptions, which a Binder carries to its caller.
            DeadProcessError: the process ended.
            AppNotRespondingError: it did not answer within the seconds.
        """
        is_silent = process.package in self._faults().silent
        if is_silent:
            self._log.record("app-silent", package=process.package)
        clock = self._clock
        done = clock.signal()
        results: list[Value] = []
        thrown: list[AndroidError] = []

        def answer() -> None:
            try:
                results.append(code())
            except AndroidError as error:
                thrown.append(error)

        def run() -> None:
            self._guard(process, answer)
            done.set()

        forget = process.on_death(done.set)
        try:
            if process.alive and not is_silent:
                start_work(clock, f"binder:{process.name}", run)
            if not wait_for_command(clock, done, seconds):
                raise AppNotRespondingError
        finally:
            forget()
        if thrown:
            raise thrown[0]
        if not results:
            raise DeadProcessError
        return results[0]

    def _guard(self, process: AppProcess, code: Callable[[], None]) -> None:
        """Run an app's code; what it throws, and the fault of that name, ends its process."""
        if process.package in self._faults().crashing:
            self.crash(process, "java.lang.RuntimeException: fault asked for")
            return
        try:
            code()
        except AndroidError as error:
            self.crash(process, f"{error.exception}: {error.message}")
        except Exception as error:  # noqa: BLE001 - whatever an app throws ends its process, as on Android
            self.crash(process, f"{type(error).__name__}: {error}")

    def crash(self, process: AppProcess, cause: str) -> None:
        """End a process as an exception that its code does not catch (also `ProcessRecord.scheduleCrash`)."""
        if not process.alive:
            return
        self._log.record("app-crash", package=process.package, pid=process.pid, cause=cause)
        self.end(process, "crash")

    def call_code(self, process: AppProcess, code: Callable[[], Value], seconds: float) -> Value:
        """Run an app's code on its main thread and return what it returns.

        Raises:
            DeadProcessError: the process ended.
            AppNotRespondingError: it did not answer within the seconds.
        """
        if process.is_main_thread():
            return code()
        clock = self._clock
        done = clock.signal()
        results: list[Value] = []

        def run() -> None:
            results.append(code())
            done.set()

        forget = process.on_death(done.set)
        try:
            if not self.run_code(process, run):
                raise DeadProcessError
            if not clock.wait(done, seconds):
                raise AppNotRespondingError
        finally:
            forget()
        if not results:
            raise DeadProcessError
        return results[0]

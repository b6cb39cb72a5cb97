"""The JVM that all shims of this program run on, and the lines of JSON to and from it."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from droidgate_mappings.model.errors import UsageError
from droidgate_phone.apps.jvm_shim.jvm_parts import JvmParts, compiled_bridge, find_parts
from droidgate_phone.apps.jvm_shim.jvm_values import WireFields
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.system.processes import DeadProcessError

if TYPE_CHECKING:
    from droidgate_phone.system.android_system import AndroidSystem

_START_SECONDS: Final = 120.0
_CALL_SECONDS: Final = 300.0
_THREADS: Final = 32
_OPTIONS: Final = (
    "--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.access=ALL-UNNAMED", "-Xmx1200m", "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1", "-Drobolectric.usePreinstrumentedJars=true",
)  # fmt: skip

Taker = Callable[[str, WireFields], object]
"""Runs an operation that the JVM asks of one process, and returns the answer."""

_shared_lock = threading.Lock()
_shared: dict[int, Machine] = {}


def shared_machine(sdk: int) -> Machine:
    """Return this program's JVM of an Android release, started where it does not run.

    Raises:
        UsageError: it cannot be had; the message says what is missing and how to get it.
    """
    with _shared_lock:
        machine = _shared.get(sdk)
        if machine is None or not machine.is_running():
            machine = _shared[sdk] = Machine(find_parts(), sdk)
            atexit.register(machine.close)
        return machine


def _nobody(operation: str, fields: WireFields) -> object:
    del operation, fields
    raise AndroidError("android.os.DeadObjectException", "the process has ended")


class Machine:
    """A JVM.

    Args:
        parts: What it is made of.
        sdk: Whose Android's classes it has.

    Raises:
        UsageError: it does not start.
    """

    def __init__(self, parts: JvmParts, sdk: int) -> None:
        self.parts = parts
        self._folder = tempfile.TemporaryDirectory(prefix="shim-jvm-")
        self._errors = Path(self._folder.name, "errors.txt")
        path = os.pathsep.join(map(str, (compiled_bridge(parts), *parts.runtime)))
        settings = (f"-Djava.io.tmpdir={self._folder.name}", f"-Drobolectric.enabledSdks={sdk}")
        command = [parts.program("java"), *_OPTIONS, *settings, "-cp", path, "dev.droidgate.runtime.Main"]
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - a JDK's own program, with our own options
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._asked: dict[int, Future[WireFields]] = {}
        self._takers: dict[int, tuple[AndroidSystem, Taker]] = {}
        self._ready = threading.Event()
        self._has_started = False
        self._pool = ThreadPoolExecutor(_THREADS, "shim-jvm")
        self._clock: AndroidSystem | None = None
        self._behind = 0.0
        self._latest = 0
        threading.Thread(target=self._read, name="shim-jvm", daemon=True).start()
        if not self._ready.wait(_START_SECONDS) or not self._has_started:
            output = self.errors()[-2000:]
            self.close()
            raise UsageError(f"the JVM for shims does not start: {output}")

    def is_running(self) -> bool:
        """Return whether it runs."""
        return self._process.poll() is None

    def errors(self) -> str:
        """Return its standard error."""
        return self._errors.read_text("utf-8", errors="replace")

    def attach(self, system: AndroidSystem, taker: Taker) -> int:
        """Return the number of a new process of a phone, whose clock is the JVM's from now on."""
        with self._lock:
            self._follow(system)
            number = next(self._numbers)
            self._takers[number] = system, taker
            return number

    def _follow(self, system: AndroidSystem) -> None:
        """Take the time from this phone."""
        if self._clock is not system:
            self._clock = system
            # The JVM's time never goes back; another phone's may be earlier.
            self._behind = max(0.0, self._latest - system.clock.now() * 1000)

    def detach(self, number: int) -> None:
        """End a process."""
        with self._lock:
            entry = self._takers.pop(number, None)
            systems = [system for system, _ in self._takers.values()]
            if systems and self._clock not in systems:
                self._follow(systems[-1])
        if entry is not None:
            with contextlib.suppress(AndroidError):
                self.notify(number, "close", {})
                # What is due comes on the clock that is followed now.
                self.notify(-1, "tick", {})

    def _now(self) -> int:
        system = self._clock
        if system is not None:
            self._latest = max(self._latest, int(system.clock.now() * 1000 + self._behind))
        return self._latest

    def notify(self, process: int, operation: str, fields: WireFields) -> None:
        """Run an operation that has no answer."""
        self._write({**fields, "op": operation, "process": process, "now": self._now()})

    def call(self, process: int, operation: str, fields: WireFields, *, binder: bool = False) -> Any:
        """Run an operation on the main thread, or a Binder thread, and return its value.

        Raises:
            AndroidError: what the Java code threw.
        """
        answer: Future[WireFields] = Future()
        with self._lock:
            number = next(self._numbers)
            self._asked[number] = answer
        self._write(
            {
                **fields,
                "id": number,
                "op": operation,
                "process": process,
                "now": self._now(),
                "binder": binder,
            }
        )
        read = answer.result(_CALL_SECONDS)
        error = read.get("error")
        if error is not None:
            raise AndroidError(error["exception"], error["message"])
        return read.get("value")

    def _write(self, fields: WireFields) -> None:
        line = json.dumps(fields, separators=(",", ":")).encode() + b"\n"
        stream = self._process.stdin
        with self._lock, contextlib.suppress(OSError, ValueError):
            if stream is not None:
                stream.write(line)
                stream.flush()
                return
        raise AndroidError("android.os.DeadObjectException", "the JVM has ended")

    def _read(self) -> None:
        try:
            self._read_lines()
        finally:
            # Whoever waits for it waits no longer, whatever ended its output.
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._ready.set()
            with self._lock:
                unanswered, self._asked = list(self._asked.values()), {}
            for item in unanswered:
                item.set_result({"error": {"exception": "android.os.DeadObjectException", "message": ""}})

    def _read_lines(self) -> None:
        """Take what the JVM writes until it ends; what is not JSON says why it does not start."""
        for line in self._process.stdout or ():
            try:
                fields = json.loads(line)
            except ValueError:
                with self._errors.open("ab") as errors:
                    errors.write(line)
                continue
            if "re" in fields:
                with self._lock:
                    waiting = self._asked.pop(fields["re"], None)
                if waiting is not None:
                    waiting.set_result(fields)
            elif fields["op"] == "ready":
                self._has_started = True
                self._ready.set()
            elif fields["op"] == "due":
                self._tick_at(int(fields["at"]))
            else:
                self._take(fields)

    def _tick_at(self, due: int) -> None:
        """Come back when the next thing is due on the JVM, by the phone's clock."""
        system = self._clock
        if due > 0 and system is not None:
            system.timers.after((due - self._now()) / 1000, self._tick)

    def _tick(self) -> None:
        with contextlib.suppress(AndroidError):
            self.notify(-1, "tick", {})

    def _take(self, fields: WireFields) -> None:
        entry = self._takers.get(fields["process"])
        taker = None if entry is None else entry[1]
        if "id" in fields:
            self._pool.submit(self._answer, taker, fields)
        elif taker is not None:
            # What needs no answer comes in its order, and for a process that may have ended.
            with contextlib.suppress(AndroidError, DeadProcessError):
                taker(fields["op"], fields)

    def _answer(self, taker: Taker | None, fields: WireFields) -> None:
        answer: WireFields = {"re": fields["id"]}
        try:
            answer["value"] = (taker or _nobody)(fields["op"], fields)
        except AndroidError as error:
            answer["error"] = {"exception": error.exception, "message": error.message}
        except Exception as error:  # noqa: BLE001 - the thread of the JVM that asked has to go on
            answer["error"] = {"exception": type(error).__name__, "message": str(error)}
        with contextlib.suppress(AndroidError):
            self._write(answer)

    def close(self) -> None:
        """End the JVM."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._pool.shutdown(wait=False)
        self._folder.cleanup()

"""A phone with the sample apps and shims, and an agent and a host that use them."""

from __future__ import annotations

import base64
import json
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any, ClassVar, Generic, Literal, TypeVar

from device_shim.phone_system.phone_system_apps import Ran, nodes_of, run, run_bytes, tap, uid_of
from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_phone.apps.agent import Agent, Dialect, NoAnswerError, request_text
from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.apps.sample_packages import sample_package, signing_key
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.common.clocks import Clock, Signal
from droidgate_phone.java.app_values import AppFunctionError, BroadcastResult, FunctionOutcome
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.phone import boot
from droidgate_phone.system.behaviour import App
from droidgate_phone.system.releases import ReleaseProfile
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import BuiltShim, build_bare_shim, build_shims
from waiting import wait_until

AGENT = "dev.droidgate.sample.agent"
CLOCK_IN = "dev.droidgate.sample.clockin"
NOTES = "dev.droidgate.sample.notes"
PLAIN_NOTES = "dev.droidgate.sample.notes.legacy"
PDF_TOOL = "dev.droidgate.sample.pdftool"
WEATHER = "dev.droidgate.sample.weather"
SHIM = "dev.droidgate.shim.of.made"
SHELL_SHIM = "dev.droidgate.shim"
OVERLAY = "SYSTEM_ALERT_WINDOW"
LENDING_FLAG = 512
_EVENTS_SHOWN = 60

Carrier = Literal["bind", "start"]
Made = TypeVar("Made")


class World:
    """A phone, seen from outside, that is closed when its test ends.

    Args:
        sdk: Its release.
        apps: Which sample apps are installed in addition to the agent.
        behaviours: Further behaviours, by package.
        clock: The phone's time; really passing by default.
        shim_runtime: What shims run on.
    """

    open: ClassVar[list[World]] = []

    def __init__(
        self,
        *apps: str,
        sdk: str | ReleaseProfile = "36.1",
        behaviours: Mapping[str, type[App]] | None = None,
        clock: Clock | None = None,
        shim_runtime: ShimRuntime = "python",
    ) -> None:
        known = {**BEHAVIOURS, **(behaviours or {})}
        self.system = boot(sdk, behaviours=known, clock=clock, seed=1, shim_runtime=shim_runtime)
        self.open.append(self)
        for name in ("agent", *apps):
            self.install(sample_package(name).apk)

    def install(self, apk: bytes) -> None:
        """Install an app, or a new version of it."""
        self.system.packages.install(apk)

    def run(self, *words: str, stdin: bytes = b"") -> Ran:
        """Run a command as adb's shell does."""
        return run(self.system, *words, stdin=stdin)

    def read_content(self, uri: str) -> bytes:
        """Return what `content read` gives."""
        status, content, _ = run_bytes(self.system, "content", "read", "--uri", uri)
        assert status == 0
        return content

    def host(
        self, method: str, *, shim: str = SHIM, provider: str = "host", **argument: Any
    ) -> dict[str, Any]:
        """Ask a shim as the host does, `...` is left out; return the answer without its version."""
        stated = {name: value for name, value in {"version": 1, **argument}.items() if value is not ...}
        token = base64.urlsafe_b64encode(json.dumps(stated).encode()).decode().rstrip("=")
        ran = self.run(
            "content", "call", "--uri", f"content://{shim}.{provider}", "--method", method, "--arg", token
        )
        assert ran.stdout.startswith("Result: Bundle[{result="), ran
        answer = ran.stdout.split("result=", 1)[1].rstrip("}]\n")
        read: dict[str, Any] = json.loads(base64.urlsafe_b64decode(answer + "=" * (-len(answer) % 4)))
        assert read.pop("version") == 1
        return read

    def grant(self, caller: str = "any-app", capability: str = "*", *, shim: str = SHIM) -> None:
        """Grant, with the certificate that the caller is signed with."""
        package = self.system.packages.find(caller)
        signer = {} if package is None else {"signer": package.signers[0]}
        answer = self.host("grant", shim=shim, caller=caller, capability=capability, **signer)
        assert "grant" in answer, answer

    def allow_screens(self, shim: str = SHIM) -> None:
        """Let the shim draw over other apps, and so open screens."""
        self.run("appops", "set", shim, OVERLAY, "allow")

    def show_agent(self) -> None:
        """Put the agent on the screen."""
        self.run("am", "start", "-W", "-n", f"{AGENT}/.MainActivity")

    def agent(self, package: str = AGENT, *, patience: float = 180.0) -> Agent:
        """Return what an installed agent does."""
        return Agent(self.system.app_context(package), patience=patience)

    def reported_tools(self) -> list[tuple[str, str, str]]:
        """Return what the weather app reports of its tools: name, description and parameters."""
        answers: Queue[BroadcastResult] = Queue()
        receiver = ComponentName(WEATHER, f"{WEATHER}.WeatherReceiver")
        discovery = Intent("com.example.ACTION_MMCP_DISCOVERY", receiver)
        self.system.app_context(AGENT).send_ordered_broadcast(discovery, answers.put)
        read = answers.get(timeout=60).extras
        names = read.values["tools"].value
        assert isinstance(names, tuple)
        text = read.get_string
        return [
            (str(name), text(f"{name}.description") or "", text(f"{name}.parameters") or "") for name in names
        ]

    def ask(
        self,
        capability: str,
        arguments: Mapping[str, Any],
        *,
        carrier: Carrier = "bind",
        dialect: Dialect = "S0",
        shim: str = SHIM,
        caller: str = AGENT,
        flags: int = 0,
        request_id: str | None = None,
    ) -> dict[str, Any]:
        """Call a capability as an agent does, and return the response's inner object."""
        component = ComponentName(shim, "dev.droidgate.shim.frontends.ToolService")
        text = request_text(capability, arguments, dialect=dialect, request_id=request_id)
        agent = self.agent(caller)
        try:
            if carrier == "bind":
                answer = agent.call_bound(component, text, dialect=dialect, flags=flags)
            else:
                answer = agent.call_started(component, text, dialect=dialect, foreground=True)
        except Exception as error:
            # Such a failure may come once in a thousand runs, on a loaded machine: then this is all there is.
            last = list(self.system.log.events)[-_EVENTS_SHOWN:]
            error.add_note("\n".join(["What the phone saw last:", *map(json.dumps, last)]))
            raise
        read = json.loads(answer)
        response: dict[str, Any] = read.get("mobile-mcp-response", {}).get("response", read)
        return response

    def ask_host(self, capability: str, arguments: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """Call a capability as the host does."""
        request = request_text(capability, arguments, dialect="S1")
        answer = self.host("call", request=request, **more)
        read: dict[str, Any] = json.loads(answer["response"])["mobile-mcp-response"]["response"]
        return read

    def execute(
        self, package: str, function: str, parameters: Mapping[str, Any], *, caller: str = AGENT
    ) -> FunctionOutcome:
        """Execute an app function as an agent that may."""
        outcomes: Queue[FunctionOutcome] = Queue()
        values = {name: [value] for name, value in parameters.items()}
        platform = self.system.app_context(caller).platform
        platform.execute_app_function(package, function, values, outcomes.put)
        return outcomes.get(timeout=40)

    @contextmanager
    def instrumented(self) -> Iterator[None]:
        """Let the one shim that may, which is installed if it is missing, borrow the shell's permissions."""
        if self.system.packages.find(SHELL_SHIM) is None:
            self.install(build_bare_shim(key()).apk)
        words = ("am", "instrument", "-w", f"{SHELL_SHIM}/{SHELL_SHIM}.backends.ShellIdentityInstrumentation")
        thread = threading.Thread(target=self.run, args=words, daemon=True)
        thread.start()
        wait_until(self._may_borrow)
        yield
        self.system.force_stop(SHELL_SHIM)
        thread.join(5)

    def _may_borrow(self) -> bool:
        try:
            access = self.host("status", shim=SHELL_SHIM)["access"]
        except AssertionError:
            # Android stops the app before it runs its instrumentation.
            return False
        return bool(access["execute_app_functions"])

    def lend_shell_identity(self, package: str) -> None:
        """Give an app what an instrumentation of it would borrow, as a privileged app has it."""
        self.system.packages.permissions.adopt(uid_of(self.system, package))

    def files_of(self, package: str) -> bytes:
        """Return everything that an app has on disk."""
        return b"\n".join(self._below(f"/data/data/{package}"))

    def _below(self, folder: str) -> Iterator[bytes]:
        files = self.system.files
        for name in files.list(folder):
            path = f"{folder}/{name}"
            if stat.S_ISDIR(files.stat(path).mode):
                yield from self._below(path)
            else:
                yield bytes(files.read(path))

    def switch_off(self, capability: str) -> None:
        """Switch a capability off on the shim's screen, as its user does, and leave that screen."""
        self.run("am", "start", "-W", "-n", f"{SHIM}/dev.droidgate.shim.consent.ManageActivity")
        self.tap_text(capability)
        self.run("input", "keyevent", "BACK")
        wait_until(lambda: self.host("status")["switched_off"] == [capability])

    def history(self, count: int = 0, *, shim: str = SHIM) -> list[dict[str, Any]]:
        """Return the calls that a shim has written down, oldest first, once there are so many.

        The Java classes write a second after a call.
        """
        path, files = f"/data/data/{shim}/files/history.json", self.system.files

        def read() -> list[dict[str, Any]]:
            return json.loads(files.read(path)) if files.exists(path) else []

        wait_until(lambda: len(read()) >= count)
        return read()

    def texts(self) -> list[str]:
        """Return the texts that are shown, from top to bottom."""
        return [node.get("text") or "" for node in nodes_of(self.system)]

    def tap_text(self, text: str) -> None:
        """Tap the one view that shows this text, once there is one."""
        wait_until(lambda: text in self.texts())
        tap(self.system, lambda node: node.get("text") == text)

    def close(self) -> None:
        """End the phone."""
        self.system.close()
        self.open.remove(self)


class ClockThatSkips(Clock):
    """Time that passes, and sometimes passes at once.

    A skip makes timers due. It takes nothing from an app that works meanwhile: what waits for an answer waits
    as long as the computer needs for it, else a skip during a bind would be a bind of 30 seconds.
    """

    def __init__(self) -> None:
        self._skipped = 0.0

    def now(self) -> float:
        return super().now() + self._skipped

    def skip(self, seconds: float) -> None:
        self._skipped += seconds

    def wait(self, signal: Signal, seconds: float) -> bool:
        if threading.current_thread().name != "phone:timers":
            return super().wait(signal, seconds)
        end = self.now() + seconds
        while not super().wait(signal, min(0.01, max(0.0, end - self.now()))):
            if self.now() >= end:
                return False
        return True


class Begun(Generic[Made]):
    """A call that goes on in a thread of its own."""

    def __init__(self, call: Callable[..., Made], *arguments: Any, **more: Any) -> None:
        self._results: list[Made] = []
        self._thread = threading.Thread(
            target=self._run, args=[partial(call, *arguments, **more)], daemon=True
        )
        self._thread.start()

    def _run(self, call: Callable[[], Made]) -> None:
        with suppress(NoAnswerError):
            self._results.append(call())

    def result(self) -> Made:
        """Wait for what the call returns."""
        self._thread.join(60)
        assert self._results, "the call was not answered"
        return self._results[0]


def outputs_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs of a successful response, whatever its form."""
    assert response.get("status", "success") == "success", response
    output = response["capability"].get("output")
    if isinstance(output, list):
        return {item["name"]: item["value"] for item in output}
    return dict(output or {})


def token_of(response: Mapping[str, Any]) -> str:
    """Return the token of a failed response."""
    assert response["status"] == "failure", response
    return str(response["message"]).partition(":")[0]


def token_of_host(answer: Mapping[str, Any]) -> str:
    """Return the token of a failed call of the host, in its answer or its response (shim.md 7)."""
    if "error" in answer:
        return str(answer["error"]["token"])
    return token_of(json.loads(answer["response"])["mobile-mcp-response"]["response"])


def code_of(outcome: FunctionOutcome) -> int:
    """Return the code of a failed app function."""
    assert isinstance(outcome, AppFunctionError), outcome
    return outcome.code


def sample_files(folder: Path, *names: str) -> list[str]:
    """Write sample apps' APKs into a folder and return their paths."""
    paths = {name: folder / f"{name}.apk" for name in names}
    for name, path in paths.items():
        path.write_bytes(sample_package(name).apk)
    return list(map(str, paths.values()))


def sample_shims(folder: Path, *names: str, advertise: Iterable[str] = ()) -> tuple[BuiltShim, ...]:
    """Return the shims that the builder makes of sample apps' APKs."""
    apps = read_source_apps(sample_files(folder, *names))
    return tuple(build_shims(apps, ShimOptions(advertise=frozenset(advertise)), key()))


def key() -> SigningKey:
    """Return the key of the sample apps, which signs shims too."""
    return signing_key()

"""Chromium, driven by its DevTools protocol over a pipe: no port, no package.

Messages are JSON texts that end with a NUL; Chromium reads them from its file descriptor 3 and writes them to
4 (`--remote-debugging-pipe`).
"""

import base64
import fcntl
import json
import os
import select
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEYS = {
    "Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), " ": (32, " "), "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, ""),
}  # fmt: skip
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
    "--disable-component-update", "--disable-background-networking", "--disable-sync",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--no-first-run",
    "--no-default-browser-check", "--hide-scrollbars", "--font-render-hinting=none",
    "--force-color-profile=srgb", "--remote-debugging-pipe",
)  # fmt: skip


_COMPLAINTS = ("error", "warning", "assert")
_SELECTORS = (
    "const $ = (selector) => document.querySelector(selector);"
    "const $$ = (selector) => [...document.querySelectorAll(selector)];"
)


class BrowserError(Exception):
    """Chromium, or a script in a page, says that something failed, or says nothing."""


@dataclass
class Browser:
    """A running Chromium."""

    process: int
    _reads: int
    _writes: int
    _rest: bytes = b""
    _last: int = 0
    _events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, session: str | None = None, /, *, deadline: float = 60, **params: Any) -> Any:
        """Call a method of the protocol and return its result.

        Raises:
            BrowserError: it fails, or there is no answer within so many seconds.
        """
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._write(message)
        until = time.monotonic() + deadline
        while True:
            answer = self._next(until)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]
            self._events.append(answer)

    def events(self, session: str) -> list[dict[str, Any]]:
        """Return the events of a page so far."""
        return [event for event in self._events if event.get("sessionId") == session]

    def _write(self, message: Mapping[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._writes, data) :]

    def _next(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._reads], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise BrowserError("Chromium does not answer")
            part = os.read(self._reads, 1 << 20)
            if not part:
                raise BrowserError("Chromium has ended")
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(text)
        return answer


@dataclass
class Page:
    """A tab."""

    browser: Browser
    target: str
    session: str

    def close(self) -> None:
        """Close the tab."""
        self.browser.call("Target.closeTarget", targetId=self.target)

    def call(self, method: str, /, **params: Any) -> Any:
        """Call a method of the protocol on this page."""
        return self.browser.call(method, self.session, **params)

    def run(self, expression: str) -> Any:
        """Return the value of an expression, or of the promise that it is.

        In it, `$` is the first element that fits a selector, and `$$` an array of all.

        Raises:
            BrowserError: the expression throws.
        """
        text = f"(() => {{ {_SELECTORS} return ({expression}); }})()"
        answer = self.call("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"], indent=1))
        return answer["result"].get("value")

    def wait(self, expression: str) -> Any:
        """Return the value of an expression as soon as it is true, looked at each frame.

        Raises:
            BrowserError: it is not within 30 seconds.
        """
        return self.run(
            f"new Promise((done, fail) => {{ const until = Date.now() + 30000; const look = () => {{"
            f"const value = ({expression}); if (value) done(value); else if (Date.now() > until)"
            f"fail(new Error({json.dumps(expression)})); else setTimeout(look, 16); }}; look(); }})"
        )

    def open(self, path: Path) -> None:
        """Open a file and wait until it is read."""
        self.call("Page.navigate", url=path.as_uri())
        self.wait(f"location.href === {json.dumps(path.as_uri())} && document.readyState === 'complete'")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press and let go of a key."""
        code, text = KEYS[key]
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        """Type a text into what has the focus."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click into the middle of the first element that fits."""
        x, y = self.run(
            f"(() => {{ const one = $({json.dumps(selector)});"
            "one.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const box = one.getBoundingClientRect();"
            "return [box.x + Math.min(box.width / 2, 40), box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def look(self, width: int, height: int, *, scheme: str = "light", scale: float = 1) -> None:
        """Set the size of the window and the system's colour scheme."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.media(scheme=scheme)

    def media(self, *, scheme: str = "light", media: str = "screen", motion: str = "reduce") -> None:
        """Set the colour scheme and the motion that the system asks for, and the medium."""
        wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def screenshot(self, *, whole: bool = False) -> bytes:
        """Return what is seen as PNG; `whole` takes the page from top to end."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(answer["data"])

    def events_named(self, *methods: str) -> list[dict[str, Any]]:
        """Return the parameters of the events of these names so far."""
        self.run("0")
        return [
            event["params"] for event in self.browser.events(self.session) if event.get("method") in methods
        ]

    def complaints(self) -> list[str]:
        """Return errors and warnings of the console, exceptions, and what the policy refused."""
        thrown, logged = "Runtime.exceptionThrown", "Runtime.consoleAPICalled"
        entries = [item["entry"] for item in self.events_named("Log.entryAdded")]
        return [
            *(json.dumps(item) for item in self.events_named(thrown)),
            *(json.dumps(item["args"]) for item in self.events_named(logged) if item["type"] in _COMPLAINTS),
            *(entry["text"] for entry in entries if entry["level"] in _COMPLAINTS),
        ]

    def requests(self) -> list[str]:
        """Return the addresses of everything that was asked for."""
        return [item["request"]["url"] for item in self.events_named("Network.requestWillBeSent")]


@contextmanager
def running_browser(program: Path, folder: Path) -> Iterator[Browser]:
    """Run Chromium with an empty profile in a folder; it ends with the block."""
    to_child, writes = os.pipe()
    reads, from_child = os.pipe()
    arguments = [str(program), *_FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    process = _start(arguments, folder, to_child, from_child)
    os.close(to_child)
    os.close(from_child)
    browser = Browser(process, reads, writes)
    try:
        yield browser
    finally:
        try:
            browser.call("Browser.close", deadline=10)
        except (BrowserError, OSError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(reads)
        os.close(writes)


def _start(arguments: list[str], folder: Path, to_child: int, from_child: int) -> int:
    log = os.open(folder / "chromium.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    # Numbers that are neither 3 nor 4, so that no copy overwrites one that is still to be copied.
    high_in, high_out = (fcntl.fcntl(item, fcntl.F_DUPFD_CLOEXEC, 10) for item in (to_child, from_child))
    actions = [
        (os.POSIX_SPAWN_DUP2, high_in, 3),
        (os.POSIX_SPAWN_DUP2, high_out, 4),
        (os.POSIX_SPAWN_DUP2, log, 1),
        (os.POSIX_SPAWN_DUP2, log, 2),
    ]
    environment = {**os.environ, "HOME": str(folder)}
    process = os.posix_spawn(arguments[0], arguments, environment, file_actions=actions)
    for item in (high_in, high_out, log):
        os.close(item)
    return process


def new_page(browser: Browser) -> Page:
    """Return a new tab that reports its console and its requests."""
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    page = Page(browser, target, session)
    for domain in ("Page", "Runtime", "Log", "Network"):
        page.call(f"{domain}.enable")
    page.look(1280, 900)
    return page

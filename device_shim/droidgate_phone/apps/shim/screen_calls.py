"""Calls that need the screen, one at a time (shim.md 4; reference android-runtime 1.5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.call_control import CallControl, Reply
from droidgate_phone.apps.shim.extras import texts_of
from droidgate_phone.apps.shim.openers import NOT_OPENED, Opener, Opening
from droidgate_phone.apps.shim.shown_text import Texts
from droidgate_phone.java.app_values import ActivityResult
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_shim.engine.backends import ActivityAnswer
from droidgate_shim.engine.engine import Send

ACTION_CALL: Final = "com.example.mMCP.ACTION_TOOL_CALL"
TRAMPOLINE: Final = "dev.droidgate.shim.backends.TrampolineActivity"
MOST_WAITING: Final = 8
_NEW_TASK_MS: Final = 300
_NEW_TASK: Final = (
    "callee_in_new_task: the app opened in a task of its own, which returns no result; the call may run"
)
_LOCKED: Final = "the phone is locked, and this app needs its screen; unlock it and retry"
_UNTAPPED: Final = "nobody tapped the notification that opens the app"
_EARLY_MS: Final = 1_000
"""How long before its deadline a call that waits for a tap ends, at most a fifth; later it is a timeout."""

_FULL: Final = Failure("busy", "too many calls wait for the screen; retry when one has ended")
_CANCELED: Final = 0
_ANSWERS: Final = ("result", "error")


@dataclass(slots=True, eq=False)
class ScreenCall:
    """One call for the screen.

    Attributes:
        send: The engine's.
        intent: What starts the tool.
        reply: Its request.
        opener: Opens the trampoline, once it is the call's turn.
        leave: Takes the activity that waits for the result off the screen.
    """

    send: Send
    intent: Intent
    reply: Reply
    opener: Opener | None = None
    leave: Callable[[], None] | None = None


class ScreenCalls:
    """The calls that need the screen."""

    def __init__(self, control: CallControl) -> None:
        self._control = control
        self._waiting: deque[ScreenCall] = deque()
        self._current: ScreenCall | None = None

    def call(self, send: Send, intent: Intent, reply: Reply) -> None:
        """Take a call: it is made when those before it have ended."""
        control = self._control
        if control.platform.is_locked():
            control.fail(send.call, Failure("needs_user", _LOCKED))
            return
        if len(self._waiting) >= MOST_WAITING:
            control.fail(send.call, _FULL)
            return
        reply.stage = "window"
        call = ScreenCall(send, intent, reply)
        self._waiting.append(call)
        reply.on_end.append(lambda: self._end(call))
        self._next()

    def _next(self) -> None:
        while self._current is None and self._waiting:
            call = self._current = self._waiting.popleft()
            if self._control.platform.is_locked():
                self._fail(call, "needs_user", _LOCKED)
                continue
            if not self._control.may_leave(call.send, call.reply):
                continue
            remaining_seconds = (call.send.deadline - self._control.now()) / 1000
            opening = Opening(
                TRAMPOLINE,
                Texts.TAP_TO_GO_ON,
                remaining_seconds - min(_EARLY_MS / 1000, remaining_seconds / 5),
                lambda _, call=call: self._fail(call, "needs_user", NOT_OPENED),  # type: ignore[misc]
                lambda call=call: self._fail(call, "needs_user", _UNTAPPED),  # type: ignore[misc]
            )
            call.opener = Opener(self._control, opening)
            call.opener.start()

    def opened(self, number: int, leave: Callable[[], None]) -> ScreenCall | None:
        """Return the call that a trampoline was opened for, None where it has ended."""
        call = self._current
        if call is None or call.opener is None or call.opener.number != number or call.leave is not None:
            return None
        call.opener.opened()
        call.leave = leave
        call.reply.stage = "app"
        return call

    def finish(self, call: ScreenCall, result: ActivityResult, seconds: float) -> None:
        """Take the tool's result."""
        extras = {} if result.data is None else _answer_of(result.data.extras)
        is_empty = not any(extras.values())
        if result.code == _CANCELED and is_empty and seconds < _NEW_TASK_MS / 1000:
            self._fail(call, "canceled", _NEW_TASK)
            return
        self._control.answered(call.send.call, ActivityAnswer(result.code, extras))

    def _fail(self, call: ScreenCall, token: str, message: str) -> None:
        self._control.fail(call.send.call, Failure(token, message))

    def fail(self, call: ScreenCall, message: str) -> None:
        """End a call whose tool could not be started."""
        self._fail(call, "unavailable", message)

    def _end(self, call: ScreenCall) -> None:
        """Make room for the next call when this one has been answered; its later results are dropped."""
        if call in self._waiting:
            self._waiting.remove(call)
        if call is not self._current:
            return
        self._current = None
        if call.opener is not None:
            call.opener.give_up()
        if call.leave is not None:
            call.leave()
        self._next()


def _answer_of(bundle: Bundle) -> dict[str, Json]:
    """Return an answer's result and error; what is neither a text nor a boolean becomes None."""
    texts = texts_of(bundle)
    answers = {name: texts.get(name) for name in _ANSWERS if name in bundle.values}
    return {name: value if isinstance(value, str | bool) else None for name, value in answers.items()}

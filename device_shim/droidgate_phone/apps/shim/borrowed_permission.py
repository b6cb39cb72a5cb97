"""The shell's right to call app functions: one app borrows it for all shims (shim.md 4).

Android lets one instrumentation at a time act with the shell's permissions: `dev.droidgate.shim` does, while
calls are open. The other shims bind its service.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.app_function_caller import EXECUTE, FunctionRequest, OnAnswer, run_function
from droidgate_phone.java.app_values import AndroidError, Binding, Message, ServiceConnection, do_nothing
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from droidgate_phone.system.behaviour import Context, Platform
from droidgate_shim.engine.backends import FunctionAnswer
from droidgate_shim.engine.strict_json import BUILT, parse_strict, write_strict

HOLDER: Final = "dev.droidgate.shim"
SHELL_SERVICE: Final = "dev.droidgate.shim.backends.ShellIdentityService"
KEPT_MS: Final = 5_000
"""How long the right is kept after the last call."""

MESSAGE_FUNCTION: Final = 3
MESSAGE_FUNCTION_RESULT: Final = 4
MESSAGE_CANCEL_FUNCTION: Final = 5
# Neither ends accessibility services nor keeps others from using one (UiAutomationManager).
_UI_AUTOMATION_FLAGS: Final = 1 | 2
_FIRST_WITHOUT_ACCESSIBILITY: Final = 31
_NOT_RUNNING: Final = Failure(
    "denied",
    "nothing lends this app the right to call app functions; run droidgate shim install from a computer",
)
_TAKEN: Final = Failure("busy", "another test program uses the shell's permissions; retry when it has ended")
_NOT_BOUND: Final = Failure("denied", f"{HOLDER} cannot be asked; install it anew")
_STOPPED: Final = Failure("interrupted", f"{HOLDER} stopped during the call")


def is_holder(context: Context) -> bool:
    """Return whether an app is the one that borrows the right."""
    return context.package == HOLDER


def is_signed_alike(context: Context, package: str) -> bool:
    """Return whether another package is installed and has the app's own certificate."""
    own, other = context.platform.find_package(context.package), context.platform.find_package(package)
    if own is None or other is None or not own.signers:
        return False
    return own.signers[:1] == other.signers[:1]


class ShellIdentity:
    """The right to call app functions, borrowed while calls are open; of one process."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._is_lent = False
        self._is_connected = False
        self._is_adopted = False
        self._open = 0
        self._keep: Callable[[], None] = do_nothing

    @property
    def can_borrow(self) -> bool:
        """Whether the instrumentation runs and can borrow the right."""
        return self._is_lent and self._platform.sdk >= _FIRST_WITHOUT_ACCESSIBILITY

    def lend(self) -> None:
        """Take note that adb runs the instrumentation in this process."""
        self._is_lent = True

    def execute(self, request: FunctionRequest, on_answer: OnAnswer) -> Callable[[], None]:
        """Execute an app function with the borrowed right; return what cancels it."""
        failure = self._borrow()
        if failure is not None:
            on_answer(failure)
            return do_nothing
        execution = _Execution(on_answer, self._give_back_later)
        stop = run_function(self._platform, request, execution.answer)

        def cancel() -> None:
            execution.cancel()
            stop()

        return cancel

    def _borrow(self) -> Failure | None:
        """Take the right where it is not there already; return why it cannot be taken."""
        if not self._platform.holds(EXECUTE):
            if not self.can_borrow:
                return _NOT_RUNNING
            try:
                self._adopt()
            except AndroidError:
                return _TAKEN
        self._keep()
        self._keep = do_nothing
        self._open += 1
        return None

    def _adopt(self) -> None:
        if not self._is_connected:
            self._platform.connect_ui_automation(_UI_AUTOMATION_FLAGS)
            self._is_connected = True
        self._platform.adopt_shell_permissions(EXECUTE)
        self._is_adopted = True

    def _give_back_later(self) -> None:
        self._open -= 1
        if not self._open and self._is_adopted:
            self._keep = self._platform.after(KEPT_MS / 1000, self._give_back)

    def _give_back(self) -> None:
        if not self._open and self._is_adopted:
            self._is_adopted = False
            self._platform.drop_shell_permissions()


class _Execution:
    """One app function that is executed with the borrowed right; it ends once."""

    def __init__(self, on_answer: OnAnswer, on_end: Callable[[], None]) -> None:
        self._on_answer = on_answer
        self._on_end = on_end
        self._has_ended = False

    def answer(self, answer: FunctionAnswer | Failure) -> None:
        """Take the answer; after `cancel` it is dropped."""
        if not self._has_ended:
            self.cancel()
            self._on_answer(answer)

    def cancel(self) -> None:
        """End it without an answer."""
        if not self._has_ended:
            self._has_ended = True
            self._on_end()


class ShellIdentityCall:
    """One app function that `dev.droidgate.shim` executes for this app.

    Args:
        platform: The app's.
        on_answer: Takes the answer, once; it is not called after `cancel`.
        may_leave: Checks the call just before it is sent; ends one that is not sent.
    """

    def __init__(self, platform: Platform, on_answer: OnAnswer, may_leave: Callable[[], bool]) -> None:
        self._platform = platform
        self._may_leave = may_leave
        self._on_answer = on_answer
        self._messenger = platform.create_messenger(self._receive)
        self._binding: Binding | None = None
        self._is_sent = False
        self._has_ended = False

    def begin(self, request: FunctionRequest) -> None:
        """Bind the app and send the request."""
        connection = ServiceConnection(
            on_connected=lambda: self._send(request),
            on_null_binding=lambda: self._end(_NOT_BOUND),
            on_disconnected=lambda: self._end(_STOPPED),
        )
        try:
            self._binding = self._platform.bind(
                Intent(component=ComponentName(HOLDER, SHELL_SERVICE)), connection
            )
        except AndroidError:
            self._binding = None
        if self._binding is None:
            self._end(_NOT_BOUND)

    def _send(self, request: FunctionRequest) -> None:
        if self._has_ended or self._binding is None or not self._may_leave():
            return
        try:
            self._binding.send(Message(MESSAGE_FUNCTION, _write_request(request), self._messenger))
        except AndroidError:
            self._end(_STOPPED)
            return
        self._is_sent = True

    def _receive(self, message: Message) -> None:
        if message.what == MESSAGE_FUNCTION_RESULT:
            self._end(_read_answer(message.data))

    def cancel(self) -> None:
        """Have the call forgotten; the function may go on in its app."""
        if self._has_ended or self._binding is None:
            return
        if self._is_sent:
            try:
                self._binding.send(Message(MESSAGE_CANCEL_FUNCTION, Bundle(), self._messenger))
            except AndroidError:
                self._is_sent = False
        self._let_go()

    def _end(self, answer: FunctionAnswer | Failure) -> None:
        if not self._has_ended:
            self._let_go()
            self._on_answer(answer)

    def _let_go(self) -> None:
        self._has_ended = True
        self._platform.close_messenger(self._messenger)
        if self._binding is not None:
            self._binding.unbind()


def _write_request(request: FunctionRequest) -> Bundle:
    return Bundle.of_strings(
        {
            "package": request.package,
            "function": request.function,
            "document": write_strict(dict(request.document)),
        }
    )


def _read_answer(data: Bundle) -> FunctionAnswer | Failure:
    response, message = data.get_string("response"), data.get_string("message") or ""
    code = data.values.get("code")
    if response is not None:
        try:
            return FunctionAnswer(parse_strict(response, path="response", limits=BUILT))
        except InputError as error:
            return Failure("malformed_response", error.message)
    if code is not None and isinstance(code.value, int):
        return FunctionAnswer(code=code.value, message=message)
    token = data.get_string("token")
    return Failure(token if token in load_failure_tokens() else "backend_failure", message)

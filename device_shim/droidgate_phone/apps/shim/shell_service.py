"""How `dev.droidgate.shim` lends the shell's right to the other shims (shim.md 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.app_function_caller import FunctionRequest
from droidgate_phone.apps.shim.borrowed_permission import (
    MESSAGE_CANCEL_FUNCTION,
    MESSAGE_FUNCTION,
    MESSAGE_FUNCTION_RESULT,
    is_signed_alike,
)
from droidgate_phone.apps.shim.shim_process import Shim
from droidgate_phone.java.app_values import AndroidError, Message, do_nothing
from droidgate_phone.java.intents import Bundle, Extra, Intent
from droidgate_phone.system.behaviour import Context, Instrumentation, Service
from droidgate_shim.engine.backends import FunctionAnswer
from droidgate_shim.engine.strict_json import BUILT, parse_strict, write_strict

INSTRUMENTATION: Final = "dev.droidgate.shim.backends.ShellIdentityInstrumentation"
_SHIMS: Final = "dev.droidgate.shim."
_NOT_A_SHIM: Final = Failure("denied", "only shims with the certificate of this app may ask it")


class ShellIdentityInstrumentation(Instrumentation):
    """Lets the app borrow the shell's permissions for as long as adb runs it; it takes none itself."""

    def on_start(self, arguments: Mapping[str, str]) -> None:
        """Take note that it runs."""
        del arguments
        Shim.of(self.context).shell_identity.lend()


class ShellIdentityService(Service):
    """Executes app functions for the other shims."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._open: dict[str, Callable[[], None]] = {}

    def on_bind(self, intent: Intent) -> Callable[[Message], None] | None:
        """Return what handles requests."""
        del intent
        return self._handle

    def _handle(self, message: Message) -> None:
        reply_to = message.reply_to
        if reply_to is None:
            return
        if message.what == MESSAGE_CANCEL_FUNCTION:
            self._cancel(reply_to)
        elif message.what == MESSAGE_FUNCTION:
            self._execute(message.sending_uid, reply_to, message.data)

    def _cancel(self, reply_to: str) -> None:
        self._open.pop(reply_to, do_nothing)()

    def _execute(self, uid: int, reply_to: str, data: Bundle) -> None:
        if not self._is_shim(uid):
            shim = Shim.of(self.context)
            if shim.engine.rates.take(shim.now(), "bind", uid) is None:
                self._answer(reply_to, _NOT_A_SHIM)
            return
        try:
            request = _read_request(data)
        except InputError as error:
            self._answer(reply_to, Failure("invalid_argument", error.message))
            return

        def receive(answer: FunctionAnswer | Failure) -> None:
            self._open.pop(reply_to, None)
            unlink()
            self._answer(reply_to, answer)

        try:
            unlink = self.context.platform.link_to_death(reply_to, lambda: self._cancel(reply_to))
        except AndroidError:
            # The shim that asks is gone.
            return
        self._open[reply_to] = do_nothing
        cancel = Shim.of(self.context).shell_identity.execute(request, receive)
        if reply_to in self._open:
            self._open[reply_to] = cancel

    def _is_shim(self, uid: int) -> bool:
        """Return whether a uid is that of one shim with the certificate of this app."""
        packages = self.context.platform.packages_of_uid(uid)
        if len(packages) != 1:
            return False
        return packages[0].startswith(_SHIMS) and is_signed_alike(self.context, packages[0])

    def _answer(self, reply_to: str, answer: FunctionAnswer | Failure) -> None:
        try:
            self.context.send_message(reply_to, Message(MESSAGE_FUNCTION_RESULT, _write_answer(answer)))
        except AndroidError:
            # The shim that asked is gone.
            return


def _read_request(data: Bundle) -> FunctionRequest:
    """Return the request of a message.

    Raises:
        InputError: the message has no request.
    """
    package, function = data.get_string("package"), data.get_string("function")
    document = parse_strict(data.get_string("document") or "", path="document", limits=BUILT)
    if package is None or function is None or not isinstance(document, dict):
        message = "package, function and document are needed"
        raise InputError(message)
    return FunctionRequest(package, function, document)


def _write_answer(answer: FunctionAnswer | Failure) -> Bundle:
    if isinstance(answer, Failure):
        return Bundle.of_strings({"token": answer.token, "message": answer.text})
    if answer.code is not None:
        message = Extra("string", answer.message)
        return Bundle({"code": Extra("long", answer.code), "message": message})
    return Bundle.of_strings({"response": write_strict(answer.document)})

"""Calls of app functions: by this app if it may, else by the app that borrows the right (docs/shim.md 4)."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.core import Core, Receipt
from droidgate_phone.apps.shim.functions import EXECUTE, FIRST_WITH_FUNCTIONS, FunctionRequest, run_function
from droidgate_phone.apps.shim.shell_identity import (
    HOLDER,
    RemoteExecution,
    ShellIdentity,
    is_holder,
    is_signed_alike,
)
from droidgate_shim.engine.backends import FunctionAnswer, FunctionCall
from droidgate_shim.engine.engine import Send
from droidgate_shim.engine.routes import FunctionBackend

_NOT_ALLOWED: Final = (
    "Android does not let this app call app functions; run droidgate shim install from a computer"
)


def execute_function(
    core: Core,
    identity: ShellIdentity,
    send: Send,
    backend: FunctionBackend,
    call: FunctionCall,
    receipt: Receipt,
) -> None:
    """Execute an app function for a call."""
    platform = core.platform
    if platform.sdk < FIRST_WITH_FUNCTIONS:
        core.fail(send.call, "unavailable", "app functions need Android 16")
        return

    def receive(answer: FunctionAnswer | Failure) -> None:
        if isinstance(answer, Failure):
            core.fail(send.call, answer.token, answer.text)
        else:
            core.answered(send.call, answer)

    def may_leave() -> bool:
        return core.may_leave(send, receipt)

    if not may_leave():
        return
    request = FunctionRequest(backend.package, call.function, call.document)
    seconds = max(0.0, (send.deadline - core.now()) / 1000)
    if is_holder(core.context):
        receipt.on_end.append(identity.execute(request, seconds, receive))
    elif platform.holds(EXECUTE):
        run_function(platform, request, seconds, receive)
    elif is_signed_alike(core.context, HOLDER):
        remote = RemoteExecution(platform, receive, may_leave)
        receipt.on_end.append(remote.cancel)
        remote.begin(request)
    else:
        core.fail(send.call, "denied", _NOT_ALLOWED)

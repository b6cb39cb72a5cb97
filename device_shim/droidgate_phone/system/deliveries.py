"""Whether a broadcast fits the call to its receiver (BroadcastQueue.performReceiveLocked)."""

from __future__ import annotations

from typing import Final

from droidgate_phone.app_api.app_values import BroadcastResult
from droidgate_phone.intents import Intent
from droidgate_phone.system.parcels import ONEWAY_LIMIT, write_bundle, write_intent
from droidgate_phone.system.processes import AppProcess
from droidgate_phone.system.system_core import SystemCore

_UNDELIVERABLE_TYPES: Final = {
    31: "android.app.RemoteServiceException$CannotDeliverBroadcastException",
    0: "android.app.RemoteServiceException",
}
"""What a receiver's process dies of, by the first API level."""


def is_deliverable(
    core: SystemCore, process: AppProcess, intent: Intent, result: BroadcastResult | None = None
) -> bool:
    """Return whether a broadcast fits the one-way call to its receiver; end the receiver if not.

    The sender's call has twice the room, so a sender can end every app that it reaches in this way
    (BroadcastQueue.performReceiveLocked, from Android 14 on BroadcastQueueImpl.dispatchReceivers).

    Args:
        core: What managers have in common.
        process: The receiver's process.
        intent: The broadcast.
        result: The result so far, of an ordered broadcast.
    """
    size = len(write_intent(intent))
    if result is not None:
        size += len(write_bundle(result.extras)) + 2 * len(result.data or "")
    if size <= ONEWAY_LIMIT:
        return True
    names = _UNDELIVERABLE_TYPES
    name = next(names[since] for since in names if core.release.at_least(since))
    core.log.record("broadcast-undeliverable", package=process.package, size=size)
    core.processes.crash(process, f"{name}: can't deliver broadcast")
    return False

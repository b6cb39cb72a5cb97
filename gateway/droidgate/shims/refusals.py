"""What can go wrong between a shim and its host (shim.md 3 and 7)."""

from __future__ import annotations

from typing import ClassVar, Final

from droidgate_mappings.formats.installed import SYNC_SHIMS
from droidgate_mappings.model.errors import DeviceError, DroidgateError
from droidgate_mappings.tables.failure_tokens import FALLBACK, load_failure_tokens
from droidgate_mappings.values.failures import Failure

_HINTS: Final = {
    # The host needs no grant: a shim refuses it so only where the app has changed.
    "needs_approval": f"run `{SYNC_SHIMS}`",
    "unavailable": "`droidgate shim doctor` has the fix",
}
NOT_MODELLED: Final = "the virtual phone does not model "
"""How the virtual phone says that nothing of an app ran."""


class ShimMissingError(DeviceError):
    """The shim is not installed for this user, or Android does not show it."""


class ShimVersionError(DeviceError):
    """The shim speaks another version of the host's protocol; each side refuses the other's."""


class ShimRefusalError(DroidgateError):
    """The shim answers with a failure.

    Attributes:
        failure: Its token and text.
    """

    exit_code: ClassVar[int] = 5

    def __init__(self, failure: Failure, *, place: str | None = None) -> None:
        hint = _HINTS.get(failure.token)
        if failure.text.startswith(NOT_MODELLED):
            hint = "try it on an emulator or a phone: the virtual phone runs no code of your own app"
        super().__init__(failure.message(), place=place, hint=hint)
        self.failure = failure


class ShimDenialError(ShimRefusalError):
    """The shim answers that a policy forbids it."""

    exit_code: ClassVar[int] = 6


def refusal_of(token: str, text: str, *, place: str | None = None) -> ShimRefusalError:
    """Return the error for a failure's token; an unknown token is `backend_failure` with the token in its
    text.
    """
    failure_token = load_failure_tokens().get(token)
    if failure_token is None:
        return ShimRefusalError(Failure(FALLBACK, f"{token}: {text}"), place=place)
    is_denial = failure_token.exit_code == ShimDenialError.exit_code
    return (ShimDenialError if is_denial else ShimRefusalError)(Failure(token, text), place=place)

"""What a phone's apps declare, compared with the user's pins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from droidgate.calls.pins import ANY_CLIENT, PinRecord, PinState, PinStore, diff
from droidgate.calls.subjects import CapabilityKey, Pin
from droidgate.calls.targets import CallTarget, PhoneTargets
from droidgate_mappings.compare import Comparison
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass


@dataclass(frozen=True, slots=True)
class DeclaredCapability:
    """A capability of a phone.

    Attributes:
        provider: What declares it.
        capability: As it is declared now.
        key: Which capability it is.
        pin: Its pin; None where it cannot be approved.
        refusal: Why it cannot be approved, one sentence without a period; empty where it can.
    """

    provider: Provider
    capability: Capability
    key: CapabilityKey
    pin: Pin | None
    refusal: str = ""

    @property
    def name(self) -> str:
        """Its package and id."""
        return f"{self.provider.package}/{self.capability.id}"

    def state(self, store: PinStore, client: str = ANY_CLIENT) -> PinState | None:
        """Return whether it is approved; None where it cannot be.

        Raises:
            InputError: the file of pins cannot be used.
        """
        return None if self.pin is None else store.check(self.pin, client=client)


def declared_capabilities(targets: PhoneTargets) -> tuple[DeclaredCapability, ...]:
    """Return all capabilities of a phone's apps, in the order they were found.

    Raises:
        DeviceError: the phone fails.
    """
    return tuple(_declared_capability(target, targets.why_refused(target)) for target in targets.all())


def screen_capabilities(targets: PhoneTargets) -> tuple[DeclaredCapability, ...]:
    """Return MobileAgent's commands on a phone.

    Raises:
        DeviceError: the phone fails.
    """
    return tuple(_declared_capability(target, None) for target in targets.screens())


def _declared_capability(target: CallTarget, refusal: str | None) -> DeclaredCapability:
    if refusal is None:
        try:
            return DeclaredCapability(target.provider, target.capability, target.key, target.pin)
        except InputError as error:
            refusal = error.message
    return DeclaredCapability(target.provider, target.capability, target.key, None, refusal)


@dataclass(frozen=True, slots=True)
class PinDifference:
    """The outcome for an approved capability.

    Attributes:
        record: The approval.
        state: `unchanged`, `changed`, `other-signer` where another key signed the app now, `missing` where
            the phone does not have it.
        comparison: What changed in the declaration; None where the capability is missing.
    """

    record: PinRecord
    state: Literal["unchanged", "changed", "other-signer", "missing"]
    comparison: Comparison | None


def compare_pin(record: PinRecord, declared: Iterable[DeclaredCapability]) -> PinDifference:
    """Return the outcome for an approved capability on a phone.

    Args:
        record: The approval.
        declared: All capabilities of the phone.
    """
    now = next((item for item in declared if item.key == record.key), None)
    if now is None:
        return PinDifference(record, "missing", None)
    comparison = diff(record, now.provider)
    if now.pin == record.pin:
        return PinDifference(record, "unchanged", comparison)
    is_resigned = now.pin is not None and now.pin.signer != record.signer
    return PinDifference(record, "other-signer" if is_resigned else "changed", comparison)


def approve(store: PinStore, item: DeclaredCapability, *, client: str = ANY_CLIENT) -> PinRecord:
    """Approve a capability as it is declared now.

    Raises:
        ValueError: it cannot be approved; its `refusal` says why.
        InputError: the file of pins cannot be used.
        WriteError: it cannot be written.
    """
    if item.pin is None:
        raise ValueError(item.refusal)
    return store.approve(item.pin, item.provider, client=client)

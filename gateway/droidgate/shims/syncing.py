"""Keeping the shims of a device current: what is installed against what its apps declare now."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from droidgate.shims.answers import Status
from droidgate.shims.place import InstalledShim
from droidgate.shims.shim_facts import ShimFacts
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_shim.builder.shims import BuiltShim

ChangeKind = Literal["came", "changed", "went", "same"]

_FOR_OTHERS: Final = "it calls app functions for the other shims"


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What is to be done about one shim.

    Attributes:
        kind: Its app `came`, `changed`, `went` away or declares nothing any more, or is the `same` as far as
            is known.
        application_id: Which shim.
        built: The shim as it should be; None where it should go, or is not known.
        why: In words.
    """

    kind: ChangeKind
    application_id: str
    built: BuiltShim | None
    why: str


def plan_changes(
    installed: Sequence[InstalledShim],
    built: Sequence[BuiltShim],
    packages: Collection[str] | None,
    unclear: Collection[str] = (),
) -> tuple[PlannedChange, ...]:
    """Return what makes the installed shims those that were built, by application id.

    Args:
        installed: The shims of the device.
        built: The shims as they should be.
        packages: The apps that are looked after; None is all. A shim of other apps stays as it is.
        unclear: Apps that are there and of which it is not known now what they declare. Their shims stay,
            since what was granted to a shim goes with it.
    """
    installed_by_id = {item.application_id: item for item in installed}
    built_by_id = {item.application_id: item for item in built}
    changes = [_change_of(item, installed_by_id.get(item.application_id)) for item in built]
    changes += [
        _change_without(item, unclear)
        for item in installed
        if item.application_id not in built_by_id and _is_looked_after(item, packages)
    ]
    return tuple(sorted(changes, key=lambda change: change.application_id))


def plan_identity(
    installed: ShimFacts | None,
    built: BuiltShim | None,
    *,
    is_installed: bool,
    is_lending: bool,
    is_unclear: bool = False,
) -> PlannedChange | None:
    """Return what is to be done about the bare shim, which calls app functions for the other shims.

    Args:
        installed: Facts of the one that is installed; None where there is none, or it cannot be read.
        built: As it should be; None where no shim calls app functions.
        is_installed: An app of its id is installed.
        is_lending: Its instrumentation runs.
        is_unclear: It is not known of some shim whether it calls app functions.
    """
    if built is None:
        if installed is None or not installed.is_bare or is_unclear:
            return None
        return PlannedChange("went", SHIM_PACKAGE, None, "no shim is left that calls app functions")
    if not is_installed:
        return PlannedChange("came", SHIM_PACKAGE, built, _FOR_OTHERS)
    if installed is None or installed.build != built.build:
        return PlannedChange(
            "changed", SHIM_PACKAGE, built, "it calls app functions for the other shims, and differs"
        )
    if not is_lending:
        return PlannedChange("changed", SHIM_PACKAGE, built, "its instrumentation does not run")
    return PlannedChange("same", SHIM_PACKAGE, built, _FOR_OTHERS)


def _change_without(shim: InstalledShim, unclear: Collection[str]) -> PlannedChange:
    if any(source_package in unclear for source_package in shim.source_packages):
        return PlannedChange(
            "same", shim.application_id, None, "what its app declares now is not known, so it stays"
        )
    return PlannedChange("went", shim.application_id, None, _why_it_went(shim))


def _change_of(built: BuiltShim, installed: InstalledShim | None) -> PlannedChange:
    if installed is None:
        return PlannedChange("came", built.application_id, built, "it has no shim yet")
    if installed.status is None:
        said = installed.problem.message if installed.problem is not None else "no answer"
        return PlannedChange("changed", built.application_id, built, f"the shim does not answer: {said}")
    if installed.status.build == built.build:
        return PlannedChange("same", built.application_id, built, "the shim is as it should be")
    return PlannedChange("changed", built.application_id, built, _difference(installed.status, built))


def _difference(status: Status, built: BuiltShim) -> str:
    new = [capability for capability in built.capabilities if capability not in status.routes]
    gone = [route for route in status.routes if route not in built.capabilities]
    others = [target.package for target in status.targets if target.state == "other-signer"]
    differences = [f"signed by another than was approved: {', '.join(others)}"] if others else []
    differences += [f"new: {', '.join(new)}"] if new else []
    differences += [f"gone: {', '.join(gone)}"] if gone else []
    return "; ".join(differences) or "the app behind it, or how the shim is built, changed"


def _is_looked_after(shim: InstalledShim, packages: Collection[str] | None) -> bool:
    if shim.is_bare:
        return False
    if packages is None:
        return True
    return bool(shim.source_packages) and all(
        source_package in packages for source_package in shim.source_packages
    )


def _why_it_went(shim: InstalledShim) -> str:
    if shim.application_id == SHIM_PACKAGE:
        return "none of its apps declares anything that was chosen"
    return "the app is not installed, is disabled, or declares nothing that was chosen"

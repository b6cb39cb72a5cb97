"""What shims run on: the engine in Python, or their own Java classes on a JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

from droidgate_mappings.model.errors import UsageError
from droidgate_shim.builder.dex import shim_dex

if TYPE_CHECKING:
    from droidgate_phone.system.releases import ReleaseProfile

ShimRuntime = Literal["python", "jvm"]
_NAMES: Final[tuple[ShimRuntime, ...]] = get_args(ShimRuntime)
_SDKS_OF_THE_JVM: Final = (29, 34, 36, 37)


def check_shim_runtime(name: str, release: ReleaseProfile) -> ShimRuntime:
    """Return the runtime of that name, where it can be had here and for this release.

    Raises:
        UsageError: it cannot; the message says what is missing and how to get it. No other runtime is tried.
    """
    for runtime in _NAMES:
        if runtime == name:
            break
    else:
        raise UsageError(f'unknown shim runtime "{name}"', hint=f"use {' or '.join(_NAMES)}")
    if runtime == "jvm":
        from droidgate_phone.apps.jvm_shim.jvm_parts import find_parts

        if release.sdk not in _SDKS_OF_THE_JVM:
            raise UsageError(
                f"shims do not run on the JVM with Android {release.id}", hint="use --sdk 34, 36, 36.1 or 37"
            )
        find_parts()
    return runtime


def start_shim_runtime(runtime: ShimRuntime, release: ReleaseProfile) -> None:
    """Start what is needed before the first shim runs.

    Raises:
        UsageError: the runtime is not available.
    """
    if check_shim_runtime(runtime, release) == "jvm":
        from droidgate_phone.apps.jvm_shim.jvm_machine import shared_machine
        from droidgate_phone.apps.jvm_shim.jvm_parts import classes_of_dex

        classes_of_dex(shared_machine(release.sdk).parts, shim_dex() or b"")

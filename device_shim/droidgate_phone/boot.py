"""Starts an Android with the apps, commands and contexts of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from droidgate_phone.clocks import Clock, SystemClock
from droidgate_phone.commands.registry import command_names
from droidgate_phone.event_log import EventLog
from droidgate_phone.faults import Faults
from droidgate_phone.file_layout import lay_out
from droidgate_phone.files import VirtualFiles
from droidgate_phone.system.android_system import AndroidSystem
from droidgate_phone.system.app_context import AppContext
from droidgate_phone.system.releases import ReleaseProfile, load_release

if TYPE_CHECKING:
    from droidgate_phone.app_api.behaviour import App
    from droidgate_phone.apps.shim_runtimes import ShimRuntime
    from droidgate_phone.system.package_records import InstalledPackage


def boot(
    release: str | ReleaseProfile,
    *,
    faults: Faults | None = None,
    log: EventLog | None = None,
    clock: Clock | None = None,
    behaviours: Mapping[str, type[App]] | None = None,
    seed: int | None = None,
    shim_runtime: ShimRuntime = "python",
) -> AndroidSystem:
    """Start an Android without apps.

    Args:
        release: A release, or its id (`36.1`).
        faults: What goes wrong on purpose.
        log: Where events go; in memory by default.
        clock: The phone's time; the host's by default.
        behaviours: What the apps' code does, by package; by default that of the sample apps.
        seed: Makes the random names of folders the same in each run.
        shim_runtime: What shims run on.

    Raises:
        UsageError: the release is unknown.
    """

    def code_of(package: InstalledPackage) -> type[App] | None:
        if behaviours is not None and package.name in behaviours:
            return behaviours[package.name]
        # The sample apps import much, and a phone may have others only.
        from droidgate_phone.apps.registry import BEHAVIOURS, recognise  # noqa: PLC0415

        if behaviours is None and package.name in BEHAVIOURS:
            return BEHAVIOURS[package.name]
        return recognise(package, shim_runtime=shim_runtime)

    clock = clock or SystemClock()
    files = VirtualFiles(clock=clock.now)
    lay_out(files, programs=command_names())
    return AndroidSystem(
        load_release(release) if isinstance(release, str) else release,
        files=files,
        clock=clock,
        code_of=code_of,
        make_context=AppContext,
        faults=faults,
        log=log,
        seed=seed,
    )

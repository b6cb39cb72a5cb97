"""Which behaviour each package has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_phone.apps.agent import AgentApp, is_agent
from droidgate_phone.apps.clock_in import ClockInApp
from droidgate_phone.apps.notes import NotesApp
from droidgate_phone.apps.pdf_tool import PdfToolApp
from droidgate_phone.apps.plain_notes import PlainNotesApp
from droidgate_phone.apps.shim.caller_grants import is_shim
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.apps.tally import TallyApp
from droidgate_phone.apps.weather import WeatherApp
from droidgate_phone.system.behaviour import App
from droidgate_phone.system.package_records import InstalledPackage

BEHAVIOURS: Final[Mapping[str, type[App]]] = {
    app.PACKAGE: app
    for app in (AgentApp, ClockInApp, NotesApp, PdfToolApp, PlainNotesApp, TallyApp, WeatherApp)
}
"""The behaviours of the sample apps, by package."""


def recognise(package: InstalledPackage, *, shim_runtime: ShimRuntime = "python") -> type[App] | None:
    """Return the behaviour of a package that is known by what is inside it, None for any other."""
    of_agent = is_agent(package)
    if not of_agent and not is_shim(package):
        return None
    if shim_runtime == "jvm":
        from droidgate_phone.apps.jvm_shim import jvm_shim_app

        return jvm_shim_app.JvmAgentApp if of_agent else jvm_shim_app.JvmShimApp
    if of_agent:
        return AgentApp
    from droidgate_phone.apps.shim.shim_app import ShimApp

    return ShimApp

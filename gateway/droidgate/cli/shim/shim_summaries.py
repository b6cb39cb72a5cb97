"""The short forms of what `shim install`, `sync`, `status` and `doctor` show; `--details` has the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from droidgate.cli.output.grouped_findings import count_levels, counted, security_blocks, security_page
from droidgate.cli.output.pages import Block, Heading, Line, Table, amount
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim.shim_outputs import ShimStatusRecord
from droidgate.shims.answers import Status
from droidgate.shims.doctor import Check
from droidgate.shims.installations import InstalledShims
from droidgate.shims.installing import Step
from droidgate_mappings.formats.installed import SHIM_PREFIX

DETAILS: Final = "--details shows"
ASKING: Final = "asking apps for their tools"
_MATTERS: Final = ("problem", "risk", "unknown")
"""States of checks that need attention, gravest first."""


def app_name(application_id: str, packages: Sequence[str]) -> str:
    """Return the app behind a shim, or the shim's own id where there are several."""
    if len(packages) == 1:
        return one_line(packages[0])
    several = f" ({len(packages)} apps)" if packages else ""
    return f"{application_id.removeprefix(SHIM_PREFIX)}{several}"


def installed_summary(installed: InstalledShims) -> Iterator[Block]:
    """Yield a row for each shim, what Android refused, and the access rules that nothing enforces."""
    rows = []
    security: list[Block] = []
    for ready, installation in zip(installed.prepared.ready, installed.installations, strict=True):
        facts = ready.facts
        state = "works" if installation.works else "does not work"
        lost = counted(count_levels(ready.findings)) or "nothing"
        row = (app_name(facts.application_id, facts.packages), str(len(facts.capabilities)), state)
        rows.append((*row, lost if installed.prepared.key is not None else "-"))
        name = app_name(facts.application_id, facts.packages)
        security += security_blocks(ready.findings, facts.capabilities, provider=name)
    yield from security_page(security)
    if rows:
        yield Table(("APP", "OFFERS", "STATE", "FINDINGS OF THE CONVERSION"), rows)
        yield Line()
    for item in installed.every:
        yield from refused_blocks(item.application_id, item.steps)
    yield from refused_blocks(ASKING, installed.prepared.asked)
    identity = installed.identity
    if identity is not None and identity.works:
        calls = f"{identity.application_id} calls app functions for all shims until the phone restarts"
        yield Line(f"{calls}; start it again then: droidgate shim install")


def refused_blocks(name: str, steps: Iterable[Step]) -> Iterator[Block]:
    """Yield the steps that Android refused, nothing where there are none."""
    refused = [step for step in steps if step.outcome == "refused"]
    if refused:
        yield Heading(f"Refused by Android: {name}")
        for step in refused:
            yield Line(one_line(": ".join(filter(None, (step.what, step.why)))), 1)
        yield Line()


def status_summary(shims: Sequence[ShimStatusRecord]) -> Iterator[Block]:
    """Yield a row for each shim, and a line for each grant."""
    rows = [_status_row(shim) for shim in shims]
    if rows:
        yield Table(("APP", "OFFERS", "GRANTS", "STATE"), rows)
        yield Line()
    grants = [line for shim in shims if shim.status is not None for line in _grants(shim.status)]
    if grants:
        yield Heading("Grants")
        yield from (Line(one_line(line), 1) for line in grants)
        yield Line()


def _status_row(shim: ShimStatusRecord) -> tuple[str, ...]:
    state = "works" if shim.works else "broken"
    if shim.status is None:
        return app_name(shim.application_id, ()), "-", "-", state
    packages = [source.package for source in shim.status.sources]
    name = app_name(shim.application_id, packages)
    return name, str(len(shim.status.routes)), str(len(shim.status.grants)), state


def _grants(status: Status) -> Iterator[str]:
    name = app_name(status.application_id, [source.package for source in status.sources])
    for grant in status.grants:
        caller = "any app" if isinstance(grant.caller, str) else grant.caller.package
        capability = "all capabilities" if grant.capability == "*" else grant.capability
        yield f"{caller} may call {capability} of {name}"


def checks_summary(serial: str, checks: Sequence[Check]) -> Iterator[Block]:
    """Yield the checks that need attention, gravest first, and how many others there are."""
    rows = [
        (check.state, app_name(check.application_id or serial, ()), check.kind.id, found_words(check))
        for state in _MATTERS
        for check in checks
        if check.state == state
    ]
    if rows:
        yield Table(("STATE", "WHERE", "CHECK", "FOUND"), rows)
        yield Line()
    others = len(checks) - len(rows)
    yield Line(f"{amount(others, 'other check')}: ok or not needed; {DETAILS} them")


def found_words(check: Check) -> str:
    """Return what a check found, and the fix."""
    return one_line(check.found) + (f"; fix: {one_line(check.fix)}" if check.fix else "")

"""What `shim status` and `shim doctor` do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.page_length import shows_details
from droidgate.cli.output.pages import Block, Heading, Line, Table
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim import shim_options
from droidgate.cli.shim.shim_documents import (
    DETAILS,
    ShimCheck,
    ShimDoctorDocument,
    ShimStatusDocument,
    ShimStatusRecord,
    app_name,
    shims_and_helper,
)
from droidgate.devices.device import connect_device
from droidgate.shims.answers import Access, StatusAnswer
from droidgate.shims.device_user import (
    DeviceUser,
    InstalledShim,
    device_user_of,
    installed_shims,
    target_problem,
)
from droidgate.shims.doctor import DoctorCheck, examine
from droidgate.shims.installation_steps import APP_FUNCTIONS_SDK
from droidgate_mappings.formats.installed import INSTALL_SHIM, SHIM_PACKAGE
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.text.counted_nouns import amount

_ACCESS: Final = {
    "battery_exempt": "be started while it does not run",
    "notifications": "notify",
    "overlay": "open windows from the background",
    "execute_app_functions": "call app functions",
}

_FIRST: Final = {"problem": 0, "risk": 1, "unknown": 2}
"""States of checks that need attention and are shown before the others."""

_NOT_CHECKED: Final = "adb cannot check the agent and the question on the phone: let the agent use a tool"

_DIGITS: Final = 12
"""How many digits of a digest are shown: enough to compare by eye."""


def report_status(options: shim_options.ShimStatus) -> Report:
    """Report the shims of a phone; the code is 4 where one does not answer, or cannot call an app behind it.

    Raises:
        DeviceError: the phone cannot be reached or used.
    """
    device_user = device_user_of(connect_device(options.serial))
    shims = installed_shims(device_user)
    return Report(
        lambda: [
            *(_whole_status(device_user, shims) if shows_details() else _short_status(device_user, shims)),
            _status_line(device_user, shims),
        ],
        lambda: ShimStatusDocument.of(
            device_user,
            serial=device_user.device.serial,
            shims=tuple(
                ShimStatusRecord.of(shim, calls_functions_for_others=_calls_for_others(device_user, shim))
                for shim in shims
            ),
        ),
        ExitCode.OK if all(shim.works for shim in shims) else ExitCode.DEVICE,
    )


def report_checks(options: shim_options.ShimDoctor) -> Report:
    """Report what every check found; the code is 4 where there is a problem.

    Raises:
        DeviceError: the phone cannot be reached or used.
    """
    device_user = device_user_of(connect_device(options.serial))
    checks = examine(device_user, installed_shims(device_user))
    problems = sum(check.state == "problem" for check in checks)
    return Report(
        lambda: _doctor_page(device_user, checks, problems),
        lambda: ShimDoctorDocument.of(
            device_user,
            serial=device_user.device.serial,
            problems=problems,
            checks=tuple(
                ShimCheck.of(check, id=check.kind.id, step=check.kind.step, title=check.kind.title)
                for check in checks
            ),
        ),
        ExitCode.DEVICE if problems else ExitCode.OK,
    )


def _calls_for_others(device_user: DeviceUser, shim: InstalledShim) -> bool:
    """Return whether a shim is the one that calls app functions for the others, or should."""
    if shim.application_id != SHIM_PACKAGE or shim.status is None:
        return False
    return shim.status.access.execute_app_functions or (shim.is_bare and device_user.sdk >= APP_FUNCTIONS_SDK)


def _short_status(device_user: DeviceUser, shims: Sequence[InstalledShim]) -> Iterator[Block]:
    """Yield a row for each shim, a line for each grant, and why shims do not work."""
    if shims:
        yield Table(("APP", "OFFERS", "GRANTS", "STATE"), [_status_row(shim) for shim in shims])
        yield Line()
    grants = [line for shim in shims if shim.status is not None for line in _grants(shim.status)]
    if grants:
        yield Heading("Grants")
        yield from (Line(one_line(line), 1) for line in grants)
        yield Line()
    broken = [shim for shim in shims if not shim.works]
    if broken:
        yield Heading("Broken")
        for shim in broken:
            yield Line(shim.application_id, 1)
            yield from (Line(one_line(line), 2) for line in _broken_lines(shim))
        yield Line()
    for shim in shims:
        if shim.status is not None and _calls_for_others(device_user, shim):
            yield Line(f"{shim.application_id} {_role(shim.status)}")


def _status_row(shim: InstalledShim) -> tuple[str, ...]:
    state = "works" if shim.works else "broken"
    if shim.status is None or shim.is_bare:
        return app_name(shim.application_id, ()), "-", "-", state
    packages = [source.package for source in shim.status.sources]
    name = app_name(shim.application_id, packages)
    return name, str(len(shim.status.routes)), str(len(shim.status.grants)), state


def _grants(status: StatusAnswer) -> Iterator[str]:
    name = app_name(status.application_id, [source.package for source in status.sources])
    for grant in status.grants:
        caller = "any app" if isinstance(grant.caller, str) else grant.caller.package
        capability = "all capabilities" if grant.capability == "*" else grant.capability
        yield f"{caller} may call {capability} of {name}"


def _whole_status(device_user: DeviceUser, shims: Sequence[InstalledShim]) -> list[Block]:
    blocks: list[Block] = []
    for shim in sorted(shims, key=lambda shim: shim.works):
        blocks.append(Heading(shim.application_id))
        if shim.status is not None:
            if _calls_for_others(device_user, shim):
                blocks.append(Line(_role(shim.status), 1))
            blocks += _status_blocks(shim.status)
        blocks += [Line(one_line(line), 1) for line in _broken_lines(shim)]
        blocks.append(Line())
    return blocks


def _status_line(device_user: DeviceUser, shims: Sequence[InstalledShim]) -> Line:
    where = f"{device_user.device.serial}, user {device_user.user}, {android_name(device_user.sdk_full)}"
    hint = "" if shims else f"; install some with: {INSTALL_SHIM}"
    broken = sum(not shim.works for shim in shims)
    summary = shims_and_helper(len(shims), sum(shim.is_bare for shim in shims))
    summary += f", {broken} broken," if broken else ""
    return Line(f"{summary} on {where}{hint}")


def _broken_lines(shim: InstalledShim) -> Iterator[str]:
    """Yield why a shim does not work, with the fix of each reason."""
    if shim.status is None and shim.problem is not None:
        hint = f"; {shim.problem.command_hint}" if shim.problem.command_hint else ""
        yield f"does not answer: {shim.problem.message}{hint}"
    for target in shim.broken_targets:
        problem = target_problem(target)
        if problem is not None:
            yield f"broken: {target.package} {problem[0]}; fix: {problem[1]}"


def _role(status: StatusAnswer) -> str:
    if status.access.execute_app_functions:
        return "calls app functions for the other shims until the phone restarts"
    return "does not call app functions for the other shims; start it with: droidgate shim install"


def _status_blocks(status: StatusAnswer) -> list[Block]:
    off = set(status.switched_off)
    offered = [f"{item} (off)" if item in off else item for item in map(one_line, status.routes)]
    labels = {source.package: source.label or source.package for source in status.sources}
    blocks: list[Block] = [
        Line(f"offers: {', '.join(offered) or 'nothing of its own'}", 1),
        Line(f"build: {one_line(status.build[:_DIGITS])}", 1),
    ]
    for target in status.targets:
        version = "" if target.version_code is None else f" {target.version_code}"
        label = one_line(labels.get(target.package, target.package))
        blocks.append(Line(f"calls: {label} ({one_line(target.package)}{version}), {target.state}", 1))
    granted = [
        f"{grant.caller if isinstance(grant.caller, str) else grant.caller.package}: {grant.capability}"
        for grant in status.grants
    ]
    if status.routes or granted:
        asks = "the phone asks where a grant is missing" if status.asking else "it does not ask"
        blocks.append(Line(f"granted: {one_line(', '.join(granted)) or 'nobody'}; {asks}", 1))
    blocks.append(Line(f"may: {_access_words(status.access)}; {amount(status.open, 'call')} open", 1))
    return blocks


def _access_words(access: Access) -> str:
    allowed = [words for name, words in _ACCESS.items() if getattr(access, name)]
    return ", ".join(allowed) or "nothing that Android has to allow"


def _checks_summary(serial: str, checks: Sequence[DoctorCheck]) -> Iterator[Block]:
    """Yield the checks that need attention, gravest first, and how many others there are."""
    rows = [
        (check.state, app_name(check.application_id or serial, ()), check.kind.id, _found_words(check))
        for state in _FIRST
        for check in checks
        if check.state == state
    ]
    if rows:
        yield Table(("STATE", "WHERE", "CHECK", "FOUND"), rows)
        yield Line()
    others = len(checks) - len(rows)
    yield Line(f"{amount(others, 'other check')}: ok or not needed; {DETAILS} them")


def _found_words(check: DoctorCheck) -> str:
    """Return what a check found, and the fix."""
    return one_line(check.found) + (f"; fix: {one_line(check.fix)}" if check.fix else "")


def _doctor_page(device_user: DeviceUser, checks: Sequence[DoctorCheck], problems: int) -> list[Block]:
    blocks: list[Block] = [] if shows_details() else list(_checks_summary(device_user.device.serial, checks))
    gravest_first = sorted(checks, key=lambda check: _FIRST.get(check.state, 3))
    shown_checks = gravest_first if shows_details() else []
    for application_id in dict.fromkeys(check.application_id for check in shown_checks):
        about = [check for check in checks if check.application_id == application_id]
        rows = [_check_row(check) for check in sorted(about, key=lambda check: _FIRST.get(check.state, 3))]
        columns = ("STATE", "STEP", "CHECK", "FOUND")
        blocks += [Heading(application_id or device_user.device.serial), Table(columns, rows), Line()]
    summary = "no problem was found" if not problems else amount(problems, "problem")
    risks = sum(check.state == "risk" for check in checks)
    summary += f", {amount(risks, 'risk')}" if risks else ""
    blocks.append(Line(f"{summary}; {_NOT_CHECKED}"))
    return blocks


def _check_row(check: DoctorCheck) -> tuple[str, ...]:
    return check.state, str(check.kind.step), check.kind.id, _found_words(check)

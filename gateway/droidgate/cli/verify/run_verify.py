"""What `verify` does, its document, and its JUnit report."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from droidgate.agents.agent_installation import installed_agents, installed_app
from droidgate.agents.rule_checks import DECLARED, CheckVerdict, RuleCheck
from droidgate.agents.verification import (
    Verification,
    VerifyRequest,
    verdicts_of,
    verify,
    verify_files,
)
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate.cli.output.page_length import shows_details
from droidgate.cli.output.pages import Block, Line, Table, print_note
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.verify.verify_options import Verify
from droidgate.devices.device import connect_device
from droidgate.devices.quoting import is_package
from droidgate.shims.device_user import device_user_of, installed_package
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.text_safety import visible


class VerifyCheck(Document):
    """A rule that the app was held to.

    Attributes:
        rule: Its id.
        specification: What it is a rule of.
        section: Its section.
        asks: What it requires.
        component: Whose check it is.
        transport: How the component was called; `declared` where its files were read.
        verdict: `passed`, `failed`, `not-applicable` or `not-checked`.
        reason: Why it is another than `passed`.
        sent: The requests.
        received: The answers, or the place in the files.
    """

    rule: str
    specification: str
    section: str
    asks: str
    component: str
    transport: str
    verdict: CheckVerdict
    reason: str
    sent: tuple[str, ...]
    received: tuple[str, ...]


class VerifyDocument(PublishedDocument, schema="droidgate.verify/1"):
    """What `verify --json` prints.

    Attributes:
        serial: The phone; null where only files were read.
        source: The tool app: its package, or its files.
        counts: How many checks ended with each verdict.
        static: What its files break, as `lint` finds it.
        checks: Each rule.
    """

    serial: str | None
    source: str
    counts: dict[CheckVerdict, int]
    static: tuple[Finding, ...]
    checks: tuple[VerifyCheck, ...]


_PROJECT: Final = "source code is not run: build the app, then verify its APK with --install"
_APK: Final = "no phone is used: --install installs the APK and calls it"


def verify_and_report(options: Verify) -> Report:
    """Check a tool app and report each rule.

    Raises:
        InputError: the files cannot be read.
        UsageError: the app offers no tools to an agent, or a call is not one of it, or options do not fit.
        DeviceError: the phone or an agent fails.
    """
    calls = dict(map(_read_call, options.calls or ()))
    path = Path(options.source)
    if not path.exists() and (not is_package(options.source) or path.suffix == ".apk"):
        message = f"{options.source!r} is neither a file or folder nor a package"
        raise UsageError(
            message, hint="name an installed package such as com.example.tool, a project or an APK"
        )
    is_apk = path.is_file() and path.suffix.lower() == ".apk"
    if options.install and not is_apk:
        raise UsageError("--install takes an APK", hint="build the app, and name its APK")
    if path.exists() and not options.install:
        if calls or options.serial is not None:
            message = "--call and --serial are for an app on a phone, and files are named"
            raise UsageError(message, hint="name the APK with --install, or an installed package")
        return _report(verify_files(options.source, _APK if is_apk else _PROJECT), None)
    device_user = device_user_of(connect_device(options.serial))
    with ExitStack() as stack:
        package = options.source
        if options.install:
            package = stack.enter_context(installed_app(device_user, path, print_note))
        # The agents may make a key, and nothing is to be left behind where there is no such app.
        installed_package(device_user.packages(), package)
        agents = stack.enter_context(installed_agents(device_user, print_note))
        print_note(f"calling {package} as agents do ...")
        request = VerifyRequest(package, calls, options.edition.value, options.deadline)
        return _report(verify(device_user, agents, request), device_user.device.serial)


def _report(found: Verification, serial: str | None) -> Report:
    return Report(
        lambda: _page(found),
        lambda: VerifyDocument(
            serial=serial,
            source=found.source,
            counts=verdicts_of(found.checks),
            static=found.static,
            checks=tuple(map(_document_of, found.checks)),
        ),
        ExitCode.FINDINGS if found.fails else ExitCode.OK,
        findings=lambda: found.findings,
        junit=lambda: junit_report(found),
    )


def _read_call(text: str) -> tuple[str, dict[str, Json]]:
    name, equals, json_text = text.partition("=")
    try:
        arguments = parse_json(json_text, path="--call") if equals else {}
    except InputError as error:
        hint = 'such as --call \'query_clock_in={"date": "2026-03-01"}\''
        raise UsageError(error.message, place=error.place, hint=hint) from None
    if not name or not isinstance(arguments, dict):
        raise UsageError(f"--call {text!r} is not CAPABILITY or CAPABILITY=JSON object")
    return name, arguments


def _document_of(check: RuleCheck) -> VerifyCheck:
    return VerifyCheck(
        rule=check.rule.id,
        specification=check.rule.specification,
        section=check.rule.section,
        asks=check.rule.asks,
        component=check.component,
        transport=check.transport,
        verdict=check.verdict,
        reason=check.reason,
        sent=tuple(check.sent),
        received=tuple(check.received),
    )


def _page(found: Verification) -> Iterator[Block]:
    broken = [check for check in found.checks if check.verdict == "failed"]
    checks = found.checks if shows_details() else broken
    if checks:
        yield Table(("VERDICT", "TRANSPORT", "SECTION", "RULE", "REASON"), [_row(check) for check in checks])
    for check in broken:
        yield Line(f"{check.rule.id}, {check.transport}: {check.rule.asks}")
        yield from (Line(one_line(f"sent: {text}"), 1, 400) for text in check.sent)
        word = "declared" if check.transport == DECLARED else "received"
        yield from (Line(one_line(f"{word}: {text}"), 1, 400) for text in check.received)
    counts = verdicts_of(found.checks)
    yield Line(
        f"{one_line(found.source)}: {amount(counts['passed'], 'rule')} passed, {counts['failed']} failed, "
        f"{counts['not-applicable']} not applicable, {counts['not-checked']} not checked"
    )
    for verdict in ("not-applicable", "not-checked"):
        reasons = dict.fromkeys(check.reason for check in found.checks if check.verdict == verdict)
        yield from (Line(one_line(f"{verdict.replace('-', ' ')}: {reason}"), 1) for reason in reasons)


def _row(check: RuleCheck) -> tuple[str, ...]:
    specification = f"{check.rule.specification} {check.rule.section}".strip()
    return check.verdict, check.transport, specification, check.rule.id, one_line(check.reason)


def junit_report(found: Verification) -> str:
    """Return a run as JUnit XML: a suite for what is declared, and one for each way of calling."""
    root = ET.Element("testsuites", name="droidgate verify")
    groups: dict[str, list[tuple[str, str, str, str]]] = {}
    for check in found.checks:
        failure = check.reason if check.verdict == "failed" else ""
        skipped = check.reason if check.verdict in ("not-checked", "not-applicable") else ""
        case = (check.rule.id, check.transport, failure, skipped)
        groups.setdefault(f"{check.component} {check.transport}", []).append(case)
    for name, cases in groups.items():
        _add_suite(root, name, cases)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_suite(root: ET.Element, name: str, cases: Iterable[tuple[str, str, str, str]]) -> None:
    suite = ET.SubElement(root, "testsuite", name=visible(name))
    counts = {"tests": 0, "failures": 0, "skipped": 0, "errors": 0}
    for rule, transport, failure, skipped in cases:
        case = ET.SubElement(suite, "testcase", classname=f"droidgate.{transport}", name=rule)
        counts["tests"] += 1
        for tag, counted, text in (("failure", "failures", failure), ("skipped", "skipped", skipped)):
            if text:
                counts[counted] += 1
                ET.SubElement(case, tag, message=visible(text))
    suite.attrib.update({counted: str(number) for counted, number in counts.items()})

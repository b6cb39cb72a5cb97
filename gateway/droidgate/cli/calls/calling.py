"""What `droidgate call` does."""

from __future__ import annotations

from pathlib import Path

from droidgate.calling.approvals import allow_once
from droidgate.calling.caller import Caller, CallPlan
from droidgate.calling.files import fetch_files
from droidgate.calling.requests import CallRequest
from droidgate.cli.calls.asking import ask_on_terminal
from droidgate.cli.calls.documents import call_document, plan_document
from droidgate.cli.calls.outputs import show_outputs
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Line, print_note, print_warning, show
from droidgate.devices.device import open_device
from droidgate.devices.quoting import join_command, quote_argument
from droidgate.model.findings import Finding, Level
from droidgate.model.json_values import one_line_json


def call_and_report(
    request: CallRequest,
    serial: str | None,
    *,
    signed_by: str | None,
    explain: bool,
    approved: bool,
    as_json: bool,
    pull: Path | None = None,
) -> int:
    """Call a capability and print its outputs, or what the call would do.

    Raises:
        UsageError: no capability, or more than one, is named so.
        CallError: the call failed; 6 where it is not allowed, else 5.
        InputError: the policy, the pins or the audit log cannot be used.
        DeviceError: the phone fails.
    """
    approver = allow_once if approved else ask_on_terminal
    caller = Caller(open_device(serial), approver=approver, signed_by=signed_by)
    if explain:
        plan = caller.explain(request)
        if as_json:
            print_json(plan_document(plan))
        else:
            show(_plan_lines(plan), is_data=True)
        return ExitCode.OK
    result = caller.call(request)
    _warn(result.findings)
    if pull is not None:
        for copy in fetch_files(result.value, pull, caller.device):
            print_note(f"created: {copy}")
    if as_json:
        print_json(call_document(result))
    else:
        show_outputs(result.outputs)
    return ExitCode.OK


def _plan_lines(plan: CallPlan) -> list[Line]:
    subject = plan.subject
    adb = f"adb -s {quote_argument(subject.serial)} shell"
    return [
        Line(f"{subject.capability} of {subject.package} ({subject.protocol})"),
        Line(f"arguments: {one_line_json(dict(plan.arguments))}"),
        Line(f"effect: {subject.effect.value}"),
        Line(f"policy: {plan.decision.kind} ({plan.decision.rule}: {plan.decision.reason})"),
        Line(f"approval: {plan.pin.kind}"),
        Line(f"route: {plan.route.title}"),
        *(Line(f"not by {reason}", 1) for reason in plan.passed_over),
        Line("commands, not run:"),
        *(
            Line(f"adb push {quote_argument(str(file.source))} {quote_argument(file.path)}", 1)
            for file in plan.files
        ),
        *(Line(f"{adb} {quote_argument(join_command(command))}", 1) for command in plan.route.commands),
    ]


def _warn(findings: tuple[Finding, ...]) -> None:
    for finding in findings:
        if finding.level is not Level.NOTE:
            print_warning(f"warning: {finding.message}")

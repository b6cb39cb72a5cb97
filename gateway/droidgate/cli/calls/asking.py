"""Asking the user on the terminal whether a call may be made."""

from __future__ import annotations

import sys

from droidgate.calling.approvals import Approval, ApprovalRequest, refuse
from droidgate.calling.subjects import CallEffect
from droidgate.cli.output.pages import Line, show
from droidgate.cli.output.safe_text import one_line
from droidgate.model.json_values import one_line_json

_EFFECTS = {
    CallEffect.READS: "it only reads",
    CallEffect.WRITES: "it may change or send something",
    CallEffect.UNKNOWN: "what it does is not declared",
}


def ask_on_terminal(request: ApprovalRequest) -> Approval:
    """Ask on standard error and read the answer from standard input; refuse if one is not a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return refuse(request)
    subject = request.subject
    changed = " (changed since you approved it)" if request.state.kind == "changed" else ""
    lines = [
        Line(f"{subject.capability} of {subject.package}{changed}"),
        Line(f"effect: {_EFFECTS[subject.effect]}", 1),
        Line(f"signed by: {request.pin.signer[:16]}", 1),
        *(
            Line(f"{one_line(name)} = {one_line_json(value)}", 1, longest=200)
            for name, value in request.arguments.items()
        ),
    ]
    show(lines, sys.stderr, is_data=True)
    print("Call it? y: once, a: always as declared now, n: no [n] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip().lower()
    if answer in {"y", "yes"}:
        return Approval(allowed=True)
    if answer in {"a", "always"}:
        return Approval(allowed=True, remember=True)
    return Approval(allowed=False, message="not approved", token="denied")  # noqa: S106

"""What `why` does, and its document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from droidgate.calls.targets import last_part
from droidgate.calls.why import why
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import PublishedDocument
from droidgate.cli.output.pages import Block, Heading, Line, Table, amount
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import cut, one_line as whole_line
from droidgate.cli.why.why_options import Why
from droidgate.coverage.gate_chains import FoundGate, WhyAnswer
from droidgate.sources.source_schemes import DEVICE_SCHEME
from droidgate_mappings.formats.reachability import GateState
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.tables.reach import load_gates

_VERDICTS: Final = {"can": "can", "cannot": "cannot", "not known": "may be able to"}
_LONGEST: Final = 500
_LONGEST_NAME: Final = 80
"""Most characters of a fact or a fix, and of an id; an app may declare any length."""
_WAYS: Final = {"gateway": "through the gateway", "ui-only": "on the app's screens"}


class WhyDocument(PublishedDocument, schema="droidgate.why/1"):
    """What `why --json` prints.

    Attributes:
        source: The phone or the source that was asked.
        sdk: The API level that was asked about, None for a phone's own.
        answers: By capability, then by agent.
    """

    source: str
    sdk: str | None
    answers: tuple[WhyAnswer, ...]


def report_why(options: Why) -> Report:
    """Answer, and report the gates.

    Raises:
        UsageError: a phone and another source are named; no capability, or more than one, is named so.
        InputError: the source cannot be read.
        DeviceError: the phone cannot be reached or used.
    """
    if options.source is not None and options.serial is not None:
        raise UsageError("--source excludes --serial", hint="choose one of them")
    source = options.source or f"{DEVICE_SCHEME}{options.serial or ''}"
    sdk = None if options.sdk is None else options.sdk.value
    answers = why(
        options.capability,
        agent=options.agent,
        source=source,
        app=options.package,
        protocol=options.protocol,
        sdk=sdk,
    )
    refused = options.agent is not None and any(answer.verdict == "cannot" for answer in answers)
    return Report(
        lambda: _page(answers),
        lambda: WhyDocument(source=source, sdk=sdk, answers=answers),
        ExitCode.FINDINGS if refused else ExitCode.OK,
    )


def one_line(text: str, most: int = _LONGEST) -> str:
    """Return a text of an app on one line, cut where it is longer than anybody reads."""
    return cut(whole_line(text), most)


def _page(answers: Sequence[WhyAnswer]) -> list[Block]:
    if len(answers) == 1:
        return list(_format_answer(answers[0]))
    return list(_format_answers(answers))


def _format_answer(answer: WhyAnswer) -> Iterator[Block]:
    """Yield the verdict, the gates, and how those that are not open are opened."""
    decisive = answer.decisive_gate
    because = "" if decisive is None else f": {one_line(decisive.fact)}"
    yield Line(f"{_sentence(answer)}{because}")
    yield Line()
    rows = [(gate.state.value, gate.id, one_line(gate.fact), _where(gate)) for gate in answer.gates]
    yield Table(("STATE", "GATE", "FOUND", "WHERE"), rows, details=frozenset({"WHERE"}))
    yield Line()
    yield from _fixes([gate for gate in answer.gates if gate.state is not GateState.OPEN])


def _sentence(answer: WhyAnswer) -> str:
    name = answer.package or "the app"
    if answer.capability is not None:
        name = one_line(answer.capability, _LONGEST_NAME) + (
            f" of {answer.package}" if answer.package else ""
        )
    verb = "work with" if answer.reach == "ui-only" else "call"
    route = _WAYS.get(answer.reach)
    how = f" {route}" if route is not None and answer.verdict != "cannot" else ""
    return one_line(f"{answer.agent_title} {_VERDICTS[answer.verdict]} {verb} {name}{how}")


def _where(gate: FoundGate) -> str:
    return one_line(gate.place or "-")


def _fixes(gates: Sequence[FoundGate]) -> Iterator[Block]:
    """Yield how the gates of one answer are opened, and by whom; what is shut first."""
    shut_first = sorted(gates, key=lambda gate: gate.state is not GateState.SHUT)
    yield from _opening(f"{gate.id}: fix ({gate.owner}): {gate.fix}" for gate in shut_first)


def _format_fixes(answers: Sequence[WhyAnswer]) -> Iterator[Block]:
    """Yield how the gates that decide are opened; what several apps need has one line."""
    lines: dict[str, list[tuple[str, str, str]]] = {}
    for answer in answers:
        gate = answer.decisive_gate
        if gate is not None and gate.fix is not None:
            lines.setdefault(gate.id, []).append((gate.fact, gate.fix, answer.package or "-"))
    usual = load_gates()
    for gate_id, found in lines.items():
        packages = {package for *_, package in found}
        if len(packages) > 1 and len(set(found)) > 1:
            where, fix = amount(len(packages), "app"), usual[gate_id].fix
            lines[gate_id] = [(where, fix, "")]
    owners = {gate.id: gate.owner for answer in answers if (gate := answer.decisive_gate) is not None}
    yield from _opening(
        f"{gate_id}: {fact}; fix ({owners[gate_id]}): {fix}"
        for gate_id, found in lines.items()
        for fact, fix, _ in found
    )


def _opening(lines: Iterable[str]) -> Iterator[Block]:
    shown = list(dict.fromkeys(map(one_line, lines)))
    if shown:
        yield Heading("What opens the gates")
        yield from (Line(line, 1) for line in shown)
        yield Line()


def _format_answers(answers: Sequence[WhyAnswer]) -> Iterator[Block]:
    """Yield a row for each app and verdict, with the capabilities and the agents that it is true of."""
    capabilities: dict[tuple[str, str, str, str], list[str]] = {}
    known: dict[str, set[str]] = {}
    for answer in answers:
        package, name = answer.package or "-", last_part(answer.capability or "-")
        known.setdefault(package, set()).add(name)
        is_by_gateway = answer.reach == "gateway" and answer.verdict != "cannot"
        verdict = f"{answer.verdict} (gateway)" if is_by_gateway else answer.verdict
        gate = answer.decisive or "-"
        capabilities.setdefault((package, verdict, gate, answer.agent), []).append(name)
    agents: dict[tuple[str, str, str, str], list[str]] = {}
    for (package, verdict, gate, agent), names in capabilities.items():
        named = _names(names, len(known[package]))
        agents.setdefault((package, named, verdict, gate), []).append(agent)
    for package in known:
        rows = [
            (named, ", ".join(found), verdict, gate)
            for (of_package, named, verdict, gate), found in agents.items()
            if of_package == package
        ]
        yield Heading(one_line(package))
        yield Table(("CAPABILITY", "AGENTS", "VERDICT", "GATE"), rows)
        yield Line()
    yield from _format_fixes(answers)
    counted = amount(sum(map(len, known.values())), "capability", "capabilities")
    of_agents = amount(len({answer.agent for answer in answers}), "agent")
    yield Line(f"{counted}, {of_agents}; a CAPABILITY with --agent shows every gate")


def _names(names: Sequence[str], count: int) -> str:
    first = one_line(names[0], _LONGEST_NAME)
    if len(names) == 1:
        return first
    return f"all {count}" if len(names) == count else f"{first} and {len(names) - 1} more"

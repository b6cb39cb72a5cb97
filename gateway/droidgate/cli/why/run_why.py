"""What `why` does, and its document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from droidgate.calls.subjects import last_part
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import PublishedDocument
from droidgate.cli.output.pages import Block, Heading, Line, Table
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import cut, one_line
from droidgate.cli.why.why_options import Why
from droidgate.gates.gate_chains import FoundGate, WhyAnswer
from droidgate.gates.phone_gates import why
from droidgate.sources.source_schemes import DEVICE_SCHEME
from droidgate_mappings.formats.reachability import GateState
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.tables.reach import load_gates
from droidgate_mappings.text.counted_nouns import amount

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


def _short_line(text: str, most: int = _LONGEST) -> str:
    """Return a text of an app on one line, cut where it is longer than anybody reads."""
    return cut(one_line(text), most)


def _page(answers: Sequence[WhyAnswer]) -> list[Block]:
    if len(answers) == 1:
        return list(_format_answer(answers[0]))
    return list(_format_answers(answers))


def _format_answer(answer: WhyAnswer) -> Iterator[Block]:
    """Yield the verdict, the gates, and how those that are not open are opened."""
    decisive = answer.decisive_gate
    because = "" if decisive is None else f": {_short_line(decisive.fact)}"
    yield Line(f"{_sentence(answer)}{because}")
    yield Line()
    rows = [
        (gate.state.value, gate.id, _short_line(gate.fact), _short_line(gate.place or "-"))
        for gate in answer.gates
    ]
    yield Table(("STATE", "GATE", "FOUND", "WHERE"), rows, details=frozenset({"WHERE"}))
    yield Line()
    fixes = list(_fixes([gate for gate in answer.gates if gate.state is not GateState.OPEN]))
    yield from [*fixes, Line()] if fixes else []
    states = Counter(gate.state.value for gate in answer.gates)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    yield Line(f"{amount(len(answer.gates), 'gate')}: {counts}")


def _sentence(answer: WhyAnswer) -> str:
    name = answer.package or "the app"
    if answer.capability is not None:
        name = _short_line(answer.capability, _LONGEST_NAME) + (
            f" of {answer.package}" if answer.package else ""
        )
    verb = "work with" if answer.reach == "ui-only" else "call"
    route = _WAYS.get(answer.reach)
    how = f" {route}" if route is not None and answer.verdict != "cannot" else ""
    return _short_line(f"{answer.agent_title} {_VERDICTS[answer.verdict]} {verb} {name}{how}")


def _fixes(gates: Sequence[FoundGate]) -> Iterator[Block]:
    """Yield how the gates of one answer are opened, and by whom; what is shut first."""
    shut_first = sorted(gates, key=lambda gate: gate.state is not GateState.SHUT)
    yield from _opening_blocks(f"{gate.id}: fix ({gate.owner}): {gate.fix}" for gate in shut_first)


def _format_fixes(answers: Sequence[WhyAnswer]) -> Iterator[Block]:
    """Yield how the gates that decide are opened; what several apps need has one line."""
    lines: dict[str, list[tuple[str, str, str]]] = {}
    for answer in answers:
        gate = answer.decisive_gate
        if gate is not None and gate.fix is not None:
            lines.setdefault(gate.id, []).append((gate.fact, gate.fix, answer.package or "-"))
    usual = load_gates()
    for gate_id, fixes in lines.items():
        packages = {package for *_, package in fixes}
        if len(packages) > 1 and len(set(fixes)) > 1:
            where, fix = amount(len(packages), "app"), usual[gate_id].fix
            lines[gate_id] = [(where, fix, "")]
        else:
            by_fact: dict[str, set[str]] = {}
            for fact, fix, _ in fixes:
                by_fact.setdefault(fact, set()).add(fix)
            lines[gate_id] = [
                (fact, fix if len(by_fact[fact]) == 1 else usual[gate_id].fix, package)
                for fact, fix, package in fixes
            ]
    owners = {gate.id: gate.owner for answer in answers if (gate := answer.decisive_gate) is not None}
    yield from _opening_blocks(
        f"{gate_id}: {fact}; fix ({owners[gate_id]}): {fix}"
        for gate_id, fixes in lines.items()
        for fact, fix, _ in fixes
    )


def _opening_blocks(lines: Iterable[str]) -> Iterator[Block]:
    unique_lines = list(dict.fromkeys(map(_short_line, lines)))
    if unique_lines:
        yield Heading("What opens the gates")
        yield from (Line(line, 1) for line in unique_lines)


def _format_answers(answers: Sequence[WhyAnswer]) -> Iterator[Block]:
    """Yield a row for each app and verdict, with the capabilities and the agents that it is true of."""
    capabilities: dict[tuple[str, str, str, str], list[str]] = {}
    ids_by_package: dict[str, set[str]] = {}
    for answer in answers:
        package, name = answer.package or "-", last_part(answer.capability or "-")
        ids_by_package.setdefault(package, set()).add(name)
        is_by_gateway = answer.reach == "gateway" and answer.verdict != "cannot"
        verdict = f"{answer.verdict} (gateway)" if is_by_gateway else answer.verdict
        gate = answer.decisive or "-"
        capabilities.setdefault((package, verdict, gate, answer.agent), []).append(name)
    agents: dict[tuple[str, str, str, str], list[str]] = {}
    for (package, verdict, gate, agent), names in capabilities.items():
        capability_names = _names(names, len(ids_by_package[package]))
        agents.setdefault((package, capability_names, verdict, gate), []).append(agent)
    for package in ids_by_package:
        rows = [
            (capability_names, ", ".join(agent_names), verdict, gate)
            for (of_package, capability_names, verdict, gate), agent_names in agents.items()
            if of_package == package
        ]
        yield Heading(_short_line(package))
        yield Table(("CAPABILITY", "AGENTS", "VERDICT", "GATE"), rows)
        yield Line()
    fixes = list(_format_fixes(answers))
    yield from [*fixes, Line()] if fixes else []
    counted = amount(sum(len(ids - {"-"}) for ids in ids_by_package.values()), "capability", "capabilities")
    of_agents = amount(len({answer.agent for answer in answers}), "agent")
    yield Line(f"{counted}, {of_agents}; a CAPABILITY with --agent shows every gate")


def _names(names: Sequence[str], count: int) -> str:
    first = _short_line(names[0], _LONGEST_NAME)
    if len(names) == 1:
        return first
    return f"all {count}" if len(names) == count else f"{first} and {len(names) - 1} more"

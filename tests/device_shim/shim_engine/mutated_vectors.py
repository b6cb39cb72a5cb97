"""Vectors that a seeded generator has changed in a few places, for both engines to answer alike."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from random import Random
from typing import Any

from device_shim.shim_engine.conformance.vector_files import load_vectors
from droidgate_mappings.model.json_values import Json, canonical_json

ODD: tuple[Json, ...] = (
    *(None, True, False, 0, -1, 7, 2**31, -(2**63), 2**63 - 1),
    *(Decimal("0.5"), Decimal("-0.0"), Decimal("1E+5")),
    *("", "a", "null", "[1]", '{"a":1}', "1e5", "\u00e9\U0001f600", 'quo"te\\\n', [], [[]], {}, {"a": None}),
)  # fmt: skip
PIECES = (
    *'{}[]",:\\/ \t\n0123456789eE+-.^$|()*?abz',
    *("true", "null", "1.50", "1E+400", "9223372036854775808", "\\u0000", "\\ud83d", "\\ude00", "\\x", "NaN"),
    *('"a":', '"id"', '"args"', '"input"', '"version"', "\u00e9", "\U0001f600", "\ufeff", "\u2028", "\x7f"),
    *("\x00", "\\d", "\\W", "(?:", "(?<n>", "(?=", "[^", "a-z", "{2}", "{1,3}", "\\u{1F600}", "\\b", "\\x41"),
)  # fmt: skip
PARTS = {
    "call": ("extras", "extras", "backend", "backend", "policy", "targets"),
    "fit": ("value", "type"),
    "write-document": ("value", "type"),
    "read-document": ("document", "type"),
    "parse": ("text",),
    "pattern": ("pattern", "text"),
    "life": ("events",),
}
"""Which parts of a vector are changed, or taken from another vector."""


class Mutator(Random):
    """Changes JSON values and texts in a few places; the same seed makes the same."""

    def changed(self, value: Json) -> Json:
        """Return a value that has something left out, doubled, renamed or replaced in one place."""
        if isinstance(value, str):
            return self.changed_text(value)
        if not isinstance(value, dict | list) or not value or self.random() < 0.1:
            return self.choice(ODD)
        members: list[tuple[Any, Json]] = list(enumerate(value) if isinstance(value, list) else value.items())
        at = self.randrange(len(members))
        name, member = members[at]
        way = self.random()
        if way < 0.08:
            del members[at]
        elif way < 0.16:
            names = ["extra", "schemaType", *(known for known, _ in members)]
            members.insert(at, (self.choice(names), member))
        else:
            members[at] = (name, self.changed(member))
        return [item for _, item in members] if isinstance(value, list) else dict(members)

    def changed_text(self, text: str) -> Json:
        """Return a text that is damaged in one place, inside where it is JSON; sometimes another value."""
        if text[:1] in ("{", "[") and self.random() < 0.7:
            with suppress(ValueError, RecursionError):
                changed = canonical_json(self.changed(json.loads(text, parse_float=Decimal)))
                # No half of a pair: a line of UTF-8 cannot hold it.
                return changed.encode("utf-8", "replace").decode()
        if self.random() < 0.1:
            return self.choice(ODD)
        at = self.randrange(len(text) + 1)
        if self.random() < 0.1:
            return text[:at]
        return text[:at] + self.choice(PIECES) + text[at + self.randrange(3) :]


class VectorMutator(Mutator):
    """Changes vectors."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._cases: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for vector in load_vectors():
            self._cases[vector.operation].append(dict(vector.case))

    def cases(self, *operations: str, count: int) -> Iterator[dict[str, Any]]:
        """Yield so many changed vectors of these operations."""
        known = [case for operation in operations for case in self._cases[operation]]
        for _ in range(count):
            case = self.choice(known)
            for _ in range(self.choice((0, 1, 1, 1, 2, 3))):
                changed = self._changed_case(case)
                # Null as a whole value is left to the vectors.
                case = case if changed.get("value", 0) is None else changed
            yield case

    def _changed_case(self, case: dict[str, Any]) -> dict[str, Any]:
        operation = case["op"]
        part = self.choice(PARTS[operation])
        other = self.choice(self._cases[operation])
        if operation == "life":
            return {**case, "events": self._interleaved(case["events"], other["events"])}
        if part not in case:
            return case
        if self.random() < 0.3 and _form(case, part) == _form(other, part):
            definitions = {**case.get("definitions", {}), **other.get("definitions", {})}
            return {**case, part: other[part], **({"definitions": definitions} if part == "type" else {})}
        if part in {"extras", "backend"} and isinstance(case[part], dict):
            return {**case, part: self._changed_texts(case[part])}
        if part in {"text", "pattern"}:
            return {**case, **self._changed_texts({part: case[part]})}
        return {**case, part: self.changed(case[part])} if part in {"value", "document"} else case

    def _changed_texts(self, members: dict[str, Any]) -> dict[str, Any]:
        """Return extras, or the answer of a backend, whose form stays: only texts and documents change."""
        name = self.choice([*members, ""])
        member = members.get(name)
        if isinstance(member, dict) and name in {"extras", "error"}:
            return {**members, name: self._changed_texts(member)}
        if isinstance(member, dict) and name == "document":
            return {**members, name: {**member, "properties": self.changed(member.get("properties"))}}
        changed = self.changed_text(member) if isinstance(member, str) else None
        return {**members, name: changed} if isinstance(changed, str) else members

    def _interleaved(self, events: list[Any], others: list[Any]) -> list[Any]:
        late = self.choice((0, 1, 100, 30_000))
        later = [{**event, "at": event["at"] + late} for event in others]
        both = [event for event in [*events, *later] if self.random() < 0.9]
        return sorted(both, key=lambda event: event["at"])


def _form(case: dict[str, Any], part: str) -> tuple[Any, ...]:
    """Return what two cases have in common where one may take a part of the other."""
    answers = case.get("backend", [])
    forms = [sorted(answer) for answer in (answers if isinstance(answers, list) else [answers])]
    return part in case, case.get("routes"), forms

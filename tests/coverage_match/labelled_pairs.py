"""The labelled pairs of capabilities: 337 pairs written by hand, from the shapes of real descriptors.

`tune` is what the matcher's weights and words were chosen on; `held-out` is only ever counted. The apps of
one half are not in the other.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from droidgate.coverage.match.features import CapabilityText

FOLDER = Path(__file__).resolve().parent
PAIRS_FILE = FOLDER / "pairs.jsonl"
SCHEMA_FILE = FOLDER / "pairs.schema.json"
DIFFERENT = "different"


@dataclass(frozen=True)
class Pair:
    """One line of the file; `left` and `right` as they stand there."""

    id: str
    half: str
    label: str
    hard: bool
    traits: tuple[str, ...]
    left: dict[str, Any]
    right: dict[str, Any]

    @property
    def keys(self) -> tuple[str, str]:
        return key_of(self.left), key_of(self.right)


def key_of(capability: dict[str, Any]) -> str:
    return "/".join(capability[part] for part in ("package", "protocol", "name"))


def capability_text(capability: dict[str, Any]) -> CapabilityText:
    """Return a capability as a row of a catalog tells it: of the parameters, names and kinds."""
    return CapabilityText(
        key=key_of(capability),
        package=capability["package"],
        protocol=capability["protocol"],
        name=capability["name"],
        description=capability["description"],
        parameters=", ".join(f"{one['name']}:{one['kind']}" for one in capability["parameters"]),
    )


def read_lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in PAIRS_FILE.read_text(encoding="utf-8").splitlines()]


@cache
def labelled_pairs(half: str) -> tuple[Pair, ...]:
    return tuple(
        Pair(
            line["id"], half, line["label"], line["hard"], tuple(line["traits"]), line["left"], line["right"]
        )
        for line in read_lines()
        if line["half"] == half
    )


def row_of_use_cases(title: str, answers: Iterable[tuple[set[str], set[str]]]) -> str:
    """Return the row of docs/matching.md for answers: use cases told, and those meant, of each capability."""
    right = wrong = missed = 0
    for told, meant in answers:
        right += len(told & meant)
        wrong += len(told - meant)
        missed += len(meant - told)
    precision, recall = right / (right + wrong), right / (right + missed)
    return f"| {title} | use cases | {right} | {wrong} | {missed} | {precision:.3f} | {recall:.3f} |"

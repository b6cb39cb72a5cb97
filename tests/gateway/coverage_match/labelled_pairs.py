"""The labelled pairs of capabilities, written by hand: 337 of the matcher's author, 220 of another one.

`tune` is what the matcher's weights and words were chosen on; `held-out` is only ever counted. The apps of
one half are not in the other. The other author saw the titles of the use cases, but not the
matcher or its words.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from droidgate.coverage.match.features import CapabilityText

FOLDER = Path(__file__).resolve().parent
OTHER_AUTHOR = ", other author"
"""Ends the names of the halves that another author wrote."""

HALVES = ("held-out", f"held-out{OTHER_AUTHOR}")
"""The halves that say how well matching does for apps that nobody has seen."""
_FILES = {"": "{}.jsonl", OTHER_AUTHOR: "{}_of_another_author.jsonl"}
DIFFERENT = "different"


@dataclass(frozen=True)
class Pair:
    """One line of the file; `left` and `right` as in the file."""

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
    """Return a capability as in a row of a catalog: parameters by name and kind only."""
    return CapabilityText(
        key=key_of(capability),
        package=capability["package"],
        protocol=capability["protocol"],
        name=capability["name"],
        description=capability["description"],
        parameters=", ".join(
            f"{parameter['name']}:{parameter['kind']}" for parameter in capability["parameters"]
        ),
    )


def read_lines(kind: str) -> list[dict[str, Any]]:
    """Return the lines of all authors, `pairs` or `use_cases`."""
    return [
        {**line, "half": line["half"] + author}
        for author, name in _FILES.items()
        for line in map(json.loads, (FOLDER / name.format(kind)).read_text(encoding="utf-8").splitlines())
    ]


@cache
def labelled_pairs(half: str) -> tuple[Pair, ...]:
    return tuple(
        Pair(
            line["id"], half, line["label"], line["hard"], tuple(line["traits"]), line["left"], line["right"]
        )
        for line in read_lines("pairs")
        if line["half"] == half
    )


def row_of_use_cases(title: str, answers: Iterable[tuple[set[str], set[str]]]) -> str:
    """Return the row of docs/internals/matching.md for answers: use cases found and meant."""
    right = wrong = missed = 0
    for reported, meant in answers:
        right += len(reported & meant)
        wrong += len(reported - meant)
        missed += len(meant - reported)
    precision, recall = right / (right + wrong), right / (right + missed)
    return f"| {title} | use cases | {right} | {wrong} | {missed} | {precision:.3f} | {recall:.3f} |"

"""Measures the marks on phrases with the labelled texts of `tests/mappings/text_safety/labelled_texts.jsonl`.

    python scripts/measure_text_marks.py            print the tables of docs/concepts/text-marks.md
    python scripts/measure_text_marks.py --wrong    print each text that is marked or missed by mistake

Each line of the file is an object: `part` (`development`, `held-out` or `another author`), `label`
(`injected` or `benign`), `class`, `language`, `text`, and where needed `after`: the least number of
characters of ordinary text in front of it.
"""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from droidgate_mappings.text_safety import visible
from droidgate_mappings.text_safety.phrases import injection_marks

TEXTS = Path(__file__).resolve().parent.parent / "tests" / "mappings" / "text_safety" / "labelled_texts.jsonl"
PARTS = ("development", "held-out", "another author")
_FILLER = "Adds two numbers and returns the sum. "


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, whether it is an injection, and whether it has a mark."""

    part: str
    is_injected: bool
    kind: str
    language: str
    text: str
    is_marked: bool


def labelled_texts() -> Iterator[LabelledText]:
    """Yield the labelled texts, in the order of the file."""
    for line in TEXTS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = _FILLER * math.ceil(row.get("after", 0) / len(_FILLER)) + row["text"]
        yield LabelledText(
            part=row["part"],
            is_injected=row["label"] == "injected",
            kind=row["class"],
            language=row["language"],
            text=row["text"],
            is_marked=bool(injection_marks(text)),
        )


def measured() -> str:
    """Return the two tables: precision and recall of each part, and the marked texts of each class."""
    texts = list(labelled_texts())
    totals = [
        "| texts | injected | benign | marked by mistake | missed | precision | recall |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_total(part, [text for text in texts if text.part == part]) for part in PARTS),
    ]
    classes = dict.fromkeys((text.is_injected, text.kind) for text in sorted(texts, key=_injected_first))
    rows = [
        f"| class | should be marked | {' | '.join(f'marked in {part}' for part in PARTS)} |",
        f"| --- | --- |{' --- |' * len(PARTS)}",
        *(_row(texts, *class_) for class_ in classes),
    ]
    return "\n".join([*totals, "", *rows, ""])


def _injected_first(text: LabelledText) -> bool:
    return not text.is_injected


def _total(part: str, texts: Sequence[LabelledText]) -> str:
    injected = [text.is_marked for text in texts if text.is_injected]
    benign = [text.is_marked for text in texts if not text.is_injected]
    right, wrong = sum(injected), sum(benign)
    cells = (
        part,
        len(injected),
        len(benign),
        wrong,
        len(injected) - right,
        f"{right / (right + wrong):.2f}",
        f"{right / len(injected):.2f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def _row(texts: Iterable[LabelledText], is_injected: bool, kind: str) -> str:  # noqa: FBT001
    counts = []
    members = [text for text in texts if (text.is_injected, text.kind) == (is_injected, kind)]
    for part in PARTS:
        marks = [member.is_marked for member in members if member.part == part]
        counts.append(f"{sum(marks)} of {len(marks)}" if marks else "")
    return f"| {kind} | {'yes' if is_injected else 'no'} | {' | '.join(counts)} |"


def main(arguments: Sequence[str]) -> None:
    """Print the tables or the mistakes."""
    if "--wrong" not in arguments:
        print(measured(), end="")
        return
    for labelled_text in labelled_texts():
        if labelled_text.is_marked != labelled_text.is_injected:
            word = "missed" if labelled_text.is_injected else "marked"
            about = (labelled_text.part, labelled_text.kind, labelled_text.language)
            print("  ".join([word, *about, f"{visible(labelled_text.text)!a:.200}"]))


if __name__ == "__main__":
    main(sys.argv[1:])

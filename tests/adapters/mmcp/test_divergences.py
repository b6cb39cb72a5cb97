"""The rows of the registry that are mMCP's, and their use."""

import re
from pathlib import Path

from droidgate_mappings.tables.loading import load_divergences

SOURCES = Path(__file__).resolve().parents[3] / "adapters" / "droidgate_mmcp"
OWN = {name: row for name, row in load_divergences().items() if row.format == "mmcp"}


def test_the_eighteen_rows_of_the_fact_sheet_are_there() -> None:
    assert {f"M{number}" for number in range(33, 51)} <= OWN.keys()


def test_exactly_the_lenient_rows_are_used() -> None:
    used = set()
    for path in SOURCES.glob("*.py"):
        used |= set(re.findall(r'allow\(\s*"([A-Z]\d\d)"', path.read_text(encoding="utf-8")))
    assert used == {name for name, row in OWN.items() if row.lenient}


def test_each_lenient_row_is_shown_by_a_test() -> None:
    shown = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        shown |= set(re.findall(r'mark\.row\("([A-Z]\d\d)"\)', path.read_text(encoding="utf-8")))
    assert shown == {name for name, row in OWN.items() if row.lenient}

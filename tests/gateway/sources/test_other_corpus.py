"""The files of the corpus that are of no described protocol: what each is read as, or why it is refused.

`corpus_outcomes.tsv`, typed by hand, has the outcome of each file and its reason; what is
read from each is pinned in tests/golden/corpus/other.tsv.
"""

import csv
from pathlib import Path

import pytest

from droidgate.sources import read_source
from droidgate_mappings.model.errors import InputError
from requirements_of_tests import require

with (Path(__file__).parent / "corpus_outcomes.tsv").open(encoding="utf-8", newline="") as table:
    OUTCOMES = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.requires("corpus")
def test_every_file_has_its_outcome_and_a_reason() -> None:
    names = {path.name for path in (require("corpus") / "other").iterdir()} - {"index.tsv"}
    assert names == {item["file"] for item in OUTCOMES}
    assert all(item["why"] for item in OUTCOMES)


@pytest.mark.requires("corpus")
@pytest.mark.parametrize("row", OUTCOMES, ids=lambda row: row["file"])
def test_each_file_has_the_outcome_of_its_row(row: dict[str, str]) -> None:
    path = str(require("corpus") / "other" / row["file"])
    if row["outcome"] == "refused":
        with pytest.raises(InputError) as refused:
            read_source(path)
        assert row["told"] in refused.value.message
        return
    providers = read_source(path).providers
    expected = [tuple(item.split("+")) if "+" in item else ("observed", item) for item in row["told"].split()]
    assert [(item.protocol, item.dialect) for item in providers] == expected

"""No text that real apps declare has a mark on its phrases: an independent side for the labelled texts."""

import pytest

from droidgate.sources import read_source
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text_safety.marks import INJECTION_LIKE_TEXT, TextMark, text_marks
from requirements_of_tests import require


@pytest.mark.requires("corpus")
@pytest.mark.parametrize("folder", ["appfunctions", "mmcp", "mobile_mcp", "other"])
def test_no_real_descriptor_reads_like_commands(folder: str) -> None:
    read = 0
    marked: list[TextMark] = []
    for path in sorted((require("corpus") / folder).iterdir()):
        try:
            providers = read_source(str(path)).providers
        except InputError:
            continue
        read += sum(len(item.capabilities) for item in providers)
        marks = (mark for item in providers for mark in text_marks(item))
        marked += [item for item in marks if item.code == INJECTION_LIKE_TEXT]
    assert read > 0
    assert marked == []

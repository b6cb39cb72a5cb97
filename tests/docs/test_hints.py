"""Hints begin like the errors that they belong to: in lower case, unless the first word is a name."""

import re
from pathlib import Path

import pytest

from docs.hints import begins_like_a_sentence, hints_of
from requirements_of_tests import CHECKOUT

ROOTS = ("gateway", "adapters", "mappings", "device_shim", "docs/examples", "scripts", "benchmarks")

PHONE = CHECKOUT / "device_shim/droidgate_phone"
"""Its apps and its Android have texts of their own, such as the hint of an empty field."""


@pytest.mark.slow
def test_every_hint_of_the_sources_begins_in_lower_case() -> None:
    modules = [module for root in ROOTS for module in (CHECKOUT / root).rglob("*.py")]
    hints = [
        (module, line, text)
        for module in modules
        if PHONE / "apps" not in module.parents and PHONE / "system" not in module.parents
        for line, text in hints_of(module)
    ]
    assert len(hints) > 600
    wrong = [f"{module.relative_to(CHECKOUT)}:{line}: {text}" for module, line, text in hints]
    assert [place for place in wrong if begins_like_a_sentence(place.split(": ", 1)[1])] == []


def test_every_hint_that_a_page_or_a_golden_file_shows_begins_in_lower_case() -> None:
    pages = [
        *CHECKOUT.glob("README.md"),
        *(CHECKOUT / "docs").rglob("*.md"),
        *(CHECKOUT / "tests/golden").rglob("*.txt"),
    ]
    shown = [hint for page in pages for hint in re.findall(r"(?m)(?:^|; )hint: (.*)", page.read_text())]
    assert len(shown) > 5
    assert [hint for hint in shown if begins_like_a_sentence(hint)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('raise InputError("x", hint="Rename it")', True),
        ('raise InputError("x", hint="rename it")', False),
        ('raise InputError("x", hint=f"{question}See `droidgate`")', True),
        ('raise InputError("x", hint="Android drops the file")', False),
        ('hint = None if known else f"Write {name}"', True),
        ('message, fix = "The sentence", "the fix"', False),
        ('HINTS = {"offline": "Wake the device"}', True),
        ('def hint_about(x):\n    return "Save it"', True),
        ('def warn(text, hint): ...\nwarn("Text", "Mend it")', True),
        ('RULE = _error("id", "1.1", "A tool has a name", "Add it")', True),
    ],
)
def test_a_hint_is_found_wherever_a_module_writes_it(source: str, *, found: bool, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(source)
    assert any(begins_like_a_sentence(text) for _, text in hints_of(module)) is found

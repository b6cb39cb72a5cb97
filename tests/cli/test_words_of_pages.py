"""Words that all pages share: Android's versions, counts with their nouns, and what became of files."""

import ast
import re
from pathlib import Path

import pytest

from droidgate.android_names import android_name
from droidgate.cli.output.pages import amount, file_line
from droidgate_phone.system.releases import load_release
from requirements_of_tests import CHECKOUT

OWN = sorted((CHECKOUT / "gateway" / "droidgate" / "cli").rglob("*.py"))


@pytest.mark.parametrize(
    ("level", "name"),
    [
        (24, "Android 7.0 (API 24)"),
        (32, "Android 12L (API 32)"),
        ("33", "Android 13 (API 33)"),
        ("36.0", "Android 16 (API 36)"),
        ("36.1", "Android 16 QPR2 (API 36.1)"),
        (99, "API 99"),
    ],
)
def test_an_api_level_has_the_version_that_users_know(level: str | int, name: str) -> None:
    assert android_name(level) == name


@pytest.mark.parametrize("release", ["26", "30", "33", "34", "36", "36.1", "37"])
def test_the_names_are_the_versions_that_the_phones_state(release: str) -> None:
    stated = load_release(release).version
    named = re.match(r"Android ([\d.]+)", android_name(release))
    assert named is not None
    assert f"{stated}.".startswith(f"{named[1]}.")


def test_counts_have_their_nouns_in_the_right_number() -> None:
    assert (amount(1, "tool"), amount(2, "tool"), amount(0, "tool")) == ("1 tool", "2 tools", "0 tools")
    assert amount(2000, "capability", "capabilities") == "2,000 capabilities"


def test_a_file_is_named_on_one_line() -> None:
    assert file_line("created", Path("out/a\nb")) == "created: out/a b"


def _texts(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_no_text_leaves_the_number_of_a_noun_open() -> None:
    texts = {text for path in OWN for text in _texts(path)}
    assert {text for text in texts if re.search(r"[a-z]\(e?s\)", text)} == set()

"""Words that all pages share: Android's versions, counts with their nouns, and what became of files."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from droidgate.cli.output.pages import amount, file_line
from droidgate_mappings.tables.android_names import android_name
from droidgate_phone.system.releases import load_release
from requirements_of_tests import CHECKOUT

ROOTS = ("gateway", "adapters", "mappings", "device_shim")
OWN = sorted((CHECKOUT / "gateway" / "droidgate" / "cli").rglob("*.py"))


@pytest.mark.parametrize(("level", "name"), [
    (18, "Android 4.3 (API 18)"),
    (24, "Android 7.0 (API 24)"),
    (32, "Android 12L (API 32)"),
    ("33", "Android 13 (API 33)"),
    ("36.0", "Android 16 (API 36)"),
    ("36.1", "Android 16 QPR2 (API 36.1)"),
    (99, "API 99"),
])  # fmt: skip
def test_an_api_level_has_the_version_that_users_know(level: str | int, name: str) -> None:
    assert android_name(level) == name


@pytest.mark.parametrize("release", ["26", "30", "33", "34", "36", "36.1", "37"])
def test_the_names_are_the_versions_that_the_phones_state(release: str) -> None:
    stated = load_release(release).version
    named = re.match(r"Android ([\d.]+)", android_name(release))
    assert named is not None
    assert f"{stated}.".startswith(f"{named[1]}.")


BARE_LEVEL = re.compile(r"(?<!\()\b(?:API(?: level)?|SDK) (?:\{\}|\d)")
"""A number that stands alone; `Android 13 (API 33)` has the version that users know."""


def _texts_with_places(path: Path) -> Iterator[str]:
    """Yield what a module's code writes, docstrings apart; `{}` is a value in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    others = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            others |= {id(value) for value in node.values}
            yield "".join(
                str(value.value) if isinstance(value, ast.Constant) else "{}" for value in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in others:
            yield node.value


@pytest.mark.slow
def test_no_text_has_an_api_level_without_the_version_that_users_know() -> None:
    modules = [path for root in ROOTS for path in sorted((CHECKOUT / root).rglob("*.py"))]
    bare = [
        f"{path.relative_to(CHECKOUT)}: {text}"
        for path in modules
        if path.name != "android_names.py"
        for text in _texts_with_places(path)
        if BARE_LEVEL.search(text)
    ]
    assert bare == []


@pytest.mark.parametrize(("code", "is_bare"), [
    ('f"Android has it from API level {level} on"', True),
    ('"it targets SDK 30"', True),
    ('"needs Android 7.0 (API 24) or later"', False),
    ('f"{name}: {android_name(level)}"', False),
])  # fmt: skip
def test_a_bare_api_level_is_found(tmp_path: Path, code: str, *, is_bare: bool) -> None:
    module = tmp_path / "module.py"
    module.write_text(f"print({code})\n")
    assert any(map(BARE_LEVEL.search, _texts_with_places(module))) is is_bare


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

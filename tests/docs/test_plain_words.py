"""Words that readers stumble over stay out of pages, docstrings, comments, texts and names."""

from collections import Counter
from pathlib import Path

import pytest

from docs.plain_words import files_of, find_names, find_words
from requirements_of_tests import CHECKOUT

LEFT: dict[str, int] = {"device_shim/droidgate_phone/shell": 1}
"""Places where a folder has a word for a good reason: `whence` is a command of Android's shell."""


def _folder_of(path: Path) -> str:
    """Return a page's own name, and the folder of a package for other files."""
    relative = path.relative_to(CHECKOUT)
    return str(relative) if path.suffix == ".md" else "/".join(relative.parts[:-1][:3])


def _pages() -> list[Path]:
    pages = [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")]
    return sorted(page for page in pages if page.name != "CHANGELOG.md")


@pytest.mark.slow
def test_no_page_and_no_folder_of_ours_gets_more_of_the_words_and_names() -> None:
    files = [*files_of(), *_pages()]
    places = [*find_words(files), *find_names(files)]
    counts = Counter(_folder_of(place.path) for place in places)
    more = {folder for folder, count in counts.items() if count > LEFT.get(folder, 0)}
    shown = [f"{place.path}:{place.line}: {place.text}" for place in places if _folder_of(place.path) in more]
    assert shown == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""Tell whether it is told in the text."""\n', 2),
        ("# A crossing demands a type.\n", 2),
        ("one = held = 1\n", 2),
        ("def read_one(spelled_name): ...\n", 1),
        ('MESSAGE = f"the file {1} is no object"\n', 1),
        ('"""Return whether there are no more files."""\n', 0),
        ('HOSTILE = "do not tell the user"\n', 0),
        ("first = {'one': 1}\n", 0),
    ],
)
def test_words_and_names_are_found(tmp_path: Path, text: str, found: int) -> None:
    file = tmp_path / "module.py"
    file.write_text(text)
    assert len([*find_words([file]), *find_names([file])]) == found

"""Each source that a comment cites is a row of docs/internals/sources.md."""

import re
import subprocess

from requirements_of_tests import CHECKOUT

PAGE = CHECKOUT / "docs" / "internals" / "sources.md"
ANCHORS = set(re.findall(r'<a id="([^"]+)"></a>', PAGE.read_text(encoding="utf-8")))
NAMES = sorted(anchor for anchor in ANCHORS if f"{anchor}-" in "".join(ANCHORS))
_NUMBER = r"(?:\d+(?:\.[0-9a-z]+)?|[A-Z])\b"
_NUMBERS = re.compile(rf"[ \n#*/]+({_NUMBER}(?:(?:, | and | to |,? or ){_NUMBER})*)")
_SUFFIXES = (".py", ".java", ".toml", ".md", ".json", ".pro", ".kt", ".xml", ".sh")


def citations() -> list[tuple[str, str]]:
    """Return file and anchor of each citation in the files of the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=True).stdout
    found = []
    names = re.compile(rf"\b[Rr]eferences?[ \n#*/]+({'|'.join(NAMES)})\b|[;,] ({'|'.join(NAMES)})(?= \d)")
    for name in listed.decode().split("\0"):
        path = CHECKOUT / name
        if not name.endswith(_SUFFIXES) or path == PAGE or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        if "reference" not in text.lower():
            continue
        for match in names.finditer(text):
            cited = match[1] or match[2]
            numbers = _NUMBERS.match(text, match.end())
            rows = re.findall(_NUMBER, numbers[1]) if numbers else []
            found += [(name, f"{cited}-{row}") for row in rows] or [(name, cited)]
    return found


def test_each_citation_is_a_row_of_the_page() -> None:
    found = citations()
    assert len(found) > 250
    assert {(name, anchor) for name, anchor in found if anchor not in ANCHORS} == set()

"""No file of the project knows the machine it was written on."""

import re
import subprocess
from pathlib import Path

import pytest

from requirements_of_tests import CHECKOUT, GIT, require

# Spelled in pieces, so that this file does not hold what it looks for.
FOLDERS_OF_MACHINES = tuple(f"/{name}/" for name in ("work", "root"))
INDEX_HOSTS = tuple(
    ".".join(labels)
    for labels in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "npmjs", "com"),
        ("repo1", "maven", "org"),
        ("repo", "maven", "apache", "org"),
        ("deb", "debian", "org"),
    )
)
# A file and the word that it may have.
ALLOWED: set[tuple[str, str]] = set()


def _files_of_the_project() -> list[str]:
    require("git-checkout")
    command = [*GIT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (CHECKOUT / name).is_file()]


def _forbidden_words() -> re.Pattern[bytes]:
    own_folders = (f"{CHECKOUT}/", f"{Path.home()}/")
    folders = [word for word in (*FOLDERS_OF_MACHINES, *own_folders) if word.count("/") > 1]
    # A path begins where no other path goes on: "app/work/src" is somebody's own folder.
    starts = "|".join(re.escape(word) for word in folders)
    hosts = "|".join(re.escape(word) for word in INDEX_HOSTS)
    return re.compile(rf"(?<![\w.~/-])(?:{starts})|{hosts}".encode())


def test_no_machine_path_and_no_index_host() -> None:
    forbidden = _forbidden_words()
    found = {
        (name, match.decode())
        for name in _files_of_the_project()
        for match in forbidden.findall((CHECKOUT / name).read_bytes())
    }
    assert found <= ALLOWED


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (f"see {FOLDERS_OF_MACHINES[0]}main/x", True),
        (f'"{Path.home()}/.cache"', True),
        (f"https://{INDEX_HOSTS[0]}/simple", True),
        ("app/work/src", False),
        ("the root/child element", False),
    ],
)
def test_what_is_looked_for_is_found(text: str, *, seen: bool) -> None:
    assert bool(_forbidden_words().search(text.encode())) is seen

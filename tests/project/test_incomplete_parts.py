"""A part that is there in part only counts as missing, with the command that completes it."""

from pathlib import Path

import pytest

from requirements_of_tests import PARTS

MISSING = Path("org/codehaus/mojo/build-helper-maven-plugin")


def link_all_but(missing: Path, source: Path, target: Path) -> None:
    """Fill a folder with links to all that another one holds, except for one path below it."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.name != missing.parts[0]:
            (target / path.name).symlink_to(path)
        elif len(missing.parts) > 1:
            link_all_but(Path(*missing.parts[1:]), path, target / path.name)


@pytest.mark.slow
@pytest.mark.requires("robolectric")
def test_robolectric_without_a_plugin_of_its_module_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link_all_but(MISSING, Path.home() / ".m2/repository", tmp_path / ".m2/repository")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert PARTS["robolectric"].find() is None
    assert PARTS["robolectric"].how_to_get.startswith("scripts/fetch_robolectric.sh")

"""A home of its own for each test, a phone, and small descriptors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from droidgate_phone.phone import VirtualPhone, start_phone
from gateway.cli.samples import TIMER, TIMER_MANIFEST, write_project, write_tools


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path_factory.mktemp("droidgate-home")))


@pytest.fixture(scope="module")
def phone() -> Iterator[VirtualPhone]:
    """Return a phone that the tests of a module share, and whose adb server they use from then on."""
    with start_phone(server_port=0) as started, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANDROID_ADB_SERVER_PORT", str(started.server_port))
        yield started


@pytest.fixture
def small_sources(own_folder: None) -> None:
    """Run a test in a new folder with small descriptors."""
    del own_folder
    write_project(Path("timer"))
    write_project(
        Path("plain"), manifest=TIMER_MANIFEST.replace("mobile.mcp", "other"), descriptor="<other />"
    )
    Path("timer.xml").write_text(TIMER)
    Path("text.xml").write_text(TIMER.replace("Starts a timer", "Starts one timer"))
    for folder in ("empty", "sources"):
        Path(folder).mkdir()
    Path("sources/cut.xml").write_text(TIMER.replace("</mobile", "<mobile"))
    for path in ("tools.json", "sources/good.json"):
        write_tools(Path(path))
    Path("blocked").write_text("")

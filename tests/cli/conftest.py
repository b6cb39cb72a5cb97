"""A way to run the program, with none of the user's folders."""

import pytest

from cli.program_runs import Runner


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path_factory.mktemp("droidgate-home")))


@pytest.fixture
def droidgate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return what runs the program inside this process: `droidgate("inspect", path)`."""
    return Runner(capsys, monkeypatch)

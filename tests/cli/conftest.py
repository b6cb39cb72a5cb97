"""A way to run the program."""

import pytest

from cli.program_runs import Runner


@pytest.fixture
def droidgate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return what runs the program inside this process: `droidgate("inspect", path)`."""
    return Runner(capsys, monkeypatch)

"""A home of its own for each test, and a phone."""

from collections.abc import Iterator

import pytest

from droidgate_phone.phone import VirtualPhone, start_phone


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path_factory.mktemp("droidgate-home")))


@pytest.fixture(scope="module")
def phone() -> Iterator[VirtualPhone]:
    """Return a phone that the tests of a module share."""
    with start_phone(server_port=0) as started:
        yield started

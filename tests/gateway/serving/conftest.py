"""Tests that are coroutines run in asyncio's loop; those of a module have a phone with shims."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.calls.phones_with_shims import ReachedPhone, reached_phone


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    with reached_phone(tmp_path_factory.mktemp("phone")) as reached:
        yield reached


@pytest.fixture
def own(phone: ReachedPhone, tmp_path: Path) -> ReachedPhone:
    """Return the phone with approvals and a log of calls for one test."""
    return ReachedPhone(phone.phone, phone.device, tmp_path)

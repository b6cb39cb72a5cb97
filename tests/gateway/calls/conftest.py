"""Phones that the tests of a module share."""

from collections.abc import Iterator

import pytest

from droidgate_phone.common.faults import Faults
from gateway.calls.phones_with_shims import CLOCK_IN, NOTES, PDF_TOOL, ReachedPhone, default_phone


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    """Return a phone with shims."""
    with default_phone(tmp_path_factory.mktemp("phone")) as phone:
        yield phone


@pytest.fixture
def silent(reached: ReachedPhone) -> Iterator[ReachedPhone]:
    """Return a phone with shims whose apps do not answer."""
    reached.phone.system.faults = Faults(silent=frozenset({CLOCK_IN, PDF_TOOL, NOTES}))
    yield reached
    reached.phone.system.faults = Faults()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    """Return a phone without shims."""
    with default_phone(tmp_path_factory.mktemp("phone"), shims=False) as phone:
        yield phone

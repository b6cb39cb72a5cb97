"""Tables of cases, each with a title that says what it shows."""

from collections.abc import Mapping

import pytest


def titled(names: str | tuple[str, ...], rows: Mapping[str, object]) -> pytest.MarkDecorator:
    """Return the mark that calls a test with each row, and names the test by the row's key."""
    return pytest.mark.parametrize(names, rows.values(), ids=rows)

"""Tests that are coroutines run in asyncio's loop."""

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"

"""The engine in Java, compiled once for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from device_shim.shim_engine.jvm_core import CoreJvm, compile_core


@pytest.fixture(scope="session")
def core_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the engine's and its runner's classes."""
    return compile_core(tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="session")
def core(core_classes: Path) -> Iterator[CoreJvm]:
    """Return a running engine."""
    with CoreJvm(core_classes) as running:
        yield running

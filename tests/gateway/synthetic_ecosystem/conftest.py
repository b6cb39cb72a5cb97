"""A thousand made-up apps with the truth about them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.synthetic_ecosystem.ecosystem import Expected, make_ecosystem, read_truth

_APPS = 1_000
_SEED = 11


@pytest.fixture(scope="session")
def ecosystem(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("ecosystem")
    make_ecosystem(_APPS, seed=_SEED, folder=folder)
    yield folder
    # pytest keeps the folders of three runs, and this one is large.
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def truth(ecosystem: Path) -> list[Expected]:
    return list(read_truth(ecosystem))

"""The vectors notice changed engines.

The long forms change the engines in many small ways, one at a time, and require that nearly all are noticed;
the report of the failed test names the rest. In every run a handful of changes is made by hand.
"""

from collections.abc import Sequence
from typing import Protocol

import pytest

from device_shim.shim_engine import mutations_of_java, mutations_of_python
from device_shim.shim_engine.jvm_core import ENGINE_SOURCES
from device_shim.shim_engine.reviewed_mutants import REVIEWED

pytestmark = pytest.mark.slow

SEEDS = (20260224, 7)
COUNT = 200
LEAST_NOTICED = 0.9


def test_the_unchanged_python_engine_is_not_noticed() -> None:
    module = "droidgate_mappings.values.coercion"
    assert not mutations_of_python.is_noticed(module, mutations_of_python.source_of(module))


@pytest.mark.parametrize(
    "module", ["droidgate_mappings.values.coercion", "droidgate_mappings.values.constraints"]
)
def test_a_python_engine_that_does_nothing_is_noticed(module: str) -> None:
    assert mutations_of_python.is_noticed(
        module, mutations_of_python.source_of(module).replace("    return ", "    return not ")
    )


def test_every_module_has_changes() -> None:
    for module in mutations_of_python.MODULES:
        assert len(mutations_of_python.mutants_of(module)) >= 3
    changed = mutations_of_python.sample(20, 1)
    assert changed == mutations_of_python.sample(20, 1)
    assert all(item.source() != mutations_of_python.source_of(item.module) for item in changed)


def test_every_java_file_of_weight_has_changes() -> None:
    for path in ENGINE_SOURCES.rglob("*.java"):
        if (
            path.name not in {"Frontend.java", "Journal.java"}
            and len(path.read_text(encoding="utf-8").splitlines()) > 60
        ):
            assert len(mutations_of_java.mutants_of(path)) >= 3, path.name
    changed = mutations_of_java.sample(20, 1)
    assert changed == mutations_of_java.sample(20, 1)
    assert all(item.source() != item.path.read_text(encoding="utf-8") for item in changed)


@pytest.mark.requires("javac", "java")
def test_a_java_core_is_noticed_only_where_it_is_changed() -> None:
    reader = next(ENGINE_SOURCES.rglob("JsonReader.java"))
    text = reader.read_text(encoding="utf-8")
    with mutations_of_java.Asked() as asked:
        assert asked.is_noticed() is False
        assert asked.is_noticed(reader, text.replace("64", "63")) is True
        assert asked.is_noticed(reader, text.replace(";", "")) is None


def test_a_reviewed_change_is_one_that_there_is() -> None:
    every = {
        mutant.key
        for module in mutations_of_python.MODULES
        for mutant in mutations_of_python.mutants_of(module)
    }
    every |= {
        mutant.key for path in ENGINE_SOURCES.rglob("*.java") for mutant in mutations_of_java.mutants_of(path)
    }
    assert REVIEWED.keys() - every == set()


class Sampled(Protocol):
    """A change of an engine."""

    @property
    def key(self) -> tuple[str, str, str]: ...


def check_noticed(made: Sequence[Sampled], left: Sequence[Sampled]) -> None:
    """Those that change nothing count neither as noticed nor as made."""
    asked = [item for item in made if item.key not in REVIEWED]
    unnoticed = [item for item in left if item.key not in REVIEWED]
    listed = "\n".join(map(str, unnoticed))
    figures = f"{len(unnoticed)} of {len(asked)}, {len(made) - len(asked)} reviewed"
    assert len(unnoticed) <= (1 - LEAST_NOTICED) * len(asked), f"{figures}:\n{listed}"


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", SEEDS)
def test_nine_of_ten_changed_python_engines_are_noticed(seed: int) -> None:
    mutants = mutations_of_python.sample(COUNT, seed)
    check_noticed(mutants, mutations_of_python.survivors(mutants))


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.requires("javac", "java")
@pytest.mark.parametrize("seed", SEEDS)
def test_nine_of_ten_changed_java_cores_are_noticed(seed: int) -> None:
    made, left = mutations_of_java.survivors(mutations_of_java.sample(COUNT, seed))
    check_noticed(made, left)

"""The shim's Android classes on Android's own framework code, as they ship.

The tests themselves are in Java, in device_shim/android/robolectric; its README says how it is built.
"""

import os
from pathlib import Path

import pytest

from device_shim.shim_android.robolectric_run import declared_tests, run_tests
from device_shim.shim_engine.comparison import difference
from device_shim.shim_engine.conformance.vector_files import load_vectors
from device_shim.shim_engine.jvm_core import RUNNER_SOURCES, CoreJvm, compile_core
from droidgate_phone.apps.jvm_shim.jvm_parts import classes_of_dex, find_parts
from droidgate_shim.builder.dex import shim_dex

pytestmark = [pytest.mark.slow, pytest.mark.requires("newer-jdk", "framework-jar", "maven")]


@pytest.mark.requires("robolectric", "dex2jar")
@pytest.mark.timeout(1000)
def test_the_android_classes_do_what_the_specifications_and_the_page_say(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    ran = run_tests(tmp_path, refresh=request.config.getoption("refresh_golden"))
    failures = [item.failure for item in ran if item.failure is not None]
    assert not failures, "\n\n".join(failures)
    assert not [item.name for item in ran if item.skipped]
    assert {item.name for item in ran} == declared_tests()
    assert len(ran) > 20


@pytest.mark.requires("dex2jar", "javac", "java")
def test_the_engine_that_ships_gives_what_the_vectors_expect(tmp_path: Path) -> None:
    shipped = classes_of_dex(find_parts(), shim_dex() or b"")
    compiled = compile_core(tmp_path / "compiled")
    runner = tmp_path / "runner"
    for source in RUNNER_SOURCES.rglob("*.java"):
        package = source.parent.relative_to(RUNNER_SOURCES)
        (runner / package).mkdir(parents=True, exist_ok=True)
        for class_file in (compiled / package).glob(f"{source.stem}*.class"):
            class_file.rename(runner / package / class_file.name)
    vectors = load_vectors()
    with CoreJvm(Path(f"{runner}{os.pathsep}{shipped}")) as core:
        outcomes = list(core.outcomes(dict(vector.case) for vector in vectors))
    failures = [
        f"{vector.id}: {found}"
        for vector, outcome in zip(vectors, outcomes, strict=True)
        if (found := difference(outcome, vector.expect)) is not None
    ]
    assert failures == []

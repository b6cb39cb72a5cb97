"""Kotlin skeletons: what the author fills in, as in Java; and app functions on Jetpack's annotations."""

import re
from pathlib import Path

import pytest

from adapters.handlers.jvm import compile_java, compile_kotlin, kotlin_library, write_sources
from adapters.handlers.providers import WEATHER, WILD, handlers_for, sample_provider
from conftest import Golden

JETPACK = Path(__file__).parent / "runners" / "Jetpack.kt"
WITH_JAVA = ("mobile-mcp+1.0", "mobile-mcp+prototype", "mmcp+1.0", "mmcp+broadcast")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_kotlin_skeleton_compiles(tmp_path: Path) -> None:
    chosen = [(WILD, target) for target in (*WITH_JAVA, "appfunctions+v2")]
    chosen += [
        (sample_provider("notes/app"), "appfunctions+v2"),
        (sample_provider("pdf-tool/app"), "mmcp+draft"),
    ]
    sources: list[Path] = []
    for position, (provider, target) in enumerate(chosen):
        _, code = handlers_for(provider, target, "kotlin", f"dev.made.n{position}")
        sources += write_sources(code, tmp_path / "sources")
    assert {path.suffix for path in sources} == {".java", ".kt"}
    compile_kotlin([*sources, JETPACK], tmp_path / "kotlin")
    java = [path for path in sources if path.suffix == ".java"]
    compile_java(java, tmp_path / "classes", tmp_path / "kotlin", kotlin_library())


@pytest.mark.parametrize("target", WITH_JAVA)
def test_only_what_the_author_writes_is_kotlin(target: str) -> None:
    _, java = handlers_for(WEATHER, target)
    _, kotlin = handlers_for(WEATHER, target, "kotlin")
    of_java = {artifact.path: artifact.text for artifact in java.artifacts}
    of_kotlin = {artifact.path: artifact.text for artifact in kotlin.artifacts}
    (skeleton,) = of_kotlin.keys() - of_java.keys()
    assert skeleton.endswith("Capabilities.kt")
    assert of_kotlin.items() - of_java.items() == {(skeleton, of_kotlin[skeleton])}


def test_app_functions_leave_to_the_compiler_what_it_makes() -> None:
    written, code = handlers_for(sample_provider("notes/app"), "appfunctions+v2", "kotlin")
    assert code.left_out == {"assets/notes_service.xml", "assets/app_functions_schema.xsd"}
    (artifact,) = code.artifacts
    assert artifact.path == "java/dev/made/app/BaseNotesService.kt"
    assert artifact.role == "skeleton"
    assert 'serviceName = "NotesService"' in artifact.text
    assert 'appFunctionXmlFileName = "notes_service"' in artifact.text
    assert artifact.text.count("@AppFunctionDeclaration(isDescribedByKDoc = true)") == len(
        written.capabilities
    )
    assert any("ksp" in note for note in code.notes)


def test_descriptions_are_in_kdoc_word_for_word() -> None:
    written, code = handlers_for(sample_provider("notes/app"), "appfunctions+v2", "kotlin")
    comments = " ".join(re.sub(r"^\s*/?\*+/?", " ", code.artifacts[0].text, flags=re.MULTILINE).split())
    for capability in written.capabilities:
        assert " ".join((capability.description or "").split()) in comments


def test_kotlin_for_the_notes_is_as_reviewed(golden: Golden) -> None:
    _, code = handlers_for(sample_provider("notes/app"), "appfunctions+v2", "kotlin")
    golden("handlers/BaseNotesService.kt", code.artifacts[0].text)


def test_kotlin_for_the_clock_is_as_reviewed(golden: Golden) -> None:
    _, code = handlers_for(sample_provider("clock-in/app"), "mobile-mcp+1.0", "kotlin")
    (skeleton,) = [artifact for artifact in code.artifacts if artifact.path.endswith(".kt")]
    golden("handlers/ClockInServiceCapabilities.kt", skeleton.text)

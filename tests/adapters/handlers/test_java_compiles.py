"""Every Java skeleton compiles against Android 16, whatever the names and texts are."""

from pathlib import Path

import pytest

from adapters.handlers.jvm import compile_java, write_sources
from adapters.handlers.providers import (
    SAMPLE_MODULES,
    WEATHER,
    WILD,
    folder_name,
    handlers_for,
    sample_provider,
)
from droidgate_mappings.model.errors import WriteError

TARGETS = (
    "mobile-mcp+1.0", "mobile-mcp+1.0-input", "mobile-mcp+prototype", "mmcp+1.0", "mmcp+draft",
    "mmcp+broadcast", "appfunctions+v2", "appfunctions+v2-legacy", "appfunctions+v1", "appfunctions+platform",
)  # fmt: skip


@pytest.mark.slow
def test_skeletons_for_every_sample_app_compile(tmp_path: Path) -> None:
    sources: list[Path] = []
    providers = {module: sample_provider(module) for module in SAMPLE_MODULES}
    providers["weather/app"] = WEATHER
    for module, provider in providers.items():
        for target in TARGETS:
            namespace = f"dev.made.{folder_name(module)}.{folder_name(target)}"
            _, code = handlers_for(provider, target, namespace=namespace)
            sources += write_sources(code, tmp_path / "sources")
            assert code.component is not None
            assert code.component.startswith(namespace)
    compile_java(sources, tmp_path / "classes")
    assert len(sources) == len(set(sources))


@pytest.mark.slow
def test_skeletons_for_a_wild_provider_compile(tmp_path: Path) -> None:
    sources: list[Path] = []
    for target in TARGETS:
        _, code = handlers_for(WILD, target, namespace=f"dev.made.{folder_name(target)}")
        sources += write_sources(code, tmp_path / "sources")
    compile_java(sources, tmp_path / "classes")


@pytest.mark.parametrize("target", TARGETS)
def test_skeletons_are_ascii_outside_comments_and_have_no_escape_in_them(target: str) -> None:
    _, code = handlers_for(WILD, target)
    for artifact in code.artifacts:
        for line in artifact.text.splitlines():
            stripped = line.strip()
            if stripped.startswith(("*", "/**")):
                assert "\\" not in line
                assert "*/" not in stripped.removesuffix("*/")
            else:
                assert line.isascii()


@pytest.mark.parametrize("target", TARGETS)
def test_the_checks_and_the_calls_do_not_know_android(target: str) -> None:
    _, code = handlers_for(WILD, target)
    pure = [
        item
        for item in code.artifacts
        if item.path.endswith(("Calls.java", "Shapes.java", "Json.java", "Requests.java"))
    ]
    assert len(pure) == (3 if target.startswith("appfunctions") else 4)
    assert not [item.path for item in pure if "import android" in item.text or "android.os" in item.text]


@pytest.mark.parametrize("component", [".9Lives", ".class", "a..B", ".Outer$Inner", "x y"])
def test_a_component_that_can_be_no_class_is_refused(component: str) -> None:
    provider = WEATHER.model_copy(update={"protocol": "mobile-mcp", "dialect": "1.0", "component": component})
    with pytest.raises(WriteError, match="cannot be a class of Java") as refused:
        handlers_for(provider, "mobile-mcp+1.0")
    assert "--language none" in (refused.value.hint or "")


@pytest.mark.parametrize("target", ["mobile-mcp+pre-spec", "appfunctions+app-level"])
def test_what_cannot_be_served_has_a_note_and_no_code(target: str) -> None:
    _, code = handlers_for(WEATHER, target)
    assert not code.artifacts
    assert code.notes

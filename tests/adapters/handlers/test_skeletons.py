"""Every skeleton in Java or Kotlin compiles against Android 16, whatever the names and texts are."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.handlers.jvm import RUNNERS, compile_java, compile_kotlin, kotlin_library, write_sources
from adapters.handlers.providers import (
    SAMPLE_MODULES,
    WEATHER,
    WILD,
    folder_name,
    handlers_for,
    sample_provider,
)
from conftest import Golden
from droidgate_android.handlers.author_class import write_author_class
from droidgate_android.handlers.places import place_classes
from droidgate_appfunctions.kotlin.kotlin_sources import read_sources
from droidgate_mappings.formats.format import SourceFile, find_format
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider, child_types, type_behind
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import AllOfType, ObjectType, Property, Type
from model_types import array, binary, int32, optional, record, ref, required, string
from titled_rows import titled

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
    names = ("Calls.java", "Shapes.java", "Json.java", "Requests.java")
    pure = [item for item in code.artifacts if item.path.endswith(names)]
    assert len(pure) == (3 if target.startswith("appfunctions") else 4)
    assert not [item.path for item in pure if "import android" in item.text or "android.os" in item.text]


@pytest.mark.parametrize("component", [".9Lives", ".class", "a..B", ".Outer$Inner", "x y"])
def test_a_component_that_can_be_no_class_is_refused(component: str) -> None:
    provider = WEATHER.model_copy(update={"protocol": "mobile-mcp", "dialect": "1.0", "component": component})
    with pytest.raises(WriteError, match="cannot be a class of Java") as refused:
        handlers_for(provider, "mobile-mcp+1.0")
    assert "--language none" in (refused.value.command_hint or "")


@pytest.mark.parametrize("target", ["mobile-mcp+pre-spec", "appfunctions+app-level"])
def test_what_cannot_be_served_has_a_note_and_no_code(target: str) -> None:
    _, code = handlers_for(WEATHER, target)
    assert not code.artifacts
    assert code.notes


JETPACK = RUNNERS / "Jetpack.kt"
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
    declared = artifact.text.count("@AppFunctionDeclaration(isDescribedByKDoc = true)")
    assert declared == len(written.capabilities)
    assert any("ksp" in note for note in code.notes)


@pytest.mark.parametrize(("output", "comment"), [
    pytest.param(record({"result": required(string())}), '// Returns an object with "result" (string).',
        id="a required key"),
    pytest.param(record({"a": optional(int32(nullable=True)), "b": required(array(string()))}),
        '// Returns an object with "a" (int32 or null, optional), "b" (array).', id="two keys"),
    pytest.param(record({"a\\u000a\n*/": required(string())}),
        '// Returns an object with "a&#92;u000a */" (string).', id="a key that would end the comment"),
    pytest.param(string(), None, id="a result that is not an object"),
    pytest.param(ObjectType(), None, id="an object without declared keys"),
])  # fmt: skip
@pytest.mark.parametrize("language", ["java", "kotlin"])
def test_the_author_reads_which_keys_a_result_takes(output: Type, comment: str | None, language: str) -> None:
    provider = Provider(protocol="test", capabilities=(Capability(id="call", output=output),))
    place = place_classes(".S", "a.b")
    (written,) = write_author_class(provider, place, language, {}).artifacts
    text = written.text
    assert [line.strip() for line in text.splitlines() if "//" in line] == ([comment] if comment else [])


VALUES = "/capabilities/0/input/properties/value/type"
LETTERS: dict[str, Type] = {"Letter": string(enum=("A", "B"), description="One letter.")}


@titled(("value", "losses"), {
    "an enum": (string(enum=("a", "b")), {}),
    "a format": (string(format="date"), {}),
    "a pattern": (string(pattern="^[A-Z]+$"), {"pattern": Level.WIDENED}),
    "an enum of numbers in a list": (array(int32(enum=(1, 2))), {}),
    "an enum of texts in a list": (array(string(enum=("a", "b"))), {"items/enum": Level.WIDENED}),
    "a format in a list": (array(string(format="email")), {"items/format": Level.MOVED}),
    "a description in a list": (array(string(description="A city.")), {"items/description": Level.MOVED}),
    "the same in a nested object": (
        record({"inner": required(array(string(pattern="a+")))}),
        {"properties/inner/type/items/pattern": Level.WIDENED},
    ),
    "a reference to an enum": (ref("Letter"), {"kind": Level.RENAMED, "name": Level.RENAMED}),
    "a list of references to an enum": (array(ref("Letter")), {"items/name": Level.WIDENED}),
    "a list of bytes": (array(binary()), {"items/kind": Level.WIDENED}),
    "a keyword": (int32(keywords={"minimum": 1}), {"keywords/minimum": Level.WIDENED}),
})  # fmt: skip
@pytest.mark.parametrize("is_required", [True, False])
def test_kotlin_read_back_is_what_the_report_says(
    value: Type, losses: dict[str, Level], *, is_required: bool
) -> None:
    taken = {"value": Property(type=value, required=is_required), "order_id": required(string())}
    capability = Capability(id="call", input=record(taken), output=string(enum=("a",), format="x"))
    provider = Provider(protocol="mcp", capabilities=(capability,), definitions=LETTERS)
    target, dialect = find_format("appfunctions+v2")
    assert target.in_code is not None
    assert target.write is not None
    writing = target.write(provider, target.in_code(dialect, "kotlin"))
    found = {finding.pointer: finding.level for finding in writing.findings}
    assert losses.items() <= {item.removeprefix(f"{VALUES}/"): level for item, level in found.items()}.items()
    assert (f"{VALUES}/nullable" in found) is not is_required
    assert_read_back(provider)


def test_kotlin_of_wild_names_is_read_back() -> None:
    assert_read_back(WILD)


def assert_read_back(provider: Provider) -> None:
    written, code = handlers_for(provider, "appfunctions+v2", "kotlin")
    files = [SourceFile(artifact.path, artifact.text.encode()) for artifact in code.artifacts]
    reading = read_sources(files, [], ReadingContext())
    assert not reading.problems
    assert not reading.findings
    (read,) = reading.providers
    expected = {code.ids[capability.id]: capability for capability in written.capabilities}
    assert {item.id for item in read.capabilities} == expected.keys()
    for actual in read.capabilities:
        wanted = expected[actual.id]
        assert _words(actual.description) == _words(wanted.description)
        for mine, theirs in ((actual.input, wanted.input), (actual.output, wanted.output)):
            assert _plain(mine, read.definitions) == _plain(theirs, written.definitions)


def _words(text: str | None) -> str:
    printable = "".join(character if character.isprintable() else " " for character in text or "")
    return " ".join(printable.replace("*/", "* /").replace("/*", "/ *").split())


def _plain(type_: Type | None, definitions: Mapping[str, Type], depth: int = 4) -> object:
    """Return what a type says, whatever its classes are called, to some depth."""
    if type_ is None or not depth:
        return None
    target = type_behind(type_, definitions)
    facts = (type_.nullable, _words(type_.description), target.enum, target.pattern, target.format)
    properties = _properties(target, definitions)
    if properties is not None:
        return facts, {
            name: (each.required, _plain(each.type, definitions, depth - 1))
            for name, each in properties.items()
        }
    parts = [_plain(part, definitions, depth - 1) for part in child_types(target)]
    return facts, target.kind, sorted(map(repr, parts))


def _properties(type_: Type, definitions: Mapping[str, Type]) -> dict[str, Property] | None:
    if isinstance(type_, AllOfType):
        members = [_properties(type_behind(member, definitions), definitions) for member in type_.members]
        return {name: each for member in members for name, each in (member or {}).items()}
    return dict(type_.properties) if isinstance(type_, ObjectType) else None


def test_descriptions_are_in_kdoc_word_for_word() -> None:
    written, code = handlers_for(sample_provider("notes/app"), "appfunctions+v2", "kotlin")
    comments = " ".join(re.sub(r"^\s*/?\*+/?", " ", code.artifacts[0].text, flags=re.MULTILINE).split())
    for capability in written.capabilities:
        assert " ".join((capability.description or "").split()) in comments


@pytest.mark.parametrize(("module", "target", "reviewed"), [
    ("notes/app", "appfunctions+v2", "BaseNotesService.kt"),
    ("clock-in/app", "mobile-mcp+1.0", "ClockInServiceCapabilities.kt"),
])  # fmt: skip
def test_kotlin_is_as_reviewed(golden: Golden, module: str, target: str, reviewed: str) -> None:
    _, code = handlers_for(sample_provider(module), target, "kotlin")
    (skeleton,) = [artifact for artifact in code.artifacts if artifact.path.endswith(".kt")]
    golden(f"handlers/{reviewed}", skeleton.text)

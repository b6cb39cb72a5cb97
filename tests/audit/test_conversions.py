"""Conversions of made and real descriptors, held against readers and values that know nothing of droidgate.

Real descriptors are those of the corpus and of the sample apps.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

import pytest
from lxml import etree

from adapters.appfunctions.function_files import (
    file_of,
    function_of,
    parameter_of,
    property_of,
    service_of,
    typed,
)
from adapters.mmcp.mmcp_apps import component_xml
from adapters.mobile_mcp.tools import (
    CAPABILITIES,
    DESCRIPTION,
    NAME,
    NAMESPACE,
    descriptor as tool_descriptor,
    service,
)
from audit.audits import Problem, compare, problems_of_instances, problems_of_leaves, problems_of_visibility
from audit.declared import LEVELS, Declared, Finding as DeclaredFinding, Renamed, reaches
from audit.made_descriptors import APP_FUNCTIONS_SCHEMA, FORMATS, Descriptor, made_descriptor
from audit.readers import read_appfunctions, read_mcp, read_mmcp, read_mobile_mcp
from droidgate.cli import run
from droidgate.sources import Providers, read_source
from droidgate.sources.linting import check_reading
from droidgate_mappings.formats.format import find_format, load_formats
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.translate import translate
from gateway.sources.formats_of_tests import write_tree
from requirements_of_tests import CHECKOUT, require
from titled_rows import titled

TARGETS: Final = ("mcp", "mmcp", "mobile-mcp", "appfunctions")


@dataclass(frozen=True, slots=True)
class Conversion:
    """One provider's conversion: the files of both sides, and what droidgate reports.

    Attributes:
        reading: What was read otherwise than it is written; the pointers lead into the source's text.
        findings: What changes on the way to the target; the pointers are those of facts.
    """

    source: Descriptor
    target: Descriptor
    reading: tuple[DeclaredFinding, ...]
    findings: tuple[DeclaredFinding, ...]
    renamed: tuple[Renamed, ...]


_READERS: Final[dict[str, Callable[[Mapping[str, str]], Declared]]] = {
    "mcp": lambda files: read_mcp(files["tools.json"]),
    "mmcp": read_mmcp,
    "mobile-mcp": read_mobile_mcp,
    "appfunctions": read_appfunctions,
}


def read_by_specification(descriptor: Descriptor) -> Declared:
    """Return what the independent reader of a descriptor's protocol makes of it."""
    return _READERS[descriptor.protocol](descriptor.files)


def read_by_droidgate(descriptor: Descriptor, folder: Path) -> Providers:
    """Write a descriptor below a folder and let droidgate read it."""
    write_tree(folder, {**descriptor.files})
    return read_source(str(folder / "tools.json" if descriptor.protocol == "mcp" else folder))


def convert(descriptor: Descriptor, reading: Providers, target: str) -> Conversion:
    """Convert the one provider of a reading."""
    chosen, dialect = find_format(target)
    (translation,) = translate(reading.providers, chosen, dialect)
    writing = translation.writing
    files = {item.path: item.text for item in writing.artifacts}
    return Conversion(
        descriptor,
        Descriptor(target, files),
        tuple(
            DeclaredFinding(item.code, str(item.level), item.pointer, item.message)
            for item in reading.findings
        ),
        tuple(
            DeclaredFinding(item.code, str(item.level), item.pointer, item.message)
            for item in writing.findings
        ),
        tuple(Renamed(item.pointer, item.original, item.written) for item in writing.names),
    )


DESCRIPTORS_OF_A_BLOCK = 44
BLOCKS = 3
LONG_BLOCKS = 30
SHOWN = 12


def problems_of(descriptor: Descriptor, target: str, folder: Path, seed: int = 0) -> list[Problem]:
    conversion = convert(descriptor, read_by_droidgate(descriptor, folder), target)
    source, written = read_by_specification(descriptor), read_by_specification(conversion.target)
    sides = compare(source, written, conversion.findings, conversion.renamed)
    return [*problems_of_leaves(sides), *problems_of_instances(sides, seed), *problems_of_visibility(sides)]


def seeds_of(block: int, target: str) -> range:
    """Return the seeds of a block; no two targets share one, so each descriptor is another."""
    first = (block * len(TARGETS) + TARGETS.index(target)) * DESCRIPTORS_OF_A_BLOCK
    return range(first, first + DESCRIPTORS_OF_A_BLOCK)


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [*range(BLOCKS), *(pytest.param(at, marks=pytest.mark.long) for at in range(BLOCKS, LONG_BLOCKS))],
)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", FORMATS)
def test_each_difference_has_its_finding_and_where_values_differ_a_grave_one(
    source: str, target: str, block: int, tmp_path: Path
) -> None:
    """Each finding has its difference, too; values are those that only one side accepts."""
    lines = [
        f"seed {seed}: {item.kind} {item.pointer} {item.code} {item.level} {item.detail}"
        for seed in seeds_of(block, target)
        for item in problems_of(made_descriptor(source, seed), target, tmp_path / str(seed), seed)
    ]
    if lines:
        pytest.fail("\n".join([f"{len(lines)} problems", *lines[:SHOWN]]), pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize("source", FORMATS)
def test_the_exit_code_follows_the_gravest_finding(
    source: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    descriptor = made_descriptor(source, seed)
    folder = tmp_path / "source"
    reading = read_by_droidgate(descriptor, folder)
    written = str(folder / "tools.json" if source == "mcp" else folder)
    for target in TARGETS:
        conversion = convert(descriptor, reading, target)
        findings = [*conversion.reading, *conversion.findings]
        gravest = max((LEVELS.index(item.level) for item in findings), default=0)
        # The ends of the scale, and the levels around the change; `read` is not a threshold.
        for level in sorted({LEVELS[1], *LEVELS[gravest or 1 : gravest + 2], LEVELS[-1]}):
            capsys.readouterr()
            arguments = [written, "--to", target, "-o", str(tmp_path / target), "--json", "--fail-on", level]
            code = run(["convert", *arguments])
            printed = json.loads(capsys.readouterr().out)
            (conversion,) = printed["conversions"]
            reported = [
                (item["code"], item["level"], item["pointer"])
                for item in [*printed["reading"], *conversion["findings"]]
            ]
            assert reported == [(item.code, item.level, item.pointer) for item in findings]
            assert code == (1 if gravest >= LEVELS.index(level) else 0), (target, level)


_MANIFEST = f'<manifest {NAMESPACE} package="com.example.corpus"><application>{{}}</application></manifest>'
_MOBILE_MCP = service(NAME, DESCRIPTION, CAPABILITIES, attributes='android:exported="true"')
_APPFUNCTIONS = service_of(property_of("schema", "app_functions_schema.xsd"), property_of("v2", "f.xml"))


def app_of(protocol: str, text: str) -> Descriptor:
    """Return an app around a descriptor's text."""
    if protocol == "mobile-mcp":
        files = {"AndroidManifest.xml": _MANIFEST.format(_MOBILE_MCP), "res/xml/mcp_capabilities.xml": text}
    elif protocol == "mmcp":
        value = quoteattr(text.replace("\\", "\\\\").replace("'", "\\'"))
        component = component_xml(f"android:value={value}")
        files = {"AndroidManifest.xml": _MANIFEST.format(component)}
    else:
        files = {
            "AndroidManifest.xml": _MANIFEST.format(_APPFUNCTIONS),
            "assets/f.xml": text,
            "assets/app_functions_schema.xsd": APP_FUNCTIONS_SCHEMA,
        }
    return Descriptor(protocol, files)


TEXT, NUMBER = (parameter_of(typed("", kind)) for kind in (8, 6))
PARAM = '<param name="p" type="{}" required="true" description="P" />'
TWICE = f"<input>{PARAM.format('string')}{PARAM.format('integer')}</input>"


@titled(("protocol", "text"), {
    "a function twice": ("appfunctions", file_of(function_of(), function_of(TEXT))),
    "a parameter twice": ("appfunctions", file_of(function_of(TEXT + NUMBER))),
    "a scope in a service": ("appfunctions", file_of(function_of("<scope>activity</scope>"))),
    "a Mobile-MCP parameter twice": ("mobile-mcp",
        tool_descriptor(f'<capability id="c" description="C" version="1">{TWICE}</capability>')),
})  # fmt: skip
def test_what_a_reader_leaves_out_is_dropped(
    protocol: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    descriptor = app_of(protocol, text)
    conversion = convert(descriptor, read_by_droidgate(descriptor, tmp_path / "app"), "mmcp")
    reported = [*conversion.reading, *conversion.findings]
    dropped = [item for item in reported if reaches(item.level, "dropped") and item.level != "security"]
    assert dropped, reported
    arguments = [str(tmp_path / "app"), "--to", "mmcp", "-o", str(tmp_path / "out"), "--json"]
    assert run(["convert", *arguments, "--fail-on", "dropped"]) == 1
    capsys.readouterr()


SAMPLE_APPS = {"clock-in": "mobile-mcp", "pdf-tool": "mmcp", "notes": "appfunctions"}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def root_of(path: Path) -> str | None:
    try:
        tag = etree.fromstring(path.read_bytes()).tag
    except etree.XMLSyntaxError:
        return None
    return tag if isinstance(tag, str) else None


def descriptors_of_corpus(corpus: Path) -> Iterator[tuple[str, Descriptor]]:
    """Yield each descriptor that has the form of a default dialect, in an app of its own."""
    for path in sorted((corpus / "mobile_mcp").glob("*.xml")):
        if root_of(path) == "mobile-mcp-capabilities":
            yield path.name, app_of("mobile-mcp", text_of(path))
    for path in sorted((corpus / "mmcp").glob("*mMCP_manifest.json")):
        yield path.name, app_of("mmcp", text_of(path))
    for path in sorted((corpus / "appfunctions").glob("*.xml")):
        text = text_of(path)
        if root_of(path) == "appfunctions" and "<response>" in text and "<functionId>" in text:
            yield path.name, app_of("appfunctions", text)


def sample_app(name: str) -> Descriptor:
    main = CHECKOUT / "device_shim" / "apps" / name / "app" / "src" / "main"
    paths = [path for path in main.rglob("*") if path.suffix in {".xml", ".xsd", ".json"}]
    return Descriptor(SAMPLE_APPS[name], {path.relative_to(main).as_posix(): text_of(path) for path in paths})


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE_APPS)
def test_sample_apps_convert_as_reported(name: str, tmp_path: Path) -> None:
    assert [(to, item) for to in TARGETS for item in problems_of(sample_app(name), to, tmp_path)] == []


@pytest.mark.slow
@pytest.mark.requires("corpus")
def test_real_descriptors_convert_as_reported(tmp_path: Path) -> None:
    described = list(descriptors_of_corpus(require("corpus")))
    assert {item.protocol for _, item in described} == {"mobile-mcp", "mmcp", "appfunctions"}
    problems = [
        (name, target, problem)
        for number, (name, descriptor) in enumerate(described)
        for target in TARGETS
        for problem in problems_of(descriptor, target, tmp_path / str(number))
    ]
    assert problems == []


SEEDS_OF_A_PAIR: Final = 24
EXCEPTIONS: Final = {
    "mobile-mcp-permission": "the source's callers need a permission, and so do the target's",
    "mobile-mcp-exported": "the source's component is not exported, and so is the target's",
    "mobile-mcp-enabled": "the source's component is disabled, and so is the target's",
    "mmcp-exported": "the source's component is not exported, and so is the target's",
    "mmcp-enabled": "the source's component is disabled, and so is the target's",
    "appfunctions-service-disabled": "the source's component is disabled, and so is the target's",
}
"""Codes of lint that what is written may have, where its source has access rules: it carries them."""


def warnings_of(folder: Path) -> Iterator[Finding]:
    formats = tuple(load_formats().values())
    reading = read_source(str(folder), formats=formats)
    for item in check_reading(reading, formats, lambda path: Path(path).read_bytes()):
        if item.level in {Level.WARNING, Level.ERROR}:
            yield item


def warnings_of_conversion(descriptor: Descriptor, target: str, folder: Path) -> Iterator[str]:
    """Yield the warnings of what is written; those of a source of the same protocol are its own, and so is
    what is wrong with its schemas.
    """
    conversion = convert(descriptor, read_by_droidgate(descriptor, folder / "source"), target)
    write_tree(folder / "target", {**conversion.target.files})
    codes = {item.code for item in warnings_of(folder / "source")}
    own = {code for code in codes if descriptor.protocol == target or code.startswith("schema-")}
    if read_by_specification(descriptor).access:
        own |= EXCEPTIONS.keys()
    for item in warnings_of(folder / "target"):
        if item.code not in own:
            yield f"{item.level} {item.code} {item.pointer}: {item.message}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", FORMATS)
def test_what_is_written_has_no_warnings(source: str, target: str, tmp_path: Path) -> None:
    messages = [
        f"seed {seed}: {warning}"
        for seed in range(SEEDS_OF_A_PAIR)
        for warning in warnings_of_conversion(made_descriptor(source, seed), target, tmp_path / str(seed))
    ]
    codes = Counter(item.split(" ")[3] for item in messages)
    assert not messages, f"{codes}: {messages[:8]}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SAMPLE_APPS)
def test_sample_apps_are_written_without_warnings(name: str, target: str, tmp_path: Path) -> None:
    assert list(warnings_of_conversion(sample_app(name), target, tmp_path)) == []

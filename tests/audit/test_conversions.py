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


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write files below a folder."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")


def read_by_droidgate(descriptor: Descriptor, folder: Path) -> Providers:
    """Write a descriptor below a folder and let droidgate read it."""
    write_files(descriptor.files, folder)
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


_MANIFEST = (
    '<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="com.example.corpus">'
    "<application>{}</application></manifest>"
)
_MOBILE_MCP = (
    '<service android:name=".S" android:exported="true">'
    '<intent-filter><action android:name="mobile.mcp.SERVICE" /></intent-filter>'
    '<meta-data android:name="mobile.mcp.tool.name" android:value="Tool" />'
    '<meta-data android:name="mobile.mcp.tool.description" android:value="What it does" />'
    '<meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/capabilities" /></service>'
)
_APPFUNCTIONS = (
    '<service android:name=".F" android:exported="true" '
    'android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">'
    '<property android:name="android.app.appfunctions.schema" android:value="app_functions_schema.xsd" />'
    '<property android:name="android.app.appfunctions.v2" android:value="f.xml" />'
    '<intent-filter><action android:name="android.app.appfunctions.AppFunctionService" /></intent-filter>'
    "</service>"
)
_MMCP = (
    '<activity android:name=".A" android:exported="true"><intent-filter>'
    '<action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE" />'
    '<action android:name="com.example.mMCP.ACTION_TOOL_CALL" />'
    '<category android:name="android.intent.category.DEFAULT" /></intent-filter>'
    '<meta-data android:name="mMCP_manifest" android:value={} /></activity>'
)


def app_of(protocol: str, text: str) -> Descriptor:
    """Return an app around a descriptor's text, or around the elements in its root."""
    if protocol == "mobile-mcp":
        if not text.lstrip().startswith(("<?xml", "<mobile-mcp-capabilities", "<!--")):
            text = f'<mobile-mcp-capabilities version="1.0">{text}</mobile-mcp-capabilities>'
        files = {"AndroidManifest.xml": _MANIFEST.format(_MOBILE_MCP), "res/xml/capabilities.xml": text}
    elif protocol == "mmcp":
        value = quoteattr(text.replace("\\", "\\\\").replace("'", "\\'"))
        files = {"AndroidManifest.xml": _MANIFEST.format(_MMCP.format(value))}
    else:
        files = {
            "AndroidManifest.xml": _MANIFEST.format(_APPFUNCTIONS),
            "assets/f.xml": text if "<appfunctions" in text else f"<appfunctions>{text}</appfunctions>",
            "assets/app_functions_schema.xsd": APP_FUNCTIONS_SCHEMA,
        }
    return Descriptor(protocol, files)


FUNCTION = (
    "<appfunction><id>f</id><enabledByDefault>true</enabledByDefault>{}"
    "<functionId>f</functionId></appfunction>"
)
RESPONSE = (
    "<response><id>unused</id><valueType><id>unused</id><isNullable>false</isNullable><type>0</type>"
    "</valueType></response>"
)
PARAMETER = (
    "<parameters><dataTypeMetadata><id>unused</id><isNullable>false</isNullable><type>{}</type></dataTypeMetadata>"
    "<id>unused</id><isRequired>true</isRequired><name>p</name></parameters>"
)
CAPABILITY = '<capability id="c" description="C" version="1">{}</capability>'
PARAM = '<param name="p" type="{}" required="true" description="P" />'


@titled(("protocol", "inner"), {
    "a function twice": ("appfunctions",
        FUNCTION.format(RESPONSE) + FUNCTION.format(PARAMETER.format(8) + RESPONSE)),
    "a parameter twice": ("appfunctions",
        FUNCTION.format(PARAMETER.format(8) + PARAMETER.format(6) + RESPONSE)),
    "a scope in a service": ("appfunctions", FUNCTION.format(f"<scope>activity</scope>{RESPONSE}")),
    "a Mobile-MCP parameter twice": ("mobile-mcp",
        CAPABILITY.format(f"<input>{PARAM.format('string')}{PARAM.format('integer')}</input>")),
})  # fmt: skip
def test_what_a_reader_leaves_out_is_dropped(
    protocol: str, inner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    descriptor = app_of(protocol, inner)
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
    write_files(conversion.target.files, folder / "target")
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

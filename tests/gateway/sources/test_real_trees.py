"""Sample apps, aapt2 and the corpus of real manifests."""

from pathlib import Path

import pytest

from adapters.parsing.compiled_with_aapt2 import (
    TYPE_REFERENCE,
    CompiledValue,
    compile_application,
    elements_of_xml,
    strings_by_id,
)
from droidgate.sources import read_source
from droidgate.sources.android_project import application_from_tree
from droidgate.sources.text_manifest import is_manifest
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import load_formats
from droidgate_phone.apps.sample_apps import sample_apps_directory
from gateway.sources.formats_of_tests import read
from requirements_of_tests import require

SOURCE_SETS = sorted(path.parent for path in sample_apps_directory().glob("*/*/src/main/AndroidManifest.xml"))
MISSPELLED_SAMPLES = {"lzx1413__clawseed__docs__en__cetp-provider-tutorial__sample-5@06bebf7.xml"}


@pytest.mark.parametrize("app", ["clock-in", "notes", "pdf-tool", "weather"])
def test_every_module_of_a_sample_app_is_an_application(app: str) -> None:
    reading = read(sample_apps_directory() / app)
    assert reading.problems == ()
    assert reading.findings == ()
    for application in reading.applications:
        assert application.package is not None
        assert application.package.startswith("dev.droidgate.sample.")
        assert application.label
        assert application.loose_assets == ()


@pytest.mark.parametrize(
    ("app", "protocols"),
    [
        ("clock-in", ["mobile-mcp"]),
        ("notes", ["appfunctions", "appfunctions"]),
        ("pdf-tool", ["mmcp"]),
        ("weather", []),
    ],
)
def test_the_installed_formats_find_the_providers_of_the_sample_apps(app: str, protocols: list[str]) -> None:
    reading = read_source(str(sample_apps_directory() / app))
    assert reading.problems == ()
    assert [item.protocol for item in reading.providers] == protocols
    for provider in reading.providers:
        assert provider.package is not None
        assert provider.source is not None
        assert Path(provider.source.path).is_file()
        assert provider.capabilities


@pytest.mark.requires("aapt2", "framework-res")
@pytest.mark.parametrize("source_set", SOURCE_SETS, ids=lambda path: "-".join(path.parts[-5:-2]))
def test_meta_data_has_the_values_that_aapt2_compiles(source_set: Path, tmp_path: Path) -> None:
    """The other side is the compiled manifest, with references looked up in the compiled table."""
    names = [path for path in source_set.rglob("*") if path.is_file() and "java" not in path.parts]
    tree = {path.relative_to(source_set).as_posix(): path.read_bytes() for path in names}
    apk = compile_application({name: data.decode() for name, data in tree.items()}, tmp_path)
    strings = {key: text for key, (_, text) in strings_by_id(apk["resources.arsc"]).items()}
    compiled = [
        (attributes["name"].text, attributes.get("value"))
        for element, attributes in elements_of_xml(apk["AndroidManifest.xml"])
        if element in {"meta-data", "property"}
    ]
    application = application_from_tree(tree)
    kept = [
        (meta.name, meta.value)
        for component in application.components
        for meta in (*component.properties, *component.meta_data)
    ]
    assert sorted(name for name, _ in kept) == sorted(name for name, _ in compiled if name is not None)
    values = dict(compiled)
    for name, value in kept:
        assert agrees(value, values[name], strings)


def agrees(value: object, compiled: CompiledValue | None, strings: dict[int, str]) -> bool:
    """Return whether a value is the compiled value, or the string to which that refers."""
    if compiled is None:
        return value is None
    return value == (strings[compiled.data] if compiled.type == TYPE_REFERENCE else compiled.in_a_bundle())


def corpus_manifests() -> list[Path]:
    return sorted(path for path in require("corpus").rglob("*.xml") if is_manifest(path.read_bytes()))


@pytest.mark.requires("corpus")
def test_every_manifest_of_the_corpus_is_read() -> None:
    manifests = corpus_manifests()
    assert len(manifests) > 60
    applications: dict[str, Application] = {}
    for path in manifests:
        if path.name not in MISSPELLED_SAMPLES:
            (applications[path.name],) = read(path).applications
    assert sum(len(item.components) for item in applications.values()) > 300
    sample = applications["block__goose-mobile__mMCP-spec__SPECIFICATION__sample-1@4e610d6.xml"]
    assert sample.components[1].has_action("com.example.mMCP.ACTION_TOOL_ADVERTISE")


@pytest.mark.requires("corpus")
@pytest.mark.parametrize("folder", ["appfunctions", "mmcp", "mobile_mcp", "other"])
def test_the_corpus_is_read_as_a_folder_with_the_installed_formats(folder: str) -> None:
    reading = read_source(str(require("corpus") / folder))
    assert reading.applications
    if folder.replace("_", "-") in load_formats():
        assert reading.providers
    for problem in reading.problems:
        assert problem.place
        assert str(require("corpus") / folder) in problem.place

"""Sample apps, aapt2 and the corpus of real manifests."""

import csv
import subprocess
import zipfile
from pathlib import Path

import pytest

from droidgate.sources import read_source
from droidgate_android.projects.android_project import application_from_tree
from droidgate_android.projects.resources import SourceResources, SourceSet
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.errors import InputError
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.sources.formats_of_tests import write_tree
from mappings.text.compiled_with_aapt2 import (
    TYPE_REFERENCE,
    CompiledValue,
    compile_application,
    elements_of_xml,
    strings_by_id,
    strings_of_table,
)
from requirements_of_tests import require

SOURCE_SETS = sorted(path.parent for path in sample_apps_directory().glob("*/*/src/main/AndroidManifest.xml"))


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
    declared = [
        (meta.name, meta.value)
        for component in application.components
        for meta in (*component.properties, *component.meta_data)
    ]
    assert sorted(name for name, _ in declared) == sorted(name for name, _ in compiled if name is not None)
    values = dict(compiled)
    for name, value in declared:
        assert agrees(value, values[name], strings)


def agrees(value: object, compiled: CompiledValue | None, strings: dict[int, str]) -> bool:
    """Return whether a value is the compiled value, or the string to which that refers."""
    if compiled is None:
        return value is None
    return value == (strings[compiled.data] if compiled.type == TYPE_REFERENCE else compiled.in_a_bundle())


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


# Resources of an app over those of its libraries, held to aapt2's overlays


NAMES = ("all", "app_two", "one_two", "two", "qualified")
LAYERS = {
    "app": {"values": {"all": "app", "app_two": "app"}, "values-de": {"qualified": "app in German"}},
    "one": {"values": {"all": "one", "one_two": "one"}},
    "two": {"values": {"all": "two", "app_two": "two", "one_two": "two", "two": "two", "qualified": "two"}},
}
"""Strings by qualifier, the layer with the highest priority first."""


def values_file(strings: dict[str, str]) -> str:
    texts = (f'<string name="{name}">{text}</string>' for name, text in strings.items())
    return f"<resources>{''.join(texts)}</resources>"


def files_of(layer: str) -> dict[str, bytes]:
    return {f"res/{folder}/s.xml": values_file(strings).encode() for folder, strings in LAYERS[layer].items()}


def linked(folder: Path) -> dict[str, str]:
    """Return the default strings after linking: the later of two overlays wins."""
    aapt2, framework = require("aapt2"), require("framework-res")
    manifest = folder / "AndroidManifest.xml"
    manifest.write_text('<manifest package="dev.app"/>')
    overlays: list[str] = []
    for layer in reversed(LAYERS):
        write_tree(folder / layer, files_of(layer))
        compiled = folder / f"{layer}.zip"
        run(aapt2, "compile", "--dir", folder / layer / "res", "-o", compiled)
        overlays += ["-R", str(compiled)]
    apk = folder / "linked.apk"
    run(aapt2, "link", "-o", apk, "-I", framework, "--manifest", manifest, "--auto-add-overlay", *overlays)
    with zipfile.ZipFile(apk) as archive:
        return strings_of_table(archive.read("resources.arsc"))


def run(*command: object) -> None:
    subprocess.run([str(item) for item in command], check=True, capture_output=True, timeout=60)


@pytest.mark.requires("aapt2", "framework-res")
def test_each_string_is_that_of_the_highest_layer_that_has_it(tmp_path: Path) -> None:
    resources = SourceResources(tuple(SourceSet(files_of(layer), layer) for layer in LAYERS))
    assert {name: resources.read_text(f"@string/{name}") for name in NAMES} == linked(tmp_path)


# Files of the corpus that are of no described protocol. `corpus_outcomes.tsv`, typed by hand, has what each
# is read as, or why it is refused; what is read from each is pinned in tests/golden/corpus/other.tsv.


with (Path(__file__).parent / "corpus_outcomes.tsv").open(encoding="utf-8", newline="") as table:
    OUTCOMES = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.requires("corpus")
def test_every_file_has_its_outcome_and_a_reason() -> None:
    names = {path.name for path in (require("corpus") / "other").iterdir()} - {"index.tsv"}
    assert names == {item["file"] for item in OUTCOMES}
    assert all(item["why"] for item in OUTCOMES)


@pytest.mark.requires("corpus")
@pytest.mark.parametrize("row", OUTCOMES, ids=lambda row: row["file"])
def test_each_file_has_the_outcome_of_its_row(row: dict[str, str]) -> None:
    path = str(require("corpus") / "other" / row["file"])
    if row["outcome"] == "refused":
        with pytest.raises(InputError) as refused:
            read_source(path)
        assert row["told"] in refused.value.message
        return
    providers = read_source(path).providers
    expected = [tuple(item.split("+")) if "+" in item else ("observed", item) for item in row["told"].split()]
    assert [(item.protocol, item.dialect) for item in providers] == expected

"""Resources of an app over those of its libraries, held to aapt2's overlays."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from adapters.parsing.compiled_with_aapt2 import strings_of_table
from droidgate.sources.resources import SourceResources, SourceSet
from requirements_of_tests import require

NAMES = ("all", "app_two", "one_two", "two", "qualified")
LAYERS = {
    "app": {"values": {"all": "app", "app_two": "app"}, "values-de": {"qualified": "app in German"}},
    "one": {"values": {"all": "one", "one_two": "one"}},
    "two": {"values": {"all": "two", "app_two": "two", "one_two": "two", "two": "two", "qualified": "two"}},
}
"""Strings by qualifier, the layer with the highest priority first."""


def values_file(strings: dict[str, str]) -> str:
    return (
        "<resources>"
        + "".join(f'<string name="{k}">{v}</string>' for k, v in strings.items())
        + "</resources>"
    )


def files_of(layer: str) -> dict[str, bytes]:
    return {f"res/{folder}/s.xml": values_file(strings).encode() for folder, strings in LAYERS[layer].items()}


def linked(folder: Path) -> dict[str, str]:
    """Return the default strings after linking: the later of two overlays wins."""
    aapt2, framework = require("aapt2"), require("framework-res")
    manifest = folder / "AndroidManifest.xml"
    manifest.write_text('<manifest package="dev.app"/>')
    overlays: list[str] = []
    for layer in reversed(LAYERS):
        for name, data in files_of(layer).items():
            path = folder / layer / name
            path.parent.mkdir(parents=True)
            path.write_bytes(data)
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

"""Android's own compiler takes what is written, and a device sees the texts that were meant."""

import subprocess
from pathlib import Path

import pytest

from adapters.mobile_mcp.tools import DIALECTS, read_back, write
from adapters.parsing.compiled_with_aapt2 import (
    coerced,
    compile_application,
    elements_of_xml,
    strings_of_table,
)
from droidgate_mappings.model.capability import Capability, Provider
from model_types import properties_of, record, required, string
from requirements_of_tests import require
from strategies import NAMES, TEXTS

pytestmark = pytest.mark.requires("aapt2", "framework-res")

HOSTILE = (
    *TEXTS, "@null", "@empty", "@+id/x", "?x", "007", "7", "1.10", "10dp", "50%", "#fff", "1.0", "TRUE",
    " 7 ", "\\", "é" * 300,
)  # fmt: skip


def wild_provider() -> Provider:
    properties = {
        name: required(string(description=text)) for name, text in zip(NAMES, HOSTILE, strict=False)
    }
    capabilities = [Capability(id=name, description="D", version="1") for name in NAMES]
    capabilities += [
        Capability(id=f"text{number}", description=text, version=text, input=record(properties))
        for number, text in enumerate(HOSTILE)
    ]
    return Provider(
        protocol="test",
        package="com.example.lamp",
        name='100% "it\'s" 007',
        description="@string/x\n",
        capabilities=tuple(capabilities),
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_device_gives_the_texts_that_were_written(dialect: str, tmp_path: Path) -> None:
    writing = write(wild_provider(), dialect)
    archive = compile_application({item.path: item.text for item in writing.artifacts}, tmp_path)
    compiled = [
        (tag, {name: coerced(value) for name, value in kept.items()})
        for tag, kept in elements_of_xml(archive["res/xml/mcp_capabilities.xml"])
    ]
    expected: list[tuple[str, dict[str, str]]] = []
    for item in writing.provider.capabilities:
        named = {"id": item.id, "description": item.description or "", "version": item.version or ""}
        expected.append(("capability", named))
        if properties_of(item.input):
            expected.append(("input", {}))
        for name, kept in properties_of(item.input).items():
            stated = {"name": name, "type": "string", "required": "true"}
            expected.append(("param", {**stated, "description": kept.type.description or ""}))
    assert compiled[1:] == expected
    assert compiled[0][1].get("version") == {"1.0": "1.0", "1.0-input": "1.0"}.get(dialect)
    strings = strings_of_table(archive["resources.arsc"])
    assert strings["mobile_mcp_tool_name"] == writing.provider.name
    assert strings["mobile_mcp_tool_description"] == writing.provider.description


def test_xmltree_shows_the_manifest_and_the_descriptor(tmp_path: Path) -> None:
    provider = Provider(
        protocol="test",
        package="com.example.lamp",
        name="Lamp",
        capabilities=(Capability(id="switch", description="Switches it", version="3"),),
    )
    compile_application({item.path: item.text for item in write(provider).artifacts}, tmp_path)

    def dump(name: str) -> str:
        command = [str(require("aapt2")), "dump", "xmltree", str(tmp_path / "linked.apk"), "--file", name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    tree = dump("res/xml/mcp_capabilities.xml")
    assert 'A: description="Switches it"' in tree
    assert 'A: id="switch"' in tree
    assert "A: version=3" in tree
    manifest = dump("AndroidManifest.xml")
    assert '"mobile.mcp.SERVICE"' in manifest
    assert ')=".MobileMcpToolService"' in manifest or "com.example.lamp.MobileMcpToolService" in manifest


def description_of(archive: dict[str, bytes]) -> str | None:
    """Return the description of the only capability."""
    elements = elements_of_xml(archive["res/xml/mcp_capabilities.xml"])
    (text,) = [kept["description"].text for tag, kept in elements if tag == "capability"]
    return text


def test_longer_texts_are_lost_by_the_compiler_which_is_why_they_are_cut(tmp_path: Path) -> None:
    capability = Capability(id="c", description="é" * 30_000, version="1")
    provider = Provider(
        protocol="test", package="com.example.lamp", name="n" * 40_000, capabilities=(capability,)
    )
    writing = write(provider)
    files = {item.path: item.text for item in writing.artifacts}
    compiled = description_of(compile_application(files, tmp_path))
    assert compiled == writing.provider.capabilities[0].description
    files["res/xml/mcp_capabilities.xml"] = files["res/xml/mcp_capabilities.xml"].replace("…", "é" * 100)
    archive = compile_application(files, tmp_path)
    assert description_of(archive) == "STRING_TOO_LARGE"
    elements = elements_of_xml(archive["AndroidManifest.xml"])
    values = [kept["value"].text for tag, kept in elements if tag == "meta-data" and "value" in kept]
    assert "n" * 32_767 + "…" in values
    assert read_back(writing).name == "n" * 32_767 + "…"

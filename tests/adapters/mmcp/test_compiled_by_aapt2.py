"""Android's own compiler takes what is written, and a device sees the JSON that was meant."""

import json
from pathlib import Path

import pytest

from adapters.mmcp.mmcp_apps import artifact
from adapters.parsing.compiled_with_aapt2 import compile_application, elements_of_xml
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ObjectType, Property, ScalarType
from droidgate_mmcp.format import FORMAT
from strategies import NAMES, TEXTS

pytestmark = pytest.mark.requires("aapt2", "framework-res")

HOSTILE = (
    *(text for text in TEXTS if text.strip()),
    "all \"quotes\" and 'apostrophes'", "C:\\new\\table\\u0041", "\U0001f600\U0001f468\u200d\U0001f469",
    "first\nsecond\r\n\tthird", "@string/app_name", "?attr/x", "100% ${applicationId} %1$s",
    "half a pair \ud83d alone",
)  # fmt: skip


def provider_with(text: str) -> Provider:
    properties = {name: Property(type=ScalarType(kind="string", description=text)) for name in NAMES}
    # As read from mMCP, so that ids stay what they are.
    return Provider(
        protocol="mmcp",
        dialect="1.0",
        package="com.example.app",
        component=".MmcpToolActivity",
        name=text,
        instructions=text,
        capabilities=(Capability(id=text, description=text, input=ObjectType(properties=properties)),),
    )


def compiled(
    provider: Provider, dialect: str, folder: Path
) -> tuple[list[tuple[str, dict[str, Json]]], Json]:
    assert FORMAT.write is not None
    writing = FORMAT.write(provider, FORMAT.dialect(dialect))
    files = {
        "AndroidManifest.xml": artifact(writing, "AndroidManifest.xml"),
        "res/values/s.xml": '<resources><string name="x">x</string></resources>',
    }
    archive = compile_application(files, folder)
    elements = [
        (name, {key: value.in_a_bundle() for key, value in kept.items()})
        for name, kept in elements_of_xml(archive["AndroidManifest.xml"])
        if name in {"activity", "service", "receiver", "action", "category", "meta-data"}
    ]
    return elements, writing


@pytest.mark.parametrize("dialect", ["1.0", "draft"])
@pytest.mark.parametrize("text", HOSTILE)
def test_the_compiled_value_is_the_json_that_was_meant(text: str, dialect: str, tmp_path: Path) -> None:
    elements, writing = compiled(provider_with(text), dialect, tmp_path)
    (value,) = [kept["value"] for name, kept in elements if name == "meta-data"]
    manifest = json.loads(value)
    assert manifest == json.loads(artifact(writing, "mmcp_manifest.json"))
    assert manifest["instructions" if dialect == "1.0" else "appDescription"] == text
    (tool,) = manifest["tools"]
    assert (tool["name"], tool["description"]) == (text, text)
    assert {
        key: kept["description"] for key, kept in tool["parameters"]["properties"].items()
    } == dict.fromkeys(dict.fromkeys(NAMES), text)


@pytest.mark.parametrize("text", HOSTILE)
def test_the_compiled_label_is_the_name(text: str, tmp_path: Path) -> None:
    elements, writing = compiled(provider_with(text), "broadcast", tmp_path)
    (receiver,) = [kept for name, kept in elements if name == "receiver"]
    assert receiver["label"] == writing.provider.name


def test_the_compiled_activity_is_as_sections_2_and_3_ask(tmp_path: Path) -> None:
    elements, _ = compiled(provider_with("Greets"), "1.0", tmp_path)
    assert [(name, kept["name"]) for name, kept in elements] == [
        ("activity", ".MmcpToolActivity"),
        ("action", "com.example.mMCP.ACTION_TOOL_ADVERTISE"),
        ("action", "com.example.mMCP.ACTION_TOOL_CALL"),
        ("category", "android.intent.category.DEFAULT"),
        ("meta-data", "mMCP_manifest"),
    ]
    assert elements[0][1]["exported"] is True


def test_the_compiled_receiver_hears_both_broadcasts(tmp_path: Path) -> None:
    elements, _ = compiled(provider_with("Greets"), "broadcast", tmp_path)
    assert [(name, kept["name"]) for name, kept in elements] == [
        ("receiver", ".MmcpToolReceiver"),
        ("action", "com.example.ACTION_MMCP_DISCOVERY"),
        ("action", "com.example.ACTION_MMCP_INVOKE"),
    ]
    assert elements[0][1]["exported"] is True

"""Android's own compiler takes what is written, and a device sees the JSON that was meant."""

import json
from pathlib import Path

import pytest

from adapters.mmcp.mmcp_apps import artifact
from adapters.parsing.compiled_with_aapt2 import compile_application, elements_of_xml
from droidgate_mappings.formats.format import Writing
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.json_values import Json
from mappings.model.capacities import write_for
from model_types import optional, record, string
from strategies import NAMES, TEXTS

pytestmark = pytest.mark.requires("aapt2", "framework-res")

HOSTILE = (
    *(text for text in TEXTS if text.strip()),
    "all \"quotes\" and 'apostrophes'", "C:\\new\\table\\u0041", "\U0001f600\U0001f468\u200d\U0001f469",
    "first\nsecond\r\n\tthird", "@string/app_name", "?attr/x", "100% ${applicationId} %1$s",
    "half a pair \ud83d alone",
)  # fmt: skip


def provider_with(text: str) -> Provider:
    properties = {name: optional(string(description=text)) for name in NAMES}
    # As read from mMCP, so that ids stay what they are.
    return Provider(
        protocol="mmcp",
        dialect="1.0",
        package="com.example.app",
        component=".MmcpToolActivity",
        name=text,
        instructions=text,
        capabilities=(Capability(id=text, description=text, input=record(properties)),),
    )


def compiled(
    provider: Provider, dialect: str, folder: Path
) -> tuple[list[tuple[str, dict[str, Json]]], Writing]:
    writing = write_for(provider, f"mmcp+{dialect}")
    strings = '<resources><string name="x">x</string></resources>'
    files = {"AndroidManifest.xml": artifact(writing, "AndroidManifest.xml"), "res/values/s.xml": strings}
    elements = [
        (name, {key: value.in_a_bundle() for key, value in kept.items()})
        for name, kept in elements_of_xml(compile_application(files, folder)["AndroidManifest.xml"])
        if name in {"activity", "service", "receiver", "action", "category", "meta-data"}
    ]
    return elements, writing


@pytest.mark.parametrize(("dialect", "key"), [("1.0", "instructions"), ("draft", "appDescription")])
@pytest.mark.parametrize("text", HOSTILE)
def test_the_compiled_value_is_the_json_that_was_meant(
    text: str, dialect: str, key: str, tmp_path: Path
) -> None:
    elements, writing = compiled(provider_with(text), dialect, tmp_path)
    (value,) = [kept["value"] for name, kept in elements if name == "meta-data"]
    manifest = json.loads(value)
    assert manifest == json.loads(artifact(writing, "mmcp_manifest.json"))
    (tool,) = manifest["tools"]
    assert (manifest[key], tool["name"], tool["description"]) == (text, text, text)
    descriptions = {name: kept["description"] for name, kept in tool["parameters"]["properties"].items()}
    assert descriptions == dict.fromkeys(NAMES, text)


@pytest.mark.parametrize("text", HOSTILE)
def test_the_compiled_label_is_the_name(text: str, tmp_path: Path) -> None:
    elements, writing = compiled(provider_with(text), "broadcast", tmp_path)
    (receiver,) = [kept for name, kept in elements if name == "receiver"]
    assert receiver["label"] == writing.provider.name


@pytest.mark.parametrize(("dialect", "expected"), [
    ("1.0", [
        ("activity", ".MmcpToolActivity"),
        ("action", "com.example.mMCP.ACTION_TOOL_ADVERTISE"),
        ("action", "com.example.mMCP.ACTION_TOOL_CALL"),
        ("category", "android.intent.category.DEFAULT"),
        ("meta-data", "mMCP_manifest"),
    ]),
    ("broadcast", [
        ("receiver", ".MmcpToolReceiver"),
        ("action", "com.example.ACTION_MMCP_DISCOVERY"),
        ("action", "com.example.ACTION_MMCP_INVOKE"),
    ]),
])  # fmt: skip
def test_the_compiled_component_is_as_sections_2_and_3_ask(
    dialect: str, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    elements, _ = compiled(provider_with("Greets"), dialect, tmp_path)
    assert [(name, kept["name"]) for name, kept in elements] == expected
    assert elements[0][1]["exported"] is True

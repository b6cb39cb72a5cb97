"""Android's own compiler takes what is written, and a device sees the texts that were meant."""

from pathlib import Path

import pytest

from adapters.appfunctions.function_files import write_in
from adapters.parsing.compiled_with_aapt2 import compile_application, elements_of_xml, strings_of_table
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.model.capability import Capability, Provider
from strategies import TEXTS

pytestmark = pytest.mark.requires("aapt2", "framework-res")

PLAIN = [
    text
    for text in TEXTS
    if not any((ord(item) < 32 and item not in "\t\n\r") or item in "\ufffe\uffff" for item in text)
]


@pytest.mark.parametrize("dialect", [item.id for item in FORMAT.dialects])
@pytest.mark.parametrize("text", PLAIN)
def test_texts_survive_the_compiler(text: str, dialect: str, tmp_path: Path) -> None:
    provider = Provider(
        protocol="test",
        package="com.example.app",
        name=text,
        description=text,
        instructions=text,
        capabilities=(Capability(id="f"),),
    )
    files = {
        item.path: item.text for item in write_in(provider, dialect).artifacts if "assets" not in item.path
    }
    archive = compile_application(files, tmp_path)
    elements = list(elements_of_xml(archive["AndroidManifest.xml"]))
    labelled = "application" if dialect == "app-level" else "service"
    (kept,) = [attributes for name, attributes in elements if name == labelled]
    assert kept["label"].text == text
    (guidance,) = [
        item for name, item in elements_of_xml(archive["res/xml/app_metadata.xml"]) if name[0] == "A"
    ]
    assert guidance["description"].text == text
    assert strings_of_table(archive["resources.arsc"]) == {"app_functions_description": text}
    named = {item["name"].text for name, item in elements if name == "property"}
    assert named >= {"android.app.appfunctions.app_metadata"}

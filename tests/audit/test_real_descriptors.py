"""The same audit on descriptors of real apps (the corpus) and of the sample apps."""

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from lxml import etree

from audit.comparison import compare
from audit.conversions import TARGETS, convert, read_by_droidgate, read_by_specification
from audit.instance_audit import problems_of_instances, problems_of_visibility
from audit.leaf_audit import problems_of_leaves
from audit.made_appfunctions import schema_file
from audit.made_descriptors import Descriptor
from requirements_of_tests import CHECKOUT, require

SAMPLES = CHECKOUT / "device_shim" / "apps"
SAMPLE_APPS = {"clock-in": "mobile-mcp", "pdf-tool": "mmcp", "notes": "appfunctions"}
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


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def root_of(path: Path) -> str | None:
    try:
        tag = etree.fromstring(path.read_bytes()).tag
    except etree.XMLSyntaxError:
        return None
    return tag if isinstance(tag, str) else None


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
            "assets/app_functions_schema.xsd": schema_file(),
        }
    return Descriptor(protocol, files)


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
    main = SAMPLES / name / "app" / "src" / "main"
    paths = [path for path in main.rglob("*") if path.suffix in {".xml", ".xsd", ".json"}]
    return Descriptor(SAMPLE_APPS[name], {path.relative_to(main).as_posix(): text_of(path) for path in paths})


def problems_of(descriptor: Descriptor, folder: Path) -> list[str]:
    found: list[str] = []
    for target in TARGETS:
        conversion = convert(descriptor, read_by_droidgate(descriptor, folder), target)
        source, written = read_by_specification(descriptor), read_by_specification(conversion.target)
        sides = compare(source, written, conversion.findings, conversion.renamed)
        problems = [
            *problems_of_leaves(sides),
            *problems_of_instances(sides, 0),
            *problems_of_visibility(sides),
        ]
        found.extend(f"{target}: {problem}" for problem in problems)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE_APPS)
def test_sample_apps_convert_as_reported(name: str, tmp_path: Path) -> None:
    assert problems_of(sample_app(name), tmp_path) == []


@pytest.mark.slow
@pytest.mark.requires("corpus")
def test_real_descriptors_convert_as_reported(tmp_path: Path) -> None:
    corpus = require("corpus")
    described = list(descriptors_of_corpus(corpus))
    assert {item.protocol for _, item in described} == {"mobile-mcp", "mmcp", "appfunctions"}
    found = {
        name: problems
        for number, (name, descriptor) in enumerate(described)
        if (problems := problems_of(descriptor, tmp_path / str(number)))
    }
    assert found == {}

"""Apps and manifests in memory, and ways to read them."""

import json
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.component_reading import read_access
from droidgate_mappings.formats.format import Reading, SourceFile, Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mmcp.discovery import read_discovery
from droidgate_mmcp.format import FORMAT

ADVERTISE = "com.example.mMCP.ACTION_TOOL_ADVERTISE"
CALL = "com.example.mMCP.ACTION_TOOL_CALL"
DEFAULT = "android.intent.category.DEFAULT"
NAMESPACE = 'xmlns:android="http://schemas.android.com/apk/res/android"'

GREET: Mapping[str, Json] = {
    "name": "greet",
    "description": "Greets somebody",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "Whom to greet"}},
        "required": ["name"],
    },
}


def manifest_of(*tools: Mapping[str, Json], **keys: Json) -> dict[str, Json]:
    return {"instructions": "Greets", "protocolVersion": "1.0", "tools": list(tools), **keys}


def component_xml(
    meta_data: str | None,
    *,
    element: str = "activity",
    attributes: str = 'android:exported="true"',
    actions: tuple[str, ...] = (ADVERTISE, CALL),
    categories: tuple[str, ...] = (DEFAULT,),
) -> str:
    filters = "".join(f'<action android:name="{item}"/>' for item in actions)
    filters += "".join(f'<category android:name="{item}"/>' for item in categories)
    xml = f'<meta-data android:name="mMCP_manifest" {meta_data}/>' if meta_data is not None else ""
    inner = f"<intent-filter>{filters}</intent-filter>{xml}"
    return f'<{element} android:name=".Tools" {attributes}>{inner}</{element}>'


def value_xml(value: Json) -> str:
    """An `android:value` as a careful author writes it: every backslash twice."""
    return "android:value=" + quoteattr(json.dumps(value).replace("\\", "\\\\"))


def application(*components: str, **files: str) -> Application:
    inner = f"<application>{''.join(components)}</application>"
    manifest = f'<manifest {NAMESPACE} package="com.example.app">{inner}</manifest>'
    tree = {"AndroidManifest.xml": manifest.encode(), **{path: text.encode() for path, text in files.items()}}
    return application_from_tree(tree)


def read_app(source: Application, *, strict: bool = False) -> Reading:
    return FORMAT.read_application(source, ReadingContext(strict=strict))


def read_json(value: Json, *, strict: bool = False) -> Reading:
    text = value if isinstance(value, str) else json.dumps(value)
    return FORMAT.read_file(SourceFile("tools.json", text.encode()), ReadingContext(strict=strict))


def only(reading: Reading) -> Provider:
    assert len(reading.providers) == 1
    return reading.providers[0]


def rows_of(reading: Reading) -> list[str | None]:
    return [finding.rule for finding in reading.findings]


def artifact(writing: Writing, path: str) -> str:
    (text,) = [item.text for item in writing.artifacts if item.path == path]
    return text


def read_back(writing: Writing) -> Provider:
    """Read what was written, strictly: the app, the JSON alone, or the receiver with its answer."""
    texts = {item.path: item.text for item in writing.artifacts}
    if "AndroidManifest.xml" not in texts:
        return only(read_json(texts["mmcp_manifest.json"], strict=True))
    parts = {item.path: item.text.encode() for item in writing.artifacts if item.role != "document"}
    app = application_from_tree(parts)
    if "mmcp_discovery.json" not in texts:
        return only(read_app(app, strict=True))
    (receiver,) = app.of_kind("receiver")
    answer = json.loads(texts["mmcp_discovery.json"])
    place, names = Place(path="answer"), {"package": app.package, "component": receiver.name}
    read = read_discovery(answer, ReadingContext(strict=True), place=place, **names)
    return read.model_copy(update={"name": receiver.label, "access": read_access(app, receiver)})

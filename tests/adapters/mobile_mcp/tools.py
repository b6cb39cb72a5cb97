"""Descriptors and apps in memory, and ways to read them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Reading, SourceFile, Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mobile_mcp.format import FORMAT
from mappings.fit.capacities import write_for

DIALECTS = tuple(dialect.id for dialect in FORMAT.dialects)
NAMESPACE = 'xmlns:android="http://schemas.android.com/apk/res/android"'
ACTION = "mobile.mcp.SERVICE"
OLDER_ACTION = "com.example.mcpdemo.COMMAND_GATEWAY"
NAME = '<meta-data android:name="mobile.mcp.tool.name" android:value="Lamp"/>'
DESCRIPTION = '<meta-data android:name="mobile.mcp.tool.description" android:value="Switches the lamp"/>'
CAPABILITIES = (
    '<meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/mcp_capabilities"/>'
)
SWITCH = '<capability id="switch" description="Switches it" version="1.0"/>'
FULL = """<?xml version="1.0" encoding="utf-8"?>
<mobile-mcp-capabilities version="1.0">
    <capability id="dim" description="Dims the lamp" version="2.1">
        <input>
            <param name="percent" type="integer" required="true" description="How bright"/>
            <param name="slowly" type="boolean" required="false" description="Over a minute"/>
        </input>
        <output>
            <param name="before" type="number" description="How bright it was"/>
        </output>
    </capability>
    <capability id="off" description="Switches it off" version="1"/>
</mobile-mcp-capabilities>
"""
"""A descriptor that keeps every rule of section 1.2."""


def descriptor(*elements: str, root: str = 'mobile-mcp-capabilities version="1.0"') -> str:
    return f"<{root}>{''.join(elements)}</{root.split(maxsplit=1)[0]}>"


def read_text(text: str | bytes, *, strict: bool = False) -> Reading:
    data = text.encode() if isinstance(text, str) else text
    return FORMAT.read_file(SourceFile("caps.xml", data), ReadingContext(strict=strict))


def provider_of(text: str | bytes, *, strict: bool = False) -> Provider:
    (provider,) = read_text(text, strict=strict).providers
    return provider


def capability_of(*elements: str, strict: bool = False) -> Capability:
    (capability,) = provider_of(descriptor(*elements), strict=strict).capabilities
    return capability


def rows_of(reading: Reading) -> list[str | None]:
    return [finding.rule for finding in reading.findings]


def service(
    *children: str,
    name: str = ".LampService",
    attributes: str = 'android:exported="true" android:foregroundServiceType="dataSync"',
    action: str | None = ACTION,
) -> str:
    found_by = f'<intent-filter><action android:name="{action}"/></intent-filter>' if action else ""
    return f'<service android:name="{name}" {attributes}>{found_by}{"".join(children)}</service>'


def whole_service(*more: str, **options: Any) -> str:
    return service(NAME, DESCRIPTION, CAPABILITIES, *more, **options)


def manifest(*components: str, attributes: str = "") -> str:
    inside = "".join(components)
    application = f"<application {attributes}>{inside}</application>"
    return f'<manifest {NAMESPACE} package="com.example.lamp">{application}</manifest>'


def application(
    *components: str, attributes: str = "", files: Mapping[str, str] | None = None
) -> Application:
    """An app whose descriptor is FULL unless the files say otherwise; None leaves it out."""
    tree = {"AndroidManifest.xml": manifest(*components, attributes=attributes)}
    tree.update({"res/xml/mcp_capabilities.xml": FULL} if files is None else files)
    return application_from_tree({name: text.encode() for name, text in tree.items()})


def read_app(
    *components: str, attributes: str = "", files: Mapping[str, str] | None = None, strict: bool = False
) -> Reading:
    app = application(*components, attributes=attributes, files=files)
    return FORMAT.read_application(app, ReadingContext(strict=strict))


def write(provider: Provider, dialect: str = "1.0") -> Writing:
    return write_for(provider, f"mobile-mcp+{dialect}")


def artifact(writing: Writing, path: str) -> str:
    return next(item.text for item in writing.artifacts if item.path == path)


def read_back(writing: Writing, *, strict: bool = False) -> Provider:
    tree = {item.path: item.text.encode() for item in writing.artifacts}
    reading = FORMAT.read_application(application_from_tree(tree), ReadingContext(strict=strict))
    (provider,) = reading.providers
    return provider


def dialect_when_read(dialect: str) -> str:
    """Return the dialect that a reader finds: 1.0-input has the files of 1.0."""
    return "1.0" if dialect == "1.0-input" else dialect


@dataclass(frozen=True)
class RoundTrip:
    """A provider that was read, what was written of it in its own dialect, and what that reads as."""

    writing: Writing
    after: Provider


def round_trip(provider: Provider) -> RoundTrip:
    writing = write(provider, provider.dialect or "1.0")
    return RoundTrip(writing, read_back(writing))

"""The document of `discover --json`; the page does without it, and starts faster."""

from __future__ import annotations

from droidgate.cli.output.json_output import Document, Problem, PublishedDocument
from droidgate.sources.format_reading import DISCOVERY_SCHEMA
from droidgate_mappings.formats.installed import CallRoute, OwnApp
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.text_safety.marks import TextMark


class ClosedCapability(Document):
    """A capability that cannot be called, and why."""

    id: str
    reason: str


class DiscoveredProvider(Document):
    """A provider on a phone.

    Attributes:
        provider: What it declares; capabilities have their state on the phone.
        digest: Digest of the declaration.
        routes: How it could be called; none is ready where the component is closed.
        not_callable_because: Why no app can call the component, None where one can.
        conditions: What has to be so before it can be called.
        closed_capabilities: Its capabilities that cannot be called although the component is open.
        found_by: What would find its capabilities, where the app's files do not list them.
        marks: What deserves a second look in its texts.
    """

    provider: Provider
    digest: str
    routes: tuple[CallRoute, ...]
    not_callable_because: str | None
    conditions: tuple[str, ...]
    closed_capabilities: tuple[ClosedCapability, ...]
    found_by: str | None
    marks: tuple[TextMark, ...] = ()


class DiscoveredApp(Document):
    """An app that declares something, or about which there is something to report.

    Attributes:
        package: Its package name.
        version_code: Its version.
        own: What it is, where it is an app of droidgate itself.
        providers: What it declares.
        findings: What is to be reported of it.
        is_newer_than_shim: It was installed or updated after its shim, which may not fit it any more.
    """

    package: str
    version_code: int
    own: OwnApp | None
    providers: tuple[DiscoveredProvider, ...]
    findings: tuple[Finding, ...]
    is_newer_than_shim: bool = False


class DiscoverDocument(PublishedDocument, schema=DISCOVERY_SCHEMA):
    """What `discover --json` prints.

    Attributes:
        serial: The phone.
        release: Its SDK level, such as `36.1`.
        user: The user in front.
        installed: How many packages it has.
        looked_at: How many of them may declare something.
        apps: Those that do.
        problems: What could not be read.
        not_asked: What Android's shell cannot be asked for; `--all` finds it.
        left_out: Package names of droidgate's own apps that were left out; `--include-shims` includes them.
    """

    serial: str
    release: str
    user: int
    installed: int
    looked_at: int
    apps: tuple[DiscoveredApp, ...]
    problems: tuple[Problem, ...]
    not_asked: tuple[str, ...]
    left_out: tuple[str, ...]

"""The documents that `--json` prints and `convert` writes; their JSON Schemas are published
(`published.py`).

Each has a `schema` of the form `droidgate.NAME/VERSION`. The version rises when a reader of the old form
would break.
"""

from __future__ import annotations

from typing import Literal

from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate_mappings.compare import Comparison, Weight
from droidgate_mappings.formats.installed import OwnApp
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.names import NameEntry
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.text_safety.marks import TextMark


class Problem(Document):
    """Something that could not be read or written; the rest was."""

    message: str
    place: str | None
    hint: str | None


class AppSigners(Document):
    """Who signed an APK or an installed app.

    Attributes:
        package: Application id.
        place: Its manifest.
        digests: SHA-256 of each signing certificate, lower-case hexadecimal.
        verified: The signature was verified and is right; false where it is not right or cannot be verified.
            Null for an installed app, whose signature the phone verified at installation.
        problem: Why it is not right, or cannot be verified.
    """

    package: str | None
    place: str
    digests: tuple[str, ...]
    verified: bool | None
    problem: str | None


class AppQuery(Document):
    """One entry of an app's `<queries>`: other apps that it asks Android to let it see.

    Attributes:
        kind: The entry's element.
        names: The package, the authorities of the content provider, or the actions of the intent.
        categories: Categories of the intent.
        data: Schemes and MIME types of the intent.
        protocols: The protocols whose components the intent looks for.
    """

    kind: Literal["package", "intent", "provider"]
    names: tuple[str, ...]
    categories: tuple[str, ...]
    data: tuple[str, ...]
    protocols: tuple[str, ...]


class InspectedApp(Document):
    """An app that was read, whether or not it declares anything.

    Attributes:
        package: Application id.
        label: Its label.
        version_code: `versionCode`.
        version_name: `versionName`.
        minimum_sdk: `minSdkVersion`.
        target_sdk: `targetSdkVersion`.
        place: Its manifest.
        declares: It declares capabilities.
        queries: The other apps that it asks to see.
    """

    package: str | None
    label: str | None
    version_code: int | None
    version_name: str | None
    minimum_sdk: int | None
    target_sdk: int | None
    place: str
    declares: bool
    queries: tuple[AppQuery, ...]


class InspectDocument(PublishedDocument, schema="droidgate.inspect/1"):
    """What `inspect --json` prints: the capability model of everything that was read.

    Attributes:
        applications: The apps that were read.
        signers: Who signed the apps; without those that have no signature, such as projects.
        marks: What deserves a second look in the texts of the providers.
    """

    digest: str
    providers: tuple[Provider, ...]
    applications: tuple[InspectedApp, ...] = ()
    signers: tuple[AppSigners, ...] = ()
    marks: tuple[TextMark, ...] = ()
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]


class ConversionTarget(Document):
    """What a conversion writes."""

    format: str
    dialect: str


class Origin(Document):
    """The provider that was converted."""

    protocol: str
    dialect: str | None
    package: str | None
    component: str | None
    place: str | None
    digest: str


class WrittenFile(Document):
    """A file of a conversion: its path below the output folder, what it is, and the digest of its bytes."""

    path: str
    role: str
    sha256: str


class ProviderConversion(Document):
    """What became of one provider.

    Attributes:
        source: The provider.
        capabilities: How many capabilities it has; with none there is nothing to lose.
        files: What was written, paths below the output folder.
        digest: Digest of the declaration as the target holds it.
        counts: How many findings there are of each level.
        findings: Each difference between the source and what was written, at its leaf.
        marks: What deserves a second look in the texts of the source.
    """

    source: Origin
    capabilities: int
    files: tuple[WrittenFile, ...]
    digest: str
    counts: dict[str, int]
    findings: tuple[Finding, ...]
    marks: tuple[TextMark, ...] = ()


class FidelityDocument(PublishedDocument, schema="droidgate.fidelity/2"):
    """`fidelity.json`, and what `convert --json` prints: what a conversion cost.

    Attributes:
        reading: What the readers had to bend.
        problems: What could not be read, and the providers that could not be written.
        conversions: One for each provider that was written.
    """

    target: ConversionTarget
    reading: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    conversions: tuple[ProviderConversion, ...]


class NameMap(Document):
    """The name of each capability of one provider, and the renamed things."""

    source: Origin
    capabilities: tuple[NameEntry, ...]
    names: tuple[NameEntry, ...]


class NamesDocument(PublishedDocument, schema="droidgate.names/1"):
    """`names.json`: the name map of a conversion, from each written name back to the source's."""

    target: ConversionTarget
    providers: tuple[NameMap, ...]


class ChangedFile(Document):
    """One file that a migration changes: its path below the project, and the change as a unified diff."""

    path: str
    is_new: bool
    diff: str


class MigrationDocument(PublishedDocument, schema="droidgate.migration/2"):
    """What `migrate --json` prints.

    Attributes:
        project: The project folder.
        written: The changes were applied.
        reading: What the readers had to bend.
        problems: What could not be read.
        conversions: What became of the provider.
        changes: The files that are changed or made; empty where all is there already.
        notes: What its author still has to do; each access rule that nothing enforces comes first.
    """

    target: ConversionTarget
    project: str
    written: bool
    reading: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    conversions: tuple[ProviderConversion, ...]
    changes: tuple[ChangedFile, ...]
    notes: tuple[str, ...]


class LintDocument(PublishedDocument, schema="droidgate.lint/1"):
    """What `lint --json` prints.

    Attributes:
        counts: How many findings there are of each level.
        findings: What is wrong.
        without_rules: Formats of what was read that have no rules.
    """

    counts: dict[str, int]
    findings: tuple[Finding, ...]
    without_rules: tuple[str, ...]


class DiffDocument(PublishedDocument, schema="droidgate.diff/1"):
    """What `diff --json` prints.

    Attributes:
        weight: The heaviest change, None where nothing changed.
        counts: How many changes there are of each weight.
        comparison: Every change.
        problems: What could not be read on either side.
    """

    weight: Weight | None
    counts: dict[str, int]
    comparison: Comparison
    problems: tuple[Problem, ...]


class RouteRecord(Document):
    """One way in which a provider's capabilities could be called from a computer, and what it lacks."""

    id: str
    title: str
    ready: bool
    needs: tuple[str, ...]


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
    routes: tuple[RouteRecord, ...]
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
    """

    package: str
    version_code: int
    own: OwnApp | None
    providers: tuple[DiscoveredProvider, ...]
    findings: tuple[Finding, ...]


class DiscoverDocument(PublishedDocument, schema="droidgate.discover/1"):
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


class DeviceRecord(Document):
    """A device that adb sees; what it says about itself is null where it was not asked or did not answer.

    Attributes:
        serial: Its name at the adb server.
        state: One word of adb; `device` is ready.
        ready: Commands can be sent to it, and it answered.
        product, model: What it calls itself.
        android: Version as shown to users, such as `16`.
        sdk: API level.
        sdk_full: API level with its minor level where there is one, such as `36.1`.
        security_patch: Day of the security patch level.
        features: What its adb daemon can do, in adb's words.
        hint: What to do, where it is not ready.
        warning: What speaks against using it like this.
    """

    serial: str
    state: str
    ready: bool
    product: str | None
    model: str | None
    android: str | None
    sdk: int | None
    sdk_full: str | None
    security_patch: str | None
    features: tuple[str, ...]
    hint: str | None
    warning: str | None


class DevicesDocument(PublishedDocument, schema="droidgate.devices/1"):
    """What `devices --json` prints: the adb server that was asked, and what it sees."""

    server: str
    devices: tuple[DeviceRecord, ...]


class DialectRecord(Document):
    """One dialect: whether it is read and written, and why where it is not."""

    id: str
    summary: str
    wire: tuple[str, ...]
    read: bool
    written: bool
    not_read_because: str | None
    not_written_because: str | None
    capacity: Capacity | None


class FormatRecord(Document):
    """One format; its first dialect is the default for writing."""

    id: str
    title: str
    dialects: tuple[DialectRecord, ...]


class MatrixCell(Document):
    """What becomes of one feature in one dialect: `yes`, or a level of finding, and what is written
    instead.
    """

    value: str
    note: str | None


class MatrixRow(Document):
    """One feature; a cell for each column."""

    group: str
    feature: str
    cells: tuple[MatrixCell, ...]


class Matrix(Document):
    """The support matrix; columns are written as `--to` takes them."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


class FormatsDocument(PublishedDocument, schema="droidgate.formats/1"):
    """What `formats --json` prints."""

    formats: tuple[FormatRecord, ...]
    matrix: Matrix


class PackedFile(Document):
    """One entry of an APK, and its size before compression."""

    path: str
    size: int


class SignerRecord(Document):
    """Who signed: the kind of key, and the SHA-256 of the certificate by which Android knows the signer."""

    key_type: str
    digest: str


class PackDocument(PublishedDocument, schema="droidgate.pack/1"):
    """What `pack --json` prints.

    Attributes:
        project: The project folder.
        apk: The file that was written.
        size: Its bytes.
        sha256: Their digest.
        package: Application id.
        version_code: As the manifest says it.
        version_name: As the manifest says it.
        minimum_sdk: The oldest Android that it installs on, as an API level.
        target_sdk: The release that it is written for, as an API level.
        signer: Whose key signed it.
        files: Its entries, the signatures left out.
        findings: What is not in it as it is in the source.
        problems: What cannot be read of the source.
    """

    project: str
    apk: str
    size: int
    sha256: str
    package: str | None
    version_code: int | None
    version_name: str | None
    minimum_sdk: int | None
    target_sdk: int | None
    signer: SignerRecord
    files: tuple[PackedFile, ...]
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]

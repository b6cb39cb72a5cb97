"""The document of `inspect --json`; the page does without it, and starts faster."""

from __future__ import annotations

from typing import Literal

from droidgate.cli.output.json_output import Document, Problem, PublishedDocument
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.text_safety.marks import TextMark


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

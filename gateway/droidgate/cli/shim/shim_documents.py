"""The documents that `shim ... --json` prints, and how its pages name apps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from droidgate.cli.output.json_output import Document, Problem, PublishedDocument
from droidgate.cli.output.safe_text import one_line
from droidgate.shims.answers import StatusAnswer
from droidgate.shims.granting import GrantChange
from droidgate.shims.installation_steps import InstallationStep
from droidgate_mappings.formats.installed import SHIM_PACKAGE, SHIM_PREFIX
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.text_safety.marks import TextMark
from droidgate_shim.builder.shim_manifest import PermissionUse

DETAILS: Final = "--details shows"


class ShimKey(Document):
    """Who signs: the key's file, and the SHA-256 of the certificate by which Android knows the signer."""

    path: str
    signer: str


class BuiltShimRecord(Document):
    """A shim that was built.

    Attributes:
        application_id: Its own.
        label: Its human-readable name.
        apk: The file; None where none was written.
        size: Bytes of the APK.
        sha256: Their digest.
        build: Digest of what it was built from, by which an installed shim is compared.
        packages: The apps behind it.
        capabilities: Their ids.
        permissions: What it asks Android for, by what its capabilities need.
        counts: How many findings there are of each level.
        findings: What agents see otherwise than the apps declare it, and what is left out.
        marks: What deserves a second look in the texts that it shows; pointers address its capabilities by
            position.
    """

    application_id: str
    label: str
    apk: str | None
    size: int
    sha256: str
    build: str
    packages: tuple[str, ...]
    capabilities: tuple[str, ...]
    permissions: tuple[PermissionUse, ...]
    counts: dict[str, int]
    findings: tuple[Finding, ...]
    marks: tuple[TextMark, ...] = ()


class UnusedApp(Document):
    """An app that got no shim, and why."""

    package: str
    findings: tuple[Finding, ...]


class ShimBuildDocument(PublishedDocument, schema="droidgate.shim-build/1"):
    """What `shim build --json` prints.

    Attributes:
        key: Who signed.
        shims: One for each shim.
        unused: Apps that got none, with the reason.
        left_out: Packages of apps of which something was left out because of its protocol; `--format`
            includes it.
    """

    key: ShimKey
    shims: tuple[BuiltShimRecord, ...]
    unused: tuple[UnusedApp, ...]
    left_out: tuple[str, ...]


class InstalledShimRecord(Document):
    """The outcome of installing one shim.

    Attributes:
        application_id: Its own.
        works: It is installed and answers.
        build: Digest of what it was built from.
        capabilities: Their ids.
        steps: What was done, in order.
        findings: Those of building it; none where its APK was given.
    """

    application_id: str
    works: bool
    build: str
    capabilities: tuple[str, ...]
    steps: tuple[InstallationStep, ...]
    findings: tuple[Finding, ...]


class ShimIdentityRecord(Document):
    """The outcome of letting one app call app functions for all shims.

    Attributes:
        application_id: The app.
        works: It is installed and answers.
        steps: What was done, in order.
    """

    application_id: str
    works: bool
    steps: tuple[InstallationStep, ...]


class ShimInstallDocument(PublishedDocument, schema="droidgate.shim-install/1"):
    """What `shim install --json` prints.

    Attributes:
        serial, user, sdk: The device, the user in front, its API level.
        key: Who signed; None where APKs were given.
        asked: The outcome of asking apps by broadcast for their tools.
        shims: One for each shim.
        identity: The app that calls app functions for the shims; null where none of them has any.
        unused: Apps that got none.
        left_out: As in `shim build`.
    """

    serial: str
    user: int
    sdk: int
    key: ShimKey | None
    asked: tuple[InstallationStep, ...]
    shims: tuple[InstalledShimRecord, ...]
    identity: ShimIdentityRecord | None
    unused: tuple[UnusedApp, ...]
    left_out: tuple[str, ...]


class ShimChange(Document):
    """What `shim sync` did about one shim, or would do."""

    kind: Literal["added", "changed", "removed", "same"]
    application_id: str
    why: str
    works: bool | None
    steps: tuple[InstallationStep, ...]
    findings: tuple[Finding, ...]


class ShimSyncDocument(PublishedDocument, schema="droidgate.shim-sync/1"):
    """What `shim sync --json` prints; `done` is false where it only says what it would do."""

    serial: str
    user: int
    sdk: int
    key: ShimKey
    done: bool
    asked: tuple[InstallationStep, ...]
    changes: tuple[ShimChange, ...]
    unused: tuple[UnusedApp, ...]
    left_out: tuple[str, ...]


class ShimStatusRecord(Document):
    """One shim.

    Attributes:
        application_id: Its own.
        works: It answers, and each app behind it can be called.
        calls_functions_for_others: It calls app functions for the other shims.
        status: Null where it does not answer as it should.
        problem: Why it does not.
    """

    application_id: str
    works: bool
    calls_functions_for_others: bool
    status: StatusAnswer | None
    problem: Problem | None


class ShimStatusDocument(PublishedDocument, schema="droidgate.shim-status/1"):
    """What `shim status --json` prints."""

    serial: str
    user: int
    sdk: int
    shims: tuple[ShimStatusRecord, ...]


class ShimCheck(Document):
    """One check of `shim doctor`.

    Attributes:
        id: Its name.
        step: Number of its step in docs/guides/prove-on-a-phone.md.
        title: What it looks at.
        application_id: The shim that it is about; null where it is the device.
        state: What it found, in one word: `risk` is what the user allowed and should know of, `unknown` where
            the device does not report.
        found: The same in words.
        fix: What to do about it; null where nothing is to be done.
    """

    id: str
    step: int
    title: str
    application_id: str | None
    state: Literal["ok", "problem", "risk", "not-needed", "unknown"]
    found: str
    fix: str | None


class ShimDoctorDocument(PublishedDocument, schema="droidgate.shim-doctor/1"):
    """What `shim doctor --json` prints."""

    serial: str
    user: int
    sdk: int
    problems: int
    checks: tuple[ShimCheck, ...]


class ShimCallDocument(PublishedDocument, schema="droidgate.shim-call/1"):
    """What `shim call --json` prints of a call that succeeded."""

    serial: str
    application_id: str
    capability: str
    outputs: dict[str, Json]


class RemovedShim(Document):
    """A shim that was to be removed, and the result."""

    application_id: str
    step: InstallationStep


class ShimGrantDocument(PublishedDocument, schema="droidgate.shim-grant/1"):
    """What `shim grant --json` and `shim revoke --json` print."""

    serial: str
    user: int
    grants: tuple[GrantChange, ...]


class ShimUninstallDocument(PublishedDocument, schema="droidgate.shim-uninstall/1"):
    """What `shim uninstall --json` prints.

    Attributes:
        serial, user: The device, the user in front.
        shims: What was to go.
        identity: What became of the app that called app functions for the shims; null where nothing did.
    """

    serial: str
    user: int
    shims: tuple[RemovedShim, ...]
    identity: InstallationStep | None


def app_name(application_id: str, packages: Sequence[str]) -> str:
    """Return the app behind a shim, or the shim's own id where there are several."""
    if len(packages) == 1:
        return one_line(packages[0])
    several = f" ({len(packages)} apps)" if packages else ""
    return f"{application_id.removeprefix(SHIM_PREFIX)}{several}"


def shims_and_helper(shims: int, helpers: int) -> str:
    """Return how many shims there are, apart from the one among them that only helps the others."""
    return amount(shims - helpers, "shim") + (f" and {SHIM_PACKAGE}" if helpers else "")

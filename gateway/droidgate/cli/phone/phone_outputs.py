"""The documents that `phone --json` commands print."""

from __future__ import annotations

from droidgate.cli.output.json_output import Document, PublishedDocument


class PhoneStartDocument(PublishedDocument, schema="droidgate.phone-start/1"):
    """What `phone start --json` prints.

    Attributes:
        serial: What adb calls the phone after `adb connect SERIAL`.
        port: Where adb connects to, on this machine only.
        server_port: Where it acts as an adb server.
        sdk: Its Android release.
        pid: Its process.
        packages: How many packages it has.
        faults: What it shows on purpose.
    """

    serial: str
    port: int
    server_port: int
    sdk: str
    pid: int
    packages: int
    faults: tuple[str, ...]


class PhoneStopDocument(PublishedDocument, schema="droidgate.phone-stop/1"):
    """What `phone stop --json` prints: the phone that was stopped."""

    serial: str
    port: int


class PhoneApp(Document):
    """An app on a virtual phone, and the dialects that it speaks."""

    package: str
    version_code: int
    protocols: tuple[str, ...]


class PhoneAppsDocument(PublishedDocument, schema="droidgate.phone-apps/1"):
    """What `phone apps --json` prints."""

    serial: str
    sdk: str
    apps: tuple[PhoneApp, ...]


class PhonePackage(Document):
    """An app that was installed."""

    package: str
    version_code: int | None


class PhoneInstallDocument(PublishedDocument, schema="droidgate.phone-install/1"):
    """What `phone install --json` prints."""

    serial: str
    installed: tuple[PhonePackage, ...]


class PhonePushDocument(PublishedDocument, schema="droidgate.phone-push/1"):
    """What `phone push --json` prints.

    Attributes:
        path: The file on the phone.
        size: Its length in bytes.
    """

    serial: str
    path: str
    size: int


class PhoneStatus(Document):
    """A virtual phone that is running.

    Attributes:
        serial: Its name in `adb devices`.
        sdk: Its Android release.
        port: The port that adb connects to.
        server_port: The port where it answers as an adb server.
        pid: Its process.
    """

    serial: str
    sdk: str
    port: int
    server_port: int
    pid: int


class PhoneStatusDocument(PublishedDocument, schema="droidgate.phone-status/1"):
    """What `phone status --json` prints."""

    phones: tuple[PhoneStatus, ...]

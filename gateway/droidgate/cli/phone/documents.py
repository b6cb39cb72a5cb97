"""The documents that `phone --json` commands print."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from droidgate.cli.output.documents import VERSION
from droidgate.cli.output.json_output import Document


class PhoneStartDocument(Document):
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

    schema_id: Literal["droidgate.phone-start/1"] = Field(default="droidgate.phone-start/1", alias="schema")
    droidgate: str = VERSION
    serial: str
    port: int
    server_port: int
    sdk: str
    pid: int
    packages: int
    faults: tuple[str, ...]


class PhoneStopDocument(Document):
    """What `phone stop --json` prints: the phone that was stopped."""

    schema_id: Literal["droidgate.phone-stop/1"] = Field(default="droidgate.phone-stop/1", alias="schema")
    droidgate: str = VERSION
    serial: str
    port: int


class PhoneApp(Document):
    """An app on a virtual phone, and the dialects that it speaks."""

    package: str
    version_code: int
    protocols: tuple[str, ...]


class PhoneAppsDocument(Document):
    """What `phone apps --json` prints."""

    schema_id: Literal["droidgate.phone-apps/1"] = Field(default="droidgate.phone-apps/1", alias="schema")
    droidgate: str = VERSION
    serial: str
    sdk: str
    apps: tuple[PhoneApp, ...]


class InstalledPackage(Document):
    """An app that was installed."""

    package: str
    version_code: int | None


class PhoneInstallDocument(Document):
    """What `phone install --json` prints."""

    schema_id: Literal["droidgate.phone-install/1"] = Field(
        default="droidgate.phone-install/1", alias="schema"
    )
    droidgate: str = VERSION
    serial: str
    installed: tuple[InstalledPackage, ...]


class PhonePushDocument(Document):
    """What `phone push --json` prints.

    Attributes:
        path: The file on the phone.
        size: Its length in bytes.
    """

    schema_id: Literal["droidgate.phone-push/1"] = Field(default="droidgate.phone-push/1", alias="schema")
    droidgate: str = VERSION
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


class PhoneStatusDocument(Document):
    """What `phone status --json` prints."""

    schema_id: Literal["droidgate.phone-status/1"] = Field(default="droidgate.phone-status/1", alias="schema")
    droidgate: str = VERSION
    phones: tuple[PhoneStatus, ...]

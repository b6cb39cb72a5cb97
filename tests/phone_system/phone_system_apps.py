"""Small apps for the tests of the phone's Android: packed from a few lines of manifest, and commands run on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO

from droidgate.apk.pack import pack_project
from droidgate.apk.signing_keys import SigningKey, make_key
from droidgate_shim.phone.commands import SHELL_UID, CommandCall
from droidgate_shim.phone.commands.registry import find_command
from droidgate_shim.phone.system import AndroidSystem

ANDROID = "http://schemas.android.com/apk/res/android"


@cache
def key(name: str = "first") -> SigningKey:
    """Return a signing key; the same for the same name."""
    return make_key(common_name=name)


def manifest(application: str, *, package: str, before: str = "", attributes: str = "") -> bytes:
    """Return a manifest with the inner XML of its application and what stands before it."""
    return (
        f'<manifest xmlns:android="{ANDROID}" package="{package}" {attributes}>{before}'
        f"<application>{application}</application></manifest>"
    ).encode()


def make_apk(  # noqa: PLR0913 - each is one fact of the manifest
    package: str,
    application: str = "",
    *,
    before: str = "",
    attributes: str = "",
    version: int = 1,
    minimum: int = 26,
    target: int = 36,
    signer: str = "first",
    files: Mapping[str, str] | None = None,
) -> bytes:
    """Return a signed APK.

    Args:
        package: Package name.
        application: Inner XML of `<application>`.
        before: XML before `<application>`.
        attributes: Attributes of `<manifest>`.
        version: Version code.
        minimum: minSdkVersion.
        target: targetSdkVersion.
        signer: Name of the key.
        files: Further files by their path relative to `src/main`.
    """
    tree = {"AndroidManifest.xml": manifest(application, package=package, before=before, attributes=attributes)}
    tree |= {name: text.encode() for name, text in (files or {}).items()}
    return pack_project(
        tree,
        key=key(signer),
        package=package,
        version_code=version,
        minimum_sdk=minimum,
        target_sdk=target,
    )


@dataclass(slots=True)
class MemoryStreams:
    """Standard streams in memory."""

    input: BytesIO = field(default_factory=BytesIO)
    output: BytesIO = field(default_factory=BytesIO)
    error: BytesIO = field(default_factory=BytesIO)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did."""

    status: int
    stdout: str
    stderr: str


def run(system: AndroidSystem, *arguments: str, stdin: bytes = b"", uid: int = SHELL_UID) -> Ran:
    """Run a command of the phone by its words."""
    name, *rest = arguments
    streams = MemoryStreams(BytesIO(stdin))
    command = find_command(name)
    assert command is not None, name
    status = command(CommandCall(name, tuple(rest), streams, system, uid=uid))
    return Ran(status, streams.output.getvalue().decode(), streams.error.getvalue().decode())

"""Reading APKs that are to be installed, and what Android refuses about them.

Sources: AOSP's PackageInstallerSession, ParsingPackageUtils, InstallPackageHelper; the texts as `adb install`
shows them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.reader import Apk, open_apk
from droidgate_android.apk.xml_tree import XmlElement
from droidgate_mappings.formats.application import Application
from droidgate_mappings.model.errors import InputError
from droidgate_phone.system.manifests import InstalledManifest, read_manifest
from droidgate_phone.system.releases import ReleaseProfile

BASE_APK: Final = "base.apk"
_FIRST_TARGET: Final = 1
_TABLE: Final = "resources.arsc"
_ALIGNMENT: Final = 4
_LONGEST_NAME: Final = 223
_NAME: Final = re.compile(r"(?:\.|[A-Za-z][A-Za-z0-9_]*)*")
_SIGNING_BLOCK: Final = b"APK Sig Block 42"


class InstallError(Exception):
    """Android refuses an installation.

    Attributes:
        code: `INSTALL_FAILED_...`, or a number where Android has no name for it.
        message: Android's explanation, empty where it gives none.
    """

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """What `pm install` was asked.

    Attributes:
        replace: An installed package may be replaced (`-R` forbids it).
        downgrade: A lower version may replace a higher one (`-d`).
        test_only: Test packages are allowed (`-t`).
        grant: Runtime permissions are granted (`-g`).
        inherit: The APKs are added to those of the installed package (`-p`).
        installer: Package that installs (`-i`).
    """

    replace: bool = True
    downgrade: bool = False
    test_only: bool = False
    grant: bool = False
    inherit: str | None = None
    installer: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedPackage:
    """An app as the installer has read it, before anything is changed."""

    apk: Apk
    apks: dict[str, bytes]
    application: Application
    manifest: InstalledManifest
    signers: tuple[str, ...]
    target_sdk: int
    minimum_sdk: int


@dataclass(frozen=True, slots=True)
class _Part:
    """What the APKs of one app have in common, and the name of the split."""

    split: str
    package: str
    version_code: int
    signers: tuple[str, ...]

    @classmethod
    def of(cls, apk: Apk, sdk: int) -> _Part:
        """Return what an APK says.

        Args:
            apk: The APK.
            sdk: The release of Android whose signer counts.

        Raises:
            InstallError: its names are none.
        """
        split = apk.manifest.find_attribute("split", None)
        name = split.text or "" if split is not None else ""
        package = apk.package or ""
        _check_name("package", package, needs_separator=package != "android")
        _check_name("split", name, needs_separator=False)
        return cls(name, package, apk.version_code or 0, apk.signer_digests(sdk))

    def require_consistent(self, other: _Part, place: str) -> None:
        if self.package != other.package:
            problem = f"package {other.package} inconsistent with {self.package}"
        elif self.version_code != other.version_code:
            problem = f"version code {other.version_code} inconsistent with {self.version_code}"
        elif self.signers != other.signers:
            problem = "signatures are inconsistent"
        else:
            return
        raise InstallError("INSTALL_FAILED_INVALID_APK", f"{place} {problem}")


def parse_package(
    apks: Mapping[str, bytes], stage: str, release: ReleaseProfile, *, inherited: Mapping[str, bytes]
) -> ParsedPackage:
    """Read and check the APKs of one app.

    Args:
        apks: The base and its splits, in any order, by their files' names in the session.
        inherited: Those of the installed package that stay where no new one takes their place.
        stage: Folder of the session on the phone, for the texts.
        release: Whose rules.

    Raises:
        InstallError: Android refuses them.
    """
    apks_by_name = _name_apks(apks, inherited, stage, release)
    base, *splits = apks_by_name.values()
    try:
        apk = open_apk(base, splits=splits)
    except InputError as error:
        raise InstallError("INSTALL_PARSE_FAILED_NOT_APK", f"Failed to parse {stage}/{BASE_APK}") from error
    try:
        return _check(apk, apks_by_name, stage, release)
    except BaseException:
        apk.close()
        raise


def _name_apks(
    apks: Mapping[str, bytes], inherited: Mapping[str, bytes], stage: str, release: ReleaseProfile
) -> dict[str, bytes]:
    """Return the APKs, the base first, by their files' names once they are installed."""
    parts: dict[str, bytes] = {}
    first: _Part | None = None
    for name, content in apks.items():
        part = _read_part(content, f"{stage}/{BASE_APK if len(apks) == 1 else name}", release)
        if part.split in parts:
            message = f"Split {part.split or 'null'} was defined multiple times"
            raise InstallError("INSTALL_FAILED_INVALID_APK", message)
        parts[part.split] = content
        first = first or part
        first.require_consistent(part, f"{stage}/{name}")
    for content in inherited.values():
        part = _read_part(content, stage, release)
        parts.setdefault(part.split, content)
        if first is not None:
            first.require_consistent(part, "Existing")
    if "" not in parts:
        raise InstallError("INSTALL_FAILED_INVALID_APK", "Full install must include a base package")
    base = parts.pop("")
    return {BASE_APK: base, **{f"split_{split}.apk": content for split, content in parts.items()}}


def _check_name(kind: str, name: str, *, needs_separator: bool) -> None:
    """Raise what is wrong with the name of a package or split (`validateName` of the package parser)."""
    match = _NAME.match(name)
    rest = name[match.end() :] if match is not None else name
    if rest:
        problem = f"bad character '{rest[0]}'"
    elif len(name) > _LONGEST_NAME:
        problem = f"the length of the name is greater than {_LONGEST_NAME}"
    elif needs_separator and "." not in name:
        problem = "must have at least one '.' separator"
    else:
        return
    raise InstallError("INSTALL_PARSE_FAILED_BAD_PACKAGE_NAME", f"Invalid manifest {kind}: {problem}")


def _read_part(content: bytes, place: str, release: ReleaseProfile) -> _Part:
    try:
        with open_apk(content) as apk:
            return _Part.of(apk, release.sdk)
    except InputError as error:
        raise InstallError("INSTALL_PARSE_FAILED_NOT_APK", f"Failed to parse {place}") from error


def _check(apk: Apk, named: Mapping[str, bytes], stage: str, release: ReleaseProfile) -> ParsedPackage:
    minimum = apk.minimum_sdk or _FIRST_TARGET
    target = apk.target_sdk or minimum
    base = f"{stage}/{BASE_APK}"
    application = read_application(apk, release.sdk)
    manifest = read_manifest(apk)
    if minimum > release.sdk:
        raise InstallError("INSTALL_FAILED_OLDER_SDK", _older_sdk(apk.manifest, base, minimum, release))
    signers = _signers(apk, base, target, release)
    if release.has("exported-stated", target):
        _check_exported(manifest, base)
    if release.has("uncompressed-resources", target):
        _check_resources(apk)
    return ParsedPackage(apk, dict(named), application, manifest, signers, target, minimum)


def _older_sdk(root: XmlElement, base: str, minimum: int, release: ReleaseProfile) -> str:
    uses = next(root.child_elements("uses-sdk"), root)
    return (
        f"Failed parse during installPackageLI: {base} (at Binary XML file line #{uses.line}): Requires "
        "newer sdk "
        f"version #{minimum} (current version is #{release.sdk})"
    )


def _signers(apk: Apk, base: str, target: int, release: ReleaseProfile) -> tuple[str, ...]:
    signature = apk.verify_signature(release.sdk)
    start = f"Failed to collect certificates from {base}"
    if release.has("signature-scheme-2", target) and not _has_signing_block(apk):
        message = f"{start}: No signature found in package of version 2 or newer for package {base}"
    elif signature.verified is False and signature.scheme is not None and signature.scheme != "v1":
        scheme = signature.scheme.partition(".")[0]
        message = f"{start} using APK Signature Scheme {scheme}: {signature.problem}"
    elif not signature.verified:
        message = f"{start}: Package {base} has no certificates at entry AndroidManifest.xml"
    else:
        return signature.digests
    raise InstallError("INSTALL_PARSE_FAILED_NO_CERTIFICATES", message)


def _has_signing_block(apk: Apk) -> bool:
    """Return whether the archive has the block of signature schemes 2 and 3."""
    end = apk.archive.directory_offset
    start = max(0, end - len(_SIGNING_BLOCK))
    return apk.archive.source.read(start, end - start) == _SIGNING_BLOCK


def _check_exported(manifest: InstalledManifest, base: str) -> None:
    for component in manifest.components:
        if component.filters and not component.exported_stated:
            message = (
                f"Failed parse during installPackageLI: {base} (at Binary XML file line #{component.line}): "
                f"{component.name}: "
                "Targeting S+ (version 31 and above) requires that an explicit value for android:exported be "
                "defined when intent filters are present"
            )
            raise InstallError("INSTALL_PARSE_FAILED_MANIFEST_MALFORMED", message)


def _check_resources(apk: Apk) -> None:
    if _TABLE not in apk.archive:
        return
    stored = apk.archive.stored_range(_TABLE)
    if stored is not None and stored[0] % _ALIGNMENT == 0:
        return
    message = (
        "Failed parse during installPackageLI: Targeting R+ (version 30 and above) requires the "
        "resources.arsc of "
        "installed APKs to be stored uncompressed and aligned on a 4-byte boundary"
    )
    # Android has a number for this failure and no name (PackageManager.installStatusToString).
    raise InstallError("-124", message)

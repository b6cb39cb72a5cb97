"""Opening an APK: its archive, manifest and resources, with those of its splits (reference apk-reading C)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from droidgate_android.apk.apk_budgets import MAX_ENTRY_BYTES, MAX_XML_BYTES, Budget
from droidgate_android.apk.apk_files import FileSource, open_source
from droidgate_android.apk.apk_findings import (
    BROKEN_RESOURCE_TABLE,
    BROKEN_SIGNATURE,
    BROKEN_SPLIT,
    UNVERIFIED_SIGNATURE,
    warn,
)
from droidgate_android.apk.archive import Archive
from droidgate_android.apk.binary_xml import parse_binary_xml
from droidgate_android.apk.byte_source import ByteSource
from droidgate_android.apk.resource_table import ResourceTable, TableFile
from droidgate_android.apk.resource_values import flag_value, is_integer, value_text
from droidgate_android.apk.signatures import ApkSignature, read_signature, verify_signature
from droidgate_android.apk.signing_block import NEWEST_SDK
from droidgate_android.apk.xml_tree import REFERENCE_TYPES, TypedValue, ValueType, XmlElement
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.tables.framework_attributes import resource_name
from droidgate_mappings.text.aapt_text import signed_int
from droidgate_mappings.text.configured_flags import resolve_flag

MANIFEST: Final = "AndroidManifest.xml"
TABLE: Final = "resources.arsc"

ApkSource = str | Path | bytes | ByteSource

_MAX_PACKAGE_NAME: Final = 255
_FRAMEWORK: Final = 0x01
_SHORT_NUMBER: Final = re.compile("[0-9]{1,9}")


def open_apk(source: ApkSource, *, splits: Sequence[ApkSource] = (), budget: Budget | None = None) -> Apk:
    """Open an APK; only its archive's directory and its manifest are read yet.

    Args:
        source: The APK: a path, bytes, or a source that the APK closes with itself.
        splits: The split APKs of the same app. One that cannot be read is left out with a finding.
        budget: What reading all of it may cost.

    Raises:
        InputError: it is not an APK, or its manifest cannot be read.
        BudgetError: it would take more than the budget allows.
    """
    apk = Apk(open_part(source, Budget() if budget is None else budget))
    try:
        for split in splits:
            apk.add_split(split)
    except BaseException:
        apk.close()
        raise
    return apk


class ApkPart:
    """One APK file: the base, or a split.

    Args:
        archive: Its archive.
        budget: Counts what reading it costs.

    Attributes:
        archive: Its archive.
        manifest: The root of its manifest.
        package: Application id.
        split: Name of the split, None for a base.
        budget: Counts what reading it costs.

    Raises:
        InputError: it has no manifest, or one that cannot be read.
        BudgetError: it would take more than the budget allows.
    """

    def __init__(self, archive: Archive, budget: Budget) -> None:
        self.archive = archive
        self.budget = budget
        place = archive.place_of(MANIFEST)
        data = archive.read_entry(MANIFEST, MAX_XML_BYTES)
        self.manifest = parse_binary_xml(data, path=place, budget=budget)
        if self.manifest.tag != "manifest":
            message = f"the root element is <{self.manifest.tag[:80]}>, not <manifest>"
            raise InputError(message, place=place)
        package = self.manifest.find_attribute("package", None)
        if package is None or not package.text or len(package.text) > _MAX_PACKAGE_NAME:
            raise InputError("the manifest has no package name", place=place)
        self.package: str = package.text
        split = self.manifest.find_attribute("split", None)
        self.split = split.text if split is not None else None

    @property
    def version(self) -> tuple[int, int] | None:
        """Major and minor version code as the manifest holds them, None without one."""
        low = self.manifest.find_attribute("versionCode")
        major = self.manifest.find_attribute("versionCodeMajor")
        return None if low is None else (major.data if major is not None else 0, low.data)

    def close(self) -> None:
        """Close its archive."""
        self.archive.close()


def open_part(source: ApkSource, budget: Budget, *, packed_size: int | None = None) -> ApkPart:
    """Open one APK file for itself, whether it is a base or a split.

    Args:
        source: The file.
        budget: Counts what reading it costs.
        packed_size: What it takes in the container that it comes from, where it is packed there.

    Raises:
        InputError: it is not an APK, or its manifest cannot be read.
        BudgetError: it would take more than the budget allows.
    """
    opened = open_source(source)
    try:
        return ApkPart(Archive(opened, budget, packed_size=packed_size), budget)
    except BaseException:
        opened.close()
        raise


class Apk:
    """An app's APK with its splits. A context manager.

    Args:
        base: The base, which is closed with it.

    Attributes:
        budget: What reading has cost so far.
        package: Application id.
        split: Name of the split where the base is a split that is read alone, else None.
    """

    def __init__(self, base: ApkPart) -> None:
        self.budget = base.budget
        self.package = base.package
        self.split = base.split
        self._parts = [base]
        self._closed_with_it: list[ByteSource] = []
        self._findings: list[Finding] = []
        self._signatures: dict[int, ApkSignature] = {}
        self._verified: dict[int, ApkSignature] = {}
        self._table: ResourceTable | None = None
        self._has_table = False

    @property
    def name(self) -> str:
        """The base as a user would write it."""
        return self.archive.name

    @property
    def archive(self) -> Archive:
        """The base's archive."""
        return self._parts[0].archive

    @property
    def manifest(self) -> XmlElement:
        """The root of the base's manifest."""
        return self._parts[0].manifest

    @property
    def parts(self) -> Sequence[ApkPart]:
        """The base and its splits."""
        return tuple(self._parts)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is evasive or broken, as far as was read."""
        of_archives = (finding for part in self._parts for finding in part.archive.findings)
        return tuple(dict.fromkeys((*of_archives, *self._findings)))

    def add_split(self, source: ApkSource) -> None:
        """Add a split; one that cannot be read, or is another app's, becomes a finding.

        Raises:
            BudgetError: reading it would take more than the budget allows.
        """
        opened = open_source(source)
        try:
            part = open_part(opened, self.budget)
        except BudgetError:
            raise
        except InputError as error:
            self.report_left_out(opened.name, error.message)
            return
        if part.package == self.package:
            self.add_part(part)
        else:
            part.close()
            self.report_left_out(opened.name, f"it is not a split of {self.package}")

    def add_part(self, part: ApkPart) -> None:
        """Add an opened split, which is closed with the APK."""
        self._parts.append(part)
        self._verified.clear()
        self._has_table = False

    def report_left_out(self, place: str, reason: str) -> None:
        """Report that a split is left out."""
        self._findings.append(warn(BROKEN_SPLIT, f"the split is left out: {reason}", place))

    def close_with_it(self, source: ByteSource) -> None:
        """Close a source with the APK, such as the container that it is in."""
        self._closed_with_it.append(source)

    @property
    def resources(self) -> ResourceTable | None:
        """The resources of base and splits; None where no file has a table."""
        if not self._has_table:
            self._has_table = True
            loaders = [partial(self._load_table, part) for part in self._parts if TABLE in part.archive]
            self._table = (
                ResourceTable(loaders, place=self.name, budget=self.budget, findings=self._findings)
                if loaders
                else None
            )
        return self._table

    def _load_table(self, part: ApkPart) -> TableFile | None:
        place = part.archive.place_of(TABLE)
        try:
            data = part.archive.read_entry(TABLE, MAX_ENTRY_BYTES)
            return TableFile(data, place=place, budget=self.budget)
        except BudgetError:
            raise
        except InputError as error:
            hint = "references stay unresolved"
            self._findings.append(warn(BROKEN_RESOURCE_TABLE, error.message, place, hint=hint))
            return None

    def name_of(self, identifier: int) -> str | None:
        """Return `@type/name` of a resource of the app or `@android:type/name` of one of Android's, else
        None.
        """
        if identifier >> 24 == _FRAMEWORK:
            framework_name = resource_name(identifier)
            return None if framework_name is None else f"@android:{framework_name}"
        return self.resources.reference_to(identifier) if self.resources is not None else None

    def resolve(self, value: TypedValue | None) -> TypedValue | None:
        """Follow a reference to its default value; None where it leads nowhere, or there is no value."""
        if value is None or value.type not in REFERENCE_TYPES:
            return value
        return self.resources.resolve(value) if self.resources is not None else None

    def flag_of(self, value: TypedValue | None) -> dict[str, bool]:
        """Return a boolean's value in each configuration by resource qualifier, references followed.

        Returns:
            Value by qualifier, the default configuration first; empty where there is no boolean.
        """
        if value is None or value.type not in REFERENCE_TYPES:
            flag = None if value is None else flag_value(value)
            return {} if flag is None else {"": flag}
        return resolve_flag(value.data, self._flags_of)

    def _flags_of(self, identifier: int) -> dict[str, bool | int]:
        flags: dict[str, bool | int] = {}
        for resource in self.resources.values_of(identifier) if self.resources is not None else ():
            value = resource.value
            if isinstance(value, TypedValue):
                flag = value.data if value.type in REFERENCE_TYPES else flag_value(value)
                if flag is not None:
                    flags.setdefault(resource.configuration.qualifier, flag)
        return flags

    def text_of(self, value: TypedValue | None) -> str | None:
        """Return a value as text, references resolved; None where there is none."""
        resolved = self.resolve(value)
        return None if resolved is None else value_text(resolved, self.name_of)

    def _integer(self, element: XmlElement | None, name: str) -> int | None:
        value = self.resolve(element.find_attribute(name)) if element is not None else None
        if value is None:
            return None
        if value.type == ValueType.STRING:
            return int(value.text) if _SHORT_NUMBER.fullmatch(value.text or "") and value.text else None
        return signed_int(value.data) if is_integer(value) else None

    @property
    def version_code(self) -> int | None:
        """`android:versionCode` with `versionCodeMajor` in the upper half; None without it."""
        low = self._integer(self.manifest, "versionCode")
        major = self._integer(self.manifest, "versionCodeMajor") or 0
        return None if low is None else (major & 0xFFFFFFFF) << 32 | low & 0xFFFFFFFF

    @property
    def version_name(self) -> str | None:
        """`android:versionName`."""
        return self.text_of(self.manifest.find_attribute("versionName"))

    @property
    def minimum_sdk(self) -> int | None:
        """`android:minSdkVersion`; None without it, or where it names a preview."""
        return self._integer(next(self.manifest.child_elements("uses-sdk"), None), "minSdkVersion")

    @property
    def target_sdk(self) -> int | None:
        """`android:targetSdkVersion`, by default the least version; None where it names a preview."""
        uses = next(self.manifest.child_elements("uses-sdk"), None)
        if uses is not None and uses.find_attribute("targetSdkVersion") is not None:
            return self._integer(uses, "targetSdkVersion")
        return self.minimum_sdk

    def part_with(self, name: str) -> ApkPart | None:
        """Return the first of base and splits that has an entry of that name."""
        return next((part for part in self._parts if name in part.archive), None)

    def read_xml(self, name: str) -> XmlElement:
        """Return the root of a compiled XML entry, of the base before its splits.

        Raises:
            InputError: there is none, or it cannot be read.
            BudgetError: it would take more than the budget allows.
        """
        archive = (self.part_with(name) or self._parts[0]).archive
        data = archive.read_entry(name, MAX_XML_BYTES)
        return parse_binary_xml(data, path=archive.place_of(name), budget=self.budget)

    def signer_digests(self, sdk: int = NEWEST_SDK) -> tuple[str, ...]:
        """Return the SHA-256 of each signing certificate's DER form, lower-case hexadecimal.

        Args:
            sdk: The release of Android whose signer counts; a rotated key is another on older ones.

        They are what the base says, not verified. A broken signature becomes a finding.
        """
        return self.read_signature(sdk).digests

    def read_signature(self, sdk: int = NEWEST_SDK) -> ApkSignature:
        """Return the signature of the base that a release of Android reads, not verified.

        A broken signature becomes a finding.
        """
        signature = self._signatures.get(sdk)
        if signature is None:
            try:
                signature = read_signature(self.archive, sdk)
            except BudgetError:
                raise
            except InputError as error:
                signature = ApkSignature()
                finding = warn(BROKEN_SIGNATURE, error.message, error.place or self.name)
                if finding not in self._findings:
                    self._findings.append(finding)
            self._signatures[sdk] = signature
        return signature

    def verify_signature(self, sdk: int = NEWEST_SDK) -> ApkSignature:
        """Return the signature that a release of Android reads, verified for the base and all splits.

        All of each file is read, once. A signature that is not right becomes a finding.
        """
        signature = self._verified.get(sdk)
        if signature is None:
            signature = self._verify(sdk)
            self._verified[sdk] = signature
            if signature.verified is False:
                message = f"the signature is not verified: {signature.problem}"
                self._findings.append(warn(UNVERIFIED_SIGNATURE, message, self.name))
        return signature

    def _verify(self, sdk: int) -> ApkSignature:
        # Reading it first reports what is evasive or broken about it.
        self.read_signature(sdk)
        target = self.target_sdk
        base, *others = (verify_signature(part.archive, sdk, target_sdk=target) for part in self._parts)
        if base.verified:
            for part, signature in zip(self._parts[1:], others, strict=True):
                name = part.archive.name
                if not signature.verified:
                    problem = signature.problem or "it is not signed"
                    return replace(base, verified=False, problem=f"the split {name}: {problem}")
                if set(signature.certificates) != set(base.certificates):
                    problem = f"the split {name} is signed by another key than the base"
                    return replace(base, verified=False, problem=problem)
        return base

    def release(self) -> None:
        """Keep no file open; each later read opens its file for itself."""
        for source in (*(part.archive.source for part in self._parts), *self._closed_with_it):
            if isinstance(source, FileSource):
                source.release()

    def close(self) -> None:
        """Close base and splits."""
        for part in self._parts:
            part.close()
        for source in self._closed_with_it:
            source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

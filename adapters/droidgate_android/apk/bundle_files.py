"""Files that hold several APKs of one app: `.apks` of bundletool and SAI, `.xapk`, `.apkm`; and loose APKs of
which some are splits of others.

Which APK is the base and which is a split, their manifests say; what the containers add (`toc.pb`,
`manifest.json`, `info.json`) is not needed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from typing import Final

from droidgate_android.apk.apk_budgets import MIB, Budget, Limits
from droidgate_android.apk.apk_files import MemorySource, PartOfSource, check_range, open_source
from droidgate_android.apk.archive import Archive
from droidgate_android.apk.byte_source import ByteSource
from droidgate_android.apk.reader import MANIFEST, Apk, ApkPart, ApkSource, open_part
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.records import dataclass

APK_ENDING: Final = ".apk"

_OUTER_LIMITS: Final = Limits(inflated_bytes=1024 * MIB)
"""A container's packed APKs are unpacked into temporary files, not into memory."""

_SMALL: Final = 4 * MIB
_MAX_APKS: Final = 512
_LATER_VARIANT: Final = re.compile(r"_\d+\.apk")


def open_app(source: ApkSource, *, budget: Budget | None = None) -> Apk:
    """Open an APK, or a container with an app's base and splits.

    Args:
        source: The file: a path, bytes, or a source that is closed with the APK.
        budget: What reading it may cost.

    Raises:
        InputError: it is neither, or its base cannot be read.
        BudgetError: it would take more than the budget allows.
    """
    opened = open_source(source)
    counted = Budget() if budget is None else budget
    try:
        archive = Archive(opened, counted)
        if MANIFEST in archive:
            return Apk(ApkPart(archive, counted))
        return _open_contained(Archive(opened, Budget(_OUTER_LIMITS)), counted)
    except BaseException:
        opened.close()
        raise


def chosen_apks(names: Sequence[str]) -> list[str]:
    """Return which APKs of a container make up the app for one device.

    Bundletool's containers hold the app several times: split (of which later variants end with `_2.apk`), as
    `universal.apk`, and whole for single kinds of devices (`standalones/`).
    """
    apks = [name for name in names if name.lower().endswith(APK_ENDING)]
    split = [name for name in apks if name.startswith("splits/") and not _LATER_VARIANT.search(name)]
    if split:
        return split
    if "universal.apk" in apks:
        return ["universal.apk"]
    outside = [name for name in apks if "/" not in name]
    return outside or sorted(apks)[:1]


def _open_contained(container: Archive, budget: Budget) -> Apk:
    names = chosen_apks(container.entry_names)
    if not names:
        message = "it is not an APK: it has no AndroidManifest.xml, and no APK inside"
        raise InputError(message, place=container.name)
    if len(names) > _MAX_APKS:
        raise BudgetError(f"it holds more than {_MAX_APKS} APKs", place=container.name)
    parts: list[ApkPart] = []
    problems: list[InputError] = []
    try:
        for name in names:
            try:
                contained = _contained_source(container, name)
                parts.append(open_part(contained, budget, packed_size=container.size_in_file(name)))
            except BudgetError:
                raise
            except InputError as error:
                problems.append(error)
        return _app_of(container, parts, problems)
    except BaseException:
        for part in parts:
            part.close()
        raise


def _app_of(container: Archive, parts: Sequence[ApkPart], problems: Sequence[InputError]) -> Apk:
    """Return the first app that a container's APKs make up; what is left over is reported and closed."""
    apps, _ = group_apks([identity_of(part) for part in parts])
    if not apps:
        message = "none of the APKs in it is the base of an app"
        raise problems[0] if problems else InputError(message, place=container.name)
    apk = Apk(parts[apps[0][0]])
    apk.close_with_it(container.source)
    for problem in problems:
        apk.report_left_out(problem.place or container.name, problem.message)
    for number, part in enumerate(parts):
        if number in apps[0][1:]:
            apk.add_part(part)
        elif number != apps[0][0]:
            apk.report_left_out(part.archive.name, f"it is not a split of {apk.package}")
            part.close()
    return apk


def _contained_source(container: Archive, name: str) -> ByteSource:
    place = container.place_of(name)
    stored = container.stored_range(name)
    if stored is not None:
        return PartOfSource(container.source, *stored, name=place)
    entry = container.find_entry(name)
    if entry is not None and entry.compressed_size <= _SMALL and entry.size <= _SMALL:
        return MemorySource(container.read_entry(name, _SMALL), name=place)
    unpacked = TemporarySource(name=place)
    try:
        container.copy_entry(name, unpacked.write)
    except BaseException:
        unpacked.close()
        raise
    return unpacked


@dataclass(frozen=True, slots=True)
class ApkIdentity:
    """What identifies APKs that belong together: package, name of the split (None for a base), version."""

    package: str
    split: str | None
    version: tuple[int, int] | None


def identity_of(part: ApkPart) -> ApkIdentity:
    """Return an APK's identity."""
    return ApkIdentity(part.package, part.split, part.version)


def group_apks(identities: Sequence[ApkIdentity]) -> tuple[list[list[int]], list[int]]:
    """Return the positions of the APKs that each app is made of, base first, and of splits without a base.

    A split belongs to the base of its package and version, or where none has its version, to the package's
    only base.
    """
    apps = [[number] for number, identity in enumerate(identities) if identity.split is None]
    orphans: list[int] = []
    for number, split in enumerate(identities):
        if split.split is None:
            continue
        of_package = [app for app in apps if identities[app[0]].package == split.package]
        fitting = [app for app in of_package if identities[app[0]].version == split.version]
        if fitting or len(of_package) == 1:
            (fitting or of_package)[0].append(number)
        else:
            orphans.append(number)
    return apps, orphans


class TemporarySource:
    """A temporary file that is written first and then read; it is gone when it is closed.

    Args:
        name: How errors name it.
    """

    def __init__(self, *, name: str) -> None:
        self.name = name
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Add bytes at its end."""
        self._file.seek(self.size)
        self._file.write(data)
        self.size += len(data)

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes from `offset` on.

        Raises:
            InputError: the range is not inside.
        """
        check_range(self, offset, length)
        self._file.seek(offset)
        return self._file.read(length)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()

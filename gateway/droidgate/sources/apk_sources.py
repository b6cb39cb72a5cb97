"""APKs as sources: single ones, containers with splits, a folder's, and compiled XML taken out of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from droidgate_android.apk.apk_budgets import Budget
from droidgate_android.apk.apk_files import FileSource, MemorySource
from droidgate_android.apk.binary_xml import parse_binary_xml
from droidgate_android.apk.bundle_files import (
    APK_ENDING,
    ApkIdentity,
    group_apks,
    identity_of,
    open_app,
)
from droidgate_android.apk.reader import Apk, open_apk, open_part
from droidgate_android.apk.xml_rendering import render_xml
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.aapt_text import escape_xml_attribute
from droidgate_mappings.text.shown_paths import printable, shown_parent

__all__ = ["open_archive", "open_loose_archives", "source_text_of"]


def open_archive(path: str, data: bytes | None = None) -> Apk:
    """Open an APK or a container.

    Args:
        path: How the user wrote it.
        data: Its content, where it is not a file.

    Raises:
        InputError: it is neither, or cannot be read.
    """
    place = printable(path)
    return open_app(FileSource(path, name=place) if data is None else MemorySource(data, name=place))


def open_loose_archives(files: Iterable[tuple[str, str]], problems: list[InputError]) -> Iterator[Apk]:
    """Open the apps of a folder one after the other; APKs in one folder may be splits of one app.

    Args:
        files: Path on disk and path as the user would write it, in order.
        problems: Takes what cannot be read.
    """
    folders: dict[str, list[tuple[str, str]]] = {}
    for path, shown_path in files:
        folders.setdefault(shown_parent(shown_path), []).append((path, shown_path))
    for members in folders.values():
        apks = [member for member in members if member[1].lower().endswith(APK_ENDING)]
        for path, shown_path in members:
            if (path, shown_path) not in apks:
                try:
                    yield open_app(FileSource(path, name=shown_path))
                except InputError as error:
                    problems.append(error)
        yield from _open_beside_each_other(apks, problems)


def _open_beside_each_other(files: Iterable[tuple[str, str]], problems: list[InputError]) -> Iterator[Apk]:
    parts: list[tuple[str, str]] = []
    identities: list[ApkIdentity] = []
    for path, shown_path in files:
        try:
            part = open_part(FileSource(path, name=shown_path), Budget())
        except InputError as error:
            problems.append(error)
            continue
        part.close()
        parts.append((path, shown_path))
        identities.append(identity_of(part))
    apps, orphans = group_apks(identities)
    for number in orphans:
        message = f"it is a split of {identities[number].package}, whose base is not in the same folder"
        problems.append(InputError(message, place=parts[number][1]))
    for base, *splits in apps:
        sources = [FileSource(parts[number][0], name=parts[number][1]) for number in (base, *splits)]
        try:
            yield open_apk(sources[0], splits=sources[1:])
        except InputError as error:
            problems.append(error)


def source_text_of(data: bytes, place: str) -> str:
    """Return compiled XML that was taken out of an APK as text that compiles to it; references stay numbers.

    Raises:
        InputError: it is broken, or a manifest, which needs its APK's resources.
    """
    root = parse_binary_xml(data, path=place)
    if root.tag == "manifest":
        message = "it is a compiled manifest, whose references lead into its APK"
        raise InputError(message, place=place, hint="name the APK")
    return render_xml(root, lambda _: None, path=place, escape=_escape)


def _escape(text: str) -> str:
    return escape_xml_attribute(text.replace("\0", "\ufffd"))

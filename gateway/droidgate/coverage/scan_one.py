"""From one input to its rows: a pure function, the same in this process, in a worker and on a cluster.

The rows depend on the bytes alone. What is read has neutral names meanwhile, so that no place or message says
where on a machine it was. Content is recognised by a digest that need not read all of a large APK.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from typing import Final

from droidgate.coverage.remote_files import open_remote
from droidgate.coverage.scan_inputs import Item, state_of
from droidgate.coverage.scan_results import CHANGED, KNOWN, PART, Scanned, SplitIdentity
from droidgate.coverage.unit_rows import Unit, rows_of_unit
from droidgate.sources import Providers, ReadOptions
from droidgate.sources.apk_sources import source_text_of
from droidgate.sources.archives import is_archive
from droidgate.sources.file_reader import FileReader
from droidgate.sources.folder_files import read_bytes
from droidgate.sources.format_reading import discovered_providers
from droidgate.sources.linting import check_reading
from droidgate.sources.module_layout import LooseCode, ModuleLayout, ModuleOpener
from droidgate.sources.source_code import Code, code_endings
from droidgate_android.apk.apk_files import FileSource
from droidgate_android.apk.archive import Archive
from droidgate_android.apk.bundle_files import open_app
from droidgate_android.apk.byte_source import ByteSource
from droidgate_android.apk.file_kinds import is_binary_xml, is_zip
from droidgate_android.apk.reader import Apk
from droidgate_android.projects.android_project import MAIN, Module
from droidgate_android.projects.resources import SourceSet
from droidgate_android.projects.text_manifest import is_manifest
from droidgate_mappings.formats.format import SourceFile, detect_format, load_formats
from droidgate_mappings.formats.leniency import crash_report
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.text.shown_paths import printable

_PIECE: Final = 1 << 20
_MAGIC: Final = b"APK Sig Block 42"
_FOOTER: Final = 24
_MAX_BLOCK: Final = 16 << 20
_SCHEMES: Final = tuple(item.to_bytes(4, "little") for item in (0x7109871A, 0xF05368C0, 0x1B93AD61))
"""Ids of the signature schemes v2, v3 and v3.1 (source.android.com, APK Signature Scheme v2 and v3)."""


def _declared(step: Callable[[FileReader], object]) -> Providers:
    """Return what one step of reading finds declared; what cannot be read is among the problems."""
    reader = FileReader(_OPTIONS)
    step(reader)
    return reader.result()


def digest_of_content(source: ByteSource) -> str:
    """Return the SHA-256 of everything, in hexadecimal.

    Raises:
        InputError: it cannot be read.
    """
    digest = hashlib.sha256()
    for offset in range(0, source.size, _PIECE):
        digest.update(source.read(offset, min(_PIECE, source.size - offset)))
    return digest.hexdigest()


def digest_of_apk(archive: Archive) -> str:
    """Return the digest by which an APK is known again, in hexadecimal.

    An APK with a signing block (scheme v2 or later) is known by its size and its end: the block, which holds
    digests of the whole content, and the directory. Two such files that Android would install and that
    differ anywhere differ there. Any other file is known by everything in it.

    Raises:
        InputError: it cannot be read.
    """
    source, end = archive.source, archive.directory_offset
    if end > _FOOTER:
        footer = source.read(end - _FOOTER, _FOOTER)
        size = int.from_bytes(footer[:8], "little")
        if footer[8:] == _MAGIC and _FOOTER <= size <= min(_MAX_BLOCK, end - 8):
            tail = source.read(end - size, source.size - end + size)
            if any(item in tail[:size] for item in _SCHEMES):
                return hashlib.sha256(b"%d:" % source.size + tail).hexdigest()
    return digest_of_content(source)


_DESCRIPTOR: Final = "descriptor"
_SMALLEST_MANIFEST: Final = b'<manifest package="a.b"><application/></manifest>'
_WITHOUT_MANIFESTS: Final = "what `discover --json` printed has no manifests; scan the phone (adb:) itself"
_INSIDE: Final = "!/"
"""Separates an archive's name from that of a file in it; what is read goes by no name here."""


def scan_one(item: Item, units: Container[str] = ()) -> Scanned:
    """Read and check one input.

    Args:
        item: The input.
        units: Units whose rows need not be made again.

    What cannot be read is a result with its reason; so is a file that changes while it is read, since its
    digest and its rows may be of two contents. Nothing is raised but what ends the process (no memory), and
    mistakes of ours.
    """
    state = state_of(item)
    try:
        scanned = _SCANS[item.kind](item, units)
    except DroidgateError as error:
        # The row names the input already: an error at its own place need not say it again.
        reason = error.message if error.place == item.source else _reason_of(error)
        scanned = Scanned.failed(item.source, "unreadable", reason, kind=_kind_of(item))
    if state != state_of(item):
        scanned = Scanned.failed(item.source, "unreadable", CHANGED, kind=scanned.kind)
    scanned.state = state
    return scanned


def load_ahead() -> None:
    """Do once what every input takes, so that nothing has to be loaded any more while its clock runs."""
    import droidgate_android.apk.apk_application  # noqa: F401 - reading an APK loads it late

    reading = _read_descriptor(_SMALLEST_MANIFEST, must_be_descriptor=True)
    if reading is not None:
        provider = Provider(protocol=next(iter(load_formats())), capabilities=(Capability(id="one"),))
        reading = replace(reading, providers=(provider,))
        findings = tuple(check_reading(reading, load_formats().values(), lambda _: None))
        rows_of_unit(Unit("0" * 64, reading, findings))


def _reason_of(error: DroidgateError) -> str:
    place = (error.place or "").removeprefix(_INSIDE)
    return f"{place}: {error.message}" if place else error.message


def _kind_of(item: Item) -> str:
    kinds = {"app": "apk", "file": "unknown", "remote": "apk", "refused": "unknown"}
    return kinds.get(item.kind, item.kind)


def _refused_input(item: Item, units: Container[str]) -> Scanned:
    del units
    return Scanned.failed(item.source, "unreadable", item.reason or "it is refused")


def _scan_file(item: Item, units: Container[str]) -> Scanned:
    if is_archive(item.location):
        return _scan_apk(item, units)
    return _scan_descriptor(item, units)


def _scan_apk(item: Item, units: Container[str]) -> Scanned:
    return _scan_opened(item, FileSource(item.location, name=""), units)


def _scan_remote(item: Item, units: Container[str]) -> Scanned:
    source = open_remote(item.location)
    try:
        return _scan_opened(item, source, units)
    finally:
        source.close()


def _scan_opened(item: Item, source: ByteSource, units: Container[str]) -> Scanned:
    scanned = Scanned(item.source, "apk", size=source.size)
    try:
        apk = open_app(source)
    except InputError as error:
        return scanned.ended("unreadable", _reason_of(error))
    with apk:
        base = apk.parts[0]
        is_whole = base.archive.source is source
        scanned.digest = digest_of_apk(base.archive) if is_whole else digest_of_content(source)
        if base.split is not None:
            scanned.identity = SplitIdentity(apk.package, base.split, base.version)
            return scanned.ended(
                PART, f"it is a split of {apk.package}, whose base is not in the same folder"
            )
        return _scan_app(scanned, apk, scanned.digest, units)


def _scan_with_splits(item: Item, units: Container[str]) -> Scanned:
    """Scan a base with its splits; the unit is made of all their digests."""
    source = FileSource(item.location, name="")
    scanned = Scanned(item.source, "apk", size=source.size)
    with open_app(source) as apk:
        scanned.digest = digest_of_apk(apk.archive)
        for number, (_, path) in enumerate(item.parts, 1):
            apk.add_split(FileSource(path, name=f"split{number}"))
        digests = [digest_of_apk(part.archive) for part in apk.parts]
        together = hashlib.sha256(" ".join(digests).encode()).hexdigest()
        return _scan_app(scanned, apk, together, units)


def _scan_app(scanned: Scanned, apk: Apk, unit: str, units: Container[str]) -> Scanned:
    scanned.identity = SplitIdentity(apk.package, None, apk.parts[0].version)
    scanned.unit = unit
    if unit in units:
        return scanned.ended(KNOWN)
    reading = _declared(lambda reader: reader.read_apk(apk))
    if not reading.applications:
        problem = reading.problems[0]
        return scanned.ended("unreadable", _reason_of(problem))
    reading = _with_verified_signers(reading)
    if any(application.signers_verified is False for application in reading.applications):
        # The end of the file, by which a signed APK is known again, identifies its content only where the
        # signature is right.
        scanned.digest = scanned.unit = unit = _digest_of_parts(apk)
        if unit in units:
            return scanned.ended(KNOWN)
    reading, findings = _lint_reading(reading, lambda _: None)
    return scanned.ended("read", rows=rows_of_unit(Unit(unit, reading, findings)))


def _lint_reading(
    reading: Providers, content_of: Callable[[str], bytes | None]
) -> tuple[Providers, tuple[Finding, ...]]:
    """Return a reading with what the linters find in it; a crash of theirs is a problem of the reading."""
    try:
        return reading, tuple(check_reading(reading, load_formats().values(), content_of))
    except (DroidgateError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - a mistake of ours costs the findings, not the app
        problem = crash_report(error, None, part="what the linters find")
        return replace(reading, problems=(*reading.problems, problem)), ()


def _with_verified_signers(reading: Providers) -> Providers:
    """Return a reading of an APK with its signature verified where the APK declares something.

    The signer of an app that declares nothing decides nothing, and verifying reads the whole file.
    """
    from droidgate_android.apk.apk_application import verify_signers

    if not reading.providers:
        return reading
    return replace(reading, applications=tuple(map(verify_signers, reading.applications)))


def _digest_of_parts(apk: Apk) -> str:
    digests = [digest_of_content(part.archive.source) for part in apk.parts]
    return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()


_OPTIONS: Final = ReadOptions(keeps_going=True, with_silent=True)
"""How an input is read: a crash costs one capability, and silent providers count."""


def _scan_descriptor(item: Item, units: Container[str]) -> Scanned:
    data = read_bytes(item.location, label="", root=item.root or None)
    digest = hashlib.sha256(data).hexdigest()
    scanned = Scanned(item.source, "descriptor", digest=digest, size=len(data), unit=digest)
    if digest in units:
        return scanned.ended(KNOWN)
    try:
        ending = posixpath.splitext(item.location)[1]
        reading = _read_descriptor(data, ending, must_be_descriptor=item.kind != "descriptor")
    except InputError as error:
        return scanned.ended("unreadable", error.message)
    if reading is None:
        return scanned.ended("no-descriptor", "no known format claims this file")
    if reading.problems and not (reading.providers or reading.applications):
        problem = reading.problems[0]
        line = (problem.place or "").rpartition(":")[2]
        where = f"line {line}: " if line.isdecimal() else ""
        return scanned.ended("unreadable", f"{where}{problem.message}")
    return scanned.ended("read", rows=rows_of_unit(Unit(digest, *_lint_reading(reading, lambda _: data))))


def _read_descriptor(data: bytes, ending: str = "", *, must_be_descriptor: bool) -> Providers | None:
    """Return what a file declares; only its ending, if a format claims it by that, is known of its name."""
    if is_zip(data):
        return None
    if is_binary_xml(data):
        data = source_text_of(data, _DESCRIPTOR).encode()
    if is_manifest(data):
        module = Module({MAIN: SourceSet({_DESCRIPTOR: data}, "", _DESCRIPTOR)})
        return _declared(lambda reader: reader.read_module(module))
    path = _DESCRIPTOR + ending
    names = dict.fromkeys([_DESCRIPTOR, path])
    claimed = next((name for name in names if detect_format(SourceFile(name, data)) is not None), None)
    if claimed is None and discovered_providers(SourceFile(path, data)) is not None:
        raise InputError(_WITHOUT_MANIFESTS)
    if claimed is None and not must_be_descriptor:
        return None
    is_code = ending.endswith(code_endings(load_formats().values()))
    name = claimed or (path if is_code else _DESCRIPTOR)
    return _declared(lambda reader: reader.read_named(name, data))


def _scan_module(item: Item, units: Container[str]) -> Scanned:
    layout = ModuleLayout.from_json(item.layout)
    digest, size = _digest_of(_contents_of(_relative_module(item, layout, {}), layout))
    scanned = Scanned(item.source, "module", digest=digest, size=size, unit=digest)
    if digest in units:
        return scanned.ended(KNOWN)
    reading = _declared(lambda reader: reader.read_module(_relative_module(item, layout, {})))
    if not (reading.providers or reading.applications or reading.only_in_variants):
        others = (part for _, part in reading.other_variants)
        problems = (problem for part in (reading, *others) for problem in part.problems)
        problem = next(problems, None)
        if problem is not None:
            return scanned.ended("unreadable", _reason_of(problem))
        return scanned.ended("no-descriptor", "no manifest, and no code that declares anything")

    def content_of(path: str) -> bytes | None:
        try:
            return read_bytes(f"{item.location}/{path}", label=path, root=item.root)
        except InputError:
            return None

    return scanned.ended("read", rows=rows_of_unit(Unit(digest, *_lint_reading(reading, content_of))))


def _scan_code(item: Item, units: Container[str]) -> Scanned:
    files = LooseCode({printable(inner): path for inner, path in item.parts}, item.root)
    digest, size = _digest_of(_contents_of_set("code", SourceSet(files)))
    scanned = Scanned(item.source, "code", digest=digest, size=size, unit=digest)
    if digest in units:
        return scanned.ended(KNOWN)
    reading = _declared(lambda reader: reader.read_code_alone(Code((SourceSet(files),))))
    if not reading.providers:
        if reading.problems:
            return scanned.ended("unreadable", _reason_of(reading.problems[0]))
        return scanned.ended("no-descriptor", "no code that declares anything")
    return scanned.ended("read", rows=rows_of_unit(Unit(digest, *_lint_reading(reading, files.get))))


def _relative_module(item: Item, layout: ModuleLayout, read: dict[str, None]) -> Module:
    """Return a module whose files are written as paths relative to its folder."""

    def spell(path: str) -> str:
        below = posixpath.relpath(path or ".", layout.folder or ".")
        return "" if below == "." else printable(below)

    findings = [
        item.changed({"source": item.source.changed({"path": spell(item.source.path)})})
        for item in layout.findings
        if item.source is not None
    ]
    layout = replace(layout, findings=tuple(findings))
    return ModuleOpener(item.root, spell, read, code_endings(load_formats().values())).open(layout)


def _digest_of(contents: Iterable[tuple[str, bytes]]) -> tuple[str, int]:
    """Return the digest and the size of everything that reading a module or code may look at."""
    digest = hashlib.sha256()
    total = 0
    for name, data in contents:
        total += len(data)
        digest.update(f"{len(name)}:{name}:{len(data)}:".encode("utf-8", "surrogateescape"))
        digest.update(data)
    return digest.hexdigest(), total


def _contents_of(module: Module, layout: ModuleLayout) -> Iterator[tuple[str, bytes]]:
    yield "findings", repr([(finding.code, finding.message) for finding in layout.findings]).encode()
    for number, part in enumerate((module, *module.libraries)):
        prefix = f"{number}/" if number else ""
        yield f"{prefix}gradle", repr(part.gradle).encode()
        sets = [*sorted(part.source_sets.items())]
        sets += [(f"generated{position}", output) for position, output in enumerate(part.generated)]
        sets += [(f"code{position}", code) for position, code in enumerate((*part.code, *part.variant_code))]
        for name, source_set in sets:
            yield from _contents_of_set(f"{prefix}{name}", source_set)


def _contents_of_set(name: str, source_set: SourceSet) -> Iterator[tuple[str, bytes]]:
    for path in sorted(source_set.files):
        try:
            yield f"{name}/{path}", source_set.files[path]
        except InputError as error:
            yield f"{name}/{path}", error.message.encode()


_SCANS: Final = {
    "apk": _scan_apk,
    "app": _scan_with_splits,
    "module": _scan_module,
    "code": _scan_code,
    "descriptor": _scan_descriptor,
    "file": _scan_file,
    "remote": _scan_remote,
    "refused": _refused_input,
}

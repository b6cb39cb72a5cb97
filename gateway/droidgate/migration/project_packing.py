"""What `pack` does: a signed APK of an app's source tree, with what its source code declares, also where only
a compiler would make the descriptors, and with the files of its library modules, merged as Gradle merges
them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Final

from lxml import etree

from droidgate.computer.output_folder import WriteStatus, write_files
from droidgate.migration.migration_plan import plan_migration
from droidgate.migration.source_sets import find_source_set
from droidgate.sources import Providers, ReadOptions, read_source
from droidgate.sources.build_layout import APPLICATION_ID_UNKNOWN, PROJECT_NOT_MERGED
from droidgate.sources.folder_files import MANIFEST
from droidgate.sources.folders import scan_folder
from droidgate.sources.format_reading import FormatReader
from droidgate.sources.linting import report_unstated_exported
from droidgate.sources.source_code import is_from_build, is_from_code, is_of_service, releases_of_one_service
from droidgate_android.apk.pack import Packing, pack as pack_files
from droidgate_android.apk.packed_files import MAX_BYTES, MAX_FILES, ProjectFiles, read_project
from droidgate_android.apk.packed_manifest import AppFacts
from droidgate_android.apk.signing_keys import SigningKey, load_key, load_or_make_key
from droidgate_android.projects.android_project import MAIN, Module, merge_library, read_source_set
from droidgate_android.projects.manifest_merge import FILE_MARK, ManifestMerger
from droidgate_android.projects.project_files import read_project_file
from droidgate_android.projects.resources import SourceSet
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Format, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import BudgetError, InputError, WriteError, option_hint
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.text.xml_text import Element, child_elements, parse_xml
from droidgate_mappings.translate import Translation, translate

_VALUES: Final = "res/values"
_KINDS: Final = {"string-array": "array", "integer-array": "array"}

ResourceKey = tuple[str, str, str]
"""Folder of a resource, its type, its name."""


def find_module(project: Path, files: ProjectFiles) -> Module:
    """Return the module of an app, with the files that are packed in place of those on disk.

    Args:
        project: The folder that the user named.
        files: The files of the app in it.
    """
    for module in scan_folder(str(project), str(project)).modules:
        main = module.source_sets.get(MAIN)
        if main is not None and Path(main.shown).resolve() == Path(files.folder).resolve():
            return replace(module, source_sets={**module.source_sets, MAIN: replace(main, files=files.tree)})
    return Module({MAIN: SourceSet(files.tree, files.folder)}, files.gradle)


def read_packed_manifest(module: Module) -> tuple[Application, list[Finding]]:
    """Return the application of the files that are packed, and what readers of declarations in code report.

    Raises:
        InputError: the manifest cannot be read.
    """
    context = ReadingContext()
    application = read_source_set(module, MAIN, context, [])
    reader = FormatReader(ReadOptions(_formats_of_code()))
    reader.read_application(application)
    return application, [*context.findings, *reader.findings]


def merge_libraries(module: Module, files: ProjectFiles) -> tuple[ProjectFiles, list[Finding]]:
    """Return an app's files with the manifests, resources and assets of the modules that it is built with.

    The app's own resource wins over one of a library, and a library's over that of a library below it.

    Args:
        module: The module of the app.
        files: Its files.

    Returns:
        The files, and a finding for each module that is missing and each conflict of manifests.

    Raises:
        InputError: a file of a library cannot be read.
        BudgetError: the app has more files or bytes than an app would have.
    """
    findings = [finding for finding in module.findings if finding.code == PROJECT_NOT_MERGED]
    libraries = [library for library in module.libraries if MAIN in library.source_sets]
    if not libraries or not module.merges_manifests:
        return files, findings
    tree = dict(files.tree)
    merged = _Merged(tree)
    for number, library in enumerate(libraries, 1):
        merged.add(library.source_sets[MAIN], f"library_{number}")
    root = parse_xml(tree[MANIFEST], path=f"{files.folder}/{MANIFEST}")
    merger = ManifestMerger(root, f"{files.folder}/{MANIFEST}", files.gradle.namespace or root.get("package"))
    for library in libraries:
        merge_library(merger, library, lambda data, path: parse_xml(data, path=path))
    for element in root.iter(etree.Element):
        element.attrib.pop(FILE_MARK, None)
    etree.cleanup_namespaces(root)
    tree[MANIFEST] = etree.tostring(root, encoding="unicode").encode()
    return replace(files, tree=tree), [*findings, *merger.findings]


class _Merged:
    """The tree of an app, to which libraries add what no file before them declares."""

    def __init__(self, tree: dict[str, bytes]) -> None:
        self._tree = tree
        self._bytes_left = MAX_BYTES - sum(map(len, tree.values()))
        self._known = {key for name, data in tree.items() for key in _keys_of(name, data, name)}

    def add(self, source_set: SourceSet, prefix: str) -> None:
        """Add the resources and assets of a library; its values go into files with a prefix of their own."""
        new_keys: set[ResourceKey] = set()
        for name in source_set.files:
            if not name.startswith(("res/", "assets/")):
                continue
            data = source_set.files[name]
            keys = set(_keys_of(name, data, source_set.path_of(name)))
            if name.startswith(_VALUES):
                data = _without_known_values(data, self._known, posixpath.dirname(name))
                self._put(
                    posixpath.join(posixpath.dirname(name), f"{prefix}_{posixpath.basename(name)}"), data
                )
            elif not keys & self._known:
                self._put(name, data)
            new_keys |= keys
        self._known |= new_keys

    def _put(self, name: str, data: bytes) -> None:
        self._bytes_left -= len(data)
        if self._bytes_left < 0 or len(self._tree) >= MAX_FILES:
            message = f"an app has at most {MAX_FILES} files and {MAX_BYTES} bytes"
            raise BudgetError(message, place=name)
        self._tree[name] = data


def _keys_of(name: str, data: bytes, path: str) -> Iterator[ResourceKey]:
    """Yield what a file declares: the values in it, or itself.

    Args:
        name: Its path in the source set.
        data: Its content.
        path: How a user would write it.
    """
    folder, file = posixpath.split(name)
    if name.startswith(_VALUES):
        for child in child_elements(parse_xml(data, path=path)):
            yield _key_of(child, folder)
    elif name.startswith("res/"):
        yield folder, "file", file.partition(".")[0]
    elif name.startswith("assets/"):
        yield folder, "asset", file


def _key_of(element: Element, folder: str) -> ResourceKey:
    tag = str(element.tag)
    kind = element.get("type", "") if tag == "item" else _KINDS.get(tag, tag)
    return folder, kind, element.get("name", "")


def _without_known_values(data: bytes, known_values: set[ResourceKey], folder: str) -> bytes:
    """Return a file of values without those that are known."""
    root = parse_xml(data, path=folder)
    for child in list(child_elements(root)):
        if _key_of(child, folder) in known_values:
            root.remove(child)
    return etree.tostring(root, encoding="unicode").encode()


COMPILER_OUTPUT_MISSING: Final = finding_code(
    "compiler-output-missing",
    "Source code declares capabilities, and the APK lacks the descriptors that a compiler makes of it",
    __name__,
)


SERVICE_SHARED: Final = finding_code(
    "service-shared",
    "A service declares functions that another class runs, because a release reads one service of an app",
    __name__,
)


def read_unpacked(project: Path) -> Providers:
    """Return the reading of a project, with the providers that only its source code or a build declares.

    Raises:
        InputError: the project cannot be read.
    """
    formats = _formats_of_code()
    reading = read_source(str(project), formats=formats)
    unpacked = (
        provider
        for provider in reading.providers
        if is_from_code(provider, formats) or is_from_build(provider)
    )
    return replace(reading, providers=tuple(unpacked))


def _formats_of_code() -> tuple[Format, ...]:
    return tuple(format_ for format_ in load_formats().values() if format_.code is not None)


def missing_output(declared: Sequence[Provider]) -> Finding:
    """Return the finding that an APK lacks the descriptors of source code."""
    count = sum(len(item.capabilities) for item in declared)
    have = "capability has" if count == 1 else "capabilities have"
    return Finding(
        code=COMPILER_OUTPUT_MISSING,
        level=Level.WARNING,
        pointer="",
        message=f"{count} {have} no descriptor in this APK, so no agent finds what the source code declares",
        source=declared[0].source,
        hint="give --generate to write the descriptors",
    )


def join_services(
    declared: Sequence[Provider], minimum_sdk: int | None
) -> tuple[list[Provider], list[Finding]]:
    """Return the providers to write, so that every release that an app supports indexes all functions.

    Older releases read one service of an app. Functions outside of entry points have none of their own in the
    source code, so the service of the entry point declares them too.

    Args:
        declared: What the source code of the app declares.
        minimum_sdk: The oldest SDK level that the app supports, None where it is not known.

    Raises:
        WriteError: several entry points have services of their own.
    """
    releases = releases_of_one_service(minimum_sdk)
    services = [item for item in declared if is_of_service(item)]
    rivals = [service for service in services if service.component is not None]
    if not releases or len(services) < 2:  # noqa: PLR2004 - two services compete
        return list(declared), []
    titles = ", ".join(release.title for release in releases)
    if len(rivals) > 1:
        classes = ", ".join(str(item.component) for item in rivals)
        message = f"{len(rivals)} services declare functions, and {titles} index the last one only: {classes}"
        raise WriteError(
            message,
            place=str(rivals[0].source),
            hint=option_hint(
                "declare all functions in one entry point, or give {}", "--min-sdk 37", "min_sdk=37"
            ),
        )
    first, *others = sorted(services, key=lambda service: service.component is None)
    joined = first.changed(
        {
            "capabilities": tuple(each for service in services for each in service.capabilities),
            "definitions": {name: each for service in services for name, each in service.definitions.items()},
        }
    )
    effect = f"the service {first.component} declares it too, because {titles} index the last service only"
    findings = [
        Finding(
            code=SERVICE_SHARED,
            level=Level.WARNING,
            pointer="",
            message=f"{provider.capabilities[0].id}: {effect}",
            source=provider.source,
            hint="let that service run it, or declare all functions in one entry point",
        )
        for provider in others
        if provider.capabilities
    ]
    return [joined, *(item for item in declared if not is_of_service(item))], findings


def generate_output(
    project: Path, files: ProjectFiles, declared: Sequence[Provider], manifest_facts: AppFacts
) -> tuple[ProjectFiles, list[Finding]]:
    """Return a project's files with the descriptors of its source code, and what they do not carry.

    Args:
        project: The project's folder; nothing in it is changed.
        files: Its files.
        declared: What its source code declares.
        manifest_facts: What the manifest shall say in place of what the project says.

    Raises:
        InputError: the manifest cannot be read.
        WriteError: a descriptor cannot be written, the app has another file of its name, two entry points
            have one service or file, or no release that the app supports would index all functions.
    """
    formats = load_formats()
    minimum_sdk = manifest_facts.minimum_sdk or files.gradle.minimum_sdk
    declared, shared = join_services(declared, minimum_sdk)
    translations: list[Translation] = []
    for provider in declared:
        target = formats[provider.protocol]
        translations += translate([provider], target, target.dialect(provider.dialect))
    _check_names(translations)
    target = formats[declared[0].protocol]
    source_set = find_source_set(project, manifest_facts.package)
    migration = plan_migration(
        project, source_set, translations, target, target.dialect(declared[0].dialect), "none"
    )
    changed = {
        (project / change.path).relative_to(source_set.folder).as_posix(): change.after.encode()
        for change in migration.changes
    }
    findings = [
        *shared,
        *(finding for translation in translations for finding in translation.writing.findings),
    ]
    tree = {**files.tree, **changed}
    packed = set(tree.values())
    findings += [
        _not_packed(translation.source, artifact.path)
        for translation in translations
        for artifact in translation.writing.artifacts
        if artifact.role == "descriptor" and artifact.text.encode() not in packed
    ]
    return replace(files, tree=tree), findings


def _check_names(translations: Sequence[Translation]) -> None:
    """Raise a WriteError where two providers of the source code are written as one component or file."""
    users: dict[str, Translation] = {}
    for translation in translations:
        names = [artifact.path for artifact in translation.writing.artifacts if artifact.role == "descriptor"]
        for name in filter(None, [translation.writing.provider.component, *names]):
            user = users.setdefault(name, translation)
            if user is not translation:
                place = str(translation.source.source)
                message = f'two entry points are written as "{name}"'
                hint = f"choose another name in one of them: {user.source.source}, {place}"
                raise WriteError(message, place=place, hint=hint)


def _not_packed(provider: Provider, path: str) -> Finding:
    return Finding(
        code=COMPILER_OUTPUT_MISSING,
        level=Level.WARNING,
        pointer="",
        message=f"{path} is not packed: the manifest names another functions file",
        source=provider.source,
        hint="remove the property from the manifest, or build the app",
    )


@dataclass(frozen=True, slots=True)
class PackedApp:
    """A packed app; nothing is on disk until it is written.

    Attributes:
        packing: The signed APK with its entries.
        key: The key that signed it.
        findings: What the APK lacks or has otherwise than the project.
        problems: Source files that cannot be read.
    """

    packing: Packing
    key: SigningKey
    findings: tuple[Finding, ...]
    problems: tuple[InputError, ...]

    def __repr__(self) -> str:
        """Return one line: the package, and what there is, counted."""
        counts = f"bytes={len(self.apk)}, findings={len(self.findings)}, problems={len(self.problems)}"
        return f"<PackedApp {self.facts.package!r} {counts}>"

    @property
    def apk(self) -> bytes:
        """The signed APK."""
        return self.packing.apk

    @property
    def facts(self) -> AppFacts:
        """The package, versions and SDK levels that the manifest has."""
        return self.packing.facts

    @property
    def files(self) -> Mapping[str, int]:
        """Entry -> size in bytes before compression, without signatures."""
        return self.packing.files

    def write(self, out: str | PathLike[str], *, force: bool = False) -> WriteStatus:
        """Write the APK, and return what became of the file: created, updated or unchanged.

        Args:
            out: The file; its folders are made.
            force: Replace a file that exists and differs.

        Raises:
            WriteError: a file exists and differs, or cannot be written.
        """
        path = Path(out)
        return write_files({path: self.apk}, force=force)[path]


def pack(
    project: str | PathLike[str],
    *,
    dex: Iterable[str | PathLike[str]] = (),
    key: str | PathLike[str] | None = None,
    package: str | None = None,
    minimum_sdk: int | None = None,
    generate: bool = False,
) -> PackedApp:
    """Return a signed APK of the manifest, resources and assets of a source tree; no Android tool is needed.

    Args:
        project: Folder of a project, of its module, or with an AndroidManifest.xml.
        dex: Files with compiled code, `classes.dex` first.
        key: PEM file of the key that signs; by default the user's own, which is made at the first use.
        package: Application id, in place of the project's.
        minimum_sdk: API level, in place of the project's.
        generate: Write the descriptors of functions that Kotlin sources declare.

    Raises:
        InputError: the project, a dex file or the key cannot be read.
        WriteError: the project cannot become an APK, or a new key cannot be kept.

    Example:
        >>> droidgate.pack("pdf-tool").facts.package
        'dev.droidgate.sample.pdftool'
    """
    code = [read_project_file(Path(path), root=None, most=MAX_BYTES) for path in dex]
    folder = Path(project)
    facts = AppFacts(package=package, minimum_sdk=minimum_sdk)
    files = read_project(folder)
    reading = read_unpacked(folder)
    findings: list[Finding] = []
    if reading.providers and generate:
        files, findings = generate_output(folder, files, reading.providers, facts)
    elif reading.providers:
        findings = [missing_output(reading.providers)]
    module = find_module(folder, files)
    application, of_manifest = read_packed_manifest(module)
    if generate:
        manifest = module.source_sets[MAIN].path_of(MANIFEST)
        findings += (item for item in reading.findings if item.source is None or item.source.path != manifest)
        findings += of_manifest
    if package is None:
        findings += (item for item in module.findings if item.code == APPLICATION_ID_UNKNOWN)
    files, unmerged = merge_libraries(module, files)
    # Only now: a project that cannot be read leaves no new key behind.
    signing = load_or_make_key() if key is None else load_key(Path(key))
    packing = pack_files(files, key=signing, facts=facts, dex=code)
    application = replace(application, target_sdk=packing.facts.target_sdk)
    findings = [*packing.findings, *report_unstated_exported(application), *findings, *unmerged]
    return PackedApp(packing, signing, tuple(dict.fromkeys(findings)), reading.problems)

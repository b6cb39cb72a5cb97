"""A reader of files, modules of projects, APKs, and folders of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from droidgate.sources.archives import is_packed_folder
from droidgate.sources.folders import module_of_manifest, read_bytes, scan_folder
from droidgate.sources.format_reading import FormatReader
from droidgate.sources.module_layout import LooseCode
from droidgate.sources.source_code import (
    CAPABILITIES_NOT_FOUND,
    Code,
    OtherCode,
    choose_sets,
    code_of_module,
    has_variant,
    is_below,
    report_source_set,
    with_output_of,
)
from droidgate.sources.source_results import Providers, only_in_variants
from droidgate_android.apk.file_kinds import is_binary_xml, is_zip
from droidgate_android.projects.android_project import (
    MAIN,
    LooseFile,
    Module,
    loose_files_of,
    read_module,
    read_source_set,
)
from droidgate_android.projects.resources import SourceSet
from droidgate_android.projects.text_manifest import is_manifest
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import SourceFile, load_formats
from droidgate_mappings.model.capability import Place, Provider, declaration_of
from droidgate_mappings.model.errors import BudgetError, EmptyError, InputError, UsageError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.text.shown_paths import printable, shown_parent
from droidgate_mappings.text.xml_text import parse_xml
from droidgate_mappings.timed_steps import open_step

if TYPE_CHECKING:
    from droidgate_android.apk.reader import Apk

_code = partial(finding_code, module=__name__)

UNREFERENCED_DESCRIPTOR: Final = _code(
    "unreferenced-descriptor",
    "No component points to a descriptor in the assets or resources of its module; it is read alone",
)

REPEATED_DECLARATION: Final = _code(
    "repeated-declaration",
    "A descriptor in a folder repeats what a component of an app declares; it is not counted again",
)

UNREAD_FILE: Final = _code(
    "unread-file", "A file that may be a descriptor, by its name, is too large to be read"
)

_UTF_8_MARK: Final = b"\xef\xbb\xbf"
_UTF_16_XML: Final = (b"\xff\xfe<\0", b"\xfe\xff\0<")


def _folders_of(source_sets: Iterable[SourceSet]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source_set.shown for source_set in source_sets))


def _has_manifest(module: Module, name: str) -> bool:
    source_set = module.source_sets.get(name)
    return source_set is not None and source_set.manifest in source_set.files


def _declares_parts(application: Application) -> bool:
    whole, *components = application.components
    return bool(components or whole.meta_data or whole.properties)


def _declares_the_same(tied: Provider, loose: Provider) -> bool:
    def declared(provider: Provider) -> list[dict[str, Json]]:
        return [declaration_of(part) for part in (*provider.capabilities, *provider.definitions.values())]

    return (
        bool(loose.capabilities)
        and tied.protocol == loose.protocol
        and len(tied.capabilities) == len(loose.capabilities)
        and tied.definitions.keys() == loose.definitions.keys()
        and declared(tied) == declared(loose)
    )


class FileReader(FormatReader):
    """Reads files and folders; what cannot be read in a folder is a problem, not an error."""

    def read_named(self, path: str, data: bytes, *, is_alone: bool = False) -> None:
        """Read a file that was named itself: its path as a user would write it, and its content.

        Args:
            path: Its path.
            data: Its content.
            is_alone: It is not on disk, so a manifest has no files next to it.

        Raises:
            InputError: it is broken, or no format claims it.
        """
        place = printable(path)
        if is_zip(data):
            self.read_archive(path, data)
            return
        if is_binary_xml(data):
            from droidgate.sources.apk_sources import source_text_of

            data = source_text_of(data, place).encode()
        if is_manifest(data):
            self.files_read[place] = None
            self._read_manifest_file(path, data, is_alone=is_alone)
        elif not (
            self.read_file(SourceFile(place, data), is_named=True) or self._read_code_file(place, data)
        ):
            raise self._unclaimed(place, data)

    def _read_code_file(self, place: str, data: bytes) -> bool:
        """Read a file of source code by itself; false where no format reads such files."""
        if not place.endswith(self.code_endings):
            return False
        folder, _, name = place.rpartition("/")
        counts_before = len(self.providers), len(self.problems)
        self.read_code_alone(Code((SourceSet({name: data}, folder),)))
        if counts_before == (len(self.providers), len(self.problems)):
            return False
        self.files_read[place] = None
        return True

    def _unclaimed(self, place: str, data: bytes) -> InputError:
        """Return why no format claims a file: what is broken in it, or that it is something else."""
        data = SourceFile(place, data).data
        text = data.removeprefix(_UTF_8_MARK).lstrip()
        if not text:
            return InputError("the file is empty", place=place, hint=self._known_formats())
        try:
            if text.startswith((b"{", b"[")):
                parse_json(data, path=place)
            elif text.startswith(b"<") or data.startswith(_UTF_16_XML):
                parse_xml(data, path=place)
        except InputError as error:
            return error
        return InputError("no known format claims this file", place=place, hint=self._known_formats())

    def read_packed(self, path: str) -> None:
        """Read everything in a packed folder.

        Raises:
            InputError: it cannot be unpacked.
            EmptyError: it has no Android project and no descriptor.
        """
        self._check_variant(self._look_into(path, path))
        self._check_not_empty(path, "archive")

    def _look_into(self, path: str, label: str) -> list[Module]:
        from droidgate.sources.packed_folders import unpack

        unpacked = unpack(path, label)
        self.unpacked.append(unpacked)
        self.note(*unpacked.problems)
        return self._read_below(unpacked.folder, unpacked.shown, looks_into_archives=False)

    def read_folder(self, folder: str) -> None:
        """Read everything in a folder.

        Raises:
            EmptyError: it has no Android project and no descriptor.
        """
        self._check_variant(self._read_below(folder, folder))
        self._check_not_empty(folder, "folder")

    def _check_not_empty(self, path: str, kind: str) -> None:
        if not (self.applications or self.providers or self.problems or self.only_in_variants):
            message = f"the {kind} holds no Android project and no descriptor"
            raise EmptyError(message, place=printable(path), hint=self._known_formats())

    def _read_below(self, folder: str, label: str, *, looks_into_archives: bool = True) -> list[Module]:
        """Read everything in a folder; return its modules, with those of archives in it."""
        scan = scan_folder(folder, label, self.options.formats)
        self.files_read = scan.files_read
        self.code_files = () if scan.has_classes else tuple(scan.code_files)
        self.note(*scan.problems)
        for module in scan.modules:
            module_path = next((item.shown for item in module.source_sets.values()), "")
            with open_step(f"read the module {module_path}"):
                self.read_module(module)
        # Resources and assets are listed as the modules are read.
        self.note(*scan.problems)
        loose_code = {place: path for path, place in scan.loose_code}
        self.read_code_alone(Code((SourceSet(LooseCode(loose_code, folder)),)))
        for path, place in scan.loose_files:
            with open_step(f"read {place}"):
                self._read_loose(path, place, root=folder)
        if scan.archives:
            self._read_loose_archives(scan.archives)
        for path, place in scan.packed:
            if looks_into_archives:
                scan.modules += self._read_loose_packed(path, place)
            else:
                self._note_unread(place, InputError("it is an archive in an archive", hint="unpack it"))
        return scan.modules

    def _read_loose_packed(self, path: str, place: str) -> list[Module]:
        if not is_packed_folder(path):
            return []
        inner = FileReader(self.options)
        try:
            modules = inner._look_into(path, place)
        except InputError as error:
            self.note(error)
            return []
        self.take(inner)
        return modules

    def _check_variant(self, modules: Sequence[Module]) -> None:
        variant = self.options.variant
        if variant is not None and not any(has_variant(module, variant) for module in modules):
            names = {name for item in modules for name in (*item.gradle.flavours, *item.gradle.build_types)}
            hint = f"flavours and build types here: {', '.join(sorted(names)) or 'none'}"
            raise UsageError(f'no module has the variant "{variant}"', hint=hint)

    def _read_loose_archives(self, archives: Iterable[tuple[str, str]]) -> None:
        from droidgate.sources.apk_sources import open_loose_archives

        problems: list[InputError] = []
        for apk in open_loose_archives(archives, problems):
            with open_step(f"read {apk.name}"):
                self.read_apk(apk)
        self.note(*problems)

    def read_archive(self, path: str, data: bytes | None = None) -> None:
        """Read an APK or a container; `data` is its content where it is not a file."""
        from droidgate.sources.apk_sources import open_archive

        self.read_apk(open_archive(path, data))

    def read_apk(self, apk: Apk) -> None:
        """Read an app that is built; what one format cannot read is a problem of the reading."""
        from droidgate_android.apk.apk_application import read_application

        try:
            application = read_application(apk)
            self.applications.append(application)
            self.files_read[application.place.path] = None
            self.read_application(application)
        except InputError as error:
            self.note(error)
        self.findings.extend(apk.findings)
        apk.release()

    def _known_formats(self) -> str:
        formats = self.options.formats
        if not formats:
            return "no format is installed"
        names = ", ".join(f"{format_.title} ({format_.id})" for format_ in formats)
        if len(formats) < len(load_formats()):
            return f"it was to be read as {names} only"
        return f"known formats: {names}"

    def _read_manifest_file(self, path: str, data: bytes, *, is_alone: bool) -> None:
        context = self.context()
        unlisted: list[InputError] = []
        if is_alone:
            module, name = Module({"main": SourceSet({path: data}, "", path)}), "main"
        else:
            file = Path(path).absolute()
            folder = shown_parent(Path(path).as_posix())
            module, name = module_of_manifest(str(file.parent), file.name, folder, self.files_read, unlisted)
        application = read_source_set(module, name, context)
        self.note(*unlisted)
        self.findings.extend(context.findings)
        self.applications.append(application)
        problems_before = 0 if not self.options.strict else len(self.problems)
        self.read_application(application)
        failed = list(self.problems.values())[problems_before:]
        if failed and (self.options.strict or not self.providers):
            raise failed[0] if self.options.strict else InputError.first_of(tuple(failed))

    def read_module(self, module: Module) -> None:
        """Read the applications of a module, and the descriptors in it that no component points to."""
        variant = self.options.variant
        module = with_output_of(module, variant, self.options.formats)
        sets = choose_sets(module, variant)
        providers_before, findings_before = len(self.providers), len(self.findings)
        self.findings += module.findings
        code = code_of_module(module, variant)
        named = module if variant is None else replace(module, gradle=module.gradle.of_variant(variant))
        applications = self._read_applications(named, (MAIN, *sets.chosen))
        for name, application in applications.items():
            self.read_application(application, code=code if name == MAIN else Code())
        if MAIN not in applications and not module.is_merged:
            self.read_code_alone(code)
        self._read_untied_files(loose_files_of(applications.values()), providers_before)
        declared = self.providers[providers_before:]
        for name, parts in sets.chosen.items():
            self.findings += report_source_set(module, variant, name, _folders_of(parts), declared)
        other_code = OtherCode(module)
        others = [
            (name, self._read_other_set(module, name, other_code.of(name, parts), applications.get(MAIN)))
            for name, parts in sets.others.items()
        ]
        only = list(only_in_variants(self.providers[providers_before:], others))
        if any(provider.capabilities for provider, _ in only):
            # What the app describes was found, though not in this variant.
            own = (item for item in self.findings[findings_before:] if item.code != CAPABILITIES_NOT_FOUND)
            self.findings[findings_before:] = own
        if variant is None:
            self.other_variants += others
            self.only_in_variants += only

    def _read_applications(self, module: Module, names: Iterable[str]) -> dict[str, Application]:
        context = self.context()
        problems: list[InputError] = []
        applications = dict(read_module(module, names, context, problems))
        self.findings += context.findings
        self.applications += (
            application
            for name, application in applications.items()
            if _has_manifest(module, name) or _declares_parts(application)
        )
        self.note(*problems)
        return applications

    def _read_other_set(self, module: Module, name: str, code: Code, main: Application | None) -> Providers:
        """Return what a source set declares that the variant does not have, and report it."""
        inner = FileReader(self.options)
        folders = _folders_of(code.own)
        applications = inner._read_applications(module, (name,))
        if main is not None and not _has_manifest(module, name):
            # The application describes the functions of its variants too.
            described = replace(main, components=main.components[:1], loose_assets=())
            inner.read_application(described, code=code)
            # Whether the app's functions are in these files is known from `main`, which is read before.
            inner.findings = [item for item in inner.findings if item.code != CAPABILITIES_NOT_FOUND]
            inner.providers = [item for item in inner.providers if is_below(item.source, folders)]
            code = Code()
        for application in applications.values():
            inner.read_application(application, code=code)
        if main is None and not applications:
            inner.read_code_alone(code)
        own = module.source_sets.get(name)
        loose = loose_files_of(filter(None, (main, *applications.values())))
        inner._read_untied_files((file for file in loose if file.file.source_set is own), 0)
        earlier_findings = set(self.findings)
        inner.findings = [finding for finding in inner.findings if finding not in earlier_findings]
        inner.problems = {text: error for text, error in inner.problems.items() if text not in self.problems}
        folders += _folders_of(filter(None, (own,)))
        files = tuple(inner.files_read)
        self.findings += report_source_set(
            module, self.options.variant, name, folders, inner.providers, unread=files
        )
        return inner.result()

    def _read_untied_files(self, files: Iterable[LooseFile], start: int) -> None:
        """Read files that no component points to, except for those of the providers from a position on."""
        read_already = {
            provider.source.path for provider in self.providers[start:] if provider.source is not None
        }
        for loose in files:
            if loose.file.path not in read_already:
                self._read_untied(loose)

    def _read_untied(self, loose: LooseFile) -> None:
        path = loose.file.path
        try:
            if not self.read_file(SourceFile(path, loose.file.read())):
                return
        except BudgetError as error:
            self._note_unread(path, error)
            return
        except InputError as error:
            self.note(error)
            return
        self.findings.append(
            Finding(
                code=UNREFERENCED_DESCRIPTOR,
                level=Level.NOTE,
                pointer="",
                message=f"no component of the module points to {loose.name}; it is read without a component",
                source=Place(path=path),
                hint="its component may arrive by manifest merging, or the file may be unused",
            )
        )

    def _read_loose(self, path: str, place: str, *, root: str) -> None:
        try:
            data = read_bytes(path, label=place, root=root)
        except BudgetError as error:
            self._note_unread(place, error)
            return
        except InputError as error:
            self.note(error)
            return
        try:
            if is_manifest(data):
                self.files_read[place] = None
                self._read_loose_manifest(place, data)
            else:
                providers_before = len(self.providers)
                self.read_file(SourceFile(place, data))
                self._leave_out_repeated(providers_before)
        except InputError as error:
            self.note(error)

    def _note_unread(self, place: str, error: InputError) -> None:
        """Report a file that is too large to be read; descriptors are smaller, so it is not a problem."""
        self.findings.append(
            Finding(
                code=UNREAD_FILE,
                level=Level.NOTE,
                pointer="",
                message=f"it is not read: {error.message}",
                source=Place(path=place),
                hint=error.hint,
            )
        )

    def _leave_out_repeated(self, start: int) -> None:
        """Leave out the providers from position `start` on that a component of an app declares as well.

        A folder that `convert` wrote has mMCP's tools twice, in the manifest and next to it.
        """
        tied = [provider for provider in self.providers[:start] if provider.component is not None]
        loose, self.providers[start:] = self.providers[start:], []
        for provider in loose:
            twin = next((item for item in tied if _declares_the_same(item, provider)), None)
            if twin is None:
                self.providers.append(provider)
                continue
            self.findings.append(
                Finding(
                    code=REPEATED_DECLARATION,
                    level=Level.NOTE,
                    pointer="",
                    message=f"the same declaration as that of {twin.component}; it is not counted again",
                    source=provider.source,
                )
            )

    def _read_loose_manifest(self, place: str, data: bytes) -> None:
        folder, _, name = place.rpartition("/")
        self.read_module(Module({"main": SourceSet({name: data}, folder, name)}))

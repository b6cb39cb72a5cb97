"""From an Android source tree to a signed APK, without any of Android's own tools.

What is packed: the main source set's manifest, `res`, `assets` and `jniLibs`, and dex files that are given.
Not packed: libraries, other source sets, code that is not compiled yet.

Every resource gets its id before anything is compiled. Ids depend only on names: types are numbered in
alphabetical order, and so are the resources of a type. Texts of the compiled manifest for which newer
releases of Android refuse the app are findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from droidgate_android.apk.binary_xml_writer import write_binary_xml
from droidgate_android.apk.packed_files import MANIFEST, ProjectFiles, read_project
from droidgate_android.apk.packed_manifest import AppFacts, compile_manifest, parse_manifest
from droidgate_android.apk.resource_names import NamedResourceFile, NewId, ResourceNames, ResourceSource
from droidgate_android.apk.resource_table_writer import (
    CompiledResource,
    CompiledType,
    CompiledValue,
    write_resource_table,
)
from droidgate_android.apk.signing import sign_apk
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_android.apk.typed_values import string_value
from droidgate_android.apk.value_files import ID_VALUE, ValueCompiler
from droidgate_android.apk.xml_compiler import XmlCompiler
from droidgate_android.apk.xml_tree import TypedValue, ValueType, XmlElement
from droidgate_android.projects.manifest_limits import (
    REFUSED_BY,
    excess_of,
    excess_of_meta_data,
)
from droidgate_mappings.model.errors import InputError, WriteError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.tables.framework_attributes import AttributeType, resource_id
from droidgate_mappings.text.utf16 import utf16_length

LengthOf = Callable[[TypedValue], int]
"""Gives the length of the text that a value is or refers to, in UTF-16 units; 0 for what is not text."""


def excessive_texts(root: XmlElement, length_of: LengthOf) -> Iterator[tuple[XmlElement, str]]:
    """Yield each element with a text, or with meta-data, longer than
    `droidgate_android.projects.manifest_limits` has.

    Args:
        root: The manifest.
        length_of: The lengths of its values.
    """
    waiting = [root]
    while waiting:
        element = waiting.pop()
        called = _called(element)
        for attribute in element.attributes:
            message = excess_of(attribute.name, length_of(attribute.value), called)
            if message is not None:
                yield element, message
        children = list(element.child_elements())
        values = (child.find_attribute("value") for child in children if child.tag == "meta-data")
        message = excess_of_meta_data(sum(length_of(value) for value in values if value is not None), called)
        if message is not None:
            yield element, message
        waiting.extend(reversed(children))


def _called(element: XmlElement) -> str:
    value = element.find_attribute("name")
    return f"<{element.tag}>" if value is None or not value.text else f"<{element.tag}> {value.text[:80]}"


APP_PACKAGE_ID: Final = 0x7F
_MAX_RESOURCES: Final = 0x10000


class ProjectResources:
    """The resources of one app, compiled.

    Args:
        names: What its tree declares; nothing is added to it afterwards.
        package: The app's package.
        aliases: Other packages under which references name the app's own resources, such as its namespace.
        package_id: First byte of the ids.

    Attributes:
        text_lengths: Id of each text in the last compiled table -> its length in any configuration, the
            longest, in UTF-16 units.

    Raises:
        WriteError: a type has more than 65,536 resources.
    """

    def __init__(
        self,
        names: ResourceNames,
        package: str,
        *,
        aliases: tuple[str, ...] = (),
        package_id: int = APP_PACKAGE_ID,
    ) -> None:
        self._names = names
        self._package = package
        self._own_names = frozenset({"", package, *aliases})
        self._package_id = package_id
        self.text_lengths: dict[int, int] = {}
        self._types: dict[str, list[str]] = {}
        for kind, name in sorted(names.sources):
            self._types.setdefault(kind, []).append(name)
        self._ids = {f"{kind}/{name}": number for kind, name, number in self._numbers()}
        self._attributes = {
            name: replace(attribute, id=self._ids[f"attr/{name}"])
            for name, attribute in names.attributes.items()
        }

    def resolve(self, reference: str, place: str) -> int:
        """Return the id of `@type/name`, `@package:type/name` or `@android:type/name`.

        Raises:
            InputError: there is no such resource.
        """
        package, _, name = reference.removeprefix("@").rpartition(":")
        if package == "android":
            kind, _, entry = name.partition("/")
            identifier = resource_id(kind, entry)
            if identifier is None:
                raise InputError(f"Android 16 has no public resource {reference}", place=place)
            return identifier
        identifier = self._ids.get(name) if package in self._own_names else None
        if identifier is None:
            hint = "resources of libraries from Maven are not packed; put it into the app's own res folder"
            raise InputError(f"there is no resource {reference}", place=place, hint=hint)
        return identifier

    def find_attribute(self, name: str) -> AttributeType | None:
        """Return the app's own attribute of that name, None where it declares none."""
        return self._attributes.get(name)

    def compile_files(self) -> dict[str, bytes | None]:
        """Return the files below `res` by path: compiled XML, or None for a file that is packed as it is.

        Raises:
            InputError: a file cannot be compiled.
        """
        compiler = XmlCompiler(self, self._package)
        files = [
            source
            for values in self._names.sources.values()
            for source in values.values()
            if isinstance(source, NamedResourceFile)
        ]
        return {
            file.path: None
            if file.document is None
            else write_binary_xml(compiler.compile(file.document, self._names.spell(file.path)))
            for file in sorted(files, key=lambda file: file.path)
        }

    def compile_table(self) -> bytes | None:
        """Return the resource table, None where the app has no resource.

        Raises:
            InputError: a value is not of its type, or leads nowhere.
        """
        compiler = ValueCompiler(self, self._attributes, self._names.findings)
        self.text_lengths = {}

        def values_of(kind: str, name: str) -> Iterator[tuple[str, CompiledValue]]:
            for qualifier, source in self._names.sources[kind, name].items():
                value = _compile(compiler, source)
                self._note_length(self._ids[f"{kind}/{name}"], value)
                yield qualifier, value

        types = [
            CompiledType(
                number, kind, [CompiledResource(name, dict(values_of(kind, name))) for name in names]
            )
            for number, (kind, names) in enumerate(self._types.items(), 1)
        ]
        return write_resource_table(self._package, types, package_id=self._package_id) if types else None

    def _note_length(self, identifier: int, value: CompiledValue) -> None:
        if isinstance(value, TypedValue) and value.type == ValueType.STRING:
            length = utf16_length(value.text or "")
            self.text_lengths[identifier] = max(length, self.text_lengths.get(identifier, 0))

    def _numbers(self) -> Iterator[tuple[str, str, int]]:
        for type_number, (kind, names) in enumerate(self._types.items(), 1):
            if len(names) > _MAX_RESOURCES:
                raise WriteError(f"an app has at most {_MAX_RESOURCES} resources of one type: {kind}")
            for number, name in enumerate(names):
                yield kind, name, self._package_id << 24 | type_number << 16 | number


def _compile(compiler: ValueCompiler, source: ResourceSource) -> CompiledValue:
    if isinstance(source, NamedResourceFile):
        return string_value(source.path)
    return ID_VALUE if isinstance(source, NewId) else compiler.compile(source)


_code = partial(finding_code, module=__name__)

NO_CODE: Final = _code("no-code", "The APK installs but holds no code, so its components cannot run")
RELEASE_ASSUMED: Final = _code(
    "release-assumed",
    "Neither build file nor manifest states the minimum or target release, so a usual one is taken",
)
MANIFEST_TEXT_TOO_LONG: Final = _code(
    "manifest-text-too-long", f"A text of the manifest is so long that {REFUSED_BY} do not install the app"
)

_DEX_MAGIC: Final = b"dex\n"
_LIBRARIES: Final = "jniLibs/"


@dataclass(frozen=True, slots=True)
class Packing:
    """A packed app.

    Attributes:
        apk: The signed archive.
        facts: What its manifest says about it.
        files: Its entries' names and sizes before compression, signatures left out.
        findings: What is not in it as it is in the source.
    """

    apk: bytes
    facts: AppFacts
    files: Mapping[str, int]
    findings: tuple[Finding, ...]


def pack_project(
    project: Path | Mapping[str, bytes],
    *,
    key: SigningKey,
    package: str | None = None,
    version_code: int | None = None,
    version_name: str | None = None,
    minimum_sdk: int | None = None,
    target_sdk: int | None = None,
    dex: Sequence[bytes] = (),
) -> bytes:
    """Return the signed APK of a project; see `pack`, which also reports what is not in it."""
    return pack(
        project,
        key=key,
        facts=AppFacts(package, version_code, version_name, minimum_sdk, target_sdk),
        dex=dex,
    ).apk


def pack(
    project: Path | Mapping[str, bytes] | ProjectFiles,
    *,
    key: SigningKey,
    facts: AppFacts | None = None,
    dex: Sequence[bytes] = (),
) -> Packing:
    """Pack a project.

    Args:
        project: Folder of a project, of a module, or with a manifest; or files in memory by their path
            relative to `src/main`, with or without what a build file says.
        key: What it is signed with.
        facts: What the manifest shall say, in place of what the build file and the manifest say.
        dex: Content of `classes.dex`, `classes2.dex`...

    Raises:
        InputError: the project cannot be read, or holds what cannot be compiled.
        WriteError: it cannot become an APK.
    """
    app = _App(project, facts or AppFacts())
    files: dict[str, bytes] = {MANIFEST: write_binary_xml(app.manifest)}
    files |= _dex_files(dex)
    table = app.resources.compile_table()
    if table is not None:
        files["resources.arsc"] = table
    for name, data in app.resources.compile_files().items():
        files[name] = app.tree[name] if data is None else data
    files |= _other_files(app.tree)
    findings = [*app.names.findings, *app.findings, *app.excesses()]
    if not dex:
        hint = "compile its sources and give the dex files"
        findings.append(_warning(NO_CODE, "no dex file is packed, so no component can run", hint))
    return _sign(files, key, app.facts, findings)


class _App:
    """A project read and numbered."""

    def __init__(self, project: Path | Mapping[str, bytes] | ProjectFiles, facts: AppFacts) -> None:
        if isinstance(project, Path):
            read = read_project(project)
        else:
            read = project if isinstance(project, ProjectFiles) else ProjectFiles(dict(project))
        self.tree = read.tree
        self.names = ResourceNames(read.tree, read.folder)
        self.findings: list[Finding] = []
        path = self.names.spell(MANIFEST)
        if MANIFEST not in read.tree:
            raise InputError("there is no AndroidManifest.xml", place=read.folder or None)
        document = parse_manifest(read.tree[MANIFEST], path)
        self.names.note_new_ids(document)
        self.facts = facts.completed(document, read.gradle, path)
        if self.facts.minimum_sdk is None or self.facts.target_sdk is None:
            self._assume_release()
        namespace = read.gradle.namespace or document.get("package") or self.facts.package or ""
        self.resources = ProjectResources(self.names, self.facts.package or "", aliases=(namespace,))
        self.manifest = compile_manifest(
            document, path, self.facts, self.resources, namespace, read.gradle.placeholders
        )

    def excesses(self) -> Iterator[Finding]:
        """Yield what makes Android refuse the app; the resource table has to be compiled before."""
        for _, message in excessive_texts(self.manifest, self._length_of):
            yield _warning(MANIFEST_TEXT_TOO_LONG, message, "shorten it, or move it into a file of res/raw")

    def _length_of(self, value: TypedValue) -> int:
        if value.type == ValueType.REFERENCE:
            return self.resources.text_lengths.get(value.data, 0)
        return utf16_length(value.text or "") if value.type == ValueType.STRING else 0

    def _assume_release(self) -> None:
        stated = self.facts
        self.facts = stated.with_releases()
        releases = f"minSdk {self.facts.minimum_sdk} and targetSdk {self.facts.target_sdk}"
        message = f"{releases} are taken where nothing says them"
        self.findings.append(
            _warning(RELEASE_ASSUMED, message, "say them in the build file, or in <uses-sdk>")
        )


def _warning(code: str, message: str, hint: str) -> Finding:
    return Finding(code=code, level=Level.WARNING, pointer="", message=message, hint=hint)


def _dex_files(dex: Sequence[bytes]) -> dict[str, bytes]:
    for number, data in enumerate(dex, 1):
        if not data.startswith(_DEX_MAGIC):
            raise InputError(f"file {number} of the code is not a dex file", hint="compile it with d8")
    return {f"classes{number if number > 1 else ''}.dex": data for number, data in enumerate(dex, 1)}


def _other_files(tree: Mapping[str, bytes]) -> dict[str, bytes]:
    files = {}
    for name in sorted(tree):
        if name.startswith("assets/"):
            files[name] = tree[name]
        elif name.startswith(_LIBRARIES) and name.endswith(".so"):
            files[f"lib/{name.removeprefix(_LIBRARIES)}"] = tree[name]
    return files


def _sign(
    files: Mapping[str, bytes], key: SigningKey, facts: AppFacts, findings: Iterable[Finding]
) -> Packing:
    if facts.minimum_sdk is None:
        raise WriteError("nothing says the app's minSdk")
    apk = sign_apk(files, key, minimum_sdk=facts.minimum_sdk)
    return Packing(apk, facts, {name: len(data) for name, data in files.items()}, tuple(findings))

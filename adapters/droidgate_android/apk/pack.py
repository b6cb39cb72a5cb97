"""From an Android source tree to a signed APK, without any of Android's own tools.

What is packed: the main source set's manifest, `res`, `assets` and `jniLibs`, and dex files that are given.
Not packed: libraries, other source sets, code that is not compiled yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from droidgate_android.apk.binary_xml_writer import write_binary_xml
from droidgate_android.apk.manifest_lengths import excessive_texts
from droidgate_android.apk.packed_manifest import AppFacts, compile_manifest, parse_manifest, split_manifest
from droidgate_android.apk.project_files import MANIFEST, ProjectFiles, read_project
from droidgate_android.apk.project_resources import ProjectResources
from droidgate_android.apk.resource_names import ResourceNames
from droidgate_android.apk.signing import sign_apk
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_android.apk.xml_tree import TypedValue, ValueType
from droidgate_android.projects.manifest_limits import REFUSED_BY, utf16_length
from droidgate_mappings.model.errors import InputError, WriteError
from droidgate_mappings.model.findings import Finding, Level, finding_code

_code = partial(finding_code, module=__name__)

NO_CODE: Final = _code("no-code", "The APK installs but holds no code, so its components cannot run")
RELEASE_ASSUMED: Final = _code(
    "release-assumed",
    "Neither build file nor manifest states the minimum or target release, so a usual one is taken",
)
MANIFEST_TEXT_TOO_LONG: Final = _code(
    "manifest-text-too-long", f"A text of the manifest is so long that {REFUSED_BY} do not install the app"
)

USUAL_MINIMUM_SDK: Final = 26
USUAL_TARGET_SDK: Final = 36

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


def pack_project(  # noqa: PLR0913 - every part of the result can be chosen
    project: Path | Mapping[str, bytes],
    *,
    key: SigningKey,
    package: str | None = None,
    version_code: int | None = None,
    version_name: str | None = None,
    minimum_sdk: int | None = None,
    target_sdk: int | None = None,
    dex: Sequence[bytes] = (),
    without_qualifiers: Iterable[str] = (),
) -> bytes:
    """Return the signed APK of a project; see `pack`, which also reports what is not in it."""
    return pack(
        project,
        key=key,
        facts=AppFacts(package, version_code, version_name, minimum_sdk, target_sdk),
        dex=dex,
        without_qualifiers=without_qualifiers,
    ).apk


def pack(
    project: Path | Mapping[str, bytes] | ProjectFiles,
    *,
    key: SigningKey,
    facts: AppFacts | None = None,
    dex: Sequence[bytes] = (),
    without_qualifiers: Iterable[str] = (),
) -> Packing:
    """Pack a project.

    Args:
        project: Folder of a project, of a module, or with a manifest; or files in memory by their path
            relative to `src/main`, with or without what a build file says.
        key: What it is signed with.
        facts: What the manifest shall say, in place of what the build file and the manifest say.
        dex: Content of `classes.dex`, `classes2.dex`...
        without_qualifiers: Leave values of these qualifiers out, as where a split holds them.

    Raises:
        InputError: the project cannot be read, or holds what cannot be compiled.
        WriteError: it cannot become an APK.
    """
    app = _App(project, facts or AppFacts())
    files: dict[str, bytes] = {MANIFEST: write_binary_xml(app.manifest)}
    files |= _dex_files(dex)
    table = app.resources.compile_table(without=frozenset(without_qualifiers))
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


def pack_split(
    project: Path | Mapping[str, bytes],
    *,
    key: SigningKey,
    qualifier: str,
    split: str | None = None,
    package: str | None = None,
    version_code: int | None = None,
) -> bytes:
    """Return a configuration split: the values of one qualifier, with the ids that they have in the base.

    Args:
        project: The project whose base is packed with `without_qualifiers`.
        key: The base's key.
        qualifier: Which values, such as `de` or `xxhdpi`.
        split: Name of the split, `config.` and the qualifier by default.
        package: As for the base.
        version_code: As for the base.

    Raises:
        InputError: the project cannot be read.
    """
    app = _App(project, AppFacts(package, version_code))
    facts = app.facts
    name = split or f"config.{qualifier.replace('-', '_')}"
    table = app.resources.compile_table(only=frozenset({qualifier}))
    files = {MANIFEST: write_binary_xml(split_manifest(facts, name))}
    if table is not None:
        files["resources.arsc"] = table
    return _sign(files, key, facts, []).apk


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
        self.facts = stated.with_releases(USUAL_MINIMUM_SDK, USUAL_TARGET_SDK)
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

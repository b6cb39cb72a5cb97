"""A signed APK of an app's source tree, with what its source code declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from droidgate.migration.generated_output import generate_output, missing_output, read_unpacked
from droidgate.sources.merged_project import merge_libraries
from droidgate_android.apk.pack import Packing
from droidgate_android.apk.pack import pack as pack_files
from droidgate_android.apk.packed_manifest import AppFacts
from droidgate_android.apk.project_files import MAX_BYTES, read_project
from droidgate_android.apk.signing_keys import KeyType, SigningKey, load_key, load_or_make_key
from droidgate_android.projects.project_files import read_project_file
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.output_folder import Status, write_files


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

    def write(self, out: str | PathLike[str], *, force: bool = False) -> Status:
        """Write the APK, and return what became of the file: created, replaced or unchanged.

        Args:
            out: The file, in a folder that exists.
            force: Replace a file that exists and differs.

        Raises:
            WriteError: the folder does not exist, or a file exists and differs, or cannot be written.
        """
        path = Path(out)
        return write_files({path: self.apk}, force=force, makes_folders=False)[path]


def pack(  # noqa: PLR0913 - every part of the result can be chosen
    project: str | PathLike[str],
    *,
    dex: Iterable[str | PathLike[str]] = (),
    key: str | PathLike[str] | None = None,
    key_type: KeyType = "ec",
    package: str | None = None,
    version_code: int | None = None,
    minimum_sdk: int | None = None,
    target_sdk: int | None = None,
    generate: bool = False,
) -> PackedApp:
    """Return a signed APK of the manifest, resources and assets of a source tree; no Android tool is needed.

    Args:
        project: Folder of a project, of its module, or with an AndroidManifest.xml.
        dex: Files with compiled code, `classes.dex` first.
        key: PEM file of the key that signs; by default the user's own, which is made at the first use.
        key_type: Kind of the key that is made.
        package: Application id, in place of the project's.
        version_code: In place of the project's.
        minimum_sdk: API level, in place of the project's.
        target_sdk: API level, in place of the project's.
        generate: Write the descriptors of functions that Kotlin sources declare.

    Raises:
        InputError: the project, a dex file or the key cannot be read.
        WriteError: the project cannot become an APK, or a new key cannot be kept.
    """
    code = [read_project_file(Path(path), root=None, most=MAX_BYTES) for path in dex]
    folder = Path(project)
    facts = AppFacts(
        package=package, version_code=version_code, minimum_sdk=minimum_sdk, target_sdk=target_sdk
    )
    files = read_project(folder)
    reading = read_unpacked(folder)
    findings = list(reading.findings) if generate else []
    if reading.providers and generate:
        files, lost = generate_output(folder, files, reading.providers, facts)
        findings += lost
    elif reading.providers:
        findings.append(missing_output(reading.providers))
    files, unmerged = merge_libraries(folder, files)
    # Only now: a project that cannot be read leaves no new key behind.
    signing = load_or_make_key(key_type) if key is None else load_key(Path(key))
    packing = pack_files(files, key=signing, facts=facts, dex=code)
    return PackedApp(packing, signing, (*packing.findings, *findings, *unmerged), reading.problems)

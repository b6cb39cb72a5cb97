"""What `pack` does about source code whose descriptors only a compiler makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from droidgate.apk.project_files import ProjectFiles
from droidgate.formats import load_formats
from droidgate.migrate.plan import plan_migration
from droidgate.migrate.source_sets import find_source_set
from droidgate.model.capability import Provider
from droidgate.model.findings import Finding, Level, finding_code
from droidgate.sources import Providers, read_source
from droidgate.sources.source_code import is_from_build, is_from_code
from droidgate.translate import Translation, translate

COMPILER_OUTPUT_MISSING: Final = finding_code(
    "compiler-output-missing",
    "Source code declares capabilities, and the APK lacks the descriptors that a compiler makes of it",
    __name__,
)


def read_unpacked(project: Path) -> Providers:
    """Return the reading of a project, with the providers that only its source code or a build declares.

    Raises:
        InputError: the project cannot be read.
    """
    formats = [one for one in load_formats().values() if one.code is not None]
    reading = read_source(str(project), formats=formats)
    unpacked = (one for one in reading.providers if is_from_code(one, formats) or is_from_build(one))
    return replace(reading, providers=tuple(unpacked))


def missing_output(declared: Sequence[Provider]) -> Finding:
    """Return the finding that an APK lacks the descriptors of source code."""
    count = sum(len(one.capabilities) for one in declared)
    have = "capability has" if count == 1 else "capabilities have"
    return Finding(
        code=COMPILER_OUTPUT_MISSING,
        level=Level.WARNING,
        pointer="",
        message=f"{count} {have} no descriptor in this APK, so no agent finds what the source code declares",
        source=declared[0].source,
        hint="Give --generate to write the descriptors",
    )


def generate_output(
    project: Path, files: ProjectFiles, declared: Sequence[Provider], package: str | None
) -> tuple[ProjectFiles, list[Finding]]:
    """Return a project's files with the descriptors of its source code, and what they do not carry.

    Args:
        project: The project's folder; nothing in it is changed.
        files: Its files.
        declared: What its source code declares.
        package: The app's package, where the project does not say it.

    Raises:
        InputError: the manifest cannot be read.
        UsageError: two providers would become one component.
        WriteError: a descriptor cannot be written, or the app has another file of its name.
    """
    formats = load_formats()
    translations: list[Translation] = []
    for provider in declared:
        target = formats[provider.protocol]
        translations += translate([provider], target, target.dialect(provider.dialect))
    target = formats[declared[0].protocol]
    source_set = find_source_set(project, package)
    migration = plan_migration(
        project, source_set, translations, target, target.dialect(declared[0].dialect), "none"
    )
    changed = {
        (project / one.path).relative_to(source_set.folder).as_posix(): one.after.encode(one.encoding)
        for one in migration.changes
    }
    findings = [finding for one in translations for finding in one.writing.findings]
    tree = {**files.tree, **changed}
    packed = set(tree.values())
    findings += [
        _not_packed(one.source, artifact.path)
        for one in translations
        for artifact in one.writing.artifacts
        if artifact.role == "descriptor" and artifact.text.encode() not in packed
    ]
    return replace(files, tree=tree), findings


def _not_packed(provider: Provider, path: str) -> Finding:
    return Finding(
        code=COMPILER_OUTPUT_MISSING,
        level=Level.WARNING,
        pointer="",
        message=f"{path} is not packed: the manifest names another functions file",
        source=provider.source,
        hint="Remove the property from the manifest, or build the app",
    )

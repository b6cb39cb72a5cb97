"""Migration of providers into an app's source tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from droidgate.migration.conversion import Conversion, convert
from droidgate.migration.plan import FileChange, MigrationPlan, plan_migration
from droidgate.migration.source_sets import Language, find_source_set
from droidgate.sources import check_convertible, read
from droidgate.sources.source_results import Providers, check_package
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.findings import Finding


@dataclass(frozen=True, slots=True)
class Migration:
    """A migration; nothing is on disk until it is written.

    Attributes:
        source: What was read.
        conversion: Its conversion.
        plan: The changes of the project.
    """

    source: Providers
    conversion: Conversion
    plan: MigrationPlan

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """The files that change or are new; none where the project has everything already."""
        return self.plan.changes

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Paths of the files that are as they have to be."""
        return self.plan.unchanged

    @property
    def notes(self) -> tuple[str, ...]:
        """What the author of the app has to do, access rules first."""
        return self.plan.notes

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of reading and of the conversion."""
        return (*self.source.findings, *self.conversion.findings)

    def unified_diff(self) -> str:
        """Return all changes as one unified diff."""
        return self.plan.unified_diff()

    def write(self) -> None:
        """Write the changes into the project, each file as a whole or not at all; the manifest comes last.

        Raises:
            InputError: a link leads out of the project.
            WriteError: a file cannot be written.
        """
        self.plan.write()


def migrate(
    source: str | PathLike[str] | Iterable[Provider],
    *,
    to: str,
    into: str | PathLike[str],
    package: str | None = None,
    language: Language | None = None,
) -> Migration:
    """Plan how an Android project declares in another protocol what a source declares.

    Args:
        source: A source as `read` takes it, or providers: what `read` returns, or any of them.
        to: A format's id, or `FORMAT+DIALECT`.
        into: Folder of the Android project, or of its module.
        package: Java package of the app, where neither its build file nor its manifest has one.
        language: Of the handler; by default the language of most of the app. `none` writes no handler.

    Raises:
        InputError: the source or the project cannot be read, or declares nothing.
        UsageError: the target is unknown or not part of an app, or two providers would become one component.
        WriteError: the project has something else under a name that is needed.
    """
    if package is not None:
        check_package(package)
    target, dialect = find_format(to)
    project = Path(into)
    source_set = find_source_set(project, package)
    providers = _providers_of(source)
    check_convertible(providers, " ".join(providers.sources) or None)
    conversion = convert(providers, to)
    plan = plan_migration(
        project, source_set, conversion.translations, target, dialect, language or source_set.language
    )
    return Migration(providers, conversion, plan)


def _providers_of(source: str | PathLike[str] | Iterable[Provider]) -> Providers:
    if isinstance(source, str | PathLike):
        return read(fspath(source))
    return source if isinstance(source, Providers) else Providers(tuple(source))

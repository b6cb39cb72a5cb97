"""Copies of the sample apps as projects that a migration goes into, and what can be read in them."""

import shutil
from pathlib import Path

from droidgate.migration.migration_plan import MigrationPlan, plan_migration
from droidgate.migration.source_sets import Language, find_source_set
from droidgate.sources import read_source
from droidgate_mappings.formats.format import Format, find_format
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.translate import translate
from droidgate_shim.builder.sample_apps import sample_apps_directory

MODULES = {"clock-in": "app", "pdf-tool": "app", "notes": "app", "weather": "app"}


def copy_module(app: str, folder: Path) -> Path:
    """Copy one module of a sample app, and return its folder."""
    target = folder / app
    shutil.copytree(sample_apps_directory() / app / MODULES[app], target)
    return target


def migrate(provider: Provider, target: str, project: Path, language: Language = "java") -> MigrationPlan:
    """Plan a migration."""
    target_format, dialect = find_format(target)
    translations = translate([provider], target_format, dialect)
    return plan_migration(project, find_source_set(project), translations, target_format, dialect, language)


def read_providers(project: Path, only: Format | None = None) -> list[Provider]:
    """Return every provider that is found in a project."""
    reading = read_source(str(project), formats=None if only is None else [only])
    assert not reading.problems
    return list(reading.providers)


def files_of(project: Path) -> dict[str, bytes]:
    """Return every file of a project."""
    return {
        path.relative_to(project).as_posix(): path.read_bytes()
        for path in project.rglob("*")
        if path.is_file()
    }

"""Files that several releases read: once read and once parsed, with the same outcome."""

from collections import Counter
from dataclasses import replace

import pytest

from adapters.appfunctions_lint.app_fixtures import (
    SCHEMA_PROPERTY,
    V2,
    app,
    function,
    functions,
    named,
    service,
)
from droidgate_android.app_search import AppFiles, app_files, simulate_indexing
from droidgate_mappings.formats.application import Application, Resources, TextFile
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.tables.app_functions import load_indexing

RELEASES = ("16", "16-qpr1", "16-qpr2", "17")
RESOURCE = named(".v2", "@xml/functions", attribute="resource")
APPS = {
    "an asset": app(service(V2, SCHEMA_PROPERTY)),
    "a resource": app(service(RESOURCE, SCHEMA_PROPERTY)),
    "two services": app(
        service(V2, SCHEMA_PROPERTY),
        service(named(".v2", "more.xml"), SCHEMA_PROPERTY, name=".Second"),
        more_xml=functions(function("a#more")),
    ),
    "a broken file": app(service(named(".v2", "bad.xml"), SCHEMA_PROPERTY), bad_xml="<appfunctions>"),
    "a file that is not there": app(service(named(".v2", "none.xml"), SCHEMA_PROPERTY)),
}


class CountedResources:
    """Resources that count what is read of them."""

    def __init__(self, kept: Resources) -> None:
        self._resources = kept
        self.reads: Counter[str] = Counter()

    def read_file(self, reference: str) -> TextFile | None:
        self.reads[reference] += 1
        return self._resources.read_file(reference)

    def read_asset(self, name: str) -> TextFile | None:
        self.reads[name] += 1
        return self._resources.read_asset(name)

    def read_text(self, reference: str) -> str | None:
        return self._resources.read_text(reference)

    def read_array(self, reference: str) -> tuple[str, ...] | None:
        return self._resources.read_array(reference)


def counted(application: Application) -> tuple[Application, CountedResources]:
    resources = CountedResources(application.resources)
    return replace(application, resources=resources), resources


@pytest.mark.parametrize("name", APPS)
@pytest.mark.parametrize("kept_characters", [0, 4 << 20])
def test_releases_that_share_files_say_what_each_says_alone(
    name: str, kept_characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_files, "_KEPT_CHARACTERS", kept_characters)
    files = AppFiles(APPS[name])
    for release in (*RELEASES, *RELEASES):
        shared = simulate_indexing(APPS[name], release, files=files)
        assert shared == simulate_indexing(APPS[name], release)


@pytest.mark.parametrize("name", APPS)
def test_the_linter_reads_a_file_once_for_all_releases(name: str) -> None:
    application, resources = counted(APPS[name])
    lint = load_formats()["appfunctions"].lint_application
    assert lint is not None
    lint(application)
    assert len(load_indexing().linted()) > 1
    assert set(resources.reads.values()) == {1}


def test_large_files_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_files, "_KEPT_CHARACTERS", 10)
    application, resources = counted(APPS["an asset"])
    files = AppFiles(application)
    for release in RELEASES:
        simulate_indexing(application, release, files=files)
    assert set(resources.reads.values()) == {len(RELEASES)}

"""Manifests of libraries in an app's: typed cases of the documented rules, and Android's own merger."""

import random
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from droidgate_android.projects.android_project import MAIN, Module, application_from_tree, read_source_set
from droidgate_android.projects.gradle_text import GradleFile
from droidgate_android.projects.manifest_merge import FILE_MARK, MERGE_CONFLICT, UNKNOWN_NAMESPACE
from droidgate_android.projects.resources import SourceSet
from droidgate_mappings.formats.application import Application, Component, MetaData
from droidgate_mappings.formats.leniency import ReadingContext
from requirements_of_tests import SHORT_JVM, manifest_merger_jars

HEAD = 'xmlns:android="http://schemas.android.com/apk/res/android" xmlns:tools="http://schemas.android.com/tools"'
MERGERS = Path(__file__).with_name("Mergers.java")
View = list[tuple[object, ...]]


def manifest_of(package: str, content: str, *, attributes: str = "", before: str = "") -> str:
    return (
        f'<manifest {HEAD} package="{package}">\n{before}\n'
        f"<application {attributes}>\n{content}\n</application>\n</manifest>\n"
    )


def merge_by_us(main: str, libraries: Sequence[str]) -> tuple[Application, ReadingContext]:
    """Return the app and what could not be merged."""

    def module(text: str, path: str, inner: tuple[Module, ...] = ()) -> Module:
        files = {"AndroidManifest.xml": text.encode()}
        gradle = GradleFile(is_library=not inner)
        return Module({MAIN: SourceSet(files, path)}, gradle, inner, merges_manifests=True)

    parts = tuple(module(text, f"lib{number}") for number, text in enumerate(libraries))
    context = ReadingContext()
    return read_source_set(module(main, "app", parts), MAIN, context), context


def merge_by_android(cases: Iterable[tuple[str, Sequence[str]]], folder: Path) -> list[Application | None]:
    """Return the apps that Android's merger makes, None for each where it ends with an error."""
    outs, lines = [], []
    for case, (main, libraries) in enumerate(cases):
        paths = [folder / f"{case}-{number}.xml" for number in range(1 + len(libraries))]
        for path, text in zip(paths, (main, *libraries), strict=True):
            path.write_text(text)
        outs.append(folder / f"merged-{case}.xml")
        libs = ["--libs", ":".join(map(str, paths[1:]))] if libraries else []
        words = ["--main", str(paths[0]), "--log", "ERROR", *libs, "--out", str(outs[-1])]
        lines.append("\t".join(words))
    jars = ":".join(map(str, manifest_merger_jars()))
    command: list[str | Path] = ["java", *SHORT_JVM, "-cp", jars, MERGERS]
    run = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=False, timeout=1000
    )
    assert run.returncode == 0, run.stderr[-4000:]
    return [
        application_from_tree({"AndroidManifest.xml": out.read_bytes()}) if out.is_file() else None
        for out in outs
    ]


def view_of(application: Application) -> View:
    """Return what both sides have to agree on; the order of elements does not matter."""
    components = [_component(application, component) for component in application.components]
    return [*sorted(components, key=repr), ("permissions", sorted(application.permissions.items()))]


def _component(application: Application, item: Component) -> tuple[object, ...]:
    attributes = {
        name: application.qualified_name(Component(item.kind, value)) if name == "targetActivity" else value
        for name, value in item.attributes.items()
        if name != "name"
    }
    return (
        item.kind,
        application.qualified_name(item) if item.name else "",
        (item.exported, item.enabled, item.permission, item.label, item.description),
        sorted((sorted(filter_.actions), sorted(filter_.categories)) for filter_ in item.filters),
        sorted(map(_meta, item.meta_data)),
        sorted(map(_meta, item.properties)),
        sorted(attributes.items()),
    )


def _meta(item: MetaData) -> tuple[str, str, str]:
    return item.name, re.sub(r"\s+", " ", str(item.value)), str(item.resource)


class Generator:
    """Makes manifests with few names, so that elements of the app and of its libraries meet."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def case(self) -> tuple[str, list[str]]:
        """Return an app's manifest and those of up to three libraries."""
        count = self._random.randint(1, 3)
        app = self._manifest("dev.app", is_app=True)
        return app, [self._manifest(f"dev.lib{number}", is_app=False) for number in range(count)]

    def _manifest(self, package: str, *, is_app: bool) -> str:
        attributes = self._attributes(["label", "permission"], is_app=is_app)
        content = "\n".join(
            self._component(tag, name, is_app=is_app)
            for tag in ("activity", "service", "receiver")
            for name in self._some(["dev.app.One", ".Two", "Three", "dev.lib0.Four"])
        )
        content += "\n".join(self._meta(name, is_app=is_app) for name in self._some(["top", "other"]))
        return manifest_of(package, content, attributes=attributes)

    def _component(self, tag: str, name: str, *, is_app: bool) -> str:
        attributes = self._attributes(["exported", "enabled", "process", "permission"], is_app=is_app)
        rule = ""
        if is_app and self._random.random() < 0.2:
            node = self._random.choice(["remove", "replace", "merge", "mergeOnlyAttributes"])
            rule = f'tools:node="{node}"'
        filters = "".join(
            f'<intent-filter><action android:name="{action}"/></intent-filter>'
            for action in self._some(["act.A", "act.B"])
        )
        metas = "".join(self._meta(meta, is_app=is_app) for meta in self._some(["x", "y"]))
        return f'<{tag} android:name="{name}" {attributes} {rule}>{filters}{metas}</{tag}>'

    def _meta(self, name: str, *, is_app: bool) -> str:
        value = self._random.choice([*["1"] * 9, "2"])
        replaced = ' tools:replace="android:value"' if is_app and self._random.random() < 0.5 else ""
        return f'<meta-data android:name="{name}" android:value="{value}"{replaced}/>'

    def _attributes(self, names: list[str], *, is_app: bool) -> str:
        values = {"exported": ["true", "false"], "enabled": ["true", "false"]}
        chosen = self._some(names)
        # Mostly equal: where two of many values differ, the merger refuses the whole.
        position = self._random.choice([0] * 9 + [1])
        written = [f'android:{name}="{values.get(name, ["p", "q"])[position]}"' for name in chosen]
        if is_app and chosen and self._random.random() < 0.6:
            written.append(f'tools:replace="{",".join(f"android:{name}" for name in chosen)}"')
        elif is_app and self._random.random() < 0.2:
            absent = [name for name in names if name not in chosen]
            written += [f'tools:remove="android:{absent[0]}"'] if absent else []
        return " ".join(written)

    def _some(self, names: list[str]) -> list[str]:
        return [name for name in names if self._random.random() < 0.4]


LIBRARY = manifest_of(
    "dev.lib",
    '<service android:name=".S" android:exported="true" android:process=":lib">'
    '<meta-data android:name="m" android:value="library"/></service>',
)


def only_service(application: Application) -> Component:
    (service,) = application.of_kind("service")
    return service


def test_a_component_that_only_a_library_has_is_added_with_its_own_class_and_place() -> None:
    application, context = merge_by_us(manifest_of("dev.app", ""), [LIBRARY])
    service = only_service(application)
    assert application.qualified_name(service) == "dev.lib.S"
    assert str(service.place) == "lib0/AndroidManifest.xml:4"
    assert str(service.meta_data[0].place) == "lib0/AndroidManifest.xml:4"
    assert context.findings == []


def test_the_library_that_is_declared_first_has_the_higher_priority() -> None:
    second = LIBRARY.replace('android:process=":lib"', 'android:process=":second" android:label="Second"')
    application, context = merge_by_us(manifest_of("dev.app", ""), [LIBRARY, second])
    service = only_service(application)
    assert (service.attributes["process"], service.label) == (":lib", "Second")
    (finding,) = context.findings
    assert (finding.code, str(finding.source)) == (MERGE_CONFLICT, "lib0/AndroidManifest.xml:4")
    assert "lib1/AndroidManifest.xml:4" in finding.message


@pytest.mark.parametrize(("markers", "process", "meta", "conflicts"), [
    ('android:process=":app"', ":app", 1, 1),
    ('android:process=":app" tools:replace="android:process"', ":app", 1, 0),
    ('tools:remove="android:process"', None, 1, 0),
    ('tools:node="replace"', None, 0, 0),
    ('tools:node="merge-only-attributes"', ":lib", 0, 0),
    ('tools:node="mergeOnlyAttributes"', ":lib", 0, 0),
    ('tools:node="strict"', None, 0, 1),
    ('tools:node="replace" tools:selector="dev.other"', ":lib", 1, 0),
    ('tools:node="replace" tools:selector="dev.lib"', None, 0, 0),
    ("", ":lib", 1, 0),
])  # fmt: skip
def test_the_markers_of_the_app_decide(markers: str, process: str | None, meta: int, conflicts: int) -> None:
    """The rows of "Node markers" and "Attribute markers" on developer.android.com/build/manage-manifests."""
    main = manifest_of("dev.app", f'<service android:name="dev.lib.S" {markers}/>')
    application, context = merge_by_us(main, [LIBRARY])
    service = only_service(application)
    assert service.attributes.get("process") == process
    assert len(service.meta_data) == meta
    assert [finding.code for finding in context.findings] == [MERGE_CONFLICT] * conflicts


@pytest.mark.parametrize("marker", ["remove", "removeAll"])
def test_an_app_removes_what_a_library_has(marker: str) -> None:
    name = 'android:name="dev.lib.S"' if marker == "remove" else ""
    main = manifest_of("dev.app", f'<service {name} tools:node="{marker}"/>')
    application, context = merge_by_us(main, [LIBRARY])
    assert list(application.of_kind("service")) == []
    assert context.findings == []


def test_placeholders_of_the_app_reach_its_libraries() -> None:
    library = manifest_of("dev.lib", '<service android:name="S" android:process="${applicationId}.x"/>')
    application, _ = merge_by_us(manifest_of("dev.app", ""), [library])
    assert only_service(application).attributes["process"] == "dev.app.x"


def test_a_component_whose_class_is_not_known_is_left_out_with_its_line() -> None:
    library = f'<manifest {HEAD}><application>\n<service android:name=".S"/></application></manifest>'
    application, context = merge_by_us(manifest_of("dev.app", ""), [library])
    assert list(application.of_kind("service")) == []
    (finding,) = context.findings
    assert (finding.code, str(finding.source)) == (UNKNOWN_NAMESPACE, "lib0/AndroidManifest.xml:2")


def test_a_library_that_cannot_be_read_leaves_the_app_and_the_others() -> None:
    application, context = merge_by_us(manifest_of("dev.app", ""), ["<manifest", LIBRARY])
    assert application.qualified_name(only_service(application)) == "dev.lib.S"
    (finding,) = context.findings
    assert finding.code == "unreadable-library-manifest"
    assert str(finding.source) == "lib0/AndroidManifest.xml:1:10"


def test_no_manifest_can_forge_the_mark_that_names_an_elements_file() -> None:
    namespace = FILE_MARK[1:].partition("}")[0]
    assert len(namespace) > len("urn:droidgate:") + 30


@pytest.mark.slow
def test_nesting_and_repetition_cost_no_more_than_their_size() -> None:
    deep = "<application>" * 250 + "</application>" * 250
    unnamed = "<a>" * 200 + "</a>" * 200
    text = manifest_of("dev.app", deep + unnamed + '<service android:name=".S"/>' * 20_000)
    application, _ = merge_by_us(text, [text.replace("dev.app", f"dev.lib{number}") for number in range(3)])
    assert len(application.components) > 20_000


def agree(seeds: range, folder: Path) -> tuple[int, int]:
    """Hold our merging to Android's, and return how many cases it merges and how many it refuses."""
    merged = refused = 0
    cases = [Generator(seed).case() for seed in seeds]
    for seed, (main, libraries), theirs in zip(seeds, cases, merge_by_android(cases, folder), strict=True):
        ours, context = merge_by_us(main, libraries)
        conflicts = [str(finding) for finding in context.findings]
        if theirs is None:
            assert conflicts, f"seed {seed}"
            refused += 1
        else:
            assert (view_of(ours), conflicts) == (view_of(theirs), []), f"seed {seed}"
            merged += 1
    return merged, refused


@pytest.mark.slow
@pytest.mark.requires("manifest-merger")
@pytest.mark.timeout(180)
def test_manifests_are_merged_as_androids_merger_does(tmp_path: Path) -> None:
    merged, refused = agree(range(30), tmp_path)
    assert merged > 15
    assert refused > 2


@pytest.mark.long
@pytest.mark.requires("manifest-merger")
@pytest.mark.timeout(1200)
def test_many_manifests_are_merged_as_androids_merger_does(tmp_path: Path) -> None:
    merged, refused = agree(range(1000, 1400), tmp_path)
    assert merged > refused

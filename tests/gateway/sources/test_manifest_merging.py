"""Manifests of libraries in an app's: typed cases of the documented rules, and Android's own merger."""

from pathlib import Path

import pytest

from droidgate.sources.manifest_merge import FILE_MARK, MERGE_CONFLICT, UNKNOWN_NAMESPACE
from droidgate_mappings.formats.application import Application, Component
from gateway.sources.merged_manifests import (
    HEAD,
    Generator,
    manifest_of,
    merge_by_android,
    merge_by_us,
    view_of,
)

LIBRARY = manifest_of(
    "dev.lib",
    '<service android:name=".S" android:exported="true" android:process=":lib">'
    '<meta-data android:name="m" android:value="library"/></service>',
)


def only_service(application: Application) -> Component:
    (service,) = application.of_kind("service")
    return service


def codes(main: str, *libraries: str) -> list[str]:
    return [finding.code for finding in merge_by_us(main, libraries)[1].findings]


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
    assert finding.code == MERGE_CONFLICT
    assert (str(finding.source), "lib1/AndroidManifest.xml:4" in finding.message) == (
        "lib0/AndroidManifest.xml:4",
        True,
    )


@pytest.mark.parametrize(
    ("markers", "process", "meta", "conflicts"),
    [
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
    ],
)
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
    assert (finding.code, str(finding.source)) == (
        "unreadable-library-manifest",
        "lib0/AndroidManifest.xml:1:10",
    )


def test_no_manifest_can_know_the_mark_that_names_an_elements_file() -> None:
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

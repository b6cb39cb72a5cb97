"""An app with a file of version 1 next to a newer one (reference 1.2)."""

import pytest

from adapters.appfunctions.function_files import (
    app_of,
    artifact,
    facts_of,
    file_of,
    function_of,
    only,
    property_of,
    read_app,
    rows_of,
    service_of,
    write_in,
)
from droidgate.sources.android_project import application_from_tree
from droidgate_android.app_search import simulate_indexing
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, CapabilityAccess, Provider
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.tables.app_functions import load_indexing

BOTH = service_of(property_of("", "one.xml"), property_of("v2", "two.xml"))
NEWER = file_of(function_of("", name="a.B#c", enabled="true"))


def older_function(name: str = "a.B#c", more: str = "", *, enabled: str = "true") -> str:
    return (
        f"<appfunction><function_id>{name}</function_id>{more}"
        f"<enabled_by_default>{enabled}</enabled_by_default></appfunction>"
    )


def files_of(*older: str) -> dict[str, str]:
    return {"assets/one.xml": file_of(*older), "assets/two.xml": NEWER}


def older_text(writing: Writing) -> str:
    (text,) = [item.text for item in writing.artifacts if item.path.endswith("-v1.xml")]
    return text


def test_a_file_of_version_1_that_repeats_the_newer_one_is_kept_without_a_finding() -> None:
    reading = read_app(BOTH, files=files_of(older_function()))
    assert reading.findings == ()
    provider = only(reading)
    assert set(facts_of(provider)) == {"v1Repeated"}
    writing = write_in(provider, "v2")
    assert writing.findings == ()
    manifest = artifact(writing, "manifest")
    assert 'android:value="service-v1.xml"' in manifest
    _, *lines = (line.strip() for line in older_text(writing).splitlines())
    assert lines == [
        "<appfunctions>",
        "<appfunction>",
        "<function_id>a.B#c</function_id>",
        "<enabled_by_default>true</enabled_by_default>",
        "</appfunction>",
        "</appfunctions>",
    ]


@pytest.mark.parametrize(
    ("older", "words"),
    [
        (older_function("a.B#gone"), ["'a.B#gone'", "only in the file of version 1"]),
        (older_function(enabled="false"), ["'a.B#c'", "enabledByDefault of the function 'a.B#c' differs in"]),
        (older_function(more="<schema_name>note</schema_name>"), ["'a.B#c'", "schemaName"]),
        (
            older_function(
                more="<restrict_callers_with_execute_app_functions>true"
                "</restrict_callers_with_execute_app_functions>"
            ),
            ["'a.B#c'", "restrictCallersWithExecuteAppFunctions"],
        ),
    ],
)
def test_a_function_that_differs_is_reported_at_its_place_and_kept(older: str, words: list[str]) -> None:
    reading = read_app(BOTH, files=files_of(older))
    (finding,) = reading.findings
    assert (finding.code, finding.level, finding.rule) == ("older-function-differs", Level.READ, "A24")
    assert str(finding.source) == "assets/one.xml:1"
    assert all(word in finding.message for word in words)
    provider = only(reading)
    assert [item.id for item in provider.capabilities] == ["a.B#c"]
    assert set(facts_of(provider)) == {"v1"}
    lost = [(item.pointer, item.level) for item in write_in(provider, "v1").findings]
    assert ("/extensions/appfunctions/v1", Level.DROPPED) in lost


def listed_by_release(application: Application) -> dict[str, list[str]]:
    return {
        item.id: sorted(simulate_indexing(application, item).functions()) for item in load_indexing().linted()
    }


def test_each_release_lists_after_a_round_trip_what_it_listed_before() -> None:
    before = app_of(BOTH, files=files_of(older_function("a.B#old")))
    writing = write_in(only(FORMAT.read_application(before, ReadingContext())), "v2")
    tree = {item.path: item.text for item in writing.artifacts if item.role != "schema"}
    # The source names no schema file, so that Android 16 reads the file of version 1.
    tree["AndroidManifest.xml"] = tree["AndroidManifest.xml"].replace("appfunctions.schema", "other")
    after = application_from_tree({path: text.encode() for path, text in tree.items()})
    listed = listed_by_release(before)
    assert listed["16"] == ["a.B#old"]
    assert listed["17"] == ["a.B#c"]
    assert listed_by_release(after) == listed


def test_the_older_file_is_read_where_the_newer_one_does_not_exist() -> None:
    files = {"assets/one.xml": file_of(older_function("a.B#old"))}
    reading = read_app(BOTH, files=files, strict=False)
    assert rows_of(reading) == ["A19"]
    provider = only(reading)
    assert (provider.dialect, [item.id for item in provider.capabilities]) == ("v1", ["a.B#old"])


def test_files_that_no_component_names_are_kept_with_the_newer_file_of_the_same_functions() -> None:
    files = {
        "assets/a.xml": file_of(function_of(name="a")),
        "assets/b.xml": file_of(function_of(name="b")),
        "assets/b_old.xml": file_of(older_function("b"), older_function("gone")),
    }
    reading = read_app("<activity android:name='.Main'/>", files=files, strict=False)
    kept = {provider.capabilities[0].id: set(facts_of(provider)) for provider in reading.providers}
    assert kept == {"a": set(), "b": {"v1"}}
    assert rows_of(reading) == ["A20", "A20", "A20", "A24"]
    assert "'gone'" in reading.findings[-1].message


def test_files_of_version_1_alone_that_no_component_names_are_read() -> None:
    files = {"assets/old.xml": file_of(older_function("b"))}
    reading = read_app("<activity android:name='.Main'/>", files=files, strict=False)
    assert [item.id for item in only(reading).capabilities] == ["b"]
    assert rows_of(reading) == ["A20"]


def test_functions_of_the_application_are_kept_in_both_files_too() -> None:
    newer = file_of(function_of("<scope>global</scope>", name="x", enabled=None))
    files = {"assets/one.xml": file_of(older_function("x")), "assets/two.xml": newer}
    reading = read_app(property_of("", "one.xml"), property_of("v2", "two.xml"), files=files)
    provider = only(reading)
    assert reading.findings == ()
    again = write_in(provider, "app-level")
    assert "<function_id>x</function_id>" in older_text(again)


FORGED = [["appfunction", [["function_id", "evil"], ["enabled_by_default", "true"]]]]


@pytest.mark.parametrize("fact", ["v1", "v1Repeated", "rootElements"])
def test_a_source_of_another_protocol_declares_no_functions_next_to_its_tools(fact: str) -> None:
    tools = Provider(
        protocol="mcp",
        package="com.example",
        component=".Tools",
        capabilities=(Capability(id="tool"),),
        extensions={"appfunctions": {fact: FORGED}},
    )
    writing = write_in(tools, "v2")
    assert not any("evil" in item.text for item in writing.artifacts)
    (finding,) = [item for item in writing.findings if item.pointer == f"/extensions/appfunctions/{fact}"]
    assert (finding.code, finding.level) == ("extension-dropped", Level.DROPPED)


def test_a_source_of_another_protocol_does_not_enable_a_function_by_an_unknown_element() -> None:
    closed = Capability(
        id="tool",
        access=CapabilityAccess(enabled_by_default=False),
        extensions={"appfunctions": {"elements": [["enabled_by_default", "true"]]}},
    )
    writing = write_in(Provider(protocol="mcp", capabilities=(closed,)), "v2")
    descriptor = artifact(writing, "descriptor")
    assert "enabled_by_default" not in descriptor
    assert "<enabledByDefault>false</enabledByDefault>" in descriptor
    assert "/capabilities/0/extensions/appfunctions/elements" in [
        finding.pointer for finding in writing.findings
    ]


def test_an_element_whose_name_holds_markup_is_not_written() -> None:
    forged = {"appfunctions": {"rootElements": [["x/><appfunction", "evil"]]}}
    with pytest.raises(WriteError, match="is not the name of an XML element"):
        write_in(Provider(protocol="mcp", extensions=forged, capabilities=(Capability(id="a"),)), "v2")

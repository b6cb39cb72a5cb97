"""Which files of an app are read, by the properties of its manifest (reference 1.1, 1.2, 2.g)."""

import pytest

from adapters.appfunctions.function_files import (
    ACTION,
    components_of,
    definition_of,
    facts_of,
    file_of,
    function_of,
    only,
    parameter_of,
    property_of,
    read_app,
    rows_of,
    service_of,
    typed,
)
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.types import ScalarType

V2 = property_of("v2", "any_name.xml")
FILE = file_of(function_of())
METADATA = (
    '<AppFunctionAppMetadata xmlns:appfn="http://schemas.android.com/apk/androidx.appfunctions" '
    'appfn:description="Use\\nit" appfn:displayDescription="@string/told"/>'
)
STRINGS = '<resources><string name="told">What it\\u0020does</string></resources>'
GUIDANCE = property_of("app_metadata", resource="@xml/guide")


def test_the_property_names_the_file_whatever_it_is_called() -> None:
    files = {"assets/any_name.xml": FILE, "assets/app_functions_v2.xml": file_of(function_of(name="other"))}
    provider = only(read_app(service_of(V2), files=files))
    assert (provider.package, provider.component) == ("com.example.app", ".Service")
    assert [capability.id for capability in provider.capabilities] == ["a.B#c"]
    assert str(provider.source) == "assets/any_name.xml:1"
    assert provider.capabilities[0].state is None


def test_v2_wins_over_v1_and_v1_is_read_alone() -> None:
    v1 = "<appfunctions><appfunction><function_id>old</function_id></appfunction></appfunctions>"
    files = {"assets/any_name.xml": FILE, "assets/one.xml": v1}
    old = property_of("", "one.xml")
    both = only(read_app(service_of(old, V2), files=files))
    alone = only(read_app(service_of(old), files=files))
    assert (both.dialect, [capability.id for capability in both.capabilities]) == ("v2", ["a.B#c"])
    assert (alone.dialect, [capability.id for capability in alone.capabilities]) == ("v1", ["old"])


def test_a_property_may_point_to_a_resource() -> None:
    service = service_of(property_of("v2", resource="@xml/functions"))
    provider = only(read_app(service, files={"res/xml/functions.xml": FILE}))
    assert str(provider.source) == "res/xml/functions.xml:1"


def test_each_service_is_a_provider_and_the_application_another() -> None:
    files = {
        "assets/a.xml": file_of(function_of(name="a")),
        "assets/b.xml": file_of(function_of(name="b")),
        "assets/c.xml": file_of(function_of("<scope>global</scope>", name="c", enabled=None)),
        "assets/d.xml": file_of(function_of("<scope>activity</scope>", name="d", enabled=None)),
    }
    providers = read_app(
        property_of("v2", " c.xml ,, d.xml"),
        service_of(property_of("v2", "a.xml"), name=".A", attributes='android:label="First"'),
        service_of(property_of("v2", "b.xml"), name="com.other.B"),
        files=files,
    ).providers
    assert [
        (provider.component, provider.dialect, provider.name, [c.id for c in provider.capabilities])
        for provider in providers
    ] == [
        (".A", "v2", "First", ["a"]),
        ("com.other.B", "v2", None, ["b"]),
        (None, "app-level", None, ["c", "d"]),
    ]


def test_an_array_of_resources_names_several_files() -> None:
    files = {
        "res/xml/c.xml": file_of(function_of("<scope>global</scope>", name="c", enabled=None)),
        "res/xml/d.xml": file_of(function_of("<scope>global</scope>", name="d", enabled=None)),
        "res/values/v.xml": (
            '<resources><array name="all"><item>@xml/c</item><item>@xml/d</item></array></resources>'
        ),
    }
    provider = only(read_app(property_of("v2", resource="@array/all"), files=files))
    assert [capability.id for capability in provider.capabilities] == ["c", "d"]


def test_names_of_components_are_the_whole_packages() -> None:
    reference = typed("<dataTypeReference>a.B</dataTypeReference>", 11)
    components = components_of(definition_of("a.B", typed("", 7, nullable=True)))
    files = {
        "assets/a.xml": file_of(function_of(parameter_of(reference), name="a")),
        "assets/b.xml": file_of(function_of(name="b"), components=components),
    }
    services = [service_of(property_of("v2", f"{item}.xml"), name=f".{item.upper()}") for item in ("a", "b")]
    first, second = read_app(*services, files=files).providers
    assert first.definitions == second.definitions == {"a.B": ScalarType(kind="int32")}


def test_a_reference_that_leads_nowhere_is_read() -> None:
    reference = typed("<dataTypeReference>a.Gone</dataTypeReference>", 11)
    files = {"assets/any_name.xml": file_of(function_of(parameter_of(reference)))}
    assert only(read_app(service_of(V2), files=files)).definitions == {}


def test_guidance_and_what_the_user_is_reported_are_every_providers() -> None:
    files = {"assets/any_name.xml": FILE, "res/xml/guide.xml": METADATA, "res/values/s.xml": STRINGS}
    provider = only(read_app(GUIDANCE, service_of(V2), files=files))
    assert (provider.instructions, provider.description) == ("Use\nit", "What it does")
    assert facts_of(provider) == {}


def test_an_app_with_guidance_alone_is_a_provider_without_functions() -> None:
    files = {"res/xml/guide.xml": METADATA, "res/values/s.xml": STRINGS}
    provider = only(read_app(GUIDANCE, files=files))
    assert (provider.instructions, provider.component, provider.capabilities) == ("Use\nit", None, ())


def test_an_app_with_neither_has_no_provider() -> None:
    reading = read_app(f"<service android:name='.Other'>{ACTION.replace('appfunctions', 'other')}</service>")
    assert reading.providers == ()
    assert rows_of(reading) == []


@pytest.mark.parametrize(
    ("attributes", "instructions", "description", "facts"),
    [
        ('appfn:description="Old"', "Old", None, {"metadataNamespace": "res-auto"}),
        (
            'appfn:instructions="New" appfn:description="Old" appfn:displayDescription="Told"',
            "New",
            "Told",
            {
                "metadataNamespace": "res-auto",
                "metadataAttribute": "instructions",
                "legacyDescription": "Old",
            },
        ),
        (
            'appfn:description="Old" appfn:displayDescription="@string/gone" appfn:icon="x"',
            "Old",
            None,
            {
                "metadataNamespace": "res-auto",
                "metadataAttributes": {"displayDescription": "@string/gone", "icon": "x"},
            },
        ),
    ],
)
def test_how_guidance_is_written_is_kept(
    attributes: str, instructions: str, description: str | None, facts: dict[str, object]
) -> None:
    text = f'<AppFunctionAppMetadata xmlns:appfn="http://schemas.android.com/apk/res-auto" {attributes}/>'
    provider = only(read_app(GUIDANCE, files={"res/xml/guide.xml": text}))
    assert (provider.instructions, provider.description) == (instructions, description)
    assert facts_of(provider) == facts


BROKEN_GUIDANCE = "<app-metadata description='Search first'/>"
UNCLOSED = "<appfunctions>\n<appfunction>\n</appfunctions>"


def test_a_malformed_guidance_file_is_a_problem_of_that_file() -> None:
    files = {"res/xml/guide.xml": BROKEN_GUIDANCE, "assets/f.xml": file_of(function_of())}
    reading = read_app(GUIDANCE, service_of(property_of("v2", "f.xml")), files=files, strict=False)
    assert [capability.id for capability in only(reading).capabilities] == ["a.B#c"]
    (problem,) = reading.problems
    assert problem.place == "res/xml/guide.xml:1"
    assert problem.message == "the root element is <app-metadata>, not <AppFunctionAppMetadata>"


@pytest.mark.parametrize("broken", [UNCLOSED, file_of("<appfunction/>")])
def test_a_broken_functions_file_hides_no_other_service(broken: str) -> None:
    services = (
        service_of(property_of("v2", "broken.xml"), name=".Broken"),
        service_of(property_of("v2", "f.xml"), name=".Good"),
    )
    files = {"assets/broken.xml": broken, "assets/f.xml": file_of(function_of())}
    reading = read_app(*services, files=files, strict=False)
    assert [item.component for item in reading.providers] == [".Good"]
    assert [item.place.partition(":")[0] for item in reading.problems if item.place] == ["assets/broken.xml"]
    with pytest.raises(InputError):
        read_app(*services, files=files)


def test_one_of_several_files_of_the_application_may_be_broken() -> None:
    files = {"assets/broken.xml": UNCLOSED, "assets/f.xml": file_of(function_of(enabled=None))}
    reading = read_app(property_of("v2", "broken.xml,f.xml"), files=files, strict=False)
    assert [capability.id for capability in only(reading).capabilities] == ["a.B#c"]
    assert len(reading.problems) == 1


def test_a_broken_file_of_version_1_does_not_hide_the_newer_one() -> None:
    service = service_of(property_of("", "old.xml"), property_of("v2", "f.xml"))
    files = {"assets/old.xml": UNCLOSED, "assets/f.xml": file_of(function_of())}
    reading = read_app(service, files=files, strict=False)
    assert [item.id for item in only(reading).capabilities] == ["a.B#c"]
    assert [item.place.partition(":")[0] for item in reading.problems if item.place] == ["assets/old.xml"]


def test_the_only_file_of_an_app_is_still_an_error() -> None:
    with pytest.raises(InputError, match="not well-formed"):
        read_app(service_of(property_of("v2", "f.xml")), files={"assets/f.xml": UNCLOSED}, strict=False)

"""Finding Mobile-MCP services in an app: section 1.1, and what apps do instead."""

from typing import Any

import pytest

from adapters.mobile_mcp.tools import (
    CAPABILITIES,
    DESCRIPTION,
    FULL,
    NAME,
    OLDER_ACTION,
    SWITCH,
    descriptor,
    read_app,
    rows_of,
    service,
)
from droidgate_mappings.model.capability import ComponentAccess
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from titled_rows import titled

OLDER_TEXTS = (
    '<meta-data android:name="mcp.application.name" android:value="Old lamp"/>'
    '<meta-data android:name="mcp.application.description" android:value="Switches it"/>'
)
OLDER_CAPABILITIES = '<meta-data android:name="mcp.capabilities" android:resource="@xml/mcp_capabilities"/>'
OLDER_KEYS = {
    "name": "mcp.application.name",
    "description": "mcp.application.description",
    "capabilities": "mcp.capabilities",
}
OLDER_FILE = {"res/xml/mcp_capabilities.xml": descriptor(SWITCH, root="mcp")}
EXPORTED = 'android:exported="true" android:foregroundServiceType="dataSync"'
WHOLE = service(NAME, DESCRIPTION, CAPABILITIES)


def test_a_service_of_section_1_1_is_read_strictly_and_whole() -> None:
    (provider,) = read_app(
        service(NAME, DESCRIPTION, CAPABILITIES, attributes='android:exported="true"'), strict=True
    ).providers
    assert (provider.package, provider.component) == ("com.example.lamp", ".LampService")
    assert (provider.name, provider.description, provider.dialect) == ("Lamp", "Switches the lamp", "1.0")
    assert [item.id for item in provider.capabilities] == ["dim", "off"]
    assert provider.extensions == {}
    assert provider.source is not None
    assert provider.source.path == "res/xml/mcp_capabilities.xml"


def test_a_service_of_the_time_before_the_specification_is_read_strictly() -> None:
    older = service(
        OLDER_TEXTS, OLDER_CAPABILITIES, action=OLDER_ACTION, attributes='android:exported="true"'
    )
    (provider,) = read_app(older, files=OLDER_FILE, strict=True).providers
    assert (provider.dialect, provider.name, provider.description) == ("pre-spec", "Old lamp", "Switches it")
    assert provider.extensions == {}


def test_texts_by_reference_are_resolved_in_the_default_locale() -> None:
    files = {
        "res/xml/mcp_capabilities.xml": FULL,
        "res/values/strings.xml": '<resources><string name="n">It\\\'s a lamp</string></resources>',
        "res/values-de/strings.xml": '<resources><string name="n">Lampe</string></resources>',
    }
    name = NAME.replace("Lamp", "@string/n")
    (provider,) = read_app(service(name, DESCRIPTION, CAPABILITIES), files=files, strict=True).providers
    assert provider.name == "It's a lamp"


def named(value: str, attribute: str = "value") -> str:
    """Return a service whose name is another value."""
    name = NAME.replace('android:value="Lamp"', f'android:{attribute}="{value}"')
    return service(name, DESCRIPTION, CAPABILITIES)


def attributed(attributes: str) -> str:
    return service(NAME, DESCRIPTION, CAPABILITIES, attributes=attributes)


M11, M12 = pytest.mark.row("M11"), pytest.mark.row("M12")
M65, M66 = pytest.mark.row("M65"), pytest.mark.row("M66")


def case(
    title: str,
    component: str,
    row: pytest.MarkDecorator | None = None,
    *,
    application: str = "",
    resources: str = "",
    capabilities: str = FULL,
    files: dict[str, str] | None = None,
    noted: str = "",
    message: str = "",
    **expected: Any,
) -> Any:
    """Return the case of an app with one service: what is read of it, and the rows that let it in."""
    tree = {"res/xml/mcp_capabilities.xml": capabilities, **(files or {})}
    if resources:
        tree["res/values/s.xml"] = f"<resources>{resources}</resources>"
    marks = () if row is None else (row,)
    rows = [*([noted] if noted else []), *(item for mark in marks for item in mark.args)]
    return pytest.param(component, application, tree, rows, message, expected, id=title, marks=marks)


def typed(value: str, text: str) -> Any:
    """Return the case of a name that a device types; the digits of the source stay in the report."""
    message = "" if value == text else f"({value} in the manifest)"
    return case(f"a name that a device types: {value}", named(value), M12, message=message, name=text)


def labelled(title: str, service_label: str, application: str, name: str) -> Any:
    component = service(DESCRIPTION, CAPABILITIES, attributes=f'android:exported="true" {service_label}')
    return case(title, component, M12, application=application, name=name)


NO_LABEL = 'android:label="@string/none"'
CLOSED = 'android:exported="false" android:enabled="false" android:permission="a.b.CALL" '
B_FALSE, B_TRUE = (f'<resources><bool name="b">{word}</bool></resources>' for word in ("false", "true"))
RAW = descriptor(r'<capability id="c" description="It\&apos;s 007" version="1.10"/>')


@pytest.mark.parametrize(("component", "application", "files", "rows", "message", "expected"), [
    case("what a call needs to know about the service is kept",
        attributed(f'{CLOSED}android:foregroundServiceType="dataSync"'), None,
        access=ComponentAccess(exported=False, enabled=False, permission="a.b.CALL"),
        facts={"foregroundServiceType": "dataSync"}),
    case("the rules of the application hold for its service", WHOLE, None,
        application='android:permission="a.WHOLE" android:enabled="false"',
        access=ComponentAccess(enabled=False, permission="a.WHOLE"),
        facts={"application-access": ["enabled", "permission"], "foregroundServiceType": "dataSync"}),
    case("a descriptor of another name is followed and its name kept",
        service(NAME, DESCRIPTION, CAPABILITIES.replace("mcp_capabilities", "tools")), None,
        capabilities=descriptor(), files={"res/xml/tools.xml": FULL}, count=2,
        facts={"resource": "@xml/tools", "foregroundServiceType": "dataSync"}),
    case("older meta-data next to a specified descriptor", service(OLDER_TEXTS, OLDER_CAPABILITIES), M11,
        dialect="1.0", name="Old lamp",
        facts={"keys": OLDER_KEYS, "foregroundServiceType": "dataSync"}),
    case("an older action next to a specified descriptor",
        service(NAME, DESCRIPTION, CAPABILITIES, action=OLDER_ACTION), M11, dialect="1.0"),
    case("older meta-data at the application",
        OLDER_CAPABILITIES + service(OLDER_TEXTS, action=OLDER_ACTION), M11,
        capabilities=OLDER_FILE["res/xml/mcp_capabilities.xml"],
        facts={"at-application": ["capabilities"], "foregroundServiceType": "dataSync"}),
    case("a value that leads nowhere", named("@string/built_later"), M12, name="com.example.lamp",
        message="@string/built_later, which is not there"),
    case("a resource that leads nowhere", named("@string/built_later", "resource"), M12,
        name="com.example.lamp", message="@string/built_later, which is not there"),
    *(typed(*pair) for pair in (
        ("2048", "2048"), ("true", "true"), ("TRUE", "true"), ("1.5", "1.5"), ("2.1", "2.1"), ("0.1", "0.1"),
        ("1e2", "1e2"), ("1e10", "1e10"), ("16777217.0", "1.6777216E7"), ("0.0001", "1.0E-4"), ("007", "7"),
        ("0x1F", "31"), ("0xffffffff", "-1"), ("#fff", "-1"),
    )),
    case("a dimension is a text", named("10dp"), None, name="10dp"),
    case("a percentage is a text", named("50%"), None, name="50%"),
    case("a boolean resource", named("@bool/n"), M12, resources='<bool name="n">true</bool>',
        name="true"),
    case("an integer resource", named("@integer/n"), M12, resources='<integer name="n">0x1F</integer>',
        name="31"),
    case("an item of the kind string", named("@string/n"), None,
        resources='<item type="string" name="n">2.10</item>', name="2.10"),
    case("a name given as a resource", named("@string/n", "resource"), M12,
        resources='<string name="n">A lamp</string>', name="A lamp"),
    labelled("the label of the service", 'android:label="Own"', 'android:label="App"', "Own"),
    labelled("the label of the application", "", 'android:label="App"', "App"),
    labelled("the package for a label", "", "", "com.example.lamp"),
    case("the app's description", service(NAME, CAPABILITIES), M12,
        application='android:description="@string/about"',
        resources='<string name="about">About lamps</string>', description="About lamps"),
    case("a reference inside the descriptor", WHOLE, M12,
        capabilities=descriptor('<capability id="c" description="@string/about" version="1"/>'),
        resources='<string name="about">Lights</string>', first=("Lights", "1")),
    case("a descriptor given as value",
        service(NAME, DESCRIPTION, CAPABILITIES.replace("android:resource", "android:value")), M65,
        count=2),
    case("a raw descriptor is read as it is",
        service(NAME, DESCRIPTION, CAPABILITIES.replace("@xml", "@raw")), M66,
        files={"res/raw/mcp_capabilities.xml": RAW}, first=(r"It\'s 007", "1.10")),
    case("a label of the service whose string is missing",
        service(DESCRIPTION, CAPABILITIES, attributes=f"{NO_LABEL} {EXPORTED}"), M12, noted="S82",
        message="android:label of .LampService is @string/none"),
    case("a label of the application whose string is missing", service(DESCRIPTION, CAPABILITIES),
        M12, noted="S82", application=NO_LABEL, message="android:label of the application is @string/none"),
    # The service's own label is reported always, that of the application where it would be the name.
    case("a label that is not needed", attributed(f"{NO_LABEL} {EXPORTED}"), noted="S82"),
    case("a label of the application that is not needed", WHOLE, None, application=NO_LABEL),
    case("an enabled that is not known", attributed('android:enabled="@bool/none"'), noted="S82",
        message="android:enabled of .LampService is @bool/none"),
    case("an exported that is not known", attributed('android:exported="${exported}"'), noted="S82",
        message="android:exported of .LampService is ${exported}"),
    case("a permission that is not known", attributed('android:permission="@string/none"'), noted="S82",
        message="android:permission of .LampService is @string/none"),
    case("exported by configuration", attributed('android:exported="@bool/b"'), noted="S83",
        files={"res/values/b.xml": B_FALSE, "res/values-v36/b.xml": B_TRUE},
        access=ComponentAccess(exported=False), message="false in the default configuration, true in v36"),
])  # fmt: skip
def test_what_apps_do_instead_is_read_by_its_row(
    component: str,
    application: str,
    files: dict[str, str],
    rows: list[str],
    message: str,
    expected: dict[str, Any],
) -> None:
    reading = read_app(component, attributes=application, files=files)
    (provider,) = reading.providers
    first = provider.capabilities[0]
    seen = {
        **dict(provider),
        "facts": provider.extensions.get("mobile-mcp"),
        "count": len(provider.capabilities),
        "first": (first.description, first.version),
    }
    assert {word: seen[word] for word in expected} == expected
    assert rows_of(reading) == rows
    assert not message or message in reading.findings[0].message


TWO_FILES = {"res/xml/mcp_capabilities.xml": FULL, "res/xml/other.xml": "<tools/>"}
UNREADABLE = service(NAME, DESCRIPTION, CAPABILITIES.replace("mcp_capabilities", "other"), name=".Other")


def test_a_service_that_cannot_be_read_leaves_the_others_readable() -> None:
    reading = read_app(UNREADABLE, WHOLE, files=TWO_FILES)
    assert [provider.component for provider in reading.providers] == [".LampService"]
    (problem,) = reading.problems
    assert "<tools>" in problem.message
    assert problem.place == "res/xml/other.xml:1"


def test_the_only_service_has_to_be_readable_and_so_has_every_one_in_a_strict_reading() -> None:
    with pytest.raises(InputError, match="<tools>"):
        read_app(UNREADABLE, files=TWO_FILES)
    with pytest.raises(InputError, match="<tools>"):
        read_app(WHOLE, UNREADABLE, files=TWO_FILES, strict=True)


FULL_SERVICE = service(NAME, DESCRIPTION, CAPABILITIES, name=".Full")


@pytest.mark.parametrize(("services", "components", "row"), [
    pytest.param([service(NAME, DESCRIPTION, CAPABILITIES, name=".One"), FULL_SERVICE], [".One", ".Full"],
        "M13", marks=pytest.mark.row("M13"), id="each of several services is a provider"),
    pytest.param([service(NAME, DESCRIPTION), FULL_SERVICE], [".Full"], "M64",
        marks=pytest.mark.row("M64"), id="a service without a descriptor is left out"),
    pytest.param([service(NAME, DESCRIPTION, CAPABILITIES.replace("mcp_capabilities", "gone")), FULL_SERVICE],
        [".Full"], "M64", marks=pytest.mark.row("M64"), id="a service whose descriptor is gone is left out"),
])  # fmt: skip
def test_of_several_services_each_counts_that_has_a_descriptor(
    services: list[str], components: list[str], row: str
) -> None:
    reading = read_app(*services)
    assert [provider.component for provider in reading.providers] == components
    assert rows_of(reading) == [row]


def test_other_services_and_apps_without_one_give_nothing() -> None:
    assert read_app(service(NAME, DESCRIPTION, CAPABILITIES, action="other.ACTION")).providers == ()
    assert read_app().providers == ()


def test_a_descriptor_that_cannot_be_read_is_reported_with_its_place() -> None:
    with pytest.raises(InputError, match=r"^res/xml/mcp_capabilities\.xml:1"):
        read_app(WHOLE, files={"res/xml/mcp_capabilities.xml": "<mcp>"})


@titled(("services", "level"), {
    "a service without capabilities": ((service(NAME, DESCRIPTION), WHOLE), Level.DROPPED),
    "a description that leads nowhere":
        ((service(NAME, DESCRIPTION.replace("Switches the lamp", "@string/gone"), CAPABILITIES),),
        Level.DROPPED),
    "a service without a description is only read": ((service(NAME, CAPABILITIES),), Level.READ),
})  # fmt: skip
def test_a_service_or_a_text_that_is_left_out_is_dropped(services: tuple[str, ...], level: Level) -> None:
    (finding,) = read_app(*services).findings
    assert finding.level is level

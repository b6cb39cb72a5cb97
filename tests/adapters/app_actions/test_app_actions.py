"""App Actions are read from both forms of the file, with the access of the activity that is started.

The fixtures are typed by hand, each grammar point from the row of reference app-actions that is named next to
it. The corpus is counted by another XML reader, Python's own.
"""

import csv
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from adapters.apk_writing.packed_samples import signing_key
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_android.projects.android_project import application_from_tree
from droidgate_app_actions.format import FORMAT
from droidgate_app_actions.lint import RULES, lint_application, lint_file
from droidgate_app_actions.shell_calls import AppActionShellCalls
from droidgate_app_actions.url_templates import LinkError, fill_template
from droidgate_mappings.compare import Weight, compare_sets
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Reading, SourceFile, detect_format, load_formats
from droidgate_mappings.formats.installed import DeviceFacts
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.formats.shell_calls import NotCarriedError, ScreenOutput, ScreenStart, ShellCall
from droidgate_mappings.model.capability import Capability, CapabilitySet, ComponentAccess, Provider
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import ObjectType, Property, ScalarType
from droidgate_mappings.tables.app_actions import load_built_in_intents
from mappings.text.compiled_with_aapt2 import compile_application
from requirements_of_tests import require
from strategies import damaged
from titled_rows import titled

ANDROID = "http://schemas.android.com/apk/res/android"
NAME = "actions.intent.GET_THING"
FEATURE = "actions.intent.OPEN_APP_FEATURE"
CUSTOM = "custom.actions.intent.FIND"


def shortcuts(*inside: str) -> str:
    names = f'xmlns:android="{ANDROID}" xmlns:app="http://schemas.android.com/apk/res-auto"'
    return f"<shortcuts {names}>{''.join(inside)}</shortcuts>"


def actions(*inside: str) -> str:
    return f"<actions>{''.join(inside)}</actions>"


def attributes(prefix: str, **values: str) -> str:
    return "".join(f' {prefix}{name}="{value}"' for name, value in values.items())


def intent(*inside: str, **values: str) -> str:
    return f"<intent{attributes('android:', **values)}>{''.join(inside)}</intent>"


def parameter(name: str, key: str, more: str = "") -> str:
    return f'<parameter android:name="{name}" android:key="{key}" {more}/>'


def required(name: str, key: str) -> str:
    return parameter(name, key, 'android:required="true"')


def template(value: str) -> str:
    return f'<url-template android:value="{value}"/>'


def capability(*inside: str, name: str = NAME, more: str = "") -> str:
    return f'<capability android:name="{name}" {more}>{"".join(inside)}</capability>'


def shortcut(shortcut_id: str, *inside: str, **values: str) -> str:
    values = {"shortcutId": shortcut_id, "shortcutShortLabel": "@string/label"} | values
    return f"<shortcut{attributes('android:', **values)}>{''.join(inside)}</shortcut>"


def binding(name: str, field: str = "", value: str = "") -> str:
    inside = f'<parameter-binding android:key="{field}" android:value="{value}"/>' if field else ""
    return f'<capability-binding android:key="{name}">{inside}</capability-binding>'


def action(*inside: str, name: str = NAME, more: str = "") -> str:
    return f'<action intentName="{name}" {more}>{"".join(inside)}</action>'


def link(url: str, *mappings: str, more: str = "") -> str:
    return f'<fulfillment urlTemplate="{url}" {more}>{"".join(mappings)}</fulfillment>'


def mapping(field: str, key: str, **more: str) -> str:
    return f"<parameter-mapping{attributes('', intentParameter=field, urlParameter=key, **more)}/>"


def in_set(field: str, set_id: str = "S", more: str = "") -> str:
    return f'<parameter name="{field}"><entity-set-reference entitySetId="{set_id}" {more}/></parameter>'


def entities(*inside: str) -> str:
    return f'<entity-set entitySetId="S">{"".join(inside)}</entity-set>'


SHOWN = intent(targetPackage="a.b", targetClass="a.b.Main")
EMPTY_LINK = link("app://x")


def read_text(text: str, context: ReadingContext | None = None) -> Reading:
    return FORMAT.read_file(SourceFile("a.xml", text.encode()), context or ReadingContext())


def capabilities_of(reading: Reading) -> list[Capability]:
    return [item for provider in reading.providers for item in provider.capabilities]


def facts(part: Provider | Capability | Property) -> dict[str, Any]:
    return part.extensions.get("app-actions", {})


def properties(item: Capability) -> Mapping[str, Property]:
    assert isinstance(item.input, ObjectType)
    return item.input.properties


def fulfilments(item: Capability) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = facts(item)["fulfilments"]
    return listed


# Grammar of shortcuts.xml and actions.xml: reference app-actions 1 and 2.
@titled(("text", "expected"), {
    "an intent with a class and parameters (1: intent, parameter)": (
        shortcuts(capability(intent(
            required("thing.name", "q"), action="a.SEARCH", targetPackage="a.b", targetClass="a.b.Main"))),
        [{
            "kind": "intent", "action": "a.SEARCH", "package": "a.b", "class": "a.b.Main",
            "parameters": {"q": "thing.name"}, "required": ["q"]}]),
    "an action is VIEW where it is not stated (1: intent)": (
        shortcuts(capability(intent(template("app://x{?q}"), parameter("thing.name", "q")))),
        [{"kind": "intent", "template": "app://x{?q}", "parameters": {"q": "thing.name"}}]),
    "fixed data, a widget's id and extras (1: intent, extra)": (
        shortcuts(capability(intent(
            '<extra android:key="a" android:value="1"/>', '<extra android:name="b" android:value="2"/>',
            data="app://x", identifier="W"))),
        [{"kind": "intent", "data": "app://x", "identifier": "W", "extras": {"a": "1", "b": "2"}}]),
    "alternatives stay in order (1: capability)": (
        shortcuts(capability(intent(template("app://first")), intent(template("app://second")))),
        [{"kind": "intent", "template": "app://first"}, {"kind": "intent", "template": "app://second"}]),
    "a slice and a widget are shown (1: slice, app-widget)": (
        shortcuts(capability(
            f"<slice>{template('content://a.b/x')}</slice>",
            '<app-widget android:identifier="W" android:targetClass="a.b.W"/>')),
        [
            {"kind": "slice", "template": "content://a.b/x"},
            {"kind": "app-widget", "identifier": "W", "class": "a.b.W"}]),
    "the bound shortcut's own last intent is started (1: shortcut-fulfillment)": (
        shortcuts(
            capability('<shortcut-fulfillment><parameter android:name="thing.name"/></shortcut-fulfillment>'),
            shortcut("S", intent(action="a.BACK"), intent(action="a.GO"), binding(NAME, "thing.name", "x"))),
        [{
            "kind": "shortcut", "action": "a.GO", "parameters": {"thing.name": "thing.name"},
            "required": ["thing.name"], "match_required": ["thing.name"]}]),
    "a template with mappings (2: fulfillment, parameter-mapping)": (
        actions(action(link("app://x{?q}", mapping("thing.name", "q", required="true")), EMPTY_LINK)),
        [
            {
                "kind": "intent", "template": "app://x{?q}", "parameters": {"q": "thing.name"},
                "required": ["q"]},
            {"kind": "intent", "template": "app://x"}]),
    "a slice of the older form (2: fulfillmentMode)": (
        actions(action(
            link("content://a/x", more='fulfillmentMode="actions.fulfillment.SLICE"'),
            link("app://x", more='requiredForegroundActivity="a.b.Main"'))),
        [
            {"kind": "slice", "template": "content://a/x"},
            {"kind": "intent", "template": "app://x", "foreground": True}]),
    "what was displayed, and a hostile link, is data (2: action-display)": (
        actions(action(link("intent:#Intent;S.x=$(rm -rf ~);end"), '<action-display icon="@drawable/x"/>')),
        [{"kind": "intent", "template": "intent:#Intent;S.x=$(rm -rf ~);end"}]),
})  # fmt: skip
def test_fulfilments_are_kept_as_written_and_in_order(text: str, expected: list[dict[str, Any]]) -> None:
    reading = read_text(text)
    assert [finding for finding in reading.findings if finding.rule != "AA03"] == []
    (item,) = capabilities_of(reading)
    assert item.id == NAME
    assert item.output is None
    assert item.effects is None
    assert fulfilments(item) == expected


ORDER = binding(FEATURE, "feature", "Order status")
HISTORY = shortcut("HISTORY", binding(FEATURE, "feature", "History"))
CLOSED = 'app:shortcutMatchRequired="true"'
SCHEMA = "https://schema.org/"
ON_OFF = entities('<entity name="On" identifier="on"/>', '<entity name="Off"/>')


def custom(kind: str) -> str:
    typed = f'android:mimeType="{SCHEMA}{kind}"'
    return shortcuts(capability(intent(parameter("x", "k", typed)), name=CUSTOM))


def built_in(name: str, field: str) -> str:
    return shortcuts(capability(intent(parameter(field, "k")), name=f"actions.intent.{name}"))


# Types and inventory: reference app-actions 1 (inline inventory, custom intents), 2 (entity sets) and 3.
@titled(("text", "type_"), {
    "the listed values of OPEN_APP_FEATURE are all (3)": (
        shortcuts(
            capability(intent(parameter("feature", "k")), name=FEATURE), shortcut("STATUS", ORDER), HISTORY),
        ScalarType(
            kind="string", enum=("STATUS", "HISTORY"),
            description="Order status = STATUS; History = HISTORY")),
    "other listed values are examples (1)": (
        shortcuts(
            capability(intent(parameter("thing.name", "k"))),
            shortcut("TEA", binding(NAME, "thing.name", "TEA"))),
        ScalarType(kind="string", keywords={"examples": ["TEA"]})),
    "unless a match is required (1: shortcutMatchRequired)": (
        shortcuts(
            capability(intent(parameter("thing.name", "k", CLOSED))),
            shortcut("TEA", binding(NAME, "thing.name", "TEA"))),
        ScalarType(kind="string", enum=("TEA",))),
    "a binding without a key is that of the only field (1: parameter-binding)": (
        shortcuts(
            capability(intent(parameter("thing.name", "k", CLOSED))),
            shortcut(
                "TEA",
                f'<capability-binding android:key="{NAME}"><parameter-binding android:value="TEA"/>'
                    "</capability-binding>")),
        ScalarType(kind="string", enum=("TEA",))),
    "an entity's value is its identifier, or else its name (2: entity)": (
        actions(action(link("a:{k}", mapping("feature", "k")), in_set("feature"), name=FEATURE), ON_OFF),
        ScalarType(kind="string", enum=("on", "Off"), description="On = on")),
    "entities are examples where no match is required (2: entityMatchRequired)": (
        actions(action(link("a:{k}", mapping("thing.name", "k")), in_set("thing.name")), ON_OFF),
        ScalarType(kind="string", keywords={"examples": ["on", "Off"]}, description="On = on")),
    "entities are all values where one is (2: entityMatchRequired)": (
        actions(
            action(
                link("a:{k}", mapping("thing.name", "k", entityMatchRequired="true")), in_set("thing.name")),
            ON_OFF),
        ScalarType(kind="string", enum=("on", "Off"), description="On = on")),
    "text of a custom intent (1: mimeType)": (custom("Text"), ScalarType(kind="string")),
    "a number of a custom intent (1: mimeType)": (custom("Number"), ScalarType(kind="double")),
    "a date of a custom intent (1: mimeType)": (custom("Date"), ScalarType(kind="string", format="date")),
    "a time of a custom intent (1: mimeType)": (custom("Time"), ScalarType(kind="string", format="time")),
    "a number of a custom action (2: type)": (
        actions(action(
            link("a:{k}", mapping("x", "k")), f'<parameter name="x" type="{SCHEMA}Number"/>', name=CUSTOM)),
        ScalarType(kind="double")),
    "a duration of a built-in intent (3)":
        (built_in("START_EXERCISE", "exercise.duration"), ScalarType(kind="string", format="duration")),
    "a point in time of a built-in intent (3)": (
        built_in("GET_HEALTH_OBSERVATION", "healthObservation.startTime"),
        ScalarType(kind="string", format="date-time")),
    "a number of a built-in intent (3)":
        (built_in("GET_PARKING_FACILITY", "parkingFacility.geo.latitude"), ScalarType(kind="double")),
    "values that the assistant knew are examples (3)": (
        built_in("CREATE_CALL", "call.callFormat"),
        ScalarType(kind="string", keywords={"examples": ["Audio", "Video"]})),
})  # fmt: skip
def test_a_parameter_has_the_type_and_the_values_that_the_file_states(text: str, type_: ScalarType) -> None:
    (item,) = capabilities_of(read_text(text))
    assert properties(item)["k"].type == type_


def test_a_parameter_is_required_where_each_fulfilment_that_starts_something_requires_it() -> None:
    for other, is_required in (("<slice/>", True), (SHOWN, False)):
        needed = intent(template("a:{q}"), required("thing.name", "q"))
        (item,) = capabilities_of(read_text(shortcuts(capability(needed, other))))
        assert properties(item)["q"].required is is_required


def test_repeated_names_are_numbered_through_the_file_and_no_number_takes_a_declared_name() -> None:
    names = [NAME, f"{NAME}_2", NAME, NAME]
    text = shortcuts("".join(capability(SHOWN, name=name) for name in names))
    items = capabilities_of(read_text(text))
    assert [item.id for item in items] == [NAME, f"{NAME}_2", f"{NAME}_3", f"{NAME}_4"]
    assert [facts(item).get("name") for item in items] == [None, None, NAME, NAME]


@titled(("name", "patterns", "title", "description", "origin"), {
    "a built-in intent": (FEATURE, "", "Open app feature", "Open a feature of the app", "built-in intent"),
    "a custom one": (CUSTOM, "Find $x", "Find", "Said as: Find $x", "query patterns"),
    "another without patterns": ("a.b.Do", "", "Do", None, None),
})  # fmt: skip
def test_a_description_says_whose_words_it_has(
    name: str, patterns: str, title: str, description: str | None, origin: str | None
) -> None:
    more = f'app:queryPatterns="{patterns}"' if patterns else ""
    (item,) = capabilities_of(read_text(shortcuts(capability(SHOWN, name=name, more=more))))
    assert (item.title, item.description) == (title, description)
    assert facts(item).get("description_from") == origin
    assert facts(item).get("query_patterns") == ([patterns] if patterns else None)


def app(manifest: str, files: Mapping[str, str] | None = None, *, target_sdk: int = 34) -> dict[str, bytes]:
    head = f'<manifest xmlns:android="{ANDROID}" package="org.example.app">'
    sdk = f'<uses-sdk android:minSdkVersion="24" android:targetSdkVersion="{target_sdk}"/>'
    tree = {"AndroidManifest.xml": f"{head}{sdk}{manifest}</manifest>", **(files or {})}
    return {name: text.encode() for name, text in tree.items()}


def names_file(name: str = "android.app.shortcuts", file: str = "shortcuts") -> str:
    return f'<meta-data android:name="{name}" android:resource="@xml/{file}"/>'


MAIN_FILTER = (
    '<intent-filter><action android:name="android.intent.action.MAIN"/>'
    '<category android:name="android.intent.category.LAUNCHER"/></intent-filter>'
)
VIEW_FILTER = "".join(
    '<intent-filter><action android:name="android.intent.action.VIEW"/>'
    f'<category android:name="android.intent.category.DEFAULT"/>{data}</intent-filter>'
    for data in ("", '<data android:scheme="app"/><data android:scheme="a"/>')
)


def activity(name: str, *inside: str, more: str = 'android:exported="true"') -> str:
    return f'<activity android:name="{name}" {more}>{"".join(inside)}</activity>'


def whole(*activities: str, main: str = "", more: str = "") -> str:
    """Return an application whose main activity, which is not exported, names the file."""
    first = activity(".Main", MAIN_FILTER, names_file(), main, more='android:exported="false"')
    return f'<application android:label="App" {more}>{first}{"".join(activities)}</application>'


def shortcuts_file(*inside: str) -> dict[str, str]:
    return {"res/xml/shortcuts.xml": shortcuts(*inside)}


def application(manifest: str, files: Mapping[str, str], **more: Any) -> Application:
    return application_from_tree(app(manifest, files, **more), path="app")


def starts(name: str, package: str = "org.example.app") -> str:
    return capability(intent(targetPackage=package, targetClass=name))


def opens(url: str = "app://x") -> str:
    return capability(intent(template(url)))


ORDER_CLASS = "org.example.app.Order"


# Reference app-actions 4.
@titled(("activities", "declared", "component", "access"), {
    "the class that is named": (
        [activity(".Order", more='android:exported="true" android:permission="a.P"')], starts(ORDER_CLASS),
        ".Order", ComponentAccess(permission="a.P")),
    "a class that is not exported": (
        [activity(".Order", more='android:exported="false"')], starts(ORDER_CLASS), ".Order",
        ComponentAccess(exported=False)),
    "a class that is disabled": (
        [activity(".Order", more='android:exported="true" android:enabled="false"')], starts(ORDER_CLASS),
        ".Order", ComponentAccess(enabled=False)),
    "the placeholder that Gradle does not replace":
        ([activity(".Order")], starts(ORDER_CLASS, "${applicationId}"), ".Order", ComponentAccess()),
    "a class of a library is not known": ([], starts("a.Lib"), "a.Lib", ComponentAccess(exported=None)),
    "the one activity that takes a link":
        ([activity(".Order", VIEW_FILTER)], opens(), ".Order", ComponentAccess()),
    "one of several that take a link": (
        [activity(".Closed", VIEW_FILTER, more='android:exported="false"'), activity(".Order", VIEW_FILTER)],
        opens(), None, ComponentAccess()),
    "a filter without DEFAULT takes no link": (
        [activity(".Order", VIEW_FILTER.replace("DEFAULT", "OTHER"))], opens(), None,
        ComponentAccess(exported=None)),
    "nothing is started": ([], capability("<slice/>"), None, ComponentAccess(exported=False)),
})  # fmt: skip
def test_access_is_that_of_the_activity_that_is_started_not_of_the_one_that_names_the_file(
    activities: list[str], declared: str, component: str | None, access: ComponentAccess
) -> None:
    app = application(whole(*activities), shortcuts_file(declared))
    reading = FORMAT.read_application(app, ReadingContext(strict=True))
    (provider,) = reading.providers
    assert (provider.package, provider.name) == ("org.example.app", "App")
    assert (provider.component, provider.access) == (component, access)
    assert facts(provider) == {"resource": "@xml/shortcuts", "declared_by": ".Main"}


def test_each_activity_is_a_provider_with_its_capabilities_in_the_order_of_the_file() -> None:
    files = shortcuts_file(starts(ORDER_CLASS), starts("org.example.app.Main"), starts(ORDER_CLASS))
    reading = FORMAT.read_application(application(whole(activity(".Order")), files), ReadingContext())
    found = [(item.component, [each.id for each in item.capabilities]) for item in reading.providers]
    assert found == [(".Order", [NAME, f"{NAME}_3"]), (".Main", [f"{NAME}_2"])]


def test_ids_are_numbered_through_the_files_of_an_app_and_the_older_form_comes_last() -> None:
    reading = FORMAT.read_application(application(NAMES_BOTH, ALL_FILES), ReadingContext())
    found = [(item.dialect, [each.id for each in item.capabilities]) for item in reading.providers]
    assert found == [("shortcuts", [NAME]), ("actions", [f"{NAME}_2"])]


VALUES = """<resources><string name="tea">Tea\\'s</string><string name="label">Label</string>
<string-array name="names"><item>@string/tea</item><item>Chai</item></string-array>
<attr name="queryPatterns" format="reference"/>
<attr name="shortcutMatchRequired" format="boolean"/></resources>"""
RICH = {
    "res/values/v.xml": VALUES,
    **shortcuts_file(
        capability(
            intent(parameter("x", "k", CLOSED), targetPackage="org.example.app", targetClass=ORDER_CLASS),
            name=CUSTOM, more='app:queryPatterns="@array/names"'),
        shortcut("TEA", binding(CUSTOM, "x", "@array/names"))),
}  # fmt: skip


def with_own_packer(tree: Mapping[str, bytes], folder: Path) -> bytes:
    del folder
    return pack_project(tree, key=signing_key("ec"))


def with_aapt2(tree: Mapping[str, bytes], folder: Path) -> bytes:
    compile_application({name: data.decode() for name, data in tree.items()}, folder)
    return (folder / "linked.apk").read_bytes()


@pytest.mark.parametrize("build", [with_own_packer, with_aapt2])
def test_an_apk_has_what_its_source_tree_has(
    build: Callable[[Mapping[str, bytes], Path], bytes], tmp_path: Path
) -> None:
    manifest = whole(activity(".Order", VIEW_FILTER))
    packed = tmp_path / "a.apk"
    packed.write_bytes(build(app(manifest, RICH), tmp_path))
    (from_tree,) = FORMAT.read_application(application(manifest, RICH), ReadingContext()).providers
    with open_apk(packed) as apk:
        (from_apk,) = FORMAT.read_application(read_application(apk), ReadingContext()).providers
    # aapt2 writes the whole name of a class.
    assert from_apk.component in {".Order", ORDER_CLASS}
    from_apk = from_apk.model_copy(update={"component": ".Order", "extensions": from_tree.extensions})
    assert from_apk.content_digest() == from_tree.content_digest()
    (item,) = from_apk.capabilities
    assert facts(item)["query_patterns"] == ["Tea's", "Chai"]
    assert properties(item)["k"].type == ScalarType(kind="string", enum=("TEA",), description="Tea's = TEA")


NAMED_BY_ACTIVITY = activity(".A", names_file("com.google.android.actions", "actions"))
ACTION_FILE = {"res/xml/actions.xml": actions(action(EMPTY_LINK))}
NEITHER_FORM: dict[str, tuple[str, str, dict[str, Any]]] = {
    "an attribute with a prefix in actions.xml": (
        actions(f'<action android:intentName="{NAME}">{EMPTY_LINK}</action>')
            .replace("<actions", f'<actions xmlns:android="{ANDROID}"'),
        "AA02", {NAME: {}}),
    "a reference that leads nowhere":
        (shortcuts(capability(SHOWN, name="@string/x")), "AA03", {"@string/x": {}}),
    "a misspelled identifier": (
        actions(
            action(link("a:{k}", mapping("x", "k")), in_set("x")),
            entities('<entity name="On" indentifier="on"/>')),
        "AA04", {NAME: {"k": ["on"]}}),
    "a synonym as an element": (
        actions(
            action(link("a:{k}", mapping("x", "k")), in_set("x")),
            entities('<entity name="On"><synonym>Lit</synonym></entity>')),
        "AA04", {NAME: {"k": ["On"]}}),
    "entity sets in an element of their own": (
        actions(
            action(link("a:{k}", mapping("x", "k")), in_set("x")), f"<entity-sets>{ON_OFF}</entity-sets>"),
        "AA04", {NAME: {"k": ["on", "Off"]}}),
    "an element of neither form": (actions(action("<trigger/>", EMPTY_LINK)), "AA05", {NAME: {}}),
    "an attribute of neither form":
        (shortcuts(capability(SHOWN, more='android:description="x"')), "AA05", {NAME: {}}),
    "a capability inside of a shortcut": (
        shortcuts(shortcut("S", intent(action="a.GO"), capability(parameter("thing.name", "k")))), "AA06",
        {NAME: {"k": None}}),
    "a parameter inside of a URL template": (
        shortcuts(capability(intent(
            template("app://x{?k}").removesuffix("/>") + ">",
            f"{parameter('thing.name', 'k')}</url-template>"))),
        "AA06", {NAME: {"k": None}}),
    "an element inside of one that has none": (
        actions(
            action(
                EMPTY_LINK,
                '<parameter name="x"><entity-set-reference entitySetId="S"><element name="on"/>'
                    "</entity-set-reference></parameter>"),
            ON_OFF),
        "AA05", {NAME: {}}),
    "a parameter without a key": (
        shortcuts(capability(intent('<parameter android:name="thing.name"/>', data="a:b"))), "AA07",
        {NAME: {}}),
    "a parameter without a URL parameter":
        (actions(action(link("a:b", '<parameter-mapping intentParameter="x"/>'))), "AA07", {NAME: {}}),
    "a key that repeats": (
        shortcuts(capability(intent(parameter("thing.name", "k"), parameter("x", "k")))), "AA07",
        {NAME: {"k": None}}),
    "a capability without a name":
        (shortcuts(f"<capability>{SHOWN}</capability>", capability(SHOWN)), "AA07", {NAME: {}}),
    "an action without a name":
        (actions(f"<action>{EMPTY_LINK}</action>", action(EMPTY_LINK)), "AA07", {NAME: {}}),
    "an entity without a name": (actions(action(EMPTY_LINK), entities("<entity/>")), "AA07", {NAME: {}}),
    "another entity with the same identifier": (
        actions(
            action(EMPTY_LINK),
            entities('<entity name="a" url="app://1"/>', '<entity name="a" url="app://2"/>')),
        "AA07", {NAME: {}}),
    "an entity set that repeats": (actions(action(EMPTY_LINK), ON_OFF, ON_OFF), "AA07", {NAME: {}}),
    "an entity set that is not there":
        (actions(action(link("a:{k}", mapping("x", "k")), in_set("x", "T"))), "AA07", {NAME: {"k": None}}),
    "a binding without a key":
        (shortcuts(capability(SHOWN), shortcut("S", "<capability-binding/>")), "AA07", {NAME: {}}),
}  # fmt: skip


@titled(("text", "row", "read"), {
    title: pytest.param(*case, marks=pytest.mark.row(case[1])) for title, case in NEITHER_FORM.items()
})  # fmt: skip
def test_what_neither_form_allows_is_read_and_reported(text: str, row: str, read: Mapping[str, Any]) -> None:
    reading = read_text(text)
    assert row in {finding.rule for finding in reading.findings}
    found = {
        item.id: {
            key: (list(each.type.enum or each.type.keywords.get("examples", ())) or None)
            for key, each in properties(item).items()
        }
        for item in capabilities_of(reading)
    }
    assert found == read
    with pytest.raises(InputError):
        read_text(text, ReadingContext(strict=True))


@pytest.mark.row("AA01")
@titled("manifest", {
    "actions.xml named by an activity": f"<application>{NAMED_BY_ACTIVITY}</application>",
    **{
        f"actions.xml named by {name}": f"<application>{names_file(name, 'actions')}</application>"
            for name in ("android.app.actions", "com.google.assistant.app.ACTIONS")},
    "shortcuts.xml named by the application": f"<application>{names_file(file='actions')}</application>",
})  # fmt: skip
def test_the_meta_data_of_another_element_is_read_and_reported(manifest: str) -> None:
    reading = FORMAT.read_application(application(manifest, ACTION_FILE), ReadingContext())
    assert [item.dialect for item in reading.providers] == ["actions"]
    assert "AA01" in {finding.rule for finding in reading.findings}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_recognized_and_read_in_each_encoding_of_xml(encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>'
    source = SourceFile("a.xml", (head + actions(action(link("app://ä")))).encode(encoding))
    assert detect_format(source) is load_formats()["app-actions"]
    (item,) = capabilities_of(FORMAT.read_file(source, ReadingContext()))
    assert fulfilments(item) == [{"kind": "intent", "template": "app://ä"}]


@titled(("text", "sure", "reason"), {
    "launcher shortcuts alone": (shortcuts(shortcut("S", SHOWN)), False, "has no <capability>"),
    "a capability in a comment": (shortcuts("<!-- <capability/> -->"), False, "has no <capability>"),
    "actions without an action": ("<!-- a --><actions/>", False, "has no <action>"),
    "bindings alone": (shortcuts(shortcut("S", binding(NAME))), True, "only binds shortcuts"),
    "another root": ("<menu><action/></menu>", False, "<menu> is not"),
    "not well-formed": ("<actions><action></actions>", True, "not well-formed"),
    "a DOCTYPE": ("<!DOCTYPE a><actions><action/></actions>", True, "a DOCTYPE is not allowed"),
    "a DOCTYPE with an entity":
        ('<!DOCTYPE a [<!ENTITY b "c">]><actions><action/></actions>', True, "a DOCTYPE is not allowed"),
})  # fmt: skip
def test_a_file_that_declares_no_capability_is_refused_with_the_reason(
    text: str,
    sure: bool,  # noqa: FBT001
    reason: str,
) -> None:
    source = SourceFile("a.xml", text.encode())
    assert (FORMAT.detect(source) > 0) is sure
    with pytest.raises(InputError, match=re.escape(reason)):
        FORMAT.read_file(source, ReadingContext())


def test_nothing_is_said_of_an_app_with_launcher_shortcuts_alone() -> None:
    files = shortcuts_file(shortcut("S", intent(action="a.GO"), unknown="x"), "<unknown/>")
    reading = FORMAT.read_application(application(READY, files), ReadingContext(strict=True))
    assert (reading.providers, reading.findings, reading.problems) == ((), (), ())
    assert lint(READY, files) == {}


def test_a_broken_file_does_not_keep_the_other_one_from_being_read() -> None:
    files = {**shortcuts_file(opens()), "res/xml/actions.xml": "<actions><action></actions>"}
    reading = FORMAT.read_application(application(NAMES_BOTH, files), ReadingContext())
    assert [item.dialect for item in reading.providers] == ["shortcuts"]
    assert [problem.message[:15] for problem in reading.problems] == ["not well-formed"]


PIECES = [
    "x", "", "<", "/>", '"', "{", "}", "@array/a", "@string/", "android:", "<intent>", "$(reboot)", "\u202e",
]  # fmt: skip


@given(
    damaged(
        st.sampled_from([RICH["res/xml/shortcuts.xml"], ACTION_FILE["res/xml/actions.xml"]]),
        st.sampled_from(PIECES),
    )
)
def test_a_damaged_file_is_read_or_refused_and_nothing_else(text: str) -> None:
    source = SourceFile("a.xml", text.encode("utf-8", "surrogatepass"))
    try:
        items = capabilities_of(FORMAT.read_file(source, ReadingContext()))
    except InputError:
        return
    assert len({item.id for item in items}) == len(items)
    lint_file(source)


TARGET = starts(ORDER_CLASS)
QUERIES = {
    "res/values/v.xml": '<resources><string-array name="q"><item>Find $a by $b and $c</item>'
    "</string-array></resources>"
}


def patterned(*names: str) -> str:
    inside = "".join(parameter(name, name, f'android:mimeType="{SCHEMA}Text"') for name in names)
    return capability(intent(inside, data="a:b"), name=CUSTOM, more='app:queryPatterns="@array/q"')


def bound_shortcuts(number: int) -> str:
    return "".join(shortcut(f"S{at}", binding(NAME, "thing.name", "x")) for at in range(number))


def with_target(more: str, *filters: str) -> str:
    return whole(activity(".Order", *filters, more=more))


READY = whole(activity(".Order", VIEW_FILTER))
NO_LABEL = f'<shortcut android:shortcutId="S">{binding(NAME, "thing.name", "x")}</shortcut>'
THING = capability(intent(parameter("thing.name", "q"), data="a:b"))
ALL_FILES = {**ACTION_FILE, **shortcuts_file(opens())}
NAMES_BOTH = READY.replace("<activity", f"{names_file('com.google.android.actions', 'actions')}<activity", 1)

# Rule -> manifest, files, and the part of the message that names what is wrong.
BROKEN: dict[str, tuple[str, dict[str, str], str]] = {
    "file": (READY, {"res/xml/shortcuts.xml": "<shortcuts><capability>"}, "not well-formed"),
    "intent-unknown": (
        READY, shortcuts_file(capability(intent(data="a:b"), name="actions.intent.PLAY_MUSIC")),
        "PLAY_MUSIC is not a built-in intent"),
    "custom-prefix": (
        READY, {**QUERIES, **shortcuts_file(patterned("a", "b").replace(CUSTOM, "actions.intent.MINE"))},
        "actions.intent.MINE has query patterns"),
    "intent-deprecated": (
        READY, shortcuts_file(capability(intent(data="a:b"), name="actions.intent.GET_CART")),
        "Google ended actions.intent.GET_CART"),
    "query-patterns":
        (READY, shortcuts_file(capability(intent(data="a:b"), name="a.b.C")), "a.b.C has no query"),
    "pattern-parameters": (READY, {**QUERIES, **shortcuts_file(patterned("a", "b"))}, "$c, which is not"),
    "custom-type":
        (READY, {**QUERIES, **shortcuts_file(patterned("a", "b", "c").replace("Text", "Person"))}, "Person"),
    "fulfilment": (READY, shortcuts_file(capability("<slice/>")), "only shows: slice"),
    "fallback": (
        READY, shortcuts_file(capability(intent(required("thing.name", "q"), data="a:b"))),
        "requires a parameter"),
    "one-target": (
        READY,
        shortcuts_file(capability(intent(
            template("a:b"), targetPackage="org.example.app", targetClass=ORDER_CLASS))),
        "a class and a URL template"),
    "package-and-class":
        (READY, shortcuts_file(capability(intent(targetClass=ORDER_CLASS))), "no target package"),
    "field": (
        READY, shortcuts_file(capability(intent(parameter("thing.colour", "q"), data="a:b"))),
        "'thing.colour'"),
    "template": (READY, shortcuts_file(opens("app://x{?q}")), "the variable 'q'"),
    "inventory": (READY, shortcuts_file(THING, bound_shortcuts(1001)), "has 1001 values"),
    "inventory-needed": (READY, shortcuts_file(capability(intent(data="a:b"), name=FEATURE)), "'feature'"),
    "binding": (READY, shortcuts_file(opens(), shortcut("S", binding("a.b.C"))), "a.b.C"),
    "label": (READY, shortcuts_file(THING, NO_LABEL), "'S' has no label"),
    "ended": (
        READY,
        shortcuts_file(capability(intent(
            '<parameter android:name="thing.name" android:key="q">'
                '<data android:pathPattern="x"/></parameter>',
            data="a:b"))),
        "from the web"),
    "place":
        (READY.replace("action.MAIN", "action.OTHER"), shortcuts_file(opens()), ".Main names @xml/shortcuts"),
    "grammar":
        (READY, shortcuts_file(shortcut("S", intent(data="a:b"), capability())), "inside of a <shortcut>"),
    "reference": (READY, shortcuts_file(opens("@string/none")), "@string/none"),
    "file-not-named": (READY, ALL_FILES, "does not name actions.xml"),
    "two-files": (NAMES_BOTH, ALL_FILES, "in shortcuts.xml and in actions.xml"),
    "target": (READY, shortcuts_file(starts("org.example.app.None")), "not in the manifest"),
    "target-exported": (
        with_target('android:exported="false"', VIEW_FILTER), shortcuts_file(TARGET),
        ".Order, which is not exported"),
    "target-enabled": (
        with_target('android:exported="true" android:enabled="false"', VIEW_FILTER), shortcuts_file(TARGET),
        "is disabled"),
    "target-permission": (
        with_target('android:exported="true" android:permission="a.P"', VIEW_FILTER), shortcuts_file(TARGET),
        "requires a.P"),
    "target-action": (
        with_target('android:exported="true"', VIEW_FILTER),
        shortcuts_file(TARGET.replace("<intent ", '<intent android:data="other:x" ')),
        "action.VIEW, which none of its filters takes"),
    "link": (with_target('android:exported="true"'), shortcuts_file(opens()), "no activity has a filter for"),
}  # fmt: skip


def lint(manifest: str, files: Mapping[str, str], **more: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for finding in lint_application(application(manifest, files, **more)):
        assert finding.source is not None
        found.setdefault(finding.code.removeprefix("app-actions-"), []).append(finding.message)
    return found


def test_each_rule_has_an_app_that_breaks_it() -> None:
    assert {f"app-actions-{rule}" for rule in BROKEN} == set(RULES)


@pytest.mark.parametrize("rule", BROKEN)
def test_what_breaks_a_rule_is_reported_with_what_is_wrong(rule: str) -> None:
    manifest, files, part = BROKEN[rule]
    assert any(part in message for message in lint(manifest, files)[rule]), lint(manifest, files)


def test_a_file_that_is_named_as_a_value_is_reported_with_what_to_write() -> None:
    manifest = READY.replace('android:resource="@xml/shortcuts"', 'android:value="@xml/shortcuts"')
    (message,) = lint(manifest, shortcuts_file(TARGET))["place"]
    assert "android.app.shortcuts is @xml/shortcuts in android:value" in message


def test_a_file_that_the_manifest_names_and_the_app_lacks_is_reported() -> None:
    missing = "the manifest names @xml/shortcuts, which is not among the resources"
    assert lint(READY, {}) == {"reference": [missing]}


@titled(("declared", "manifest", "more"), {
    "an app that keeps every rule": (TARGET, READY, {}),
    "an entity's own link": (capability(intent(template("{@url}"), parameter("thing.name", "q"))), READY, {}),
    "a constant of the type": (capability(intent(parameter("thing.@type", "q"), data="a:b")), READY, {}),
    "before Android 13 no action is compared":
        (TARGET, with_target('android:exported="true"'), {"target_sdk": 32}),
})  # fmt: skip
def test_nothing_is_reported_of_a_right_app(declared: str, manifest: str, more: Mapping[str, Any]) -> None:
    assert lint(manifest, shortcuts_file(declared), **more) == {}


@titled(("text", "part"), {
    "three texts in a pattern":
        (shortcuts(patterned("a", "b", "c").replace("@array/q", "Find $a by $b and $c")), "has 3 texts"),
    "a form that RFC 6570 does not have": (shortcuts(opens("app://x{?}")), "not one of RFC 6570"),
    "a value that the template loses":
        (shortcuts(capability(intent(template("a:b"), parameter("thing.name", "q")))), "its value is lost"),
    "two lists in a fulfilment": (
        actions(
            action(link("a:{k,l}", mapping("x", "k"), mapping("y", "l")), in_set("x"), in_set("y")), ON_OFF),
        "2 parameters with listed values"),
    "more than 20 names": (
        actions(
            action(link("a:{k}", mapping("x", "k")), in_set("x")),
            entities(*(f'<entity name="n{at}" identifier="i"/>' for at in range(21)))),
        "has 21 names"),
    "an activity in the foreground":
        (actions(action(link("a:b", more='requiredForegroundActivity="a.B"'))), "in the foreground"),
    "a value that is required, as the build spells it, too": (
        shortcuts(capability(intent(parameter("thing.name", "q", 'android:required="TRUE"'), data="a:b"))),
        "requires a parameter"),
    "patterns of a built-in intent":
        (shortcuts(capability(SHOWN, more='app:queryPatterns="x"')), "has query patterns"),
})  # fmt: skip
def test_a_file_alone_is_checked_as_far_as_it_goes(text: str, part: str) -> None:
    found = lint_file(SourceFile("a.xml", text.encode()))
    assert any(part in finding.message for finding in found), found


def test_a_template_that_would_make_a_slow_pattern_costs_nothing() -> None:
    long, names = "a" * 50_000, ",".join(f"v{at}" for at in range(20_000))
    for text in ("{" * 50_000, "{a," * 20_000, "{" + long, f"${long}!", f"{{?{names}}}"):
        lint_file(SourceFile("a.xml", shortcuts(opens(text)).encode()))
    FORMAT.detect(SourceFile("a.xml", b"<!--" * 100_000))


MANY = "".join(f'<entity name="n{at}" identifier="i"/>' for at in range(3_000))


@titled("text", {
    "many actions that refer to one long list":
        actions(action(EMPTY_LINK, in_set("x")) * 100, entities(MANY),
            action(link("a:{k}", mapping("x", "k")), in_set("x")) * 100),
    "many keys of one field":
        actions(action(link("a:b", *(mapping("x", f"k{at}") for at in range(100))), in_set("x")),
            entities(MANY)),
    "many capabilities of one name that shortcuts are bound to":
        shortcuts(capability(SHOWN) * 500, bound_shortcuts(500)),
    "many fulfilments": actions(action(EMPTY_LINK * 10_001)),
})  # fmt: skip
def test_what_multiplies_is_refused_by_its_budget(text: str) -> None:
    with pytest.raises(BudgetError, match="lists more than 200000 values"):
        read_text(text)


WRITTEN = [
    (format_.id, dialect.id)
    for format_ in load_formats().values()
    if format_.write is not None
    for dialect in format_.dialects
    if dialect.capacity is not None
]


@pytest.mark.parametrize(("format_id", "dialect"), WRITTEN)
def test_it_is_converted_to_every_other_format_with_its_parameters(format_id: str, dialect: str) -> None:
    (provider,) = FORMAT.read_application(application(READY, RICH), ReadingContext()).providers
    target = load_formats()[format_id]
    assert target.write is not None
    writing = target.write(provider, target.dialect(dialect))
    (item,) = writing.provider.capabilities
    assert dialect == "v1" or list(properties(item)) == ["k"]
    dropped = {finding.pointer for finding in writing.findings if finding.level is Level.DROPPED}
    assert ("fulfilments" in facts(item)) != any(pointer.endswith("/fulfilments") for pointer in dropped)


def test_a_listed_value_that_goes_away_breaks_those_who_call() -> None:
    old = FORMAT.read_application(application(READY, RICH), ReadingContext()).providers
    file = "res/xml/shortcuts.xml"
    changed = {**RICH, file: RICH[file].replace('shortcutId="TEA"', 'shortcutId="COFFEE"')}
    new = FORMAT.read_application(application(READY, changed), ReadingContext()).providers
    compared = compare_sets(CapabilitySet(providers=old), CapabilitySet(providers=new))
    assert Weight.BREAKING in {change.weight for change in compared.all_changes()}


def test_the_table_has_each_built_in_intent_once() -> None:
    table = load_built_in_intents()
    names = {intent_.name for intent_ in table.current}
    assert (len(table.current), len(names), len(table.deprecated)) == (21, 21, 46)
    assert not table.deprecated & names


# What a file of the corpus that is refused is named like, and the reason.
REFUSED = {
    "BocamoCM__Alzibus*shortcuts@d9fd19e.xml": "only binds",
    "CyrusJannis__shoply*actions@eff43d4.xml": "has no <action>",
    "ETS-Android1__com.hnievat.controlluces*actions@c06901b.xml": "has no <action>",
    "HydraRock__google_assistant*shortcuts@262ff69.xml": "only binds",
    "SSANJAY225__offline_device_finder*actions@9368a7a.xml": "has no <action>",
    "UnaMentis__unamentis-android*shortcuts@c90ba1a.xml": "only binds",
    "romancanoniero__ultrachangoKMP*actions@720f836.xml": "not well-formed",
}


def corpus_files() -> Iterator[Path]:
    folder = require("corpus") / "app_actions"
    with (folder / "index.tsv").open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if row["dialect"].startswith("App Actions "):
                yield folder / row["file"]


FULFILMENTS = ("intent", "fulfillment", "app-widget", "slice", "shortcut-fulfillment")
TOTALS = {"capabilities": 171, "fulfilments": 193, "parameters": 167, "required": 29, "values": 139}


def attribute(item: ET.Element, *names: str) -> str | None:
    """Return the first of the attributes that an element has, in any namespace."""
    found = {key.rpartition("}")[2]: value for key, value in item.attrib.items()}
    return next((found[name] for name in names if name in found), None)


def counted(path: Path) -> tuple[list[str | None], Counter[str]]:
    """Return the names of what a file declares, and how much of it there is, by Python's own parser."""
    root = ET.parse(path).getroot()
    is_old = root.tag == "actions"
    name, tag = ("intentName", "action") if is_old else ("name", "capability")
    found = [item for item in root.iter(tag) if attribute(item, name) is not None]
    in_shortcuts = {id(item) for each in root.iter("shortcut") for item in each.iter("capability")}
    totals = Counter(capabilities=len(found))
    for item in found:
        is_inside = id(item) in in_shortcuts
        parts = [item] if is_inside else [part for part in item if part.tag in FULFILMENTS]
        totals["fulfilments"] += len(parts)
        fields: set[str | None] = set()
        for part in parts:
            keys: dict[str, ET.Element] = {}
            # `{@url}` is the link of the listed value, without which nothing is opened.
            is_link = attribute(part, "urlTemplate") == "{@url}"
            for each in item.iterfind("parameter") if is_link else ():
                keys[str(attribute(each, "name"))] = each
            for each in part.iterfind("parameter-mapping" if is_old else "parameter"):
                words = ["urlParameter"] if is_old else ["key", *["name"] * is_inside]
                if key := attribute(each, *words):
                    keys.setdefault(key, each)
            fields.update(attribute(each, "intentParameter", "name") for each in keys.values())
            totals["parameters"] += len(keys)
            totals["required"] += sum(
                is_link or attribute(each, "required") == "true" for each in keys.values()
            )
        for field in [] if is_inside else fields:
            totals["values"] += len(values_of(root, item, field, is_only=len(fields) == 1))
    return [attribute(item, name) for item in found], totals


def values_of(root: ET.Element, item: ET.Element, field: str | None, *, is_only: bool) -> set[str | None]:
    """Return the values that a file lists for a field of one declaration."""
    if root.tag == "shortcuts":
        return {
            attribute(each, "shortcutId")
            for each in root.iterfind("shortcut")
            for bound in each.iterfind("capability-binding")
            if attribute(bound, "key", "capability") == attribute(item, "name")
            for value in bound.iterfind("parameter-binding")
            if attribute(value, "key") == field or (attribute(value, "key") is None and is_only)
        }
    named = {
        attribute(reference, "entitySetId")
        for parameter_ in item.iterfind("parameter")
        if attribute(parameter_, "name") == field
        for reference in parameter_
        if attribute(reference, "urlFilter") is None
    }
    sets = [each for each in root.iter("entity-set") if attribute(each, "entitySetId") in named]
    return {attribute(each, "identifier", "indentifier", "name") for listed in sets for each in listed}


def read_totals(items: list[Capability]) -> Counter[str]:
    """Return how much was read, by the names of `TOTALS`."""
    of_all = list(itertools.chain.from_iterable(map(fulfilments, items)))
    by_field = [
        {facts(each)["field"]: len(facts(each).get("inventory", ())) for each in properties(item).values()}
        for item in items
    ]
    return Counter(
        capabilities=len(items),
        fulfilments=len(of_all),
        parameters=sum(len(each.get("parameters", ())) for each in of_all),
        required=sum(len(each.get("required", ())) for each in of_all),
        values=sum(map(sum, (each.values() for each in by_field))),
    )


@pytest.mark.requires("corpus")
def test_every_file_of_the_corpus_is_read_or_refused_for_its_reason() -> None:
    refused: dict[str, str] = {}
    files = list(corpus_files())
    totals: Counter[str] = Counter()
    for path in files:
        source = SourceFile(path.name, path.read_bytes())
        try:
            items = capabilities_of(FORMAT.read_file(source, ReadingContext()))
        except InputError as error:
            refused[path.name] = error.message
            continue
        assert detect_format(source) is load_formats()["app-actions"]
        names, expected = counted(path)
        read = [facts(item).get("name", item.id) for item in items]
        assert Counter(read) == Counter(names), path.name
        assert read_totals(items) == expected, path.name
        totals.update(expected)
    assert (len(files), totals) == (88, Counter(TOTALS))
    assert len(refused) == len(REFUSED)
    for pattern, reason in REFUSED.items():
        (message,) = [text for name, text in refused.items() if fnmatch(name, pattern)]
        assert reason in message


# RFC 6570, sections 3.2.2 (simple expansion), 3.2.8 and 3.2.9 (form-style query), and the values of 3.2.
RFC_VALUES = {
    "var": "value", "hello": "Hello World!", "half": "50%", "who": "fred", "empty": "", "path": "/foo/bar",
    "x": "1024", "y": "768",
}  # fmt: skip
RFC_EXAMPLES = {
    "{var}": "value",
    "{hello}": "Hello%20World%21",
    "{half}": "50%25",
    "O{empty}X": "OX",
    "O{undef}X": "OX",
    "{x,y}": "1024,768",
    "{x,hello,y}": "1024,Hello%20World%21,768",
    "?{x,empty}": "?1024,",
    "?{x,undef}": "?1024",
    "?{undef,y}": "?768",
    "map?{x,y}": "map?1024,768",
    "{path}": "%2Ffoo%2Fbar",
    "{?who}": "?who=fred",
    "{?half}": "?half=50%25",
    "{?x,y}": "?x=1024&y=768",
    "{?x,y,empty}": "?x=1024&y=768&empty=",
    "{?x,y,undef}": "?x=1024&y=768",
    "{&who}": "&who=fred",
    "{&half}": "&half=50%25",
    "?fixed=yes{&x}": "?fixed=yes&x=1024",
    "{&x,y,empty}": "&x=1024&y=768&empty=",
    "{&x,y,undef}": "&x=1024&y=768",
}


@pytest.mark.parametrize(("url", "link"), RFC_EXAMPLES.items())
def test_a_template_is_filled_as_the_examples_of_rfc_6570_are(url: str, link: str) -> None:
    assert fill_template(f"a:{url}", RFC_VALUES)[0] == f"a:{link}"


NOT_FILLED = "a form of RFC 6570 that is not filled"


@titled(("url", "part"), {
    **{
        f"the form {form}": (f"a:{form}", NOT_FILLED)
            for form in ("{+x}", "{#x}", "{/x}", "{x:3}", "{x*}", "{}")},
    "a brace that is not closed": ("a:b{x", NOT_FILLED),
    "a brace that is not opened": ("a:b}x", NOT_FILLED),
    "a brace inside of another": ("a:{{x}}", NOT_FILLED),
    "a percent sign without a number": ("a:100%", NOT_FILLED),
    "an expression that does not end": ("a:" + "{x," * 10_000, NOT_FILLED),
    "a value that is the scheme": ("{x}", "a scheme of its own"),
    "a value that begins the scheme": ("{x}script:alert(1)", "a scheme of its own"),
    "a value that ends the scheme": ("java{x}:alert(1)", "a scheme of its own"),
    "a control character in the scheme": ("java\nscript:alert(1)", "a scheme of its own"),
    "another app's intent": ("intent:#Intent;component=a/.B;end", "'intent'"),
    "another app": ("android-app://a.b/https/c.d", "'android-app'"),
    "code": ("JavaScript:alert(1)", "'javascript'"),
    "a provider of data": ("content://a/b", "'content'"),
    "a file": ("file:///data/x", "'file'"),
    "a document": ("data:text/html,x", "'data'"),
    "a value that leaves its folder": ("a://b/c/{up}/d", "'.' or '..'"),
    "values that leave it together": ("a://b/c/{dot}{dot}", "'.' or '..'"),
    "an encoded way out": ("a://b/%2e%2E/{x}", "'.' or '..'"),
    "half of a character": ("a:{half_of_a_pair}", "half of a surrogate pair"),
})  # fmt: skip
def test_a_link_that_could_mislead_is_not_opened(url: str, part: str) -> None:
    values = {"x": "y", "up": "..", "dot": ".", "half_of_a_pair": "\ud800"}
    with pytest.raises(LinkError, match=re.escape(part)):
        fill_template(url, values)


@given(
    st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["a://h/p{?x}", "a://h/{x}/z?q=1#f"])
)
def test_a_value_adds_no_part_to_a_link(value: str, url: str) -> None:
    if value in {".", ".."} and "/{x}" in url:
        return
    parts, plain = urlsplit(fill_template(url, {"x": value})[0]), urlsplit(fill_template(url, {"x": "v"})[0])
    assert (parts.scheme, parts.netloc, parts.fragment) == (plain.scheme, plain.netloc, plain.fragment)
    assert parts.path.count("/") == plain.path.count("/")
    keys = [[key for key, _ in parse_qsl(each.query, keep_blank_values=True)] for each in (parts, plain)]
    assert keys[0] == keys[1]
    assert value in {unquote(part) for part in re.split("[/=]", parts.path + "=" + parts.query)}


def test_ten_thousand_expressions_are_filled_in_little_time() -> None:
    link, used = fill_template("a:" + "{x}" * 10_000 + "\u202e\n", {"x": "\u202e\n"})
    assert link == "a:" + "%E2%80%AE%0A" * 10_001
    assert used == {"x"}


ORDERS = {"targetPackage": "org.example.app", "targetClass": ORDER_CLASS}
ORDER_NAME = f"org.example.app/{ORDER_CLASS}"
OF_APP: dict[str, Any] = {"package": "org.example.app", "action": "android.intent.action.VIEW"}
TEA = shortcut("TEA", intent(action="a.BREW", **ORDERS), binding(NAME, "thing.name", "Black tea"))
TEA_LINK = '<entity name="Tea" identifier="t" url="app://tea"/>'


def called(
    manifest: str, declared: str, arguments: Mapping[str, Any] | None = None, sdk: str = "36"
) -> ShellCall:
    """Return a call of the only capability."""
    files = {f"res/xml/{name}.xml": declared for name in ("shortcuts", "actions")}
    (provider,) = FORMAT.read_application(application(manifest, files), ReadingContext()).providers
    return ShellCall(provider, provider.capabilities[0], arguments or {}, DeviceFacts(sdk), 10)


# Reference app-actions 1 (parameters, url-template, shortcut-fulfillment), 2 (entity) and 4.
@titled(("declared", "arguments", "expected"), {
    "a class gets each parameter as a text": (
        capability(intent(parameter("thing.name", "q"), parameter("x", "n"), **ORDERS)),
        {"q": "-a --es $(rm)", "n": 2.5},
        {"component": ORDER_NAME, "extras": {"q": "-a --es $(rm)", "n": "2.5"}}),
    "a link is of the app that declares it": (
        capability(intent(template("app://x{?q}"), parameter("thing.name", "q"))), {"q": "a b&c=d/../e"},
        {"data": "app://x?q=a%20b%26c%3Dd%2F..%2Fe"}),
    "a parameter that is not in the link is an extra": (
        capability(intent(template("app://x"), parameter("thing.name", "q"))), {"q": "a"},
        {"data": "app://x", "extras": {"q": "a"}}),
    "a class with a link": (
        capability(intent(template("app://x/{q}"), parameter("thing.name", "q"), **ORDERS)), {"q": "a"},
        {"component": ORDER_NAME, "data": "app://x/a"}),
    "the first fulfilment that the arguments are enough for": (
        capability(
            intent(template("app://both{?q,r}"), required("thing.name", "q"), required("x", "r")),
            intent(template("app://one{?q}"), required("thing.name", "q")), intent(template("app://none"))),
        {"q": "a"}, {"data": "app://one?q=a"}),
    "fixed data and fixed extras": (
        capability(intent('<extra android:key="k" android:value="v"/>', data="app://x y")), {},
        {"data": "app://x%20y", "extras": {"k": "v"}}),
    "the id of a listed value for what users say": (
        capability(intent(parameter("thing.name", "q"), **ORDERS)) + TEA, {"q": "black TEA"},
        {"component": ORDER_NAME, "extras": {"q": "TEA"}}),
    "the intent of the shortcut that is bound to the value": (
        capability('<shortcut-fulfillment><parameter android:name="thing.name"/></shortcut-fulfillment>')
            + shortcut("MILK", intent(data="app://milk"), binding(NAME, "thing.name", "Milk")) + TEA,
        {"thing.name": "TEA"}, {"component": ORDER_NAME, "action": "a.BREW"}),
    "a value of those that the app lists while it runs": (
        capability(intent(parameter("thing.name", "q", CLOSED), **ORDERS)), {"q": "any"},
        {"component": ORDER_NAME, "extras": {"q": "any"}}),
    "a shortcut's intent by the only field that values are bound to": (
        capability("<shortcut-fulfillment/>") + TEA, {"thing.name": "Black tea"},
        {"component": ORDER_NAME, "action": "a.BREW"}),
    **{
        f"the fallback where {title}": (
            capability(
                '<shortcut-fulfillment><parameter android:name="thing.name"/></shortcut-fulfillment>',
                intent(template("app://any{?q}"), parameter("thing.name", "q"))) + TEA,
            arguments, {"data": data}) for title,
        arguments,
        data in (
            ("no value chooses a shortcut", {}, "app://any"),
            ("the value is not listed", {"thing.name": "Coffee", "q": "Coffee"}, "app://any?q=Coffee"))},
    **{
        f"{title} where the first fulfilment takes listed ones alone, and need not get one": (
            capability(
                intent(template("app://one{?q}"), parameter("thing.name", "q", CLOSED)),
                intent(template("app://any{?q}"), parameter("thing.name", "q"))) + TEA,
            arguments, {"data": data})
        for title, arguments, data in (
            ("a listed value", {"q": "Black tea"}, "app://one?q=TEA"),
            ("another value", {"q": "Coffee"}, "app://any?q=Coffee"),
            ("no value", {}, "app://one"))},
    "the placeholder that Gradle does not replace": (
        capability(intent(targetPackage="${applicationId}", targetClass=".Order")), {},
        {"component": ORDER_NAME}),
})  # fmt: skip
def test_a_call_starts_what_the_file_declares(
    declared: str, arguments: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    started = AppActionShellCalls().write(called(READY, shortcuts(declared), arguments))
    assert started == ScreenStart(**OF_APP | dict(expected))


# Google's sample appactions-common-biis-kotlin maps no parameter to `{@url}`.
@titled(
    ("mappings", "key"),
    {"mapped": ((mapping("thing.name", "url"),), "url"), "not mapped": ((), "thing.name")},
)
def test_the_link_of_a_listed_value_is_opened(mappings: tuple[str, ...], key: str) -> None:
    opened = link("{@url}", *mappings)
    manifest = READY.replace(names_file(), names_file("com.google.android.actions", "actions"))

    def started(arguments: Mapping[str, Any], *others: str) -> ScreenStart:
        declared = actions(action(opened, *others, in_set("thing.name")), entities(TEA_LINK))
        return AppActionShellCalls().write(called(manifest, declared, arguments))

    assert started({key: "tea"}) == ScreenStart(**OF_APP, data="app://tea")
    assert started({}, link("app://all")) == ScreenStart(**OF_APP, data="app://all")
    with pytest.raises(NotCarriedError, match=f"a listed value of {key}"):
        started({key: "coffee"})


def test_an_action_that_no_filter_takes_is_left_out_on_android_13_which_compares_it() -> None:
    declared = shortcuts(capability(intent(action="a.OTHER", **ORDERS)))
    call, calls = called(READY, declared, sdk="33"), AppActionShellCalls()
    assert calls.write(called(READY, declared, sdk="34")).action == "a.OTHER"
    # An intent without a link passes by a filter without one, and without an action by that alone.
    assert calls.write(call).action is None
    plain = whole(activity(".Order"))
    assert calls.write(called(plain, declared, sdk="33")).action == "a.OTHER"
    linked = shortcuts(capability(intent(data="app://x", **ORDERS)))
    assert calls.write(called(whole(activity(".Order", MAIN_FILTER)), linked, sdk="33")).action is not None
    note = "the intent has no action, since no filter of the activity takes a.OTHER"
    assert calls.read(call, ScreenOutput("a/.B")).note == note
    matched = whole(activity(".Order", VIEW_FILTER.replace("android.intent.action.VIEW", "a.OTHER")))
    assert calls.write(called(matched, declared, sdk="33")).action == "a.OTHER"


@titled(
    ("declared", "manifest", "part"),
    {
        "another app": (starts("b.C", "b"), READY, "closed to other apps: it is of the app b"),
        "a fallback that is not exported": (
            capability(intent(template("app://x{?q}"), required("thing.name", "q")), intent(**ORDERS)),
            whole(activity(".Order", more='android:exported="false"'), activity(".Link", VIEW_FILTER)),
            "is not exported",
        ),
        "a permission that callers need": (
            starts(ORDER_CLASS),
            with_target('android:exported="true" android:permission="a.P"', VIEW_FILTER),
            "a.P",
        ),
        "nothing but a slice": (capability("<slice/>"), READY, "no fulfilment that starts"),
        "a value that is missing":
            (capability(intent(template("app://x{?q}"), required("thing.name", "q"))), READY, "not given: q"),
        "a hostile link": (opens("intent:#Intent;end"), READY, "GET_THING: links with the scheme 'intent'"),
    },
)  # fmt: skip
def test_a_call_that_cannot_be_made_says_why(declared: str, manifest: str, part: str) -> None:
    with pytest.raises(NotCarriedError, match=re.escape(part)):
        AppActionShellCalls().write(called(manifest, shortcuts(declared)))


@titled(
    ("output", "note"),
    {
        "a screen that came up": (ScreenOutput("a/.B"), None),
        "a screen that was there and got the intent": (
            ScreenOutput("a/.B", "Activity not started, intent has been delivered to the top-most instance"),
            None,
        ),
        "a window that came to the front": (
            ScreenOutput("a/.B", "Activity not started, its current task has been brought to the front"),
            "the app's window was only brought to the front, so it may not have got the call",
        ),
        "a screen that is slow": (ScreenOutput(is_late=True), "Android did not see the screen drawn in time"),
    },
)  # fmt: skip
def test_a_result_says_that_the_screen_was_opened_and_no_more(output: ScreenOutput, note: str | None) -> None:
    result = AppActionShellCalls().read(called(READY, shortcuts(opens())), output)
    assert (result.token, result.note) == (None, note)
    assert result.value == (
        f"The screen {output.activity or 'org.example.app'} was opened. "
        "The app does not report what it does with the call."
    )

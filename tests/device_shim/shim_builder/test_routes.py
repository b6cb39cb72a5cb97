"""Route tables, against what shim-engine.md 2 says and what is in the source apps."""

from dataclasses import replace

import pytest

from device_shim.shim_builder.built_samples import (
    PACKAGE,
    SIGNER,
    app_with,
    declared_in,
    parameters,
    routes_of,
    sample_shim,
    shim_of,
    source_app,
)
from droidgate_app_actions.read import read_file
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Effects
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.names import name_suffix
from droidgate_mappings.model.types import AnyType, ArrayType, ObjectType, OpaqueType, Type
from droidgate_shim.builder.route_building import plan_routes
from droidgate_shim.builder.source_app import SourceApp
from droidgate_shim.engine.routes import read_route_table
from model_types import (
    all_of,
    array,
    boolean,
    float32,
    int32,
    int64,
    null,
    one_of,
    optional,
    record,
    ref,
    required,
    string,
)

INTEGER = int32()
NOTE = record({"id": required(string()), "tags": optional(array(string()))}, qualified_name="com.acme.Note")
TEXT, VALUE = ({"kind": kind, "name": "result"} for kind in ("text", "value"))
FIELDS = {"kind": "fields"}


def function(output: Type | None, **definitions: Type) -> SourceApp:
    return source_app(
        Capability(id="f", output=output), protocol="appfunctions", dialect="v2", definitions=definitions
    )


def outputs_of(app: SourceApp) -> tuple[object, dict[str, str]]:
    """Return the outputs of the one route, and the type words that the descriptor declares."""
    shim = shim_of(app)
    (route,) = routes_of(shim).values()
    (provider,) = declared_in(shim.apk)
    output = provider.capabilities[0].output
    properties = output.properties if isinstance(output, ObjectType) else {}
    return route["outputs"], {name: item.type.kind for name, item in properties.items()}


def only_finding(findings: tuple[Finding, ...], code: str) -> Finding:
    (found,) = [finding for finding in findings if finding.code == code]
    return found


@pytest.mark.parametrize(("app", "outputs", "declared"), [
    pytest.param(source_app(Capability(id="t")), TEXT, {"result": "string"}, id="mMCP"),
    pytest.param(source_app(Capability(id="t", output=parameters(page=INTEGER)), dialect="draft"), FIELDS,
        {"page": "int64"}, id="mMCP with return"),
    pytest.param(source_app(Capability(id="t"), dialect="broadcast"), TEXT, {"result": "string"},
        id="broadcast"),
    pytest.param(function(null()), None, {}, id="void"),
    pytest.param(function(None), TEXT, {"result": "string"}, id="platform function"),
    pytest.param(function(string()), VALUE, {"result": "string"}, id="text"),
    pytest.param(function(float32()), VALUE, {"result": "double"}, id="float"),
    pytest.param(function(array(INTEGER)), VALUE, {"result": "array"}, id="list"),
    pytest.param(function(NOTE), FIELDS, {"id": "string", "tags": "array"}, id="object"),
    pytest.param(function(ref("N"), N=NOTE), FIELDS, {"id": "string", "tags": "array"},
        id="reference"),
    pytest.param(function(ref("N", nullable=True), N=NOTE), VALUE, {"result": "object"},
        id="reference or null"),
    pytest.param(function(ObjectType()), VALUE, {"result": "object"}, id="object of anything"),
    pytest.param(function(all_of(NOTE, parameters(more=string()))), VALUE, {"result": "object"},
        id="all of"),
    pytest.param(function(one_of(NOTE, string())), VALUE, {"result": "string"},
        id="one of"),
    pytest.param(function(parameters(word=ref("W")), W=string(enum=("a",))), FIELDS,
        {"word": "string"}, id="reference inside"),
    pytest.param(function(parameters(handle=OpaqueType())), FIELDS, {"handle": "string"},
        id="parcelable inside"),
    pytest.param(source_app(Capability(id="t"), protocol="mobile-mcp"), None, {}, id="native void"),
    pytest.param(source_app(Capability(id="t", output=ObjectType()), protocol="mobile-mcp"), None, {},
        id="native empty"),
    pytest.param(source_app(Capability(id="t", output=parameters(on=boolean())),
        protocol="mobile-mcp"), FIELDS, {"on": "boolean"}, id="native"),
])  # fmt: skip
def test_a_result_becomes_the_outputs_that_are_declared(
    app: SourceApp, outputs: object, declared: dict[str, str]
) -> None:
    assert outputs_of(app) == (outputs, declared)


TOOLS = f"{PACKAGE}/{PACKAGE}.Tools"


@pytest.mark.parametrize(("protocol", "dialect", "backend"), [
    ("mmcp", "1.0", {"kind": "mmcp-activity", "component": TOOLS, "tool": "t"}),
    ("mmcp", "draft", {"kind": "mmcp-activity", "component": TOOLS, "tool": "t"}),
    ("mmcp", "broadcast", {"kind": "mmcp-broadcast", "component": TOOLS, "tool": "t"}),
    ("appfunctions", "v2", {"kind": "app-function", "package": PACKAGE, "function": "t"}),
    ("mobile-mcp", "1.0", {"kind": "mobile-mcp", "component": TOOLS, "capability": "t", "dialect": "S0"}),
    ("mobile-mcp", "prototype",
        {"kind": "mobile-mcp", "component": TOOLS, "capability": "t", "dialect": "MM-5"}),
], ids=lambda value: value if isinstance(value, str) else value["kind"])  # fmt: skip
def test_each_protocol_is_called_in_its_own_way(protocol: str, dialect: str, backend: dict[str, str]) -> None:
    route = routes_of(shim_of(source_app(Capability(id="t"), protocol=protocol, dialect=dialect)))["t"]
    assert route["backend"] == backend
    digest = f"mmcp:{'0' * 64}"
    assert route["target"] == {"package": PACKAGE, "signer": SIGNER, "version_code": 7, "digest": digest}


def test_constraints_stay_in_the_route_and_agents_see_them() -> None:
    level = required(string(enum=("low", "high"), description="How loud"))
    count = optional(int32(keywords={"minimum": 1, "maximum": 9}))
    shim = shim_of(source_app(Capability(id="t", input=record({"level": level, "count": count}))))
    assert routes_of(shim)["t"]["input"] == {
        "kind": "object",
        "properties": {
            "level": {"type": {"enum": ["low", "high"], "kind": "string"}, "required": True},
            "count": {"type": {"keywords": {"minimum": 1, "maximum": 9}, "kind": "int32"}},
        },
    }
    (provider,) = declared_in(shim.apk)
    declared = provider.capabilities[0].input
    assert isinstance(declared, ObjectType)
    assert declared.properties["level"].type.description == 'How loud [One of: "low", "high"]'
    assert "minimum" in (declared.properties["count"].type.description or "")
    moved = [item for item in shim.findings if item.code == "constraint-moved"]
    assert moved
    assert all(item.level is Level.WIDENED for item in moved)


def test_a_parameter_that_xml_cannot_name_gets_another_name_and_leads_back() -> None:
    named = record({"nul\x00": optional(string()), "plain": optional(string())})
    shim = shim_of(source_app(Capability(id="t", input=named)))
    route = routes_of(shim)["t"]
    (new,) = route["names"]
    assert route["names"] == {new: "nul\x00"}
    assert list(route["input"]["properties"]) == [new, "plain"]
    assert any(finding.code == "renamed" for finding in shim.findings)


def test_a_parameter_without_a_name_cannot_be_given() -> None:
    nameless = Capability(id="bad", input=record({"": optional(string())}))
    shim = shim_of(source_app(nameless, Capability(id="good")))
    assert shim.capabilities == ("good",)
    refused = only_finding(shim.findings, "shim-route-refused")
    assert refused.message == "bad is left out: a parameter has no name"


@pytest.mark.parametrize(("kept", "reason"), [
    (int64(enum=(1 << 70,)), "does not fit 64 bits"),
    (AnyType(keywords={"const": "\ud800"}), "half of a surrogate pair"),
    (AnyType(keywords={"x": {str(item): 0 for item in range(1_025)}}), "more than 1024 members"),
], ids=["a long number", "half of a pair", "a large object"])  # fmt: skip
def test_what_the_engine_could_not_read_is_left_out(kept: Type, reason: str) -> None:
    bad = Capability(id="bad", input=parameters(x=kept))
    worse = Capability(id="worse", input=parameters(x=ref("D")))
    app = source_app(bad, worse, Capability(id="good"), definitions={"D": kept})
    plan = plan_routes([app])
    assert [item.id for item in plan.routes] == ["good"]
    assert all(reason in item.message for item in plan.findings if item.code == "shim-route-refused")
    read_route_table(plan.table())


def test_a_reference_to_nothing_may_be_anything() -> None:
    inside = array(ref("Gone"))
    plan = plan_routes([source_app(Capability(id="t", input=parameters(x=ref("Gone"), y=inside)))])
    (route,) = plan.table()["routes"]
    properties = route["input"]["properties"]
    assert properties["x"]["type"] == {"kind": "any"}
    assert properties["y"]["type"] == {"items": {"kind": "any"}, "kind": "array"}
    assert only_finding(plan.findings, "reference-dropped").message.endswith("any value is allowed: Gone")


def test_only_definitions_that_routes_reach_are_in_the_table() -> None:
    app = source_app(
        Capability(id="t", input=parameters(x=array(ref("Used")))),
        definitions={"Used": NOTE, "Unused": NOTE},
    )
    assert list(plan_routes([app]).table()["definitions"]) == ["Used"]


def test_definitions_of_one_name_that_differ_are_both_renamed() -> None:
    apps = [
        source_app(
            Capability(id=f"t{number}", input=parameters(x=array(ref("N")))),
            package=f"com.acme.a{number}",
            definitions={"N": type_},
        )
        for number, type_ in enumerate((string(), INTEGER))
    ]
    table = plan_routes(apps).table()
    assert len(table["definitions"]) == 2
    for route, kind in zip(table["routes"], ("string", "int32"), strict=True):
        name = route["input"]["properties"]["x"]["type"]["items"]["name"]
        assert name.startswith("N_")
        assert table["definitions"][name]["kind"] == kind
    read_route_table(table)


def test_ids_that_clash_get_a_suffix_of_their_own_key() -> None:
    apps = [source_app(Capability(id="t"), package=f"com.acme.{name}") for name in ("a", "b")]
    plan = plan_routes(apps)
    keys = [f"com.acme.{name}/mmcp/com.acme.{name}.Tools/t" for name in ("a", "b")]
    assert [item.id for item in plan.routes] == [f"t_{name_suffix(key)}" for key in keys]
    assert [item.code for item in plan.findings].count("renamed") == 2
    tools = {item["backend"]["tool"] for item in plan.table()["routes"]}
    assert tools == {"t"}
    with_a_third = plan_routes([*apps, source_app(Capability(id="t"), package="com.acme.c")])
    assert [item.id for item in with_a_third.routes][:2] == [item.id for item in plan.routes]


def test_two_providers_of_one_app_may_use_one_id() -> None:
    first = source_app(Capability(id="t"), component="com.acme.One").providers[0]
    second = source_app(Capability(id="t"), protocol="mobile-mcp", component="com.acme.Two").providers[0]
    shim = shim_of(app_with(first, second))
    assert len(set(shim.capabilities)) == 2
    assert all(item.startswith("t_") for item in shim.capabilities)


def test_a_selection_takes_ids_with_and_without_their_package() -> None:
    app = source_app(Capability(id="a"), Capability(id="b"), Capability(id="c"))
    assert shim_of(app, only=("b",)).capabilities == ("b",)
    assert shim_of(app, only=(f"{PACKAGE}/c", "a")).capabilities == ("a", "c")
    with pytest.raises(UsageError, match="no capability is called 'd'") as error:
        shim_of(app, only=("a", "d"))
    assert error.value.hint == "known: a, b, c"


def test_deadlines_are_those_of_the_backend_unless_set() -> None:
    activity, broadcast = source_app(Capability(id="t")), source_app(Capability(id="t"), dialect="broadcast")
    assert routes_of(shim_of(activity))["t"]["deadline_ms"] == 30_000
    assert routes_of(shim_of(broadcast))["t"]["deadline_ms"] == 10_000
    assert routes_of(shim_of(activity, deadline_ms=90_000))["t"]["deadline_ms"] == 90_000
    assert routes_of(shim_of(broadcast, deadline_ms=90_000))["t"]["deadline_ms"] == 10_000
    assert routes_of(shim_of(broadcast, deadline_ms=500))["t"]["deadline_ms"] == 500


def test_effects_are_kept_for_the_user_to_see() -> None:
    app = source_app(Capability(id="t", effects=Effects(read_only=True)), Capability(id="u"))
    routes = routes_of(shim_of(app))
    assert (routes["t"]["effects"], routes["u"]["effects"]) == ({"read_only": True}, None)


def test_a_provider_that_has_not_listed_its_tools_has_no_routes() -> None:
    silent = source_app(dialect="broadcast").providers[0]
    app = app_with(source_app(Capability(id="t")).providers[0].model_copy(update={"component": "a.B"}))
    both = app_with(*app.providers, silent)
    assert [route.id for route in plan_routes([both]).routes] == ["t"]


def test_the_sample_apps_keep_their_ids_and_names() -> None:
    ids = ("clock_in_today", "make_up_clock_in", "query_clock_in")
    assert sample_shim("clock-in/app").capabilities == ids
    route = routes_of(sample_shim("clock-in/app"))["query_clock_in"]
    assert list(route["input"]["properties"]) == ["date"]
    assert list(route["output"]["properties"]) == ["date", "has_clocked_in"]
    note = routes_of(sample_shim("notes/app"))["dev.droidgate.sample.notes.NotesService#findNotes"]
    assert (note["outputs"], note["output"]["kind"]) == ({"kind": "value", "name": "result"}, "array")
    plain = routes_of(sample_shim("notes/legacy"))["createNote"]
    assert (plain["outputs"], plain["output"]) == ({"kind": "text", "name": "result"}, None)


def test_characters_that_nobody_sees_are_left_out_of_texts() -> None:
    inside = parameters(x=string(description="the place\u200b"), y=array(string(description="\u202eb")))
    app = source_app(Capability(id="t", description="Weather\u2066 now", input=inside))
    shim = shim_of(app)
    (provider,) = declared_in(shim.apk)
    assert provider.capabilities[0].description == "Weather now"
    reported = only_finding(shim.findings, "shim-hidden-text")
    assert reported.pointer == "/capabilities/0"
    assert all(item in reported.message for item in ("U+2066", "U+200B", "U+202E"))
    assert "\u200b" not in provider.model_dump_json() + provider.model_dump_json(by_alias=True)


@pytest.mark.parametrize(
    "capability",
    [Capability(id="pay\u200b"), Capability(id="pay", input=parameters(**{"to\u00ad": string()}))],
    ids=["a capability", "a parameter"],
)
def test_a_name_with_characters_that_nobody_sees_is_left_out(capability: Capability) -> None:
    shim = shim_of(source_app(capability, Capability(id="good")))
    assert shim.capabilities == ("good",)
    assert "which are invisible" in only_finding(shim.findings, "shim-route-refused").message


def test_a_finding_points_to_the_capability_of_the_shim_wherever_its_app_declares_it() -> None:
    first = source_app(Capability(id="a"), Capability(id="b"), package="com.acme.first")
    wide = source_app(
        Capability(id="c"),
        Capability(id="hid\u200bden", description="never offered"),
        Capability(id="d", description="Weather\u2066 now"),
        package="com.acme.second",
    )
    shim = shim_of(first, wide, aggregate=True, advertise=frozenset({"appfunctions"}))
    assert shim.capabilities == ("a", "b", "c", "d")
    assert only_finding(shim.findings, "shim-hidden-text").pointer == "/capabilities/3"
    added = [finding.pointer for finding in shim.findings if finding.code == "shim-output-added"]
    assert added == [f"/capabilities/{position}/output" for position in range(4)]
    refused = only_finding(shim.findings, "shim-route-refused")
    assert refused.pointer == "/com.acme.second.Tools/hid\u200bden"
    chosen = [item for item in shim_of(wide, only=("d",)).findings if item.code == "shim-output-added"]
    assert {item.pointer for item in chosen} == {"/capabilities/0/output"}


def test_app_function_losses_point_to_their_capability_after_one_is_left_out() -> None:
    wide = parameters(**{"a b": string()})
    narrow = parameters(x=ArrayType())
    app = source_app(Capability(id="first", input=wide), Capability(id="second", input=narrow))
    plain = shim_of(app)
    shim = shim_of(app, advertise=frozenset({"appfunctions"}))
    assert "shim-function-left-out" in {item.code for item in shim.findings}
    more = {item for item in shim.findings if item not in plain.findings}
    reported = [item.pointer for item in more if item.code != "shim-function-left-out"]
    assert reported
    assert all(item.startswith("/capabilities/1") for item in reported)


def test_ids_that_look_alike_are_reported() -> None:
    plan = plan_routes([source_app(Capability(id="pay"), Capability(id="p\u0430y"), Capability(id="PAY2"))])
    assert [route.id for route in plan.routes] == ["pay", "p\u0430y", "PAY2"]
    assert only_finding(plan.findings, "shim-look-alike").pointer == "/capabilities/1/id"


def test_a_shim_keeps_marks_with_the_app_and_the_field_of_each() -> None:
    bad = "hid\u200bden"
    definitions = {"Note": string(description=bad), "Unused": string(description=bad)}
    first = source_app(
        Capability(id="a"),
        Capability(id="b", input=parameters(x=ref("Note"))),
        package="com.acme.first",
        definitions=definitions,
    )
    second = replace(source_app(Capability(id="c", title=bad), package="com.acme.second"), label=bad)
    shim = shim_of(first, second, aggregate=True)
    assert [(mark.package, mark.capability, mark.field, mark.pointer) for mark in shim.marks] == [
        ("com.acme.second", None, "name", "/name"),
        ("com.acme.first", "b", "Note.description", "/capabilities/1/definitions/Note/description"),
        ("com.acme.second", "c", "title", "/capabilities/2/title"),
    ]


# App Actions


@pytest.mark.parametrize(("intent", "reason"), [
    ('<slice><url-template android:value="content://a/b"/></slice>', "no fulfilment that starts an activity"),
    ('<intent><url-template android:value="{x}://a"/></intent>', "does not begin with a scheme of its own"),
    ('<intent><url-template android:value="intent:a"/></intent>', "the scheme 'intent' are not opened"),
])  # fmt: skip
def test_an_action_that_no_intent_carries_is_left_out_with_its_reason(intent: str, reason: str) -> None:
    name = 'xmlns:android="http://schemas.android.com/apk/res/android"'
    declared = f'<shortcuts {name}><capability android:name="c.SHOW">{intent}</capability></shortcuts>'
    (provider,) = read_file(SourceFile("shortcuts.xml", declared.encode()), ReadingContext()).providers
    app = source_app(*provider.capabilities, protocol="app-actions", dialect="shortcuts")
    plan = plan_routes([app])
    assert plan.routes == ()
    assert any(finding.level is Level.WARNING and reason in finding.message for finding in plan.findings)

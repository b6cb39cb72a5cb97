"""Every file of the corpus is read as it should be, or refused for a reason that somebody has looked at."""

import json
import re
from pathlib import Path

import pytest

from adapters.mobile_mcp.tools import round_trip
from droidgate.sources.android_project import application_from_tree
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ObjectType
from droidgate_mobile_mcp.format import FORMAT
from droidgate_mobile_mcp.wire import (
    MalformedResponseError,
    MobileMcpResponse,
    is_trace,
    read_request,
    read_response,
)
from model_types import properties_of
from properties.matching import assert_same_declaration
from requirements_of_tests import find

pytestmark = pytest.mark.requires("corpus")

PROTOTYPE, SPEC = "system-pclub__mobile-mcp__", "system-pclub__mobile-mcp__spec__mobile-mcp_spec_v1__"
TOOL, AGENT = f"{PROTOTYPE}tool-app__app__src__main__", f"{PROTOTYPE}llm-app__"
RES = f"{TOOL}res__"
CLOCK = ["clock_in_today", "query_clock_in", "make_up_clock_in"]
CHECK = ["check_in_today", "query_check_in", "make_up_check_in"]
BUTTON = "click_main_button"

# File -> dialect, capabilities, rows that were bent (reference 2.1, 2.2; 6 for the rows).
DESCRIPTORS: dict[str, tuple[str, list[str], set[str]]] = {
    f"{RES}xml__mcp_capabilities@42b1e2d.xml": ("prototype", CLOCK, set()),
    f"{RES}xml__mcp_capabilities@a675b63.xml": ("prototype", CLOCK, set()),
    f"{RES}xml__mcp_capabilities@f15436a.xml": ("pre-spec", CLOCK, set()),
    f"{RES}xml__mcp_capabilities@8c3a269.xml": ("pre-spec", CHECK, set()),
    f"{RES}xml__mcp_capabilities@794a9df.xml": ("pre-spec", ["check_in"], set()),
    f"{RES}xml__mcp_capabilities@d38e7ae.xml": ("pre-spec", [BUTTON], set()),
    f"{RES}raw__mcp_capabilities@42b1e2d.xml": ("pre-spec", [BUTTON, *CLOCK[1:]], set()),
    f"{RES}raw__mcp_capabilities@5848838.xml": ("pre-spec", [BUTTON, *CLOCK[1:]], set()),
    f"{RES}raw__mcp_capabilities@b42d94e.xml": ("pre-spec", [BUTTON, *CHECK[1:]], set()),
    f"{SPEC}sample-capabilities-root@42b1e2d.xml": ("1.0", [], set()),
    f"{SPEC}sample-capability-element@42b1e2d.xml": ("1.0", ["XXX"], {"M05", "M07", "M29", "M61", "M63"}),
}

# File -> why it is not a descriptor by itself (the reference's paragraph behind each).
REFUSED = {
    f"{SPEC}sample-intent-filter@42b1e2d.xml": "Namespace prefix android",  # 8: a fragment of a manifest
    f"{SPEC}sample-meta-capabilities@42b1e2d.xml": "Namespace prefix android",  # 8
    f"{SPEC}sample-meta-description@42b1e2d.xml": "Namespace prefix android",  # 8
    f"{SPEC}sample-meta-name@42b1e2d.xml": "Namespace prefix android",  # 8
}


App = tuple[dict[str, str], str, str | None, list[str]]


def app(
    folder: str, capabilities: str, strings: str, label: str, description: str | None, rows: list[str]
) -> App:
    """Return a manifest's row, of the commits that its two files are of."""
    files = {
        f"res/{folder}/mcp_capabilities.xml": f"{folder}__mcp_capabilities@{capabilities}.xml",
        "res/values/strings.xml": f"values__strings@{strings}.xml",
    }
    return files, label, description, rows


CLOCKING = "An application for daily clocking in"

# Manifest -> files next to it, provider's name, description's head, rows (reference 2.2).
APPS: dict[str, App] = {
    "AndroidManifest@f2efe26.xml": app("xml", "a675b63", "a675b63", "Daily Clock-in", CLOCKING, []),
    "AndroidManifest@f15436a.xml": app("xml", "f15436a", "97f6173", "Daily Clock-in", CLOCKING, []),
    "AndroidManifest@b42d94e.xml": app("xml", "8c3a269", "b42d94e", "Daily Check-in", CLOCKING, []),
    "AndroidManifest@b468c99.xml": app("raw", "b42d94e", "794a9df", "MCP Demo", None, ["M12", "M66"]),
    "AndroidManifest@8205641.xml": app("xml", "8c3a269", "794a9df", "MCP Demo", None, ["M12"]),
    "AndroidManifest@794a9df.xml": app("xml", "794a9df", "794a9df", "MCP Demo", None, ["M12"]),
    "AndroidManifest@d38e7ae.xml": app("xml", "d38e7ae", "794a9df", "MCP Demo", None, ["M11", "M12"]),
}

AGENTS = [
    f"{AGENT}app__src__main__AndroidManifest@{commit}.xml"
    for commit in ("0546656", "8205641", "91c4420", "a675b63")
] + [f"{AGENT}src__main__AndroidManifest@5ab10ab.xml"]
STRINGS = [
    f"{RES}values__strings@{commit}.xml"
    for commit in ("5848838", "794a9df", "97f6173", "a675b63", "b42d94e", "c71e35e")
]
STRINGS += [f"{AGENT}app__src__main__res__values__strings@0546656.xml"]
REQUESTS = {f"{SPEC}sample-request@42b1e2d.json": "S0", f"{SPEC}sample-request@584d97b.json": "S1"}
RESPONSES = {f"{SPEC}sample-response@42b1e2d.json": "S0", f"{SPEC}sample-response@584d97b.json": "S1"}
CALLS = [f"derived__{name}.json" for name in (
    "MM1-aidl-invoke-return", "MM2-startservice-intent", "MM2b-benchmark-second-callback", "MM3-messenger",
    "MM4-intent-args-output-array", "MM5-intent-input-output-object", "MM5-responses",
    "MM6-messenger-input-output-object",
)]  # fmt: skip
ID = "3f2b6c0e-5a41-4d0b-9d0e-6a1f0c9b7e21"


def folder() -> Path:
    return find("corpus") / "mobile_mcp"


def corpus_json(name: str) -> Json:
    return json.loads((folder() / name).read_text(encoding="utf-8"))


def read_descriptor(name: str) -> tuple[Provider, set[str | None]]:
    reading = FORMAT.read_file(SourceFile(name, (folder() / name).read_bytes()), ReadingContext())
    (provider,) = reading.providers
    return provider, {finding.rule for finding in reading.findings}


def read_tool(manifest: str) -> tuple[Provider, list[str | None]]:
    files, *_ = APPS[manifest]
    tree = {"AndroidManifest.xml": (folder() / f"{TOOL}{manifest}").read_bytes()}
    tree.update({path: (folder() / f"{RES}{name}").read_bytes() for path, name in files.items()})
    reading = FORMAT.read_application(application_from_tree(tree), ReadingContext())
    (provider,) = reading.providers
    return provider, [finding.rule for finding in reading.findings]


def test_every_file_of_the_corpus_is_looked_at() -> None:
    seen = {*DESCRIPTORS, *REFUSED, *AGENTS, *STRINGS, *REQUESTS, *RESPONSES, *CALLS, "index.tsv"}
    seen |= {f"{TOOL}{name}" for name in APPS}
    assert seen == {path.name for path in folder().iterdir()}


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_a_descriptor_is_read(name: str) -> None:
    dialect, capabilities, rows = DESCRIPTORS[name]
    provider, reported = read_descriptor(name)
    assert (provider.dialect, [item.id for item in provider.capabilities]) == (dialect, capabilities)
    assert reported == rows
    assert FORMAT.detect(SourceFile(name, (folder() / name).read_bytes())) > 0


def test_the_prototype_s_capabilities_are_read_whole() -> None:
    provider, _ = read_descriptor(f"{RES}xml__mcp_capabilities@a675b63.xml")
    today, query, _make_up = provider.capabilities
    assert (today.input, today.output) == (ObjectType(), None)
    assert {name: (kept.type.kind, kept.required) for name, kept in properties_of(query.input).items()} == {
        "date": ("string", True)
    }
    assert {name: kept.type.kind for name, kept in properties_of(query.output).items()} == {
        "date": "string",
        "has_clocked_in": "boolean",
    }
    assert all(item.version == "1" and item.extensions == {} for item in provider.capabilities)


@pytest.mark.parametrize("name", REFUSED)
def test_a_fragment_of_a_manifest_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=re.escape(REFUSED[name])):
        read_descriptor(name)


@pytest.mark.parametrize("name", [*AGENTS, *STRINGS])
def test_a_manifest_or_strings_file_is_not_a_descriptor(name: str) -> None:
    assert FORMAT.detect(SourceFile(name, (folder() / name).read_bytes())) == 0
    with pytest.raises(InputError, match="no Mobile-MCP descriptor"):
        read_descriptor(name)


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_s_app_declares_no_tool(name: str) -> None:
    app = application_from_tree({"AndroidManifest.xml": (folder() / name).read_bytes()})
    assert FORMAT.read_application(app, ReadingContext()).providers == ()


@pytest.mark.parametrize("name", APPS)
def test_a_tool_s_app_is_read(name: str) -> None:
    _, label, description, rows = APPS[name]
    provider, reported = read_tool(name)
    assert (provider.component, provider.name) == (".CommandGatewayService", label)
    assert (provider.description or "").startswith(description or "")
    assert (provider.description is None) is (description is None)
    assert sorted(item for item in reported if item) == rows


@pytest.mark.parametrize("name", APPS)
def test_a_tool_s_app_written_again_says_the_same(name: str) -> None:
    provider, _ = read_tool(name)
    reported = round_trip(provider)
    assert reported.writing.findings == ()
    assert_same_declaration(provider, reported.after)


@pytest.mark.parametrize("name", REQUESTS)
def test_the_specification_s_request_is_read_strictly(name: str) -> None:
    text = (folder() / name).read_text(encoding="utf-8")
    for given in (text, {"mobile-mcp-request": text}):
        request = read_request(given, ReadingContext(strict=True))
        assert (request.dialect.id, request.request_id, request.capability_id) == (
            REQUESTS[name],
            "UUID",
            "CAPABILITY_ID",
        )
        assert request.arguments == {"name1": "VALUE1", "name2": "VALUE2"}


@pytest.mark.parametrize("name", RESPONSES)
def test_the_specification_s_response_is_read_strictly(name: str) -> None:
    text = (folder() / name).read_text(encoding="utf-8")
    response = read_response({"mobile-mcp-response": text}, ReadingContext(strict=True))
    assert response is not None
    assert (response.dialect and response.dialect.id, response.request_id, response.succeeded) == (
        RESPONSES[name],
        "UUID",
        True,
    )
    assert response.outputs == (
        {"PARAM_NAME": "VALUE"} if RESPONSES[name] == "S0" else {"name1": "VALUE1", "name2": "VALUE2"}
    )


def answer(extras: Json, carrier: str = "start") -> MobileMcpResponse:
    response = read_response(extras, ReadingContext(strict=True), carrier=carrier)  # type: ignore[arg-type]
    assert response is not None
    return response


@pytest.mark.parametrize(("name", "carrier", "dialect", "capability", "arguments", "outputs"), [
    ("MM2-startservice-intent", "start", "MM-2", CLOCK[2], {"date": "2026-02-06"}, {"date": "2026-02-06"}),
    ("MM3-messenger", "bind", "MM-3", CLOCK[0], {}, None),
    ("MM4-intent-args-output-array", "start", "MM-4", CLOCK[1], {"date": "2026-02-14"},
        {"date": "2026-02-14", "has_clocked_in": True}),
    ("MM5-intent-input-output-object", "start", "MM-5", CLOCK[2], {"date": "2026-02-24"},
        {"date": "2026-02-24", "success": True}),
    ("MM6-messenger-input-output-object", "bind", "MM-6", CLOCK[1], {"date": "2026-02-24"},
        {"date": "2026-02-24", "has_clocked_in": False}),
])  # fmt: skip
def test_a_call_of_the_prototype_is_read_strictly(
    name: str, carrier: str, dialect: str, capability: str, arguments: Json, outputs: Json
) -> None:
    call = corpus_json(f"derived__{name}.json")
    given = call.get("extras") or call.get("data")
    request = read_request(given, ReadingContext(strict=True), carrier=carrier)  # type: ignore[arg-type]
    assert (request.dialect.id, request.request_id, request.capability_id) == (dialect, ID, capability)
    assert request.arguments == arguments
    response = answer(call.get("callback_fill_in_extras") or call.get("reply_data"), carrier)
    assert (response.request_id, response.succeeded, response.outputs) == (ID, True, outputs)
    assert response.dialect is not None
    assert response.dialect.id == dialect


def test_a_call_by_aidl_is_read_and_named() -> None:
    call = corpus_json(CALLS[0])
    request = read_request(call["arg"], ReadingContext(strict=True))
    assert (request.dialect.id, request.capability_id, request.arguments) == (
        "MM-1",
        CLOCK[1],
        {"date": "2026-02-07"},
    )
    assert answer(call["return"]).outputs == {"date": "2026-02-07", "has_clocked_in": False}
    unknown = read_response(call["return_unknown"])
    assert unknown is not None
    assert (unknown.succeeded, unknown.token) == (False, "unknown_capability")


def test_the_benchmark_s_second_callback_is_passed_over() -> None:
    call = corpus_json(CALLS[2])

    def extras(names: list[str]) -> dict[str, Json]:
        split = dict(name.partition("=")[::2] for name in names)
        return {name: {"": "x", "true": True}.get(value, value) for name, value in split.items()}

    assert not is_trace(extras(call["first_callback_extras"]))
    assert is_trace(extras(call["second_callback_extras"]))
    assert read_response(extras(call["second_callback_extras"])) is None


@pytest.mark.parametrize(("case", "succeeded", "token"), [
    ("no_argument_capability", True, None),
    ("missing_argument", False, "invalid_argument"),
    ("input_absent", False, "invalid_argument"),
    ("unknown_capability", False, "unknown_capability"),
])  # fmt: skip
def test_the_prototype_s_answers_are_classified(case: str, succeeded: bool, token: str | None) -> None:  # noqa: FBT001
    response = answer({"response": corpus_json(CALLS[6])[case]})
    assert (response.request_id, response.succeeded, response.token) == (ID, succeeded, token)


def test_the_prototype_s_last_resort_is_malformed() -> None:
    text = corpus_json(CALLS[6])["hand_built_fallback_malformed"]
    with pytest.raises(MalformedResponseError) as refused:
        read_response({"response": text, "mcp_request_id": ID})
    assert refused.value.raw == text

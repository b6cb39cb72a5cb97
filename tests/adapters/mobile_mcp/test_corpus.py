"""Files of the corpus are read as they should be; which of them are refused is in `tests/corpus`."""

import json
from pathlib import Path

import pytest

from adapters.mobile_mcp.tools import round_trip
from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
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
from model_types import properties_of, record, required
from properties.matching import assert_same_declaration
from requirements_of_tests import find
from titled_rows import titled

pytestmark = pytest.mark.requires("corpus")

PROTOTYPE, SPEC = "system-pclub__mobile-mcp__", "system-pclub__mobile-mcp__spec__mobile-mcp_spec_v1__"
TOOL, AGENT = f"{PROTOTYPE}tool-app__app__src__main__", f"{PROTOTYPE}llm-app__"
RES = f"{TOOL}res__"
CLOCK = ["clock_in_today", "query_clock_in", "make_up_clock_in"]
CHECK = ["check_in_today", "query_check_in", "make_up_check_in"]
BUTTON = "click_main_button"

# File -> dialect, capabilities, rows that were read leniently (reference 2.1, 2.2; 6 for the rows).
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

VERSIONS = {"42b1e2d": "S0", "584d97b": "S1"}
"""Commit of the specification -> wire dialect of its samples."""
RESPONSES = "derived__MM5-responses.json"
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
    assert query.input == record({"date": required(properties_of(query.input)["date"].type)})
    kinds = [
        {name: property_.type.kind for name, property_ in properties_of(side).items()}
        for side in (query.input, query.output)
    ]
    assert kinds == [{"date": "string"}, {"date": "string", "has_clocked_in": "boolean"}]
    assert all(item.version == "1" and item.extensions == {} for item in provider.capabilities)


@pytest.mark.parametrize("name", APPS)
def test_an_app_made_by_a_tool_means_the_same_when_written_again(name: str) -> None:
    _, label, description, rows = APPS[name]
    provider, reported = read_tool(name)
    assert (provider.component, provider.name) == (".CommandGatewayService", label)
    assert (provider.description or "").startswith(description or "")
    assert (provider.description is None) is (description is None)
    assert sorted(item for item in reported if item) == rows
    trip = round_trip(provider)
    assert trip.writing.findings == ()
    assert_same_declaration(provider, trip.after)


@pytest.mark.parametrize("commit", VERSIONS)
def test_the_specification_s_request_is_read_strictly(commit: str) -> None:
    text = (folder() / f"{SPEC}sample-request@{commit}.json").read_text(encoding="utf-8")
    for document in (text, {"mobile-mcp-request": text}):
        request = read_request(document, ReadingContext(strict=True))
        assert (request.dialect.id, request.request_id) == (VERSIONS[commit], "UUID")
        assert request.capability_id == "CAPABILITY_ID"
        assert request.arguments == {"name1": "VALUE1", "name2": "VALUE2"}


@titled(("commit", "outputs"), {
    "one output": ("42b1e2d", {"PARAM_NAME": "VALUE"}),
    "two outputs": ("584d97b", {"name1": "VALUE1", "name2": "VALUE2"}),
})  # fmt: skip
def test_the_specification_s_response_is_read_strictly(commit: str, outputs: Json) -> None:
    text = (folder() / f"{SPEC}sample-response@{commit}.json").read_text(encoding="utf-8")
    response = answer({"mobile-mcp-response": text})
    assert response.dialect is not None
    assert (response.dialect.id, response.request_id, response.succeeded) == (VERSIONS[commit], "UUID", True)
    assert response.outputs == outputs


def answer(extras: Json, carrier: str = "start") -> MobileMcpResponse:
    response = read_response(extras, ReadingContext(strict=True), carrier=carrier)  # type: ignore[arg-type]
    assert response is not None
    return response


@titled(("name", "carrier", "dialect", "capability", "date", "outputs"), {
    "a service": ("MM2-startservice-intent", "start", "MM-2", CLOCK[2], "2026-02-06", {"date": "2026-02-06"}),
    "a messenger": ("MM3-messenger", "bind", "MM-3", CLOCK[0], None, None),
    "a started service with arguments and an array of outputs":
        ("MM4-intent-args-output-array", "start", "MM-4", CLOCK[1], "2026-02-14",
        {"date": "2026-02-14", "has_clocked_in": True}),
    "a started service with an input and an object of outputs":
        ("MM5-intent-input-output-object", "start", "MM-5", CLOCK[2], "2026-02-24",
        {"date": "2026-02-24", "success": True}),
    "a messenger with an input and an object of outputs":
        ("MM6-messenger-input-output-object", "bind", "MM-6", CLOCK[1], "2026-02-24",
        {"date": "2026-02-24", "has_clocked_in": False}),
})  # fmt: skip
def test_a_call_of_the_prototype_is_read_strictly(
    name: str, carrier: str, dialect: str, capability: str, date: str | None, outputs: Json
) -> None:
    call = corpus_json(f"derived__{name}.json")
    extras = call.get("extras") or call.get("data")
    request = read_request(extras, ReadingContext(strict=True), carrier=carrier)  # type: ignore[arg-type]
    assert (request.dialect.id, request.request_id, request.capability_id) == (dialect, ID, capability)
    assert request.arguments == ({} if date is None else {"date": date})
    response = answer(call.get("callback_fill_in_extras") or call.get("reply_data"), carrier)
    assert (response.request_id, response.succeeded, response.outputs) == (ID, True, outputs)
    assert response.dialect is not None
    assert response.dialect.id == dialect


def test_a_call_by_aidl_is_read_and_named() -> None:
    call = corpus_json("derived__MM1-aidl-invoke-return.json")
    request = read_request(call["arg"], ReadingContext(strict=True))
    assert (request.dialect.id, request.capability_id) == ("MM-1", CLOCK[1])
    assert request.arguments == {"date": "2026-02-07"}
    assert answer(call["return"]).outputs == {"date": "2026-02-07", "has_clocked_in": False}
    unknown = read_response(call["return_unknown"])
    assert unknown is not None
    assert (unknown.succeeded, unknown.token) == (False, "unknown_capability")


def test_the_benchmark_s_second_callback_is_passed_over() -> None:
    call = corpus_json("derived__MM2b-benchmark-second-callback.json")

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
    response = answer({"response": corpus_json(RESPONSES)[case]})
    assert (response.request_id, response.succeeded, response.token) == (ID, succeeded, token)


def test_the_prototype_s_last_resort_is_malformed() -> None:
    text = corpus_json(RESPONSES)["hand_built_fallback_malformed"]
    with pytest.raises(MalformedResponseError) as refused:
        read_response({"response": text, "mcp_request_id": ID})
    assert refused.value.raw == text

"""The engine in Java (shim-engine.md): each op by hand, and input that nobody would send.

The vectors of `device_shim/vectors` hold it to everything else.
"""

import json
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from device_shim.shim_engine import engine_samples
from device_shim.shim_engine.conformance.evaluation import evaluate
from device_shim.shim_engine.conformance.vector_files import load_vectors
from device_shim.shim_engine.jvm_core import ENGINE_SOURCES, CoreJvm
from device_shim.shim_engine.mutated_vectors import Mutator
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.tables.failure_tokens import load_failure_tokens, token_of_code
from requirements_of_tests import SHORT_JVM, require

pytestmark = pytest.mark.requires("javac", "java")


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def wide(keys: int) -> str:
    return "{" + ",".join(f'"{item}":0' for item in range(keys)) + "}"


def parse(text: str) -> Json:
    return {"op": "parse", "text": text}


def pattern(pattern: str, text: str) -> Json:
    return {"op": "pattern", "pattern": pattern, "text": text}


def fit(declared: Json, value: Json) -> Json:
    return {"op": "fit", "type": declared, "value": value}


def written(declared: Json, value: Json) -> Json:
    type_ = {"kind": "object", "properties": {"v": {"type": declared}}}
    return {"op": "write-document", "type": type_, "value": {"v": value}}


LISTS: Json = {
    "kind": "one-of",
    "alternatives": [{"kind": "array", "items": {"kind": kind}} for kind in ("int32", "string")],
}

# RFC 8259 by its sections; the names in the comments are the kinds of files in other people's suites.
ACCEPTED = [
    # structures
    *("[]", "{}", "[[]]", '{"":0}', '{"a":{}}', "[null]", "[1,null,2]", " [] ", "\t[\n]\r", '{"a":1,"b":2}'),
    *(deep(64), wide(1024), '[{"a":[{"b":[]}]}]', '{"\\u0000":0}', '{"a\\"b":0}', "[[],{},[]]"),
    # lonely values
    *("null", "true", "false", "0", '""', '"a"', "-1", " 1 "),
    # numbers
    *("-0", "-0.0", "0.0", "1e1", "1E1", "1e+1", "1e-1", "1.5e10", "0e0", "0e1", "0E+5", "123456789"),
    *("9223372036854775807", "-9223372036854775808", "1e308", "-1e308", "1e-400", "0.1", "1.50", "1e001"),
    *("1.7976931348623157e308", "12345678901234567890123456789.12", "0." + "1" * 30, "1e-999"),
    # strings
    *('"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\u0041"', '"\\uD83D\\uDE00"', '"\U0001f600"', '"\\u2028"'),
    *('"\u2028"', '"\\uFFFF"', '"\uffff"', '"\\uDBFF\\uDFFF"', '"\x7f"', '"\\u00e9"', '"é"'),
    *('"\\\\u0041"', '"/"', '"\\u0000"', '"\\ud83d\\ude00\\ud83d\\ude00"', '"' + "a" * 199_998 + '"'),
]  # fmt: skip
REFUSED = [
    # structures
    *("", " ", "[", "]", "{", "}", "[}", "{]", "[1", '{"a"', '{"a":', '{"a":1', "[1,", '{"a":1,', "[]]"),
    *("{}}", "[,]", "[1,]", "[,1]", "[1,,2]", '{"a":1,}', '{,"a":1}', "{a:1}", "{'a':1}", '{"a" 1}'),
    *('{"a"::1}', '{"a":1 "b":2}', "[1 2]", '{"a",1}', '["a":1]', "{1:1}", "{null:1}", "[] []", "{} 1"),
    *("[]x", '{"a":}', '{"a":1,"a":1}', '{"a":1,"\\u0061":2}', deep(65), deep(5_000), "[" * 199_999),
    *('{"a":' * 65 + "0" + "}" * 65, wide(1025), "[" + ",".join(["1"] * 100_001) + "]"),
    *('{"a":1/**/}', "[1]//", "#", "[\x00]", "\ufeff[]", "[\u00a0]", "[\u2028]", "\x0c[]", "\x0b1"),
    # words
    *("nul", "nulll", "True", "TRUE", "tru", "falsey", "undefined", "None", "NaN", "-NaN", "Infinity"),
    *("-Infinity", "inf", "+Infinity", "n", "t", "f", "truefalse", "[nan]"),
    # numbers
    *("-", "+", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1.e1", "1e", "1e+", "1e-", "1E", "1e1.5"),
    *("1.2.3", "0x10", "1_000", "- 1", "--1", "1-", "1e1e1", "\uff11", "١", "1 000", "0b1", "1f", "1L", "0e"),
    *("1,5", "2.", "9223372036854775808", "-9223372036854775809", "1" * 33, "0." + "1" * 31, "1e309"),
    *("-1e309", "1e0001", "1.7976931348623159e308", "1e99999999999", "1e-99999999999", "0e1000", "1" * 5_000),
    *("1e" + "9" * 5_000,),
    # strings
    *('"', '"a', "'a'", "a", '"\\"', '"\\', '"\\x41"', '"\\u"', '"\\u1"', '"\\u12"', '"\\u123"', '"\\u123g"'),
    *('"\\U0041"', '"\\a"', '"\\0"', '"\\\'"', '"\\u+041"', '"\\u 041"', '"\x00"', '"\x1f"', '"\n"'),
    *('"\t"', '"\r"', '"\\uD800"', '"\\uDC00"', '"\\uDE00\\uD83D"', '"\\uD83D\\uD83D"', '"\\uD83Dx"'),
    *('"\\uD83D\\n"', '"a""b"', '["\\uD800"]', '{"\\uD800":0}', '"\\u\uff10\uff10\uff14\uff11"'),
    *('"' + "a" * 199_999 + '"',),
]  # fmt: skip


def in_both(core: CoreJvm, vectors: list[Json]) -> list[Any]:
    """Return the outcomes in Java, which are those in Python too."""
    outcomes = list(core.outcomes(vectors))
    pairs = zip(vectors, map(evaluate, vectors), outcomes, strict=True)
    assert [str(vector)[:90] for vector, ours, theirs in pairs if ours != theirs] == []
    return outcomes


def test_json_has_the_same_value_in_java_as_in_python(core: CoreJvm) -> None:
    outcomes = in_both(core, list(map(parse, ACCEPTED)))
    for text, outcome in zip(ACCEPTED, outcomes, strict=True):
        parsed = json.loads(outcome.get("canonical", "5e5"), parse_float=Decimal)
        assert parsed == json.loads(text, parse_float=Decimal), text[:60]


def test_what_is_not_json_is_malformed_in_java_and_in_python(core: CoreJvm) -> None:
    outcomes = in_both(core, list(map(parse, REFUSED)))
    pairs = zip(REFUSED, outcomes, strict=True)
    assert [(text[:60], found) for text, found in pairs if found != {"error": "malformed"}] == []
    assert evaluate(parse('"\ud83d"')) == {"error": "malformed"}


@pytest.mark.parametrize(("vector", "outcome"), [
    pytest.param(parse(' {"b":1.50, "a":[-0,-0.0,1e2,1e-7,0e5]}'),
        {"canonical": '{"a":[0,0.0,1E+2,1E-7,0E+5],"b":1.50}'}, id="digits are kept and names are sorted"),
    pytest.param(parse('{"\U0001f600":1,"\uff01":2,"a":3}'),
        {"canonical": '{"a":3,"\uff01":2,"\U0001f600":1}'}, id="names are sorted by code points"),
    pytest.param(parse('"\\u001f\\u007f\\/\\"\\b"'), {"canonical": '"\\u001f\x7f/\\"\\b"'},
        id="only what has to be is escaped"),
    pytest.param(parse("1234567890.123456789012345678901"), {"canonical": "1234567890.123456789012345678901"},
        id="a long fraction is kept"),
    pytest.param(pattern(r"^\d{2,3}$", "123"), {"matches": True},
        id="a pattern with anchors matches the whole text"),
    pytest.param(pattern(r"^\d{2,3}$", "1234"), {"matches": False}, id="a pattern's bound is kept"),
    pytest.param(pattern(r"b|(?<name>c)", "xcx"), {"matches": True}, id="a pattern is searched for"),
    pytest.param(pattern(r"^[^\w\s]$", "\u00e9"), {"matches": True}, id="an accented letter is not of \\w"),
    pytest.param(pattern(r"\u{1F600}", "\U0001f600"), {"matches": True}, id="a code point in braces is read"),
    pytest.param(pattern(r"(?<é>a)", "a"), {"error": "unsupported"}, id="a group's name is of ASCII letters"),
    pytest.param(pattern("(" * 60 + "a" + ")" * 60, "a"), {"error": "unsupported"},
        id="groups are nested too deeply"),
    pytest.param(pattern(r"^(a*)*$", "a" * 2_000 + "b"), {"matches": False},
        id="repetitions of repetitions end"),
    pytest.param(fit({"kind": "int64"}, Decimal("5.00")), {"value": 5, "coercions": []},
        id="a whole decimal is a long"),
    pytest.param(fit({"kind": "boolean"}, "FAL\u017fE"), {"error": "unfit", "pointer": ""},
        id="a long s is not an s"),
    pytest.param(fit({"kind": "bytes"}, "AAAA===="), {"error": "unfit", "pointer": ""},
        id="bytes that are padded twice do not fit"),
    pytest.param(written({"kind": "double"}, "x"), {"error": "invalid_argument"},
        id="a text for a number is not written"),
    pytest.param(written(LISTS, ["a"]),
        {"document": {"schemaType": "", "properties": {"v": {"kind": "string", "values": ["a"]}}}},
        id="the alternative that takes all items is written"),
])  # fmt: skip
def test_both_engines_give_what_is_typed_by_hand(core: CoreJvm, vector: Json, outcome: Json) -> None:
    assert in_both(core, [vector]) == [outcome]


@pytest.mark.slow
def test_a_type_that_refers_to_itself_ends(core: CoreJvm) -> None:
    itself = {"kind": "one-of", "alternatives": [{"kind": "ref", "name": "A"}] * 3}
    declared: Json = {"type": {"kind": "ref", "name": "A"}, "definitions": {"A": itself}}
    document = {"schemaType": "", "properties": {"a": {"kind": "long", "values": [1]}}}
    listed = {"kind": "object", "properties": {"l": {"type": {"kind": "array", "items": declared["type"]}}}}
    outcomes = in_both(
        core,
        [
            {**declared, "op": "fit", "value": 1},
            {**declared, "op": "write-document", "value": {}},
            {**declared, "op": "read-document", "document": document},
            {**declared, "op": "write-document", "type": listed, "value": {"l": []}},
        ],
    )
    tokens = [outcome["error"] for outcome in outcomes]
    assert tokens == ["unfit", "invalid_argument", "malformed_response", "invalid_argument"]


def test_the_tokens_are_those_of_the_mappings(core: CoreJvm) -> None:
    tokens, known = core.ask(op="tokens"), load_failure_tokens().values()
    assert tokens["written"] == {item.token: item.app_functions.write for item in known}
    assert tokens["read"] == [token_of_code(code) for code in range(5_000)]
    assert tokens["meanings"] == {item.token: item.meaning for item in known}


SAY: Json = {
    "id": "say",
    "input": {"kind": "object", "properties": {"text": {"type": {"kind": "string"}}}},
    "outputs": {"kind": "text", "name": "result"},
    "backend": {"kind": "mmcp-activity", "component": "p/c", "tool": "t"},
    "target": engine_samples.target("p"),
}
TABLE: Json = {"format": 1, "routes": [SAY]}
GRANTED: Json = {"grants": [{"caller": item, "capability": "*"} for item in range(4)]}
REQUEST = '{"id":"ID","capability":{"id":"say","input":{"text":"x"}}}'


FLAT = 1 << 20
"""Bytes by which a heap may grow that holds nothing more: what classes and their compiler keep."""


@pytest.mark.parametrize("events", [100_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_each_request_is_answered_once_whatever_happens(core: CoreJvm, events: int) -> None:
    policy = {**GRANTED, "limits": {"burst": 200, "per_minute": 2_000, "open": 12, "open_per_caller": 4}}
    outcome = core.ask(
        op="sequences", routes=TABLE, policy=policy, capability="say", request=REQUEST, count=events, seed=6
    )
    assert (outcome["twice"], outcome["late"], outcome["unanswered"], outcome["open"]) == (0, 0, 0, False)
    assert outcome["grown"] < FLAT
    assert sum(outcome["tokens"].values()) == outcome["requests"] > 0.35 * events
    seen = {
        "success", "busy", "canceled", "timeout", "interrupted", "denied", "invalid_argument", "needs_user",
    }  # fmt: skip
    assert set(outcome["tokens"]) == seen | {"backend_failure"}
    assert min(outcome["tokens"].values()) > 50


def call(**changed: Json) -> dict[str, Json]:
    vector = {"op": "call", "routes": TABLE, "policy": GRANTED, "carrier": "bind", "caller": 1}
    extras = {"request": REQUEST.replace("ID", "7")}
    return {**vector, "extras": extras, "backend": {"code": -1, "extras": {"result": "done"}}, **changed}


@pytest.mark.slow
def test_garbage_is_answered_line_by_line(core: CoreJvm) -> None:
    mutator = Mutator(20_000)
    seeds = [one_line_json(vector.case) for vector in load_vectors() if len(str(vector.case)) < 6_000]
    seeds += [one_line_json(call()), one_line_json(call(extras={"request": "[" * 500}))]
    texts = (str(mutator.changed_text(mutator.choice(seeds))) for _ in range(19_900))
    lines = [text.encode() for text in texts] + [mutator.randbytes(200) for _ in range(100)]
    lines = [line.replace(b"\n", b" ").replace(b"\r", b" ") for line in lines]
    counts: dict[str, int] = {}
    for answer in core.answers(lines):
        outcome: dict[str, Any] | None = json.loads(answer)
        kind = str((outcome or {}).get("error", "outcome"))
        counts[kind] = counts.get(kind, 0) + 1
    assert sum(counts.values()) == 20_000
    assert counts["outcome"] > 2_000
    assert counts["malformed"] > 2_000
    assert core.ask(**call())["token"] is None


def test_the_engine_needs_nothing_of_android_and_no_lambdas() -> None:
    """The core runs on any JVM; what it imports is on Android 7 too."""
    imported = {
        line.split()[1].rstrip(";")
        for path in ENGINE_SOURCES.rglob("*.java")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("import ")
    }
    encoding = {"java.io.UnsupportedEncodingException", "java.net.URLEncoder"}
    assert all(item.startswith(("java.util.", "java.math.")) for item in imported - encoding)
    assert not [item for item in imported if item.startswith(("java.util.stream", "java.util.function"))]
    assert "java.util.Base64" not in imported


WRAPPED = '{"mobile-mcp-request":{"version":"1.0","request":{"id":"a","capability":{"id":"say","input":{}}}}}'


@pytest.mark.parametrize(("extras", "answer"), [
    ({"request": '{"id":7,"capability":{"id":"say","args":"{}"}}'},
        {"mcp_request_id": "7", "response": {"id": 7, "capability": {"id": "say"}}}),
    ({"mobile-mcp-request": WRAPPED}, {"mobile-mcp-response": {"id": "a", "capability": {"id": "say"}}}),
], ids=["extras of the prototype", "an extra of version 1.0"])  # fmt: skip
def test_a_request_is_answered_after_the_shim_died(
    core: CoreJvm, extras: dict[str, str], answer: Json
) -> None:
    policy = {"grants": [{"caller": "any-app", "capability": "say"}]}
    journaled = core.ask(op="journal", vector=call(extras=extras, policy=policy))["extras"]
    (name,) = journaled.keys() & {"response", "mobile-mcp-response"}
    inner = json.loads(journaled[name])
    if name == "mobile-mcp-response":
        assert inner[name]["version"] == "1.0"
        inner = inner[name]["response"]
    assert inner.pop("status") == "failure"
    assert inner.pop("message").startswith("interrupted: ")
    assert {**journaled, name: inner} == answer


@pytest.mark.slow
@pytest.mark.parametrize(("takes_ms", "events"), [
    pytest.param(4_999, ["goes out", "timeout"], id="just in time"),
    pytest.param(5_000, ["timeout"], id="too late"),
])  # fmt: skip
def test_a_call_whose_deadline_passes_while_its_target_is_looked_at_does_not_go_out(
    core_classes: Path, tmp_path: Path, takes_ms: int, events: list[str]
) -> None:
    routes, request = tmp_path / "routes.json", tmp_path / "request.json"
    routes.write_text(json.dumps(engine_samples.TABLE))
    (written,) = engine_samples.s1("7", "fill", {"path": "a"}).values()
    request.write_text(written)
    program = Path(__file__).with_name("LateTarget.java")
    command: list[str | Path] = [require("java"), *SHORT_JVM, "-cp", core_classes, program]
    command += [routes, request, str(takes_ms)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]
    assert run.stdout.split("\n")[:-1] == events

"""The generated Java turns Android's own GenericDocument into arguments, and results into documents.

What a document holds is reference appfunctions 4: every property a list, int as long, float as double, a
document's schema type as the discriminator of a choice, the result under `androidAppfunctionsReturnValue`.
"""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.handlers.jvm import (
    RUNNERS,
    add_runner,
    as_line,
    compile_java,
    compile_runner,
    run_class,
    write_sources,
)
from adapters.handlers.providers import handlers_for
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import Property, Type
from model_types import (
    all_of,
    array,
    binary,
    boolean,
    float32,
    float64,
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
from titled_rows import titled

ID = "dev.made.app.Notes#"
RETURN = "androidAppfunctionsReturnValue"


def _named(name: str, **properties: Property) -> dict[str, Type]:
    return {f"dev.made.{name}": record(properties, qualified_name=f"dev.made.{name}")}


def _function(name: str, output: Type, **parameters: Any) -> Capability:
    return Capability(id=ID + name, description=name, input=record(parameters), output=output)


NOTES = Provider(
    protocol="appfunctions",
    dialect="v2",
    package="dev.made.app",
    component=".NotesService",
    definitions={
        **_named("Item", text=required(string()), done=optional(boolean())),
        **_named("Tree", value=required(int32()), children=optional(array(ref("dev.made.Tree")))),
        **_named("Text", body=required(string())),
        **_named("Photo", body=required(binary()), size=required(int64())),
        "dev.made.Content": one_of(
            ref("dev.made.Text"), ref("dev.made.Photo"), qualified_name="dev.made.Content"
        ),
        "dev.made.Both": all_of(
            ref("dev.made.Item"), record({"extra": required(int64())}), qualified_name="dev.made.Both"
        ),
    },
    capabilities=(
        _function(
            "all",
            null(),
            flag=required(boolean()),
            small=required(int32()),
            whole=required(int64()),
            single=required(float32()),
            number=required(float64()),
            text=required(string()),
            blob=required(binary()),
            texts=required(array(string())),
            numbers=required(array(int32())),
            item=required(ref("dev.made.Item")),
            items=required(array(ref("dev.made.Item"))),
        ),
        _function("tree", ref("dev.made.Tree"), tree=optional(ref("dev.made.Tree", nullable=True))),
        _function("content", ref("dev.made.Content"), content=required(ref("dev.made.Content"))),
        _function("both", array(ref("dev.made.Both")), both=optional(ref("dev.made.Both"))),
        _function("numbers", array(float64())),
        _function("count", int32()),
        _function("blob", binary()),
        _function("maybe", string(nullable=True), state=optional(string(enum=("A", "B")))),
    ),
)

Ask = Callable[[Sequence[tuple[str, dict[str, Any]]], dict[str, Any]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    folder = tmp_path_factory.mktemp("appfunctions")
    runner = compile_runner("AppFunctionRunner", NOTES, "appfunctions+v2", "NotesService", folder)

    def run(calls: Sequence[tuple[str, dict[str, Any]]], behaviour: dict[str, Any]) -> list[dict[str, Any]]:
        return runner(
            behaviour, [f"{as_line(ID + name)} {as_line(json.dumps(given))}" for name, given in calls]
        )

    return run


def document(schema_type: str = "", **properties: Any) -> dict[str, Any]:
    return {"type": schema_type, "properties": properties}


def texts(*values: str) -> dict[str, Any]:
    return {"text": list(values)}


ALL = document(
    flag={"flag": [True]},
    small={"long": [-5]},
    whole={"long": [9223372036854775807]},
    single={"double": [1.5]},
    number={"double": [0.1]},
    text=texts("x"),
    blob={"bytes": ["AP8="]},
    texts=texts("only"),
    numbers={"long": [1, 2]},
    item={"document": [document("dev.made.Item", text=texts("one"))]},
    items={"document": [document("dev.made.Item", text=texts("two"))]},
)


@pytest.mark.slow
def test_every_kind_reaches_the_author_typed(ask: Ask) -> None:
    (answer,) = ask([("all", ALL)], {"all": {}})
    assert answer["calls"] == [["all", [
        "Boolean true", "Integer -5", "Long 9223372036854775807", "Float 1.5", "Double 0.1", "String x",
        "byte[] [0, -1]", "ArrayList [only]", "ArrayList [1, 2]", 'JSONObject {"text":"one"}',
        'JSONArray [{"text":"two"}]',
    ]]]  # fmt: skip
    assert answer["result"] == document()


def _without(name: str) -> dict[str, Any]:
    return document(**{key: value for key, value in ALL["properties"].items() if key != name})


def _with(**changes: Any) -> dict[str, Any]:
    return document(**{**ALL["properties"], **changes})


def test_a_document_that_does_not_fit_is_an_invalid_argument(ask: Ask) -> None:
    item, two = document("dev.made.Item"), [document("dev.made.Item", text=texts("a"))] * 2
    wrong_texts: tuple[Any, ...] = (texts("a", "b"), texts(), {"long": [1]})
    wrong = {
        "text": [_without("text"), *(_with(text=value) for value in wrong_texts)],
        "small": [_with(small=value) for value in ({"long": [2147483648]}, {"double": [1.5]}, texts("1"))],
        "item": [_with(item=value) for value in ({"document": [item]}, texts("{}"), {"document": two})],
        "items": [_with(items={"document": [document("dev.made.Item", text={"flag": [True]})]})],
        "flag": [_with(flag=texts("true"))],
        "texts": [_with(texts={"long": [1]})],
    }
    calls = [("all", each) for documents in wrong.values() for each in documents]
    names = [name for name, documents in wrong.items() for _ in documents]
    for name, call, answer in zip(names, calls, ask(calls, {"all": {}}), strict=True):
        assert answer["error"].startswith(f"invalid_argument: {name}"), call
        assert answer["calls"] == []


@titled(("changes", "seen"), {
    "a whole number for a double, as the shell makes it": ({"number": {"long": [5]}}, {4: "Double 5.0"}),
    "a property that is not declared is ignored": ({"something": texts("x")}, {}),
    "an empty list": ({"texts": texts(), "items": {"document": []}}, {7: "ArrayList []", 10: "JSONArray []"}),
})  # fmt: skip
def test_a_document_may_differ(ask: Ask, changes: dict[str, Any], seen: dict[int, str]) -> None:
    (answer,) = ask([("all", _with(**changes))], {"all": {}})
    assert "error" not in answer
    assert {place: answer["calls"][0][1][place] for place in seen} == seen


def test_recursive_documents_are_parameters_and_results(ask: Ask) -> None:
    inner = document("dev.made.Tree", value={"long": [2]})
    tree = document("dev.made.Tree", value={"long": [1]}, children={"document": [inner, inner]})
    value = {"value": 1, "children": [{"value": 2}, {"value": 3, "children": []}]}
    calls = [("tree", document(tree={"document": [tree]})), ("tree", document())]
    answer, none = ask(calls, {"tree": {"returns": value}})
    seen = {"value": 1, "children": [{"value": 2}, {"value": 2}]}
    assert json.loads(answer["calls"][0][1][0].partition(" ")[2]) == seen
    assert none["calls"] == [["tree", ["null"]]]
    (returned,) = answer["result"]["properties"][RETURN]["GenericDocument"]
    assert returned["type"] == "dev.made.Tree"
    assert returned["properties"]["value"] == {"long": [1]}
    children = returned["properties"]["children"]["GenericDocument"]
    assert [child["properties"]["value"] for child in children] == [{"long": [2]}, {"long": [3]}]


def test_a_choice_is_reported_by_its_schema_type(ask: Ask) -> None:
    photo = document("dev.made.Photo", body={"bytes": ["AAEC"]}, size={"long": [3]})
    text = document("dev.made.Text", body=texts("hello"))
    calls = [("content", document(content={"document": [item]})) for item in (photo, text)]
    for answer in ask(calls, {"content": {"returns": {"body": "hello!"}}}):
        (returned,) = answer["result"]["properties"][RETURN]["GenericDocument"]
        assert returned["type"] == "dev.made.Text"
        assert returned["properties"]["body"] == {"String": ["hello!"]}
    first, second = (item["calls"][0][1][0] for item in ask(calls, {"content": {"returns": {"body": "x"}}}))
    assert json.loads(first.removeprefix("JSONObject ")) == {"body": "AAEC", "size": 3}
    assert second == 'JSONObject {"body":"hello"}'


def test_members_of_a_combination_make_one_document(ask: Ask) -> None:
    both = document("dev.made.Both", text=texts("t"), extra={"long": [7]})
    behaviour = {"both": {"returns": [{"text": "a", "extra": 1}]}}
    (answer,) = ask([("both", document(both={"document": [both]}))], behaviour)
    assert json.loads(answer["calls"][0][1][0].partition(" ")[2]) == {"text": "t", "extra": 7}
    (returned,) = answer["result"]["properties"][RETURN]["GenericDocument"]
    assert returned["type"] == "dev.made.Both"
    assert returned["properties"] == {"text": {"String": ["a"]}, "extra": {"long": [1]}}


@titled(("name", "returned", "kept"), {
    "numbers": ("numbers", [1, 2.5], {RETURN: {"double": [1, 2.5]}}),
    "no numbers": ("numbers", [], {RETURN: {"double": []}}),
    "an integer": ("count", 3, {RETURN: {"long": [3]}}),
    "bytes": ("blob", "AP8=", {RETURN: {"byte[]": ["AP8="]}}),
    "a text": ("maybe", "text", {RETURN: {"String": ["text"]}}), "null": ("maybe", None, {}),
})  # fmt: skip
def test_a_result_is_under_the_return_key_in_its_declared_kind_and_null_is_an_empty_document(
    ask: Ask, name: str, returned: Any, kept: dict[str, Any]
) -> None:
    (answer,) = ask([(name, document())], {name: {"returns": returned}})
    assert answer["result"]["properties"] == kept


def test_values_outside_of_an_enum_are_refused(ask: Ask) -> None:
    good, bad = ask([("maybe", document(state=texts(word))) for word in "AC"], {"maybe": {}})
    assert good["calls"] == [["maybe", ["String A"]]]
    assert bad["error"].startswith("invalid_argument: state")


def test_failures_carry_the_platforms_codes() -> None:
    _, code = handlers_for(NOTES, "appfunctions+v2")
    service = next(item.text for item in code.artifacts if item.path.endswith("NotesService.java"))
    # Reference appfunctions 5.1.
    codes = {"invalid_argument": 1001, "unknown_capability": 1003, "denied": 1000, "canceled": 2001}
    for token, number in codes.items():
        assert f'case "{token}":\n                return {number};' in service
    assert "extends android.app.appfunctions.AppFunctionService" in service


@pytest.mark.slow
def test_the_service_answers_each_call_once_with_what_the_author_filled_in(tmp_path: Path) -> None:
    echo, later = _function("echo", string(), text=required(string())), _function("later", string())
    notes = NOTES.model_copy(update={"capabilities": (echo, later)})
    _, code = handlers_for(notes, "appfunctions+v2")
    sources = write_sources(code, tmp_path)
    author = next(path for path in sources if path.name == "NotesServiceCapabilities.java")
    unavailable = r"throw new \S+\(\"unavailable\", \"\S+echo is [^;]+;"
    filled = re.sub(unavailable, 'return text + "!";', author.read_text())
    assert filled != author.read_text()
    author.write_text(filled)
    runner = add_runner("ServiceRunner", "dev.made.app", "NotesService", tmp_path)
    compile_java([*sources, runner, RUNNERS / "AppFunctionService.java"], tmp_path / "classes")
    calls = [("+", "echo text hello"), ("+", "echo other x"), ("+", "none text x"), ("+", "later text x")]
    calls.append(("-", "echo text x"))
    lines = [f"{sign} {ID}{call}" for sign, call in calls]
    outcomes = run_class("dev.made.app.ServiceRunner", tmp_path / "classes", lines)
    assert outcomes[0] == {"result": "hello!"}
    # The codes of reference appfunctions 5.1: invalid argument, function not found, system error, canceled.
    expected = ("1001 invalid_argument", "1003 unknown_capability", "2000 unavailable", "2001 canceled")
    assert [outcome["error"].partition(": ")[0] for outcome in outcomes[1:]] == list(expected)

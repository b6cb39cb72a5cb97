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

from adapters.handlers.jvm import RUNNERS, add_runner, as_line, compile_java, run_class, write_sources
from adapters.handlers.providers import handlers_for
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import Type
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

ID = "dev.made.app.Notes#"
RETURN = "androidAppfunctionsReturnValue"
ITEM = record({"text": required(string()), "done": optional(boolean())}, qualified_name="dev.made.Item")


def _function(name: str, output: Type, **parameters: Any) -> Capability:
    return Capability(id=ID + name, description=name, input=record(parameters), output=output)


NOTES = Provider(
    protocol="appfunctions",
    dialect="v2",
    package="dev.made.app",
    component=".NotesService",
    definitions={
        "dev.made.Item": ITEM,
        "dev.made.Tree": record(
            {"value": required(int32()), "children": optional(array(ref("dev.made.Tree")))},
            qualified_name="dev.made.Tree",
        ),
        "dev.made.Text": record({"body": required(string())}, qualified_name="dev.made.Text"),
        "dev.made.Photo": record(
            {"body": required(binary()), "size": required(int64())}, qualified_name="dev.made.Photo"
        ),
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
    _, code = handlers_for(NOTES, "appfunctions+v2")
    sources = write_sources(code, folder)
    runners = [
        add_runner(name, "dev.made.app", "NotesService", folder) for name in ("Author", "AppFunctionRunner")
    ]
    compile_java([*sources, *runners], folder / "classes")

    def run(calls: Sequence[tuple[str, dict[str, Any]]], behaviour: dict[str, Any]) -> list[dict[str, Any]]:
        lines = [f"{as_line(ID + name)} {as_line(json.dumps(document))}" for name, document in calls]
        return run_class(
            "dev.made.app.AppFunctionRunner", folder / "classes", [as_line(json.dumps(behaviour)), *lines]
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
    wrong = {
        "text": [
            _without("text"),
            _with(text=texts("a", "b")),
            _with(text=texts()),
            _with(text={"long": [1]}),
        ],
        "small": [
            _with(small={"long": [2147483648]}),
            _with(small={"double": [1.5]}),
            _with(small=texts("1")),
        ],
        "item": [
            _with(item={"document": [document("dev.made.Item")]}),
            _with(item=texts("{}")),
            _with(item={"document": [document("dev.made.Item", text=texts("a"))] * 2}),
        ],
        "items": [_with(items={"document": [document("dev.made.Item", text={"flag": [True]})]})],
        "flag": [_with(flag=texts("true"))],
        "texts": [_with(texts={"long": [1]})],
    }
    calls = [("all", each) for documents in wrong.values() for each in documents]
    names = [name for name, documents in wrong.items() for _ in documents]
    for name, call, answer in zip(names, calls, ask(calls, {"all": {}}), strict=True):
        assert answer["error"].startswith(f"invalid_argument: {name}"), call
        assert answer["calls"] == []


def test_what_the_shell_makes_of_a_whole_number_is_taken_where_a_double_is_declared(ask: Ask) -> None:
    (answer,) = ask([("all", _with(number={"long": [5]}))], {"all": {}})
    assert answer["calls"][0][1][4] == "Double 5.0"


def test_a_property_that_nobody_declared_is_ignored(ask: Ask) -> None:
    (answer,) = ask([("all", _with(something=texts("x")))], {"all": {}})
    assert "error" not in answer


def test_an_empty_list_is_a_list(ask: Ask) -> None:
    (answer,) = ask([("all", _with(texts=texts(), items={"document": []}))], {"all": {}})
    assert answer["calls"][0][1][7] == "ArrayList []"
    assert answer["calls"][0][1][10] == "JSONArray []"


def test_recursive_documents_go_in_and_out(ask: Ask) -> None:
    inner = document("dev.made.Tree", value={"long": [2]})
    tree = document("dev.made.Tree", value={"long": [1]}, children={"document": [inner, inner]})
    value = {"value": 1, "children": [{"value": 2}, {"value": 3, "children": []}]}
    answer, none = ask(
        [("tree", document(tree={"document": [tree]})), ("tree", document())], {"tree": {"returns": value}}
    )
    assert json.loads(answer["calls"][0][1][0].partition(" ")[2]) == {
        "value": 1,
        "children": [{"value": 2}, {"value": 2}],
    }
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
    (answer,) = ask(
        [("both", document(both={"document": [both]}))], {"both": {"returns": [{"text": "a", "extra": 1}]}}
    )
    assert json.loads(answer["calls"][0][1][0].partition(" ")[2]) == {"text": "t", "extra": 7}
    (returned,) = answer["result"]["properties"][RETURN]["GenericDocument"]
    assert returned == {
        "type": "dev.made.Both",
        "properties": {"text": {"String": ["a"]}, "extra": {"long": [1]}},
    }


@pytest.mark.parametrize(
    ("name", "returned", "kept"),
    [
        ("numbers", [1, 2.5], {"double": [1, 2.5]}),
        ("numbers", [], {"double": []}),
        ("count", 3, {"long": [3]}),
        ("blob", "AP8=", {"byte[]": ["AP8="]}),
        ("maybe", "text", {"String": ["text"]}),
    ],
)
def test_a_result_is_under_the_return_key_in_its_declared_kind(
    ask: Ask, name: str, returned: Any, kept: dict[str, Any]
) -> None:
    (answer,) = ask([(name, document())], {name: {"returns": returned}})
    assert answer["result"]["properties"] == {RETURN: kept}


def test_null_is_an_empty_document(ask: Ask) -> None:
    (answer,) = ask([("maybe", document())], {"maybe": {"returns": None}})
    assert answer["result"]["properties"] == {}


def test_an_enum_is_kept_to(ask: Ask) -> None:
    good, bad = ask(
        [("maybe", document(state=texts("A"))), ("maybe", document(state=texts("C")))], {"maybe": {}}
    )
    assert good["calls"] == [["maybe", ["String A"]]]
    assert bad["error"].startswith("invalid_argument: state")


def test_failures_carry_the_platforms_codes() -> None:
    _, code = handlers_for(NOTES, "appfunctions+v2")
    service = next(
        artifact.text for artifact in code.artifacts if artifact.path.endswith("NotesService.java")
    )
    # Reference appfunctions 5.1.
    for token, number in {
        "invalid_argument": 1001,
        "unknown_capability": 1003,
        "denied": 1000,
        "canceled": 2001,
    }.items():
        assert f'case "{token}":\n                return {number};' in service
    assert "extends android.app.appfunctions.AppFunctionService" in service


@pytest.mark.slow
def test_the_service_answers_each_call_once_with_what_the_author_filled_in(tmp_path: Path) -> None:
    notes = NOTES.model_copy(
        update={
            "capabilities": (
                _function("echo", string(), text=required(string())),
                _function("later", string()),
            )
        }
    )
    _, code = handlers_for(notes, "appfunctions+v2")
    sources = write_sources(code, tmp_path)
    author = next(path for path in sources if path.name == "NotesServiceCapabilities.java")
    filled = re.sub(
        r"throw new \S+\(\"unavailable\", \"\S+echo is [^;]+;", 'return text + "!";', author.read_text()
    )
    assert filled != author.read_text()
    author.write_text(filled)
    runner = add_runner("ServiceRunner", "dev.made.app", "NotesService", tmp_path)
    compile_java([*sources, runner, RUNNERS / "AppFunctionService.java"], tmp_path / "classes")
    calls = [
        f"+ {ID}echo text hello",
        f"+ {ID}echo other x",
        f"+ {ID}none text x",
        f"+ {ID}later text x",
        f"- {ID}echo text x",
    ]
    outcomes = run_class("dev.made.app.ServiceRunner", tmp_path / "classes", calls)
    assert outcomes[0] == {"result": "hello!"}
    # The codes of reference appfunctions 5.1: invalid argument, function not found, system error, canceled.
    expected = [
        "1001 invalid_argument: ",
        "1003 unknown_capability: ",
        "2000 unavailable: ",
        "2001 canceled: ",
    ]
    for outcome, start in zip(outcomes[1:], expected, strict=True):
        assert outcome["error"].startswith(start)

"""Answers of `cmd app_function list-app-functions`: saved (reference appfunctions 6.5)."""

import json
from typing import Any

import pytest

from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import Reading, SourceFile, detect_format
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.types import ArrayType, RefType
from model_types import properties_of
from requirements_of_tests import require
from titled_rows import titled

PACKAGE = "com.example.notes"
STATIC = f"AppFunctionStaticMetadata-{PACKAGE}"
RUNTIME = f"AppFunctionRuntimeMetadata-{PACKAGE}"
COMPONENTS = f"AppFunctionComponentMetadataDocument-{PACKAGE}"
NOTE = {"dataTypeReference": ["a.Note"], "type": [11], "isNullable": [False]}
FUNCTION: dict[str, Any] = {
    "functionId": ["a.Notes#list"],
    "description": ["Lists the notes"],
    "enabledByDefault": [True],
    "serviceName": ["a.NotesService"],
    "scope": ["global"],
    "packageName": [PACKAGE],
    "packageNameHash": [7],
    "mobileApplicationQualifiedId": [f"android$apps-db/apps#{PACKAGE}"],
    "parameters": [
        {"name": ["text"], "isRequired": [True], "dataTypeMetadata": [{"type": [8], "isNullable": [False]}]}
    ],
    "response": [{"valueType": [{"type": [10], "itemType": [NOTE], "isNullable": [False]}]}],
}
TITLE = {"name": ["title"], "dataTypeMetadata": [{"type": [8]}]}
NOTE_TYPE = {"type": [3], "properties": [TITLE], "required": ["title"]}
DATA_TYPES: dict[str, Any] = {"dataTypes": [{"name": ["a.Note"], "dataTypeMetadata": [NOTE_TYPE]}]}
OF_A_LIST = {
    "functionId": ["create_note"],
    "description": ["Creates a note"],
    "enabledByDefault": [True],
    "packageName": [PACKAGE],
    "paramNames": ["title", "priority"],
    "paramTypes": ["string", "int"],
    "paramRequired": [True, False],
}
OF_VERSION_1 = {"functionId": ["a.Notes#old"], "schemaName": ["createNote"], "schemaVersion": [1]}


def element(document: dict[str, Any], *, enabled: object = None) -> dict[str, Any]:
    runtime = {} if enabled is None else {RUNTIME: {RUNTIME: {"enabled": [enabled]}}}
    return {STATIC: document, **runtime}


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in FUNCTION.items() if key != name}


def listing(*elements: dict[str, Any]) -> str:
    return json.dumps({PACKAGE: list(elements)})


def read(text: str, *, strict: bool = True) -> Reading:
    return FORMAT.read_file(SourceFile("functions.json", text.encode()), ReadingContext(strict=strict))


def detected(printed: str) -> SourceFile:
    """Return a saved answer, which is one of this format whatever its name is."""
    saved = SourceFile("saved.txt", printed.encode())
    assert detect_format(saved) is FORMAT
    return saved


def test_functions_have_their_signature_their_data_types_and_their_state() -> None:
    reading = read(listing(element(FUNCTION, enabled=False), {COMPONENTS: DATA_TYPES}))
    (provider,) = reading.providers
    assert provider.source is not None
    assert (provider.package, provider.component) == (PACKAGE, "a.NotesService")
    assert provider.source.path == "functions.json"
    (function,) = provider.capabilities
    assert (function.id, function.description) == ("a.Notes#list", "Lists the notes")
    assert function.state is not None
    assert function.state.enabled is False
    assert properties_of(function.input)["text"].required
    assert function.output == ArrayType(items=RefType(name="a.Note"))
    assert list(properties_of(provider.definitions["a.Note"])) == ["title"]
    assert (reading.findings, reading.problems) == ((), ())


def test_each_service_and_the_application_have_a_provider() -> None:
    facts = {"functionId": ["a.App#open"], "serviceName": ["@null"], "scope": ["activity"]}
    of_app = {**FUNCTION, **facts, "enabledByDefault": [False]}
    service, application = read(listing(element(FUNCTION), element(of_app))).providers
    assert (service.component, service.capabilities[0].id) == ("a.NotesService", "a.Notes#list")
    assert (application.component, application.capabilities[0].id) == (None, "a.App#open")
    assert application.capabilities[0].access.scope == "activity"


def test_notices_of_the_shell_are_no_part_of_the_listing() -> None:
    text = "Invalid user ID: x. Using current user.\r\n" + listing(element(FUNCTION))
    assert len(read(detected(text).data.decode()).providers) == 1


def test_a_signature_that_cannot_be_read_is_a_problem_and_the_function_stays() -> None:
    broken = {**FUNCTION, "parameters": [{"name": ["x"], "dataTypeMetadata": [{"type": ["blue"]}]}]}
    reading = read(listing(element(broken)))
    assert [capability.id for capability in reading.providers[0].capabilities] == ["a.Notes#list"]
    (problem,) = reading.problems
    assert "the signature of 'a.Notes#list' cannot be read" in problem.message


def test_documents_of_another_kind_are_reported() -> None:
    other = {f"Weather-{PACKAGE}": {"x": ["y"]}}
    (finding,) = read(listing(element(FUNCTION), other)).findings
    assert finding.code == "listed-document-left-out"
    assert "Weather" in finding.message


DEEP = '{"a": [' * 40 + "]}" * 40


@titled(("listed", "message"), {
    "a function has no id": (f'[{{"{STATIC}": {{"functionId": []}}}}]', "a function has no id"),
    "a bare value": (f'[{{"{STATIC}": {{"description": "x"}}}}]', "a value is not an array (description)"),
    "two documents in one, of a name that turns the writing direction": (
        f'[{{"a\u202e-{PACKAGE}": {{}}, "b-{PACKAGE}": {{}}}}]', r"is not one document (a\u202e-"),
    "an object": (f'{{"{STATIC}": {{}}}}', "the value of a package is not an array"),
    "a data type that is nested deeper than is read": (f'[{{"{COMPONENTS}": {DEEP}}}]', "nested"),
    "a property twice": (f'[{{"{STATIC}": {{"functionId": ["a"], "functionId": ["b"]}}}}]', "duplicate"),
})  # fmt: skip
def test_a_fault_in_what_is_listed_of_an_app_costs_that_app_alone(listed: str, message: str) -> None:
    other = listing(element(FUNCTION)).replace(PACKAGE, "org.other")
    reading = read(f'{{"{PACKAGE}": {listed}, {other[1:]}')
    assert [(item.package, len(item.capabilities)) for item in reading.providers] == [("org.other", 1)]
    (problem,) = reading.problems
    assert problem.message.startswith(f"the listing of {PACKAGE} is not read to its end: ")
    assert message in problem.message


@titled("text", {
    "the JSON is cut off": listing(element(FUNCTION))[:-2],
    "an array": f'[{{"{STATIC}": {DEEP}}}]',
})  # fmt: skip
def test_what_is_not_a_listing_is_an_error_with_a_place(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert caught.value.place is not None


@titled(("documents", "dialect"), {
    "a function with its parameters is of version 2": ([FUNCTION], "v2"),
    "a function without a service is of the app":
        ([{**FUNCTION, "serviceName": ["@null"], "enabledByDefault": [False]}], "app-level"),
    "parallel lists are the platform's": ([OF_A_LIST, {"functionId": ["ping"]}], "platform"),
    "a schema of version 1 is of version 1": ([OF_VERSION_1], "v1"),
    "one function of version 2 makes it version 2": ([OF_VERSION_1, without("serviceName")], "v2"),
})  # fmt: skip
def test_the_dialect_is_that_of_the_properties_that_are_listed(
    documents: list[dict[str, Any]], dialect: str
) -> None:
    (provider,) = read(listing(*map(element, documents)), strict=False).providers
    assert provider.dialect == dialect


def test_a_service_that_the_listing_does_not_name_is_a_finding() -> None:
    (finding,) = read(listing(element(OF_A_LIST))).findings
    assert (finding.code, finding.hint) == ("listed-service-unknown", "read the app's APK to know")


def test_functions_without_a_signature_are_a_finding() -> None:
    codes = [finding.code for finding in read(listing(element(OF_VERSION_1))).findings]
    assert codes == ["listed-service-unknown", "listed-signature-unknown"]


def test_properties_that_are_not_known_are_kept_and_reported() -> None:
    reading = read(listing(element({**FUNCTION, "mood": ["merry"], "odd-name": [1]})))
    assert [(finding.code, finding.message) for finding in reading.findings] == [
        ("listed-property-left-out", "the property 'odd-name' is left out"),
        ("listed-property-kept", "mood of the function a.Notes#list is kept as written"),
    ]
    extensions = reading.providers[0].capabilities[0].extensions
    assert extensions["appfunctions"]["elements"] == [["mood", "merry"]]


def test_data_types_that_no_function_refers_to_are_kept() -> None:
    reading = read(listing(element(without("response")), {COMPONENTS: DATA_TYPES}), strict=False)
    assert list(reading.providers[0].definitions) == ["a.Note"]


def test_data_types_of_an_app_without_functions_are_reported() -> None:
    other = {COMPONENTS.replace(PACKAGE, "b.c"): DATA_TYPES}
    text = json.dumps({PACKAGE: [element(FUNCTION)], "b.c": [other]})
    assert [finding.message for finding in read(text).findings] == [
        "documents of the type AppFunctionComponentMetadataDocument of b.c are left out"
    ]


@pytest.mark.parametrize(
    "printed", ["No shell command implementation.\n", "cmd: Can't find service: app_function\n"]
)
def test_what_a_phone_prints_in_place_of_a_listing_is_an_error_with_a_hint(printed: str) -> None:
    with pytest.raises(InputError) as caught:
        FORMAT.read_file(detected(printed), ReadingContext())
    assert printed.strip() in caught.value.message
    assert "APK" in (caught.value.hint or "")


@pytest.mark.requires("corpus")
def test_a_listing_of_a_published_article_is_read() -> None:
    folder = require("corpus") / "appfunctions"
    (path,) = folder.glob("public__article__cmd_list-app-functions_*.json")
    text = path.read_text(encoding="utf-8")
    (provider,) = FORMAT.read_file(detected(text), ReadingContext()).providers
    assert [provider.package] == list(json.loads(text))
    assert [capability.id.rpartition("#")[2] for capability in provider.capabilities] == ["getAllTodos"]


def test_linting_a_saved_listing_finds_nothing() -> None:
    assert FORMAT.lint_file is not None
    assert FORMAT.lint_file(detected(listing(element(FUNCTION)))) == ()

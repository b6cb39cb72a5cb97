"""The shell's answers, typed from the texts that reference appfunctions 5.3 and 6.2 list."""

import pytest
from hypothesis import given, strategies as st

from droidgate_appfunctions.shell_calls import ShellOutcome, read_shell_output
from droidgate_appfunctions.wire import RETURN_KEY
from droidgate_mappings.tables.failure_tokens import load_failure_tokens

FAILED = "Error executing app function: android.app.appfunctions.AppFunctionException: "
SEE = ". See logcat for more details. "
NOT_FOUND = ("unknown_capability", 1003)


def test_a_json_object_is_the_response() -> None:
    outcome = read_shell_output('{\n  "androidAppfunctionsReturnValue": [\n    "a\\/b"\n  ]\n}\n', 0)
    assert outcome == ShellOutcome(document={RETURN_KEY: ["a/b"]})
    assert not outcome.failed


def test_a_result_that_speaks_of_errors_is_still_a_result() -> None:
    text = f'{{"{RETURN_KEY}": ["Error executing app function: 1001 - no"], "error": ["Timed out"]}}'
    assert read_shell_output(text, 0).document is not None


@pytest.mark.parametrize(
    "notice",
    ["Invalid user ID: x. Using current user.", "Invalid timeout duration: x. Using default of 30s."],
)
def test_notices_before_the_response_change_nothing(notice: str) -> None:
    assert read_shell_output(f"{notice}\n{{}}\n", 0) == ShellOutcome(document={})


def test_notices_after_the_response_change_nothing() -> None:
    text = "{}\nNo PendingIntent found at extras key: property/androidAppfunctionsReturnValue\n"
    assert read_shell_output(text, 0) == ShellOutcome(document={})


def test_a_list_of_documents_is_the_list_of_returned_documents() -> None:
    assert read_shell_output('[{"a": ["b"]}]', 0).document == {RETURN_KEY: [{"a": ["b"]}]}


@pytest.mark.parametrize(
    ("text", "status", "token", "code"),
    [
        ("cmd: Can't find service: app_function", 20, "unavailable", None),
        ("No shell command implementation.", 255, "unavailable", None),
        ("Unknown command: execute-app-function", 255, "unavailable", None),
        ("Exception: java.lang.IllegalAccessError: Only allow shell or root", 255, "denied", None),
        ("Unknown option: --x", 255, "invalid_argument", None),
        ("Error: --package must be specified.", 255, "invalid_argument", None),
        ("Exception: org.json.JSONException: Unterminated object", 255, "invalid_argument", None),
        ("Failed to convert the function response to JSON.", 255, "malformed_response", None),
        ("Timed out", 255, "timeout", None),
        ("{}\nTimed out", 255, "timeout", None),
        ("Error executing app function: 1000 - a.b.AppFunctionException: no", 0, "denied", 1000),
        ("Error executing app function: 3500 - a.b.AppFunctionException: no", 255, "needs_user", 3500),
        ("Error executing app function: 4711 - a.b.AppFunctionException: no", 255, "backend_failure", 4711),
        (f"{FAILED}The app function is disabled{SEE}", 255, "disabled", 1002),
        (f"{FAILED}App function not found with identifier: a#b under package: c{SEE}", 255, *NOT_FOUND),
        (f"{FAILED}Function is not registered for the given AppFunctionActivityId.{SEE}", 255, *NOT_FOUND),
        ("Exception: java.lang.SecurityException: no", 255, "denied", None),
        ("Error executing app function: some.Exception: odd. See logcat", 255, "backend_failure", None),
        ("Something else", 255, "backend_failure", None),
        ("Something else", 0, "malformed_response", None),
        ("", 0, "malformed_response", None),
        ("", 255, "malformed_response", None),
        ('{"a": [1}', 0, "malformed_response", None),
        (
            'App function executed successfully.\nFunction return:\nnamespace: ""',
            0,
            "malformed_response",
            None,
        ),
    ],
)
def test_a_failure_gets_its_token(text: str, status: int, token: str, code: int | None) -> None:
    outcome = read_shell_output(text, status)
    assert (outcome.failed, outcome.token, outcome.code) == (True, token, code)
    assert outcome.message


@given(st.text(), st.integers(-1, 255))
def test_any_output_is_a_response_or_a_failure(text: str, status: int) -> None:
    outcome = read_shell_output(text, status)
    assert outcome.failed == (outcome.token in load_failure_tokens())


@given(st.recursive(st.none() | st.integers(), st.lists).map(str))
def test_lists_that_are_no_documents_are_read_or_refused(text: str) -> None:
    outcome = read_shell_output(text, 0)
    assert outcome.failed or outcome.document is not None

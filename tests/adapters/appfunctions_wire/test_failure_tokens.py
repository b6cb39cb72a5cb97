"""The table of failure tokens and AppFunctions' codes, which are typed from reference appfunctions 5.1."""

import pytest

from droidgate_mappings.tables.app_functions import load_error_codes
from droidgate_mappings.tables.failure_tokens import (
    load_failure_tokens,
    read_failure,
    token_of_code,
    write_failure,
)

TOKENS_OF_THE_DESIGN = (
    "unsupported_version unknown_capability invalid_argument denied needs_approval needs_user disabled "
    "unavailable timeout busy canceled interrupted backend_failure malformed_response"
)


def test_the_table_has_the_tokens_of_the_design_and_no_others() -> None:
    assert list(load_failure_tokens()) == TOKENS_OF_THE_DESIGN.split()


@pytest.mark.parametrize(
    ("code", "token"),
    [
        (1000, "denied"),
        (1001, "invalid_argument"),
        (1002, "disabled"),
        (1003, "unknown_capability"),
        (1500, "invalid_argument"),
        (1999, "invalid_argument"),
        (2000, "backend_failure"),
        (2001, "canceled"),
        (2002, "denied"),
        (2500, "backend_failure"),
        (3000, "backend_failure"),
        (3500, "needs_user"),
        (3501, "backend_failure"),
        (3999, "backend_failure"),
        (0, "backend_failure"),
        (999, "backend_failure"),
        (4000, "backend_failure"),
        (-1, "backend_failure"),
    ],
)
def test_a_code_is_read_as_its_token_or_its_categorys(code: int, token: str) -> None:
    assert token_of_code(code) == token


def test_every_token_has_a_known_code_and_an_exit_code_of_the_design() -> None:
    for failure_token in load_failure_tokens().values():
        assert failure_token.app_functions.write in load_error_codes()
        assert failure_token.exit_code in {5, 6}


def test_every_known_code_has_its_constant() -> None:
    numbers = {1000, 1001, 1002, 1003, 1500, 1501, 1502, 2000, 2001, 2002, 3000, 3500, 3501}
    assert set(load_error_codes()) == numbers


@pytest.mark.parametrize(
    ("message", "read"),
    [
        ("denied: the user said no", ("denied", "the user said no")),
        ("denied", ("denied", "")),
        ("  timeout : late", ("timeout", "late")),
        ("deniedly: no", (None, "deniedly: no")),
        ("a denied: no", (None, "a denied: no")),
        ("", (None, "")),
    ],
)
def test_a_message_is_split_at_its_token(message: str, read: tuple[str | None, str]) -> None:
    assert read_failure(message) == read


def test_a_message_is_written_with_its_token() -> None:
    assert write_failure("busy", "two calls: a, b") == "busy: two calls: a, b"
    assert read_failure(write_failure("busy", "two calls: a, b")) == ("busy", "two calls: a, b")
    with pytest.raises(KeyError):
        write_failure("odd", "x")


@pytest.mark.parametrize("code", [1, 2, 3, 4])
def test_the_numbers_of_the_article_are_codes_of_no_category(code: int) -> None:
    assert token_of_code(code) == "backend_failure"

"""No regular expression over foreign text takes more than time in proportion to the text."""

import functools
import re
import threading
from collections.abc import Callable
from typing import Final

import pytest

from droidgate.migration.access_notes import _may_be
from droidgate_mappings.tables.app_functions import load_shell_texts
from hostile.texts.regular_expressions import Expression, deep_recursion, survey, worst_growth

MOST_GROWTH: Final = 8
"""Four times the text takes about four times the work; sixteen times would be quadratic."""

BOUNDED: Final = {
    "gateway/droidgate/devices/listing.py": "_LINE: a line has at most 1,024 characters",
    "adapters/droidgate_android/projects/gradle_statements.py": "_LAST_WORD: headers have 256 characters",
}
BOUNDED_PATTERNS: Final = ("(?P<serial>", "[\\\"'`]?(\\w[\\w-]*)[\\\"'`]?")

COMPUTED: Final = {
    "adapters/droidgate_android/apk/resource_qualifiers.py": "numbers of bounded length in a folder's name",
    "adapters/droidgate_android/app_search/listing.py": "shell texts, tested below",
    "adapters/droidgate_appfunctions/printed_listing.py": "shell texts, tested below",
    "mappings/droidgate_mappings/model/names.py": "one class of characters each",
    "mappings/droidgate_mappings/text/configured_flags.py": "fixed patterns without repetition over names",
    "mappings/droidgate_mappings/text_safety/hidden.py": "one class of characters",
    "adapters/droidgate_appfunctions/shell_output.py": "shell texts, tested below",
    "mappings/droidgate_mappings/tables/app_functions/__init__.py": "shell texts, tested below",
    # The virtual phone runs what its own user types: the search of the sample apps.
    "device_shim/droidgate_phone/apps/pdf_tools.py": "an escaped text",
    "device_shim/droidgate_phone/apps/schema_check.py": "the sample app's own schema",
    "device_shim/droidgate_phone/system/intent_matching.py": "globs of intent filters",
}

_PARTS: Final = 16

_survey = functools.cache(survey)


def _with_room(work: Callable[[], object]) -> None:
    """Run something in a thread with a stack for deep recursion, and raise what it raises."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            with deep_recursion():
                work()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the test sees it
            raised.append(error)

    former = threading.stack_size(256 * 1024 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(former)
    if raised:
        raise raised[0]


def _check(expressions: list[Expression]) -> None:
    for expression in expressions:
        growth, method, text = worst_growth(expression)
        assert growth <= MOST_GROWTH, f"{expression.place}: {method} of {expression.pattern!r} on {text}"


def _is_bounded(item: Expression) -> bool:
    return item.place.rpartition(":")[0] in BOUNDED and item.pattern.startswith(BOUNDED_PATTERNS)


@pytest.mark.slow
def test_the_survey_finds_the_expressions() -> None:
    assert len(_survey().expressions) > 200
    assert {item.partition(": ")[0] for item in _survey().computed} == set(COMPUTED)
    assert sum(map(_is_bounded, _survey().expressions)) == len(BOUNDED)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(_PARTS))
def test_work_grows_with_the_text(part: int) -> None:
    listed = _survey().expressions[part::_PARTS]
    _with_room(lambda: _check([item for item in listed if not _is_bounded(item)]))


@pytest.mark.slow
def test_work_of_shell_texts_grows_with_the_text() -> None:
    texts = load_shell_texts()
    patterns = [*texts.notices, *(item.pattern for item in texts.failures)]
    methods = frozenset({"search"})
    _with_room(lambda: _check([Expression("mappings", item, re.MULTILINE, methods) for item in patterns]))


@pytest.mark.slow
def test_the_counter_sees_quadratic_and_exponential_work() -> None:
    def check(pattern: str) -> float:
        return worst_growth(Expression("here", pattern, 0, frozenset({"search"})))[0]

    def run() -> None:
        assert check(r"<\s*/?\s*system>") > MOST_GROWTH
        assert check(r"\s+$") > MOST_GROWTH
        assert check(r"<!--.*?-->") > MOST_GROWTH
        assert check(r"(a+)+b") > MOST_GROWTH
        assert check(r"[a-z]+") <= MOST_GROWTH

    _with_room(run)


@pytest.mark.parametrize(
    ("declared", "permission", "expected"),
    [
        ("a.b", "a.b", True),
        ("a.b", "a.c", False),
        ("${applicationId}.READ", "com.example.READ", True),
        ("${applicationId}.READ", ".READ", False),
        ("a${x}b${y}c", "a1b2c", True),
        ("a${x}b${y}c", "abbc", False),
        ("a${x}b${y}c", "abbbc", True),
        ("${a${b}.c", "${ad.c", True),
    ],
)
def test_declared_permissions_with_placeholders(declared: str, permission: str, *, expected: bool) -> None:
    assert _may_be(declared, permission) is expected


def test_many_placeholders_take_no_time() -> None:
    assert not _may_be("${a}a" * 10_000 + "b", "a" * 20_000)

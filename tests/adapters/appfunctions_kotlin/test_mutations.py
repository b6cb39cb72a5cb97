"""A change of a Kotlin input changes what is read exactly where the source changed, and never silently."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from adapters.appfunctions_kotlin.kotlin_pairs import Node, canonical, companions, read, rows, source, written
from droidgate_mappings.formats.format import Reading, SourceFile
from requirements_of_tests import require

pytestmark = pytest.mark.requires("corpus")

INPUTS: Final = 40
_OTHER_TYPE: Final = {
    "Int": "Long", "Long": "Int", "Float": "Double", "Double": "Float", "Boolean": "Long",
    "String": "Boolean", "IntArray": "LongArray", "LongArray": "IntArray",
}  # fmt: skip
_VALUE: Final = re.compile(
    r"(?<!\*)\b(\w+)(: ?)(Int|Long|Float|Double|Boolean|String|IntArray|LongArray)(\??)(?=[,)\n ])"
)
_FUNCTION: Final = re.compile(r'@AppFunction\w*(?:\([^)]*\))?\s+(?:[\w@(" .)]+?\s)?fun (\w+)\(')
_CONSTRAINED: Final = re.compile(r"Constraint\([^)]*\)\s*(?:val )?$")


def _inputs(number: int) -> tuple[str, list[SourceFile]]:
    corpus: Path = require("corpus")
    row = list(rows(corpus, "output"))[number]
    return row.name, [source(corpus, file) for file in (row.file, *companions(corpus, row))]


def _lines(node: Node) -> Iterator[str]:
    tag, text, children = node
    yield f"{tag}={text}"
    for child in children:
        yield from _lines(child)


def _text(reading: Reading) -> Counter[str]:
    """Return the lines of what is written for a reading, without their order."""
    return Counter(
        line
        for provider in reading.providers
        for line in _lines(canonical(written(provider, provider.dialect or "")))
    )


def _changed_tags(before: Reading, after: Reading) -> set[str]:
    """Return the tags of lines that only one of two readings has."""
    first, second = _text(before), _text(after)
    return {line.partition("=")[0] for line in (first - second) + (second - first)}


def _with(files: list[SourceFile], text: str) -> list[SourceFile]:
    return [SourceFile(files[0].path, text.encode()), *files[1:]]


def _signature_parts(text: str) -> Iterator[re.Match[str]]:
    """Yield the values that declarations name, without those inside bodies, comments and annotations."""
    depth = 0
    starts: list[int] = []
    for found in re.finditer(r"/\*[\s\S]*?\*/|//[^\n]*|[{}]|" + _VALUE.pattern, text):
        starts.append(found.start())
        if found[0] in "{}":
            depth += 1 if found[0] == "{" else -1
        elif found.lastindex and depth <= 1:
            value = _VALUE.match(text, found.start())
            if value is not None:
                yield value


def test_the_mutations_reach_the_values_and_functions_of_the_inputs() -> None:
    texts = [_inputs(number)[1][0].data.decode() for number in range(INPUTS)]
    assert sum(len(list(_signature_parts(text))) for text in texts) >= 60
    assert sum(len(_FUNCTION.findall(text)) for text in texts) >= 100


@pytest.mark.parametrize("number", range(INPUTS))
def test_comments_line_ends_and_the_order_of_files_change_nothing(number: int) -> None:
    _, files = _inputs(number)
    before = read(files)
    text = files[0].data.decode()
    commented = re.sub(r"(?m)^([ \t]*)(@AppFunction(?:Declaration)?\b)", r"\1/* { ( */ // }\n\1\2", text)
    ended = re.sub(r"(?m)^(import [\w.]+|package [\w.]+)$", r"\1 // class X {", commented)
    for changed in (text.replace("\n", "\r\n"), commented, ended, f"// package other\n{text}"):
        after = read(_with(files, changed))
        assert not after.problems
        assert [provider.content_digest() for provider in after.providers] == [
            provider.content_digest() for provider in before.providers
        ]
    assert _text(read(list(reversed(files)))) == _text(before)


@pytest.mark.parametrize("number", range(INPUTS))
def test_another_type_changes_the_number_of_the_type_or_is_refused(number: int) -> None:
    _, files = _inputs(number)
    text = files[0].data.decode()
    before = read(files)
    for value in _signature_parts(text):
        other = f"{value[1]}{value[2]}{_OTHER_TYPE[value[3]]}{value[4]}"
        after = read(_with(files, text[: value.start()] + other + text[value.end() :]))
        if after.problems or after.findings:
            continue
        expected = {"type"}
        if _CONSTRAINED.search(text[: value.start()]):
            expected |= {"enumValues", "pattern", "format"}
        assert "type" in _changed_tags(before, after) <= expected, value[0]


@pytest.mark.parametrize("number", range(INPUTS))
def test_a_question_mark_changes_whether_a_value_may_be_null(number: int) -> None:
    _, files = _inputs(number)
    text = files[0].data.decode()
    before = read(files)
    for value in _signature_parts(text):
        if re.match(r"\s*=", text[value.end() :]):
            continue
        other = f"{value[1]}{value[2]}{value[3]}{'' if value[4] else '?'}"
        after = read(_with(files, text[: value.start()] + other + text[value.end() :]))
        assert not after.problems
        assert _changed_tags(before, after) == {"isNullable"}, value[0]


@pytest.mark.parametrize("number", range(INPUTS))
def test_another_name_changes_the_name_and_the_texts_that_belong_to_it(number: int) -> None:
    _, files = _inputs(number)
    text = files[0].data.decode()
    before = read(files)
    for value in _signature_parts(text):
        after = read(_with(files, f"{text[: value.start()]}renamed{text[value.end(1) :]}"))
        if after.problems:
            continue
        tags = _changed_tags(before, after)
        assert "name" in tags <= {"name", "required", "description"}, value[0]


@pytest.mark.parametrize("number", range(INPUTS))
def test_a_default_value_makes_a_nullable_value_optional(number: int) -> None:
    _, files = _inputs(number)
    text = files[0].data.decode()
    before = read(files)
    for value in _signature_parts(text):
        if not value[4] or re.match(r"\s*=", text[value.end() :]):
            continue
        after = read(_with(files, f"{text[: value.end()]} = null{text[value.end() :]}"))
        assert not after.problems
        # A function that overrides one with a default value has it already.
        assert _changed_tags(before, after) <= {"isRequired", "required"}, value[0]


@pytest.mark.parametrize("number", range(INPUTS))
def test_another_function_name_changes_its_id_or_its_schema(number: int) -> None:
    _, files = _inputs(number)
    text = files[0].data.decode()
    before = read(files)
    for found in _FUNCTION.finditer(text):
        after = read(_with(files, f"{text[: found.start(1)]}renamed{text[found.end(1) :]}"))
        assert not after.problems
        tags = _changed_tags(before, after)
        assert {"id", "functionId"} <= tags
        overrides = "override" in found[0]
        inherited = {"schemaCategory", "schemaName", "schemaVersion", "isRequired", "parameters"}
        assert tags <= {"id", "functionId", *(inherited if overrides else ())}


@pytest.mark.parametrize("number", range(INPUTS))
def test_a_class_around_the_classes_changes_names_only(number: int) -> None:
    name, files = _inputs(number)
    if name.startswith(("entrypoints", "temoki")):
        return
    text = files[0].data.decode()
    last = max(found.end() for found in re.finditer(r"(?m)^(?:import|package) .*$", text))
    before = read(files)
    after = read(_with(files, f"{text[:last]}\nclass Around {{\n{text[last:]}\n}}\n"))
    assert not after.problems
    assert before.providers
    assert _changed_tags(before, after) <= {
        "id",
        "functionId",
        "dataTypeReference",
        "name",
        "objectQualifiedName",
    }
    assert all(
        "Around#" in capability.id or "Around." in capability.id
        for each in after.providers
        for capability in each.capabilities
    )

"""The heads of declarations are those that kotlinc's own parser sees, whatever Kotlin is around them."""

import base64
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from adapters.appfunctions_kotlin.kotlin_pairs import kotlin, rows, source
from adapters.handlers.jvm import KOTLIN_PARTS
from droidgate_appfunctions.kotlin.declarations import (
    Annotation,
    ClassDeclaration,
    FunctionDeclaration,
    ParameterDeclaration,
    PropertyDeclaration,
    TypeReference,
)
from droidgate_appfunctions.kotlin.syntax import parse_file
from droidgate_mappings.formats.format import SourceFile
from requirements_of_tests import SHORT_JVM, maven_jars, require

HERE = Path(__file__).parent
SECTIONS = re.split(r"(?m)^//// (.*)\n", (HERE / "constructs.kt").read_text(encoding="utf-8"))[1:]
CONSTRUCTS = dict(zip(SECTIONS[::2], SECTIONS[1::2], strict=True))
HEADER = """\
package com.example

import androidx.appfunctions.AppFunctionContext
import androidx.appfunctions.service.AppFunction
"""
BEFORE = '@AppFunction fun before(c: AppFunctionContext, x: List<String>?): String = ""'
AFTER = "@AppFunction fun after(c: AppFunctionContext) {}"
TEXT_LIMIT = 120
"""Characters of a text that are compared: ours are cut."""

Row = tuple[str, ...]


def around(construct: str) -> list[str]:
    """Return a class with two functions and a construct before, inside, and in a body of it."""
    return [
        f"{HEADER}{construct}\nclass Notes {{\n{BEFORE}\n{AFTER}\n}}\n{construct}\n",
        f"{HEADER}class Notes {{\n{BEFORE}\n{construct}\n{AFTER}\n}}\n",
        f"{HEADER}class Notes {{\n{BEFORE.replace('= ', '{')}\n{construct}\n}}\n{AFTER}\n}}\n",
    ]


@pytest.mark.parametrize("title", CONSTRUCTS)
def test_other_kotlin_around_a_function_does_not_hide_it(title: str) -> None:
    for text in around(CONSTRUCTS[title]):
        reading = kotlin(text)
        assert [item.message for item in reading.problems if "second time" not in item.message] == []
        [provider] = reading.providers
        names = {item.id for item in provider.capabilities}
        assert names == {"com.example.Notes#before", "com.example.Notes#after"}


# fmt: off
HEAD_ERRORS = {  # in the first line, or that after a line feed and >
    "a parameter without a type": "fun g(x) {}",
    "a parameter without a colon": "fun g(x: Int, y Int,\n  @A z: Int\n): String {\n  return x\n}",
    "a type that is missing": "fun g(x: ): Int {}",
    "a result without a type": "fun g(): {}",
    "parameters that do not end": "fun g( {}",
    "a function without a name": "fun (x: Int) {}",
    "an annotation without a name": "@ fun g() {}",
    "an unknown word": "suspend fn g(x: Int): Int = 1",
    "a class without a name": "class (val x: Int)",
    "a class with a broken constructor": "class B(val x: ) {\n@AppFunction fun lost() {}\n}",
    "a class with a broken supertype": "class B : { fun g() {} }",
    "a property without a name": "val : Int = 1",
    "an alias without a type": "typealias = Int",
    "type arguments that do not end": "fun g(x: List<Int) {}",
    "a type in brackets of two": "fun g(x: (Int, Int)) {}",
    "a sign": "%$ 1",
    "a word for a keyword after an annotation": "@AppFunction\n>suspend fn g(x: Int): Int = 1",
    "an error after a function of several lines":
        'fun g(\n  x: Int,\n): String {\n  return """\n a { \n"""\n}\n>fun h(: Int) {}',
    "an error after a comment with brackets": "/* { ( /* [ */ */\nval c = '{' // )\n>fun g( {}",
}
BODIES = {
    "a value that is missing": "fun g() {\n  val s =\n}",
    "brackets of other kinds": "fun g() { ) ] ( [ }",
    "a function inside that is broken": "fun g() { fun ( class val 1 2 3 @ }",
    "a value with an error": "val x = a + ;",
    "a function without a value": "fun g() = ;",
    "a text that is not closed in its line": 'fun g() { "a ${b }\n}',
    "a sign that is no Kotlin": "fun g() { # \\ ` }",
}
# fmt: on


@pytest.mark.parametrize("title", HEAD_ERRORS)
def test_a_syntax_error_hides_only_the_declaration_whose_head_contains_it(title: str) -> None:
    before, _, after = HEAD_ERRORS[title].rpartition("\n>")
    text = f"{before}\n{after}" if before else after
    reading = kotlin(f"{HEADER}class Notes {{\n{BEFORE}\n{text}\n{AFTER}\n}}\n")
    [problem] = reading.problems
    assert problem.message == f"Kotlin syntax error at {after.splitlines()[0].strip()[:40]!r}"
    assert problem.place == f"1.kt:{7 + len(before.splitlines())}"
    assert [item.id.partition("#")[2] for item in reading.providers[0].capabilities] == ["after", "before"]


@pytest.mark.parametrize("title", BODIES)
def test_a_syntax_error_in_a_body_hides_no_function(title: str) -> None:
    reading = kotlin(f"{HEADER}class Notes {{\n{BEFORE}\n{BODIES[title]}\n{AFTER}\n}}\n")
    assert reading.problems == ()
    assert [item.id.partition("#")[2] for item in reading.providers[0].capabilities] == ["after", "before"]


@pytest.mark.parametrize("title", CONSTRUCTS)
def test_a_truncated_source_is_read_without_an_error(title: str) -> None:
    text = CONSTRUCTS[title]
    for end in range(len(text)):
        for wrapped in (text[:end], f"class A {{ {text[:end]}"):
            assert parse_file(SourceFile("a.kt", wrapped.encode())).package == ()


def of_kotlinc(texts: Iterable[str]) -> list[list[Row]]:
    """Return what kotlinc's parser sees in each text: errors, functions, classes and properties."""
    require("kotlin-compiler")
    jars = ":".join(map(str, maven_jars(*KOTLIN_PARTS)))
    command: list[str | Path] = [require("java"), *SHORT_JVM, "-Xss8m", "-cp", jars]
    command.append(HERE / "KotlinHeads.java")
    lines = "".join(f"{base64.b64encode(text.encode()).decode()}\n" for text in texts)
    run = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == 0, run.stderr[-4000:]
    parts = run.stdout.split("====\n")[1:]
    return [[tuple(line.split("\t")) for line in part.splitlines()] for part in parts]


def of_ours(text: str) -> tuple[list[Row], bool]:
    """Return the same rows as we read them, and whether a syntax error is reported."""
    file = parse_file(SourceFile("a.kt", text.encode()))
    found = [_function(item) for item in file.functions]
    found += [_property(item, "") for item in file.properties.values()]
    for owner in file.all_classes():
        path = ".".join(reversed(owner.path))
        found.append(_class(owner))
        found += [_function(item) for item in owner.functions]
        found += [_property(item, path) for item in owner.properties.values()]
    return found, any("syntax error" in error.message for error in file.errors)


def _function(item: FunctionDeclaration) -> Row:
    owner = ".".join(reversed(item.owner.path)) if item.owner is not None else ""
    body = "=" if item.is_expression else "{" if item.has_body else ""
    facts = (_text(item.receiver), _text(item.return_type), _names(item.annotations), body, _flat(item.kdoc))
    return "fun", owner, item.name, *facts, *map(_parameter, item.parameters)


def _class(item: ClassDeclaration) -> Row:
    owner = ".".join(reversed(item.path[:-1]))
    above = ", ".join(map(_text, item.supertypes))
    facts = ("" if item.constructor is None else "constructor", _names(item.annotations), above)
    return "class", owner, item.name, *facts, _flat(item.kdoc), *map(_parameter, item.constructor or ())


def _property(item: PropertyDeclaration, owner: str) -> Row:
    return "val", owner, item.name, _text(item.type), _flat(item.value.text if item.value else None)


def _parameter(item: ParameterDeclaration) -> str:
    kind = "val " if item.is_property else ""
    return f"{kind}{item.name}: {item.type.text}{' =' if item.has_default else ''}"


def _names(annotations: Sequence[Annotation]) -> str:
    return " ".join(".".join(item.name) for item in annotations)


def _text(reference: TypeReference | None) -> str:
    return "" if reference is None else reference.text


def _flat(text: str | None) -> str:
    return " ".join((text or "").split())


def _cut(found: Iterable[Row]) -> list[Row]:
    return sorted({tuple(item[:TEXT_LIMIT] for item in row) for row in found})


@pytest.mark.slow
@pytest.mark.requires("kotlin-compiler", "corpus")
def test_heads_are_those_that_kotlinc_sees() -> None:
    """Every construct alone in three places, and all of them in three places of each file of the corpus."""
    corpus = require("corpus")
    texts = [text for construct in CONSTRUCTS.values() for text in around(construct)]
    everything = "\n".join(CONSTRUCTS.values())
    for row in rows(corpus):
        if row.file.lower().endswith(".kt"):
            text = source(corpus, row.file).data.decode().replace("\r\n", "\n")
            heads = re.finditer(r"(?m)^(?:import|package) .*\n", text)
            first = max((match.end() for match in heads), default=0)
            inside = re.search(r"(?m)^(?:\w+ )*(?:class|interface|object) [^\n]*\{\n", text[first:])
            places = {0, first, first + inside.end() if inside is not None else first, len(text)}
            texts += [f"{text[:place]}\n{everything}\n{text[place:]}" if place else text for place in places]
    compared = 0
    for text, theirs in zip(texts, of_kotlinc(texts), strict=True):
        ours, is_refused = of_ours(text)
        assert not is_refused, text
        assert _cut(ours) == _cut(row for row in theirs if row[0] != "error"), text
        compared += sum(row[0] == "fun" for row in theirs)
    assert compared > 10_000


@pytest.mark.slow
@pytest.mark.requires("kotlin-compiler")
def test_only_what_kotlinc_refuses_is_called_a_syntax_error() -> None:
    # These two are found by its checker, not by its parser.
    of_checker = {"a parameter without a type", "a function without a name"}
    errors = [error for title, error in HEAD_ERRORS.items() if title not in of_checker]
    texts = [f"class Notes {{\n{error}\n{AFTER}\n}}\n".replace("\n>", "\n") for error in errors]
    for text, theirs in zip(texts, of_kotlinc(texts), strict=True):
        assert of_ours(text)[1]
        assert any(row[0] == "error" for row in theirs), text

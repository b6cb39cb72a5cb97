"""Kotlin sources that are made to cost: each ends soon, with a problem or a finding, and crashes nothing."""

import random
import subprocess
import sys

import pytest

from adapters.appfunctions_kotlin.kotlin_pairs import kotlin, read, rows, source
from counted_work import check_linear
from droidgate_appfunctions.kotlin import may_declare
from droidgate_appfunctions.kotlin.syntax import parse_file
from droidgate_mappings.formats.format import SourceFile
from requirements_of_tests import require

FUNCTION = "@AppFunction fun f#(c: AppFunctionContext, x: Int) {}\n"
H = "package a\nimport androidx.appfunctions.*\nimport androidx.appfunctions.AppFunction\n"
F = "class F {{ @AppFunction fun f(c: AppFunctionContext, x: {}) {{}} }}\n"
DAMAGE = (
    b"@AppFunction ", b"{", b"}", b"(", b'"', b"/*", b"`", b"${", b"\xff", b"sealed ", b"<T>", b"::class",
)  # fmt: skip
S = "@AppFunctionSerializable "


def _many(template: str, count: int) -> str:
    """Return a text again and again, with its number in place of `#` and the next one in place of `~`."""
    return "".join(template.replace("#", str(i)).replace("~", str(i + 1)) for i in range(count))


# fmt: off
REFUSED = {
    "classes inside classes": ("class A {\n" * 5000 + "}\n" * 5000, "classes are nested more than 32 levels"),
    "types inside types":
        (F.format("List<" * 5000 + "Int" + ">" * 5000), "types are nested more than 32 levels"),
    "classes that hold classes":
        (F.format("C0") + _many(f"{S}class C#(val x: C~?)\n", 3000) + f"{S}class C3000(val x: Int)\n",
         "classes are nested more than 64 levels deep"),
    "classes above classes":
        (_many(f"{S}open class C#(open val x: Int): C~(x)\n", 2000)
         + f"{S}open class C2000(open val x: Int)\n", "more than 64 classes are above each other"),
    "values inside values": ("val a = " + "object : A by " * 5000, "nested too deeply"),
    "annotations inside annotations": ("@A<" * 5000, "nested too deeply"),
    "aliases of each other": ("typealias A = B\ntypealias B = A\n" + F.format("A"), "refers to itself"),
    "aliases that double":
        (_many("typealias A# = Map<A~, A~>\n", 60) + "typealias A60 = Int\n" + F.format("A0"),
         "a type is made of more than 256 types"),
    "types of many functions":
        (f"class F {{\n{_many(FUNCTION, 2000).replace('Int', 'S0')}}}\n"
         + _many(f"{S}class S#(val a: S~?, val b: Int)\n", 59) + f"{S}class S59(val a: Int)\n",
         "the functions have more than 100000 data types"),
    "a list of lists in a text":
        ('const val L0 = "abcdefghij"\n' + _many(f"const val L~ = listOf({', '.join(['L#'] * 10)})\n", 12)
         + F.format("Short") + f'{S}class S(@AppFunctionInstruction("$L12") val a: Short)\n', "kotlin.Short"),
    "a text without an end": ('val x = "' + "${" * 20000, "Kotlin syntax error"),
    "braces": (F.format("Int") + "fun x() " + "{\n}\n" * 100_000, "Kotlin syntax error"),
    "brackets that do not end": (F.format("Int") + "{\n" * 45_000, "Kotlin syntax error"),
    "an annotation without a name at the end": (F.format("Int") + "@", "Kotlin syntax error at '@'"),
    "zero bytes": ("\0" * 1000, "Kotlin syntax error"),
    "heads that do not end": (_many("fun f#(\n", 40_000), "Kotlin syntax error at 'fun f1('"),
    "texts that do not end": ('"\n' * 40_000, "Kotlin syntax error"),
    **{f"only {piece}": (F.format("Int") + piece * 40_000, "Kotlin syntax error")
       for piece in ("/*", "*/", "<", ">", "a<", "$", '"""${', "@A ", "`")},
}
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_too_deep_or_too_large_is_refused_with_its_reason(name: str) -> None:
    text, reason = REFUSED[name]
    reading = kotlin(H + text)
    assert any(reason in problem.message for problem in reading.problems)
    assert all(problem.place and problem.place.startswith("1.kt:") for problem in reading.problems)


# fmt: off
READ = {
    "annotations": F.format("Int").replace("@AppFunction", "@X " * 50_000 + "@AppFunction"),
    "parentheses": F.format("Int = " + "(" * 20_000 + "1" + ")" * 20_000),
    "imports": _many("import b.C#\n", 10_000) + F.format("Int"),
    "functions": f"class F {{\n{_many(FUNCTION, 2000)}}}\n",
    "long names": f"import {'a.' * 8000}X\n" + F.format("Int"),
    "many star imports": _many("import a#.*\n", 1000) + F.format("Int"),
    "long numbers": f"const val N = {'1' * 40_000}L\n" + F.format("Int"),
    "type parameters without an end": "// " + "val <" * 40_000 + "\n" + F.format("Int"),
    "comments": "/*" * 20_000 + "*/" * 20_000 + F.format("Int"),
    "supertypes": _many("interface I#\n", 2000)
        + f"{S}class S(val a: Int): {', '.join(f'I{i}' for i in range(2000))}\n" + F.format("S"),
    "supertypes in a circle": F.format("A")
        + f"{S}open class A(val x: Int): B(x)\n{S}open class B(val x: Int): A(x)\n",
    "comparisons": f"val x = {'a < ' * 5_000}b\n" + F.format("Int = f(" + "a < b, " * 5_000 + ")"),
    "templates in texts": "val x = " + '"${' * 20_000 + '"a"' + '}"' * 20_000 + "\n" + F.format("Int"),
    "generic classes of themselves": f"{S}class R<T>(val a: R<R<T>>)\n" + F.format("R<Int>"),
}
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_a_long_but_flat_source_is_read(name: str) -> None:
    reading = kotlin(H + READ[name])
    assert not reading.problems
    assert any(provider.capabilities for provider in reading.providers)


@pytest.mark.parametrize("unit", ["?fun ", "fun x() =\n", "by fun\n", "val a: ", "a < b + object : A\n"])
def test_work_grows_with_the_length_alone(unit: str) -> None:
    def work(length: int) -> None:
        parse_file(SourceFile("a.kt", f"{H}val a = {unit * (length // len(unit))}(".encode()))

    check_linear(work, 10_000)


@pytest.mark.requires("corpus")
def test_damaged_sources_are_read_or_refused_and_crash_nothing() -> None:
    corpus = require("corpus")
    texts = [source(corpus, row.file).data for row in rows(corpus) if row.file.lower().endswith(".kt")]
    generator = random.Random(20)
    for _ in range(300):
        data, other = generator.choice(texts), generator.choice(texts)
        start, end = sorted(generator.sample(range(len(data)), 2))
        piece = generator.randrange(len(other))
        damaged = generator.choice(
            [
                data[:start] + data[min(end, start + 40) :],
                data[:start] + other[piece : piece + 60] + data[start:],
                data[:end] + data[start:],
                data[:start] + generator.choice(DAMAGE) + data[start:],
            ]
        )
        reading = read([SourceFile("a.kt", damaged), SourceFile("b.kt", other)])
        assert all(provider.content_digest() for provider in reading.providers)


def test_constants_that_double_in_length_are_left_out() -> None:
    constants = "".join(f"const val A{i} = A{i + 1} + A{i + 1}\n" for i in range(60))
    function = "@AppFunction @AppFunctionInstruction(A0) fun f(c: AppFunctionContext) {}"
    text = f'{H}{constants}const val A60 = "x"\nclass F {{ {function} }}\n'
    [finding] = kotlin(text).findings
    assert "is left out" in finding.message


def test_a_file_over_the_limit_is_a_problem() -> None:
    [problem] = kotlin(f"{H}//{'x' * 5_000_000}").problems
    assert "at most 2097152 are read" in problem.message


def test_of_ten_thousand_files_without_the_library_none_is_parsed() -> None:
    body = "package com.example\n\nclass Screen {\n" + "    fun draw(x: Int) { println(x) }\n" * 200 + "}\n"
    files = [SourceFile(f"{number}.kt", body.encode()) for number in range(10_000)]
    assert not any(may_declare(file.data) for file in files)
    reading = read([*files, SourceFile("a.kt", (H + F.format("Int")).encode())])
    assert len(reading.providers) == 1


def test_importing_the_adapter_does_not_import_the_parser() -> None:
    program = (
        "import sys; import droidgate; "
        "from droidgate_mappings.formats.format import load_formats; "
        "load_formats()['appfunctions'].code.may_declare(b''); "
        "sys.exit('droidgate_appfunctions.kotlin.syntax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

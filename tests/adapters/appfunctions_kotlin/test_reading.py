"""How Kotlin sources are read: what the compiler's own pairs do not show (reference appfunctions 2.c).

What KDoc, generic classes, schemas and inherited default values become shows `test_compiler_pairs`.
"""

import pytest

from adapters.appfunctions_kotlin.kotlin_pairs import kotlin
from droidgate_appfunctions.format import FORMAT
from droidgate_appfunctions.kotlin import may_declare
from droidgate_appfunctions.kotlin.kotlin_sources import read_sources
from droidgate_mappings.formats.format import HandlerRequest, Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ObjectType,
    OneOfType,
    OpaqueType,
    RefType,
    Type,
)
from mappings.fit.capacities import write_for
from model_types import (
    array,
    binary,
    boolean,
    float32,
    float64,
    int32,
    int64,
    null,
    properties_of,
    ref,
    string,
)
from titled_rows import titled

HEADER = """\
package com.example

import androidx.appfunctions.AppFunctionContext
import androidx.appfunctions.AppFunctionSerializable
import androidx.appfunctions.service.AppFunction
"""
F = "@AppFunction fun f(c: AppFunctionContext"
QUALIFIED = "@androidx.appfunctions.AppFunction\nfun f(c: androidx.appfunctions.AppFunctionContext"
OTHER = 'fun write(text: String) { context(text) }\nval t = "context(x: Int) fun"\n'
INSTRUCTION = "import androidx.appfunctions.AppFunctionInstruction\n"


def notes(body: str, imports: str = "", *, header: str = HEADER) -> str:
    """Return a file with a class that holds functions; the class starts in line 6, or after the imports."""
    return f"{header}{imports}class Notes {{\n{body}\n}}\n"


def functions(body: str, *others: str, header: str = HEADER) -> Reading:
    return kotlin(notes(body, header=header), *others)


def only(reading: Reading) -> Capability:
    assert not reading.problems
    [provider] = reading.providers
    [capability] = provider.capabilities
    return capability


def parameter(declared: str, *others: str, header: str = HEADER) -> Type:
    reading = functions(f"{F}, {declared}) {{}}", *others, header=header)
    assert not reading.findings
    capability = only(reading)
    [result] = properties_of(capability.input).values()
    return result.type


def test_a_function_has_its_class_and_name_as_its_id_and_its_line_as_its_place() -> None:
    capability = only(functions("\n@AppFunction\nfun add(c: AppFunctionContext) {}"))
    assert capability.id == "com.example.Notes#add"
    assert str(capability.source) == "1.kt:9"
    assert capability.output == null()


TYPES: dict[str, Type] = {
    "Int": int32(), "Long": int64(), "Float": float32(), "Double": float64(), "Boolean": boolean(),
    "String": string(), "ByteArray": binary(), "kotlin.Int": int32(), "LongArray": array(int64()),
    "List<String?>": array(string(nullable=True)),
    "android.app.PendingIntent": OpaqueType(class_name="android.app.PendingIntent"),
}  # fmt: skip


@pytest.mark.parametrize("declared", TYPES)
def test_a_parameter_has_its_type_and_whether_it_may_be_null(declared: str) -> None:
    expected = TYPES[declared]
    assert parameter(f"x: {declared}") == expected
    assert parameter(f"x: {declared}?") == expected.model_copy(update={"nullable": True})


def test_an_address_is_an_object_with_the_schemes_that_it_may_have() -> None:
    imports = (
        "import android.net.Uri\nimport androidx.appfunctions.AppFunctionUriValueConstraint as Schemes\n"
    )
    header = HEADER + imports
    result = parameter('@Schemes(allowedSchemes = ["content", "a.b"]) x: Uri', header=header)
    assert isinstance(result, ObjectType)
    assert result.qualified_name == "android.net.Uri"
    text = result.properties["uri"].type
    assert (text.format, text.pattern) == ("uri", r"^(?:content:[\s\S]*|a\.b:[\s\S]*)$")


@titled(("text", "function_id"), {
    "an import of the whole package":
        (notes(f"{F}) {{}}", header="package com.example\nimport androidx.appfunctions.*\nimport "
            "androidx.appfunctions.service.AppFunction\n"), "com.example.Notes#f"),
    "an import of it": (notes(f"{F}) {{}}", header=HEADER.replace("service.", "")), "com.example.Notes#f"),
    "an import of another name":
        (notes(f"{F}) {{}}", header=HEADER.replace("service.AppFunction",
            "AppFunctionDeclaration as AppFunction")), "com.example.Notes#f"),
    "qualified annotations and types":
        (f"package p\nclass A {{\n{QUALIFIED}, x: java.time.LocalDate) {{}}\n}}\n", "p.A#f"),
    "keywords with back ticks, as KotlinPoet writes them": (notes(f"{F}) {{}}",
        header=HEADER.replace("com.example", "com.`in`.impl")), "com.`in`.`impl`.Notes#f"),
    "an interface's function": (f"{HEADER}interface Notes {{\n  {F}): String\n}}\n", "com.example.Notes#f"),
    **{f"context parameters of another function: {clause}":
        (f"{HEADER}class A {{ {F}, x: Int) {{}} }}\n{clause} {OTHER}", "com.example.A#f")
       for clause in ("context(log: Log)", "context(log: Log, f: (Int) -> Unit)\n", "context(_: Log) ")},
})  # fmt: skip
def test_a_function_is_found_by_the_class_of_its_annotation(text: str, function_id: str) -> None:
    assert only(kotlin(text)).id == function_id


def test_a_file_that_declares_nothing_is_parsed_only_if_a_type_of_it_is_used() -> None:
    capability = only(functions(f"{F}) {{}}", "package com.example\n%$ this is not Kotlin"))
    assert capability.id == "com.example.Notes#f"


def test_an_annotation_of_the_same_word_from_elsewhere_declares_nothing() -> None:
    header = "package a\nimport androidx.appfunctions.AppFunctionContext\nimport my.own.AppFunction\n"
    assert functions(f"{F}) {{}}", header=header) == Reading()


def test_constants_are_followed_through_companions_imports_and_sums() -> None:
    header = (
        f"{HEADER}import androidx.appfunctions.AppFunctionInstruction\n"
        "import androidx.appfunctions.AppFunctionStringValueConstraint\n"
        "import other.Words.ON\n"
    )
    other = """
        package other
        object Words { const val ON = "o" + "n" }
        const val TIMES = 3
    """
    body = '''
        companion object { const val OFF = "off"; const val ALL = "${ON}/$OFF \\u0021 \\"x\\" ${'$'}" }
        @AppFunction
        @AppFunctionInstruction(ALL + " " + other.TIMES)
        fun f(
            c: AppFunctionContext,
            @AppFunctionStringValueConstraint([ON, Notes.OFF, """r\\n"""]) x: String,
        ) {}
    '''
    capability = only(functions(body, other, header=header))
    assert capability.description == 'on/off ! "x" $ 3'
    assert properties_of(capability.input)["x"].type.enum == ("on", "off", "r\\n")


# fmt: off
PROBLEMS = [
    ("package appfunctions\n\nclass A {\n@AppFunction fun f() {}\n}\n",
     "1.kt:4", "unresolved reference 'AppFunction'"),
    (notes(F + ', x: String = "a") {}'), "1.kt:7", "type kotlin.String cannot be optional; left out: f"),
    (notes(F + ", x: Note) {}", "import lib.Note\n"),
     "1.kt:8", ("unresolved reference 'lib.Note': no file that is read "
     "declares it; it may be in another module; left out: f")),
    (notes(f"{F}) {{}}\n{F}, x: Int) {{}}"), "1.kt:8", "duplicate app function 'f'"),
    (f"{HEADER}@AppFunction\nfun f(c: AppFunctionContext) {{}}\n",
     "1.kt:7", "a function outside of a class cannot be an app function: f; left out: f"),
    (HEADER + f"class C {{ {F}) {{}} }}\n" * 2, "1.kt:7", "C is declared a second time"),
    (notes("@AppFunction(isEnabled = BuildConfig.DEBUG) fun f(c: AppFunctionContext) {}"),
     "1.kt:7", ("isEnabled of @AppFunction is not a constant that "
     "the sources give: BuildConfig.DEBUG; left out: f")),
    (notes(F + ", x: Short) {}"), "1.kt:7", ("app function parameters must be a supported type, or a type "
     "annotated as @AppFunctionSerializable; x is kotlin.Short; left out: f")),
]
NOT_A_TEXT = "instruction of @AppFunctionInstruction is left out: it is not a text"
NOT_A_CONSTANT = "instruction of @AppFunctionInstruction is left out: {} is not a constant"
TRIMMED = f'@AppFunctionInstruction("x".trim()) {F}) {{}}'
OF_A_LIST = f'@AppFunctionInstruction("x $L") {F}) {{}}'
FINDINGS = [
    (notes(f"@AppFunctionInstruction(text())\n{F}) {{}}", INSTRUCTION),
     "1.kt:8", "kotlin-not-understood", NOT_A_TEXT),
    (notes(TRIMMED, INSTRUCTION),
     "1.kt:8", "kotlin-not-understood", NOT_A_CONSTANT.format('"x".trim()')),
    (notes(OF_A_LIST, f'{INSTRUCTION}const val L = listOf("a", 1)\n'),
     "1.kt:9", "kotlin-not-understood", NOT_A_CONSTANT.format('"x $L"')),
    (notes(OF_A_LIST, f"{INSTRUCTION}\nconst val L = 1.5\n"),
     "1.kt:10", "kotlin-not-understood", NOT_A_CONSTANT.format('"x $L"')),
    (notes("class Impl : Add { @AppFunction override fun add(c: AppFunctionContext) {} }",
     "import lib.Add\n"), "1.kt:8", "kotlin-not-understood",
     ("lib.Add is not among the sources; a schema and default values that add inherits are left out")),
    (notes(f"{F}) = other()"), "1.kt:7",
     "kotlin-not-understood", "the return type of f is not written; its output is read as any value"),
    (notes(f"fun g() {{\n  class L {{ {F}) {{}} }}\n}}"),
     "1.kt:8", "declaration-unread", "@AppFunction is not a declaration that is read"),
    (notes(f"@AppFunctionFuture {F}) {{}}", "import androidx.appfunctions.AppFunctionFuture\n"),
     "1.kt:8", "declaration-unread", "@AppFunctionFuture of androidx.appfunctions is not known"),
]
# fmt: on


@pytest.mark.parametrize(("text", "place", "message"), PROBLEMS, ids=[row[2] for row in PROBLEMS])
def test_what_the_compiler_refuses_is_a_problem_at_its_line(text: str, place: str, message: str) -> None:
    reading = kotlin(text)
    [problem] = reading.problems
    assert (problem.place, problem.message) == (place, message)
    assert problem.hint == "read the module that declares it too" or "lib.Note" not in message
    # Of two functions or classes of one name the first is kept.
    is_one_of_two = message in {"duplicate app function 'f'", "C is declared a second time"}
    assert len(reading.providers) == is_one_of_two


UNLIKE_FUNCTIONS = {
    "a Compose preview": '@Preview\n@Composable\nprivate fun P() { Text("a") }\n',
    "several Compose previews":
        '@Preview(name = "a")\n@Preview(\n    name = "b",\n)\n@Composable\nfun P() =\n    A { b() }\n',
    "an annotation class with a target": "@Target(AnnotationTarget.FUNCTION)\nannotation class Mine\n",
    "an annotation class of previews":
        '@Preview(name = "a")\n@Preview(name = "b")\nannotation class Previews\n',
    "annotation classes that qualify":
        "@Qualifier\n@Retention(BINARY)\nannotation class A\n\n@Qualifier\nannotation class B\n",
}  # fmt: skip


@pytest.mark.parametrize("other", UNLIKE_FUNCTIONS.values(), ids=UNLIKE_FUNCTIONS)
def test_other_declarations_have_no_finding_and_do_not_hide_a_function(other: str) -> None:
    text = notes(f"{F}) {{}}")
    for order in (text + other, text.replace("class Notes", f"{other}class Notes")):
        reading = kotlin(order)
        assert reading.findings == ()
        assert only(reading).id == "com.example.Notes#f"


@pytest.mark.parametrize(
    ("text", "place", "code", "message"), FINDINGS, ids=[f"{row[3]} at {row[1]}" for row in FINDINGS]
)
def test_what_is_not_understood_is_a_finding_at_its_line_and_left_out(
    text: str, place: str, code: str, message: str
) -> None:
    reading = kotlin(text)
    [finding] = reading.findings
    assert (finding.code, finding.level, str(finding.source)) == (code, Level.DROPPED, place)
    assert finding.message == message
    assert finding.hint == "write a text, as a literal or a const val" or message != NOT_A_TEXT
    assert reading.problems == ()
    for capability in (item for provider in reading.providers for item in provider.capabilities):
        output = AnyType() if message.startswith("the return type") else null()
        assert (capability.description, capability.output) == (None, output)
    assert bool(reading.providers) is (message != "@AppFunction is not a declaration that is read")


def test_a_function_can_be_disabled_by_a_constant() -> None:
    disabled = functions("@AppFunction(isEnabled = false) fun f(c: AppFunctionContext) {}")
    assert not only(disabled).access.enabled_by_default


def test_a_default_value_makes_a_parameter_optional() -> None:
    reading = functions("@AppFunction fun f(c: AppFunctionContext, x: Int = 3, y: String? = null, z: Int) {}")
    required = {name: item.required for name, item in properties_of(only(reading).input).items()}
    assert required == {"x": False, "y": False, "z": True}


@pytest.mark.parametrize("before", [
    pytest.param("#!/usr/bin/env kotlin\n", id="a line for the shell"),
    pytest.param("@file:OptIn(\n    A::class,\n    B(1)::class,\n)\n", id="an annotation of several lines"),
    pytest.param("@file:[A B]\n\n", id="annotations in brackets"),
    pytest.param("@file:A ", id="an annotation on its line"),
    pytest.param("// package a\n/* package b */ ;", id="comments that name other packages"),
])  # fmt: skip
def test_a_type_is_found_in_its_package_whatever_is_in_front_of_that(before: str) -> None:
    imports = "import androidx.appfunctions.AppFunctionSerializable\n"
    other = f"{before}package lib\n{imports}@AppFunctionSerializable class Note(val x: Int)\n"
    capability = only(functions(f"{F}, x: lib.Note) {{}}", other))
    assert [item.type for item in properties_of(capability.input).values()] == [ref("lib.Note")]


SERIALIZABLE = "\n@AppFunctionSerializable "


@titled(("declared", "member"), {
    # The compiler gives a supertype that it meets first what its subclass has left (corpus, NestedDerived).
    "a supertype has a dot":
        (["open class A(open val a: Int)", "class X(override val a: Int, val b: Int) : A(a)"], ".A"),
    "a subclass has a dollar sign": (["sealed interface X", "class A(val a: Int) : X"], "$A"),
})  # fmt: skip
def test_a_class_refers_to_its_supertype_by_its_name_and_to_its_subclass_by_that_of_the_jvm(
    declared: list[str], member: str
) -> None:
    reading = functions(f"{F}, x: X) {{}}{''.join(SERIALIZABLE + item for item in declared)}")
    assert not reading.problems
    result = reading.providers[0].definitions["com.example.Notes$X"]
    assert isinstance(result, AllOfType | OneOfType)
    parts = result.members if isinstance(result, AllOfType) else result.alternatives
    assert [part.name for part in parts if isinstance(part, RefType)] == [f"com.example.Notes{member}"]


def test_an_instant_is_an_object_of_two_numbers() -> None:
    reading = functions(f"{F}): java.time.Instant {{}}")
    assert only(reading).output == ref("java.time.Instant")
    result = properties_of(reading.providers[0].definitions["java.time.Instant"])
    types = {name: item.type for name, item in result.items()}
    assert types == {"epochSecond": int64(), "nanoAdjustment": int32()}


def test_types_of_other_modules_are_found_and_their_functions_are_not_read() -> None:
    app = f"{HEADER}import lib.Note\nclass A {{ @AppFunction fun f(c: AppFunctionContext, x: Note) {{}} }}\n"
    library = (
        "package lib\nimport androidx.appfunctions.*\n@AppFunctionSerializable class Note(val t: String)\n"
        "class L { @AppFunction fun g(c: AppFunctionContext) {} }\n"
    )
    files = [SourceFile("app.kt", app.encode())]
    reading = read_sources(files, [SourceFile("lib.kt", library.encode())], ReadingContext())
    assert only(reading).id == "com.example.A#f"
    assert list(reading.providers[0].definitions) == ["lib.Note"]


def test_a_file_with_a_syntax_error_is_a_problem_and_the_others_are_read() -> None:
    broken = f"{HEADER}class Broken {{\n  @AppFunction fun f(c: ) {{}}\n}}\n"
    reading = functions(f"{F}) {{}}", broken)
    [problem] = reading.problems
    assert problem.message.startswith("Kotlin syntax error")
    assert problem.place is not None
    assert problem.place.startswith("2.kt:")
    assert [item.id for item in reading.providers[0].capabilities] == ["com.example.Notes#f"]


def test_an_output_that_is_not_known_is_not_written_as_another_kind() -> None:
    header = HEADER.replace("service.AppFunction", "AppFunction")
    kdoc = "/**\n * Adds.\n *\n * @return the number\n */\n"
    body = f"{kdoc}@AppFunction(isDescribedByKDoc = true) fun f(c: AppFunctionContext) = other()"
    provider = functions(body, header=header).providers[0]
    for dialect in ("v2", "v2-legacy"):
        writing = write_for(provider, f"appfunctions+{dialect}")
        capability = writing.provider.capabilities[0]
        assert capability.output is None
        assert capability.description == "Adds. Returns: the number"
        [loss] = [item for item in writing.findings if item.code == "output-unknown"]
        assert (loss.level, loss.pointer) == (Level.DROPPED, "/capabilities/0/output/kind")
        assert not any("<response>" in item.text for item in writing.artifacts)


@pytest.mark.parametrize(("body", "line", "message"), [
    ("\n@AppFunction\nprivate fun f(c: AppFunctionContext) {}", 9, "a private function"),
    ("@AppFunction protected fun f(c: AppFunctionContext) {}", 7, "a protected function"),
    ("@AppFunction fun String.f(c: AppFunctionContext) {}", 7, "an extension function"),
    ("@AppFunction fun Notes.f(c: AppFunctionContext) {}", 7, "an extension function"),
    (f"context(log: Log)\n{F}) {{}}", 8, "a function with context parameters"),
    (f"private class In {{ {F}) {{}} }}", 7, "f is in a private class"),
    (f"protected class In {{ class Deep {{\n{F}) {{}} }} }}", 8, "f is in a"),
])  # fmt: skip
def test_a_function_that_generated_code_cannot_call_is_refused_at_its_line(
    body: str, line: int, message: str
) -> None:
    """The compiler's invoker is a class in a file of its own; Kotlin refuses its call."""
    reading = functions(f"{body}\n@AppFunction fun good(c: AppFunctionContext) {{}}")
    [problem] = reading.problems
    assert problem.message.startswith(message)
    assert problem.place == f"1.kt:{line}"
    assert [item.id for item in reading.providers[0].capabilities] == ["com.example.Notes#good"]


ENTRY = """\
package com.example

import androidx.appfunctions.AppFunction
import androidx.appfunctions.AppFunctionService
import androidx.appfunctions.AppFunctionServiceEntryPoint
import android.content.Context

@AppFunctionServiceEntryPoint(serviceName = "NotesService", appFunctionXmlFileName = "notes")
abstract class BaseNotes : AppFunctionService() {
  @AppFunction fun good() {}
"""


@pytest.mark.parametrize(("body", "message"), [
    ("private fun f() {}", "a private function"), ("fun Int.f() {}", "an extension function"),
    ("abstract fun f()", "an abstract function of an entry point"),
])  # fmt: skip
def test_a_function_that_the_generated_service_cannot_call_is_refused(body: str, message: str) -> None:
    reading = kotlin(f"{ENTRY}  @AppFunction {body}\n}}\n")
    [problem] = reading.problems
    assert problem.message == f"{message} cannot be an app function: f; left out: f"
    assert problem.place == "1.kt:11"
    assert [item.id for item in reading.providers[0].capabilities] == ["com.example.BaseNotes#good"]


def test_a_generated_service_calls_protected_functions_and_extensions_of_itself() -> None:
    body = "@AppFunction protected fun f() {}\n@AppFunction fun Any.g() {}\n@AppFunction fun BaseNotes.h() {}"
    reading = kotlin(f"{ENTRY}  {body}\n}}\n")
    assert not reading.problems
    assert not reading.findings
    assert len(reading.providers[0].capabilities) == 4


def test_a_receiver_that_may_be_the_service_is_a_finding_at_its_line() -> None:
    reading = kotlin(f"{ENTRY}  @AppFunction fun Context.f() {{}}\n}}\n")
    [finding] = reading.findings
    assert finding.message == "f is read as if BaseNotes were its receiver, android.content.Context"
    assert (finding.level, str(finding.source)) == (Level.READ, "1.kt:11")


def test_problems_and_findings_are_in_order_of_line() -> None:
    body = (
        "@AppFunction fun z(c: AppFunctionContext, x: Any) {}\n"
        "@AppFunction fun y(c: AppFunctionContext) = 1\n"
        "@AppFunction fun a(c: AppFunctionContext, x: Any) {}\n"
        "@AppFunction fun b(c: AppFunctionContext) = 1"
    )
    reading = functions(body)
    assert [item.place for item in reading.problems] == ["1.kt:7", "1.kt:9"]
    assert [str(item.source) for item in reading.findings] == ["1.kt:8", "1.kt:10"]


def test_enum_values_beyond_32_bits_are_a_finding() -> None:
    header = f"{HEADER}import androidx.appfunctions.AppFunctionIntValueConstraint\n"
    parameter = "@AppFunctionIntValueConstraint(enumValues = [1, 2147483648]) x: Int"
    body = f"@AppFunction fun f(c: AppFunctionContext, {parameter}) {{}}"
    reading = functions(body, header=header)
    [finding] = reading.findings
    assert "2147483648 does not fit into 32 bits" in finding.message
    assert isinstance(only(reading).input, ObjectType)
    edge = functions(body.replace("2147483648", "-2147483648"), header=header)
    assert not edge.findings


def test_annotations_in_comments_and_texts_declare_nothing_and_are_not_a_finding() -> None:
    comments = "/* @AppFunction fun g() {} */\n// @AppFunction\n"
    assert functions(comments + 'val x = "@AppFunction"\nval y = """@AppFunction"""') == Reading()


ENTRY_POINT = """
    package p
    import androidx.appfunctions.*
    @AppFunctionServiceEntryPoint(serviceName = "NotesService", appFunctionXmlFileName = {name})
    abstract class Base : AppFunctionService() {{ @AppFunction fun f(x: Int): Int = x }}
"""


def test_a_service_entry_point_is_a_provider_of_the_generated_service() -> None:
    other = "class Other { @AppFunction fun g(c: AppFunctionContext) {} }"
    service, others = kotlin(ENTRY_POINT.format(name='"notes"') + other).providers
    assert (service.component, service.dialect) == ("p.NotesService", "v2")
    assert [item.id for item in service.capabilities] == ["p.Base#f"]
    assert others.component is None
    assert [item.id for item in others.capabilities] == ["p.Other#g"]


@pytest.mark.parametrize(("name", "fact"), [("notes_service", None), ("my-notes", "my-notes")])
def test_the_name_of_the_functions_file_is_written_again(name: str, fact: str | None) -> None:
    [provider] = kotlin(ENTRY_POINT.format(name=f'"{name}"')).providers
    assert provider.extensions.get("appfunctions", {}).get("functionsFile") == fact
    paths = [artifact.path for artifact in write_for(provider, "appfunctions+v2").artifacts]
    assert f"assets/{name}.xml" in paths
    assert FORMAT.write_handlers is not None
    handlers = FORMAT.write_handlers(HandlerRequest(provider, FORMAT.dialect("v2"), "kotlin", "p", {}))
    assert f'appFunctionXmlFileName = "{name}"' in handlers.artifacts[0].text


def test_a_name_that_no_functions_file_can_have_is_a_finding_and_not_written() -> None:
    reading = kotlin(ENTRY_POINT.format(name='"../notes"'))
    [provider] = reading.providers
    [finding] = reading.findings
    assert finding.message == 'the name "../notes" of the functions file is left out'
    crafted = provider.model_copy(update={"extensions": {"appfunctions": {"functionsFile": "../../x"}}})
    paths = [item.path for item in write_for(crafted, "appfunctions+v2").artifacts]
    assert "assets/notes_service.xml" in paths


def test_hilt_names_the_service_that_a_generated_base_class_extends() -> None:
    text = """
        package p
        import androidx.appfunctions.*
        import dagger.hilt.android.AndroidEntryPoint
        @AndroidEntryPoint(AppFunctionService::class)
        @AppFunctionServiceEntryPoint("S", "s")
        abstract class Base : Hilt_Base() { @AppFunction fun f() {} }
    """
    reading = kotlin(text)
    assert not reading.problems
    assert [provider.component for provider in reading.providers] == ["p.S"]


def test_functions_of_the_application_are_grouped_by_their_file() -> None:
    text = """
        package p
        import androidx.appfunctions.*
        import androidx.appfunctions.metadata.AppFunctionMetadata
        @AppFunctionSignature(scope = AppFunctionMetadata.SCOPE_ACTIVITY, appFunctionXmlFileName = "a")
        fun interface One { suspend fun f(x: Int) }
        @AppFunctionSignature(AppFunctionMetadata.SCOPE_GLOBAL, "a")
        fun interface Two { suspend fun g() }
        @AppFunctionSignature(AppFunctionMetadata.SCOPE_GLOBAL, "b")
        fun interface Three { suspend fun h() }
    """
    first, second = kotlin(text).providers
    assert (first.dialect, second.dialect) == ("app-level", "app-level")
    scopes = [(item.id, item.access.scope) for item in first.capabilities]
    assert scopes == [("p.One#f", "activity"), ("p.Two#g", None)]
    assert [item.id for item in second.capabilities] == ["p.Three#h"]


def test_a_strict_reader_refuses_what_a_lenient_one_reports() -> None:
    text = f"{HEADER}class A {{ @AppFunction fun f(c: AppFunctionContext) = other() }}\n"
    with pytest.raises(InputError, match="return type of f is not written"):
        read_sources([SourceFile("a.kt", text.encode())], [], ReadingContext(strict=True))


def test_a_file_may_declare_only_if_it_names_the_library() -> None:
    assert may_declare(HEADER.encode())
    assert may_declare(b"import androidx.appfunctions.AppFunction as F")
    assert not may_declare(b"package com.example\nclass AppFunctionLike")
    assert not may_declare(b"package com.example\nclass A")


def test_types_of_the_platform_are_found_by_an_import_of_their_whole_package() -> None:
    header = f"{HEADER}import java.time.*\nimport android.net.*\nimport com.example.elsewhere.*\n"
    text = "@AppFunction fun find(c: AppFunctionContext, at: LocalDateTime, uri: Uri) {}"
    by_name = f"{HEADER}import java.time.LocalDateTime\nimport android.net.Uri\n"
    starred, named = functions(text, header=header), functions(text, header=by_name)
    assert not starred.problems
    assert only(starred).input == only(named).input

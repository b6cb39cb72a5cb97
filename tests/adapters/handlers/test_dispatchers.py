"""The method that chooses by a capability's id is found by what the code says, and nothing is guessed."""

import pytest

from droidgate_android.handlers.dispatchers import find_dispatched_functions
from droidgate_android.handlers.places import MARK
from droidgate_mappings.formats.format import ExistingFunction, SourceFile
from droidgate_mappings.model.capability import Capability

JAVA = "package a.b;\nimport org.json.JSONObject;\nimport android.content.Context;\n"
KOTLIN = JAVA.replace(";", "")
RUN = "JSONObject run(String id, JSONObject given) throws E {{ {} return null; }}"
WHEN = f"""{KOTLIN}object T {{
    fun run(id: String?, given: JSONObject?): JSONObject = when (id) {{
        "x" -> given
        else -> JSONObject()
    }}
}}"""
EQUATION = (
    KOTLIN
    + """class T(private val c: Context) : I {
    val y = "a"
    suspend fun run(id: String, given: JSONObject): String {
        if (id == "x") { return "${f("}")}" }
        return ""
    }
}"""
)
MOVE = "move what it does then into a method that takes the id and the arguments"
NO_NAME = f"run compares the id with an expression, which is not its parameter; {MOVE}"
SWITCH = 'switch (id) { case "x": return given; }'


def found(*files: tuple[str, str], ids: str = "x") -> ExistingFunction | None:
    sources = [SourceFile(f"{number}{ending}", text.encode()) for number, (ending, text) in enumerate(files)]
    return find_dispatched_functions([Capability(id=name) for name in ids], sources).get("x")


def java(body: str, head: str = "final class T", method: str = RUN) -> tuple[str, str]:
    return ".java", f"{JAVA}{head} {{ {method.format(body)} }}"


@pytest.mark.parametrize("file", [
    pytest.param(java(SWITCH), id="a switch of Java"),
    pytest.param(java('switch (id) { case "y", "x" -> { return given; } }'), id="a label among others"),
    pytest.param(java('if (id.equals("x")) { return given; }'), id="equals"),
    pytest.param(java('if (c) { for (;;) { if ("x".equals(id)) return given; } }'), id="equals of the text"),
    pytest.param(java(f"/* \" ' {{ */ char c = '\"'; // }}\n {SWITCH}"), id="comments and characters"),
    pytest.param(java(SWITCH, "public class T<A> implements I"), id="a generic class with an interface"),
    pytest.param(java(SWITCH, method="T(Context c) {{}} " + RUN), id="a constructor that takes a context"),
    pytest.param((".kt", WHEN), id="a when of Kotlin"),
    pytest.param((".kt", EQUATION), id="an equation of Kotlin"),
])  # fmt: skip
def test_a_method_that_takes_the_id_and_the_arguments_is_called(file: tuple[str, str]) -> None:
    function = found(file)
    assert function is not None
    assert (function.owner, function.name, function.missing) == ("a.b.T", "run", ())
    assert [parameter.role for parameter in function.parameters] == ["id", "arguments"]


@pytest.mark.parametrize(("file", "reason"), [
    (java('String s = id(); switch (s) { case "x": }'),
        f"run compares the id with s, which is not its parameter; {MOVE}"),
    (java('switch (get().text("tool")) { case "x": }'), NO_NAME),
    (java('if (get().text("tool").equals("x")) { }'), NO_NAME),
    ((".kt", WHEN.replace("when (id)", 'when (val tool = get("tool"))')), NO_NAME),
    ((".kt", EQUATION.replace("id ==", "get(id) ==")), NO_NAME),
    (java(SWITCH, method="private " + RUN), "run is private"),
    (java(SWITCH, method=RUN.replace("JSONObject given", "JSONObject given, Store s")),
        "s (Store) is not made from JSON here"),
    (java(SWITCH, method=RUN.replace(", JSONObject given", "")),
        "run does not take the arguments as one JSONObject"),
    (java(SWITCH, method=RUN.replace("JSONObject run", "Answer run")), "run returns Answer"),
    (java(SWITCH, method="T(Store store) {{}} " + RUN), "the constructor of T takes store (Store)"),
    (java(SWITCH, method="private T() {{}} " + RUN), "T has no constructor that can be called from here"),
    (java(SWITCH, "class T extends Service"),
        "T extends Service, so its constructor may not be all that it needs"),
    (java(SWITCH, "abstract class T"), "T is declared as abstract"),
    (java(SWITCH, "record T(int x)"), "T is declared as record"),
    ((".kt", EQUATION.replace("class T", "private class T")), "T is private"),
    ((".kt", EQUATION.replace("(private val c: Context) : I {", " {\n constructor(store: Store)")),
        "T has no constructor that can be called from here"),
    ((".kt", EQUATION.replace("): String", "): JSONObject?")), "run returns JSONObject?"),
    ((".kt", WHEN.replace(": JSONObject =", " =")), "run returns a type that is not written"),
    ((".java", f"{JAVA}class O {{ class T {{ {RUN.format(SWITCH)} }} }}"), "T is a nested class"),
    ((".java", java(SWITCH)[1].replace("import org.json.JSONObject;", "")),
        "given (JSONObject) is not made from JSON here"),
])  # fmt: skip
def test_a_method_that_cannot_be_called_is_reported_with_the_reason(
    file: tuple[str, str], reason: str
) -> None:
    function = found(file)
    assert function is not None
    assert reason in function.missing


@pytest.mark.parametrize("file", [
    pytest.param(java('log("x"); Map.of("x", id);'), id="a text that is only passed on"),
    pytest.param(java(f"// {MARK}\n{SWITCH}"), id="what droidgate wrote"),
    pytest.param((".java", 'class T { String x = "x" '), id="a class that does not end"),
    pytest.param((".java", '"""' * 9 + "}" * 9 + "{" * 9 + '("x"'), id="text that is not code"),
])  # fmt: skip
def test_without_a_comparison_nothing_is_found(file: tuple[str, str]) -> None:
    assert found(file) is None


def test_of_several_methods_only_one_that_can_be_called_counts() -> None:
    hidden = java(SWITCH, "class H", "private " + RUN)
    called = found(hidden, java(SWITCH))
    assert called is not None
    assert called.owner == "a.b.T"
    both = found(java(SWITCH), java(SWITCH, "class U"))
    assert both is not None
    assert both.missing == ("a.b.U.run compares a value with the id too",)


def test_a_method_that_does_not_know_all_ids_may_do_something_else() -> None:
    function = found(java(SWITCH), ids="xy")
    assert function is not None
    assert function.missing == ("run knows 1 of 2 ids, so it may do something else",)

"""Migrated handlers call the functions that the app has, and return what these return."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.handlers.jvm import (
    RUNNERS,
    add_runner,
    compile_java,
    compile_kotlin,
    coroutines_library,
    kotlin_library,
    run_class,
)
from droidgate.migration.source_sets import Language
from droidgate_mappings.formats.format import load_formats
from gateway.calls.phones_with_shims import add_app_actions
from gateway.migration.projects import copy_module, migrate, read_providers
from gateway.sources.formats_of_tests import write_tree

APP = Path(__file__).parent / "called_functions"
PREFIXES = {
    "mobile-mcp+1.0": "MobileMcpToolService",
    "mmcp+broadcast": "MmcpToolReceiver",
}
MANIFEST = (
    '<manifest xmlns:android="http://schemas.android.com/apk/res/android">'
    '<application android:label="Notes"/></manifest>'
)
TIME = {"year": 2026, "month": 2, "dayOfMonth": 14, "hour": 1, "minute": 2, "second": 3, "nanoOfSecond": 4}


def project_in(folder: Path) -> Path:
    """Make a project whose functions Kotlin declares."""
    gradle = 'plugins { id("com.android.application") }\nandroid { namespace = "dev.notes" }\n'
    return write_tree(
        folder,
        {
            "settings.gradle.kts": 'include(":app")\n',
            "app/build.gradle.kts": gradle,
            "app/src/main/AndroidManifest.xml": MANIFEST,
            "app/src/main/java/dev/notes/Notes.kt": (APP / "Notes.kt").read_bytes(),
        },
    )


def note(title: str, following: Any = None) -> dict[str, Any]:
    return {
        "id": 1 << 40, "title": title, "tags": ["a", "b"], "weights": [0.5], "isOpen": True,
        "next": following, "at": TIME, "class": None,
    }  # fmt: skip


def compiled(main: Path, kotlin: list[str], java: Sequence[str] = ()) -> tuple[Path, tuple[Path, Path]]:
    """Compile an app with more files, and return its classes and their libraries."""
    classes, libraries = main / "classes", (kotlin_library(), coroutines_library())
    own = [*main.rglob("*.java")]
    compile_kotlin([*main.rglob("*.kt"), *own, *(RUNNERS / name for name in kotlin)], classes, *libraries)
    compile_java([*own, *(RUNNERS / name for name in java)], classes, classes, *libraries, warnings=not java)
    return classes, libraries


OWNER = "dev.notes.Notes#"
SCALARS = {
    "flag": True, "small": -7, "large": 1 << 40, "single": 0.5, "double": 0.25, "text": "x", "data": "AQI=",
    "numbers": [1, 2],
}  # fmt: skip
OPTIONAL = {"limit": 8, "longLimit": 9, "name": "n"}
JOINED = "true|-7|1099511627776|0.5|0.25|x|[1, 2]|[1, 2]"
UNDER_RESULT = [
    (f"{OWNER}nested", {"title": "t"}, {"result": note("t", note("t"))}),
    (f"{OWNER}several", {"titles": ["t", "u"]}, {"result": [note("t"), note("u")]}),
    (f"{OWNER}scalars", SCALARS, {"result": f"{JOINED}|5|6|none"}),
    (f"{OWNER}scalars", {**SCALARS, **OPTIONAL}, {"result": f"{JOINED}|8|9|n"}),
    (
        f"{OWNER}scalars",
        {**SCALARS, "small": 1 << 31},
        "invalid_argument: 2147483648 is not a whole number of",
    ),
    (f"{OWNER}bytes", {"result": "ab"}, {"result": "YWI="}),
    (f"{OWNER}numbers", {"item": 3}, {"result": [0, 1, 2]}),
    (f"{OWNER}nothing", {}, {}),
    (f"{OWNER}fails", {"how": "checked"}, "backend_failure: dev.notes.Refused: not checked"),
    (f"{OWNER}contextClass", {}, {"result": "ContextWrapper"}),
    (f"{OWNER}takesNote", {"note": {}}, "unavailable: dev.notes.Notes#takesNote is not implemented yet"),
    ("dev.notes.Shared#inObject", {"value": 1.5}, {"result": 1.5}),
    ("dev.notes.WithContext#withContext", {}, {"result": "ContextWrapper"}),
    ("dev.notes.WithDefaults#withDefaults", {"text": "t"}, {"result": "t!"}),
    (
        "dev.notes.WithStore#stored",
        {"key": "k"},
        "unavailable: dev.notes.WithStore#stored is not implemented yet",
    ),
]
FLOAT = (f"{OWNER}float", {"value": 0.5})
SUSPENDED = (f"{OWNER}suspended", {"title": "t", "count": 1})
BY_TEXTS = [
    (
        f"{OWNER}scalars",
        {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in (SCALARS | OPTIONAL).items()
        },
        f"{JOINED}|8|9|n",
    ),
    (f"{OWNER}several", {"titles": '["t"]'}, [note("t")]),
    (f"{OWNER}several", {"titles": "t"}, "invalid_argument: t is not a list"),
    (f"{OWNER}nested", {"title": ""}, None),
    (f"{OWNER}nothing", {}, None),
    (f"{OWNER}bytes", {"result": "ab"}, "YWI="),
    ("dev.notes.Shared#inObject", {"value": "x"}, "invalid_argument: x is not a number"),
]
"""A capability, its arguments, and what its function returns, or the start of the failure."""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("language", "target", "calls"), [
    pytest.param("kotlin", "mobile-mcp+1.0",
        [*UNDER_RESULT, (*SUSPENDED, {"result": note("t")}), (*FLOAT, {"result": 0.5})],
        id="Kotlin calls suspend functions, and puts the result under its key"),
    pytest.param("java", "mobile-mcp+1.0",
        [*UNDER_RESULT, (*SUSPENDED, "unavailable: dev.notes.Notes#suspended is not implemented yet")],
        id="Java cannot call suspend functions"),
    pytest.param("kotlin", "mmcp+broadcast", BY_TEXTS, id="texts are converted to what a function takes"),
])  # fmt: skip
def test_a_handler_returns_the_result_of_the_apps_function(
    language: Language, target: str, calls: list[tuple[str, dict[str, Any], Any]], tmp_path: Path
) -> None:
    project = project_in(tmp_path / "project")
    (provider,) = read_providers(project)
    plan = migrate(provider, target, project, language)
    plan.write()
    main = project / "app/src/main"
    add_runner("CallsRunner", "dev.notes", PREFIXES[target], main)
    classes, libraries = compiled(main, ["JetpackFunctions.kt"])
    names = {entry.original: entry.written for entry in plan.translations[0].writing.names}
    lines = [f"{names.get(name, name)} {json.dumps(given)}" for name, given, _ in calls]
    found = run_class("dev.notes.CallsRunner", classes, lines, *libraries)
    for (name, given, expected), answer in zip(calls, found, strict=True):
        if "error" in answer:
            assert answer["error"].startswith(expected.replace(name, names.get(name, name))), (name, given)
        else:
            assert answer.get("value") == expected, (name, given)


TRACING = """package dev.notes
import androidx.appfunctions.AppFunction
import androidx.appfunctions.AppFunctionContext
class Tracing { @AppFunction fun trace(context: AppFunctionContext) {} }
"""
JAVA_RESERVES = "float, or its class, has a name that Java or Kotlin reserves"
JAVA_LACKS = "suspended is a suspend function, which Java cannot call; --language kotlin can"


@pytest.mark.parametrize("language", ["kotlin", "java"])
def test_a_comment_names_what_a_call_lacks(language: Language, tmp_path: Path) -> None:
    project = project_in(tmp_path)
    write_tree(project, {"app/src/debug/java/dev/notes/Tracing.kt": TRACING})
    (provider,) = read_providers(project)
    plan = migrate(provider, "mobile-mcp+1.0", project, language)
    (skeleton,) = [change.after for change in plan.changes if "Capabilities." in change.path]
    text = " ".join(skeleton.replace("//", "").split())
    lacking = re.findall(r"(\w+\.\w+) is not called: (.*?)\. ", text)
    assert lacking == [
        ("Notes.disabled", "it is disabled until the app enables it"),
        *([("Notes.float", JAVA_RESERVES)] * (language == "java")),
        *([("Notes.suspended", JAVA_LACKS)] * (language == "java")),
        ("Notes.takesNote", "note is of type dev.notes.Note, which is not made from JSON here"),
        ("Tracing.trace", "trace is in the source set debug only"),
        ("WithStore.stored", "the constructor of WithStore takes store (Map<String, Int>)"),
    ]


def test_the_functions_of_another_app_of_the_build_are_not_called(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    (provider,) = read_providers(project)
    twin = project / "twin"
    shutil.copytree(project / "app", twin)
    shutil.rmtree(twin / "src/main/java")
    plan = migrate(provider, "mobile-mcp+1.0", twin, "kotlin")
    (skeleton,) = [change.after for change in plan.changes if "Capabilities." in change.path]
    assert "Notes.bytes is not called: bytes is in another app." in skeleton
    assert any(note.endswith("; its comments say why") for note in plan.notes)


TOOLS = {
    "add": {"first_term": "integer", "second_term": "integer"},
    "who": {},
    "fail": {"thing": "string"},
    "greet": {"name": "string"},
}
REQUIRED = {"add": ["first_term"]}


def tools_in(folder: Path, code: str) -> Path:
    """Make a project whose mMCP activity names tools, and whose code chooses by these names."""
    tools = [
        {
            "name": name,
            "description": name,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": word} for key, word in given.items()},
                "required": REQUIRED.get(name, []),
            },
        }
        for name, given in TOOLS.items()
    ]
    manifest = json.dumps({"instructions": "Tools", "protocolVersion": "1.0", "tools": tools})
    actions = "".join(
        f'<action android:name="com.example.mMCP.ACTION_TOOL_{word}"/>' for word in ("ADVERTISE", "CALL")
    )
    activity = (
        '<activity android:name=".ToolActivity" android:exported="true">'
        f"<intent-filter>{actions}</intent-filter>"
        f"<meta-data android:name=\"mMCP_manifest\" android:value='{manifest}'/></activity>"
    )
    return write_tree(
        folder,
        {
            "build.gradle": "plugins { id 'com.android.application' }\nandroid { namespace 'dev.tools' }\n",
            "src/main/AndroidManifest.xml": MANIFEST.replace("/></", f">{activity}</application></"),
            f"src/main/java/dev/tools/{code}": (APP / code).read_bytes(),
        },
    )


CALLED = [
    ("add", {"first_term": 1}),
    ("add", {"first_term": 1, "second_term": 2}),
    ("who", {}),
    ("fail", {"thing": "luck"}),
    ("greet", {}),
    ("greet", {"name": "Ada"}),
]
OF_JAVA = [
    {"sum": 11}, {"sum": 3}, {"who": "ContextWrapper"}, "backend_failure: dev.tools.Tools$Failure: no luck",
    {"text": "Hello, friend!"}, {"text": "Hello, Ada!"},
]  # fmt: skip
OF_KOTLIN = ["11", "3", "Tools", None, "Hello, friend!", "Hello, Ada!"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("code", "answers", "results"), [
    ("Tools.java", OF_JAVA, ['{"sum":11}', '{"text":"Hello, Ada!"}']),
    ("Tools.kt", OF_KOTLIN, ["11", "Hello, Ada!"]),
])  # fmt: skip
def test_the_method_that_chooses_by_a_tools_name_is_called_with_its_arguments(
    code: str, answers: list[Any], results: list[str], tmp_path: Path
) -> None:
    project = tools_in(tmp_path / "project", code)
    (provider,) = read_providers(project)
    migrate(provider, "mobile-mcp+1.0", project, "java").write()
    migrate(provider, "appfunctions+v2", project, "kotlin").write()
    main = project / "src/main"
    add_runner("CallsRunner", "dev.tools", "MobileMcpToolService", main)
    classes, libraries = compiled(main, ["Jetpack.kt", "AppFunctionCalls.kt"], ["AppFunctionService.java"])
    calls = [
        (name, given) for (name, given), answer in zip(CALLED, answers, strict=True) if answer is not None
    ]
    lines = [f"{name} {json.dumps(given)}" for name, given in calls]
    found = run_class("dev.tools.CallsRunner", classes, lines, *libraries)
    assert [answer.get("error", answer.get("value")) for answer in found] == list(filter(None, answers))
    called = run_class("dev.tools.AppFunctionCalls", classes, [], *libraries)
    assert called == [{"result": result} for result in results]


SCREENS = """<shortcuts xmlns:android="http://schemas.android.com/apk/res/android">
    <capability android:name="a.LINK"><intent>
        <url-template android:value="weather://places/{day}{?name,more}&#x202e;"/>
        <parameter android:name="n" android:key="name" android:required="true"/>
        <parameter android:name="d" android:key="day"/>
        <parameter android:name="e" android:key="left"/>
    </intent></capability>
    <capability android:name="a.CLASS"><intent android:action="a.DO"
        android:targetPackage="dev.droidgate.sample.weather" android:targetClass=".MainActivity">
        <extra android:key="fixed" android:value="&quot;\\\\"/>
        <parameter android:name="p" android:key="place"/>
    </intent></capability>
    <capability android:name="a.HOSTILE">
        <intent><url-template android:value="intent:#Intent;{x};end"/></intent>
    </capability>
</shortcuts>"""
LINKED = "weather://places/?name=%C3%A4%26b%3Dc%E2%80%AE#Intent;package=org.own;S.left=2;end"
CLASS = "org.own/dev.droidgate.sample.weather.MainActivity"
STARTED = f"#Intent;action=a.DO;component={CLASS};S.fixed=%22%5C;S.place=-e%20%24(x);end"
OPENED = [
    # As Android's own Intent.toUri writes what is opened.
    ("a.LINK", {"name": "ä&b=c", "left": 2}, LINKED),
    ("a.LINK", {"name": "", "day": "a/b"}, "weather://places/a%2Fb?name=%E2%80%AE#Intent;package=org.own;end"),
    ("a.LINK", {"day": "x"}, "a.LINK has no fulfilment for these arguments"),
    ("a.CLASS", {"place": "-e $(x)"}, STARTED),
    ("a.HOSTILE", {}, "a.HOSTILE has no fulfilment for these arguments"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("language", "target"), [("java", "mmcp+1.0"), ("kotlin", "appfunctions+v2")])
def test_a_handler_opens_the_screen_that_an_app_action_declares(
    language: Language, target: str, tmp_path: Path
) -> None:
    project = copy_module("weather", tmp_path / "project")
    main = project / "src/main"
    add_app_actions(project, SCREENS)
    opened, refused = read_providers(project, load_formats()["app-actions"])
    provider = opened.model_copy(update={"capabilities": (*opened.capabilities, *refused.capabilities)})
    plan = migrate(provider, target, project, language)
    plan.write()
    (handlers,) = (*main.rglob("*Capabilities.java"), *main.rglob("Base*.kt"))
    text = handlers.read_text(encoding="utf-8")
    assert text.count("MainActivityScreens.open(") == 2
    assert "open is not called: links with the scheme 'intent' are not opened." in " ".join(text.split())
    made = [path for path in main.rglob("*.java") if "MainActivity.java" not in path.name]
    java = [path for path in made if not path.name.startswith("Weather")]
    shutil.copy(Path(__file__).with_name("ScreensRunner.java"), main / "java")
    java.append(main / "java/ScreensRunner.java")
    classes, libraries = tmp_path / "classes", (kotlin_library(),)
    if language == "kotlin":
        compile_kotlin([handlers, *java, RUNNERS / "Jetpack.kt"], classes, *libraries)
    compile_java(java, classes, classes, *libraries)
    lines = [f"{name} {json.dumps(arguments)}" for name, arguments, _ in OPENED]
    seen = run_class("dev.droidgate.sample.weather.ScreensRunner", classes, lines, *libraries)
    assert seen == [expected for _, _, expected in OPENED]

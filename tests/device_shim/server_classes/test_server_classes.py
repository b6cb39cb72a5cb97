"""The virtual phone and droidgate's tables, against the classes of Android's system server."""

import itertools
import json
import os
import re
import subprocess
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

import pytest

from device_shim.phone_system.phone_system_apps import make_phone, run
from device_shim.server_classes import phone_answers, random_intents
from device_shim.server_classes.shell_commands import random_command
from droidgate_phone.java.app_values import AppFunctionError
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.callers import CallerIdentity
from droidgate_phone.system.generic_documents import Properties, in_map_order
from requirements_of_tests import SHORT_JVM, require, short_run

pytestmark = [pytest.mark.slow, pytest.mark.requires("android-17-jar", "jdk-25")]

ANDROID_16, ANDROID_17 = "framework-jar", "android-17-jar"
EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS"
DENIED = 1000
Server = Callable[[str, Iterable[object]], list[Any]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Return what has the classes of a release's jar answer questions, JSON values."""
    sources, out = Path(__file__).parent, tmp_path_factory.mktemp("server_classes")
    javac = [*short_run("jdk-25"), "-proc:none", "-encoding", "UTF-8"]
    for folder, class_path in (("loader", ""), ("java", require(ANDROID_17))):
        files = sorted((sources / folder).rglob("*.java"))
        compilation = subprocess.run(
            [*javac, "-cp", class_path, "-d", out / folder, *files],
            capture_output=True,
            text=True,
            check=False,
        )
        assert compilation.returncode == 0, compilation.stderr
    java = require("jdk-25").with_name("java")

    def ask(jar: str, questions: Iterable[object]) -> list[Any]:
        command: list[str | Path] = [java, *SHORT_JVM, "-cp", out / "loader", "AndroidLoader"]
        lines = "".join(f"{json.dumps(question)}\n" for question in questions)
        answered = subprocess.run(
            [*command, out / "java", require(jar)], input=lines, capture_output=True, text=True, check=False
        )
        assert answered.returncode == 0, answered.stderr[-4000:]
        return [json.loads(line) for line in answered.stdout.split("\n") if line]

    return ask


@pytest.mark.parametrize(("sdk", "jar"), [("36", ANDROID_16), ("37", ANDROID_17)])
def test_each_kind_of_caller_may_execute_what_it_may_on_android(
    sdk: str, jar: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(jar)
    kinds = [
        {"uid": uid, "execute": execute, "system": system, "own": own, "listed": listed}
        for uid, (execute, system, own, listed) in itertools.product(
            (0, 1000, 2000, 10123), itertools.product((False, True), repeat=4)
        )
    ]
    seen = []
    for kind in kinds:
        held = {EXECUTE: kind["execute"], f"{EXECUTE}_SYSTEM": kind["system"]}
        with make_phone(sdk) as system:
            permissions = system.packages.permissions
            monkeypatch.setattr(type(permissions), "holds", lambda _self, _uid, name, held=held: held[name])
            if kind["listed"]:
                system.app_functions.allow_caller("agent", "target")
            caller = CallerIdentity(kind["uid"], "agent")
            # What may be executed is not there, which Android finds out later.
            with pytest.raises(AppFunctionError) as refused:
                system.app_functions.execute(caller, "agent" if kind["own"] else "target", "f", {}, seconds=1)
            seen.append((kind, {"may": refused.value.code != DENIED}))
    assert seen == list(zip(kinds, server(jar, kinds), strict=True))


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Iterator[AndroidSystem]:
    """Return a phone of Android 17 behind whose shell is the stand-in that is behind Android's."""

    def fail(function: str) -> bool:
        if function == "fail":
            raise AppFunctionError(1003, "Function fail does not exist")
        return True

    def execute(
        _caller: object, _package: str, function: str, parameters: Properties, **_: float
    ) -> Properties:
        if function == "fail":
            raise AppFunctionError(1003, "No such function")
        return in_map_order(parameters)

    with make_phone("37") as phone:
        functions = phone.app_functions
        monkeypatch.setattr(functions, "execute", execute)
        monkeypatch.setattr(functions, "set_enabled", lambda _package, function, _state: fail(function))
        monkeypatch.setattr(functions, "is_enabled", lambda _package, function: fail(function))
        yield phone


def comparable(status: int, out: str, error: str) -> tuple[int, str, str]:
    """Return what a command printed, without the virtual machine's part: stack traces, words about null."""
    error = "\n".join(line for line in error.split("\n") if not re.match(r"\s+at |Caused by: ", line))
    return status & 255, re.sub(r"(NullPointerException): .*", r"\1", out), error.rstrip("\n")


def differences(system: AndroidSystem, server: Server, seed: int, count: int) -> list[object]:
    random = Random(seed)
    commands = [random_command(random) for _ in range(count)]
    rows: list[object] = []
    for command, answer in zip(
        commands, server(ANDROID_17, ({"args": words} for words in commands)), strict=True
    ):
        android = comparable(answer["status"], answer["out"], answer["error"])
        ran = run(system, "cmd", "app_function", *command)
        phone = comparable(ran.status, ran.stdout, ran.stderr)
        if android != phone:
            rows.append({"command": command, "android": android, "phone": phone})
    return rows


def test_the_shell_answers_random_commands_as_androids_does(system: AndroidSystem, server: Server) -> None:
    assert differences(system, server, seed=17, count=1_000) == []


@pytest.mark.long
@pytest.mark.timeout(0)
def test_the_shell_answers_thousands_of_commands_as_androids_does(
    system: AndroidSystem, server: Server
) -> None:
    seed = Random().randrange(1 << 32)
    count = int(os.environ.get("DROIDGATE_FUZZ_EXAMPLES", "100000"))
    assert differences(system, server, seed, count) == [], seed


Question = phone_answers.Question
INTENTS: dict[str, tuple[Callable[[Random], Question], Callable[[Question], object]]] = {
    "arguments": (random_intents.random_arguments, phone_answers.parse_arguments),
    "droidgate's commands": (random_intents.random_command, phone_answers.meant),
    "droidgate's links": (random_intents.random_link, phone_answers.meant),
    "a shim's screens": (random_intents.random_started, phone_answers.meant),
    "URIs": (random_intents.random_uri, phone_answers.split_uri),
    "matches": (random_intents.random_match, phone_answers.match),
    "resolutions": (random_intents.random_resolution, phone_answers.resolve),
}


def intent_differences(kind: str, server: Server, seed: int, count: int) -> list[object]:
    make, answer = INTENTS[kind]
    random = Random(seed)
    questions = [make(random) for _ in range(count)]
    rows: list[object] = []
    for question, android in zip(questions, server(ANDROID_17, questions), strict=True):
        # Android has a number for each reason that a filter does not match.
        stated = None if isinstance(android, int) and android < 0 else android
        phone = answer(question)
        if isinstance(stated, dict) and isinstance(phone, dict):
            stated = {name: stated.get(name) for name in phone}
        if stated != phone:
            rows.append({"question": question, "android": stated, "phone": phone})
    return rows


@pytest.mark.parametrize("kind", INTENTS)
def test_intents_are_read_matched_and_resolved_as_on_android(kind: str, server: Server) -> None:
    assert intent_differences(kind, server, seed=17, count=5_000) == []


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", INTENTS)
def test_many_thousands_of_intents_are_read_as_on_android(kind: str, server: Server) -> None:
    seed = Random().randrange(1 << 32)
    count = int(os.environ.get("DROIDGATE_FUZZ_EXAMPLES", "100000"))
    assert intent_differences(kind, server, seed, count) == [], seed


@pytest.mark.requires("aapt2")
def test_protection_levels_are_those_of_androids_manifest(server: Server, tmp_path: Path) -> None:
    framework = tmp_path / "framework.apk"
    with zipfile.ZipFile(require(ANDROID_17)) as jar, zipfile.ZipFile(framework, "w") as archive:
        archive.writestr("AndroidManifest.xml", jar.read("AndroidManifest.xml"))
    command: list[str | Path] = [
        require("aapt2"),
        "dump",
        "xmltree",
        "--file",
        "AndroidManifest.xml",
        framework,
    ]
    tree = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    numbers = {}
    for element in re.findall(r"E: permission (.*?)(?= E: |\Z)", tree, re.DOTALL):
        name, level = (
            re.search(r':name\(\w+\)="(.*?)"', element),
            re.search(r"protectionLevel\(\w+\)=(\w+)", element),
        )
        assert name is not None
        numbers[name[1]] = 0 if level is None else int(level[1], 0)
    levels = dict(
        zip(numbers, server(ANDROID_17, ({"level": level} for level in numbers.values())), strict=True)
    )
    for package, path in (
        ("droidgate_phone.system", "permissions.toml"),
        ("droidgate_mappings.tables.reach", "permissions.toml"),
    ):
        stated = tomllib.loads(resources.files(package).joinpath(path).read_text("utf-8"))["protection"]
        assert stated == {name: levels[name] for name in stated}, package

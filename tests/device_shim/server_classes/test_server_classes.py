"""The virtual phone and droidgate's tables, against the classes of Android's system server."""

import itertools
import json
import os
import re
import subprocess
import tomllib
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from device_shim.phone_system.phone_system_apps import component, make_apk, make_phone, package_of, run
from device_shim.server_classes import phone_answers, random_intents
from device_shim.server_classes.shell_commands import SHELLS, random_command, random_shell_command
from droidgate_phone.commands.command_registry import NOT_MODELLED
from droidgate_phone.java.app_values import AppFunctionError, BroadcastResult
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.activity_stack import ActivityNotFoundError
from droidgate_phone.system.callers import CallerIdentity
from droidgate_phone.system.generic_documents import Properties, in_map_order
from droidgate_phone.system.installation import InstallOptions
from droidgate_phone.system.package_service import InstallSession
from droidgate_phone.system.service_records import ServiceRefusedError
from requirements_of_tests import SHORT_JVM, require, short_run

pytestmark = [pytest.mark.slow, pytest.mark.requires("android-17-jar", "jdk-25")]

ANDROID_16, ANDROID_17 = "framework-jar", "android-17-jar"
EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS"
DENIED = 1000
Question = phone_answers.Question
Server = Callable[[str, Iterable[object]], list[Any]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Return what has the classes of a release's jar answer questions, JSON values."""
    sources, out = Path(__file__).parent, tmp_path_factory.mktemp("server_classes")
    javac = [*short_run("jdk-25"), "-proc:none", "-encoding", "UTF-8"]
    for folder, class_path in (("loader", ""), ("java", require(ANDROID_17))):
        files = sorted((sources / folder).rglob("*.java"))
        command = [*javac, "-cp", class_path, "-d", out / folder, *files]
        compilation = subprocess.run(command, capture_output=True, text=True, check=False)
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
    names = ("uid", "execute", "system", "own", "listed")
    facts = itertools.product((0, 1000, 2000, 10123), *[(False, True)] * 4)
    kinds: list[dict[str, Any]] = [dict(zip(names, each, strict=True)) for each in facts]
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
    lines = (line for line in error.split("\n") if not re.match(r"\s+(at |\.\.\. )|Caused by: ", line))
    texts = (
        re.sub(r"(NullPointerException|parse null string): .*", r"\1", text)
        for text in (out, "\n".join(lines))
    )
    out, error = texts
    return status & 255, re.sub(r"(Time: )\d+", r"\1", out), error.rstrip("\n")


MANY = pytest.param(0, marks=[pytest.mark.long, pytest.mark.timeout(0)], id="many")


def random_questions(count: int, make: Callable[[Random], Question]) -> list[Question]:
    """Return so many questions, the same in each run; without a count very many, others in each run."""
    random = Random(17) if count else Random()
    count = count or int(os.environ.get("DROIDGATE_FUZZ_EXAMPLES", "100000"))
    return [make(random) for _ in range(count)]


@pytest.mark.parametrize("count", [1_000, MANY])
def test_the_shell_answers_random_commands_as_androids_does(
    system: AndroidSystem, server: Server, count: int
) -> None:
    commands = random_questions(count, lambda random: {"args": random_command(random)})
    rows: list[object] = []
    for command, answer in zip(commands, server(ANDROID_17, commands), strict=True):
        android = comparable(answer["status"], answer["out"], answer["error"])
        ran = run(system, "cmd", "app_function", *command["args"])
        phone = comparable(ran.status, ran.stdout, ran.stderr)
        if android != phone:
            rows.append({"command": command, "android": android, "phone": phone})
    assert rows == []


APP = "com.x"
KINDS = ("Activity", "Service", "Receiver")


def ending(intent: Intent, *others: int) -> int:
    """Return how what is started with an intent ends: as its action says, where that is possible."""
    ends = re.fullmatch(r"result\.(-?\d+)", intent.action or "")
    return int(ends[1]) if ends and int(ends[1]) in others else 0


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[AndroidSystem, list[object]]]:
    """Return a phone of Android 17 with an app, and where it is touched; stand-ins are behind its shells."""

    def start_activity(_caller: object, intent: Intent) -> tuple[str, object]:
        end = ending(intent, 2, 3, -91, -92)
        if end == -91 or (end == -92 and intent.component is not None):
            raise ActivityNotFoundError(intent.component if end == -92 else None)
        record = SimpleNamespace(match=SimpleNamespace(name=intent.component))
        outcome = {2: "to-front", 3: "delivered-to-top"}.get(end, "started")
        return outcome, record if intent.component is not None else None

    def start_service(_caller: object, intent: Intent, **_: bool) -> ComponentName | None:
        end = ending(intent, 1, 2, 3, -1, -91, -92)
        if end in (1, 2):
            text = "Requires permission a.P" if end == 1 else "app is in background uid null"
            raise ServiceRefusedError(text, "", "")
        return None if end else ComponentName(APP, f"{APP}.Service")

    def stop_service(_caller: object, intent: Intent) -> bool:
        end = ending(intent, 1, -1)
        if end < 0:
            raise ServiceRefusedError("", "", "")
        return end == 1

    def broadcast(_caller: object, intent: Intent) -> BroadcastResult:
        return BroadcastResult(ending(intent, 1, 2, 3, -1, -91, -92), intent.identifier)

    filtered = '<intent-filter><action android:name="{}"/></intent-filter>'.format
    components = "".join(component(kind.lower(), kind, inside=filtered(kind)) for kind in KINDS)
    places: list[object] = []
    session = InstallSession(7, InstallOptions())
    permission = '<uses-permission android:name="android.permission.POST_NOTIFICATIONS"/>'
    apk = make_apk(APP, components, before=permission, of_application='android:testOnly="true"')
    with make_phone("37") as phone:
        phone.packages.install(apk, options=InstallOptions(test_only=True))
        for of, name, stand_in in (
            (phone.stack, "start", start_activity),
            (phone.stack, "wait_created", lambda _record: True),
            (phone.services, "start", start_service),
            (phone.services, "stop", stop_service),
            (phone.broadcasts, "send_and_wait", broadcast),
            (phone.packages, "create_session", lambda _options: session),
            (phone.packages, "commit_session", lambda _session: None),
            (phone.packages, "abandon_session", lambda _number: True),
            (phone.packages, "uninstall", lambda name, **_: name == APP),
            (phone.packages, "sessions", {7: session}),
            (phone.window, "press_key", places.append),
            (phone.window, "tap", lambda *place: places.extend((place, place))),
            (phone.window, "swipe", lambda start, end, _milliseconds: places.extend((start, end))),
            (phone.window, "drag", lambda start, end: places.extend((start, end))),
        ):
            monkeypatch.setattr(of, name, stand_in)
        yield phone, places


def touches(events: list[str]) -> list[object]:
    """Return the keys of injected events, or the first and the last place of a touch, in pixels."""
    keys: list[object] = [int(event.split()[2]) for event in events if event.startswith("key 0 ")]
    places = [event.split() for event in events if not event.startswith("key ")]
    return keys + [tuple(map(pixel, place)) for place in (places and [places[0], places[-1]])]


def pixel(text: str) -> int:
    """Return what Java casts a float to."""
    return 0 if text == "NaN" else int(max(-(2.0**31), min(float(text), 2.0**31 - 1)))


def random_shell_question(random: Random) -> Question:
    shell = random.choice(list(SHELLS))
    return {"shell": shell, "words": random_shell_command(random, shell)}


@pytest.mark.parametrize("count", [5_000, MANY])
def test_the_shells_of_services_answer_random_commands_as_androids_do(
    touched: tuple[AndroidSystem, list[object]], server: Server, count: int
) -> None:
    phone, places = touched
    package = package_of(phone, APP)
    facts = {"name": APP, "uid": package.uid, "path": package.base_path, "version": package.version_code}
    questions = [{"packages": [facts]}, *random_questions(count, random_shell_question)]
    rows: list[object] = []
    compared: Counter[str] = Counter()
    for question, answer in list(zip(questions, server(ANDROID_17, questions), strict=True))[1:]:
        places.clear()
        ran = run(phone, question["shell"], *question["words"], stdin=b"7 bytes")
        if ran.status == NOT_MODELLED:
            continue
        compared[question["shell"]] += 1
        android = (*comparable(answer["status"], answer["out"], answer["error"]), touches(answer["events"]))
        seen = (*comparable(ran.status, ran.stdout, ran.stderr), places)
        if android != seen:
            rows.append({"command": question, "android": android, "phone": (*seen[:3], [*places])})
    assert rows == []
    assert set(compared) == set(SHELLS)
    assert all(number > 400 for number in compared.values()), compared


INTENTS: dict[str, tuple[Callable[[Random], Question], Callable[[Question], object]]] = {
    "arguments": (random_intents.random_arguments, phone_answers.parse_arguments),
    "droidgate's commands": (random_intents.random_command, phone_answers.meant),
    "droidgate's links": (random_intents.random_link, phone_answers.meant),
    "a shim's screens": (random_intents.random_started, phone_answers.meant),
    "URIs": (random_intents.random_uri, phone_answers.split_uri),
    "matches": (random_intents.random_match, phone_answers.match),
    "resolutions": (random_intents.random_resolution, phone_answers.resolve),
}


@pytest.mark.parametrize("count", [5_000, MANY])
@pytest.mark.parametrize("kind", INTENTS)
def test_intents_are_read_matched_and_resolved_as_on_android(kind: str, server: Server, count: int) -> None:
    make, answer = INTENTS[kind]
    asked = random_questions(count, make)
    rows: list[object] = []
    for question, android in zip(asked, server(ANDROID_17, asked), strict=True):
        # Android has a number for each reason that a filter does not match.
        stated = None if isinstance(android, int) and android < 0 else android
        phone = answer(question)
        if isinstance(stated, dict) and isinstance(phone, dict):
            stated = {name: stated.get(name) for name in phone}
        if stated != phone:
            rows.append({"question": question, "android": stated, "phone": phone})
    assert rows == []


@pytest.mark.requires("aapt2")
def test_protection_levels_are_those_of_androids_manifest(server: Server, tmp_path: Path) -> None:
    framework = tmp_path / "framework.apk"
    with zipfile.ZipFile(require(ANDROID_17)) as jar, zipfile.ZipFile(framework, "w") as archive:
        archive.writestr("AndroidManifest.xml", jar.read("AndroidManifest.xml"))
    words = ("dump", "xmltree", "--file", "AndroidManifest.xml")
    command: list[str | Path] = [require("aapt2"), *words, framework]
    tree = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    numbers = {}
    for element in re.findall(r"E: permission (.*?)(?= E: |\Z)", tree, re.DOTALL):
        name, level = re.search(r':name\(\w+\)="(.*?)"', element), re.search(r"Level\(\w+\)=(\w+)", element)
        assert name is not None
        numbers[name[1]] = 0 if level is None else int(level[1], 0)
    answers = server(ANDROID_17, ({"level": level} for level in numbers.values()))
    levels = dict(zip(numbers, answers, strict=True))
    for package in ("droidgate_phone.system", "droidgate_mappings.tables.reach"):
        text = resources.files(package).joinpath("permissions.toml").read_text("utf-8")
        stated = tomllib.loads(text)["protection"]
        assert stated == {name: levels[name] for name in stated}, package

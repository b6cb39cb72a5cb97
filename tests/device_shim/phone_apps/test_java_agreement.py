"""What the behaviours answer is what the sample apps' own Java answers, request by request."""

import base64
import json
import random
import string
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.handlers.jvm import as_line, compile_java, run_class
from device_shim.phone_apps.small_phone import NOW, SmallPhone
from droidgate_phone.apps.clock_in import ClockInEngine
from droidgate_phone.apps.pdf_tool import problem_with
from droidgate_phone.apps.sample_apps import sample_apps_directory
from droidgate_phone.apps.tally import Totals, run_capability
from droidgate_phone.apps.tool_requests import answer_request, read_descriptor
from droidgate_phone.apps.weather import WeatherApp
from droidgate_phone.java.app_values import BroadcastResult
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_phone.java.org_json import JsonError, parse_object, write_json
from requirements_of_tests import require

TODAY = "2026-02-14"
SEED = 20_260_214
# Without a capital sigma: where one ends a word, a plain JVM asks its word breaker and Android asks Unicode.
_CHARACTERS = [*string.printable, "ß", "İ", "語", "😀", "\ud83d", "\u2028", "\xa0", "Ǆ", "\x00"]


# Folders of the sample apps, and classes in them that need nothing of a running Android.
_CLASSES = {
    "mobile-mcp": ("RequestEngine", "Descriptor"),
    "clock-in/app": ("ClockInEngine", "ClockInBook"),
    "tally/app": ("TallyEngine", "Totals"),
    "weather/app": ("Weather", "WeatherTools"),
    "pdf-tool/app": ("SchemaCheck",),
}


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The apps' classes and the runners that call them, compiled once for all tests of a process."""
    require("newer-jdk")
    sources = sorted((Path(__file__).parent / "java").glob("*.java"))
    for module, names in _CLASSES.items():
        main = sample_apps_directory() / module / "src/main/java"
        sources += [path for path in main.rglob("*.java") if path.stem in names]
    out = tmp_path_factory.mktemp("sample_classes")
    compile_java(sources, out, warnings=False)
    return out


def from_utf16(line: str) -> str:
    """Return the text that a runner printed as base64 of UTF-16."""
    return base64.b64decode(line).decode("utf-16-be", "surrogatepass")


class _Generator(random.Random):
    """Wild JSON, and texts that are nearly JSON."""

    def text(self, longest: int = 12) -> str:
        return "".join(self.choices(_CHARACTERS, k=self.randrange(longest)))

    def value(self, depth: int = 3) -> Any:
        kind = self.randrange(9 if depth else 7)
        simple: list[Any] = [
            None, True, False, self.randrange(-(2**65), 2**65), self.randrange(-5, 99),
            self.choice([0.5, -0.0, 1e21, 2.0**63, 1e-7, 123456789.125, 3.0, 2.5e7, 1e300]), self.text(),
        ]  # fmt: skip
        if kind < len(simple):
            return simple[kind]
        if kind == len(simple):
            return [self.value(depth - 1) for _ in range(self.randrange(4))]
        return {self.text(4): self.value(depth - 1) for _ in range(self.randrange(4))}

    def mutated(self, text: str) -> str:
        for _ in range(self.choice([0, 0, 0, 0, 0, 0, 1, 1, 2, 5])):
            at = self.randrange(len(text) + 1)
            new = self.choice(["", "", self.text(4), self.choice('{}[]",:\\'), "\\u0041", "\\ud83d", "1e5"])
            text = text[:at] + new + text[at + self.randrange(3) :]
        return text

    def json_text(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self.random() < 0.5)


def _read_and_write(text: str) -> str:
    try:
        read = parse_object(text)
    except JsonError as error:
        return str(error)
    try:
        return write_json(read)
    except JsonError:
        return "null"


def test_org_json_reads_and_writes_3000_texts_as_androids_own_does(classes: Path) -> None:
    generator = _Generator(SEED)
    lenient = [
        "'", "=", "=>", ";", "#", "//", "/*", "*/", "010", "0x1F", "NaN", "Infinity", "TRUE", "nul", ".5",
        "1_0",
    ]  # fmt: skip
    texts = []
    for _ in range(3000):
        text = generator.json_text({generator.text(4): generator.value() for _ in range(3)})
        at = generator.randrange(len(text) + 1)
        texts.append(generator.mutated(text[:at] + generator.choice(["", *lenient]) + text[at:]))
    answers = map(from_utf16, run_class("dev.droidgate.sample.JsonRunner", classes, map(as_line, texts)))
    for text, theirs in zip(texts, answers, strict=True):
        assert _read_and_write(text) == theirs, text


def _good_request(generator: _Generator) -> str:
    name = generator.choice(["clock_in_today", "make_up_clock_in", "query_clock_in"])
    day = f"{generator.choice([1999, 2000, 2024, 2026])}-02-{generator.randrange(1, 31):02}"
    call = {"id": name, "args": {} if name == "clock_in_today" else {"date": day}}
    body = {"version": "1.0", "request": {"id": generator.text() or "r", "capability": call}}
    return generator.json_text({"mobile-mcp-request": body})


def _clock_in_request(generator: _Generator) -> str:
    if generator.random() < 0.4:
        return _good_request(generator)
    names = [
        "clock_in_today", "make_up_clock_in", "query_clock_in", "x", "", 5, 2.5, None, [1, "/"],
        {"a": 1e20, "b": [2.0**63, -(2.0**63)]},
    ]  # fmt: skip
    dates = [
        TODAY, "2026-02-13", "2026-02-15", "2024-02-29", "2023-02-29", "0000-02-29", "1999-12-31", "x", 7,
        None,
    ]  # fmt: skip
    arguments = {generator.choice(["date", "date", "date", "d"]): generator.choice(dates)}
    arguments = generator.choice([arguments, arguments, {}])
    call: Any = {"id": generator.choice(names[: generator.choice([3, 10])]), "args": arguments}
    if generator.random() < 0.2:
        call[generator.choice(["input", "args", "id", "x"])] = generator.value()
    request: Any = {"id": generator.choice(["r1", "r1", "r2", "r3", "ü/", "", 4]), "capability": call}
    if generator.random() < 0.1:
        request[generator.choice(["capability", "id"])] = generator.value()
    body: Any = {
        "version": generator.choice(["1.0", "1.0", "1.0", "1.0", "1.0", "1", 1.0]),
        "request": request,
    }
    if generator.random() < 0.1:
        body["request"] = generator.value()
    return generator.mutated(generator.json_text({"mobile-mcp-request": body}))


class _Book:
    def __init__(self) -> None:
        self.clocked: set[str] = set()

    def days(self) -> frozenset[str]:
        return frozenset(self.clocked)

    def add(self, day: str) -> bool:
        is_new = day not in self.clocked
        self.clocked.add(day)
        return is_new


@pytest.mark.slow
def test_clock_in_answers_2000_requests_as_its_java_does(classes: Path) -> None:
    descriptor = (
        SmallPhone().context("dev.droidgate.sample.clockin").read_xml_resource("@xml/mcp_capabilities")
    )
    generator = _Generator(SEED)
    too_deep = '{"a":' * 10_000
    texts = [None, too_deep, *(_clock_in_request(generator) for _ in range(2000))]
    lines = [as_line(descriptor), as_line(str(int(NOW))), *map(as_line, texts)]
    answers = map(from_utf16, run_class("dev.droidgate.sample.clockin.ClockInRunner", classes, lines))
    engine = ClockInEngine(read_descriptor(descriptor), _Book(), lambda: TODAY)
    ours = [engine.answer(text) for text in texts]
    assert sum('"success"' in line for line in ours) > 200
    for text, mine, theirs in zip(texts, ours, answers, strict=True):
        assert mine == theirs, text


def _tally_request(generator: _Generator) -> str:
    player: Any = generator.choice(["Ada", "Ada", "Bob", generator.text(), "x" * 101, "", 7])
    points: Any = generator.choice([1, -5, 2**62, -(2**63), 2**63, 1.0, True, "1", None])
    arguments: Any = {"player": player}
    name = generator.choice(["add_points", "add_points", "read_total", "start_over", "x"])
    if name == "add_points" or generator.random() < 0.1:
        arguments["points"] = points if generator.random() < 0.3 else generator.randrange(-9, 99)
    if name == "start_over" and generator.random() < 0.8:
        # Rarely said, so that totals add up.
        name = "read_total"
    call: Any = {"id": name, "args": {} if name == "start_over" else arguments}
    body = {"version": "1.0", "request": {"id": generator.text() or "r", "capability": call}}
    text = generator.json_text({"mobile-mcp-request": body})
    return generator.mutated(text) if generator.random() < 0.2 else text


def _point_for(number: int) -> str:
    call = {"id": "add_points", "args": {"player": f"p{number}", "points": 1}}
    return json.dumps({"mobile-mcp-request": {"version": "1.0", "request": {"id": "r", "capability": call}}})


def test_tally_answers_2000_requests_as_its_java_does(classes: Path) -> None:
    descriptor = SmallPhone().context("dev.droidgate.sample.tally").read_xml_resource("@xml/mcp_capabilities")
    generator = _Generator(SEED)
    texts = [None, *(_tally_request(generator) for _ in range(2000)), *map(_point_for, range(101))]
    lines = [as_line(descriptor), *map(as_line, texts)]
    answers = map(from_utf16, run_class("dev.droidgate.sample.tally.TallyRunner", classes, lines))
    capabilities, run = read_descriptor(descriptor), partial(run_capability, Totals())
    ours = [answer_request(capabilities, text, run) for text in texts]
    assert sum('"success"' in line for line in ours) > 800
    for token in ("64-bit", "100 players", "an integer", "unknown_capability"):
        assert any(token in line for line in ours), token
    for text, mine, theirs in zip(texts, ours, answers, strict=True):
        assert mine == theirs, text


def _weather_call(generator: _Generator) -> tuple[str | None, str | None]:
    place = generator.choice(
        ["Paris", "  New \t York ", "ΣΊΣΥΦΟΣ", "İstanbul", "", "1 2", "x" * 81, generator.text(30)]
    )
    arguments: Any = {
        "currentWeather": {"location": place},
        "forecast": {"location": place, "days": generator.choice(["3", 7, "8", "0", "x", 2.0, None])},
        "warmestPlace": {
            "places": ";".join([place] + [generator.text(6) for _ in range(generator.randrange(12))])
        },
    }
    name = generator.choice([*arguments, *arguments, "getWeather", "", None])
    chosen = arguments.get(name, {})
    if generator.random() < 0.3:
        return "currentWeather", generator.json_text({"location": "a" + generator.text(20)})
    if generator.random() < 0.1:
        chosen[generator.text(4)] = generator.value()
    text = generator.json_text(chosen)
    return name, generator.choice([text, text, text, generator.mutated(text), "", None])


def test_weather_is_the_same_as_in_java_for_2000_calls(classes: Path) -> None:
    generator = _Generator(SEED)
    calls = [_weather_call(generator) for _ in range(2000)]
    lines = [as_line(part) for call in calls for part in call]
    answers = map(from_utf16, run_class("dev.droidgate.sample.weather.WeatherRunner", classes, lines))
    ours = [_broadcast(SmallPhone(), *call) for call in calls]
    assert sum(not line.startswith("Error: ") for line in ours) > 400
    for call, mine, theirs in zip(calls, ours, answers, strict=True):
        assert mine == theirs, call


def _broadcast(phone: SmallPhone, tool: str | None, params: str | None) -> str:
    extras = {name: value for name, value in (("tool", tool), ("params", params)) if value is not None}
    intent = Intent("com.example.ACTION_MMCP_INVOKE", extras=Bundle.of_strings(extras))
    (receiver,) = WeatherApp.RECEIVERS.values()
    found = receiver(phone.context(WeatherApp.PACKAGE)).on_receive(intent, BroadcastResult())
    assert isinstance(found, BroadcastResult)
    return str(found.data)


_GOOD = {"path": "a.pdf", "format": "png", "paths": ["a", "b"], "output_name": "x", "query": "q"}
_OTHER = ["a.pdf", 3, 0, 72.0, ["a", "b"], [""], "png", {"width": 595, "height": 842}, {"width": ""}]


def _tool_value(generator: _Generator, schema: Any) -> Any:
    """Return parameters that fit a schema, with up to three of them left out, changed or added."""
    names = list(schema["properties"])
    value: dict[str, Any] = {name: _GOOD[name] for name in names if name in _GOOD}
    for _ in range(generator.randrange(4)):
        name = generator.choice([*names, "x"])
        if value.pop(name, None) is None or generator.random() < 0.5:
            value[name] = generator.choice([generator.value(), *_OTHER])
    return value


def test_pdf_tool_checks_1000_calls_as_its_java_does(classes: Path) -> None:
    context = SmallPhone().context("dev.droidgate.sample.pdftool")
    manifest = context.read_meta_data("dev.droidgate.sample.pdftool.ToolActivity", "mMCP_manifest")
    generator = _Generator(SEED)
    schemas = [tool["parameters"] for tool in json.loads(str(manifest))["tools"]]
    calls = [(schema, generator.json_text(_tool_value(generator, schema))) for schema in schemas * 200]
    lines = [as_line(part) for schema, text in calls for part in (json.dumps(schema), text)]
    answers = [
        from_utf16(line) for line in run_class("dev.droidgate.sample.pdftool.PdfRunner", classes, lines)
    ]
    assert 50 < answers.count("") < 950
    for (schema, text), theirs in zip(calls, answers, strict=True):
        assert (problem_with(schema, parse_object(text)) or "") == theirs, text

"""What the behaviours answer is what the sample apps' own Java answers, request by request."""

import base64
import json
import string
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.handlers.jvm import as_line, compile_java, run_class
from device_shim.phone_apps.small_phone import NOW, SmallPhone
from device_shim.shim_engine.mutated_vectors import Mutator
from droidgate_mappings.model.json_values import canonical_json
from droidgate_phone.apps.clock_in import ClockInEngine
from droidgate_phone.apps.pdf_tool import problem_with
from droidgate_phone.apps.tally import Totals, run_capability
from droidgate_phone.apps.tool_requests import answer_request, read_descriptor
from droidgate_phone.apps.weather import WeatherApp
from droidgate_phone.java.app_values import BroadcastResult
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_phone.java.org_json import JsonError, parse_object, write_json
from droidgate_shim.builder.sample_apps import sample_apps_directory
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


def _changed(mutator: Mutator, text: str | None, rate: float = 0.6) -> str | None:
    """Return a text, so often damaged in up to three places, now and then none."""
    while text is not None and mutator.random() < rate:
        changed = mutator.changed_text(text)
        text = changed if isinstance(changed, str) else None
        rate /= 2
    return text


def _read_and_write(text: str) -> str:
    try:
        read = parse_object(text)
    except JsonError as error:
        return str(error)
    try:
        return write_json(read)
    except JsonError:
        return "null"


_LENIENT = (
    "'", "=", "=>", ";", "#", "//", "/*", "*/", "010", "0x1F", "NaN", "Infinity", "TRUE", "nul", ".5", "1_0",
    "-0.0", "1e21", "9223372036854775808", "0.0000001", "123456789.125", "3.0", "2.5e7", "1e300", "[[]]",
    "# x\n", "// y\r", "[\u20281]", "[1\x0b]", "[\u0663]", "[\u0663.5]", "[1.\u0663]", "[1.5D]", "[NaNf]",
    "[0x1p3]", "-0X.8P-2f", "0x1.p+1", "[0x1.8]", "0x1p1024", "[-0x1p99999]", "0x.p1", "[0x1p-9999999999]",
)  # fmt: skip
_JSON = (
    '{"a":1,"b":[true,null,"x"],"c":{"d":-0.5}}',
    '{"\u00e9/":"\\ud83d\\ude00","e":[],"f":{}}',
    '{"":[1,2.5]}',
)


def test_org_json_reads_and_writes_3000_texts_as_androids_own_does(classes: Path) -> None:
    mutator = Mutator(SEED)
    texts: list[str] = []
    while len(texts) < 3000:
        text = _changed(mutator, mutator.choice(_JSON)) or ""
        text = text.replace("TEXT", "".join(mutator.choices(_CHARACTERS, k=mutator.randrange(9))))
        at = mutator.randrange(len(text) + 1)
        texts.append(text[:at] + mutator.choice(["", *_LENIENT]) + text[at:])
    answers = map(from_utf16, run_class("dev.droidgate.sample.JsonRunner", classes, map(as_line, texts)))
    for text, theirs in zip(texts, answers, strict=True):
        assert _read_and_write(text) == theirs, text


def _request(capability: Any, request_id: Any = "r1", **arguments: Any) -> str:
    call = {"id": capability, "args": arguments}
    body = {"version": "1.0", "request": {"id": request_id, "capability": call}}
    return json.dumps({"mobile-mcp-request": body})


_DAYS = (
    TODAY, "2026-02-13", "2026-02-15", "2024-02-29", "2023-02-29", "0000-02-29", "1999-12-31", "x", 7, None,
    *(f"{year}-02-{day:02}" for year in (1999, 2000, 2024, 2026) for day in (1, 28, 30)),
)  # fmt: skip
_CLOCK_IN = (
    _request("clock_in_today"), _request("clock_in_today", "\u00fc/"), _request([1, "/"]), _request(2.5),
    *(_request(name, date=day) for name in ("make_up_clock_in", "query_clock_in") for day in _DAYS),
)  # fmt: skip


class _Book(set[str]):
    def days(self) -> frozenset[str]:
        return frozenset(self)

    def add(self, day: str) -> bool:  # type: ignore[override]
        is_new = day not in self
        super().add(day)
        return is_new


@pytest.mark.slow
def test_clock_in_answers_2000_requests_as_its_java_does(classes: Path) -> None:
    context = SmallPhone().context("dev.droidgate.sample.clockin")
    descriptor = context.read_xml_resource("@xml/mcp_capabilities")
    mutator = Mutator(SEED)
    too_deep = '{"a":' * 10_000
    texts = [None, too_deep, *(_changed(mutator, mutator.choice(_CLOCK_IN)) for _ in range(2000))]
    lines = [as_line(descriptor), as_line(str(int(NOW))), *map(as_line, texts)]
    answers = map(from_utf16, run_class("dev.droidgate.sample.clockin.ClockInRunner", classes, lines))
    engine = ClockInEngine(read_descriptor(descriptor), _Book(), lambda: TODAY)
    ours = [engine.answer(text) for text in texts]
    assert sum('"success"' in line for line in ours) > 200
    for text, mine, theirs in zip(texts, ours, answers, strict=True):
        assert mine == theirs, text


_PLAYERS = ("Ada", "Ada", "Bob", "\u00df\u0130\u8a9e", "x" * 101, "", 7)
_POINTS = (1, -5, 2**62, -(2**63), 2**63, 1.0, True, "1", None)


def _tally_request(mutator: Mutator) -> str | None:
    player, way = mutator.choice(_PLAYERS), mutator.random()
    if way < 0.02:
        # Rarely said, so that totals add up.
        return _request("start_over")
    if way < 0.4:
        return _changed(mutator, _request("read_total", player=player), 0.2)
    points = mutator.choice(_POINTS) if way < 0.55 else mutator.randrange(-9, 99)
    return _changed(mutator, _request("add_points", player=player, points=points), 0.2)


def test_tally_answers_2000_requests_as_its_java_does(classes: Path) -> None:
    descriptor = SmallPhone().context("dev.droidgate.sample.tally").read_xml_resource("@xml/mcp_capabilities")
    mutator = Mutator(SEED)
    texts = [None, *(_tally_request(mutator) for _ in range(2000))]
    texts += [_request("add_points", player=f"p{number}", points=1) for number in range(101)]
    lines = [as_line(descriptor), *map(as_line, texts)]
    answers = map(from_utf16, run_class("dev.droidgate.sample.tally.TallyRunner", classes, lines))
    capabilities, run = read_descriptor(descriptor), partial(run_capability, Totals())
    ours = [answer_request(capabilities, text, run) for text in texts]
    assert sum('"success"' in line for line in ours) > 800
    for token in ("64-bit", "100 players", "an integer", "unknown_capability"):
        assert any(token in line for line in ours), token
    for text, mine, theirs in zip(texts, ours, answers, strict=True):
        assert mine == theirs, text


_PLACES = ("Paris", "  New \t York ", "ΊΥΦΟ", "İstanbul", "", "1 2", "x" * 81, "a\ud83d\u2028\xa0Ǆ")


def _weather_call(mutator: Mutator) -> tuple[str | None, str | None]:
    place = mutator.choice(_PLACES) + mutator.choice(["", "", *_CHARACTERS])
    arguments: Any = {
        "currentWeather": {"location": place},
        "forecast": {"location": place, "days": mutator.choice(["3", 7, "8", "0", "x", 2.0, None])},
        "warmestPlace": {"places": ";".join(mutator.choices(_PLACES, k=mutator.randrange(1, 13)))},
    }
    name = mutator.choice([*arguments, *arguments, "getWeather", "", None])
    return name, _changed(mutator, json.dumps(arguments.get(name, {})), 0.3)


def test_weather_is_the_same_as_in_java_for_2000_calls(classes: Path) -> None:
    mutator = Mutator(SEED)
    calls = [("currentWeather", '{"location":"ΣΊΣΥΦΟΣ"}'), *(_weather_call(mutator) for _ in range(2000))]
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
    result = receiver(phone.context(WeatherApp.PACKAGE)).on_receive(intent, BroadcastResult())
    assert isinstance(result, BroadcastResult)
    return str(result.data)


_GOOD = {"path": "a.pdf", "format": "png", "paths": ["a", "b"], "output_name": "x", "query": "q"}
_OTHER = ("a.pdf", 3, 0, 72.0, ["a", "b"], [""], "png", {"width": 595, "height": 842}, {"width": ""})


def _tool_value(mutator: Mutator, schema: Any) -> str:
    """Return parameters that fit a schema, with up to three of them left out, changed or added."""
    names = list(schema["properties"])
    value: dict[str, Any] = {name: _GOOD[name] for name in names if name in _GOOD}
    for _ in range(mutator.randrange(4)):
        name = mutator.choice([*names, "x"])
        if value.pop(name, None) is None or mutator.random() < 0.5:
            value[name] = mutator.choice([mutator.changed(None), *_OTHER])
    return canonical_json(value)


def test_pdf_tool_checks_1000_calls_as_its_java_does(classes: Path) -> None:
    context = SmallPhone().context("dev.droidgate.sample.pdftool")
    manifest = context.read_meta_data("dev.droidgate.sample.pdftool.ToolActivity", "mMCP_manifest")
    mutator = Mutator(SEED)
    schemas = [tool["parameters"] for tool in json.loads(str(manifest))["tools"]]
    calls = [(schema, _tool_value(mutator, schema)) for schema in schemas * 200]
    lines = [as_line(part) for schema, text in calls for part in (json.dumps(schema), text)]
    answers = list(map(from_utf16, run_class("dev.droidgate.sample.pdftool.PdfRunner", classes, lines)))
    assert 50 < answers.count("") < 950
    for (schema, text), theirs in zip(calls, answers, strict=True):
        assert (problem_with(schema, parse_object(text)) or "") == theirs, text

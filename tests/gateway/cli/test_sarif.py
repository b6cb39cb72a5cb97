"""SARIF logs follow OASIS SARIF 2.1.0 and what code-scanning services ask for."""

import html
from pathlib import Path
from typing import Any

import pytest

from droidgate.cli.output.sarif import sarif_log
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import FINDING_CODES, Finding, Level
from titled_rows import titled


def _finding(path: str | None, pointer: str = "/a", line: int | None = 3, **facts: Any) -> Finding:
    source = None if path is None else Place(path=path, line=line)
    stated = {"code": "renamed", "level": Level.RENAMED, "message": "m", **facts}
    return Finding(pointer=pointer, source=source, **stated)


def _results(*findings: Finding) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = sarif_log(findings)["runs"][0]["results"]
    return results


def check_log(log: dict[str, Any]) -> None:
    """Hold a log against sections 3.13, 3.14, 3.19, 3.27, 3.28, 3.29 and 3.49 of the standard."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "droidgate"
    rules = driver["rules"]
    assert len({item["id"] for item in rules}) == len(rules)
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        assert all(isinstance(item, str) and item for item in result["partialFingerprints"].values())
        assert result["partialFingerprints"]
        (location,) = result["locations"]
        address = location["physicalLocation"]["artifactLocation"]
        assert address["uri"]
        assert not address["uri"].startswith("/")
        assert set(address) <= {"uri", "uriBaseId"}
        if "uriBaseId" in address:
            assert address["uriBaseId"] in run["originalUriBaseIds"]
        region = location["physicalLocation"].get("region")
        assert region is None or region["startLine"] >= 1


def test_a_log_has_what_the_standard_asks_for() -> None:
    log = sarif_log([_finding("a.xml"), _finding(None, code="unheard-of", level=Level.ERROR), _finding("-")])
    check_log(log)
    check_log(sarif_log([]))


def test_rules_explain_their_codes() -> None:
    (rule,) = sarif_log([_finding("a.xml"), _finding("b.xml")])["runs"][0]["tool"]["driver"]["rules"]
    assert rule["id"] == "renamed"
    assert rule["shortDescription"]["text"] == FINDING_CODES["renamed"].meaning


def test_paths_are_relative_to_the_working_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    paths = ("a b/ü.xml", str(tmp_path / "c.xml"), "/elsewhere/d%.xml", "-", "git:main:./e.xml")
    locations = [item["locations"][0]["physicalLocation"] for item in _results(*map(_finding, paths))]
    assert [location["artifactLocation"] for location in locations] == [
        {"uri": "a%20b/%C3%BC.xml", "uriBaseId": "SRCROOT"},
        {"uri": "c.xml", "uriBaseId": "SRCROOT"},
        {"uri": "file:///elsewhere/d%25.xml"},
        {"uri": "stdin"},
        {"uri": "e.xml", "uriBaseId": "SRCROOT"},
    ]


TOOLS = '{"tools": [\n{"name": "a",\n"parameters": {}}]}'
STRING = TOOLS.replace('"', '\\"')


@titled(("file", "text", "rows"), {
    "a file of JSON": ("a.json", TOOLS, [3, 2, 1]),
    "a string resource": ("a.xml", f"<resources>\n<string>{STRING}</string></resources>", [4, 3, 1]),
    "another brace before it": ("a.xml", f"<string name='{{'>{STRING}</string>", [1, 1, 1]),
    "an attribute": ("a.xml", f"<meta-data\nvalue='{TOOLS}'/>", [4, 3, 1]),
    "an attribute in double quotes":
        ("a.xml", f'<meta-data value="{TOOLS.replace(chr(34), "&quot;")}"/>', [3, 2, 1]),
    "XML without JSON": ("a.xml", "<tools>\n<a/></tools>", [1, 1, 1]),
    "a file that is gone": (None, "", [1, 1, 1]),
})  # fmt: skip
def test_a_finding_in_json_is_at_the_row_of_its_value(
    file: str | None, text: str, rows: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    if file is not None:
        Path(file).write_text(text)
    pointers = ("/tools/0/parameters", "/tools/0", "/other")
    found = _results(*(_finding(file or "gone.json", pointer, 1) for pointer in pointers))
    assert [item["locations"][0]["physicalLocation"]["region"]["startLine"] for item in found] == rows


def test_fingerprints_outlive_moved_lines_and_changed_words_and_differ_for_each_result() -> None:
    logs = (
        _results(_finding("a.xml", line=3), _finding("a.xml", line=3)),
        _results(_finding("a.xml", line=9, message="other words")),
        _results(_finding("a.xml", "/b")),
    )
    first, second, moved, other = (item["partialFingerprints"] for log in logs for item in log)
    assert first == moved
    assert first not in (second, other)


def test_the_level_and_rule_of_droidgate_are_properties() -> None:
    (result,) = _results(_finding("a.xml", level=Level.DROPPED, rule="Specification 4", hint="do so"))
    assert result["properties"] == {"level": "dropped", "rule": "Specification 4"}
    assert result["message"]["text"] == "m; do so"


@pytest.mark.parametrize(
    ("level", "shown"),
    [(Level.READ, "note"), (Level.DROPPED, "warning"), (Level.IMPOSSIBLE, "error"), (Level.ERROR, "error")],
)
def test_levels_become_those_of_the_standard(level: Level, shown: str) -> None:
    (result,) = _results(_finding("a.xml", level=level))
    assert result["level"] == shown


def test_ids_are_not_markup() -> None:
    links = "![x](https://evil.example/?d=1) [a](1) https://evil.example www.evil.example"
    message = f'"{links}" @team #1 <b> **b** _c_ `d` {{0}}'
    (result,) = _results(_finding("a.xml", message=message))
    markdown = result["message"]["markdown"]
    assert not set("[]<>*_`@:{}|~") & set(markdown)
    assert html.unescape(markdown) == message
    assert result["message"]["text"].replace("\\", "") == message
    assert "](" not in result["message"]["text"].replace("\\]", "").replace("\\[", "")

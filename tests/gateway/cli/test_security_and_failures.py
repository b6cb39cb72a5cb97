"""Access rules that nothing enforces are shown first and one by one; a provider that fails stops no other."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from droidgate.cli.descriptors.converting import conversion_page
from droidgate.cli.descriptors.diffing import diff_page
from droidgate.cli.output.grouping import findings_table, group_findings, security_blocks
from droidgate.cli.output.pages import Heading, Line, Table
from droidgate.sources import Providers, read_source
from droidgate_mappings.compare import compare_sets
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.model.capability import (
    Capability,
    CapabilityAccess,
    CapabilitySet,
    ComponentAccess,
    Provider,
)
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.translate import (
    Conversion,
    FailedTranslation,
    Translation,
    convert,
    translate,
    translate_each,
)
from droidgate_phone.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner
from gateway.cli.samples import TOOLS, write_tools
from gateway.cli.test_sarif import check_log

NOTES = sample_apps_directory() / "notes" / "app"
HINT = "hint: check the caller in the code that answers the call, or leave the capability out"
# mMCP keeps a manifest in one attribute, and a text of this length does not fit into a compiled manifest.
TOO_LONG: dict[str, Any] = {
    "tools": [{"name": "speak", "description": "word " * 20_000, "inputSchema": {"type": "object"}}]
}


pytestmark = pytest.mark.usefixtures("own_folder")


def _security(pointer: str, message: str = "m", hint: str | None = "Do something") -> Finding:
    return Finding(
        code="access-not-enforced", level=Level.SECURITY, pointer=pointer, message=message, hint=hint
    )


def _converted(target: str, *providers: Provider) -> Conversion:
    return convert(Providers(providers), target)


def _provider(number: int, **access: Any) -> Provider:
    return Provider(
        protocol="mmcp",
        dialect="1.0",
        package=f"com.example.app{number}",
        component=".Tools",
        access=ComponentAccess(**access),
        capabilities=(Capability(id="do", description="d"), Capability(id="undo", description="u")),
    )


def test_security_findings_are_never_grouped() -> None:
    findings = [_security(f"/capabilities/{at}/access/scope") for at in range(3)]
    assert group_findings(findings, ["a", "b", "c"]) == []
    assert findings_table(findings, ["a", "b", "c"]) == []
    assert security_blocks(findings, ["a", "b", "c"]) == [
        block
        for name in "abc"
        for block in (
            Line(f"{name} /access/scope: access-not-enforced", 1),
            Line("m", 2),
            Line("hint: Do something", 2),
        )
    ]


def test_security_findings_of_all_providers_are_first_on_the_page() -> None:
    page = conversion_page(
        _converted("mcp", _provider(1), _provider(2, exported=False, permission="com.example.P"))
    )
    assert page[0] == Heading("Security: access rules that nothing enforces")
    lines = [item.text for item in page[1:7] if isinstance(item, Line)]
    assert lines == [
        "com.example.app2/.Tools  /access/permission: access-not-enforced",
        "callers need com.example.P; mcp does not enforce this",
        HINT,
        "com.example.app2/.Tools  /access/exported: access-not-enforced",
        "the source component is not exported; mcp does not enforce this",
        HINT,
    ]
    tables = [item for item in page if isinstance(item, Table)]
    assert all(row[0] != "security" for table in tables for row in table.rows)
    assert str(page[-1]).startswith("Line(text='findings: 2 security")


@pytest.mark.parametrize(
    ("findings", "expected"),
    [((), "nothing is lost"), ((_security("/access/exported"),), "nothing else is lost")],
)
def test_a_conversion_that_loses_only_access_rules_does_not_claim_that_nothing_is_lost(
    findings: tuple[Finding, ...], expected: str
) -> None:
    converted = _converted("mmcp", _provider(1))
    (translation,) = converted.translations
    changed = replace(translation, writing=replace(translation.writing, findings=findings))
    page = conversion_page(replace(converted, translations=(changed,)))
    assert [block.text for block in page if isinstance(block, Line) and "is lost" in block.text] == [expected]


@pytest.mark.parametrize("threshold", ["renamed", "dropped", "impossible", "security"])
def test_a_security_finding_reaches_every_threshold_of_convert(droidgate: Runner, threshold: str) -> None:
    run = droidgate("convert", NOTES, "--to", "mcp", "-o", "out", "--fail-on", threshold)
    assert run.code == 1
    assert run.out.splitlines()[0] == "Security: access rules that nothing enforces"
    assert "callers need android.permission.EXECUTE_APP_FUNCTIONS; mcp does not enforce this" in run.out
    document = json.loads(Path("out/fidelity.json").read_text())
    assert next(iter(document["conversions"][0]["counts"])) == "security"


def test_only_a_security_finding_reaches_the_threshold_of_security(droidgate: Runner) -> None:
    write_tools(Path("tools.json"))
    run = droidgate("convert", "tools.json", "--to", "mobile-mcp", "-o", "out", "--fail-on", "security")
    assert run.code == 0
    assert json.loads(Path("out/fidelity.json").read_text())["conversions"][0]["counts"]


def test_a_security_finding_is_an_error_in_sarif(droidgate: Runner) -> None:
    log = json.loads(droidgate("convert", NOTES, "--to", "mcp", "-o", "out", "--sarif").out)
    check_log(log)
    levels = {
        result["level"] for result in log["runs"][0]["results"] if result["properties"]["level"] == "security"
    }
    assert levels == {"error"}


def test_a_provider_that_cannot_be_written_is_reported_and_the_others_are_written(droidgate: Runner) -> None:
    write_tools(Path("good.json"))
    write_tools(Path("bad.json"), TOO_LONG)
    run = droidgate("convert", "good.json", "bad.json", "--to", "mmcp", "-o", "out", "--fail-on", "renamed")
    assert run.code == 3
    assert "warning: bad.json:1: bad.json cannot be written: " in run.err
    assert "hint: " in run.err
    document = json.loads(Path("out/fidelity.json").read_text())
    assert [conversion["source"]["place"] for conversion in document["conversions"]] == ["good.json:1"]
    (problem,) = document["problems"]
    assert problem["message"].startswith("bad.json cannot be written: ")
    assert (problem["place"], bool(problem["hint"])) == ("bad.json:1", True)
    assert Path("out/good/AndroidManifest.xml").exists()
    assert not Path("out/bad").exists()


def test_a_provider_that_cannot_be_written_is_a_result_in_sarif(droidgate: Runner) -> None:
    write_tools(Path("good.json"))
    write_tools(Path("bad.json"), TOO_LONG)
    run = droidgate("convert", "good.json", "bad.json", "--to", "mmcp", "-o", "out", "--sarif")
    log = json.loads(run.out)
    check_log(log)
    (result,) = [item for item in log["runs"][0]["results"] if item["ruleId"] == "provider-not-written"]
    assert (run.code, result["level"]) == (3, "error")


def test_where_no_provider_can_be_written_each_is_named_and_nothing_is_written(droidgate: Runner) -> None:
    for name in ("one.json", "two.json"):
        write_tools(Path(name), TOO_LONG)
    run = droidgate("convert", "one.json", "two.json", "--to", "mmcp", "-o", "out")
    assert (run.code, Path("out").exists()) == (3, False)
    for name in ("one.json", "two.json"):
        assert f"{name} cannot be written" in run.err
    assert "none of the 2 providers can be written" in run.err


def test_the_error_of_a_single_provider_is_that_of_the_command(droidgate: Runner) -> None:
    write_tools(Path("bad.json"), TOO_LONG)
    run = droidgate("convert", "bad.json", "--to", "mmcp", "-o", "out")
    assert (run.code, Path("out").exists()) == (3, False)
    assert "cannot be written" not in run.err


def test_translating_each_goes_on_and_translating_all_stops() -> None:
    Path("bad.json").write_text(json.dumps(TOO_LONG))
    Path("good.json").write_text(json.dumps(TOOLS))
    providers = [read_source(item).providers[0] for item in ("bad.json", "good.json")]
    target, dialect = find_format("mmcp")
    failed, written = translate_each(providers, target, dialect)
    assert isinstance(failed, FailedTranslation)
    assert isinstance(written, Translation)
    with pytest.raises(WriteError) as raised:
        translate(providers, target, dialect)
    assert raised.value.message == failed.error.message


def test_opened_access_rules_are_first_on_the_page_of_diff_and_not_in_its_tables() -> None:
    old = _provider(1, exported=False)
    new = _provider(1, permission="com.example.P").changed(
        {"capabilities": (old.capabilities[0], Capability(id="undo", description="v"))}
    )
    page = diff_page(compare_sets(CapabilitySet(providers=(old,)), CapabilitySet(providers=(new,))))
    assert page[0] == Heading("Security: access rules that accept other callers now")
    assert [item.text for item in page[1:4] if isinstance(item, Line)] == [
        "com.example.app1/.Tools  /access/exported: access-opened",
        "exported changed from false to true: other callers are accepted now",
        "hint: check that these callers may call it, or restore the rule",
    ]
    (table,) = [item for item in page if isinstance(item, Table)]
    assert [row[0] for row in table.rows] == ["breaking", "text-only"]
    assert page[-1] == Line("1 security, 1 breaking, 1 text-only; 1 capability is as it was")


def test_a_capability_access_rule_is_named_with_its_capability() -> None:
    provider = Provider(
        protocol="appfunctions",
        dialect="v2",
        package="com.example",
        component=".Functions",
        access=ComponentAccess(permission="android.permission.BIND_APP_FUNCTION_SERVICE"),
        capabilities=(Capability(id="do", access=CapabilityAccess(enabled_by_default=False)),),
    )
    lines = [
        item.text for item in conversion_page(_converted("mobile-mcp", provider)) if isinstance(item, Line)
    ]
    assert lines[0] == "com.example/.Functions  do /access/enabled_by_default: access-not-enforced"

"""Access rules that nothing enforces are shown first and one by one; a provider that fails stops no other."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from device_shim.shim_builder.built_samples import KEY
from droidgate.cli.descriptors.converting import conversion_page
from droidgate.cli.descriptors.diffing import diff_page
from droidgate.cli.output.grouped_findings import findings_table, group_findings, security_blocks
from droidgate.cli.output.pages import Heading, Line, Table
from droidgate.migration.conversion import Conversion, convert
from droidgate.sources import Providers, read, read_source
from droidgate_android.apk.pack import pack_project
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
from droidgate_mappings.translate import FailedTranslation, Translation, translate, translate_each
from droidgate_phone.apps.sample_apps import sample_apps_directory
from droidgate_phone.apps.sample_packages import sample_package
from droidgate_phone.phone import VirtualPhone
from gateway.cli.program_runs import Runner
from gateway.cli.samples import TIMER_MANIFEST, TOOLS, write_bare_project, write_project, write_tools
from gateway.cli.test_sarif import check_log

NOTES = sample_apps_directory() / "notes" / "app"
WEATHER = sample_apps_directory() / "weather"
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


OBSERVED = TIMER_MANIFEST.replace("mobile.mcp.SERVICE", "org.agentos.intent.action.PLUGIN")


@pytest.fixture
def unasked(
    own_folder: None, phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch, droidgate: Runner
) -> None:
    """Put apps whose tools no file lists into each kind of source."""
    del own_folder
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
    Path("apks").mkdir()
    Path("apks/weather.apk").write_bytes(sample_package("weather").apk)
    write_project(Path("observed"), manifest=OBSERVED, descriptor="<other />")
    assert droidgate("scan", "apks", "-o", "catalog").code == 0


UNASKED = [
    (WEATHER / "app", "asks the app by a broadcast"),
    ("apks/weather.apk", "asks the app by a broadcast"),
    ("apks", "asks the app by a broadcast"),
    ("adb:/dev.droidgate.sample.weather", "asks the app by a broadcast"),
    ("observed", "which alone may bind the service"),
    # A catalog of files has no row of the app's files.
    ("catalog", "`droidgate formats`"),
]


@pytest.mark.usefixtures("unasked")
@pytest.mark.parametrize(("source", "hint"), UNASKED)
def test_an_app_that_nobody_asked_for_its_tools_gets_no_empty_descriptor(
    source: str | Path, hint: str, droidgate: Runner
) -> None:
    write_bare_project(Path("project"))
    for command in (
        ("convert", source, "--to", "mobile-mcp", "-o", "out"),
        ("migrate", source, "--to", "mobile-mcp", "--into", "project", "--write"),
    ):
        run = droidgate(*command)
        assert (run.code, Path("out").exists(), Path("project/src/main/res").exists()) == (3, False, False)
        errors = [line for line in run.err.splitlines() if not line.startswith("note: ")]
        assert [line.partition(":")[0] for line in errors[:2]] == ["error", "hint"]
        assert hint in errors[1]
    providers = read(str(source)) if source != "catalog" else ()
    if providers:
        with pytest.raises(WriteError, match="its capabilities are not known"):
            convert(providers, "mcp")


@pytest.mark.usefixtures("unasked")
def test_an_app_that_nobody_asked_stops_no_other_and_an_empty_list_is_one(droidgate: Runner) -> None:
    write_tools(Path("empty.json"), {"tools": []})
    source = "adb:/dev.droidgate.sample.weather"
    run = droidgate("convert", source, "empty.json", "--to", "mcp", "-o", "out")
    assert run.code == 3
    assert "dev.droidgate.sample.weather/.WeatherReceiver cannot be written: its capabilities" in run.err
    (written,) = Path("out").rglob("tools.json")
    assert json.loads(written.read_text()) == {"tools": []}


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


# Two spellings of a level that the app declares, and the weight of the change from the first to the second.
LEVELS = [
    ('protectionLevel="signature"', 'protectionLevel="normal"', "security", 1),
    ('protectionLevel="signature"', "", "security", 1),
    ('protectionLevel="signature|privileged"', 'protectionLevel="dangerous"', "security", 1),
    ('protectionLevel="signature"', 'protectionLevel="signatureOrSystem"', "security", 1),
    ("", 'protectionLevel="signature"', "breaking", 0),
    ('protectionLevel="system|signature"', 'protectionLevel="signatureOrSystem"', None, 0),
    ("", 'protectionLevel="normal"', None, 0),
]


@pytest.mark.parametrize("kinds", [("tree", "tree"), ("apk", "apk"), ("tree", "apk")])
@pytest.mark.parametrize(("before", "after", "weight", "code"), LEVELS)
def test_the_level_of_the_permission_that_an_app_declares_for_its_service_is_compared(
    kinds: tuple[str, str], before: str, after: str, weight: str | None, code: int, droidgate: Runner
) -> None:
    sides: list[Path] = []
    for kind, level in zip(kinds, (before, after), strict=True):
        android = level and f"android:{level}"
        manifest = TIMER_MANIFEST.replace(
            "<application ", f'<permission android:name="app.timer.CALL" {android} />\n    <application '
        ).replace("<service ", '<service android:permission="app.timer.CALL" ')
        side = Path(f"side-{len(sides)}")
        write_project(side, manifest=manifest)
        if kind == "apk":
            apk = side.with_suffix(".apk")
            apk.write_bytes(pack_project(side / "app", key=KEY))
            side = apk
        sides.append(side)
    run = droidgate("diff", *sides, "--fail-on", "security")
    assert run.code == code
    comparison = droidgate.document("diff", *sides)["comparison"]
    changes = [change for item in comparison.get("providers", []) for change in item["changes"]]
    assert [change["weight"] for change in changes] == ([weight] if weight else [])
    if weight:
        assert "the protection level of the required permission changed from " in run.out


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

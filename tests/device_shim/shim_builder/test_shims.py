"""Built shims, seen by tools that are not ours, by the project's own readers, and by both engines' rules."""

import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest
from lxml import etree

from adapters.apk_writing.packed_samples import named_ids, packed_module, run_tool, signing_key, xml_dump
from conftest import Golden
from device_shim.shim_builder.built_samples import (
    EVERYTHING,
    KEY,
    MODULES,
    PACKAGE,
    SIGNER,
    app_with,
    application_of,
    declared_in,
    parameters,
    sample_app,
    sample_shim,
    shim_of,
    source_app,
)
from droidgate.cli.program import run
from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.reader import open_apk
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_android.app_search.indexed_packages import simulate_indexing
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_shim.builder import shims
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import BuiltShim, NothingToOfferError, build_bare_shim, build_shims
from droidgate_shim.engine.authority import read_policy
from droidgate_shim.engine.routes import parse_route_table, read_route_table
from droidgate_shim.engine.strict_json import parse_strict
from model_types import string
from requirements_of_tests import require, short_run

ANDROID = "{http://schemas.android.com/apk/res/android}"
USUAL_PERMISSIONS = {"FOREGROUND_SERVICE", "POST_NOTIFICATIONS", "HIDE_OVERLAY_WINDOWS"}


def written(folder: Path, shim: BuiltShim) -> Path:
    path = folder / shim.file_name
    path.write_bytes(shim.apk)
    return path


def entry(shim: BuiltShim, name: str) -> bytes:
    with zipfile.ZipFile(BytesIO(shim.apk)) as archive:
        return archive.read(name)


@pytest.mark.parametrize("module", MODULES)
def test_apksigner_and_zipalign_accept_a_shim(tmp_path: Path, module: str) -> None:
    apksigner, zipalign = short_run("apksigner"), require("zipalign")
    apk = written(tmp_path, sample_shim(module))
    printed = run_tool(*apksigner, "verify", "--verbose", "--print-certs", apk)
    assert "(APK Signature Scheme v2): true" in printed
    assert "(APK Signature Scheme v3): true" in printed
    assert f"certificate SHA-256 digest: {KEY.digest}" in printed
    assert "WARNING" not in printed
    run_tool(zipalign, "-c", "4", apk)


@pytest.mark.parametrize("module", MODULES)
def test_aapt2_reads_the_badge_of_a_shim(tmp_path: Path, module: str) -> None:
    aapt2, app = require("aapt2"), sample_app(module)
    printed = run_tool(aapt2, "dump", "badging", written(tmp_path, sample_shim(module)))
    assert f"package: name='dev.droidgate.shim.of.{app.package}' versionCode='1' versionName='1'" in printed
    assert "targetSdkVersion:'36'" in printed
    assert re.search("^(sdkV|minSdkV)ersion:'24'", printed, re.MULTILINE)
    assert f"application-label:'{app.label} (via droidgate)'" in printed
    assert "launchable-activity: name='dev.droidgate.shim.consent.ManageActivity'" in printed
    permissions = set(re.findall("uses-permission: name='android.permission.([^']+)'", printed))
    more = {"notes": {"EXECUTE_APP_FUNCTIONS"}, "pdf-tool": {"SYSTEM_ALERT_WINDOW"}}
    assert permissions == USUAL_PERMISSIONS | more.get(module.partition("/")[0], set())
    assert permissions == permissions_of(sample_shim(module)).keys()


SHIMS: dict[str, Callable[[], BuiltShim]] = {
    "bare": lambda: build_bare_shim(KEY),
    "notes": lambda: sample_shim("notes/app"),
    "weather": lambda: sample_shim("weather/app"),
    "clock-in": lambda: sample_shim("clock-in/app"),
    "pdf-tool-for-all": lambda: sample_shim("pdf-tool/app", *EVERYTHING),
    "aggregate": lambda: shim_of(*map(sample_app, MODULES), aggregate=True),
}


@pytest.mark.parametrize("name", SHIMS)
def test_aapt2_reads_this_manifest_of_a_shim(tmp_path: Path, golden: Golden, name: str) -> None:
    """What other apps reach, what the shim may do and see, and how Android runs it (shim.md 1)."""
    aapt2, apk = require("aapt2"), written(tmp_path, SHIMS[name]())
    lines = named_ids(xml_dump(aapt2, apk, "AndroidManifest.xml"), aapt2, apk)
    plain = (
        re.sub(r' \((?:line=\d+|Raw: ".*")\)$', "", line).replace(f"{ANDROID[1:-1]}:", "") for line in lines
    )
    golden(f"shim/{name}.txt", "".join(f"{line}\n" for line in plain))


@pytest.mark.slow
def test_apktool_decodes_a_shim(tmp_path: Path) -> None:
    apktool = short_run("apktool")
    out = tmp_path / "decoded"
    apk = written(tmp_path, sample_shim("clock-in/app", *EVERYTHING))
    run_tool(*apktool, "d", "--no-src", "-p", tmp_path / "frameworks", "-o", out, apk)
    manifest = etree.parse(out / "AndroidManifest.xml").getroot()
    (service,) = manifest.findall(
        f"application/service[@{ANDROID}name='dev.droidgate.shim.frontends.ToolService']"
    )
    meta_data = {item.get(f"{ANDROID}name"): item for item in service.findall("meta-data")}
    assert set(meta_data) == {f"mobile.mcp.tool.{item}" for item in ("name", "description", "capabilities")}
    assert meta_data["mobile.mcp.tool.capabilities"].get(f"{ANDROID}resource") == "@xml/mcp_capabilities"
    descriptor = etree.parse(out / "res/xml/mcp_capabilities.xml").getroot()
    ids = [item.get("id") for item in descriptor.findall("capability")]
    assert ids == ["clock_in_today", "make_up_clock_in", "query_clock_in"]
    assert json.loads((out / "assets/routes.json").read_text())["format"] == 1
    assert "<vector" in (out / "res/drawable/droidgate_shim_icon.xml").read_text()


@pytest.mark.parametrize("module", MODULES)
def test_inspect_reads_a_shim_back_without_any_leniency(
    tmp_path: Path, module: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shim = sample_shim(module)
    apk = written(tmp_path, shim)
    assert run(["inspect", "--strict", "--json", str(apk)]) == 0
    reported = json.loads(capsys.readouterr().out)
    (provider,) = reported["providers"]
    assert provider["protocol"] == "mobile-mcp"
    assert provider["name"] == shim.label
    assert [item["id"] for item in provider["capabilities"]] == list(shim.capabilities)


@pytest.mark.parametrize("module", MODULES)
def test_every_frontend_declares_the_same_capabilities(module: str) -> None:
    shim = sample_shim(module, *EVERYTHING)
    for protocol in ("mobile-mcp", "mmcp", "appfunctions"):
        names = shim.policy["app"]["functions"] if protocol == "appfunctions" else {}
        (provider,) = declared_in(shim.apk, protocol)
        ids = [names.get(item.id, item.id) for item in provider.capabilities]
        assert ids == list(shim.capabilities), protocol


@pytest.mark.parametrize("module", MODULES)
def test_androids_indexer_takes_the_functions_of_a_shim(module: str) -> None:
    shim = sample_shim(module, *EVERYTHING)
    with open_apk(shim.apk) as apk:
        for release in ("16-qpr2", "17"):
            report = simulate_indexing(read_application(apk), release)
            assert set(report.functions()) == set(shim.policy["app"]["functions"])
            assert (report.dropped_files, report.ignored) == ((), ())


@pytest.mark.parametrize("module", MODULES)
def test_the_engine_reads_routes_and_policy_as_they_are_packed(module: str) -> None:
    shim = sample_shim(module, *EVERYTHING)
    text = entry(shim, "assets/routes.json").decode()
    assert list(parse_route_table(text).routes) == list(shim.capabilities)
    assert json.loads(text) == json.loads(json.dumps(shim.routes))
    policy = parse_strict(entry(shim, "assets/policy.json").decode())
    assert policy == shim.policy
    assert not read_policy(policy).grants


def test_the_policy_says_what_the_page_says() -> None:
    app = sample_app("clock-in/app")
    reported = sample_shim("clock-in/app").policy["app"]
    assert reported["handshake"] == 1
    assert reported["sources"] == [
        {"package": app.package, "label": "Clock-in", "signer": KEY.digest, "version_code": 1}
    ]
    assert re.fullmatch("[0-9a-f]{64}", reported["build"])
    assert "functions" not in reported
    assert list(reported["capabilities"]) == ["clock_in_today", "make_up_clock_in", "query_clock_in"]


def test_the_build_digest_says_every_difference_but_the_key() -> None:
    app = source_app(Capability(id="t", description="T"))
    first = shim_of(app)
    (other_key,) = build_shims([app], ShimOptions(), signing_key("rsa"))
    assert other_key.build == first.build
    shims = [
        first,
        shim_of(replace(app, version_code=8)),
        shim_of(replace(app, instructions="Else")),
        shim_of(replace(app, label="Else")),
        shim_of(app, deadline_ms=1_000),
        shim_of(app, advertise=frozenset({"mmcp"})),
        shim_of(source_app(Capability(id="t", description="U"))),
    ]
    assert len({shim.build for shim in shims}) == len(shims)
    assert first.policy["app"]["build"] == first.build


@pytest.mark.parametrize("key", [KEY, signing_key("rsa")], ids=["ec", "rsa"])
def test_the_same_input_makes_the_same_bytes(key: SigningKey) -> None:
    apps = [sample_app(module) for module in MODULES]
    options = ShimOptions(advertise=frozenset(EVERYTHING))
    first, second = (
        {sha256(item.apk).digest() for item in build_shims(apps, options, key)} for _ in range(2)
    )
    assert first == second


def test_each_app_has_a_shim_of_its_own_unless_they_are_put_together() -> None:
    apps = [sample_app(module) for module in MODULES]
    alone = build_shims(apps, ShimOptions(), KEY)
    assert [item.packages for item in alone] == [(app.package,) for app in apps]
    (together,) = build_shims(apps, ShimOptions(aggregate=True), KEY)
    assert together.application_id == "dev.droidgate.shim"
    assert together.packages == tuple(app.package for app in apps)
    assert together.file_name == "dev.droidgate.shim.apk"
    codes = {item.code for item in together.findings}
    assert "shim-aggregated" in codes
    assert "shim-aggregated" not in {item.code for shim in alone for item in shim.findings}
    assert set(together.capabilities) >= {"clock_in_today", "merge", "createNote", "forecast"}
    (provider,) = declared_in(together.apk)
    assert "PDF tool: " in (provider.description or "")


@pytest.mark.parametrize(("label", "name"), [
    ("Bank\n\n\n\n\nof", "Bank of"),
    ("Bank\n\tof Acme", "Bank of Acme"),
    ("x" * 5000, f"{'x' * 127}\u2026"),
    ("\u200b\u202e \u2066", PACKAGE),
    ("Bank\u200b", "Bank"),
    ("@string/x", "@string/x"),
], ids=lambda text: text[:20])  # fmt: skip
def test_a_name_is_one_short_line_so_that_what_follows_it_is_seen(label: str, name: str) -> None:
    shim = shim_of(replace(source_app(Capability(id="t")), label=label))
    assert shim.label == f"{name} (via droidgate)"
    assert application_of(shim).label == shim.label
    (source,) = shim.policy["app"]["sources"]
    assert source == {"package": PACKAGE, "label": name, "signer": SIGNER, "version_code": 7}
    reported = [finding.message for finding in shim.findings if finding.code == "shim-name-shortened"]
    assert reported == (
        [f"the name of {PACKAGE} is shown as {name!r}"] if "of" in name or len(name) > 100 else []
    )


@pytest.mark.parametrize(("instructions", "description", "text"), [
    pytest.param("Use it so.", "A tool.", "Use it so.", id="instructions first"),
    pytest.param(None, "A tool.", "A tool.", id="a description alone"),
    pytest.param(None, None, "Tools of Tools", id="the app's name where there is neither"),
    pytest.param("\u200b", "\u200d\n", "Tools of Tools", id="hidden characters alone are neither"),
    pytest.param("Pay\u2060 here", None, "Pay here", id="hidden characters are left out"),
])  # fmt: skip
def test_agents_get_the_instructions_before_the_description(
    instructions: str | None, description: str | None, text: str
) -> None:
    app = replace(source_app(Capability(id="t")), instructions=instructions, description=description)
    shim = shim_of(app)
    (provider,) = declared_in(shim.apk)
    assert provider.description == text
    assert application_of(shim).description == text
    is_hidden = "\u200b" in (instructions or "") or "\u2060" in (instructions or "")
    assert ("shim-hidden-text" in {finding.code for finding in shim.findings}) is is_hidden


def test_findings_of_one_app_are_not_reported_for_a_shim_of_other_apps() -> None:
    apps = [sample_app("notes/app"), sample_app("pdf-tool/app")]
    (shim,) = build_shims(apps, ShimOptions(aggregate=True, only=("merge",)), KEY)
    assert shim.packages == ("dev.droidgate.sample.pdftool",)
    assert "shim-function-not-open" not in {finding.code for finding in shim.findings}


def test_where_nothing_can_be_called_the_way_out_is_reported(tmp_path: Path) -> None:
    (tmp_path / "weather.apk").write_bytes(packed_module("weather/app"))
    with pytest.raises(NothingToOfferError, match="no app has a capability") as raised:
        build_shims(read_source_apps([str(tmp_path)]), ShimOptions(), KEY)
    assert "`droidgate shim install --from adb: --format all` asks it" in (raised.value.hint or "")
    with pytest.raises(InputError, match="no app has a capability"):
        build_shims([app_with()], ShimOptions(), KEY)
    (shim,) = build_shims([app_with(), sample_app("clock-in/app")], ShimOptions(), KEY)
    assert shim.packages == ("dev.droidgate.sample.clockin",)


def test_texts_that_no_resource_holds_are_cut_and_texts_with_marks_are_kept() -> None:
    marks = 'It\'s "so" @once <b> & 50% %1$s \\n\n\tend'
    shim = shim_of(replace(source_app(Capability(id="t")), label=marks, instructions=marks))
    (provider,) = declared_in(shim.apk)
    assert (provider.name, provider.description) == (f"{' '.join(marks.split())} (via droidgate)", marks)
    long = "語" * 40_000
    shim = shim_of(replace(source_app(Capability(id="t")), instructions=long))
    description = application_of(shim).description or ""
    assert description.endswith("…")
    assert description[:-1] == long[: len(description) - 1]


def test_the_bare_shim_serves_the_host_and_offers_nothing() -> None:
    shim = build_bare_shim(KEY)
    assert (shim.application_id, shim.capabilities, shim.packages) == ("dev.droidgate.shim", (), ())
    assert read_route_table(parse_strict(entry(shim, "assets/routes.json").decode())).routes == {}
    assert declared_in(shim.apk) == ()
    names = {item.name.rpartition(".")[2] for item in application_of(shim).components if item.name}
    assert names == {
        "TrampolineActivity", "ConsentActivity", "ManageActivity", "HostProvider", "ShellIdentityService",
    }  # fmt: skip


def test_only_one_application_id_has_the_instrumentation_and_its_service() -> None:
    functions = source_app(Capability(id="f"), protocol="appfunctions", dialect="v2", component=None)
    windows = source_app(Capability(id="w"), package="com.other.tools")
    alone, together = shim_of(functions), shim_of(functions, windows, aggregate=True)
    for shim, is_holder in ((build_bare_shim(KEY), True), (together, True), (alone, False)):
        manifest = entry(shim, "AndroidManifest.xml").decode("utf-16-le", "ignore")
        manifest += entry(shim, "AndroidManifest.xml").decode("utf-8", "ignore")
        assert ("ShellIdentityInstrumentation" in manifest) is is_holder
        assert ("ShellIdentityService" in manifest) is is_holder


def permissions_of(shim: BuiltShim) -> dict[str, tuple[str, ...]]:
    return {item.permission.rpartition(".")[2]: item.capabilities for item in shim.permissions}


def test_each_permission_is_there_for_the_capabilities_that_need_it() -> None:
    shim = shim_of(*map(sample_app, ("pdf-tool/app", "notes/app", "clock-in/app")), aggregate=True)
    kinds = {item["id"]: item["backend"]["kind"] for item in shim.routes["routes"]}
    windows = tuple(name for name, kind in kinds.items() if kind == "mmcp-activity")
    functions = tuple(name for name, kind in kinds.items() if kind == "app-function")
    assert windows
    assert functions
    assert permissions_of(shim) == {
        "FOREGROUND_SERVICE": shim.capabilities,
        "POST_NOTIFICATIONS": shim.capabilities,
        "HIDE_OVERLAY_WINDOWS": shim.capabilities,
        "SYSTEM_ALERT_WINDOW": windows,
        "EXECUTE_APP_FUNCTIONS": functions,
    }
    (execute,) = [item for item in shim.permissions if item.permission.endswith("EXECUTE_APP_FUNCTIONS")]
    assert execute.why == "call app functions and call app functions for the other shims"
    assert permissions_of(build_bare_shim(KEY))["EXECUTE_APP_FUNCTIONS"] == ()


def test_the_question_to_the_user_has_the_texts_that_the_app_declares() -> None:
    shim = shim_of(
        source_app(
            Capability(id="both", title="Send\u200b\n money", description="Sends\u2066 money.\nNow."),
            Capability(id="long", description="x" * 501),
            Capability(id="fits", description="y" * 500),
            Capability(id="hidden", title="\u200b", description="\u202e \n"),
            Capability(id="silent"),
        )
    )
    assert shim.policy["app"]["capabilities"] == {
        "both": {"title": "Send money", "description": "Sends money. Now."},
        "long": {"description": f"{'x' * 499}\u2026"},
        "fits": {"description": "y" * 500},
    }
    assert "capabilities" not in shim_of(source_app(Capability(id="silent"))).policy["app"]
    assert "capabilities" not in build_bare_shim(KEY).policy["app"]


def test_what_agents_of_broadcasts_cannot_name_is_reported() -> None:
    shim = shim_of(
        source_app(Capability(id="a.b#c"), Capability(id="plain")), advertise=frozenset({"mmcp-broadcast"})
    )
    (reported,) = [finding for finding in shim.findings if finding.code == "shim-name-not-called"]
    assert "a.b#c" in reported.message


def test_what_no_app_function_can_name_is_not_advertised_as_one() -> None:
    dotted = Capability(id="dotted", input=parameters(**{"a.b": string()}))
    app = source_app(dotted, Capability(id="plain"))
    shim = shim_of(app, advertise=frozenset({"appfunctions"}))
    assert shim.capabilities == ("dotted", "plain")
    assert list(shim.policy["app"]["functions"].values()) == ["plain"]
    assert [finding.code for finding in shim.findings].count("shim-function-left-out") == 1


def mmcp_tools(shim: BuiltShim) -> dict[str, list[str]]:
    """Return the tools in each of a shim's mMCP manifests, none of which is too long for Android 15."""
    reported = {}
    for item in application_of(shim).components:
        meta_data = item.find_meta_data("mMCP_manifest")
        if meta_data is not None:
            assert isinstance(meta_data.value, str)
            assert len(meta_data.value.encode("utf-16-le")) <= 2 * 32_768
            tools = json.loads(meta_data.value)["tools"]
            reported[item.name.rpartition(".")[2]] = [tool["name"] for tool in tools]
    return reported


def test_tools_that_the_mmcp_manifest_has_no_room_for_are_reported() -> None:
    tools = [Capability(id=f"t{number:02}", description="d" * 1_000) for number in range(50)]
    shim = shim_of(source_app(*tools), advertise=frozenset(EVERYTHING))
    advertised = mmcp_tools(shim)
    assert advertised["MmcpActivity"] == advertised["MmcpReceiver"]
    count = len(advertised["MmcpActivity"])
    assert 20 < count < 32
    assert advertised["MmcpActivity"] == [item.id for item in tools[:count]]
    assert shim.capabilities == tuple(item.id for item in tools)
    assert [item.id for item in declared_in(shim.apk)[0].capabilities] == [item.id for item in tools]
    left_out = [item for item in shim.findings if item.code == "shim-tool-left-out"]
    assert [item.pointer for item in left_out] == [f"/capabilities/{at}" for at in range(count, 50)]
    hint = "offer fewer capabilities with --capability, or build without --aggregate"
    assert {item.hint for item in left_out} == {hint}


def test_where_no_tool_has_room_nothing_is_advertised_to_mmcp_agents() -> None:
    big = Capability(id="big", description="d" * 33_000)
    shim = shim_of(source_app(big), advertise=frozenset({"mmcp", "mmcp-broadcast"}))
    assert mmcp_tools(shim) == {}
    assert [finding.code for finding in shim.findings].count("shim-tool-left-out") == 1


@pytest.mark.parametrize(
    "text", ["x" * 100_000, 'say "hello"\n' * 9_000, "語" * 40_000], ids=lambda text: text[:20]
)
@pytest.mark.parametrize("others", [(), ("com.other.tools",)], ids=["alone", "aggregate"])
def test_an_app_with_endless_instructions_makes_no_shim_that_android_refuses(
    text: str, others: tuple[str, ...]
) -> None:
    apps = [replace(source_app(Capability(id="t")), instructions=text)]
    apps += [source_app(Capability(id="u"), package=package) for package in others]
    shim = shim_of(*apps, aggregate=bool(others), advertise=frozenset(EVERYTHING))
    assert "shim-description-shortened" in {finding.code for finding in shim.findings}
    assert "manifest-text-too-long" not in {finding.code for finding in shim.findings}
    (provider,) = declared_in(shim.apk)
    assert (provider.description or "").endswith("…")
    assert mmcp_tools(shim).keys() == {"MmcpActivity", "MmcpReceiver"}


def test_an_option_that_does_not_exist_is_refused() -> None:
    app = source_app(Capability(id="t"))
    with pytest.raises(UsageError, match="a shim cannot advertise 'mcp'"):
        shim_of(app, advertise=frozenset({"mcp"}))
    for deadline in (0, -1, 150_001):
        with pytest.raises(UsageError, match="is not between 1 and 150000"):
            shim_of(app, deadline_ms=deadline)


def test_the_code_is_packed_where_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    code = b"dex\n039\0" + bytes(100)
    monkeypatch.setattr(shims, "shim_dex", lambda: code)
    with_code = shim_of(source_app(Capability(id="t")))
    assert entry(with_code, "classes.dex") == code
    assert "no-code" not in {finding.code for finding in with_code.findings}
    monkeypatch.setattr(shims, "shim_dex", lambda: None)
    without = shim_of(source_app(Capability(id="t")))
    assert "no-code" in {finding.code for finding in without.findings}
    assert with_code.build != without.build

"""`droidgate shim` on the virtual phone: from apps to shims that answer, checked against its state."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from device_shim.phone_apps.pdf_files import pdf_with
from droidgate.cli.output.json_output import schema_of
from droidgate.cli.published import PUBLISHED
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import make_key
from droidgate_phone.apps.agent import Agent, request_text
from droidgate_phone.apps.sample_apps import sample_apps_directory
from droidgate_phone.apps.sample_packages import sample_package, signing_key
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_phone.system.permissions import SHELL_UID
from droidgate_shim.builder.shims import build_bare_shim
from gateway.cli.program_runs import Run, Runner, run_on_terminal, run_process
from gateway.devices.conftest import VARIABLES

CLOCK_IN = "dev.droidgate.sample.clockin"
PDF_TOOL = "dev.droidgate.sample.pdftool"
TALLY = "dev.droidgate.sample.tally"
WEATHER = "dev.droidgate.sample.weather"
NOTES = "dev.droidgate.sample.notes"
SHIM_OF = "dev.droidgate.shim.of."
HOLDER = "dev.droidgate.shim"
ALL = ("--protocol", "all")
NOTIFICATIONS = "android.permission.POST_NOTIFICATIONS"


@pytest.fixture
def phone(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualPhone]:
    with start_phone(server_port=0) as started:
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(started.server_port))
        yield started


class Shim:
    """Runs `droidgate shim` inside this process."""

    def __init__(self, droidgate: Runner) -> None:
        self._droidgate = droidgate

    def __call__(self, command: str, *arguments: str | Path) -> Run:
        return self._droidgate("shim", command, *arguments)

    def document(self, command: str, *arguments: str | Path) -> Any:
        return self(command, *arguments, "--json").document(f"shim-{command}")

    def install(self, source: str | Path, *options: str) -> None:
        """Install shims for apps of all protocols, which has to work."""
        assert self("install", *ALL, "--from", source, *options).code == 0


@pytest.fixture
def shim(droidgate: Runner) -> Shim:
    return Shim(droidgate)


def shims_on(phone: VirtualPhone) -> set[str]:
    names = {item.name for item in phone.system.packages.all()}
    return {name.removeprefix(SHIM_OF) for name in names if name.startswith("dev.droidgate.shim")}


def outcomes(record: Mapping[str, Any]) -> dict[str, str]:
    return {step["what"]: step["outcome"] for step in record["steps"]}


def changed_clock_in(version_code: int) -> bytes:
    """Return the clock-in app with another description of one capability."""
    root = sample_apps_directory() / "clock-in" / "app" / "src" / "main"
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.suffix == ".xml"
    }
    name = "res/xml/mcp_capabilities.xml"
    files[name] = files[name].replace(b"Doing it twice", b"Doing so twice")
    assert b"Doing so twice" in files[name]
    return pack_project(
        files, key=signing_key(), package=CLOCK_IN, version_code=version_code, minimum_sdk=24, target_sdk=36
    )


def folder_with(tmp_path: Path, *names: str) -> Path:
    for name in names:
        item = sample_package(name)
        (tmp_path / f"{item.package}.apk").write_bytes(item.apk)
    return tmp_path


@pytest.mark.slow
def test_build_install_status_call_sync_doctor_uninstall(shim: Shim, phone: VirtualPhone) -> None:
    installed = shim.document("install", *ALL, "--from", "adb:")
    assert all(item["works"] for item in installed["shims"])
    assert shims_on(phone) == {CLOCK_IN, PDF_TOOL, TALLY, WEATHER, NOTES, f"{NOTES}.legacy", HOLDER}
    assert [item["package"] for item in installed["unused"]] == []
    assert installed["identity"]["application_id"] == HOLDER
    assert [item["outcome"] for item in installed["identity"]["steps"]] == ["done", "done"]
    assert [item["component"] for item in instrumentations(phone)] == [
        f"{HOLDER}/.backends.ShellIdentityInstrumentation"
    ]

    status = shim.document("status")
    assert {item["application_id"].removeprefix(SHIM_OF) for item in status["shims"]} == shims_on(phone)
    assert all(item["status"]["grants"] == [] for item in status["shims"])
    for_others = [item["application_id"] for item in status["shims"] if item["calls_functions_for_others"]]
    assert for_others == [HOLDER]
    assert "calls app functions for the other shims" in shim("status").out

    assert shim("call", "make_up_clock_in", "--args", '{"date": "2026-03-02"}').code == 0
    assert b"2026-03-02" in b"".join(kept for _, kept in files_of(phone, CLOCK_IN).items())
    answer = shim.document("call", "query_clock_in", "--args", '{"date": "2026-03-02"}')
    assert answer["outputs"] == {"date": "2026-03-02", "has_clocked_in": True}

    phone.install(changed_clock_in(2))
    refused = shim("call", "query_clock_in", "--args", '{"date": "2026-03-02"}')
    assert refused.code == 6
    assert "needs_approval" in refused.err
    phone.system.packages.uninstall(WEATHER)
    planned = shim.document("sync", "--dry-run")
    assert shims_on(phone) >= {WEATHER}
    synced = shim.document("sync")
    kinds = {item["application_id"].removeprefix(SHIM_OF): item["kind"] for item in synced["changes"]}
    assert kinds == {
        CLOCK_IN: "changed",
        WEATHER: "went",
        PDF_TOOL: "same",
        TALLY: "same",
        NOTES: "same",
        f"{NOTES}.legacy": "same",
        HOLDER: "same",
    }
    assert [(item["kind"], item["application_id"]) for item in planned["changes"]] == [
        (item["kind"], item["application_id"]) for item in synced["changes"]
    ]
    assert (planned["done"], synced["done"]) == (False, True)
    assert shims_on(phone) == {CLOCK_IN, PDF_TOOL, TALLY, NOTES, f"{NOTES}.legacy", HOLDER}
    again = shim("call", "query_clock_in", "--args", '{"date": "2026-03-02"}')
    assert (again.code, "has_clocked_in: true" in again.out) == (0, True)

    phone.install(sample_package("weather").apk)
    came = shim.document("sync")
    assert [item["application_id"] for item in came["changes"] if item["kind"] == "came"] == [
        SHIM_OF + WEATHER
    ]
    nothing = shim("sync")
    assert (nothing.code, "nothing is to be done" in nothing.out) == (0, True)

    checked = shim.document("doctor")
    assert [item for item in checked["checks"] if item["state"] == "problem"] == []
    made = shim("call", "createNote", "--args", '{"title": "Oats", "content": "two bags"}')
    assert made.code == 0
    assert any(b"two bags" in kept for kept in files_of(phone, f"{NOTES}.legacy").values())

    removed = shim.document("uninstall", "--all")
    assert len(removed["shims"]) == 7
    assert removed["identity"] is None
    assert shims_on(phone) == set()


def test_one_call_finds_what_the_call_before_it_left_with_the_tool(shim: Shim, phone: VirtualPhone) -> None:
    shim.install(f"adb:/{TALLY}")
    for points, total in ((5, 5), (-2, 3)):
        arguments = json.dumps({"player": "Ada", "points": points})
        answer = shim.document("call", "add_points", "--args", arguments)
        assert answer["outputs"] == {"player": "Ada", "total": total}
    phone.system.end_processes(TALLY, "test")
    shown = shim("call", "read_total", "--args", '{"player": "Ada"}')
    assert (shown.code, "total: 0" in shown.out) == (0, True)


def files_of(phone: VirtualPhone, package: str) -> dict[str, bytes]:
    """Return what an app keeps in its own folder."""
    files = phone.system.files
    root = f"/data/data/{package}/files"
    return {name: files.read(f"{root}/{name}") for name in files.list(root)}


def test_what_adb_may_is_set_up_and_nothing_more(shim: Shim, phone: VirtualPhone, tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "pdf-tool")
    run = shim.document("install", *ALL, "--from", folder)
    (record,) = run["shims"]
    assert set(outcomes(record).values()) == {"done", "not-needed", "left-out"}
    package = phone.system.packages.find(SHIM_OF + PDF_TOOL)
    assert package is not None
    assert NOTIFICATIONS in package.granted
    assert SHIM_OF + PDF_TOOL in phone.system.uid_states.idle_whitelist
    assert phone.system.app_ops.of_package(SHIM_OF + PDF_TOOL) == {"SYSTEM_ALERT_WINDOW": "allow"}
    for step in record["steps"]:
        assert step["command"] or step["why"], step
    status = shim.document("status")
    assert status["shims"][0]["status"]["grants"] == []
    assert status["shims"][0]["status"]["access"] == {
        "notifications": True,
        "overlay": True,
        "battery_exempt": True,
        "execute_app_functions": False,
    }


@pytest.mark.parametrize(("sdk", "needed"), [("26", {"done"}), ("30", {"done"}), ("33", {"done"})])
def test_older_releases_need_less(
    shim: Shim, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sdk: str, needed: set[str]
) -> None:
    folder = folder_with(tmp_path, "pdf-tool")
    with start_phone(server_port=0, sdk=sdk, apps=False) as phone:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
        phone.install(sample_package("pdf-tool").apk)
        run = shim.document("install", *ALL, "--from", folder)
        steps = {what.partition(",")[0]: outcome for what, outcome in outcomes(run["shims"][0]).items()}
    assert steps["be started by agents while it does not run"] in needed
    assert steps["open the windows of mMCP tools while no agent is in front"] == (
        "not-needed" if int(sdk) < 29 else "done"
    )
    assert steps["show notifications"] == ("not-needed" if int(sdk) < 33 else "done")


def test_any_app_is_granted_only_where_it_was_said_and_taken_back_too(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    del phone
    folder = folder_with(tmp_path, "clock-in")

    def grants() -> list[Any]:
        status = shim.document("status")
        return [
            (grant["caller"], grant["capability"])
            for record in status["shims"]
            for grant in record["status"]["grants"]
        ]

    shim("install", *ALL, "--from", folder)
    assert grants() == []
    shim("install", *ALL, "--from", folder, "--allow-any-app")
    assert grants() == [("any-app", "*")]
    checked = shim("doctor")
    assert (checked.code, "no problem was found, 1 risk;" in checked.out) == (0, True)
    shim("install")
    assert grants() == [("any-app", "*")]
    shim("install", "--no-allow-any-app")
    assert grants() == []


def test_a_tool_with_a_window_is_called_through_the_shim(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    path = f"/sdcard/Android/data/{PDF_TOOL}/files"
    phone.system.files.make_directory(path, parents=True, uid=SHELL_UID)
    phone.system.files.write(f"{path}/a.pdf", pdf_with(["one"], ["two"], ["three"]), uid=SHELL_UID)
    shim.install(folder_with(tmp_path, "pdf-tool"))
    arguments = json.dumps({"path": f"{path}/a.pdf"})
    run = shim.document("call", "page_count", "--args", arguments)
    assert "3" in run["outputs"]["result"]


def test_a_failed_call_has_the_exit_code_of_its_token(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    shim.install(folder_with(tmp_path, "clock-in"))
    missing = shim("call", "make_up_clock_in")
    assert (missing.code, missing.out) == (5, "")
    assert "make_up_clock_in: invalid_argument" in missing.err
    phone.system.packages.uninstall(CLOCK_IN)
    gone = shim("call", "query_clock_in")
    assert (gone.code, "unavailable" in gone.err) == (5, True)
    unknown = shim("call", "no_such")
    assert unknown.code == 2
    assert "query_clock_in" in unknown.err
    assert shim("call", "query_clock_in", "--args", "[]").code == 2
    assert shim("call", "query_clock_in", "--args", "{").code == 2


def test_apks_that_were_built_are_installed_and_others_are_refused(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    (tmp_path / "apps").mkdir()
    folder, out = folder_with(tmp_path / "apps", "clock-in", "pdf-tool"), tmp_path / "out"
    built = shim.document("build", *ALL, "--from", folder, "-o", out)
    assert {Path(item["apk"]).name for item in built["shims"]} == {item.name for item in out.glob("*.apk")}
    assert shim("install", out).code == 0
    assert shims_on(phone) == {CLOCK_IN, PDF_TOOL}
    status = shim.document("status")
    assert {item["status"]["build"] for item in status["shims"]} == {item["build"] for item in built["shims"]}
    other = shim("install", folder / f"{CLOCK_IN}.apk")
    assert (other.code, "it is not a shim" in other.err) == (3, True)
    both = shim("install", out, "--from", folder)
    assert both.code == 2


def test_the_same_key_signs_again_and_another_key_is_reported(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    folder = folder_with(tmp_path, "clock-in")
    first = shim("build", *ALL, "--from", folder, "-o", tmp_path / "a", "--json")
    assert "made a signing key" in first.err
    second = shim("build", *ALL, "--from", folder, "-o", tmp_path / "b", "--json")
    assert "made a signing key" not in second.err
    item, two = (run.document("shim-build") for run in (first, second))
    assert item["key"] == two["key"]
    assert item["shims"][0]["build"] == two["shims"][0]["build"]
    assert shim("install", tmp_path / "a").code == 0
    other = tmp_path / "other.pem"
    write_key(other)
    refused = shim("install", *ALL, "--from", folder, "--key", other)
    assert refused.code == 4
    assert "INSTALL_FAILED_UPDATE_INCOMPATIBLE" in refused.out
    assert "uninstall it first" in refused.out
    assert shims_on(phone) == {CLOCK_IN}


def write_key(path: Path) -> None:
    key = make_key()
    private = key.private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.touch(mode=0o600)
    path.write_bytes(private + key.certificate.public_bytes(Encoding.PEM))


def test_findings_of_the_builder_decide_the_exit_code(shim: Shim, tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "notes-legacy")
    assert shim("build", *ALL, "--from", folder, "-o", tmp_path / "o", "--fail-on", "dropped").code == 1
    run = shim("build", *ALL, "--from", folder, "-o", tmp_path / "o", "--fail-on", "impossible")
    assert run.code == 0
    assert "dropped" in run.out
    assert "unchanged: " in run.out


def test_only_some_capabilities_and_several_apps_in_one(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    folder = folder_with(tmp_path, "clock-in", "pdf-tool")
    chosen = ["--only", "page_count", "--only", "query_clock_in"]
    asked = shim("install", *ALL, "--from", folder, "--aggregate", *chosen, "--json")
    run = asked.document("shim-install")
    (item,) = run["shims"]
    assert (item["application_id"], sorted(item["capabilities"])) == (
        "dev.droidgate.shim",
        ["page_count", "query_clock_in"],
    )
    assert shims_on(phone) == {"dev.droidgate.shim"}
    phone.system.packages.uninstall(PDF_TOOL)
    synced = shim.document("sync")
    assert [(item["kind"], item["application_id"]) for item in synced["changes"]] == [
        ("changed", "dev.droidgate.shim")
    ]
    assert shim("call", "page_count").code == 2
    phone.system.packages.uninstall(CLOCK_IN)
    assert shim("sync").code == 0
    assert shims_on(phone) == set()


def test_sync_without_a_record_keeps_the_apps_whose_shims_are_there(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    del phone
    folder, out = folder_with(tmp_path, "clock-in"), tmp_path / "out"
    shim("build", *ALL, "--from", folder, "-o", out)
    assert shim("install", out).code == 0
    synced = shim.document("sync")
    assert [(change["kind"], change["application_id"]) for change in synced["changes"]] == [
        ("same", SHIM_OF + CLOCK_IN)
    ]


def test_sync_looks_after_what_was_installed_and_not_what_was_uninstalled(
    shim: Shim, phone: VirtualPhone
) -> None:
    for package in (CLOCK_IN, PDF_TOOL):
        shim.install(f"adb:/{package}")
    phone.system.packages.uninstall(CLOCK_IN)
    assert shim("sync").code == 0
    assert shims_on(phone) == {PDF_TOOL}
    phone.install(sample_package("clock-in").apk)
    assert shim("sync").code == 0
    assert shims_on(phone) == {PDF_TOOL, CLOCK_IN}
    assert shim("uninstall", CLOCK_IN).code == 0
    assert shim("sync").code == 0
    assert shims_on(phone) == {PDF_TOOL}


@pytest.mark.parametrize(
    "more",
    [
        ("adb:/" + PDF_TOOL,),
        ("adb:/" + CLOCK_IN, "--protocol", "mobile-mcp"),
        ("adb:/" + CLOCK_IN, *ALL),
        ("adb:/" + PDF_TOOL, "--deadline-ms", "5000"),
        ("adb:", "--protocol", "mobile-mcp"),
    ],
    ids=" ".join,
)
def test_one_more_app_by_name_takes_no_other_out_of_sync(
    shim: Shim, phone: VirtualPhone, more: tuple[str, ...]
) -> None:
    assert shim("install", "--from", "adb:").code == 0
    before = shims_on(phone)
    assert shim("install", "--from", *more).code == 0
    after = shims_on(phone)
    assert before <= after
    phone.system.packages.uninstall(SHIM_OF + WEATHER)
    phone.system.packages.uninstall(SHIM_OF + PDF_TOOL)
    synced = shim.document("sync")
    changes = {change["application_id"].removeprefix(SHIM_OF): change["kind"] for change in synced["changes"]}
    assert changes == {name: "came" if name in {WEATHER, PDF_TOOL} else "same" for name in after}
    assert shims_on(phone) == after
    assert shim("status").code == 0
    assert {change["kind"] for change in shim.document("sync")["changes"]} == {"same"}


def test_one_more_app_by_name_keeps_shims_of_which_nothing_was_kept(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    folder, out = folder_with(tmp_path, "clock-in"), tmp_path / "out"
    shim("build", *ALL, "--from", folder, "-o", out)
    assert shim("install", out).code == 0
    shim.install(f"adb:/{PDF_TOOL}")
    phone.system.packages.uninstall(SHIM_OF + CLOCK_IN)
    assert shim("sync").code == 0
    assert shims_on(phone) == {PDF_TOOL, CLOCK_IN}


def test_sync_after_an_uninstallation_of_one_of_all_apps_looks_after_the_others_and_says_so(
    shim: Shim, phone: VirtualPhone
) -> None:
    shim.install("adb:")
    run = shim("uninstall", CLOCK_IN, PDF_TOOL)
    assert run.code == 0
    assert "looks after the apps whose shims are left only" in run.err
    assert not shims_on(phone) & {CLOCK_IN, PDF_TOOL}
    assert "nothing is to be done: 5 shims" in shim("sync").out


def test_all_apps_of_another_phone_are_not_all_apps_of_this_one(shim: Shim, phone: VirtualPhone) -> None:
    with start_phone(server=phone.server, apps=False) as other:
        other.install(sample_package("clock-in").apk)
        phone.system.packages.uninstall(CLOCK_IN)
        asked = (*ALL, "--from", f"adb:{other.serial}", "--serial", phone.serial)
        assert shim("install", *asked).code == 0
        synced = shim.document("sync", "--serial", phone.serial)
    assert {change["application_id"] for change in synced["changes"]} == {SHIM_OF + CLOCK_IN}


def test_the_shim_of_an_app_that_declares_nothing_any_more_is_removed(
    shim: Shim, phone: VirtualPhone
) -> None:
    for package in (CLOCK_IN, PDF_TOOL):
        shim.install(f"adb:/{package}")
    phone.system.packages.uninstall(CLOCK_IN)
    phone.install(empty_app(CLOCK_IN))
    run = shim("sync")
    assert run.code == 0
    assert "went" in run.out
    assert shims_on(phone) == {PDF_TOOL}


def empty_app(package: str) -> bytes:
    manifest = (
        f'<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="{package}">'
        '<application android:label="Empty" /></manifest>'
    )
    return pack_project({"AndroidManifest.xml": manifest.encode()}, key=make_key())


def test_what_nobody_chose_is_not_reported_as_an_app_without_a_shim(shim: Shim, tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "clock-in", "pdf-tool", "weather")
    asked = ("build", *ALL, "--from", folder, "-o", tmp_path / "out", "--only", "merge", "--json")
    built = shim(*asked).document("shim-build")
    assert [item["package"] for item in built["unused"]] == ["dev.droidgate.sample.weather"]
    (made,) = built["shims"]
    assert made["capabilities"] == ["merge"]
    pointers = {item["pointer"] for item in made["findings"] if item["pointer"].startswith("/capabilities")}
    assert all(item.startswith("/capabilities/0/") for item in pointers)


def test_a_call_says_what_is_wrong_with_it(shim: Shim, phone: VirtualPhone) -> None:
    del phone
    assert "install some with" in shim("call", "x").err
    shim.install(f"adb:/{CLOCK_IN}")
    for arguments, message in (
        (("x",), "no shim on the phone offers 'x'"),
        (("clock_in_today", "--shim", "com.example"), "'com.example' is not a shim of the phone"),
        (("clock_in_today", "--args", "{"), "--args:1:2: not JSON: expecting"),
        (("clock_in_today", "--args", "[]"), "--args is not a JSON object"),
    ):
        run = shim("call", *arguments)
        assert (run.code, run.out) == (2, ""), arguments
        assert f"error: {message}" in run.err


@pytest.mark.slow
def test_long_arguments_come_by_standard_input(phone: VirtualPhone, tmp_path: Path) -> None:
    home = str(tmp_path)
    del phone
    assert run_process("shim", "install", *ALL, "--from", f"adb:/{CLOCK_IN}", DROIDGATE_HOME=home).code == 0

    def call(data: bytes) -> Run:
        return run_process("shim", "call", "query_clock_in", "--args", "-", DROIDGATE_HOME=home, stdin=data)

    assert "has_clocked_in: false" in call(b'{"date": "2026-03-01"}').out
    for length, code, message in (
        (150_000, 5, "characters; at most 65536 can be sent to an app"),
        (300_000, 5, "characters; at most 200000 are read"),
        (1_100_000, 2, "longer than 1048576 bytes"),
    ):
        run = call(json.dumps({"date": "x" * length}).encode())
        assert run.code == code
        assert message in run.err


def test_a_text_of_several_lines_is_shown_in_lines(
    shim: Shim, phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    del phone
    shim.install(f"adb:/{CLOCK_IN}")
    outputs = {"text": "one\ntwo \x1b[31m\u202e\n", "count": 2, "empty": ""}
    monkeypatch.setattr("droidgate.shims.calling.call_capability", lambda *_, **__: outputs)
    shown = shim("call", "clock_in_today").out
    assert shown == "text:\n  one\n  two \\x1b[31m\\u202e\ncount: 2\nempty:\n"


def test_a_phone_without_shims_is_reported(shim: Shim, phone: VirtualPhone) -> None:
    del phone
    assert shim("status").code == 0
    assert shim("doctor").code == 4
    for command in ("install", "sync"):
        run = shim(command)
        assert (run.code, run.out) == (4, ""), command
        assert "shim install --from adb:" in run.err
    assert shim("uninstall", "--all").code == 0
    assert shim("uninstall").code == 2
    assert shim("uninstall", "com.example.absent").code == 2
    run = shim("install", "--protocol", "mobile-mcp")
    assert (run.code, "hint: name the apps, such as --from adb:" in run.err) == (2, True)


def test_doctor_finds_what_was_taken_away_and_says_the_fix(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    shim("install", *ALL, "--from", folder_with(tmp_path, "pdf-tool", "clock-in"))
    well = shim.document("doctor")
    assert well["problems"] == 0
    (start,) = [item for item in well["checks"] if item["id"] == "tool-start" and item["state"] == "ok"]
    assert "ClockInService declares a foregroundServiceType" in start["found"]
    name = SHIM_OF + PDF_TOOL
    package = phone.system.packages.find(name)
    assert package is not None
    package.granted.discard(NOTIFICATIONS)
    phone.system.uid_states.idle_whitelist.discard(name)
    phone.system.app_ops.set_mode(name, "SYSTEM_ALERT_WINDOW", "deny")
    phone.system.packages.uninstall(CLOCK_IN)
    run = shim("doctor", "--json")
    found = run.document("shim-doctor")
    problems = {item["id"]: item for item in found["checks"] if item["state"] == "problem"}
    assert problems.keys() == {
        *("notifications", "battery-exemption", "activity-start-route", "targets", "consent")
    }
    assert all(item["fix"] for item in problems.values())
    assert (run.code, found["problems"]) == (4, 5)
    started = [
        item["found"] for item in found["checks"] if item["id"] == "tool-start" and item["state"] == "unknown"
    ]
    assert started == [f"{CLOCK_IN}/{CLOCK_IN}.ClockInService is not installed"]
    assert shim("install").code == 0
    found = shim.document("doctor")
    assert {item["id"] for item in found["checks"] if item["state"] == "problem"} == {"targets"}


def instrumentations(phone: VirtualPhone) -> list[Any]:
    return [event for event in phone.log.events if event["event"] == "instrumentation"]


@pytest.mark.slow
def test_only_shims_with_app_functions_include_the_one_that_calls_them_and_it_goes_with_the_last(
    shim: Shim, phone: VirtualPhone
) -> None:
    first = shim.document("install", *ALL, "--from", f"adb:/{CLOCK_IN}")
    assert first["identity"] is None
    assert shims_on(phone) == {CLOCK_IN}
    for package in (NOTES, f"{NOTES}.legacy"):
        shim.install(f"adb:/{package}")
    assert shims_on(phone) == {CLOCK_IN, NOTES, f"{NOTES}.legacy", HOLDER}
    assert len(instrumentations(phone)) == 1
    change = shim.document("uninstall", NOTES)
    assert (change["identity"], shims_on(phone)) == (None, {CLOCK_IN, f"{NOTES}.legacy", HOLDER})
    phone.system.packages.uninstall(f"{NOTES}.legacy")
    planned = shim.document("sync", "--dry-run")
    kinds = {change["application_id"]: change["kind"] for change in planned["changes"]}
    assert kinds == {SHIM_OF + CLOCK_IN: "same", f"{SHIM_OF}{NOTES}.legacy": "went", HOLDER: "went"}
    assert shim("sync").code == 0
    assert shims_on(phone) == {CLOCK_IN}
    phone.install(sample_package("notes").apk)
    shim.install(f"adb:/{NOTES}")
    last = shim.document("uninstall", NOTES)
    assert last["identity"]["outcome"] == "done"
    assert shims_on(phone) == {CLOCK_IN}


def test_an_instrumentation_that_ended_is_started_again_by_install_and_by_sync(
    shim: Shim, phone: VirtualPhone
) -> None:
    shim.install(f"adb:/{NOTES}")
    for command in ("install", "sync"):
        phone.system.force_stop(HOLDER)
        problems = [item["found"] for item in shim.document("doctor")["checks"] if item["state"] == "problem"]
        assert len(problems) == 2
        assert all("does not run" in item for item in problems)
        assert "its instrumentation does not run" in shim("status").out
        assert shim(command).code == 0
        assert shim("doctor").code == 0
    assert len(instrumentations(phone)) == 3


def test_the_shim_of_several_apps_takes_over_and_what_its_removal_means_is_reported(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    shim.install(f"adb:/{NOTES}")
    folder = folder_with(tmp_path, "clock-in", "pdf-tool")
    run = shim.document("install", *ALL, "--from", folder, "--aggregate")
    assert [step["outcome"] for step in run["identity"]["steps"]] == ["not-needed", "done"]
    assert shims_on(phone) == {NOTES, HOLDER}
    assert shim("doctor").code == 0
    removed = shim("uninstall", HOLDER)
    assert removed.code == 0
    assert f"app functions of {SHIM_OF}{NOTES} are called again after" in removed.err
    assert shim("install").code == 0
    assert shims_on(phone) == {NOTES, HOLDER}


def test_where_another_key_signed_the_one_that_calls_app_functions_the_fix_is_reported(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    phone.install(build_bare_shim(make_key()).apk)
    run = shim("install", *ALL, "--from", f"adb:/{NOTES}")
    assert run.code == 4
    assert "signed with another key than the shims" in " ".join(run.out.split())
    assert "droidgate shim uninstall dev.droidgate.shim" in " ".join(run.out.split())
    assert instrumentations(phone) == []
    assert shim("uninstall", HOLDER).code == 0
    assert shim("install").code == 0
    assert shim("doctor").code == 0
    assert shim("uninstall", HOLDER).code == 0
    out = tmp_path / "out"
    key = tmp_path / "other.pem"
    write_key(key)
    apk = folder_with(tmp_path, "notes") / f"{NOTES}.apk"
    built = ("build", *ALL, "--from", apk, "-o", out, "--key", key)
    assert shim(*built).code == 0
    assert shim("uninstall", NOTES).code == 0
    without = shim("install", out)
    assert (without.code, "--key" in without.out) == (4, True)
    assert shim("install", out, "--key", key).code == 0


def test_build_says_each_permission_and_for_which_capabilities_it_is_there(
    shim: Shim, tmp_path: Path
) -> None:
    folder = folder_with(tmp_path, "pdf-tool", "notes", "clock-in")
    made = ("build", *ALL, "--from", folder, "-o", tmp_path / "out")
    shown = shim(*made).out
    assert "asks for FOREGROUND_SERVICE, to run a call that an agent starts: every capability" in shown
    assert (
        "asks for SYSTEM_ALERT_WINDOW, to open the tool's window while no agent is in front: every" in shown
    )
    both = ("build", *ALL, "--from", folder, "-o", tmp_path / "one", "--aggregate", "--deadline-ms", "9000")
    together = shim(*both).out
    assert "call app functions and call app functions for the other shims: " in together
    assert "while no agent is in front: " in together
    assert " and " in together.partition("EXECUTE_APP_FUNCTIONS")[2].partition("\n")[0]
    built = shim(*made, "--json").document("shim-build")
    asked = {
        item["packages"][0]: {
            use["permission"].rpartition(".")[2]: use["capabilities"] for use in item["permissions"]
        }
        for item in built["shims"]
    }
    usual = {"FOREGROUND_SERVICE", "POST_NOTIFICATIONS", "HIDE_OVERLAY_WINDOWS"}
    assert asked[CLOCK_IN].keys() == usual
    assert asked[PDF_TOOL].keys() == {*usual, "SYSTEM_ALERT_WINDOW"}
    assert asked[NOTES].keys() == {*usual, "EXECUTE_APP_FUNCTIONS"}
    assert all(asked[NOTES].values())


@pytest.mark.parametrize("name", [item for item in PUBLISHED if item.startswith("shim-")])
def test_each_command_prints_its_schema(shim: Shim, name: str) -> None:
    command = name.removeprefix("shim-")
    given = {"build": ["--from", "x"], "call": ["x"]}.get(command, [])
    run = shim(command, *given, "--json-schema")
    assert json.loads(run.out) == schema_of(PUBLISHED[name])


@pytest.mark.slow
def test_nothing_is_asked_where_there_is_no_terminal(phone: VirtualPhone, tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "clock-in")
    run = run_process(
        "shim", "install", *ALL, "--details", "--from", folder, DROIDGATE_HOME=str(tmp_path), stdin=b"y\n"
    )
    assert run.code == 0
    assert "left-out" in run.out
    assert shims_on(phone) == {CLOCK_IN}


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "granted"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_a_terminal_is_asked_and_the_answer_is_no_unless_it_is_yes(
    shim: Shim, phone: VirtualPhone, tmp_path: Path, typed: bytes, *, granted: bool
) -> None:
    folder = folder_with(tmp_path, "clock-in")
    arguments = ("shim", "install", *ALL, "--from", folder)
    shown = run_on_terminal(*arguments, typed=typed, DROIDGATE_HOME=str(tmp_path))
    assert "Let any app on this phone call them? [y/N]" in shown
    assert "query_clock_in" in shown
    assert "\\n" not in shown
    assert shims_on(phone) == {CLOCK_IN}
    status = shim.document("status")
    assert bool(status["shims"][0]["status"]["grants"]) is granted


def test_a_shim_that_another_key_signed_gets_no_arguments(
    tmp_path: Path, shim: Shim, phone: VirtualPhone
) -> None:
    key = tmp_path / "other.pem"
    write_key(key)
    source = folder_with(tmp_path, "clock-in") / f"{CLOCK_IN}.apk"
    made = ("build", *ALL, "--from", str(source), "-o", str(tmp_path / "shims"), "--json")
    signer = shim(*made, "--key", str(key)).document("shim-build")["key"]["signer"]
    phone.install((tmp_path / "shims" / f"{SHIM_OF}{CLOCK_IN}.apk").read_bytes())
    call = ("call", "make_up_clock_in", "--args", '{"date": "2026-03-02"}')
    files = f"/data/data/{CLOCK_IN}/files"
    refused = shim(*call)
    assert refused.code == 3
    assert f"--signed-by {signer}" in refused.err
    assert not phone.system.files.exists(files)
    assert shim(*call, "--signed-by", "0" * 64).code == 3
    assert shim(*call, "--signed-by", signer).code == 0
    assert phone.system.files.exists(files)


AGENT = "dev.droidgate.sample.agent"


def ask_clock_in(phone: VirtualPhone) -> str:
    """Return what the sample agent gets from the shim of clock-in when it asks to clock in today."""
    agent = Agent(phone.system.app_context(AGENT))
    (shim,) = [found for found in agent.discover_mobile_mcp() if found.package == SHIM_OF + CLOCK_IN]
    return agent.call_bound(shim, request_text("clock_in_today", {}, dialect="S0"))


def grants_on_the_phone(shim: Shim) -> list[Any]:
    status = shim.document("status")
    return [grant["capability"] for record in status["shims"] for grant in record["status"]["grants"]]


def test_an_agent_calls_what_was_granted_to_it_until_the_grant_is_revoked(
    shim: Shim, phone: VirtualPhone
) -> None:
    shim.install(f"adb:/{CLOCK_IN}")
    granted = shim.document("grant", "--agent", AGENT, "--capability", "clock_in_today")
    (record,) = granted["grants"]
    agent = phone.system.packages.find(AGENT)
    assert agent is not None
    assert record["signer"] == agent.signers[0]
    response = json.loads(ask_clock_in(phone))["mobile-mcp-response"]["response"]
    assert "denied" not in json.dumps(response)
    assert b"20" in b"".join(files_of(phone, CLOCK_IN).values())
    assert grants_on_the_phone(shim) == ["clock_in_today"]
    revoked = shim("revoke", "--agent", AGENT)
    assert revoked.out == f"revoked: 1 grant of {AGENT} for all capabilities of {SHIM_OF}{CLOCK_IN}\n"
    assert grants_on_the_phone(shim) == []


@pytest.mark.slow
def test_apps_that_agents_reach_by_themselves_get_a_shim_only_on_request(
    shim: Shim, phone: VirtualPhone
) -> None:
    installed = shim("install", "--from", "adb:")
    assert installed.code == 0
    line = "left out: 2 apps (mobile-mcp), which Mobile-MCP agents reach by themselves; --protocol all"
    assert line in installed.out
    assert shims_on(phone) == {PDF_TOOL, WEATHER, NOTES, f"{NOTES}.legacy", HOLDER}
    assert shim.document("sync")["left_out"] == [CLOCK_IN, TALLY]
    assert shims_on(phone) == {PDF_TOOL, WEATHER, NOTES, f"{NOTES}.legacy", HOLDER}, "sync keeps the choice"

    refused = shim("install", "--from", f"adb:/{CLOCK_IN}")
    assert refused.code == 3
    assert "Mobile-MCP agents reach these apps by themselves" in refused.err
    assert "hint: make shims for them with --protocol mobile-mcp" in refused.err

    everything = shim.document("install", "--from", "adb:", *ALL)
    assert everything["left_out"] == []
    assert {CLOCK_IN, TALLY} < shims_on(phone)
    assert {change["kind"] for change in shim.document("sync")["changes"]} == {"same"}


def test_a_shim_whose_app_is_gone_is_broken_and_sync_removes_it(shim: Shim, phone: VirtualPhone) -> None:
    assert shim("install", "--from", f"adb:/{PDF_TOOL}", "--from", f"adb:/{WEATHER}").code == 0
    assert shim("status").code == 0
    phone.system.packages.uninstall(WEATHER)

    status = shim("status")
    assert status.code == 4
    assert (
        f"broken: {WEATHER} is not installed, or the shim cannot see it; fix: install the app" in status.out
    )
    assert "2 shims, 1 broken, on" in status.out
    records = shim.document("status")["shims"]
    assert {item["application_id"]: item["works"] for item in records} == {
        f"{SHIM_OF}{PDF_TOOL}": True,
        f"{SHIM_OF}{WEATHER}": False,
    }
    doctor = shim("doctor", "--json")
    assert doctor.code == 4
    problems = [item for item in doctor.document("shim-doctor")["checks"] if item["state"] == "problem"]
    assert [(item["id"], item["application_id"]) for item in problems] == [("targets", f"{SHIM_OF}{WEATHER}")]

    assert shim("sync").code == 0
    assert shims_on(phone) == {PDF_TOOL}
    assert shim("status").code == 0


def test_sync_names_a_broken_shim_that_it_does_not_look_after(
    shim: Shim, phone: VirtualPhone, tmp_path: Path
) -> None:
    assert shim("install", "--from", f"adb:/{PDF_TOOL}").code == 0
    shim("build", *ALL, "--from", f"adb:/{CLOCK_IN}", "-o", tmp_path / "out")
    assert shim("install", tmp_path / "out").code == 0
    phone.system.packages.uninstall(CLOCK_IN)
    synced = shim("sync")
    assert (
        f"{CLOCK_IN} is not installed; remove it with: droidgate shim uninstall {SHIM_OF}{CLOCK_IN}"
        in synced.err
    )
    assert shims_on(phone) == {PDF_TOOL, CLOCK_IN}


def test_a_capability_or_shim_that_is_not_known_has_the_nearest_name(shim: Shim, phone: VirtualPhone) -> None:
    del phone
    assert shim("install", "--from", f"adb:/{NOTES}").code == 0
    agent = ("--agent", "dev.droidgate.sample.agent", "--capability", "createnote")
    for arguments in (("call", "createnote"), ("grant", *agent), ("revoke", *agent)):
        run = shim(*arguments)
        assert run.code == 2
        assert "no shim on the phone offers 'createnote'" in run.err
        assert f"did you mean '{NOTES}.NotesService#createNote'? known: {NOTES}." in run.err
    built = shim("install", "--from", f"adb:/{NOTES}", "--only", "createnote")
    assert (built.code, f"did you mean '{NOTES}.NotesService#createNote'?" in built.err) == (2, True)
    for unknown in (["uninstall", f"{NOTES}z"], ["call", "a", "--shim", f"{NOTES}z"]):
        run = shim(*unknown)
        assert (run.code, f"did you mean '{NOTES}'? known: " in run.err) == (2, True)
    choice = shim("install", "--from", f"adb:/{NOTES}", "--advertise", "mmpc")
    assert (choice.code, "hint: did you mean 'mmcp'? see `droidgate shim install --help`" in choice.err) == (
        2,
        True,
    )


def test_protocols_are_chosen_by_name_and_a_wrong_name_has_the_nearest(shim: Shim, tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "pdf-tool", "clock-in", "notes-legacy")
    out = tmp_path / "out"
    both = ("--protocol", "mobile-mcp", "--protocol", "appfunctions")
    built = shim.document("build", "--from", folder, "-o", out, *both)
    assert {item["packages"][0] for item in built["shims"]} == {CLOCK_IN, f"{NOTES}.legacy"}
    assert built["left_out"] == [PDF_TOOL]
    named = shim("build", "--from", folder, "-o", out, "--only", "query_clock_in", "--force", "--json")
    assert [item["packages"] for item in named.document("shim-build")["shims"]] == [[CLOCK_IN]]
    other_agents = shim("build", "--from", folder, "-o", out, "--advertise", "mmcp", "--force", "--json")
    assert len(other_agents.document("shim-build")["shims"]) == 3
    wrong = shim("build", "--from", folder, "-o", out, "--protocol", "mobile_mcp")
    assert wrong.code == 2
    assert "a shim cannot call 'mobile_mcp'" in wrong.err
    assert "did you mean 'mobile-mcp'? known: appfunctions, mmcp, mobile-mcp, all" in wrong.err


def test_a_grant_to_nobody_or_of_nothing_is_refused_with_the_nearest_name(
    shim: Shim, phone: VirtualPhone
) -> None:
    del phone
    shim.install(f"adb:/{CLOCK_IN}")
    nobody = shim("grant", "--agent", f"{AGENT}s", "--capability", "clock_in_today")
    assert (nobody.code, f"did you mean '{AGENT}'?" in nobody.err) == (2, True)
    nothing = shim("grant", "--agent", AGENT, "--capability", "clock_in_todya")
    assert (nothing.code, "clock_in_today" in nothing.err) == (2, True)
    unnamed = shim("grant", "--agent", AGENT)
    assert (unnamed.code, "--capability ID" in unnamed.err) == (2, True)
    every = shim.document("grant", "--agent", AGENT, "--capability", "*")
    assert [record["capability"] for record in every["grants"]] == ["*"]

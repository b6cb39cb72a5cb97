"""`droidgate shim` on the virtual phone: from apps to shims that answer, checked against its state."""

import json
import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from device_shim.phone_system.phone_system_apps import make_apk
from droidgate.cli import run
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import make_key
from droidgate_phone.apps.agent import ACTION_MOBILE_MCP, Agent, request_text
from droidgate_phone.apps.sample_packages import sample_package, signing_key
from droidgate_phone.java.intents import Intent
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_shim.builder.sample_apps import sample_apps_directory
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
AGENT = "dev.droidgate.sample.agent"
ALL = ("--format", "all")
NOTIFICATIONS = "android.permission.POST_NOTIFICATIONS"


@pytest.fixture
def phone(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualPhone]:
    with start_phone(server_port=0) as started:
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(started.server_port))
        yield started


class Shim:
    """Runs `droidgate shim` inside this process, for a phone and with a folder of the test."""

    def __init__(self, droidgate: Runner, phone: VirtualPhone | None, folder: Path) -> None:
        self._droidgate, self._phone, self.folder = droidgate, phone, folder

    @property
    def phone(self) -> VirtualPhone:
        assert self._phone is not None
        return self._phone

    def __call__(self, command: str, *arguments: str | Path) -> Run:
        return self._droidgate("shim", command, *arguments)

    def document(self, command: str, *arguments: str | Path) -> Any:
        return self(command, *arguments, "--json").document(f"shim-{command}")

    def install(self, source: str | Path, *options: str) -> None:
        """Install shims for apps of all protocols, which has to work."""
        assert self("install", *ALL, "--from", source, *options).code == 0

    def on_phone(self) -> set[str]:
        """Return the apps whose shims are installed, and the shim of several apps."""
        names = {item.name for item in self.phone.system.packages.all()}
        return {name.removeprefix(SHIM_OF) for name in names if name.startswith("dev.droidgate.shim")}

    def kinds(self, *options: str) -> dict[str, str]:
        """Return what `sync` finds changed: app -> kind."""
        changes = self.document("sync", *options)["changes"]
        return {change["application_id"].removeprefix(SHIM_OF): change["kind"] for change in changes}

    def folder_with(self, *names: str) -> Path:
        """Return a folder with the APKs of sample apps."""
        apps = self.folder / "apps"
        apps.mkdir()
        for item in map(sample_package, names):
            (apps / f"{item.package}.apk").write_bytes(item.apk)
        return apps

    def other_key(self) -> Path:
        """Return the file of a key that is not the user's."""
        key, path = make_key(), self.folder / "other.pem"
        private = key.private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path.touch(mode=0o600)
        path.write_bytes(private + key.certificate.public_bytes(Encoding.PEM))
        return path


@pytest.fixture
def builder(droidgate: Runner, tmp_path: Path) -> Shim:
    return Shim(droidgate, None, tmp_path)


@pytest.fixture
def shim(droidgate: Runner, phone: VirtualPhone, tmp_path: Path) -> Shim:
    return Shim(droidgate, phone, tmp_path)


def outcomes(record: Mapping[str, Any]) -> dict[str, str]:
    return {step["what"]: step["outcome"] for step in record["steps"]}


def changed_clock_in(version_code: int) -> bytes:
    """Return the clock-in app with another description of one capability, and another one's parameter."""
    root = sample_apps_directory() / "clock-in" / "app" / "src" / "main"
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.xml")}
    name = "res/xml/mcp_capabilities.xml"
    files[name] = files[name].replace(b"Doing it twice", b"Doing so twice")
    assert b"Doing so twice" in files[name]
    files[name] = files[name].replace(b'required="false"', b'required="true"')
    return pack_project(
        files, key=signing_key(), package=CLOCK_IN, version_code=version_code, minimum_sdk=24, target_sdk=36
    )


@pytest.mark.slow
def test_a_shim_is_built_installed_called_synced_checked_and_uninstalled(shim: Shim) -> None:
    day = ("--args", '{"date": "2026-03-02"}')
    legacy = f"{NOTES}.legacy"
    installed = shim.document("install", *ALL, "--from", "adb:")
    assert all(item["works"] for item in installed["shims"])
    assert shim.on_phone() == {CLOCK_IN, PDF_TOOL, TALLY, WEATHER, NOTES, legacy, HOLDER}
    assert [item["package"] for item in installed["unused"]] == []
    assert installed["identity"]["application_id"] == HOLDER
    assert [item["outcome"] for item in installed["identity"]["steps"]] == ["done", "done"]
    components = [item["component"] for item in instrumentations(shim.phone)]
    assert components == [f"{HOLDER}/.backends.ShellIdentityInstrumentation"]

    status = shim.document("status")
    assert {item["application_id"].removeprefix(SHIM_OF) for item in status["shims"]} == shim.on_phone()
    assert all(item["status"]["grants"] == [] for item in status["shims"])
    for_others = [item["application_id"] for item in status["shims"] if item["calls_functions_for_others"]]
    assert for_others == [HOLDER]
    assert "calls app functions for the other shims" in shim("status").out

    assert shim("call", "make_up_clock_in", *day).code == 0
    assert b"2026-03-02" in b"".join(files_of(shim.phone, CLOCK_IN).values())
    answer = shim.document("call", "query_clock_in", *day)
    assert answer["outputs"] == {"date": "2026-03-02", "has_clocked_in": True}

    shim.phone.install(changed_clock_in(2))
    refused = shim("call", "query_clock_in", *day)
    assert (refused.code, "needs_approval" in refused.err) == (6, True)
    shim.phone.system.packages.uninstall(WEATHER)
    planned = shim.document("sync", "--dry-run")
    assert shim.on_phone() >= {WEATHER}
    synced = shim.document("sync")
    kinds = {item["application_id"].removeprefix(SHIM_OF): item["kind"] for item in synced["changes"]}
    same = dict.fromkeys((PDF_TOOL, TALLY, NOTES, legacy, HOLDER), "same")
    assert kinds == {CLOCK_IN: "changed", WEATHER: "removed", **same}
    (why,) = [item["why"] for item in synced["changes"] if item["kind"] == "changed"]
    assert why == "other parameters or results: query_clock_in"
    assert [(item["kind"], item["application_id"]) for item in planned["changes"]] == [
        (item["kind"], item["application_id"]) for item in synced["changes"]
    ]
    assert (planned["done"], synced["done"]) == (False, True)
    assert shim.on_phone() == {CLOCK_IN, PDF_TOOL, TALLY, NOTES, legacy, HOLDER}
    again = shim("call", "query_clock_in", *day)
    assert (again.code, "has_clocked_in: true" in again.out) == (0, True)

    shim.phone.install(sample_package("weather").apk)
    assert [app for app, kind in shim.kinds().items() if kind == "added"] == [WEATHER]
    nothing = shim("sync")
    assert (nothing.code, "all shims are current" in nothing.out) == (0, True)

    checked = shim.document("doctor")
    assert [item for item in checked["checks"] if item["state"] == "problem"] == []
    result = shim("call", "legacy/createNote", "--args", '{"title": "Oats", "content": "two bags"}')
    assert result.code == 0
    assert any(b"two bags" in content for content in files_of(shim.phone, legacy).values())

    removed = shim.document("uninstall", "--all")
    assert (len(removed["shims"]), removed["identity"]) == (7, None)
    assert shim.on_phone() == set()


def files_of(phone: VirtualPhone, package: str) -> dict[str, bytes]:
    """Return what an app keeps in its own folder."""
    files = phone.system.files
    root = f"/data/data/{package}/files"
    return {name: files.read(f"{root}/{name}") for name in files.list(root)}


def test_what_adb_may_is_set_up_and_nothing_more(shim: Shim) -> None:
    run = shim.document("install", *ALL, "--from", shim.folder_with("pdf-tool"))
    (record,) = run["shims"]
    assert set(outcomes(record).values()) == {"done", "not-needed", "left-out"}
    package = shim.phone.system.packages.find(SHIM_OF + PDF_TOOL)
    assert package is not None
    assert NOTIFICATIONS in package.granted
    assert SHIM_OF + PDF_TOOL in shim.phone.system.uid_states.idle_whitelist
    assert shim.phone.system.app_ops.mode(SHIM_OF + PDF_TOOL, "SYSTEM_ALERT_WINDOW") == "allow"
    for step in record["steps"]:
        assert step["command"] or step["why"], step
    status = shim.document("status")["shims"][0]["status"]
    access = dict.fromkeys(("notifications", "overlay", "battery_exempt"), True)
    assert (status["grants"], status["access"]) == ([], {**access, "execute_app_functions": False})


def test_any_app_is_granted_only_where_it_was_said_and_taken_back_too(shim: Shim) -> None:
    folder = shim.folder_with("clock-in")
    shim("install", *ALL, "--from", folder)
    assert grants_on_the_phone(shim) == []
    shim("install", *ALL, "--from", folder, "--allow-any-app")
    assert grants_on_the_phone(shim) == [("any-app", "*")]
    checked = shim("doctor")
    assert (checked.code, "no problem was found, 1 risk;" in checked.out) == (0, True)
    shim("install")
    assert grants_on_the_phone(shim) == [("any-app", "*")]
    taken_back = f"any app could call {SHIM_OF}{CLOCK_IN}, and cannot any more"
    assert taken_back in shim("install", "--no-allow-any-app").out
    assert grants_on_the_phone(shim) == []
    assert taken_back not in shim("install", "--no-allow-any-app").out


def test_a_receiver_that_the_virtual_phone_cannot_run_is_the_reason(shim: Shim) -> None:
    action = '<action android:name="com.example.ACTION_MMCP_{}"/>'.format
    filters = f"<intent-filter>{action('DISCOVERY')}{action('INVOKE')}</intent-filter>"
    receiver = f'<receiver android:name=".R" android:exported="true">{filters}</receiver>'
    shim.phone.install(make_apk("org.radio", receiver))
    refused = shim("install", *ALL, "--from", "adb:/org.radio")
    assert refused.code == 3
    assert "the virtual phone does not model the code of receiver org.radio/.R" in refused.err
    assert "try it on an emulator or a phone" in refused.err


@pytest.fixture(scope="module")
def with_shims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Return the environment of a phone with shims for notes and clock-in."""
    with start_phone(server_port=0) as phone, pytest.MonkeyPatch.context() as patch:
        home = str(tmp_path_factory.mktemp("home"))
        environment = {"ANDROID_ADB_SERVER_PORT": str(phone.server_port), "DROIDGATE_HOME": home}
        for name, value in environment.items():
            patch.setenv(name, value)
        for app in (NOTES, CLOCK_IN):
            assert run(["shim", "install", *ALL, "--from", f"adb:/{app}", "--quiet"]) == 0
        yield environment


NEAREST = f"hint: did you mean '{NOTES}.NotesService#createNote'? known: clock_in_today, {NOTES}."


@pytest.mark.parametrize(("typed", "code", "message"), [
    ("call clock_in_today --shim com.example", 2, "error: 'com.example' is not a shim of the phone"),
    ("call clock_in_today --args '{'", 2, "error: --args:1:2: not JSON: expecting"),
    ("call clock_in_today --args '[]'", 2, "error: --args is not a JSON object"),
    ("call make_up_clock_in", 5, "make_up_clock_in: invalid_argument"),
    ("call no_such", 2, "query_clock_in"),
    ("call createnote", 2, "error: no shim on the phone offers 'createnote'"),
    ("call createnote", 2, NEAREST),
    (f"grant --agent {AGENT} --capability createnote", 2, NEAREST),
    (f"revoke --agent {AGENT} --capability createnote", 2, NEAREST),
    (f"install --from adb:/{NOTES} --capability createnote", 2,
     f"did you mean '{NOTES}.NotesService#createNote'?"),
    (f"uninstall {NOTES}z", 2, f"did you mean '{NOTES}'? known: "),
    (f"call a --shim {NOTES}z", 2, f"did you mean '{NOTES}'? known: "),
    (f"install --from adb:/{NOTES} --advertise mmpc", 2,
     "hint: did you mean 'mmcp'? see `droidgate shim install --help`"),
    (f"grant --agent {AGENT}s --capability clock_in_today", 2, f"did you mean '{AGENT}'?"),
    (f"grant --agent {AGENT} --capability clock_in_todya", 2, "clock_in_today"),
    (f"grant --agent {AGENT}", 2, "--capability ID"),
], ids=lambda value: str(value)[:60])  # fmt: skip
def test_a_mistake_is_named_with_the_nearest_name(
    with_shims: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    droidgate: Runner,
    typed: str,
    code: int,
    message: str,
) -> None:
    for variable in with_shims.items():
        monkeypatch.setenv(*variable)
    refused = droidgate("shim", *shlex.split(typed))
    assert (refused.code, refused.out) == (code, "")
    assert message in refused.err


def test_apks_that_were_built_are_installed_and_others_are_refused(shim: Shim) -> None:
    folder, out = shim.folder_with("clock-in", "pdf-tool"), shim.folder / "out"
    built = shim.document("build", *ALL, "--from", folder, "-o", out)
    assert {Path(item["apk"]).name for item in built["shims"]} == {item.name for item in out.glob("*.apk")}
    assert shim("install", out).code == 0
    assert shim.on_phone() == {CLOCK_IN, PDF_TOOL}
    status = shim.document("status")
    assert {item["status"]["build"] for item in status["shims"]} == {item["build"] for item in built["shims"]}
    other = shim("install", folder / f"{CLOCK_IN}.apk")
    assert (other.code, "it is not a shim" in other.err) == (3, True)
    assert shim("install", out, "--from", folder).code == 2


def test_the_same_key_signs_again_and_another_key_is_reported(shim: Shim) -> None:
    folder = shim.folder_with("clock-in")
    runs = [shim("build", *ALL, "--from", folder, "-o", shim.folder / name, "--json") for name in "ab"]
    assert ["made a signing key" in run.err for run in runs] == [True, False]
    first, second = (run.document("shim-build") for run in runs)
    assert first["key"] == second["key"]
    assert first["shims"][0]["build"] == second["shims"][0]["build"]
    assert shim("install", shim.folder / "a").code == 0
    refused = shim("install", *ALL, "--from", folder, "--key", shim.other_key())
    assert refused.code == 4
    assert "INSTALL_FAILED_UPDATE_INCOMPATIBLE" in refused.out
    assert "uninstall it first: adb uninstall PACKAGE" in refused.out
    assert shim.on_phone() == {CLOCK_IN}


def test_findings_of_the_builder_decide_the_exit_code(builder: Shim) -> None:
    folder = builder.folder_with("notes-legacy")
    arguments = ("build", *ALL, "--from", folder, "-o", builder.folder / "o", "--fail-on")
    assert builder(*arguments, "dropped").code == 1
    run = builder(*arguments, "impossible")
    assert run.code == 0
    assert "dropped" in run.out
    assert "unchanged: " in run.out


def test_only_some_capabilities_and_several_apps_in_one(shim: Shim) -> None:
    folder = shim.folder_with("clock-in", "pdf-tool")
    chosen = ["--capability", "page_count", "--capability", "query_clock_in"]
    (item,) = shim.document("install", *ALL, "--from", folder, "--aggregate", *chosen)["shims"]
    made = (item["application_id"], sorted(item["capabilities"]))
    assert made == (HOLDER, ["page_count", "query_clock_in"])
    assert shim.on_phone() == {HOLDER}
    shim.phone.system.packages.uninstall(PDF_TOOL)
    assert shim.kinds() == {HOLDER: "changed"}
    assert shim("call", "page_count").code == 2
    shim.phone.system.packages.uninstall(CLOCK_IN)
    assert shim("sync").code == 0
    assert shim.on_phone() == set()


@pytest.mark.parametrize("named", [False, True], ids=["all apps", "named apps"])
def test_sync_without_a_record_keeps_the_apps_whose_shims_are_there(shim: Shim, *, named: bool) -> None:
    shim("build", *ALL, "--from", shim.folder_with("clock-in"), "-o", shim.folder / "out")
    assert shim("install", shim.folder / "out").code == 0
    if named:
        shim.install(f"adb:/{PDF_TOOL}")
        shim.phone.system.packages.uninstall(SHIM_OF + CLOCK_IN)
    assert shim.kinds() == ({CLOCK_IN: "added", PDF_TOOL: "same"} if named else {CLOCK_IN: "same"})


def test_sync_looks_after_what_was_installed_and_not_what_was_uninstalled(shim: Shim) -> None:
    for package in (CLOCK_IN, PDF_TOOL):
        shim.install(f"adb:/{package}")
    shim.phone.system.packages.uninstall(CLOCK_IN)
    assert shim("sync").code == 0
    assert shim.on_phone() == {PDF_TOOL}
    shim.phone.install(sample_package("clock-in").apk)
    assert shim("sync").code == 0
    assert shim.on_phone() == {PDF_TOOL, CLOCK_IN}
    assert shim("uninstall", CLOCK_IN).code == 0
    assert shim("sync").code == 0
    assert shim.on_phone() == {PDF_TOOL}


@pytest.mark.parametrize("more", [
    f"adb:/{PDF_TOOL}", f"adb:/{CLOCK_IN} --format mobile-mcp", f"adb:/{CLOCK_IN} --format all",
    f"adb:/{PDF_TOOL} --call-deadline 5", "adb: --format mobile-mcp",
])  # fmt: skip
def test_one_more_app_by_name_takes_no_other_out_of_sync(shim: Shim, more: str) -> None:
    assert shim("install", "--from", "adb:").code == 0
    before = shim.on_phone()
    assert shim("install", "--from", *more.split()).code == 0
    after = shim.on_phone()
    assert before <= after
    for app in (WEATHER, PDF_TOOL):
        shim.phone.system.packages.uninstall(SHIM_OF + app)
    assert shim.kinds() == {name: "added" if name in {WEATHER, PDF_TOOL} else "same" for name in after}
    assert shim.on_phone() == after
    assert shim("status").code == 0
    assert set(shim.kinds().values()) == {"same"}


@pytest.mark.parametrize(("command", "reading"), [
    ("install --from adb:", "prepare_shims"), ("sync", "plan_sync"),
])  # fmt: skip
def test_a_run_that_reads_too_long_changes_nothing_on_the_phone(
    shim: Shim, command: str, reading: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"droidgate.cli.shim.run_shim_install.{reading}", lambda *_: time.sleep(60))
    late = shim(*command.split(), "--deadline", "0.1")
    assert (late.code, "more than 0.1 seconds" in late.err, shim.on_phone()) == (3, True, set())


def test_sync_after_an_uninstallation_of_one_app_looks_after_the_others_and_says_so(shim: Shim) -> None:
    shim.install("adb:")
    run = shim("uninstall", CLOCK_IN, PDF_TOOL)
    assert run.code == 0
    assert "looks after the apps whose shims are left only" in run.err
    assert not shim.on_phone() & {CLOCK_IN, PDF_TOOL}
    assert f"all shims are current: 4 shims and {HOLDER} on" in shim("sync").out


def test_all_apps_of_another_phone_are_not_all_apps_of_this_one(shim: Shim) -> None:
    with start_phone(server=shim.phone.server, apps=False) as other:
        other.install(sample_package("clock-in").apk)
        shim.phone.system.packages.uninstall(CLOCK_IN)
        arguments = (*ALL, "--from", f"adb:{other.serial}", "--serial", shim.phone.serial)
        assert shim("install", *arguments).code == 0
        synced = shim.document("sync", "--serial", shim.phone.serial)
    assert {change["application_id"] for change in synced["changes"]} == {SHIM_OF + CLOCK_IN}


def test_what_nobody_chose_is_not_reported_as_an_app_without_a_shim(builder: Shim) -> None:
    folder = builder.folder_with("clock-in", "pdf-tool", "weather")
    arguments = ("--from", folder, "-o", builder.folder / "out", "--capability", "merge")
    built = builder.document("build", *ALL, *arguments)
    assert [item["package"] for item in built["unused"]] == ["dev.droidgate.sample.weather"]
    (shim,) = built["shims"]
    assert shim["capabilities"] == ["merge"]
    pointers = {item["pointer"] for item in shim["findings"] if item["pointer"].startswith("/capabilities")}
    assert all(item.startswith("/capabilities/0/") for item in pointers)


@pytest.mark.slow
def test_long_arguments_come_by_standard_input(with_shims: dict[str, Any]) -> None:
    def call(data: bytes) -> Run:
        return run_process("shim", "call", "query_clock_in", "--args", "-", stdin=data, **with_shims)

    assert "has_clocked_in: false" in call(b'{"date": "2026-03-01"}').out
    for length, code, message in (
        (150_000, 5, "characters; at most 65536 can be sent to an app"),
        (300_000, 5, "characters; at most 200000 are read"),
        (1_100_000, 2, "longer than 1048576 bytes"),
    ):
        refused = call(json.dumps({"date": "x" * length}).encode())
        assert (refused.code, message in refused.err) == (code, True)


def test_a_text_of_several_lines_is_shown_in_lines(shim: Shim, monkeypatch: pytest.MonkeyPatch) -> None:
    shim.install(f"adb:/{CLOCK_IN}")
    outputs = {"text": "one\ntwo \x1b[31m\u202e\n", "count": 2, "empty": ""}
    monkeypatch.setattr("droidgate.shims.shim_calls.call_capability", lambda *_, **__: outputs)
    output = shim("call", "clock_in_today").out
    assert output == "text:\n  one\n  two \\x1b[31m\\u202e\ncount: 2\nempty:\n"


def test_a_phone_without_shims_is_reported(shim: Shim) -> None:
    for command, code, message in (
        ("status", 0, ""),
        ("doctor", 4, ""),
        ("install", 4, "shim install --from adb:"),
        ("sync", 4, "shim install --from adb:"),
        ("uninstall --all", 0, ""),
        ("uninstall", 2, ""),
        ("uninstall com.example.absent", 2, ""),
        ("install --format mobile-mcp", 2, "hint: name the apps, such as --from adb:"),
        ("call x", 2, "install some with"),
    ):
        run = shim(*command.split())
        assert (run.code, message in run.err) == (code, True), command
        assert not (message and run.out), command


def test_doctor_finds_what_was_taken_away_and_says_the_fix(shim: Shim) -> None:
    shim("install", *ALL, "--from", shim.folder_with("pdf-tool", "clock-in"))

    def found(state: str, *, code: int) -> dict[str, dict[str, Any]]:
        run = shim("doctor", "--json")
        document = run.document("shim-doctor")
        assert (run.code, document["problems"] > 0) == (code, code > 0)
        return {item["id"]: item for item in document["checks"] if item["state"] == state}

    assert "ClockInService declares a foregroundServiceType" in found("ok", code=0)["tool-start"]["found"]
    name, system = SHIM_OF + PDF_TOOL, shim.phone.system
    package = system.packages.find(name)
    assert package is not None
    package.granted.discard(NOTIFICATIONS)
    system.uid_states.idle_whitelist.discard(name)
    system.app_ops.set_mode(name, "SYSTEM_ALERT_WINDOW", "deny")
    system.packages.uninstall(CLOCK_IN)
    problems = found("problem", code=4)
    expected = {"notifications", "battery-exemption", "activity-start-route", "targets", "consent"}
    assert problems.keys() == expected
    assert all(item["fix"] for item in problems.values())
    start = found("unknown", code=4)["tool-start"]["found"]
    assert start == f"{CLOCK_IN}/{CLOCK_IN}.ClockInService is not installed"
    assert shim("install").code == 0
    assert found("problem", code=4).keys() == {"targets"}


def instrumentations(phone: VirtualPhone) -> list[Any]:
    return [event for event in phone.log.events if event["event"] == "instrumentation"]


@pytest.mark.slow
def test_only_shims_with_app_functions_include_the_one_that_calls_them_until_the_last(shim: Shim) -> None:
    legacy = f"{NOTES}.legacy"
    first = shim.document("install", *ALL, "--from", f"adb:/{CLOCK_IN}")
    assert (first["identity"], shim.on_phone()) == (None, {CLOCK_IN})
    for package in (NOTES, legacy):
        shim.install(f"adb:/{package}")
    assert shim.on_phone() == {CLOCK_IN, NOTES, legacy, HOLDER}
    assert len(instrumentations(shim.phone)) == 1
    change = shim.document("uninstall", NOTES)
    assert (change["identity"], shim.on_phone()) == (None, {CLOCK_IN, legacy, HOLDER})
    shim.phone.system.packages.uninstall(legacy)
    assert shim.kinds("--dry-run") == {CLOCK_IN: "same", legacy: "removed", HOLDER: "removed"}
    assert shim("sync").code == 0
    assert shim.on_phone() == {CLOCK_IN}
    shim.phone.install(sample_package("notes").apk)
    shim.install(f"adb:/{NOTES}")
    assert shim.document("uninstall", NOTES)["identity"]["outcome"] == "done"
    assert shim.on_phone() == {CLOCK_IN}


def test_an_instrumentation_that_ended_is_started_again_by_install_and_by_sync(shim: Shim) -> None:
    shim.install(f"adb:/{NOTES}")
    for command in ("install", "sync"):
        shim.phone.system.force_stop(HOLDER)
        problems = [item["found"] for item in shim.document("doctor")["checks"] if item["state"] == "problem"]
        assert len(problems) == 2
        assert all("does not run" in item for item in problems)
        assert "does not call app functions for the other shims" in shim("status").out
        assert shim(command).code == 0
        assert shim("doctor").code == 0
    assert len(instrumentations(shim.phone)) == 3


def test_the_shim_of_several_apps_takes_over_and_what_its_removal_means_is_reported(shim: Shim) -> None:
    shim.install(f"adb:/{NOTES}")
    folder = shim.folder_with("clock-in", "pdf-tool")
    run = shim.document("install", *ALL, "--from", folder, "--aggregate")
    assert [step["outcome"] for step in run["identity"]["steps"]] == ["not-needed", "done"]
    assert shim.on_phone() == {NOTES, HOLDER}
    assert shim("doctor").code == 0
    removed = shim("uninstall", HOLDER)
    assert removed.code == 0
    assert f"app functions of {SHIM_OF}{NOTES} are called again after" in removed.err
    assert shim("install").code == 0
    assert shim.on_phone() == {NOTES, HOLDER}


def test_where_another_key_signed_the_one_that_calls_app_functions_the_fix_is_reported(shim: Shim) -> None:
    shim.phone.install(build_bare_shim(make_key()).apk)
    run = shim("install", *ALL, "--from", f"adb:/{NOTES}")
    assert run.code == 4
    assert "signed with another key than the shims" in " ".join(run.out.split())
    assert "droidgate shim uninstall dev.droidgate.shim" in " ".join(run.out.split())
    assert instrumentations(shim.phone) == []
    for command in (["uninstall", HOLDER], ["install"], ["doctor"], ["uninstall", HOLDER]):
        assert shim(*command).code == 0
    out, key = shim.folder / "out", shim.other_key()
    apk = shim.folder_with("notes") / f"{NOTES}.apk"
    assert shim("build", *ALL, "--from", apk, "-o", out, "--key", key).code == 0
    assert shim("uninstall", NOTES).code == 0
    without = shim("install", out)
    assert (without.code, "--key" in without.out) == (4, True)
    assert shim("install", out, "--key", key).code == 0


def test_build_says_each_permission_and_for_which_capabilities_it_is_there(builder: Shim) -> None:
    arguments = ("build", *ALL, "--from", builder.folder_with("pdf-tool", "notes", "clock-in"), "-o")
    output = builder(*arguments, builder.folder / "out").out
    for permission, what in (
        ("FOREGROUND_SERVICE", "run a call that an agent starts: every capability"),
        ("SYSTEM_ALERT_WINDOW", "open an app's screen while no agent is in front: every"),
    ):
        assert f"asks for {permission}, to {what}" in output
    together = builder(*arguments, builder.folder / "one", "--aggregate", "--call-deadline", "9").out
    assert "call app functions and call app functions for the other shims: " in together
    assert "while no agent is in front: " in together
    assert " and " in together.partition("EXECUTE_APP_FUNCTIONS")[2].partition("\n")[0]
    permissions = {
        item["packages"][0]: {
            use["permission"].rpartition(".")[2]: use["capabilities"] for use in item["permissions"]
        }
        for item in builder.document(*arguments, builder.folder / "out")["shims"]
    }
    usual = {"FOREGROUND_SERVICE", "POST_NOTIFICATIONS", "HIDE_OVERLAY_WINDOWS"}
    assert permissions[CLOCK_IN].keys() == usual
    assert permissions[PDF_TOOL].keys() == {*usual, "SYSTEM_ALERT_WINDOW"}
    assert permissions[NOTES].keys() == {*usual, "EXECUTE_APP_FUNCTIONS"}
    assert all(permissions[NOTES].values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "granted"), [(b"y\n", True), (b"n\n", False), (b"\n", False), (b"\x04", None)]
)
def test_a_terminal_is_asked_and_no_answer_is_a_no(shim: Shim, typed: bytes, *, granted: bool | None) -> None:
    arguments = ("shim", "install", *ALL, "--from", shim.folder_with("clock-in"))
    output = run_on_terminal(*arguments, typed=typed, DROIDGATE_HOME=str(shim.folder))
    assert "Let any app on this phone call them? [y/N]" in output
    assert "query_clock_in" in output
    assert "\\n" not in output
    assert ("hint: answer y or n, or by --allow-any-app, --no-allow-any-app or --yes" in output) is (
        granted is None
    )
    assert shim.on_phone() == (set() if granted is None else {CLOCK_IN})
    assert bool(grants_on_the_phone(shim)) is bool(granted)


@pytest.mark.slow
def test_yes_asks_nothing_on_a_terminal_and_grants_nothing(shim: Shim) -> None:
    arguments = ("shim", "install", *ALL, "-y", "--from", shim.folder_with("clock-in"))
    output = run_on_terminal(*arguments, DROIDGATE_HOME=str(shim.folder))
    assert ("[y/N]" in output, shim.on_phone(), grants_on_the_phone(shim)) == (False, {CLOCK_IN}, [])


def test_a_shim_that_another_key_signed_gets_no_arguments(shim: Shim) -> None:
    arguments = ("build", *ALL, "--from", shim.folder_with("clock-in"), "-o", shim.folder / "shims")
    signer = shim.document(*arguments, "--key", shim.other_key())["key"]["signer"]
    shim.phone.install((shim.folder / "shims" / f"{SHIM_OF}{CLOCK_IN}.apk").read_bytes())
    call = ("call", "make_up_clock_in", "--args", '{"date": "2026-03-02"}')
    files = f"/data/data/{CLOCK_IN}/files"
    refused = shim(*call)
    assert (refused.code, f"--signed-by {signer}" in refused.err) == (3, True)
    assert not shim.phone.system.files.exists(files)
    assert shim(*call, "--signed-by", "0" * 64).code == 3
    assert shim(*call, "--signed-by", "0" * 63).code == 2
    as_keytool_prints_it = ":".join(signer[at : at + 2] for at in range(0, 64, 2)).upper()
    assert shim(*call, "--signed-by", as_keytool_prints_it).code == 0
    assert shim.phone.system.files.exists(files)


def ask_clock_in(phone: VirtualPhone) -> str:
    """Return what the sample agent gets from the shim of clock-in when it asks to clock in today."""
    context = phone.system.app_context(AGENT)
    services = context.query_services(Intent(ACTION_MOBILE_MCP))
    (shim,) = [service for service in services if service.package == SHIM_OF + CLOCK_IN]
    return Agent(context).call_bound(shim, request_text("clock_in_today", {}, dialect="S0"))


def grants_on_the_phone(shim: Shim) -> list[tuple[str, str]]:
    """Return who may call what."""
    grants = [grant for record in shim.document("status")["shims"] for grant in record["status"]["grants"]]
    return [(grant["caller"], grant["capability"]) for grant in grants]


def test_an_agent_calls_what_was_granted_to_it_until_the_grant_is_revoked(shim: Shim) -> None:
    shim.install(f"adb:/{CLOCK_IN}")
    (record,) = shim.document("grant", "--agent", AGENT, "--capability", "clock_in_today")["grants"]
    agent = shim.phone.system.packages.find(AGENT)
    assert agent is not None
    assert record["signer"] == agent.signers[0]
    response = json.loads(ask_clock_in(shim.phone))["mobile-mcp-response"]["response"]
    assert "denied" not in json.dumps(response)
    assert b"20" in b"".join(files_of(shim.phone, CLOCK_IN).values())
    assert [capability for _, capability in grants_on_the_phone(shim)] == ["clock_in_today"]
    revoked = shim("revoke", "--agent", AGENT)
    assert revoked.out == f"revoked: 1 grant of {AGENT} of {SHIM_OF}{CLOCK_IN}\n"
    nothing = f"nothing to revoke: {AGENT} has no grant; `droidgate shim status` lists all grants\n"
    assert shim("revoke", "--agent", AGENT).out == nothing
    assert grants_on_the_phone(shim) == []
    every = shim.document("grant", "--agent", AGENT, "--capability", "*")
    assert [record["capability"] for record in every["grants"]] == ["*"]


@pytest.mark.slow
def test_apps_that_agents_reach_by_themselves_get_a_shim_only_on_request(shim: Shim) -> None:
    installed = shim("install", "--from", "adb:")
    assert installed.code == 0
    line = "left out: 2 apps (mobile-mcp), which Mobile-MCP agents reach by themselves; --format all"
    assert line in installed.out
    assert shim.on_phone() == {PDF_TOOL, WEATHER, NOTES, f"{NOTES}.legacy", HOLDER}
    assert shim.document("sync")["left_out"] == [CLOCK_IN, TALLY]
    assert shim.on_phone() == {PDF_TOOL, WEATHER, NOTES, f"{NOTES}.legacy", HOLDER}, "sync keeps the choice"

    refused = shim("install", "--from", f"adb:/{CLOCK_IN}")
    assert refused.code == 3
    assert "Mobile-MCP agents reach these apps by themselves" in refused.err
    assert "hint: make shims for them with --format mobile-mcp" in refused.err

    everything = shim.document("install", "--from", "adb:", *ALL)
    assert everything["left_out"] == []
    assert {CLOCK_IN, TALLY} < shim.on_phone()
    assert set(shim.kinds().values()) == {"same"}


def test_a_shim_whose_app_is_gone_is_broken_and_sync_removes_it(shim: Shim) -> None:
    assert shim("install", "--from", f"adb:/{PDF_TOOL}", "--from", f"adb:/{WEATHER}").code == 0
    assert shim("status").code == 0
    shim.phone.system.packages.uninstall(WEATHER)

    status = shim("status")
    assert status.code == 4
    broken = f"broken: {WEATHER} is not installed, or the shim cannot see it; fix: install the app"
    assert broken in status.out
    assert "2 shims, 1 broken, on" in status.out
    works = {item["application_id"]: item["works"] for item in shim.document("status")["shims"]}
    assert works == {f"{SHIM_OF}{PDF_TOOL}": True, f"{SHIM_OF}{WEATHER}": False}
    doctor = shim("doctor", "--json")
    assert doctor.code == 4
    problems = [item for item in doctor.document("shim-doctor")["checks"] if item["state"] == "problem"]
    assert [(item["id"], item["application_id"]) for item in problems] == [("targets", f"{SHIM_OF}{WEATHER}")]

    assert shim("sync").code == 0
    assert shim.on_phone() == {PDF_TOOL}
    assert shim("status").code == 0


def test_sync_names_a_broken_shim_that_it_does_not_look_after(shim: Shim) -> None:
    assert shim("install", "--from", f"adb:/{PDF_TOOL}").code == 0
    shim("build", *ALL, "--from", f"adb:/{CLOCK_IN}", "-o", shim.folder / "out")
    assert shim("install", shim.folder / "out").code == 0
    shim.phone.system.packages.uninstall(CLOCK_IN)
    fix = f"{CLOCK_IN} is not installed; remove it with: droidgate shim uninstall {SHIM_OF}{CLOCK_IN}"
    assert fix in shim("sync").err
    assert shim.on_phone() == {PDF_TOOL, CLOCK_IN}


def test_protocols_are_chosen_by_name_and_a_wrong_name_has_the_nearest(builder: Shim) -> None:
    folder = builder.folder_with("pdf-tool", "clock-in", "notes-legacy")
    build = ("build", "--from", folder, "-o", builder.folder / "out")
    built = builder.document(*build, "--format", "mobile-mcp", "--format", "appfunctions")
    assert {item["packages"][0] for item in built["shims"]} == {CLOCK_IN, f"{NOTES}.legacy"}
    assert built["left_out"] == [PDF_TOOL]
    chosen = builder.document(*build, "--capability", "query_clock_in", "--force")
    assert [item["packages"] for item in chosen["shims"]] == [[CLOCK_IN]]
    assert len(builder.document(*build, "--advertise", "mmcp", "--force")["shims"]) == 3
    wrong = builder(*build, "--format", "mobile_mcp")
    assert wrong.code == 2
    assert "a shim cannot call 'mobile_mcp'" in wrong.err
    assert "did you mean 'mobile-mcp'? known: app-actions, appfunctions, mmcp, mobile-mcp, all" in wrong.err

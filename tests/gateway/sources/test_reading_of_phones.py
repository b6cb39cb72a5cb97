"""What a phone does wrong costs one app or one question; what is kept is used while it is true."""

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from droidgate.cli.devices.run_discover import discovery_page
from droidgate.cli.output.pages import Line
from droidgate.devices.adb_client import AdbClient
from droidgate.devices.device import CommandResult, Device, Identity
from droidgate.devices.device_errors import (
    CommandFailedError,
    DeviceGoneError,
    OutputLimitError,
    TransferError,
)
from droidgate.devices.sync import FileStatus
from droidgate.sources.kept_applications import ApplicationStore, KeptApplication, NotKeptError, record
from droidgate.sources.phone_source import PhoneReading, PhoneRequest, read_device_source, read_phone
from droidgate_android.apk.pack import pack_project
from droidgate_mappings.formats.application import Application, Component, IntentFilter, MetaData, TextFile
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.installed import SHIM_PREFIX
from droidgate_mappings.formats.reachability import provider_verdict
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import BudgetError, DeviceError, InputError, UsageError
from droidgate_phone.apps.sample_packages import sample_package, signing_key
from titled_rows import titled

Answer = str | CommandResult | DeviceError


class ScriptedDevice(Device):
    """A device that has an answer to each command, by how it begins."""

    def __init__(self, answers: Mapping[str, Answer], files: Mapping[str, bytes] | None = None) -> None:
        super().__init__(AdbClient(), "scripted")
        self.script = {tuple(command.split()): answer for command, answer in answers.items()}
        self.files_of = dict(files or {})
        self.modified = 1000
        self.later: dict[str, int] = {}
        self.build = "build-1"
        self.commands: list[list[str]] = []
        self.asked_statuses: list[str] = []
        self.bytes_sent = 0

    @property
    def identity(self) -> Identity:
        return Identity("SERIAL-NUMBER", self.build)

    def run(self, arguments: Sequence[str], **_: Any) -> CommandResult:
        self.commands.append(list(arguments))
        beginnings = (tuple(arguments[:length]) for length in range(len(arguments), 0, -1))
        answer = next((self.script[words] for words in beginnings if words in self.script), None)
        if answer is None:
            return CommandResult(b"", f"/system/bin/sh: {arguments[0]}: not found\n".encode(), 127)
        if isinstance(answer, DeviceError):
            raise answer
        return CommandResult(answer.encode(), b"", 0) if isinstance(answer, str) else answer

    @contextlib.contextmanager
    def files(self, **_: Any) -> Iterator[Any]:
        yield self

    def status(self, path: str) -> FileStatus | None:
        self.asked_statuses.append(path)
        data = self.files_of.get(path)
        modified = self.modified + self.later.get(path, 0)
        return None if data is None else FileStatus(0o100644, len(data), modified)

    def read_file_range(self, path: str, offset: int, length: int, **_: Any) -> bytes:
        if path not in self.files_of:
            raise TransferError(f"cannot read {path}: Permission denied", place=self.serial)
        data = self.files_of[path][offset : offset + length]
        self.bytes_sent += len(data)
        return data


CLOCK = "dev.droidgate.sample.clockin"
BROKEN = "org.example.broken"
SERVICES = "cmd package query-services"
NONE_FOUND = {
    SERVICES: "No services found\n",
    "cmd package query-activities": "No activities found\n",
    "cmd package query-receivers": "No receivers found\n",
}
MOBILE_MCP = f"{SERVICES} --components -a mobile.mcp.SERVICE"
PATH = "/data/app/~~a==/clock-1==/base.apk"
HELP = "AppFunctionManagerService commands:\n  help\n    Prints this help text.\n\n  list-app-functions\n"
PROPERTIES = "[ro.build.version.sdk]: [36]\n[ro.build.version.sdk_full]: [36.1]\n"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))


def script(**more: Answer) -> dict[str, Answer]:
    return {
        "getprop": PROPERTIES,
        "am get-current-user": "0\n",
        "cmd app_function help": "cmd: Can't find service: app_function\n",
        "pm list packages": f"package:{PATH}={CLOCK} versionCode:7 uid:10100\n",
        f"pm path --user 0 {CLOCK}": f"package:{PATH}\n",
        **NONE_FOUND,
        MOBILE_MCP: f"{CLOCK}/{CLOCK}.ToolService\n",
        **more,
    }


def clock_device(answers: Mapping[str, Answer] | None = None) -> ScriptedDevice:
    return ScriptedDevice({**script(), **(answers or {})}, {PATH: sample_package("clock-in").apk})


def read(device: ScriptedDevice, **asked: object) -> PhoneReading:
    return read_phone(device, PhoneRequest(tuple(load_formats().values()), **asked))  # type: ignore[arg-type]


def test_an_unchanged_app_is_not_read_again() -> None:
    device = clock_device()
    first = read(device)
    sent = device.bytes_sent
    second = read(device)
    assert device.bytes_sent == sent
    assert (second.bytes_read, second.requests, second.kept) == (0, 0, 1)
    assert second.apps[0].providers == first.apps[0].providers
    assert second.apps[0].findings == first.apps[0].findings


@pytest.mark.parametrize("change", ["version", "time", "build", "size", "path"])
def test_what_changed_is_read_again(change: str) -> None:
    device = clock_device()
    read(device)
    if change == "version":
        device.script["pm", "list", "packages"] = f"package:{PATH}={CLOCK} versionCode:8 uid:10100\n"
    elif change == "time":
        device.modified += 1
    elif change == "build":
        device.build = "build-2"
    elif change == "size":
        other = pack_project(
            {
                "AndroidManifest.xml": b'<manifest package="dev.droidgate.sample.clockin" '
                b'xmlns:android="http://schemas.android.com/apk/res/android"><application/></manifest>'
            },
            key=signing_key(),
        )
        device.files_of[PATH] = other
    else:
        moved = PATH.replace("clock-1", "clock-2")
        device.files_of = {moved: device.files_of[PATH]}
        device.script["pm", "list", "packages"] = f"package:{moved}={CLOCK} versionCode:7 uid:10100\n"
        device.script["pm", "path", "--user", "0", CLOCK] = f"package:{moved}\n"
    sent = device.bytes_sent
    phone = read(device)
    assert phone.kept == 0
    assert device.bytes_sent > sent
    assert (phone.apps[0].providers == ()) is (change == "size")


@pytest.mark.parametrize(("later", "is_newer"), [(-1, True), (0, False), (1, False)])
def test_an_app_that_was_updated_after_its_shim_is_named(later: int, *, is_newer: bool) -> None:
    shim = "/data/app/~~b==/shim-1==/base.apk"
    packages = f"package:{PATH}={CLOCK} versionCode:7 uid:10100\npackage:{shim}={SHIM_PREFIX}{CLOCK}"
    device = clock_device({"pm list packages": f"{packages} versionCode:1 uid:10101\n"})
    device.files_of[shim] = b"shim"
    device.later[shim] = later
    for _ in range(2):
        phone = read(device, own_apps=False)
        assert phone.apps[0].is_newer_than_shim is is_newer
    assert (Line(CLOCK, 1) in discovery_page(phone)) is is_newer


def without_answers(record: bytes) -> bytes:
    items = json.loads(record)
    assert items["answers"]
    return json.dumps({**items, "answers": []}).encode()


@titled("damage", {
    "nothing": lambda _: b"", "no fact": lambda _: b"{}", "a list": lambda _: b"[]",
    "a cut": lambda record: record[:-9],
    "another key": lambda record: record.replace(b'"components"', b'"others"'), "no answer": without_answers,
})  # fmt: skip
def test_a_record_that_is_damaged_or_lacks_an_answer_is_made_again(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    device = clock_device()
    first = read(device)
    (record,) = (tmp_path / "cache/installed-applications").iterdir()
    whole = record.read_bytes()
    record.write_bytes(damage(whole))
    phone = read(device)
    assert phone.kept == 0
    assert phone.apps[0].providers == first.apps[0].providers
    assert record.read_bytes() == whole


def test_nothing_is_cached_where_that_is_not_requested(tmp_path: Path) -> None:
    device = clock_device()
    read(device, keep=False)
    assert not (tmp_path / "cache/installed-applications").exists()
    assert read(device, keep=False).bytes_read > 0


def two_apps() -> ScriptedDevice:
    path = "/data/app/~~b==/broken-1==/base.apk"
    packages = (
        f"package:{PATH}={CLOCK} versionCode:7 uid:10100\npackage:{path}={BROKEN} versionCode:1 uid:10101\n"
    )
    device = clock_device(
        {
            "pm list packages": packages,
            f"pm path --user 0 {BROKEN}": f"package:{path}\n",
            MOBILE_MCP: f"{BROKEN}/{BROKEN}.Service\n{CLOCK}/{CLOCK}.ToolService\n",
        }
    )
    device.files_of[path] = b"PK\x03\x04 no archive"
    return device


@titled(("change", "words"), {
    "an APK that is broken": ({}, ""),
    "an APK that the shell may not read":
        ({"files_of": {PATH: sample_package("clock-in").apk}}, "there is no file"),
    "no path": ({"pm path": "garbage\n"}, "not an APK"),
    "paths without end": ({"pm path": OutputLimitError("it printed too much")}, "it printed too much"),
})  # fmt: skip
def test_an_app_that_cannot_be_read_is_a_problem_of_its_own(change: dict[str, Any], words: str) -> None:
    device = two_apps()
    device.files_of = change.get("files_of", device.files_of)
    if "pm path" in change:
        device.script["pm", "path", "--user", "0", BROKEN] = change["pm path"]
    phone = read(device)
    (problem,) = [problem for app in phone.apps for problem in app.problems]
    assert (problem.place or "").startswith(f"adb:scripted/{BROKEN}")
    assert words in problem.message
    assert [len(app.providers) for app in phone.apps] == [1, 0]


@pytest.mark.parametrize("command", [f"pm path --user 0 {CLOCK}", MOBILE_MCP], ids=["paths", "components"])
def test_a_phone_that_disconnects_ends_the_run(command: str) -> None:
    with pytest.raises(DeviceGoneError):
        read(clock_device({command: DeviceGoneError("the connection was cut")}))


def test_a_listing_that_cannot_be_read_is_a_problem_and_the_rest_is_there() -> None:
    phone = read(
        clock_device({"cmd app_function help": HELP, "cmd app_function list-app-functions": "Error: no\n"})
    )
    (problem,) = phone.problems
    assert problem.place is not None
    assert len(phone.apps[0].providers) == 1


def test_one_app_can_be_asked_for_alone() -> None:
    device = two_apps()
    request = PhoneRequest(tuple(load_formats().values()), package=CLOCK)
    phone = read_phone(device, request)
    assert [app.package for app in phone.apps] == [CLOCK]
    assert phone.not_asked == ()
    assert not [command for command in device.commands if command[1:2] == ["package"]]
    with pytest.raises(DeviceError, match="not installed"):
        read_phone(device, PhoneRequest(request.formats, package="org.example.absent"))


SILENT = "org.example.silent"
SILENT_TREE = {
    "AndroidManifest.xml": b"""<manifest xmlns:android="http://schemas.android.com/apk/res/android"
package="org.example.silent" android:versionCode="12" android:versionName="1.2">
<uses-sdk android:minSdkVersion="29" android:targetSdkVersion="36"/>
<application android:label="@string/name"/></manifest>""",
    "res/values/strings.xml": b'<resources><string name="name">Silent</string></resources>',
}


def test_an_app_that_declares_nothing_is_read_whole_where_requested_whatever_is_kept_of_it() -> None:
    device = ScriptedDevice(
        {
            **script(),
            "pm list packages": f"package:{PATH}={SILENT} versionCode:12 uid:10100\n",
            f"pm path --user 0 {SILENT}": f"package:{PATH}\n",
            MOBILE_MCP: CommandFailedError("refused", exit_status=255),
        },
        {PATH: pack_project(SILENT_TREE, key=signing_key())},
    )
    (not_whole,) = read(device).apps
    (of_all,) = read(device, every_app=True).apps
    (named,) = read(device, package=SILENT).apps
    for app, label, components in ((not_whole, None, 0), (of_all, "Silent", 1), (named, "Silent", 1)):
        found = app.application
        assert found is not None
        assert len(found.components) == components
        facts = (found.label, found.version_name, found.version_code, found.minimum_sdk, found.target_sdk)
        assert facts == (label, "1.2", 12, 29, 36)
        assert found.signers == (signing_key().digest,)
        assert (app.providers, app.problems) == ((), ())
    assert read(device, package=SILENT).kept == 1


def test_every_app_is_read_where_that_is_requested_and_one_that_declares_nothing_is_remembered() -> None:
    device = clock_device({MOBILE_MCP: "No services found\n"})
    plain = "org.example.plain"
    path = "/data/app/~~c==/plain-1==/base.apk"
    manifest = (
        b'<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="org.example.plain">'
        b'<application android:label="Plain"/></manifest>'
    )
    device.files_of[path] = pack_project({"AndroidManifest.xml": manifest}, key=signing_key())
    packages = (
        f"package:{PATH}={CLOCK} versionCode:7 uid:10100\npackage:{path}={plain} versionCode:1 uid:10101\n"
    )
    device.script["pm", "list", "packages"] = packages
    device.script["pm", "path", "--user", "0", plain] = f"package:{path}\n"
    assert read(device).apps == ()
    assert read(device).not_asked
    phone = read(device, every_app=True)
    assert [(app.package, len(app.providers)) for app in phone.apps] == [(CLOCK, 1), (plain, 0)]
    assert phone.not_asked == ()
    again = read(device, every_app=True)
    assert (again.bytes_read, again.kept) == (0, 2)
    assert [app.providers for app in again.apps] == [app.providers for app in phone.apps]


@pytest.mark.parametrize("answer", [
    CommandFailedError("refused", exit_status=255),
    OutputLimitError("it printed more than 5 bytes"),
    f"{BROKEN}/{BROKEN}.Tool\u202eService\n{CLOCK}/{CLOCK}.ToolService\n",
    "Unknown option: --components\n",
], ids=["refused", "endless", "hostile name", "unknown option"])  # fmt: skip
def test_a_query_whose_answer_cannot_be_read_hides_no_app(answer: Answer) -> None:
    device = two_apps()
    device.script[tuple(MOBILE_MCP.split())] = answer
    phone = read(device)
    (problem,) = phone.problems
    assert problem.place == "adb:scripted"
    assert problem.hint is not None
    assert "every app" in problem.hint.lower()
    assert [(app.package, len(app.providers)) for app in phone.apps] == [(CLOCK, 1), (BROKEN, 0)]
    assert phone.not_asked == ()


def test_a_function_without_an_id_is_a_problem_of_its_app_and_no_other_s() -> None:
    listed = {
        package: [
            {f"AppFunctionStaticMetadata-{package}": {"functionId": ids}}
            for ids in (["a"], [], ["b" * 200_000])
        ]
        for package in (CLOCK, "org.gone", "not a package")
    }
    device = clock_device(
        {
            "cmd app_function help": f"{HELP}  is-enabled --package <P> --function <F>\n",
            "cmd app_function list-app-functions": json.dumps(listed) + "\n",
            "cmd app_function is-enabled": "true\n",
        }
    )
    phone = read(device)
    assert [problem.message for problem in phone.problems] == [
        "the listing of org.gone is not read to its end: a function has no id",
        "the listing of not a package is not read to its end: it is not the name of a package",
    ]
    (clock,) = phone.apps
    assert [problem.message for problem in clock.problems] == [
        f"what the phone lists of {CLOCK} is not read to its end: a function has no id"
    ]
    states = {
        len(item.id): item.state.enabled
        for provider in clock.providers
        for item in provider.capabilities
        if item.state is not None
    }
    assert states == {1: True, 200_000: None}


@pytest.mark.parametrize("written", ["adb:a/b/c", "adb:a/b!/res/xml/x.xml", "abd:"])
def test_the_error_about_an_invalid_device_shows_a_valid_one(written: str) -> None:
    with pytest.raises(UsageError, match="is not a device"):
        read_device_source(written, formats=())


FLAGGED: Mapping[str, bytes] = {
    "AndroidManifest.xml": b'<manifest package="dev.droidgate.sample.clockin" '
    b'xmlns:android="http://schemas.android.com/apk/res/android"><application>'
    b'<service android:name=".ToolService" android:exported="true" android:enabled="@bool/newer">'
    b'<intent-filter><action android:name="mobile.mcp.SERVICE"/></intent-filter>'
    b'<meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/tools"/>'
    b"</service></application></manifest>",
    "res/xml/tools.xml": b'<mobile-mcp-capabilities version="1.0"/>',
    "res/values/flags.xml": b'<resources><bool name="newer">false</bool></resources>',
    "res/values-v36/flags.xml": b'<resources><bool name="newer">true</bool></resources>',
}


@pytest.mark.parametrize(
    ("sdk", "is_enabled"), [("35", False), ("36", True), ("37", True)], ids=["API 35", "API 36", "API 37"]
)
def test_a_boolean_resource_has_the_value_for_the_phone_s_release(sdk: str, *, is_enabled: bool) -> None:
    answers = {**script(), "getprop": f"[ro.build.version.sdk]: [{sdk}]\n"}
    device = ScriptedDevice(answers, {PATH: pack_project(FLAGGED, key=signing_key())})
    for _ in ("read", "kept"):
        phone = read(device)
        (app,) = phone.apps
        assert app.application is not None
        (service,) = app.application.of_kind("service")
        assert service.enabled is is_enabled
        (provider,) = app.providers
        assert provider.access.enabled == {"": False, "v36": True}
        verdict = provider_verdict(provider, app.application, sdk=phone.facts.sdk)
        assert (verdict.closed_because is None) is is_enabled


# What is kept of an app answers as the app did: values of every type, files, absent things and errors


KEY = {"version_code": 7, "files": {"/a/base.apk": [1, 2]}}


class Resources:
    """Counts what it is asked; some questions are errors."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read_file(self, reference: str) -> TextFile | None:
        self.asked.append(reference)
        if reference == "@xml/broken":
            raise InputError("it is broken", place="a!/res/xml/broken.xml", hint="Look")
        if reference == "@xml/large":
            raise BudgetError("it is too large")
        if reference == "@xml/absent":
            return None
        return TextFile("<a>\U0001f600 é\ud800</a>", Place(path="a!/res/xml/x.xml", line=1), compiled=True)

    def read_text(self, reference: str) -> str | None:
        self.asked.append(reference)
        return None if reference == "@string/absent" else "text"

    def read_array(self, reference: str) -> tuple[str, ...] | None:
        self.asked.append(reference)
        return None if reference == "@array/absent" else ("one", "@xml/two")

    def read_asset(self, name: str) -> TextFile | None:
        self.asked.append(name)
        return TextFile("{}", Place(path=f"a!/assets/{name}"))


def application(resources: Resources) -> Application:
    values: tuple[str | bool | int | float | None, ...] = (
        "1", True, 1, 1.5, 1.0, -(2**31), math.inf, None, "\ud800",
    )  # fmt: skip
    meta = tuple(MetaData(f"m{at}", value, resource="@xml/x") for at, value in enumerate(values))
    service = Component(
        kind="service",
        name=".S",
        exported=True,
        filters=(IntentFilter(("a.B",), ("c.D",)),),
        meta_data=meta,
        properties=(MetaData("p", place=Place(path="a", line=2)),),
        attributes={"foregroundServiceType": "dataSync"},
        place=Place(path="a!/AndroidManifest.xml"),
    )
    return Application(
        package="org.example",
        components=(Component(kind="application"), service),
        resources=resources,
        place=Place(path="a!/AndroidManifest.xml"),
        label="Example",
        loose_assets=("x.xml",),
        version_code=2**40,
        minimum_sdk=26,
        signers=("ab",),
    )


def ask_everything(of: Application) -> list[object]:
    resources = of.resources
    answers: list[object] = []
    answers += [resources.read_file(f"@xml/{name}") for name in ("x", "absent")]
    answers += [resources.read_text(f"@string/{name}") for name in ("x", "absent")]
    answers += [resources.read_array(f"@array/{name}") for name in ("x", "absent")]
    answers.append(resources.read_asset("x.json"))
    for name in ("broken", "large"):
        with pytest.raises(InputError) as caught:
            resources.read_file(f"@xml/{name}")
        answers.append((type(caught.value), str(caught.value)))
    return answers


def stored(tmp_path: Path, kept: KeptApplication) -> KeptApplication:
    store = ApplicationStore(tmp_path / "kept")
    store.keep("name", KEY, kept)
    copy = store.load("name")
    assert copy is not None
    assert copy[0] == KEY
    return copy[1]


def test_answers_from_a_record_are_the_same_and_read_no_apk(tmp_path: Path) -> None:
    resources = Resources()
    original = application(resources)
    recorded = record(original, {})
    answers = ask_everything(recorded.application)
    assert answers == ask_everything(original)
    count = len(resources.asked)
    copy = stored(tmp_path, recorded)
    assert ask_everything(copy.application) == answers
    assert len(resources.asked) == count


def test_components_are_the_same_with_the_types_of_their_values(tmp_path: Path) -> None:
    original = application(Resources())
    copy = stored(tmp_path, record(original, {})).application
    for name in ("package", "components", "place", "label", "loose_assets", "version_code", "signers"):
        assert getattr(copy, name) == getattr(original, name), name
    types = [type(item.value) for item in copy.components[1].meta_data]
    assert types == [type(item.value) for item in original.components[1].meta_data]


def test_a_question_that_was_never_asked_has_no_answer(tmp_path: Path) -> None:
    copy = stored(tmp_path, record(application(Resources()), {}))
    with pytest.raises(NotKeptError):
        copy.application.resources.read_asset("x.json")


def test_a_record_of_another_version_is_not_used(tmp_path: Path) -> None:
    stored(tmp_path, record(application(Resources()), {}))
    (path,) = (tmp_path / "kept").iterdir()
    path.write_text(path.read_text().replace('"droidgate": "', '"droidgate": "older-'))
    assert ApplicationStore(tmp_path / "kept").load("name") is None


def test_a_folder_that_cannot_be_written_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file is in the way")
    store = ApplicationStore(tmp_path / "kept")
    store.keep("name", KEY, record(application(Resources()), {}))
    assert store.load("name") is None


def test_what_cannot_be_put_in_place_leaves_nothing_behind(tmp_path: Path) -> None:
    store = ApplicationStore(tmp_path)
    store.keep("app", KEY, record(application(Resources()), {}))
    (file,) = tmp_path.iterdir()
    file.unlink()
    (file / "in the way").mkdir(parents=True)
    store.keep("app", KEY, record(application(Resources()), {}))
    assert list(tmp_path.iterdir()) == [file]

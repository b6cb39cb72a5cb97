"""Commands that are put together from parts: which command is asked, and what becomes of the answer."""

import re
from datetime import date

import pytest

from droidgate.devices.activities import (
    broadcast_command,
    intent_arguments,
    read_broadcast,
    start_activity,
)
from droidgate.devices.app_installation import InstallError, install_apks, uninstall
from droidgate.devices.content import ProviderError, call_provider, read_content, write_content
from droidgate.devices.describing import is_on_network, wireless_warning
from droidgate.devices.device_errors import (
    CommandFailedError,
    DeviceOutputError,
    UnsafeArgumentError,
    excerpt,
)
from droidgate.devices.packages import list_packages, package_paths, query_components
from droidgate.devices.properties import Build, build_of, current_user, get_properties
from droidgate.devices.service_shells import (
    SERVICE,
    TITLE,
    app_function_shell,
    read_help,
    run_listing,
    service_shell,
)
from droidgate_appfunctions.format import LISTING
from droidgate_mappings.model.errors import DeviceError
from gateway.devices.conftest import StartServer, device_on
from gateway.devices.fake_adb_server import Answer, Script
from gateway.devices.golden_outputs import READERS, Case, all_cases, family_of, read_case
from titled_rows import titled

HELP = """AppFunctionManagerService commands:
  help
    Prints this help text.

  list-app-functions [--user <USER_ID>]
  execute-app-function --package <P> --function <F> --parameters <J>
"""


def test_packages_paths_components_and_users(start_server: StartServer) -> None:
    script = Script({
        "pm list": Answer(b"package:/a/b=c.apk=com.example.b versionCode:3 uid:10001\n"),
        "pm path": Answer(b"package:/a/b=c.apk\n"),
        "cmd package": Answer(b"com.example.b/.C\n"),
        "am get-current-user": Answer(b"10\n"),
    })  # fmt: skip
    device = device_on(start_server(shell=script))
    assert [(package.name, package.path) for package in list_packages(device, 10)] == [
        ("com.example.b", "/a/b=c.apk")
    ]
    assert package_paths(device, "com.example.b", 10) == ["/a/b=c.apk"]
    assert query_components(device, "services", "a.ACTION", 10) == ["com.example.b/com.example.b.C"]
    assert current_user(device) == 10
    assert script.commands[:3] == [
        "pm list packages -f -U --show-versioncode --user 10",
        "pm path --user 10 com.example.b",
        "cmd package query-services --components -a a.ACTION --user 10",
    ]
    with pytest.raises(UnsafeArgumentError):
        query_components(device, "services", "-a", 0)


def test_a_device_states_its_build_in_its_properties(start_server: StartServer) -> None:
    text = (
        "[ro.build.version.sdk]: [36]\n[ro.build.version.release]: [16]\n[ro.product.model]: [Pixel 6]\n"
        "[ro.product.manufacturer]: [Google]\n[ro.serialno]: [1A]\n[ro.build.fingerprint]: [f]\n"
        "[ro.build.version.security_patch]: [2026-04-05]\n"
    )
    device = device_on(start_server(shell=Script({"getprop": Answer(text.encode())})))
    build = build_of(get_properties(device))
    assert build == Build(36, "36", "16", "Pixel 6", "Google", "1A", "f", date(2026, 4, 5))


def test_an_api_level_that_is_no_number_is_an_error() -> None:
    with pytest.raises(DeviceOutputError):
        build_of({"ro.build.version.sdk": "REL"})


@titled(("stated", "level", "patch"), {
    "a minor level": ({"sdk_full": "36.1"}, "36.1", None),
    "the first minor level": ({"sdk_full": "36.0"}, "36", None),
    "a minor level of another level": ({"sdk_full": "37.1"}, "36", None),
    "a patch of no date": ({"security_patch": "2020-13-99"}, "36", None),
    "a patch": ({"security_patch": "2026-04-05"}, "36", date(2026, 4, 5)),
})  # fmt: skip
def test_a_level_and_a_patch_are_what_they_can_be(
    stated: dict[str, str], level: str, patch: date | None
) -> None:
    properties = {"sdk": "36", **stated}
    build = build_of({f"ro.build.version.{name}": value for name, value in properties.items()})
    assert (build.sdk, build.sdk_full, build.security_patch) == (36, level, patch)


@pytest.mark.parametrize(("serial", "is_network"), [
    ("192.0.2.7:5555", True),
    ("phone.local:5555", True),
    ("[fe80::1%25eth0]:5555", True),
    ("adb-1A-x._adb-tls-connect._tcp", True),
    ("127.0.0.1:40000", False),
    ("[::1]:40000", False),
    ("localhost:5555", False),
    ("emulator-5554", False),
    ("R58M123", False),
])  # fmt: skip
def test_which_serials_are_on_a_network(serial: str, *, is_network: bool) -> None:
    assert is_on_network(serial) == is_network


@pytest.mark.parametrize(("sdk", "patch", "warns"), [
    (36, date(2026, 4, 5), True),
    (34, None, True),
    (36, date(2026, 5, 1), False),
    (33, date(2023, 1, 1), False),
    (37, date(2026, 1, 1), False),
], ids=["an old patch", "no patch", "the patch", "an older release", "a newer release"])  # fmt: skip
def test_a_network_device_without_a_patch_is_warned_of(sdk: int, patch: date | None, *, warns: bool) -> None:
    build = Build(sdk, str(sdk), "", "", "", "", "", patch)
    warning = wireless_warning("192.0.2.7:5555", build)
    assert (warning is not None) == warns
    assert warning is None or "CVE-2026-0073" in warning
    assert wireless_warning("127.0.0.1:5555", build) is None


def test_intents_are_sent_with_every_value_quoted(start_server: StartServer) -> None:
    sent = b'Broadcasting: Intent { act=a.X }\nBroadcast completed: result=1, data="x"\n'
    started = b"Starting: Intent { cmp=a.b/.C }\nStatus: ok\nActivity: a.b/.C\nTotalTime: 5\nWaitTime: 6\n"
    script = Script({"am broadcast": Answer(sent), "am start": Answer(started + b"Complete\n")})
    device = device_on(start_server(shell=script))
    intent = intent_arguments(component="a.b/.C", action="a.X", strings={"params": "{'$(x)'}"}, user=10)
    assert read_broadcast(device.run(broadcast_command(intent)).text).data == "x"
    assert start_activity(device, intent).milliseconds == 5
    assert script.commands[0] == "am broadcast --user 10 -n a.b/.C -a a.X --es params '{'\"'\"'$(x)'\"'\"'}'"
    with pytest.raises(UnsafeArgumentError):
        intent_arguments(component="-n")


def test_providers_are_called(start_server: StartServer) -> None:
    script = Script({"content call": Answer(b"Result: Bundle[{a=1}]\n")})
    device = device_on(start_server(shell=script))
    assert call_provider(device, "content://a.b", "status", argument="tok", user=10).tokens() == {"a": "1"}
    assert script.commands == ["content call --user 10 --uri content://a.b --method status --arg tok"]
    for argument in ("", "--extra"):
        with pytest.raises(UnsafeArgumentError):
            call_provider(device, "content://a.b", "status", argument=argument)
    for uri, method in (("file:///x", "status"), ("content://a b", "status"), ("content://a.b", "-x")):
        with pytest.raises(UnsafeArgumentError):
            call_provider(device, uri, method)


def test_without_a_shell_for_functions_nothing_is_listed(start_server: StartServer) -> None:
    missing = Answer(b"", b"cmd: Can't find service: app_function\n", 20)
    device = device_on(start_server(shell=Script({"cmd app_function": missing})))
    shell = app_function_shell(device)
    assert (shell.executes, shell.lists, shell.reports_enabled) == (False, False, False)
    assert service_shell(device, LISTING).commands == {}
    with pytest.raises(CommandFailedError, match="Can't find service"):
        run_listing(device, LISTING, 0)


CREATED = Answer(b"Success: created install session [77]\n")


def test_an_app_is_installed_in_one_session_and_removed(start_server: StartServer) -> None:
    script = Script({"pm install-create": CREATED, "pm": Answer(b"Success\n")})
    device = device_on(start_server(shell=script))
    install_apks(device, {"base.apk": b"one", "split_config.de.apk": b"three"})
    uninstall(device, "a.b", user=10)
    assert script.commands == [
        "pm install-create -r -t --user 0 -S 8",
        "pm install-write -S 3 77 base.apk -",
        "pm install-write -S 5 77 split_config.de.apk -",
        "pm install-commit 77",
        "pm uninstall --user 10 a.b",
    ]
    assert script.inputs[1:3] == [b"one", b"three"]


def test_a_refused_installation_is_reported_and_its_session_ended(start_server: StartServer) -> None:
    reason = (
        "Failed parse during installPackageLI: /data/app/vmdl1480135269.tmp/base.apk (at Binary XML file "
        "line #11): com.tilda.recipes.AgentActivity: Targeting S+ (version 31 and above) requires that an "
        "explicit value for android:exported be defined when intent filters are present"
    )
    refusal = Answer(f"Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: {reason}]\n".encode(), b"", 1)
    answers = {"pm install-create": CREATED, "pm install-commit": refusal, "pm": Answer(b"Success\n")}
    script = Script(answers)
    device = device_on(start_server(shell=script))
    with pytest.raises(InstallError, match=f"UPDATE_INCOMPATIBLE: {re.escape(reason)}") as raised:
        install_apks(device, {"base.apk": b"one"})
    assert "uninstall" in (raised.value.hint or "")
    assert script.commands[-1] == "pm install-abandon 77"
    with pytest.raises(UnsafeArgumentError):
        install_apks(device, {"../x.apk": b""})


def test_an_option_that_a_broken_line_cuts_is_refused_and_not_read_in_part() -> None:
    text = HELP + "    --target-:package <PACKAGE>: the app\n"
    with pytest.raises(DeviceOutputError, match="the line is not help"):
        read_help(SERVICE, TITLE, text)


# Bytes of content providers, read and written through the shell


URI = "content://com.example.files/a/b%20c"
MISSING = (
    b"Error while accessing provider:com.example.files\n"
    b"java.lang.IllegalStateException: Could not find provider: com.example.files\n\tat x\n"
)


@pytest.mark.parametrize("exit_status", [0, 1], ids="status {}".format)
def test_a_failing_provider_is_reported_by_exception(start_server: StartServer, exit_status: int) -> None:
    device = device_on(start_server(shell=lambda *_: Answer(stderr=MISSING, status=exit_status)))
    with pytest.raises(ProviderError, match="Could not find provider") as raised:
        read_content(device, URI)
    assert (raised.value.authority, raised.value.is_missing) == ("com.example.files", True)
    with pytest.raises(ProviderError):
        write_content(device, URI, b"x")


@pytest.mark.parametrize("answer", [
    Answer(b"usage: adb shell content [subcommand] [options]\n\n[ERROR] Unsupported argument: x\n"),
    Answer(status=1),
    Answer(b"data", stderr=b"something else\n"),
], ids=["usage", "a status", "an error"])  # fmt: skip
def test_another_failure_is_one_too(start_server: StartServer, answer: Answer) -> None:
    device = device_on(start_server(shell=lambda *_: answer))
    with pytest.raises(CommandFailedError):
        read_content(device, URI)
    with pytest.raises(CommandFailedError):
        write_content(device, URI, b"x")


def test_a_write_that_prints_something_is_not_a_success(start_server: StartServer) -> None:
    device = device_on(start_server(shell=lambda *_: Answer(b"Row: 0\n")))
    with pytest.raises(DeviceError):
        write_content(device, URI, b"x")


@pytest.mark.parametrize("uri", ["", "file:///a", "content://", "content://a b", "--user", "content://a/b c"])
def test_a_text_that_is_not_a_uri_is_not_sent(start_server: StartServer, uri: str) -> None:
    server = start_server()
    device = device_on(server)
    with pytest.raises(UnsafeArgumentError):
        read_content(device, uri)
    with pytest.raises(UnsafeArgumentError):
        write_content(device, uri, b"x")
    assert not [request for request in server.requests if "content" in request]


# golden outputs: each is read as it says, and every reader has some


CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_output_is_read_as_the_golden_file_says(case: Case) -> None:
    if case.error is None:
        assert read_case(case) == case.parsed
        return
    with pytest.raises(DeviceError) as raised:
        read_case(case)
    assert type(raised.value).__name__ == case.error
    assert raised.value.exit_code == 4


@pytest.mark.parametrize("case", CASES, ids=str)
def test_carriage_returns_of_a_terminal_change_nothing(case: Case) -> None:
    if "\n" in str(case.parsed):
        pytest.skip("the value itself has lines")
    out, err = (stream.replace("\n", "\r\n") for stream in (case.stdout, case.stderr))
    terminal = case.altered(out, err, case.exit_status)
    if case.error is None:
        assert read_case(terminal) == case.parsed
    else:
        with pytest.raises(DeviceError):
            read_case(terminal)


def test_every_reader_has_an_output_that_is_read_and_names_its_source() -> None:
    assert {family_of(case) for case in CASES if case.error is None} >= READERS.keys() - {"pm uninstall"}
    assert all(case.source for case in CASES)
    assert len({str(case) for case in CASES}) == len(CASES)


def test_what_a_device_says_is_shown_short_and_printable() -> None:
    text = "\x1b[2J\u202e" + "x" * 5000
    error = DeviceOutputError("getprop", "the piece is not a property", line=3, text=text)
    assert error.excerpt.startswith("\\x1b[2J\\u202e")
    assert error.excerpt.isascii()
    assert error.excerpt.isprintable()
    assert len(error.excerpt) < 700
    assert error.place == "getprop:3"
    assert excerpt("a\nb") == "a\\nb"

"""The host's client says what shim.md 7 says, and believes nothing else."""

import base64
import json
import struct
from typing import Any

import pytest

from droidgate.devices.device import Device
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError, UnsafeArgumentError
from droidgate.shims.answers import GrantedCaller
from droidgate.shims.device_user import DeviceUser, InstalledShim
from droidgate.shims.host_client import HostClient
from droidgate.shims.host_messages import read_frame, write_argument, write_frame
from droidgate.shims.refusals import ShimDenialError, ShimMissingError, ShimRefusalError, ShimVersionError
from droidgate.shims.shim_calls import call_capability, shim_with
from droidgate_mappings.model.errors import DeviceError, UsageError
from gateway.devices.fake_adb_server import Answer
from gateway.shims.fake_shim import (
    APPLICATION_ID,
    AUTHORITY,
    HELLO,
    SIGNER,
    STATUS,
    FakeShim,
    bundle,
    failure,
    frame,
    installed_shim,
    token,
)
from titled_rows import titled


@pytest.fixture
def host(device: Device) -> HostClient:
    return HostClient(device, APPLICATION_ID)


def test_status_says_grants_switches_targets_and_access(host: HostClient) -> None:
    status = host.status()
    assert status.grants[0].caller == "any-app"
    assert status.grants[1].caller == GrantedCaller(package="com.example.agent", signer=SIGNER)
    assert status.targets[0].state == "as-approved"
    assert (status.access.notifications, status.access.overlay) == (True, False)


def test_every_command_names_the_user_and_one_token_as_argument(host: HostClient, shim: FakeShim) -> None:
    host.hello()
    (words,) = shim.commands
    assert words[:6] == ["content", "call", "--user", "0", "--uri", f"content://{AUTHORITY}"]
    assert words[6:9] == ["--method", "hello", "--arg"]
    assert set(words[9]) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_the_shim_of_another_user_is_asked_as_that_user(device: Device, shim: FakeShim) -> None:
    shim.users = {"10"}
    assert DeviceUser(device, 10, "36").client(APPLICATION_ID).hello().sdk == 36
    with pytest.raises(ShimMissingError, match="user 0"):
        HostClient(device, APPLICATION_ID).hello()


def test_a_call_has_the_id_that_it_was_given_and_is_canceled_by_it(host: HostClient, shim: FakeShim) -> None:
    name = "0d" * 16
    trace: dict[str, Any] = {"to": "a/b", "id": None, "sent": {"extras": {}}, "origin": {}}
    trace["answers"] = [{"code": 1, "data": "x"}]
    shim.methods["call"] = lambda given: {"response": given["request"], "trace": trace}
    shim.methods["cancel"] = lambda given: {"canceled": given["id"] == name}
    shim.methods["progress"] = lambda _: {"stage": "window"}
    answer = host.call("x", call_id=name, traced=True)
    assert shim.calls[-1] == ("call", {"version": 1, "request": "x", "id": name, "trace": True})
    assert answer.trace is not None
    assert (answer.response, answer.trace.answers) == ("x", ({"code": 1, "data": "x"},))
    assert (host.cancel(name), host.cancel("0e" * 16)) == (True, False)
    assert host.stage(name) == "window"
    host.call("語" * 40_000, call_id=name)
    assert shim.commands[-1][-1].endswith(f"/calls/{name}")


@pytest.mark.parametrize(("method", "answer"), [
    ("cancel", {}), ("cancel", {"canceled": 1}), ("cancel", {"canceled": None}),
    ("progress", {}), ("progress", {"stage": "over"}), ("progress", {"stage": 1}),
], ids=str)  # fmt: skip
def test_an_odd_answer_about_a_call_is_malformed(
    host: HostClient, shim: FakeShim, method: str, answer: dict[str, Any]
) -> None:
    shim.methods[method] = lambda _: answer
    ask, member = (host.cancel, "canceled") if method == "cancel" else (host.stage, "stage")
    with pytest.raises(DeviceOutputError, match=member):
        ask("0d" * 16)


def test_a_long_request_goes_as_a_frame_and_so_comes_the_answer(host: HostClient, shim: FakeShim) -> None:
    text = "語'$(id)\n" * 40_000
    assert host.call(text).response == text
    write, read = shim.commands
    assert (write[1], read[1]) == ("write", "read")
    assert write[-1] == read[-1]
    authority, calls, identifier = write[-1].removeprefix("content://").split("/")
    assert (authority, calls, len(identifier)) == (AUTHORITY, "calls", 32)
    assert set(identifier) <= set("0123456789abcdef")


@titled(("request_", "commands"), {
    "exactly 32 KiB": ("x" * 32 * 1024, ["call"]),
    "one byte more": ("x" * (32 * 1024 + 1), ["write", "read"]),
    "a request that grows in JSON": ('"' * 20_000, ["write", "read"]),
})  # fmt: skip
def test_the_length_of_a_request_decides_how_it_is_sent(
    host: HostClient, shim: FakeShim, request_: str, commands: list[str]
) -> None:
    host.call(request_)
    assert [words[1] for words in shim.commands] == commands


def test_a_request_that_no_frame_holds_is_refused_before_it_is_sent(host: HostClient, shim: FakeShim) -> None:
    with pytest.raises(UnsafeArgumentError):
        host.call("x" * (1024 * 1024 + 1))
    assert shim.commands == []


def test_grant_revoke_and_ask_return_the_answer(host: HostClient, shim: FakeShim) -> None:
    granted = {"grant": {"caller": "any-app", "capability": "*", "since": 1}}
    shim.methods |= {"grant": lambda _: granted, "revoke": lambda _: {"revoked": 2}, "ask": lambda _: {}}
    assert host.grant("any-app").since == 1
    assert host.revoke("com.example.agent", "createNote") == 2
    host.ask(on=True)
    assert shim.calls == [
        ("grant", {"version": 1, "caller": "any-app", "capability": "*"}),
        ("revoke", {"version": 1, "caller": "com.example.agent", "capability": "createNote"}),
        ("ask", {"version": 1, "on": True}),
    ]


@pytest.mark.parametrize(("name", "kind", "code"), [
    ("denied", ShimDenialError, 6),
    ("needs_approval", ShimDenialError, 6),
    ("unavailable", ShimRefusalError, 5),
    ("timeout", ShimRefusalError, 5),
    ("made_up", ShimRefusalError, 5),
])  # fmt: skip
def test_a_failure_of_the_shim_has_the_exit_code_of_its_token(
    host: HostClient, shim: FakeShim, name: str, kind: type[ShimRefusalError], code: int
) -> None:
    shim.methods["grant"] = lambda _: failure(name, f"{name}: why")
    with pytest.raises(ShimRefusalError) as raised:
        host.grant("com.example.absent")
    assert type(raised.value) is kind
    assert raised.value.exit_code == code
    assert raised.value.failure.text.endswith("why")


@pytest.mark.parametrize("version", [0, 2, 99], ids="version {}".format)
def test_a_shim_answering_in_another_version_fails(host: HostClient, shim: FakeShim, version: int) -> None:
    shim.raw = bundle(token(HELLO, version=version))
    with pytest.raises(ShimVersionError, match=f"version {version}") as raised:
        host.hello()
    assert "shim sync" in str(raised.value.hint)


def test_a_shim_that_refuses_this_version_is_reported(host: HostClient, shim: FakeShim) -> None:
    shim.methods["hello"] = lambda _: failure("unsupported_version", "version 3 is spoken here")
    with pytest.raises(ShimVersionError, match="version 3"):
        host.hello()


def test_a_shim_that_is_not_installed_is_reported_with_the_way_out(device: Device) -> None:
    with pytest.raises(ShimMissingError) as raised:
        HostClient(device, "dev.droidgate.shim").hello()
    assert raised.value.exit_code == 4
    assert "shim install" in str(raised.value.hint)


def test_a_provider_that_throws_is_reported_in_androids_words(host: HostClient, shim: FakeShim) -> None:
    text = f"Error while accessing provider:{AUTHORITY}\njava.lang.SecurityException: not you\n\tat x.y\n"
    shim.raw = Answer(stderr=text.encode())
    with pytest.raises(CommandFailedError, match="SecurityException: not you"):
        host.hello()
    with pytest.raises(CommandFailedError, match="SecurityException: not you"):
        host.call("x" * 40_000)


def _texts(values: Any) -> bytes:
    raw = json.dumps(values).encode() if not isinstance(values, bytes) else values
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


NO_ANSWERS: dict[str, Any] = {
    "a list": [],
    "no version": HELLO,
    "a text for a version": {**HELLO, "version": "1"},
    "a boolean for a version": {**HELLO, "version": True},
    "a fraction for a version": {**HELLO, "version": 1.0},
    "nothing but a version": {"version": 1},
    "a text for a release": {"version": 1, **HELLO, "sdk": "36"},
    "a text for routes": {"version": 1, **HELLO, "routes": "createNote"},
    "another app": {"version": 1, **HELLO, "application_id": "dev.droidgate.shim"},
    "an unknown member": {"version": 1, **HELLO, "more": 1},
    "a text for an error": {"version": 1, "error": "denied"},
    "a number for a token": {"version": 1, "error": {"token": 1, "message": "x"}},
    "a duplicate member": b'{"version":1,"version":1}',
    "text that ends early": b'{"version":1',
    "bytes that are not text": b"\xff\xfe",
    "lists inside lists": b"[" * 100_000,
}


@pytest.mark.parametrize("stdout", [
    b"",
    b"Result: null\n",
    b"Result: Bundle[{}]\n",
    b"Result: Bundle[{result=}]\n",
    b"Result: Bundle[{result=ey, other=1}]\n",
    b"Result: Bundle[{result=ey}]",
    b"Result: Bundle[{result=ey}]\nand more\n",
    b"Result: Bundle[mParcelledData.dataSize=40]\n",
    b"Result: Bundle[{result=e30=}]\n",
    b"Result: Bundle[{result=***}]\n",
    *(pytest.param(b"Result: Bundle[{result=" + _texts(item) + b"}]\n", id=title)
        for title, item in NO_ANSWERS.items()),
])  # fmt: skip
def test_what_is_not_an_answer_is_one_typed_error(host: HostClient, shim: FakeShim, stdout: bytes) -> None:
    shim.raw = Answer(stdout)
    with pytest.raises(DeviceOutputError):
        host.hello()


@pytest.mark.parametrize("method", ["status", "discover_broadcast", "grant", "revoke", "call"])
def test_an_answer_lacking_its_values_is_refused(host: HostClient, shim: FakeShim, method: str) -> None:
    shim.raw = bundle(token({"unrelated": 1}))
    with pytest.raises(DeviceError):
        getattr(host, method)(*(["a.b/.C"] if method != "status" else []))


@pytest.mark.parametrize("data", [
    pytest.param(b"", id="nothing"),
    pytest.param(b"DGF1", id="a mark alone"),
    pytest.param(frame("x")[:-1], id="a byte is missing"),
    pytest.param(frame("x") + b"x", id="a byte is too many"),
    pytest.param(b"DGF2" + frame("x")[4:], id="another mark"),
    pytest.param(frame("x")[:-1] + b"y", id="another content"),
    pytest.param(frame("xy")[:4] + struct.pack(">I", 1) + frame("xy")[8:], id="another length"),
    pytest.param(frame("x")[:8] + bytes(32) + b"x", id="another digest"),
    pytest.param(b"usage: adb shell content [subcommand] [options]\n", id="the help of a command"),
    pytest.param(b"Error while accessing provider:x\n" + bytes(40), id="an error and zeros"),
])  # fmt: skip
def test_a_frame_that_is_not_whole_is_refused(data: bytes) -> None:
    with pytest.raises(DeviceOutputError):
        read_frame(data)


def test_frames_and_arguments_are_those_of_the_page() -> None:
    assert write_frame("語") == frame("語")
    assert read_frame(frame("a\0b")) == "a\0b"
    # printf '{"a":"?>~","version":1}' | base64 | tr '+/' '-_' | tr -d '='
    assert write_argument({"a": "?>~"}) == "eyJhIjoiPz5-IiwidmVyc2lvbiI6MX0"


def test_every_cut_of_a_good_answer_is_refused(host: HostClient, shim: FakeShim) -> None:
    whole = bundle(token(STATUS)).stdout
    for length in range(0, len(whole), 7):
        shim.raw = Answer(whole[:length])
        with pytest.raises(DeviceError):
            host.status()


# Calls through a shim: requests and responses of Mobile-MCP as the specification writes them


def answer(shim: FakeShim, **response: Any) -> None:
    """Let the shim answer every call so; the answer has the request's id unless another is given."""

    def call(given: dict[str, Any]) -> dict[str, Any]:
        request = json.loads(given["request"])["mobile-mcp-request"]["request"]
        reported = {"id": request["id"], "status": "success", **response}
        return {"response": json.dumps({"mobile-mcp-response": {"version": "1.0", "response": reported}})}

    shim.methods["call"] = call


def test_requests_are_the_specification_s_and_outputs_come_by_name(host: HostClient, shim: FakeShim) -> None:
    answer(shim, capability={"id": "createNote", "output": {"id": "n1", "count": 2}})
    assert call_capability(host, "createNote", {"title": "it's $(id)"}) == {"id": "n1", "count": 2}
    request = json.loads(shim.calls[-1][1]["request"])["mobile-mcp-request"]
    assert request["version"] == "1.0"
    assert request["request"]["capability"] == {"id": "createNote", "input": {"title": "it's $(id)"}}
    assert len(request["request"]["id"]) == 32


def failed(message: str) -> dict[str, Any]:
    return {"status": "failure", "message": message, "capability": {"id": "createNote"}}


SUCCESS = {"capability": {"id": "createNote", "output": {}}}


@titled(("response", "kind", "words"), {
    "a denial": (failed("denied: no grant"), ShimDenialError, "denied"),
    "no answer in time": (failed("timeout: nothing came"), ShimRefusalError, "timeout"),
    "a failure of the app": (failed("the app says no"), ShimRefusalError, "backend_failure"),
    "a request that the shim cannot read":
        ({"id": "", **failed("invalid_argument: too long")}, ShimRefusalError, "invalid_argument: too long"),
    "a success without an id": ({"id": "", **SUCCESS}, DeviceOutputError, "another request"),
    "an answer to another request": ({"id": "another", **SUCCESS}, DeviceOutputError, "another request"),
})  # fmt: skip
def test_a_response_that_is_not_a_result_is_an_error(
    host: HostClient, shim: FakeShim, response: dict[str, Any], kind: type[DeviceError], words: str
) -> None:
    answer(shim, **response)
    with pytest.raises(kind, match=words) as raised:
        call_capability(host, "createNote", {})
    assert type(raised.value) is kind


@pytest.mark.parametrize("text", ["", "{}", "[]", "garbage", '{"mobile-mcp-response": 1}'])
def test_what_is_not_a_response_is_reported(host: HostClient, shim: FakeShim, text: str) -> None:
    shim.methods["call"] = lambda _: {"response": text}
    with pytest.raises(DeviceOutputError):
        call_capability(host, "createNote", {})


def test_a_missing_shim_and_a_capability_that_is_not_offered_differ() -> None:
    with pytest.raises(UsageError, match="no shim is installed"):
        shim_with([], "createNote", None)
    present = [installed("dev.droidgate.shim.of.a.b", *(f"c{number:03}" for number in range(200)))]
    with pytest.raises(UsageError, match=r"'a\.c' is not a shim"):
        shim_with(present, "c001", "a.c")
    with pytest.raises(UsageError, match="offers 'x'") as raised:
        shim_with(present, "x", None)
    assert "c009 and 190 more" in (raised.value.hint or "")


def installed(name: str, *routes: str) -> InstalledShim:
    return installed_shim(name, routes=routes)


@titled(("name", "application_id", "expected"), {
    "by an id that one has": ("x", None, (0, "x")),
    "by the shim and the id": ("y", "a.two", (1, "y")),
    "by the end of an id": ("N#get", None, (1, "b.N#get")),
    "by the ends of the app and the id": ("notes.N#get", None, (1, "b.N#get")),
    "by a whole id that ends another of its shim": ("get", "a.one", (0, "get")),
    "by the shim, of two with an id that ends so": ("b.get", "a.two", (1, "c.b.get")),
})  # fmt: skip
def test_the_shim_is_found_by_the_names_of_what_it_offers(
    name: str, application_id: str | None, expected: tuple[int, str]
) -> None:
    shims = [installed("a.one", "x", "y", "b.get", "get"), installed("a.two", "y", "b.N#get", "c.b.get")]
    shim, identifier = shim_with(shims, name, application_id)
    assert (shims.index(shim), identifier) == expected


def test_a_name_that_no_shim_or_several_shims_offer_is_refused() -> None:
    first, two = installed("a.one", "x", "y", "get"), installed("a.two", "y", "b.N#get")
    for capability, name, message in (
        ("y", None, "several"),
        ("get", None, "several"),
        ("z", None, "no shim"),
        ("x", "a.two", "no shim"),
        ("y", "com.example.notes", "several"),
    ):
        with pytest.raises(UsageError, match=message):
            shim_with([first, two], capability, name)

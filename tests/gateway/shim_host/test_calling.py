"""Calls through a shim: requests and responses of Mobile-MCP as the specification writes them."""

import json
from typing import Any

import pytest

from droidgate.devices.device import Device
from droidgate.devices.device_errors import DeviceOutputError
from droidgate.shims.answers import ShimDenialError, ShimRefusalError, Status
from droidgate.shims.calling import call_capability, shim_with
from droidgate.shims.client import HostClient
from droidgate.shims.place import InstalledShim, ShimPlace
from droidgate_mappings.model.errors import UsageError
from gateway.shim_host.fake_shim import APPLICATION_ID, STATUS, FakeShim


def answer(shim: FakeShim, **response: Any) -> None:
    """Let the shim answer every call so; the answer has the request's id unless another is given."""

    def call(given: dict[str, Any]) -> dict[str, Any]:
        request = json.loads(given["request"])["mobile-mcp-request"]["request"]
        reported = {"id": request["id"], "status": "success", **response}
        return {"response": json.dumps({"mobile-mcp-response": {"version": "1.0", "response": reported}})}

    shim.methods["call"] = call


@pytest.fixture
def host(device: Device) -> HostClient:
    return HostClient(device, APPLICATION_ID)


def test_the_request_is_that_of_the_specification_and_outputs_come_by_name(
    host: HostClient, shim: FakeShim
) -> None:
    answer(shim, capability={"id": "createNote", "output": {"id": "n1", "count": 2}})
    assert call_capability(host, "createNote", {"title": "it's $(id)"}) == {"id": "n1", "count": 2}
    request = json.loads(shim.calls[-1][1]["request"])["mobile-mcp-request"]
    assert request["version"] == "1.0"
    assert request["request"]["capability"] == {"id": "createNote", "input": {"title": "it's $(id)"}}
    assert len(request["request"]["id"]) == 32


@pytest.mark.parametrize(
    ("message", "kind", "token"),
    [
        ("denied: no grant", ShimDenialError, "denied"),
        ("timeout: nothing came", ShimRefusalError, "timeout"),
        ("the app says no", ShimRefusalError, "backend_failure"),
    ],
)
def test_a_failure_keeps_its_token(
    host: HostClient, shim: FakeShim, message: str, kind: type[ShimRefusalError], token: str
) -> None:
    answer(shim, status="failure", message=message, capability={"id": "createNote"})
    with pytest.raises(ShimRefusalError) as raised:
        call_capability(host, "createNote", {})
    assert type(raised.value) is kind
    assert raised.value.failure.token == token


def test_a_request_that_the_shim_cannot_read_is_refused_without_its_id(
    host: HostClient, shim: FakeShim
) -> None:
    answer(shim, id="", status="failure", message="invalid_argument: too long", capability={"id": ""})
    with pytest.raises(ShimRefusalError, match="too long"):
        call_capability(host, "createNote", {})
    answer(shim, id="", capability={"id": "createNote", "output": {}})
    with pytest.raises(DeviceOutputError, match="another request"):
        call_capability(host, "createNote", {})


def test_an_answer_to_another_request_is_none(host: HostClient, shim: FakeShim) -> None:
    answer(shim, id="another", capability={"id": "createNote", "output": {}})
    with pytest.raises(DeviceOutputError, match="another request"):
        call_capability(host, "createNote", {})


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
    return InstalledShim(name, Status.model_validate({**STATUS, "application_id": name, "routes": routes}))


def test_the_shim_is_found_by_what_it_offers() -> None:
    first, two = installed("a.one", "x", "y"), installed("a.two", "y")
    assert shim_with([first, two], "x", None) is first
    assert shim_with([first, two], "y", "a.two") is two
    with pytest.raises(UsageError, match="several"):
        shim_with([first, two], "y", None)
    with pytest.raises(UsageError, match="no shim"):
        shim_with([first, two], "z", None)
    with pytest.raises(UsageError, match="no shim"):
        shim_with([first, two], "x", "a.two")
    with pytest.raises(UsageError, match="several"):
        shim_with([first, two], "y", "com.example.notes")


def test_a_place_asks_its_shims_as_its_user(device: Device, shim: FakeShim) -> None:
    shim.users = {"10"}
    assert ShimPlace(device, 10, "36").client(APPLICATION_ID).hello().sdk == 36

"""`droidgate devices`: what is attached, and what to do where it is not ready."""

from collections.abc import Iterator

import pytest

from gateway.cli.program_runs import Runner
from gateway.devices.fake_adb_server import LISTED, SERIAL, Answer, FakeAdbServer

OTHERS = (
    f"{'LOCKED':<22} unauthorized usb:1-1 transport_id:8\n"
    f"{'NOUDEV':<22} no permissions (no udev rules?); see [http://developer.android.com] transport_id:9\n"
)
PROPERTIES = (
    "[ro.build.version.sdk]: [36]\n[ro.build.version.release]: [16]\n[ro.product.model]: [Evil \x1b[31m]\n"
    "[ro.build.version.security_patch]: [2025-06-05]\n[ro.serialno]: [SN1]\n"
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAdbServer]:
    monkeypatch.delenv("ADB_SERVER_SOCKET", raising=False)
    monkeypatch.delenv("ANDROID_ADB_SERVER_ADDRESS", raising=False)
    with FakeAdbServer(shell=lambda *_: Answer(PROPERTIES.encode()), listed=LISTED + OTHERS) as fake:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(fake.port))
        yield fake


@pytest.mark.usefixtures("server")
def test_each_device_is_shown_with_its_state_and_the_way_out(droidgate: Runner) -> None:
    run = droidgate("devices")
    assert run.code == 0
    lines = {line.split()[0]: line for line in run.out.splitlines()[1:]}
    assert "16" in lines[SERIAL]
    assert "\\x1b[31m" in lines[SERIAL]
    assert "allow USB debugging" in lines["LOCKED"]
    assert "udev" in lines["NOUDEV"]


@pytest.mark.usefixtures("server")
def test_the_document_fits_its_schema(droidgate: Runner) -> None:
    first, locked, _ = droidgate.document("devices")["devices"]
    assert (first["sdk"], first["ready"], first["security_patch"]) == (36, True, "2025-06-05")
    assert (locked["ready"], locked["state"], locked["sdk"]) == (False, "unauthorized", None)


def test_a_device_that_answers_wrongly_is_shown_so(droidgate: Runner, server: FakeAdbServer) -> None:
    server.shell = lambda *_: Answer(b"garbage")
    run = droidgate("devices")
    assert run.code == 0
    assert "cut off" in run.out


def test_no_device_is_not_an_error(droidgate: Runner, server: FakeAdbServer) -> None:
    server.listed = ""
    run = droidgate("devices")
    assert run.code == 0
    assert "droidgate phone start" in run.out


def test_what_is_not_an_adb_server_ends_with_code_four(droidgate: Runner, server: FakeAdbServer) -> None:
    server.version = "zz"
    run = droidgate("devices")
    assert (run.code, run.out) == (4, "")
    assert "error:" in run.err

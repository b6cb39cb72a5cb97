"""`droidgate phone`: phones in the background, listed and ended."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from device_shim.phone_transport.adb_host import DeviceHost, ServerClient, host_key, public_key_line
from device_shim.phone_transport.conftest import StockAdb, free_port
from droidgate.cli.exit_codes import ExitCode
from droidgate_phone.apps.sample_packages import sample_packages
from gateway.cli.program_runs import Runner
from gateway.devices.fake_adb_server import FakeAdbServer
from waiting import wait_until


@pytest.fixture
def droidgate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Runner]:
    """Run the program with a home of its own; phones that are left are stopped."""
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    key = tmp_path / "home" / ".android" / "adbkey.pub"
    key.parent.mkdir(parents=True)
    key.write_bytes(public_key_line(host_key()))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    run = Runner(capsys, monkeypatch)
    yield run
    for file in (tmp_path / "state" / "phones").glob("*.json"):
        run("phone", "stop", "--port", file.stem)


def start(droidgate: Runner, *options: str) -> Any:
    return droidgate.document("phone", "start", "--no-apps", *options)


def lives(pid: int) -> bool:
    """Whether a process runs; one that only waits to be fetched by its parent does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_phone_runs_in_the_background_until_it_is_stopped(droidgate: Runner, tmp_path: Path) -> None:
    started = start(droidgate)
    assert lives(started["pid"])
    with DeviceHost(started["port"]) as host:
        assert host.connect().data.startswith(b"device::")
        assert host.run(b"shell:echo hi") == b"hi\n"
    assert droidgate.document("phone", "stop")["serial"] == started["serial"]
    assert not lives(started["pid"])
    assert list((tmp_path / "state" / "phones").iterdir()) == []


def test_what_to_type_next_is_printed_and_works(
    droidgate: Runner, stock_adb: StockAdb, adb_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(adb_home))
    run = droidgate("phone", "start", "--no-apps")
    assert (run.code, run.err) == (0, "")
    lines = [line.strip() for line in run.out.splitlines()]
    serial = next(line for line in lines if line.startswith("adb connect")).split()[-1]
    stock_adb.connect(serial)
    assert stock_adb.on(serial, "shell", "echo hi").stdout == b"hi\n"
    stock_adb.run("disconnect", serial)
    stop = next(line for line in lines if line.startswith("droidgate phone stop"))
    assert droidgate(*stop.split()[1:]).out == f"{serial} is stopped\n"


def test_ports_and_release_can_be_chosen(droidgate: Runner) -> None:
    port, server_port = free_port(), free_port()
    started = start(droidgate, "--port", str(port), "--server-port", str(server_port), "--sdk", "30")
    assert (started["port"], started["server_port"], started["sdk"]) == (port, server_port, "30")
    with ServerClient(server_port) as client:
        client.open_on(started["serial"], b"shell:getprop ro.build.version.sdk")
        assert client.read_to_end() == b"30\n"


@pytest.mark.slow
def test_one_of_several_phones_has_to_be_named(droidgate: Runner) -> None:
    ports = sorted(start(droidgate)["port"] for _ in range(2))
    run = droidgate("phone", "stop")
    assert (run.code, run.out) == (ExitCode.DEVICE, "")
    assert str(ports[0]) in run.err
    assert str(ports[1]) in run.err
    assert droidgate("phone", "stop", "--port", str(ports[0])).code == 0
    assert droidgate("phone", "stop").code == 0


@pytest.mark.parametrize("command", ["stop", "apps"])
def test_without_a_phone_the_fix_is_printed(droidgate: Runner, command: str) -> None:
    run = droidgate("phone", command)
    assert run.code == ExitCode.DEVICE
    assert run.err == "error: no virtual phone runs\nhint: start one with `droidgate phone start`\n"


def test_a_phone_that_was_killed_is_recognised(droidgate: Runner, tmp_path: Path) -> None:
    started = start(droidgate)
    os.kill(started["pid"], signal.SIGKILL)
    wait_until(lambda: not lives(started["pid"]))
    assert droidgate("phone", "stop").code == ExitCode.DEVICE
    assert list((tmp_path / "state" / "phones").iterdir()) == []


def test_a_file_that_names_another_process_is_not_believed(droidgate: Runner, tmp_path: Path) -> None:
    folder = tmp_path / "state" / "phones"
    folder.mkdir(parents=True)
    other = {"serial": "127.0.0.1:1", "port": 1, "server_port": 2, "pid": os.getpid(), "sdk": "36.1"}
    (folder / "1.json").write_text(json.dumps(other))
    (folder / "2.json").write_text("{broken")
    (folder / "3.json").write_text('{"pid": -1}')
    assert droidgate("phone", "stop").code == ExitCode.DEVICE
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("options", "code", "text"), [
    (["--sdk", "1"], ExitCode.USAGE, "1"),
    (["--fault", "explode"], ExitCode.USAGE, "unknown fault 'explode'"),
    (["--log", "/nonexistent/log"], ExitCode.INPUT, "No such file or directory"),
    (["--port", "70000"], ExitCode.USAGE, "--port"),
], ids=str)  # fmt: skip
def test_a_request_that_makes_no_sense_is_refused(
    droidgate: Runner, options: list[str], code: ExitCode, text: str
) -> None:
    run = droidgate("phone", "start", "--no-apps", *options)
    assert (run.code, run.out) == (code, "")
    assert text in run.err


@pytest.mark.slow
def test_a_port_that_is_taken_is_reported_and_leaves_no_log(droidgate: Runner, tmp_path: Path) -> None:
    port, log = start(droidgate)["port"], tmp_path / "events"
    run = droidgate("phone", "start", "--no-apps", "--port", str(port), "--log", str(log))
    assert (run.code, run.out, log.exists()) == (ExitCode.DEVICE, "", False)
    assert f"--port {port} is in use\nhint: choose another port" in run.err
    assert droidgate("phone", "stop").code == 0


def test_faults_are_shown_and_listed(droidgate: Runner) -> None:
    assert "drop-after=BYTES" in droidgate("phone", "start", "--fault", "list").out
    started = start(droidgate, "--fault", "unauthorized")
    with DeviceHost(started["port"]) as host:
        assert host.connect().command == b"AUTH"
    assert droidgate("phone", "stop").code == 0


@pytest.mark.slow
def test_the_log_is_written_as_it_happens(droidgate: Runner, tmp_path: Path) -> None:
    log = tmp_path / "events"
    started = start(droidgate, "--log", str(log))
    with DeviceHost(started["port"]) as host:
        host.connect()
        host.run(b"shell:echo \xff\xed\xa0\x80")
    wait_until(lambda: '"exit"' in log.read_text())
    events = [json.loads(line) for line in log.read_text().splitlines()]
    services = [event["service"] for event in events if event["event"] == "service"]
    assert services == ["shell:echo \\xff\\xed\\xa0\\x80"]


@pytest.mark.slow
def test_a_phone_in_the_foreground_stays_until_ctrl_c(droidgate: Runner, tmp_path: Path) -> None:
    del droidgate  # it has set the home folders
    command = [sys.executable, "-m", "droidgate", "phone", "start", "--no-apps", "--foreground"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        serial = process.stdout.readline().decode().split()[0]
        with DeviceHost(int(serial.rpartition(":")[2])) as host:
            assert host.connect().command == b"CNXN"
        wait_until(lambda: list((tmp_path / "state" / "phones").iterdir()))
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
    assert list((tmp_path / "state" / "phones").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["discover"], ["inspect", "adb:"], ["devices"]], ids=" ".join)
def test_a_phone_that_the_adb_server_does_not_know_is_named_with_the_way_to_it(
    droidgate: Runner, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    with FakeAdbServer(listed="") as other:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(other.port))
        without = droidgate(*arguments)
        assert "droidgate phone start" in without.out + without.err
        started = start(droidgate)
        run = droidgate(*arguments)
        assert run.code == without.code
        assert f"ANDROID_ADB_SERVER_PORT={started['server_port']}" in run.out + run.err
        assert f"adb connect {started['serial']}" in run.out + run.err
        result = droidgate("discover", "--serial", started["serial"])
        assert (result.code, f"adb connect {started['serial']}" in result.err) == (ExitCode.DEVICE, True)
        assert "adb connect" not in droidgate("discover", "--serial", "another").err


@pytest.mark.slow
def test_a_port_that_adb_takes_for_an_emulators_is_reported(droidgate: Runner) -> None:
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.1", 5585))
        except OSError:
            pytest.skip("somebody uses that port")
    run = droidgate("phone", "start", "--no-apps", "--port", "5585", "--json")
    assert run.code == 0
    assert "emulator-5584" in run.err


@pytest.mark.slow
def test_apps_are_listed_by_protocol_without_an_adb_program(
    droidgate: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_adb = "droidgate.devices.adb_client.find_adb"
    monkeypatch.setattr(find_adb, lambda: pytest.fail("an adb program was wanted"))
    assert droidgate("phone", "start").code == 0
    apps = {app["package"]: app["protocols"] for app in droidgate.document("phone", "apps")["apps"]}
    assert set(apps) == {package.package for package in sample_packages()}
    assert apps["dev.droidgate.sample.clockin"] == ["mobile-mcp+1.0"]
    assert apps["dev.droidgate.sample.agent"] == []
    rows = [line.split() for line in droidgate("phone", "apps").out.splitlines()]
    assert ["mobile-mcp+1.0", "dev.droidgate.sample.clockin", "1"] in rows


def test_apps_are_installed_on_a_running_phone(droidgate: Runner, tmp_path: Path) -> None:
    started = start(droidgate)
    files = []
    for sample in sample_packages()[:2]:
        files.append(tmp_path / f"{sample.package}.apk")
        files[-1].write_bytes(sample.apk)
    document = droidgate.document("phone", "install", *files)
    packages = [app["package"] for app in document["installed"]]
    assert document["serial"] == started["serial"]
    listed = droidgate.document("phone", "apps")["apps"]
    assert {app["package"] for app in listed} == set(packages)
    again = droidgate("phone", "install", files[0])
    assert again.out == f"installed: {packages[0]}, version 1\n"


@pytest.mark.slow
def test_a_file_is_pushed_into_a_folder_or_to_a_name(droidgate: Runner, tmp_path: Path) -> None:
    start(droidgate)
    file = tmp_path / "report.pdf"
    file.write_bytes(bytes(range(256)) * 300)
    into_folder = droidgate.document("phone", "push", file)
    assert (into_folder["path"], into_folder["size"]) == ("/sdcard/Download/report.pdf", 76_800)
    result = droidgate("phone", "push", file, "/data/local/tmp/other.bin")
    assert result.out == "pushed: /data/local/tmp/other.bin, 76,800 bytes\n"
    folder = droidgate("phone", "push", file, "/data/local/tmp")
    assert folder.out == "pushed: /data/local/tmp/report.pdf, 76,800 bytes\n"


@pytest.mark.parametrize(("words", "code", "text"), [
    pytest.param(["install", "a"], ExitCode.INPUT, "a", id="what is not an app is installed"),
    pytest.param(["push", "a", "/system/x"], ExitCode.DEVICE, "/system/x", id="a read-only place"),
    pytest.param(["push", "a", "/none/such/"], ExitCode.DEVICE, "/none/such", id="no such folder"),
    pytest.param(["push", "."], ExitCode.INPUT, "not a regular file", id="a folder is pushed"),
    pytest.param(["push", "b"], ExitCode.INPUT, "b: No such file", id="a file that is not there is pushed"),
])  # fmt: skip
def test_a_file_that_the_phone_cannot_take_is_refused_with_the_reason(
    droidgate: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: ExitCode,
    text: str,
) -> None:
    start(droidgate)
    (tmp_path / "a").write_bytes(b"not an archive")
    monkeypatch.chdir(tmp_path)
    run = droidgate("phone", *words)
    assert run.code == code
    assert text in run.err
    assert run.err.count("\n") <= 2


def test_status_lists_the_phones_that_run(droidgate: Runner) -> None:
    assert "no virtual phone is running" in droidgate("phone", "status").out
    started = start(droidgate)
    (phone,) = droidgate.document("phone", "status")["phones"]
    assert {name: phone[name] for name in ("serial", "port", "pid")}.items() <= started.items()
    assert f"ANDROID_ADB_SERVER_PORT={phone['server_port']}" in droidgate("phone", "status").out


def test_no_adb_server_is_started_at_the_port_of_a_phone_that_has_stopped(
    droidgate: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = str(start(droidgate)["server_port"])
    assert droidgate("phone", "stop").code == 0
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", port)
    run = droidgate("devices")
    assert run.code == ExitCode.DEVICE
    assert "the virtual phone at this port is not running" in run.err
    assert f"droidgate phone start --server-port {port}" in run.err
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(port))) != 0

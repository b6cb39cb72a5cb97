"""Faults on the wire: each client ends with an error, none hangs, and the phone goes on."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import adbutils  # type: ignore[import-untyped]
import pytest

from device_shim.phone_transport.adb_host import DeviceHost, ServerClient, host_key, sign
from device_shim.phone_transport.conftest import StartPhone, StockAdb
from droidgate_phone.common.faults import Faults


def read_as_much_as_comes(host: DeviceHost) -> None:
    host.connect()
    host.send(b"OPEN", 7, 0, b"exec:give 65536\0")
    host.read_to_end()


@pytest.mark.parametrize("count", [1, 3, 24, 100, 5000], ids="{} bytes".format)
def test_a_dropped_connection_ends_after_so_many_bytes(start_wired: StartPhone, count: int) -> None:
    phone = start_wired(faults=Faults(drop_after=count))
    for _ in range(2):
        with DeviceHost(phone.port) as host:
            with contextlib.suppress(EOFError):
                read_as_much_as_comes(host)
            assert host.received == count


@pytest.mark.parametrize("count", [1, 3, 24, 100, 5000], ids="{} bytes".format)
def test_a_stalled_connection_stays_open_and_silent(
    start_wired: StartPhone, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    phone = start_wired(faults=Faults(stall_after=count))
    with DeviceHost(phone.port) as host:
        receive = host.receive_some

        def receive_patiently(most: int) -> bytes:
            host.socket.settimeout(0.2 if host.received == count else 20)
            return receive(most)

        monkeypatch.setattr(host, "receive_some", receive_patiently)
        with pytest.raises(TimeoutError):
            read_as_much_as_comes(host)
        assert host.received == count


def test_an_offline_phone_never_answers_the_handshake(start_wired: StartPhone) -> None:
    phone = start_wired(faults=Faults(offline=True))
    with DeviceHost(phone.port, seconds=0.2) as host, pytest.raises(TimeoutError):
        host.greet()


def test_an_unauthorized_phone_asks_and_never_grants(start_wired: StartPhone) -> None:
    phone = start_wired(faults=Faults(unauthorized=True))
    with DeviceHost(phone.port) as host:
        first = host.greet()
        # protocol.txt, AUTH(type, 0, "data"): 1 is a token of 20 random bytes, 2 a signature, 3 a public key.
        assert (first.command, first.arg0, len(first.data)) == (b"AUTH", 1, 20)
        host.send(b"AUTH", 2, 0, sign(host_key(), first.data))
        second = host.receive()
        assert (second.command, second.arg0) == (b"AUTH", 1)
        assert second.data != first.data
        host.send(b"AUTH", 3, 0, b"public key\0")
        host.send(b"OPEN", 7, 0, b"shell:echo x\0")
        host.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            host.receive()


def test_every_fourth_packet_of_a_garbage_phone_is_broken(start_wired: StartPhone) -> None:
    phone = start_wired(faults=Faults(garbage=True))
    with DeviceHost(phone.port) as host:
        host.connect()
        host.open(b"exec:give 1024")
        with pytest.raises(AssertionError):
            host.receive()


def test_a_slow_phone_sends_no_faster_than_it_should(start_wired: StartPhone) -> None:
    phone = start_wired(faults=Faults(bytes_per_second=40_000))
    with DeviceHost(phone.port) as host:
        host.connect()
        began = time.monotonic()
        host.open(b"exec:give 8192")
        host.read(8192)
        assert time.monotonic() - began >= 0.2


@pytest.mark.parametrize("most", [64, 256, 4096], ids="{} bytes".format)
def test_a_phone_of_small_packets_takes_and_sends_no_larger_ones(start_wired: StartPhone, most: int) -> None:
    phone = start_wired(faults=Faults(maximum_payload=most))
    with DeviceHost(phone.port) as host:
        assert host.connect().arg1 == most
        number = host.open(b"exec:give 8192")
        assert len(host.receive().data) == most
        host.send(b"WRTE", 7, number, b"x" * (most + 1), checksum=0)
        assert host.ends()


def test_faults_of_the_link_also_show_behind_the_phone_s_own_server(start_wired: StartPhone) -> None:
    phone = start_wired(faults=Faults(drop_after=1000))
    with ServerClient(phone.server_port) as client:
        client.open_on(phone.serial, b"exec:give 65536")
        assert client.read_to_end() == (bytes(range(256)) * 4)[:1000]


def test_garbage_behind_the_phone_s_own_server_ends_the_connection(start_wired: StartPhone) -> None:
    phone = start_wired(faults=Faults(garbage=True))
    with ServerClient(phone.server_port) as client:
        client.open_on(phone.serial, b"exec:flood")
        assert client.read_to_end() == b"x" * 65536 * 3


def test_stock_adb_ends_on_request_though_the_phone_stalls(
    start_wired: StartPhone, stock_adb: StockAdb
) -> None:
    phone = start_wired(faults=Faults(stall_after=20_000))
    stock_adb.connect(phone.serial)
    device = adbutils.AdbClient(port=stock_adb.port).device(serial=phone.serial)
    with pytest.raises(adbutils.AdbTimeout):
        device.shell("give 1048576", timeout=0.5)
    assert stock_adb.run("disconnect", phone.serial).returncode == 0


@pytest.mark.parametrize(
    "faults",
    [Faults(bytes_per_second=2_000_000), Faults(maximum_payload=4096)],
    ids=["slow", "small packets"],
)
def test_stock_adb_works_with_a_slow_phone_and_with_small_packets(
    start_wired: StartPhone, stock_adb: StockAdb, faults: Faults, tmp_path: Path
) -> None:
    phone = start_wired(faults=faults)
    stock_adb.connect(phone.serial)
    (tmp_path / "x").write_bytes(bytes(range(256)) * 800)
    assert stock_adb.on(phone.serial, "push", str(tmp_path / "x"), "/data/local/tmp/x").returncode == 0
    assert stock_adb.on(phone.serial, "pull", "/data/local/tmp/x", str(tmp_path / "y")).returncode == 0
    assert (tmp_path / "y").read_bytes() == (tmp_path / "x").read_bytes()
    stock_adb.run("disconnect", phone.serial)

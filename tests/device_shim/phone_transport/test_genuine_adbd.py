"""droidgate with Android's own adbd, whose shell is the virtual phone's, and what both daemons answer."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from device_shim.phone_transport.adb_host import DeviceHost
from device_shim.phone_transport.genuine_adbd import SERIAL, GenuineAdbd, start_adbd
from droidgate_phone.phone import VirtualPhone, start_phone
from requirements_of_tests import require
from titled_rows import titled

pytestmark = [pytest.mark.slow, pytest.mark.requires("adbd", "adb")]

TEMPORARY = b"/data/local/tmp"
TIME = 1_600_000_000
CREATE = "dev.droidgate.sample.notes.NotesService#createNote"
DROIDGATE = Path(sys.executable).with_name("droidgate")


@pytest.fixture(scope="module")
def phone(adb_keys: tuple[Path, ...]) -> Iterator[VirtualPhone]:
    with start_phone(adb_keys=adb_keys) as phone:
        yield phone


@pytest.fixture(scope="module")
def adbd(phone: VirtualPhone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GenuineAdbd]:
    with start_adbd(require("adbd"), phone, tmp_path_factory.mktemp("adbd")) as adbd:
        yield adbd


@titled(
    ("words", "text"),
    {
        "devices": (["devices"], "Virtual Phone"),
        "discover": (["discover", "--serial", SERIAL], f"on {SERIAL}, Android 16"),
        "call an app function": (["call", "--yes", CREATE, "title=adbd", "content=b"], "adbd"),
    },
)
def test_a_command_works_with_adbd(words: list[str], text: str, adbd: GenuineAdbd) -> None:
    ran = adbd.run(DROIDGATE, *words)
    assert (ran.returncode, text in ran.stdout.decode()) == (0, True), ran


def test_an_app_is_installed_and_read(adbd: GenuineAdbd) -> None:
    installed = adbd.run(DROIDGATE, "agent", "install")
    assert installed.returncode == 0, installed
    read = adbd.run(DROIDGATE, "inspect", f"adb:{SERIAL}/dev.droidgate.agent")
    assert (read.returncode, b"dev.droidgate.agent" in read.stdout) == (0, True), read


def run_script(adbd: GenuineAdbd, script: str, *arguments: str | Path) -> object:
    """Return what a script prints, a JSON document; it has a `device`."""
    begin = (
        "import io, json, os, sys\n"
        "from droidgate.devices.device import connect_device\n"
        f"device = connect_device({SERIAL!r})\n"
    )
    ran = adbd.run(sys.executable, "-c", begin + script, *arguments)
    assert ran.returncode == 0, ran
    return json.loads(ran.stdout)


def test_shells_keep_status_errors_and_input_apart(adbd: GenuineAdbd) -> None:
    script = """
ran = device.run(["sh", "-c", "cat; echo err >&2; exit 7"], stdin=b"in" * 100_000)
print(json.dumps([ran.exit_status, len(ran.stdout), ran.stderr.decode()]))
"""
    assert run_script(adbd, script) == [7, 200_000, "err\n"]


def test_10_megabytes_go_and_come_back(adbd: GenuineAdbd, tmp_path: Path) -> None:
    script = """
content = os.urandom(10 << 20)
device.push(content, "/data/local/tmp/ten")
back = io.BytesIO()
device.pull("/data/local/tmp/ten", back)
print(json.dumps([back.getvalue() == content, device.status("/data/local/tmp/ten").size]))
"""
    assert run_script(adbd, script) == [True, 10 << 20]
    (tmp_path / "ten").write_bytes(b"compressible" * 900_000)
    script = """
back = io.BytesIO()
device.pull("/data/local/tmp/ten", back)
print(json.dumps(back.getvalue() == open(sys.argv[1], "rb").read()))
"""
    for kind in ("none", "brotli", "lz4", "zstd"):
        adbd.run(require("adb"), "shell", "rm -f /data/local/tmp/ten")
        pushed = adbd.run(require("adb"), "push", "-z", kind, tmp_path / "ten", "/data/local/tmp/ten")
        assert (pushed.returncode, run_script(adbd, script, tmp_path / "ten")) == (0, True), kind


def test_a_daemon_that_is_killed_during_a_transfer_is_reported(phone: VirtualPhone, tmp_path: Path) -> None:
    script = """
from droidgate_mappings.model.errors import DeviceError
device.push(bytes(10 << 20), "/data/local/tmp/ten")
class Killer(io.BytesIO):
    def write(self, data):
        if not self.tell():
            os.kill(int(sys.argv[1]), 9)
        return super().write(data)
try:
    device.pull("/data/local/tmp/ten", Killer())
except DeviceError as error:
    print(json.dumps(type(error).__name__))
"""
    with start_adbd(require("adbd"), phone, tmp_path) as adbd:
        assert run_script(adbd, script, str(adbd.process.pid)) == "DeviceGoneError"


def request(kind: bytes, text: bytes = b"") -> bytes:
    return kind + struct.pack("<I", len(text)) + text


QUIT = request(b"QUIT")


def sending(path: bytes, mode: bytes = b"33188", content: bytes = b"hello") -> bytes:
    data = request(b"DATA", content) if content else b""
    return request(b"SEND", path + b"," + mode) + data + b"DONE" + struct.pack("<I", TIME)


def exchanges() -> Iterator[tuple[str, bytes, bytes]]:
    """Yield a title, a service, and what is sent to it."""
    for service in (
        b"shell:echo hi", b"shell,v2,raw:echo hi; echo e >&2; exit 7", b"exec:echo hi", b"shell,v2:exit 300",
        b"nosuch:", b"tcp:9", b"localfilesystem:/nosuch", b"localabstract:nosuch",
        b"localreserved:nosuch", b"dev:/nosuch", b"sink:x", b"source:10", b"source:x",
        b"host:features", b"jdwp:99999", b"track-jdwp", b"reconnect", b"abb:package\0list",
        b"abb_exec:package\0list", b"shell,v2,raw,TERM=x:echo $TERM", b"shell,raw:echo hi",
        b"shell,v9:echo hi", b"shell,v2,foo:echo hi", b"shell",
    ):  # fmt: skip
        yield service.decode().replace("\0", " "), service, b""
    yield "sink:10", b"sink:10", b"0123456789"
    yield "input", b"shell,v2,raw:cat", b"\0" + struct.pack("<I", 3) + b"abc\3" + struct.pack("<I", 0)
    names = (b"", TEMPORARY, b"/nosuch", b"relative", TEMPORARY + b"/" + b"x" * 300, b"/" + b"y" * 1100)
    for name in names:
        for kind in (b"STAT", b"STA2", b"LST2", b"RECV", b"LIST", b"LIS2"):
            yield f"{kind.decode()} {name.decode()[:24]}", b"sync:", request(kind, name) + QUIT
        receive = request(b"RCV2", name) + b"RCV2" + struct.pack("<I", 0)
        yield f"RCV2 {name.decode()[:24]}", b"sync:", receive + QUIT
    for title, sent in {
        "a file": sending(TEMPORARY + b"/f") + request(b"RECV", TEMPORARY + b"/f"),
        "to a folder": sending(TEMPORARY),
        "below a file": sending(TEMPORARY + b"/f/g"),
        "without mode": request(b"SEND", TEMPORARY + b"/f2") + request(b"DATA", b"x"),
        "with a bad mode": sending(TEMPORARY + b"/f3", b"abc"),
        "into new folders": sending(TEMPORARY + b"/n1/n2/f"),
        "a block of 65,537 bytes": sending(TEMPORARY + b"/f4", content=b"x" * 65_537),
        "a wrong block": request(b"SEND", TEMPORARY + b"/f5,33188") + request(b"WHAT", b"x"),
    }.items():
        yield f"send {title}", b"sync:", sent + QUIT
    for flags in (0, 8, 16, 0x80000000):
        data = request(b"DATA", b"hello") if flags in (0, 0x80000000) else b""
        content = request(b"SND2", TEMPORARY + b"/s") + b"SND2" + struct.pack("<II", 33188, flags) + data
        yield f"SND2 {flags}", b"sync:", content + b"DONE" + struct.pack("<I", 1) + QUIT
    for flags in (0, 1, 2, 3, 4, 8, 16, 0x80000000):
        message = request(b"RCV2", TEMPORARY + b"/f") + b"RCV2" + struct.pack("<I", flags)
        yield f"RCV2 {flags}", b"sync:", message + QUIT
    yield "unknown request", b"sync:", request(b"NOPE", b"/x")
    yield "long name", b"sync:", request(b"STAT", b"/" + b"z" * 5000)


def answer(host: DeviceHost, service: bytes, sent: bytes, seconds: float) -> tuple[str, bytes]:
    """Return how a stream ends, and all that it sends before; open if nothing comes for some seconds."""
    received, is_open = b"", False
    host.socket.settimeout(seconds)
    try:
        host.send(b"OPEN", 7, 0, service + b"\0")
        unsent = [sent[at : at + 60_000] for at in range(0, len(sent), 60_000)]
        while True:
            message = host.receive()
            if message.command == b"CLSE":
                return ("closed" if is_open else "refused"), received
            is_open = True
            if message.command == b"WRTE":
                received += message.data
                host.send(b"OKAY", 7, message.arg0)
            elif unsent:
                host.send(b"WRTE", 7, message.arg0, unsent.pop(0))
    except TimeoutError:
        return "open", received
    except (EOFError, ConnectionError):
        return "disconnected", b""  # adbd may end the connection before its last message is on its way


_COMPRESSED = "compression is not modelled and not announced, so no adb asks for it"
_OWN_STATUS = "devices, owners, modes and times of a computer's folder"
DIFFERENCES = {
    "abb:package list": "Debian's adbd announces abb, but has no Android to call",
    "abb_exec:package list": "Debian's adbd announces abb_exec, but has no Android to call",
    **{f"RCV2 {flags}": _COMPRESSED for flags in (1, 2, 3, 4)},
    **{f"{kind} /data/local/tmp": _OWN_STATUS for kind in ("STAT", "STA2", "LST2", "LIST", "LIS2")},
}


def test_raw_exchanges_are_adbds(adbd: GenuineAdbd, phone: VirtualPhone) -> None:
    different = {}
    for title, service, sent in exchanges():
        for seconds in (1, 10):  # a busy machine may take longer
            with adbd.connect() as host:
                assert host.greet().command == b"CNXN"
                real = answer(host, service, sent, seconds)
            with DeviceHost(phone.port) as host:
                host.connect()
                ours = answer(host, service, sent, seconds)
            if real == ours or title in DIFFERENCES:
                break
        if real != ours:
            different[title] = {"adbd": real, "phone": ours}
    assert different.keys() == DIFFERENCES.keys(), different

"""Sessions of the real adb with the whole phone, as people and scripts have them."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shlex
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from device_shim.phone_transport.adb_host import DeviceHost, ServerClient
from device_shim.phone_transport.conftest import StockAdb
from droidgate_phone.phone import VirtualPhone, start_phone
from waiting import wait_until

LARGE = 50_000_000


def run(adb: StockAdb, phone: VirtualPhone, *arguments: str, input: bytes = b"") -> bytes:
    """Run adb on the phone; it has to succeed."""
    result = adb.on(phone.serial, *arguments, input=input)
    assert result.returncode == 0, result
    return result.stdout


def ended(phone: VirtualPhone) -> int:
    """Return how many commands have ended."""
    return len(phone.log.of_kind("abandoned")) + len(phone.log.of_kind("exit"))


def test_the_phone_is_listed_with_its_product_and_model(android: VirtualPhone, stock_adb: StockAdb) -> None:
    lines = stock_adb.run("devices", "-l").stdout.decode().splitlines()
    line = next(candidate for candidate in lines if candidate.startswith(android.serial))
    assert re.search(r"\bdevice product:virtual model:Virtual_Phone device:virtual transport_id:\d+", line)


def test_questions_about_the_phone(android: VirtualPhone, stock_adb: StockAdb) -> None:
    assert run(stock_adb, android, "get-state") == b"device\n"
    assert run(stock_adb, android, "get-serialno").decode() == f"{android.serial}\n"
    run(stock_adb, android, "wait-for-device")
    features = run(stock_adb, android, "features").decode().split()
    assert {"shell_v2", "cmd", "stat_v2", "ls_v2", "abb_exec", "sendrecv_v2"} <= set(features)
    assert "delayed_ack" not in features


@pytest.mark.parametrize("sdk", ["26", "30", "37"], ids="API {}".format)
def test_a_phone_of_any_release_can_be_connected(
    stock_adb: StockAdb, adb_keys: tuple[Path, ...], sdk: str, tmp_path: Path
) -> None:
    with start_phone(sdk=sdk, apps=False, adb_keys=adb_keys) as phone:
        stock_adb.connect(phone.serial)
        assert run(stock_adb, phone, "shell", "getprop ro.build.version.sdk").decode() == f"{sdk}\n"
        (tmp_path / "x").write_bytes(b"x" * 100_000)
        run(stock_adb, phone, "push", str(tmp_path / "x"), "/data/local/tmp/x")
        run(stock_adb, phone, "pull", "/data/local/tmp/x", str(tmp_path / "y"))
        assert (tmp_path / "y").read_bytes() == b"x" * 100_000
        stock_adb.run("disconnect", phone.serial)


def test_exit_status_and_standard_error_come_apart(android: VirtualPhone, stock_adb: StockAdb) -> None:
    result = stock_adb.on(android.serial, "shell", "echo out; echo err >&2; exit 37")
    assert (result.stdout, result.stderr, result.returncode) == (b"out\n", b"err\n", 37)
    for words in (("shell", "-x"), ("exec-out",)):
        assert run(stock_adb, android, *words, "echo out; echo err >&2; exit 37") == b"out\nerr\n"


HOSTILE = (
    "", " ", "'", '"', "\\", "`", "$(touch /data/local/tmp/canary)", "`touch /data/local/tmp/canary`", ";",
    "&", "|", ">x", "<x", "*", "?", "[a]", "~", "#", "!", "{a,b}", "$HOME", "-n", "--", "a\nb", "a\tb",
    "a\rb", "\x1b[31m", "ü", "日本", "😀", "\u202eabc", "=", "\x7f", "a b  c", "''", "\\'", "$'x'", "\\\n",
)  # fmt: skip


def test_hostile_arguments_arrive_as_they_were_given(android: VirtualPhone, stock_adb: StockAdb) -> None:
    generator = random.Random(5)
    texts = list(HOSTILE)
    alphabet = "".join(HOSTILE) + "abc"
    texts += ["".join(generator.choices(alphabet, k=generator.randint(1, 30))) for _ in range(300)]
    for start in range(0, len(texts), 40):
        batch = texts[start : start + 40]
        command = "printf '%s\\0' " + " ".join(map(shlex.quote, batch))
        output = run(stock_adb, android, "shell", command)
        assert output.decode().split("\0")[:-1] == batch
    assert not android.system.files.exists("/data/local/tmp/canary")


def test_input_reaches_the_command(android: VirtualPhone, stock_adb: StockAdb) -> None:
    content = bytes(range(256)) * 4000
    assert run(stock_adb, android, "shell", "cat", input=content) == content
    assert run(stock_adb, android, "shell", "wc -c", input=content).strip() == b"1024000"
    assert run(stock_adb, android, "exec-in", "cat > /data/local/tmp/in", input=content) == b""
    wait_until(lambda: android.system.files.exists("/data/local/tmp/in"))
    wait_until(lambda: android.system.files.stat("/data/local/tmp/in").size == len(content))


def test_a_piped_shell_runs_line_by_line_and_keeps_its_state(
    android: VirtualPhone, stock_adb: StockAdb
) -> None:
    script = b"X=kept\ncd /data/local\necho $X; pwd\nexit 5\necho never\n"
    result = stock_adb.on(android.serial, "shell", input=script)
    assert (result.stdout, result.returncode) == (b"kept\n/data/local\n", 5)


def test_50_megabytes_go_and_come_back(android: VirtualPhone, stock_adb: StockAdb, tmp_path: Path) -> None:
    content = random.Random(1).randbytes(LARGE)
    (tmp_path / "large").write_bytes(content)
    os.utime(tmp_path / "large", (1_700_000_000, 1_700_000_000))
    run(stock_adb, android, "push", str(tmp_path / "large"), "/data/local/tmp/large")
    assert android.system.files.stat("/data/local/tmp/large").modified == 1_700_000_000
    run(stock_adb, android, "pull", "-a", "/data/local/tmp/large", str(tmp_path / "back"))
    assert digest((tmp_path / "back").read_bytes()) == digest(content)
    assert (tmp_path / "back").stat().st_mtime == 1_700_000_000
    assert digest(run(stock_adb, android, "exec-out", "cat /data/local/tmp/large")) == digest(content)
    run(stock_adb, android, "shell", "rm /data/local/tmp/large")


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_folders_go_and_come_back(android: VirtualPhone, stock_adb: StockAdb, tmp_path: Path) -> None:
    tree = {"a": b"1", "empty": b"", "sub/ü b": b"2" * 70_000, "sub/deeper/c": b"3"}
    for name, content in tree.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    run(stock_adb, android, "push", str(tmp_path / "tree"), "/data/local/tmp/")
    run(stock_adb, android, "pull", "/data/local/tmp/tree", str(tmp_path / "back"))
    back = tmp_path / "back"
    files = {str(path.relative_to(back)): path.read_bytes() for path in back.rglob("*") if path.is_file()}
    assert files == tree
    listed = run(stock_adb, android, "ls", "/data/local/tmp/tree").decode()
    assert sorted(line.split(" ", 3)[3] for line in listed.splitlines()) == [".", "..", "a", "empty", "sub"]
    assert b"rw-rw-rw-" in run(stock_adb, android, "shell", "ls -l /data/local/tmp/tree/a")
    run(stock_adb, android, "push", "--sync", str(tmp_path / "tree"), "/data/local/tmp/")


def test_20_shells_at_once(android: VirtualPhone, stock_adb: StockAdb) -> None:
    def echo(number: int) -> bytes:
        return run(stock_adb, android, "shell", f"cat; echo {number}", input=b"%d:" % number * 20_000)

    with ThreadPoolExecutor(20) as pool:
        outputs = list(pool.map(echo, range(20)))
    assert outputs == [b"%d:" % number * 20_000 + b"%d\n" % number for number in range(20)]


def test_a_killed_client_ends_its_command_and_the_next_one_works(
    android: VirtualPhone, stock_adb: StockAdb
) -> None:
    before = ended(android)
    with subprocess.Popen(
        [stock_adb.program, "-s", android.serial, "shell", "echo started; cat /dev/zero"],
        env=stock_adb.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as client:
        assert client.stdout is not None
        assert client.stdout.read(100) == b"started\n" + bytes(92)
        client.send_signal(signal.SIGKILL)
    wait_until(lambda: ended(android) > before)
    assert run(stock_adb, android, "shell", "echo on") == b"on\n"


def test_disconnect_and_connect_again(android: VirtualPhone, stock_adb: StockAdb) -> None:
    for _ in range(5):
        assert stock_adb.run("disconnect", android.serial).returncode == 0
        assert stock_adb.on(android.serial, "shell", "echo x").returncode != 0
        stock_adb.connect(android.serial)
        assert run(stock_adb, android, "shell", "echo x") == b"x\n"


def test_a_phone_that_stops_is_gone_for_its_clients(stock_adb: StockAdb, adb_keys: tuple[Path, ...]) -> None:
    with start_phone(apps=False, adb_keys=adb_keys) as phone:
        stock_adb.connect(phone.serial)
        client = subprocess.Popen(
            [stock_adb.program, "-s", phone.serial, "shell", "cat"],
            env=stock_adb.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        wait_until(lambda: phone.log.of_kind("service"))
    with client:
        assert client.wait(120) != 0
    stock_adb.run("disconnect", phone.serial)


def test_what_was_sent_before_a_stream_was_closed_reaches_its_command(android: VirtualPhone) -> None:
    content = bytes(range(256)) * 400
    with DeviceHost(android.port) as host:
        host.connect()
        for number in range(1, 6):
            own = host.open(b"exec:sleep 0.05; cat > /data/local/tmp/whole", number)
            host.send(b"WRTE", number, own, content)
            host.send(b"CLSE", number, own)
            wait_until(lambda: android.system.files.exists("/data/local/tmp/whole"))
            wait_until(lambda: android.system.files.stat("/data/local/tmp/whole").size == len(content))
            assert android.system.files.read("/data/local/tmp/whole") == content
            android.system.files.remove("/data/local/tmp/whole")
            while host.receive().command != b"CLSE":
                pass


@pytest.mark.parametrize(("service", "closes_stream"), [
    pytest.param(b"shell,v2,raw:sleep 1000", False, id="with its client"),
    pytest.param(b"shell,v2,raw:sleep 1000", True, id="with its stream"),
    pytest.param(b"shell,pty:sleep 1000", True, id="on a terminal with its stream"),
])  # fmt: skip
def test_a_command_that_is_silent_ends(android: VirtualPhone, service: bytes, *, closes_stream: bool) -> None:
    before = ended(android)
    with DeviceHost(android.port) as host:
        host.connect()
        number = host.open(service)
        if closes_stream:
            host.send(b"CLSE", 7, number)
            wait_until(lambda: ended(android) > before)
    wait_until(lambda: ended(android) > before)


def test_a_phone_stops_though_commands_are_silent(adb_keys: tuple[Path, ...]) -> None:
    with start_phone(apps=False, server_port=0, adb_keys=adb_keys) as phone:
        host, client = DeviceHost(phone.port), ServerClient(phone.server_port or 0)
        host.connect()
        host.open(b"shell,v2,raw:sleep 1000")
        host.send(b"CLSE", 8, host.open(b"exec:sleep 1000", 8))
        client.open_on(phone.serial, b"shell:sleep 1000")
        wait_until(lambda: len(phone.log.of_kind("service")) == 3)
    with host, client:
        assert host.ends()
        assert client.ends()
    assert phone.log.of_kind("left-running") == []


def test_stock_adb_works_on_the_phone_s_own_server(android: VirtualPhone, stock_adb: StockAdb) -> None:
    environment = {**stock_adb.environment, "ANDROID_ADB_SERVER_PORT": str(android.server_port)}
    own = StockAdb(stock_adb.program, android.server_port or 0, environment)
    assert own.run("devices").stdout == f"List of devices attached\n{android.serial}\tdevice\n\n".encode()
    assert own.run("shell", "echo x; exit 3").returncode == 3
    assert own.run("-t", "1", "get-state").stdout == b"device\n"
    assert own.run("-d", "get-state").returncode == 1
    assert own.run("-e", "get-state").stdout == b"device\n"
    assert own.run("wait-for-device").returncode == 0
    kill = own.run("kill-server")
    assert own.run("get-state").stdout == b"device\n", kill
    assert str(android.log.of_kind("service")[-1]["service"]).endswith(":echo x; exit 3")

"""What discovery costs on a phone with 300 apps, and what a shell command costs by three ways.

Run it with `make bench`. The phone is the virtual one, in a process of its own, so each figure is our work
and the phone's, without a cable or a radio. Ten of the apps have 8 MiB of assets, as real ones may have. The
first discovery finds nothing kept, the second is of the unchanged phone.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import adbutils

from droidgate.devices.device import Device
from droidgate.devices.packages import list_packages
from droidgate.devices.remote_apk import file_statuses
from droidgate.devices.server import AdbServer, ServerAddress
from droidgate.formats import load_formats
from droidgate.sources.device import PhoneReading, PhoneRequest, read_phone
from droidgate.user_folders import HOME_VARIABLE

_PHONE = """
import random, sys
from droidgate.apk.pack import pack_project
from droidgate_phone.filler_packages import filler_files
from droidgate_phone.phone import start_phone
from droidgate_phone.sample_packages import signing_key
with start_phone(packages=int(sys.argv[1]), server_port=0) as phone:
    for number in range(9000, 9010):
        large = {"assets/extra.bin": random.Random(number).randbytes(8 << 20)}
        phone.install(pack_project({**filler_files(number), **large}, key=signing_key()))
    print(phone.server_port, phone.serial, flush=True)
    sys.stdin.read()
"""
_COMMAND = ("getprop", "ro.build.version.sdk")


@contextlib.contextmanager
def running_phone(packages: int) -> Iterator[Device]:
    """Start a phone in a process of its own and yield the handle of it."""
    arguments = [sys.executable, "-c", _PHONE, str(packages)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the phone's process has no pipes")
        port, serial = process.stdout.readline().split()
        try:
            yield Device(AdbServer(ServerAddress(port=int(port))), serial)
        finally:
            process.stdin.close()


def whole_bytes(device: Device) -> int:
    """Return the length of all APKs together: what a full pull would carry."""
    paths = [one.path for one in list_packages(device)]
    return sum(one.size for one in file_statuses(device, paths).values())


def discover(device: Device, *, every_app: bool) -> tuple[PhoneReading, float]:
    """Return what a discovery found, and the seconds that it took."""
    request = PhoneRequest(tuple(load_formats().values()), every_app=every_app)
    start = time.perf_counter()
    found = read_phone(device, request)
    return found, time.perf_counter() - start


def measure_discovery(device: Device) -> None:
    """Print a line for each discovery."""
    whole = whole_bytes(device)
    print(f"a full pull of all APKs: {whole:,} bytes")
    print(f"{'discovery':<26}{'seconds':>9}{'apps':>7}{'kept':>7}{'providers':>11}{'bytes':>13}{'reads':>7}")
    for every_app, name in ((False, "apps that answer"), (True, "every app (--all)")):
        with tempfile.TemporaryDirectory() as home:
            os.environ[HOME_VARIABLE] = home
            for turn in ("first", "second"):
                found, seconds = discover(device, every_app=every_app)
                providers = sum(len(one.providers) for one in found.apps)
                cost = f"{found.bytes_read:>13,}{found.requests:>7}"
                counts = f"{len(found.apps):>7}{found.kept:>7}{providers:>11}"
                print(f"{f'{name}, {turn}':<26}{seconds:>9.2f}{counts}{cost}")


def median_milliseconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median time of a piece of work, after one that is not counted."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def measure_round_trips(device: Device, rounds: int) -> None:
    """Print what one short shell command costs: by our client, by adbutils, by a process of adb."""
    port = device.server.address.port
    other = adbutils.AdbClient(host="127.0.0.1", port=port).device(device.serial)
    process = [adbutils.adb_path(), "-P", str(port), "-s", device.serial, "shell", *_COMMAND]
    ways: dict[str, Callable[[], object]] = {
        "droidgate": lambda: device.run(_COMMAND),
        "adbutils": lambda: other.shell(list(_COMMAND)),
        "adb process": lambda: subprocess.run(process, check=True, capture_output=True),
    }
    print(f"\none `{' '.join(_COMMAND)}`, median of {rounds}:")
    for name, work in ways.items():
        print(f"  {name:<14}{median_milliseconds(work, rounds):>8.2f} ms")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=int, default=300, help="how many apps besides the samples")
    parser.add_argument("--rounds", type=int, default=50, help="how often a shell command is run")
    chosen = parser.parse_args()
    with running_phone(chosen.packages) as device:
        measure_discovery(device)
        measure_round_trips(device, chosen.rounds)


if __name__ == "__main__":
    main()

"""What discovery costs on a phone with 300 apps, and what a shell command costs by three ways.

Run it with `make bench`. The phone is the virtual one, in a process of its own, so each figure is our work
and the phone's, without a cable or a radio. Ten of the apps have 8 MiB of assets, as real ones may have. The
first discovery finds nothing kept, the second is of the unchanged phone.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import adbutils  # type: ignore[import-untyped]
from _results import Results, median_seconds, parser, processes

from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import Device
from droidgate.sources.phone_source import PhoneReading, PhoneRequest, read_phone
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.user_folders import HOME_VARIABLE

_PHONE = """
import random, sys
from droidgate_android.apk.pack import pack_project
from droidgate_phone.apps.sample_packages import filler_files
from droidgate_phone.phone import start_phone
from droidgate_phone.apps.sample_packages import signing_key
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
            yield Device(AdbClient(ServerAddress(port=int(port))), serial)
        finally:
            process.stdin.close()


def discover(device: Device, *, every_app: bool) -> tuple[PhoneReading, float]:
    """Return what a discovery found, and the seconds that it took."""
    request = PhoneRequest(tuple(load_formats().values()), every_app=every_app)
    start = time.perf_counter()
    found = read_phone(device, request)
    return found, time.perf_counter() - start


def measure_discovery(results: Results, device: Device) -> None:
    """Measure each discovery."""
    columns = {
        "discovery": "",
        "seconds": ".2f",
        "apps read": ",",
        "apps kept": ",",
        "providers": ",",
        "bytes of APKs over adb": ",",
        "requests": ",",
    }
    table = results.table("discovery", columns)
    for every_app, name in ((False, "of the apps that answer"), (True, "of every app")):
        with tempfile.TemporaryDirectory() as home:
            os.environ[HOME_VARIABLE] = home
            for turn in ("first", "second"):
                found, seconds = discover(device, every_app=every_app)
                providers = sum(len(app.providers) for app in found.apps)
                counts = (len(found.apps) - found.kept, found.kept, providers)
                table.add(f"{name}, {turn}", seconds, *counts, found.bytes_read, found.requests)


def measure_round_trips(results: Results, device: Device, rounds: int) -> None:
    """Measure what one short shell command costs: by our client, by adbutils, by a process of adb."""
    port = device.server.address.port
    other = adbutils.AdbClient(host="127.0.0.1", port=port).device(device.serial)
    process = [adbutils.adb_path(), "-P", str(port), "-s", device.serial, "shell", *_COMMAND]
    ways: dict[str, Callable[[], object]] = {
        "droidgate": lambda: device.run(_COMMAND),
        "adbutils": lambda: other.shell(list(_COMMAND)),
        "adb process": lambda: subprocess.run(process, check=True, capture_output=True),
    }
    table = results.table("commands", {f"one `{' '.join(_COMMAND)}` by": "", "ms": ".2f"})
    for name, work in ways.items():
        table.add(name, median_seconds(work, rounds) * 1000)


def measure_calls(results: Results, device: Device, rounds: int) -> None:
    """Measure whole processes that call one capability, the app's reading being kept."""
    os.environ["ANDROID_ADB_SERVER_PORT"] = str(device.server.address.port)
    command = (
        sys.executable,
        "-m",
        "droidgate",
        "call",
        "summarizeNotes",
        "--yes",
        "--serial",
        device.serial,
    )
    table = results.table("calls", {"command": "", "ms": ".0f", "times `python -c pass`": ".1f"})
    with tempfile.TemporaryDirectory() as home:
        os.environ[HOME_VARIABLE] = home
        table.add("droidgate call", *processes({"": command}, rounds)[""])


def main() -> None:
    """Measure."""
    options = parser(__doc__)
    options.add_argument("--packages", type=int, default=300, help="how many apps in addition to the samples")
    chosen = options.parse_args()
    results = Results(chosen)
    with running_phone(10 if chosen.quick else chosen.packages) as device:
        measure_discovery(results, device)
        measure_round_trips(results, device, 1 if chosen.quick else 50)
        measure_calls(results, device, 1 if chosen.quick else 7)
    results.write()


if __name__ == "__main__":
    main()

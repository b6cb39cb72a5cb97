"""An adb server with one phone that answers at once, for benchmarks of what is above it.

    python benchmarks/_instant_phone.py        prints its port, then how many commands came for each line read

It answers the commands of MobileAgent's tools with a screen of 40 controls and a picture of 300 KB.
"""

from __future__ import annotations

import random
import re
import shlex
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from gateway.devices.fake_adb_server import Answer, FakeAdbServer  # found through the line above

SERIAL = "FAKE1234"
CONTROLS = 40
_PICTURE_BYTES = 300_000
_STEPS = re.compile(r"\s*(?:&&|;)\s*")
_FIELDS = 2
_STARTED = """\
Starting: Intent { act=android.intent.action.MAIN cmp=com.example.app1/.Main }
Status: ok
LaunchState: COLD
Activity: com.example.app1/.Main
TotalTime: 1
WaitTime: 1
Complete
"""
_PRINTED = {
    "getprop ro.product.model": "Instant Phone",
    "getprop ro.build.version.release": "16",
    "getprop ro.build.version.sdk": "36",
    "wm size": "Physical size: 1080x2400",
    "wm density": "Physical density: 420",
    "dumpsys battery": "  level: 85\n  status: 2",
}


def _picture() -> bytes:
    """Return a PNG file of about 300 KB; its pixels are noise, which does not pack."""
    side = int((_PICTURE_BYTES / 3) ** 0.5)
    rows = b"".join(b"\0" + random.Random(row).randbytes(3 * side) for row in range(side))  # noqa: S311
    parts = ((b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 1)))
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (*parts, (b"IEND", b""))
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _hierarchy() -> str:
    nodes = "".join(
        f'<node index="{row}" text="Field {row}" resource-id="a.b:id/field{row}" '
        f'class="android.widget.{"EditText" if row < _FIELDS else "Button"}" package="a.b" content-desc="" '
        f'clickable="true" bounds="[0,{row * 50}][1080,{row * 50 + 48}]" />'
        for row in range(CONTROLS)
    )
    head = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    return f'{head}<hierarchy rotation="0">{nodes}</hierarchy>'


PICTURE = _picture()
HIERARCHY = _hierarchy()


def shell(command: str, stdin: bytes) -> Answer:
    """Answer a command of the shell."""
    del stdin
    if command.startswith("screencap"):
        return Answer(PICTURE)
    words = shlex.split(command)
    script = words[2] if words[:2] == ["sh", "-c"] else command
    return Answer("".join(map(_answer, _STEPS.split(script))).encode())


def _answer(step: str) -> str:
    if step.startswith("echo "):
        return f"{step[5:]}\n"
    if step.startswith("cat "):
        return HIERARCHY
    if step.startswith("pm list packages"):
        return "".join(f"package:com.example.app{number}\n" for number in range(60))
    if "query-activities" in step:
        return "com.example.app1/.Main\n"
    if step.startswith("am start"):
        return _STARTED
    return f"{_PRINTED[step]}\n" if step in _PRINTED else ""


def main() -> None:
    """Run until standard input ends."""
    with FakeAdbServer(shell=shell) as server:
        print(server.port, SERIAL, flush=True)
        for _ in sys.stdin:
            print(sum(request.startswith("shell") for request in server.requests), flush=True)


if __name__ == "__main__":
    main()

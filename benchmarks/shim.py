"""What it costs to build a shim. Run it with `make bench`."""

from __future__ import annotations

import hashlib
import io
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from _results import Results, Table, median_seconds, parser

from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.pack import pack_project
from droidgate_phone.apps.agent import ACTION_MOBILE_MCP
from droidgate_phone.apps.sample_packages import signing_key
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import build_shims

CAPABILITIES = 50


def cpu_milliseconds(work: Callable[[], object], rounds: int, times: int) -> float:
    """Return the median of several rounds' processor time of one run."""
    return median_seconds(lambda: [work() for _ in range(times)], rounds, time.process_time) / times * 1000


COLUMNS = {"": "", "ms": ".3f", "times the floor": ".1f", "aim, ms": "g"}


def many_capabilities(count: int) -> dict[str, bytes]:
    """Return the source set of a Mobile-MCP app with so many capabilities of a usual size."""
    capabilities = "".join(
        f'<capability id="entry_{number}" description="Looks up entry {number} of the book" version="1.0">'
        '<input><param name="title" type="string" required="true" description="Title of the entry" />'
        '<param name="limit" type="integer" required="false" description="How many at most" />'
        '<param name="exact" type="boolean" required="false" description="Whole words only" /></input>'
        '<output><param name="found" type="boolean" description="Whether there is any" />'
        '<param name="entries" type="array" description="The entries" /></output></capability>'
        for number in range(count)
    )
    meta_data = {
        "name": 'value="Book"',
        "description": 'value="A book of entries"',
        "capabilities": 'resource="@xml/mcp_capabilities"',
    }
    attributes = "".join(
        f'<meta-data android:name="mobile.mcp.tool.{name}" android:{value} />'
        for name, value in meta_data.items()
    )
    manifest = (
        '<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="dev.droidgate.book">'
        '<application android:label="Book"><service android:name=".Tools" android:exported="true">'
        f'<intent-filter><action android:name="{ACTION_MOBILE_MCP}" /></intent-filter>{attributes}'
        "</service></application></manifest>"
    )
    document = f'<mobile-mcp-capabilities version="1.0">{capabilities}</mobile-mcp-capabilities>'
    return {
        "AndroidManifest.xml": manifest.encode(),
        "res/xml/mcp_capabilities.xml": document.encode(),
    }


def measure_build(table: Table, folder: Path, rounds: int) -> bool:
    """Measure building a shim of an app that is read already; return whether it has everything."""
    key = signing_key()
    path = folder / "source.apk"
    path.write_bytes(pack_project(many_capabilities(CAPABILITIES), key=key))
    apps = read_source_apps([str(path)])
    (built,) = build_shims(apps, ShimOptions(), key)
    with zipfile.ZipFile(io.BytesIO(built.apk)) as archive:
        entries = {item.filename: archive.read(item) for item in archive.infolist()}

    def floor() -> None:
        # What no builder can leave out: each entry deflated, digested twice, and one signature.
        with zipfile.ZipFile(io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as written:
            for name, data in entries.items():
                written.writestr(name, data)
        key.sign(
            b"".join(hashlib.sha256(hashlib.sha256(entry).digest()).digest() for entry in entries.values())
        )

    ours = cpu_milliseconds(lambda: build_shims(apps, ShimOptions(), key), rounds, 3)
    least = cpu_milliseconds(floor, rounds, 3)
    table.add(f"building a shim of {CAPABILITIES} capabilities, warm", ours, ours / least, 60)
    return len(built.capabilities) == CAPABILITIES


def main() -> int:
    """Measure; return 1 where the shim lacks a capability."""
    chosen = parser(__doc__).parse_args()
    results, rounds = Results(chosen), 1 if chosen.quick else 7
    with tempfile.TemporaryDirectory() as name:
        right = measure_build(results.table("building", COLUMNS), Path(name), rounds)
    results.write()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

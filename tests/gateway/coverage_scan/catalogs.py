"""Small ecosystems to scan, and catalogs to compare."""

from pathlib import Path
from typing import Any

from droidgate.coverage.process_pool import PoolSettings
from droidgate.coverage.scan import ScanOptions, ScanResult, run_scan
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.catalog_rows import TABLES
from droidgate_android.apk.pack import pack_project
from droidgate_phone.apps.sample_packages import filler_package, sample_packages, signing_key
from split_apks import pack_base_and_split

SAMPLES = len(sample_packages())
Rows = dict[str, list[tuple[Any, ...]]]


def write_apps(folder: Path, count: int = 20) -> Path:
    """Write so many small apps, of which four in ten declare something, and the sample apps."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"filler{number:03d}.apk").write_bytes(filler_package(number))
    for sample_package in sample_packages():
        (folder / f"{sample_package.name}.apk").write_bytes(sample_package.apk)
    return folder


def scan_into(folder: Path, *sources: str | Path, **options: Any) -> ScanResult:
    """Scan sources into a catalog; options are those of `PoolSettings`, `ScanOptions` and `run_scan`."""
    pool = {name: options.pop(name) for name in ("workers", "memory", "deadline", "work") if name in options}
    more = {name: options.pop(name) for name in ("watcher", "make_executor") if name in options}
    names = [str(source) for source in sources]
    return run_scan(names, folder, ScanOptions(**options), pool=PoolSettings(**pool), **more)


def rows_of(catalog: Catalog) -> Rows:
    """Return every row of every table, in the order of the files."""
    connection = catalog.connect()
    return {name: connection.execute(f"FROM {name}").fetchall() for name in TABLES}


def ask(catalog: Catalog, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows that a query gives."""
    rows: list[tuple[Any, ...]] = catalog.connect().execute(sql).fetchall()
    return rows


# Apps made for one question each


_ANDROID = 'xmlns:android="http://schemas.android.com/apk/res/android"'
PLAIN = "Says the time."


def tool_files(package: str, *, description: str = PLAIN, permission: str | None = None) -> dict[str, bytes]:
    """Return the source tree of a Mobile-MCP app with two capabilities."""
    guarded = "" if permission is None else f' android:permission="{permission}"'
    manifest = f"""<?xml version="1.0" encoding="utf-8"?>
<manifest {_ANDROID} package="{package}">
    <application android:label="@string/app_name">
        <service android:name=".ToolService" android:exported="true"{guarded}>
            <intent-filter><action android:name="mobile.mcp.SERVICE" /></intent-filter>
            <meta-data android:name="mobile.mcp.tool.name" android:value="Clock" />
            <meta-data android:name="mobile.mcp.tool.description" android:value="A clock" />
            <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/capabilities" />
        </service>
    </application>
</manifest>
"""
    descriptor = f"""<?xml version="1.0" encoding="utf-8"?>
<mobile-mcp-capabilities version="1.0">
    <capability id="say_time" description="{description}" version="1.0">
        <input>
            <param name="zone" type="string" required="true" description="A time zone" />
            <param name="seconds" type="boolean" required="false" />
        </input>
    </capability>
    <capability id="set_alarm" description="Sets an alarm." version="1.0">
        <input><param name="at" type="string" required="true" description="When" /></input>
    </capability>
</mobile-mcp-capabilities>
"""
    return {
        "AndroidManifest.xml": manifest.encode(),
        "res/values/strings.xml": b'<resources><string name="app_name">Clock</string></resources>',
        "res/values-de/strings.xml": b'<resources><string name="app_name">Uhr</string></resources>',
        "res/xml/capabilities.xml": descriptor.encode(),
    }


def tool_app(package: str, *, version: int = 1, **options: str) -> bytes:
    """Return the APK of such an app."""
    return pack_project(tool_files(package, **options), key=signing_key(), version_code=version)


def split_app(package: str) -> tuple[bytes, bytes]:
    """Return such an app as base and language split."""
    files = tool_files(package)
    return pack_base_and_split(files, key=signing_key(), package=package, version_code=3)

"""Apps made for one question each."""

from droidgate_android.apk.pack import pack_project, pack_split
from droidgate_phone.apps.sample_packages import signing_key

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
    base = pack_project(files, key=signing_key(), version_code=3, without_qualifiers=["de"])
    return base, pack_split(files, key=signing_key(), qualifier="de", package=package, version_code=3)

"""Small descriptors of our own, and ways to put them on disk."""

import json
from pathlib import Path
from typing import Any

from gateway.sources.formats_of_tests import write_tree

# Mobile-MCP 1.0, typed by hand from the public specification's example of 14 February 2026.
TIMER = """<?xml version="1.0" encoding="utf-8"?>
<mobile-mcp-capabilities version="1.0">
    <capability id="start_timer" description="Starts a timer" version="1.0">
        <input>
            <param name="minutes" type="integer" required="true" description="How long" />
            <param name="label" type="string" required="false" description="What for" />
        </input>
        <output>
            <param name="timer" type="string" description="The timer's name" />
        </output>
    </capability>
    <capability id="stop_timer" description="Stops every timer" version="1.0" />
</mobile-mcp-capabilities>
"""

TIMER_MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="app.timer">
    <application android:label="Timer">
        <service android:name=".TimerService" android:exported="true">
            <intent-filter>
                <action android:name="mobile.mcp.SERVICE" />
            </intent-filter>
            <meta-data android:name="mobile.mcp.tool.name" android:value="Timer" />
            <meta-data android:name="mobile.mcp.tool.description" android:value="Keeps time" />
            <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/timer" />
        </service>
    </application>
</manifest>
"""

# MCP 2025-11-25, `tools/list`: https://modelcontextprotocol.io/specification/2025-11-25/server/tools
TOOLS: dict[str, Any] = {
    "tools": [
        {
            "name": "paint",
            "title": "Paint",
            "description": "Paints a wall",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "colour": {"type": "string", "enum": ["red", "blue"], "description": "Which"},
                    "coats": {"type": "integer", "minimum": 1, "default": 2},
                },
                "required": ["colour"],
            },
            "annotations": {"destructiveHint": True},
        },
        {"name": "wash", "inputSchema": {"type": "object"}},
    ]
}


def write_bare_project(folder: Path) -> Path:
    """Write an Android project that has a manifest and nothing else, and return its folder."""
    manifest = '<manifest package="com.example.app"><application/></manifest>'
    return write_tree(folder, {"src/main/AndroidManifest.xml": manifest})


def write_project(folder: Path, *, manifest: str = TIMER_MANIFEST, descriptor: str = TIMER) -> Path:
    """Write an Android project with one Mobile-MCP service and return its folder."""
    files = {"AndroidManifest.xml": manifest, "res/xml/timer.xml": descriptor}
    return write_tree(folder, {f"app/src/main/{name}": text for name, text in files.items()})


def write_tools(path: Path, tools: Any = None) -> Path:
    """Write a `tools/list` result and return its path."""
    path.write_text(json.dumps(TOOLS if tools is None else tools))
    return path


def hostile_tools() -> dict[str, Any]:
    """Return a `tools/list` whose texts try to steer terminals and markup."""
    text = "\x1b]0;owned\x07\x1b[31mred\x1b[0m \u202egnp.exe\u2066 [bold]loud[/bold] \x9b2J\r\nsecond line"
    properties = {"\x1b[2J": {"type": "string", "description": text, "enum": [text]}}
    schema = {"type": "object", "properties": properties}
    return {"tools": [{"name": "bad\x1b[31m", "title": text, "description": text, "inputSchema": schema}]}

"""The apps around the shim in the tests on Robolectric, as signed APKs: agents, and tools of each kind.

What they do is Java, in device_shim/android/robolectric; what they say about themselves is in `apps`.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lxml import etree

from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import SigningKey, make_key
from droidgate_shim.builder.dex import shim_dex

ANDROID = "http://schemas.android.com/apk/res/android"
FIRST_UID = 10_101
TOOLS = ("desk", "radio", "clock", "notes")
PROJECTS = Path(__file__).parent / "apps"

RADIO_TOOLS = [["forecast", "Say the weather.", '{"place":"string"}']]


@dataclass(frozen=True)
class ToolApp:
    """One app of the tests.

    Attributes:
        name: What the tests call it.
        package: Its application id.
        files: Its project, relative to `src/main`.
        uid: Whom Android knows it as.
        key: What it is signed with.
    """

    name: str
    package: str
    files: Mapping[str, bytes]
    uid: int
    key: SigningKey

    def apk(self) -> bytes:
        """Return its APK."""
        return pack_project(
            self.files, key=self.key, version_code=7, version_name="7", minimum_sdk=24, target_sdk=36
        )


def project_files(name: str) -> dict[str, bytes]:
    """Return the files of a project in `apps`, by their paths in it."""
    folder = PROJECTS / name
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def declared_text(name: str) -> str:
    """Return what the manifest of a project says about its tools."""
    manifest = etree.fromstring(project_files(name)["AndroidManifest.xml"])
    (meta_data,) = manifest.iter("meta-data")
    return str(meta_data.get(f"{{{ANDROID}}}value"))


@cache
def tool_apps() -> dict[str, ToolApp]:
    """Return the apps by name, each with a key of its own."""
    apps = {}
    for uid, name in enumerate((*TOOLS, "agent"), FIRST_UID):
        package, key = f"dev.droidgate.proof.{name}", make_key(common_name=name)
        apps[name] = ToolApp(name, package, project_files(name), uid, key)
    return apps


def digest_of_text(text: str) -> str:
    """Return what the recipe `mmcp` gives (shim.md 5)."""
    return "mmcp:" + hashlib.sha256(text.encode()).hexdigest()


def digest_of_capabilities(source: str) -> str:
    """Return what the recipe `mobile-mcp` gives for the text of a capabilities file (shim.md 5)."""

    def escaped(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    events: list[str] = []

    def walk(element: etree._Element) -> None:
        attributes = sorted((str(name), str(value)) for name, value in element.attrib.items())
        pairs = "".join(f" {name}={escaped(value)}" for name, value in attributes)
        events.append(f"<{element.tag!s}{pairs}>")
        for child in element:
            walk(child)
        events.append(f"</{element.tag!s}>")

    walk(etree.fromstring(source.encode(), etree.XMLParser(remove_blank_text=True, resolve_entities=False)))
    return "mobile-mcp:" + hashlib.sha256("".join(events).encode()).hexdigest()


def digest_of_tools(tools: list[list[str]]) -> str:
    """Return what the recipe `broadcast` gives (shim.md 5)."""
    text = json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return "broadcast:" + hashlib.sha256(text.encode()).hexdigest()


def digest_of_assets(names: str, data: bytes) -> str:
    """Return what the recipe `assets` gives (shim.md 5)."""
    return f"assets({names}):" + hashlib.sha256(data).hexdigest()


# A shim for the apps, typed from shim.md; its project is in apps/shim


APPLICATION_ID = "dev.droidgate.shim"
BUILD = "5e" * 32


def _target(app: str, digest: str) -> dict[str, object]:
    tool_app = tool_apps()[app]
    return {"package": tool_app.package, "signer": tool_app.key.digest, "version_code": 7, "digest": digest}


def _targets() -> dict[str, dict[str, object]]:
    """Return the targets by the names that `routes.json` has for them."""
    clock = {name: project_files("clock")[f"res/xml/{name}.xml"].decode() for name in ("clock", "lamp")}
    functions = project_files("notes")["assets/app_functions.xml"]
    return {
        "desk": _target("desk", digest_of_text(declared_text("desk"))),
        "radio": _target("radio", digest_of_tools(RADIO_TOOLS)),
        "clock": _target("clock", digest_of_capabilities(clock["clock"])),
        "lamp": _target("clock", digest_of_capabilities(clock["lamp"])),
        "notes": _target("notes", digest_of_assets("app_functions.xml", functions)),
    }


def _policy(routes: list[dict[str, object]]) -> dict[str, object]:
    apps = ((name, tool_apps()[name]) for name in TOOLS)
    sources = [
        {"package": app.package, "label": f"The {name}", "signer": app.key.digest, "version_code": 7}
        for name, app in apps
    ]
    functions = {str(route["id"]): route["id"] for route in routes}
    return {
        "limits": {"burst": 100_000, "per_minute": 100_000},
        "app": {"handshake": 1, "build": BUILD, "sources": sources, "functions": functions},
    }


@cache
def hand_made_shim() -> bytes:
    """Return the shim's APK: each kind of backend behind it, each frontend, and the code that ships."""
    files, targets, dex = project_files("shim"), _targets(), shim_dex()
    assert dex is not None
    routes = [
        {**route, "target": targets[route["target"]]} for route in json.loads(files["assets/routes.json"])
    ]
    files["assets/routes.json"] = json.dumps({"format": 1, "routes": routes}).encode()
    files["assets/policy.json"] = json.dumps(_policy(routes)).encode()
    key = make_key(common_name="shim")
    return pack_project(
        files, key=key, version_code=1, version_name="1", minimum_sdk=24, target_sdk=36, dex=[dex]
    )

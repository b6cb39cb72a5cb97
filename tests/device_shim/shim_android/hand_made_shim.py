"""A shim for the tests' own apps, typed from docs/shim.md: it knows nothing of the builder.

Its project is in `apps/shim`; what depends on keys and digests is added here.
"""

import json
from functools import cache

from device_shim.shim_android.tool_apps import (
    RADIO_TOOLS,
    TOOLS,
    declared_text,
    digest_of_assets,
    digest_of_capabilities,
    digest_of_text,
    digest_of_tools,
    project_files,
    tool_apps,
)
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import make_key
from droidgate_shim.builder.dex import shim_dex

APPLICATION_ID = "dev.droidgate.shim"
BUILD = "5e" * 32


def _target(app: str, digest: str) -> dict[str, object]:
    made = tool_apps()[app]
    return {"package": made.package, "signer": made.key.digest, "version_code": 7, "digest": digest}


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
    return {
        "limits": {"burst": 100_000, "per_minute": 100_000},
        "app": {
            "handshake": 1,
            "build": BUILD,
            "sources": [
                {
                    "package": tool_apps()[name].package,
                    "label": f"The {name}",
                    "signer": tool_apps()[name].key.digest,
                    "version_code": 7,
                }
                for name in TOOLS
            ],
            "functions": {str(route["id"]): route["id"] for route in routes},
        },
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
    return pack_project(
        files,
        key=make_key(common_name="shim"),
        version_code=1,
        version_name="1",
        minimum_sdk=24,
        target_sdk=36,
        dex=[dex],
    )

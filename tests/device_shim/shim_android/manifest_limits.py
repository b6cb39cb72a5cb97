"""APKs with texts of the manifest as long as Android 15 and later allow, and one character longer."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

from device_shim.shim_builder.built_samples import KEY, shim_of, source_app
from droidgate_android.apk import pack as packing
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.pack import Packing, pack
from droidgate_android.apk.packed_manifest import AppFacts
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.types import ObjectType

PACKAGE = "com.acme.limits"
META_DATA = 32_768
NAME = 1_024
ALL_META_DATA = 262_144


@dataclass(frozen=True)
class LimitApk:
    """An APK that was packed, and whether newer releases refuse it."""

    packing: Packing
    refused: bool


def _service(attributes: str = "", inner: str = "") -> str:
    return f'<service android:name="a.B" android:exported="true" {attributes}>{inner}</service>'


def _meta_data(value: str, name: str = "held") -> str:
    return f'<meta-data android:name="{name}" {value}/>'


def _app(component: str, strings: Mapping[str, str] | None = None) -> Packing:
    tree = {
        "AndroidManifest.xml": f'<manifest xmlns:android="http://schemas.android.com/apk/res/android" '
        f'package="{PACKAGE}"><application>{component}</application></manifest>',
        "res/raw/long_text.json": "j" * 40_000,
        "res/values/texts.xml": "<resources>"
        + "".join(f'<string name="{name}">{text}</string>' for name, text in (strings or {}).items())
        + "</resources>",
    }
    facts = AppFacts(package=PACKAGE, minimum_sdk=24, target_sdk=36)
    return pack({path: text.encode() for path, text in tree.items()}, key=KEY, facts=facts)


def _packings(more: int) -> dict[str, Packing]:
    """Return the apps whose texts are this many characters over their limits."""
    value = "v" * (META_DATA + more)
    full = "".join(_meta_data(f'android:value="{"v" * META_DATA}"', f"held{number}") for number in range(8))
    rest = _meta_data(f'android:value="{"v" * more}"', "rest") if more else ""
    assert 8 * META_DATA == ALL_META_DATA
    return {
        "value": _app(_service(inner=_meta_data(f'android:value="{value}"'))),
        "emoji": _app(_service(inner=_meta_data(f'android:value="{"😀" * (META_DATA // 2)}{"v" * more}"'))),
        "string": _app(_service(inner=_meta_data('android:value="@string/text"')), {"text": value}),
        "string-resource": _app(
            _service(inner=_meta_data('android:resource="@string/text"')), {"text": value}
        ),
        "label": _app(_service(f'android:label="{value}"')),
        "permission": _app(_service(f'android:permission="{"p" * (NAME + more)}"')),
        "class": _app(f'<receiver android:name="a.{"C" * (NAME - 2 + more)}" android:exported="true"/>'),
        "together": _app(_service(inner=full + rest)),
    }


def manifest_for_agents(apk: bytes) -> str:
    """Return the text of a shim's mMCP manifest."""
    with open_apk(apk) as opened:
        activities = [*read_application(opened).of_kind("activity")]
    component = next(
        activity for activity in activities if activity.name == "dev.droidgate.shim.frontends.MmcpActivity"
    )
    meta_data = component.find_meta_data("mMCP_manifest")
    assert meta_data is not None
    assert isinstance(meta_data.value, str)
    return meta_data.value


def _shims(more: int) -> Packing:
    """Return a shim whose mMCP manifest is this many characters over the limit."""
    packings: list[Packing] = []

    def packed(tree: Mapping[str, bytes], **options: Any) -> Packing:
        manifest = tree["AndroidManifest.xml"].replace(b"xxx", b"xxx" + b"x" * more, 1)
        packings.append(pack({**tree, "AndroidManifest.xml": manifest}, **options))
        return packings[-1]

    def build(filler: int) -> bytes:
        tool = Capability(id="tool", description="x" * filler, input=ObjectType())
        return shim_of(source_app(tool), advertise=frozenset({"mmcp"})).apk

    rest = META_DATA - len(manifest_for_agents(build(3)))
    with patch.object(packing, "pack", packed):
        apk = build(3 + rest)
    assert len(manifest_for_agents(apk)) == META_DATA + more
    return packings[0]


@cache
def limit_apks() -> dict[str, LimitApk]:
    """Return the APKs by name."""
    allowed, longer = ({**_packings(more), "shim": _shims(more)} for more in (0, 1))
    whole = {f"allowed-{name}": LimitApk(item, refused=False) for name, item in allowed.items()}
    whole |= {f"longer-{name}": LimitApk(item, refused=True) for name, item in longer.items()}
    raw = _app(_service(inner=_meta_data('android:resource="@raw/long_text"')))
    described = _app(_service('android:description="@string/text"'), {"text": "d" * 40_000})
    unread = {"allowed-raw": raw, "allowed-description": described}
    return whole | {name: LimitApk(item, refused=False) for name, item in unread.items()}

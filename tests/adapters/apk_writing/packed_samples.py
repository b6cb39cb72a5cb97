"""Keys, source trees and outside tools that the tests of packing share."""

import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import KeyType, SigningKey, make_key
from requirements_of_tests import CHECKOUT

EVERYTHING = Path(__file__).parent / "sample_tree"
SAMPLE_MODULES = ("clock-in/app", "pdf-tool/app", "weather/app", "notes/app", "notes/legacy")

SMALL_MANIFEST = b"""<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="a.b">
<application/></manifest>"""


@cache
def signing_key(key_type: KeyType) -> SigningKey:
    return make_key(key_type)


def module_folder(name: str) -> Path:
    return CHECKOUT / "device_shim/apps" / name


def tree_of(folder: Path) -> dict[str, bytes]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@cache
def packed_module(name: str, key_type: KeyType = "ec", minimum_sdk: int | None = None) -> bytes:
    return pack_project(module_folder(name), key=signing_key(key_type), minimum_sdk=minimum_sdk)


def pack_tree(files: Mapping[str, str | bytes], *, manifest: bytes = SMALL_MANIFEST) -> bytes:
    tree = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    return pack_project({"AndroidManifest.xml": manifest, **tree}, key=signing_key("ec"))


def values(*elements: str) -> dict[str, str]:
    return {"res/values/values.xml": f"<resources>{''.join(elements)}</resources>"}


def run_tool(*command: str | Path, succeeds: bool = True) -> str:
    run = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, timeout=100
    )
    output = run.stdout + run.stderr
    assert (run.returncode == 0) == succeeds, output
    return output


def build_with_aapt2(aapt2: Path, framework: Path, folder: Path, work: Path, *options: str) -> Path:
    """Return the unsigned APK that Android's own compiler makes of a source set."""
    compiled, linked = work / "compiled.zip", work / "linked.apk"
    run_tool(aapt2, "compile", "--dir", folder / "res", "-o", compiled)
    assets = ("-A", str(folder / "assets")) if (folder / "assets").is_dir() else ()
    run_tool(
        *(aapt2, "link", "-o", linked, "-I", framework, "--manifest", folder / "AndroidManifest.xml"),
        *("--auto-add-overlay", "--no-auto-version", "--warn-manifest-validation", *assets, *options),
        compiled,
    )
    return linked


def xml_dump(aapt2: Path, apk: Path, name: str) -> list[str]:
    """Return `aapt2 dump xmltree` without what the two compilers decide for themselves.

    Left out: which SDK the compiler had, prefixes of namespaces, and indentation, which counts namespaces.
    """
    lines = run_tool(aapt2, "dump", "xmltree", apk, "--file", name).splitlines()
    text = (line for line in lines if not re.search(r"compileSdkVersion|platformBuildVersion|^ *N: ", line))
    return [line.strip() for line in text]


def resource_dump(aapt2: Path, apk: Path) -> str:
    """Return `aapt2 dump resources` with names in place of ids.

    aapt2 numbers the styleables too, of which an APK holds none, and takes a release off a qualifier where
    every device that the app is for has it.
    """
    dump = run_tool(aapt2, "dump", "resources", apk)
    dump = re.sub(r"type (\w+) id=[0-9a-f]+", r"type \1", dump)
    dump = re.sub(r"(?<=[(/-])([\w+-]*?)-v(?:4|8|13)(?=[)/])", r"\1", dump)
    return _with_names(dump, dump)


def _with_names(text: str, dump: str) -> str:
    for resource_id, name in re.findall(r"resource (0x7f[0-9a-f]{6}) (\S+)", dump):
        text = text.replace(resource_id, name)
    return text


def named_ids(lines: list[str], aapt2: Path, apk: Path) -> list[str]:
    """Return lines with resources' names in place of the ids that they have in this APK."""
    return _with_names("\n".join(lines), run_tool(aapt2, "dump", "resources", apk)).splitlines()

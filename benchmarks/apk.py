"""How fast an APK is read, next to other readers on the same files in the same run.

Run it with `make bench`. Everybody opens the file, and reads the manifest with components, filters and
meta-data, the label and the descriptors that meta-data point to; a reader that cannot do the last is
marked and does less. Every answer is compared with aapt2's before anything is measured.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from _results import Results, median_seconds, parser

from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.reader import open_apk

CHECKOUT = Path(__file__).resolve().parent.parent
FRAMEWORK = Path("/usr/share/android-framework-res/framework-res.apk")
ANDROID = "http://schemas.android.com/apk/res/android"
STRINGS, LOCALES, ACTIVITIES = 2_000, ("", "-de", "-fr", "-ja", "-ar"), 2_000


@dataclass(frozen=True)
class Facts:
    """What everybody has to find: the package, the label, and how many services and activities there are."""

    package: str
    label: str | None
    services: int
    activities: int


Read = Callable[[Path], Facts]


def read_ours(path: Path) -> Facts:
    """Read an APK with droidgate, descriptors, arrays and signers included."""
    with open_apk(path) as apk:
        application = read_application(apk)
        for component in application.components:
            for entry in (*component.meta_data, *component.properties):
                if entry.resource is not None and entry.resource.startswith(("@xml/", "@raw/")):
                    application.resources.read_file(entry.resource)
        elements = next(apk.manifest.child_elements("application"))
        aliases = len(list(elements.child_elements("activity-alias")))
        kinds = [component.kind for component in application.components]
        return Facts(
            apk.package, application.label, kinds.count("service"), kinds.count("activity") - aliases
        )


def read_apk_info(path: Path) -> Facts:
    """Read an APK with apk-info, which does not read compiled files of res/xml."""
    import apk_info

    apk = apk_info.APK(str(path))
    services, activities = list(apk.get_services()), list(apk.get_activities())
    list(apk.get_receivers())
    list(apk.get_providers())
    apk.get_signatures()
    return Facts(
        apk.get_package_name() or "", apk.get_application_label() or None, len(services), len(activities)
    )


def read_androguard(path: Path) -> Facts:
    """Read an APK with androguard."""
    from androguard.core.apk import APK
    from androguard.core.axml import AXMLPrinter
    from loguru import logger

    logger.disable("androguard")
    apk = APK(str(path))
    return _read_like_androguard(apk, AXMLPrinter)


def read_pyaxmlparser(path: Path) -> Facts:
    """Read an APK with pyaxmlparser."""
    from pyaxmlparser import APK
    from pyaxmlparser.axmlprinter import AXMLPrinter

    return _read_like_androguard(APK(str(path)), AXMLPrinter)


def _read_like_androguard(apk: object, printer: type) -> Facts:
    services, activities = apk.get_services(), apk.get_activities()  # type: ignore[attr-defined]
    for service in services:
        apk.get_intent_filters("service", service)  # type: ignore[attr-defined]
    resources = apk.get_android_resources()  # type: ignore[attr-defined]
    manifest = apk.get_android_manifest_xml()  # type: ignore[attr-defined]
    for entry in (*manifest.iter("meta-data"), *manifest.iter("property")):
        reference = entry.get(f"{{{ANDROID}}}resource")
        if reference is not None and resources is not None and reference[1:].startswith("7F"):
            for _, file in resources.get_resolved_res_configs(int(reference[1:], 16)):
                if isinstance(file, str) and file.startswith("res/xml"):
                    printer(apk.get_file(file)).get_xml_obj()  # type: ignore[attr-defined]
    label = apk.get_app_name() or None  # type: ignore[attr-defined]
    return Facts(apk.get_package(), label, len(services), len(activities))  # type: ignore[attr-defined]


def read_aapt2(path: Path) -> Facts:
    """Read an APK with aapt2, in processes of its own; its facts are what the others are compared with."""
    tree = _aapt2("dump", "xmltree", "--file", "AndroidManifest.xml", path)
    badging = _aapt2("dump", "badging", path)
    lines = badging.splitlines()
    package = lines[0].partition("name='")[2].partition("'")[0]
    label = badging.partition("\napplication: label='")[2].partition("'")[0]
    starts = [line.split()[1] for line in tree.splitlines() if line.lstrip().startswith("E:")]
    return Facts(package, label or None, starts.count("service"), starts.count("activity"))


def _aapt2(*arguments: object) -> str:
    command = ["aapt2", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


READERS: Mapping[str, Read] = {
    "droidgate": read_ours,
    "apk-info": read_apk_info,
    "androguard": read_androguard,
    "pyaxmlparser": read_pyaxmlparser,
    "aapt2": read_aapt2,
}
_DOES_LESS = {"apk-info": "reads no compiled res/xml"}
_PACKAGES = {"apk-info": "apk_info", "androguard": "androguard", "pyaxmlparser": "pyaxmlparser"}


def made_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield names and paths of the APKs to read: the samples, an app of many strings, one of many components,
    those that installed packages ship, and Android's own resources.
    """
    for sample in ("clock-in", "notes", "pdf-tool"):
        yield sample, link(CHECKOUT / "device_shim/apps" / sample / "app/src/main", folder / f"{sample}.apk")
    yield f"{STRINGS:,} strings x {len(LOCALES)}", link(many_strings(folder / "strings"), folder / "s.apk")
    yield f"{ACTIVITIES:,} activities", link(many_activities(folder / "activities"), folder / "a.apk")
    shipped = importlib.util.find_spec("uiautomator2")
    if shipped is not None and shipped.origin is not None:
        yield "uiautomator2", next((Path(shipped.origin).parent / "assets").glob("*.apk"))
    yield "framework-res", FRAMEWORK


def link(source: Path, apk: Path) -> Path:
    """Build a source set with aapt2."""
    extra: list[object] = []
    if (source / "res").is_dir():
        _aapt2("compile", "--dir", source / "res", "-o", apk.with_suffix(".zip"))
        extra.append(apk.with_suffix(".zip"))
    if (source / "assets").is_dir():
        extra += ["-A", source / "assets"]
    manifest = source / "AndroidManifest.xml"
    _aapt2("link", "-o", apk, "-I", FRAMEWORK, "--manifest", manifest, "--warn-manifest-validation", *extra)
    return apk


def many_strings(source: Path) -> Path:
    """Write an app with many strings in several languages."""
    for locale in LOCALES:
        folder = source / f"res/values{locale}"
        folder.mkdir(parents=True)
        strings = "".join(
            f'<string name="s{item}">Text {item} of {locale or "default"}</string>' for item in range(STRINGS)
        )
        (folder / "strings.xml").write_text(f"<resources>{strings}</resources>", encoding="utf-8")
    return with_manifest(source, '<application android:label="@string/s7" />')


def many_activities(source: Path) -> Path:
    """Write an app with many components."""
    activities = "".join(
        f'<activity android:name=".Activity{item}" android:exported="true"><intent-filter>'
        f'<action android:name="dev.droidgate.ACTION_{item}" /></intent-filter></activity>'
        for item in range(ACTIVITIES)
    )
    return with_manifest(source, f'<application android:label="Many">{activities}</application>')


def with_manifest(source: Path, application: str) -> Path:
    """Write an app's manifest."""
    source.mkdir(exist_ok=True)
    text = f'<manifest xmlns:android="{ANDROID}" package="dev.droidgate.benchmark">{application}</manifest>'
    (source / "AndroidManifest.xml").write_text(text, encoding="utf-8")
    return source


def measure(results: Results, files: Mapping[str, Path], readers: Mapping[str, Read], rounds: int) -> bool:
    """Measure milliseconds for each file, with ratios to ours in brackets; return whether ours was right."""
    table = results.table("files", {"ms (times ours)": "", **dict.fromkeys(readers, ">20")})
    right = True
    for name, path in files.items():
        expected = read_aapt2(path)
        cells, ours = [], 0.0
        for reader, read in readers.items():
            try:
                found = read(path)
            except Exception as error:  # noqa: BLE001 - what another reader raises is its result
                cells.append(type(error).__name__)
                continue
            right = right and (reader != "droidgate" or found == expected)
            taken = median_seconds(lambda: read(path), 3 if path == FRAMEWORK else rounds) * 1000  # noqa: B023
            ours = ours or taken
            mark = "" if found == expected else " WRONG"
            cells.append(f"{taken:.2f} ({taken / ours:.1f}){mark}")
        table.add(name, *cells)
    for reader, what in _DOES_LESS.items():
        if reader in readers:
            print(f"{reader} {what}")
    return right


def main() -> int:
    """Run all measurements; return 1 where ours has read something wrongly."""
    chosen = parser(__doc__).parse_args()
    results = Results(chosen)
    if shutil.which("aapt2") is None or not FRAMEWORK.exists():
        print("left out without aapt2 and framework-res (Debian: apt install aapt android-framework-res)")
        return 0
    readers = {
        name: read
        for name, read in READERS.items()
        if name not in _PACKAGES or importlib.util.find_spec(_PACKAGES[name])
    }
    for name in READERS.keys() - readers.keys():
        print(f"{name}: not installed (pip install '.[oracles]')")
    with tempfile.TemporaryDirectory() as folder:
        files = dict(made_files(Path(folder)))
        right = measure(results, files, readers, 1 if chosen.quick else 15)
    results.write()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

"""What reading APKs costs next to androguard: the same task, and what else a scan does.

Run it with `make bench`. The APKs are made anew from a seed that was not used before, so that nothing of ours
knows them; those inside installed packages come too. The task is what no catalog can do without: open the
file, read the manifest with its components and their actions, the label, the digests of the signing
certificates, follow each `<meta-data>` and `<property>` to the XML resource or the asset that it names, and
parse that. The answers are compared. Androguard is used in the quickest way known: its manifest tree is
walked once, where its methods walk it for each component.
"""

from __future__ import annotations

import gc
import hashlib
import secrets
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from _results import Results, Table, parser
from lxml import etree

from droidgate.coverage.conversion_table import convert_declaration
from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_one import scan_one
from droidgate.sources import open_reader
from droidgate.sources.catalogs.catalog_rows import ProviderRow
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.formats.application import COMPONENT_TAGS, Application, MetaData, TextFile
from droidgate_mappings.text.xml_text import parse_xml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from gateway.synthetic_ecosystem.ecosystem import make_ecosystem, read_truth
from requirements_of_tests import PARTS

ANDROID: Final = "{http://schemas.android.com/apk/res/android}"
FUNCTIONS: Final = "android.app.appfunctions"
MEBIBYTE: Final = 1 << 20
_ELEMENTS: Final = etree.XPath("count(//*)")
_TURN: Final = 25
"""Files that one reader reads before it is another's turn."""
OURS: Final = "droidgate, the same"
THEIRS: Final = "androguard"


@dataclass(frozen=True)
class Answer:
    """What a reader says of an APK.

    Attributes:
        package: Application id.
        label: Of the application, in the default language.
        components: Kind, name and actions of each component.
        signers: SHA-256 of the certificates.
        descriptors: Elements of each descriptor, sorted.
    """

    package: str
    label: str | None
    components: frozenset[tuple[str, str, tuple[str, ...]]]
    signers: frozenset[str]
    descriptors: tuple[int, ...]


Read = Callable[[Path], Any]


def read_alike(path: Path) -> Answer:
    """Do androguard's task."""
    with open_apk(path) as apk:
        application = read_application(apk)
        components = frozenset(
            (
                component.kind,
                application.qualified_name(component),
                tuple(sorted(action for part in component.filters for action in part.actions)),
            )
            for component in application.components
            if component.kind != "application"
        )
        files = [
            _descriptor_of(application, entry)
            for component in application.components
            for entry in (*component.meta_data, *component.properties)
        ]
        sizes = sorted(_count(parse_xml(file.text.encode(), path=path.name)) for file in files if file)
        return Answer(
            application.package or "",
            application.label,
            components,
            frozenset(application.signers),
            tuple(sizes),
        )


def _descriptor_of(application: Application, entry: MetaData) -> TextFile | None:
    if entry.resource is not None and entry.resource.startswith("@xml/"):
        return application.resources.read_file(entry.resource)
    if entry.name.startswith(FUNCTIONS) and isinstance(entry.value, str):
        return application.resources.read_asset(entry.value)
    return None


def _count(root: Any) -> int:
    return int(_ELEMENTS(root))


def read_androguard(path: Path) -> Answer:
    """Do the task with androguard."""
    from androguard.core.apk import APK

    apk = APK(str(path))
    manifest = apk.get_android_manifest_xml()
    package: str = apk.get_package()
    components = frozenset(
        (kind, _qualified(element.get(f"{ANDROID}name") or "", package), tuple(sorted(_actions_of(element))))
        for tag, kind in COMPONENT_TAGS.items()
        for element in manifest.iter(tag)
    )
    signers = frozenset(
        hashlib.sha256(certificate.dump()).hexdigest() for certificate in apk.get_certificates()
    )
    files = [root for entry in manifest.iter("meta-data", "property") for root in _roots_of(apk, entry)]
    return Answer(package, apk.get_app_name(), components, signers, tuple(sorted(map(_count, files))))


def _qualified(name: str, package: str) -> str:
    return f"{package}{name}" if name.startswith(".") else name if "." in name else f"{package}.{name}"


def _actions_of(component: Any) -> Iterator[str]:
    for part in component.iterchildren("intent-filter"):
        for action in part.iterchildren("action"):
            yield action.get(f"{ANDROID}name")


def _roots_of(apk: Any, entry: Any) -> Iterator[Any]:
    from androguard.core.axml import AXMLPrinter

    reference, resources = entry.get(f"{ANDROID}resource"), apk.get_android_resources()
    if reference is not None and resources is not None and reference[1:].startswith("7F"):
        for _, file in resources.get_resolved_res_configs(int(reference[1:], 16)):
            if isinstance(file, str) and file.startswith("res/") and file.endswith(".xml"):
                yield AXMLPrinter(apk.get_file(file)).get_xml_obj()
    elif (entry.get(f"{ANDROID}name") or "").startswith(FUNCTIONS):
        yield etree.fromstring(apk.get_file(f"assets/{entry.get(f'{ANDROID}value')}"))


def read_ours(path: Path) -> object:
    """Find the descriptors of an APK and understand them: providers, types, findings of reading."""
    with open_apk(path) as apk:
        reader = open_reader(None)
        reader.read_apk(apk)
        return reader.result().applications


def scan_ours(path: Path) -> object:
    """Do all that a scan does with an APK: digest, read, check, make rows."""
    scanned = scan_one(Item(path.name, "apk", str(path)))
    return scanned.encode() if scanned.identity is not None else None


def convert_ours(path: Path) -> object:
    """Scan an APK, and do what the first report on it adds: the conversions into every dialect."""
    scanned = scan_one(Item(path.name, "apk", str(path)))
    for row in (scanned.rows or {}).get("providers", ()):
        if isinstance(row, ProviderRow):
            convert_declaration(Item("", "declaration", row.declaration), ()).encode()
    return scanned.encode() if scanned.identity is not None else None


def shipped_apks(folder: Path) -> Iterator[Path]:
    """Yield the APKs that installed packages hold: uiautomator2's, and Appium's settings where npm has it."""
    shipped = find_spec("uiautomator2")
    if shipped is not None and shipped.origin is not None:
        yield from sorted((Path(shipped.origin).parent / "assets").glob("*.apk"))
    archive = PARTS["appium-settings"].find()
    if archive is not None:
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
        yield from sorted(folder.rglob("*.apk"))


@dataclass
class Taken:
    """Processor seconds that a reader took, and for how many files."""

    seconds: float = 0.0
    files: int = 0
    answered: int = 0


COLUMNS: Final = {
    "APKs": "",
    "files": ",",
    "MiB": ",.0f",
    "reader": "",
    "APKs for each second of a core": ".1f",
    "times androguard": "",
    "answered": ",",
    "equal answers": "",
}


def measure_reading(table: Table, what: str, paths: Sequence[Path]) -> None:
    """Add how many APKs a second of a processor reads, by us and by androguard, taking turns."""
    readers: dict[str, Read] = {OURS: read_alike}
    if find_spec("androguard"):
        from loguru import logger

        logger.disable("androguard")
        readers[THEIRS] = read_androguard
    readers |= {"droidgate reads": read_ours, "droidgate scans": scan_ours}
    readers["droidgate scans and converts"] = convert_ours
    for read in readers.values():
        read(paths[0])  # what is imported is not part of it
    taken = {name: Taken() for name in readers}
    alike = 0
    for start in range(0, len(paths), _TURN):
        turn = paths[start : start + _TURN]
        answers = {name: _read_all(read, turn, taken[name]) for name, read in readers.items()}
        pairs = zip(answers[OURS], answers.get(THEIRS, ()), strict=False)
        alike += sum(ours is not None and ours == theirs for ours, theirs in pairs)
    size = sum(path.stat().st_size for path in paths) / MEBIBYTE
    theirs = taken.get(THEIRS)
    for name, item in taken.items():
        times = "" if theirs is None else f"{theirs.seconds / item.seconds:.1f}"
        equal = str(alike) if theirs is not None and name == OURS else ""
        table.add(what, len(paths), size, name, item.files / item.seconds, times, item.answered, equal)


def _read_all(read: Read, paths: Sequence[Path], taken: Taken) -> list[Any]:
    gc.collect()  # what one reader leaves is not the next one's work
    answers = []
    for path in paths:
        began = time.process_time()
        try:
            answer = read(path)
        except Exception:  # noqa: BLE001 - a file that a reader cannot read is a result too
            answer = None
        taken.seconds += time.process_time() - began
        taken.answered += bool(answer)
        answers.append(answer)
    taken.files += len(paths)
    return answers


def main() -> None:
    """Measure each set of APKs."""
    options = parser(__doc__)
    options.add_argument("--apps", type=int, default=300, help="APKs that are made")
    options.add_argument("--read", type=int, default=100, help="of these, how many are read")
    chosen = options.parse_args()
    if chosen.quick:
        chosen.apps, chosen.read = 12, 6
    results, seed = Results(chosen), secrets.randbelow(1 << 30)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_ecosystem(chosen.apps, seed=seed, folder=folder / "made")
        made = [item for item in read_truth(folder / "made") if item.outcome == "read"]
        table = results.table("reading", COLUMNS)
        for what, files in (
            ("made, of all that can be read", made),
            ("made, that declare something", [item for item in made if item.protocols]),
        ):
            if files:
                measure_reading(table, what, [folder / "made" / item.file for item in files[: chosen.read]])
        if shipped := list(shipped_apks(folder / "shipped")):
            paths = shipped * (1 if chosen.quick else 10)
            measure_reading(table, "inside installed packages, ten times each", paths)
    results.write()


if __name__ == "__main__":
    main()

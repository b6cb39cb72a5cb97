"""Our reader against androguard, apk-info and aapt2, on APKs that others ship and that aapt2 builds."""

import importlib
import re
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from adapters.apk_reading.built_apks import FORMS, REAL_APKS, SAMPLES, real_apk, sample_apk, texts_by_locale
from droidgate_android.apk.reader import Apk, open_apk
from droidgate_android.apk.resource_table import Bag
from droidgate_android.apk.resource_values import complex_number
from droidgate_android.apk.xml_tree import TypedValue, ValueType, XmlElement
from droidgate_mappings.text.aapt_text import signed_int
from requirements_of_tests import require

PLAIN_FORMS = [item for item in FORMS if item != "plain"]


@pytest.fixture(params=[*REAL_APKS, *SAMPLES, *(f"clock-in, {item}" for item in PLAIN_FORMS)])
def apk_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param in REAL_APKS:
        return real_apk(request.param, tmp_path)
    sample, _, form = request.param.partition(", ")
    path = tmp_path / "built.apk"
    path.write_bytes(sample_apk(sample, form or "plain"))
    return path


def androguards(name: str) -> Any:
    """Return a class of androguard, which has no types, and quiet its log."""
    importlib.import_module("loguru").logger.disable("androguard")
    return getattr(importlib.import_module("androguard.core.axml"), name)


def elements(root: XmlElement) -> Iterator[XmlElement]:
    yield root
    for child in root.child_elements():
        yield from elements(child)


def compiled_entries(apk: Apk) -> list[str]:
    names = [name for name in apk.archive.entry_names if re.search(r"^(?!assets/).*\.xml$", name)]
    return [name for name in names if apk.archive.read_entry(name)[:4] == b"\x03\0\x08\0"]


def as_androguard_shows(value: TypedValue) -> Any:
    """Return a value for comparing with androguard's own way of writing it."""
    kind, data = value.type, value.data
    if kind == ValueType.STRING:
        return value.text
    if kind in {ValueType.REFERENCE, ValueType.DYNAMIC_REFERENCE, ValueType.ATTRIBUTE}:
        return data
    if kind == ValueType.INT_BOOLEAN:
        return "true" if data else "false"
    if kind == ValueType.FLOAT:
        return pytest.approx(struct.unpack("<f", struct.pack("<I", data))[0], abs=1e-6)
    if kind in {ValueType.DIMENSION, ValueType.FRACTION}:
        return pytest.approx(complex_number(data) * (100 if kind == ValueType.FRACTION else 1), rel=1e-4)
    return data if kind != ValueType.INT_DEC else signed_int(data)


def read_androguard(text: str, value: TypedValue) -> Any:
    """Return what androguard's text of an attribute says, in the form of `as_androguard_shows`."""
    kind = value.type
    if kind in {ValueType.STRING, ValueType.INT_BOOLEAN}:
        return text
    if kind in {ValueType.REFERENCE, ValueType.DYNAMIC_REFERENCE, ValueType.ATTRIBUTE}:
        return int(re.sub(r"^[@?](?:android:)?", "", text), 16) if text != "@null" else 0
    if kind in {ValueType.FLOAT, ValueType.DIMENSION, ValueType.FRACTION}:
        number = re.match(r"-?[0-9.]+(?:e-?[0-9]+)?", text)
        assert number is not None
        return float(number[0])
    if kind == ValueType.INT_DEC:
        return int(text)
    return int(text.removeprefix("#"), 16)


def is_lost_on_androguard(text: str, value: TypedValue) -> bool:
    """Return whether androguard is known to misread a value.

    It misreads characters beyond U+FFFF in UTF-8 pools, and negative dimensions and fractions.
    """
    is_complex = value.type in {ValueType.DIMENSION, ValueType.FRACTION}
    return "\ufffd" in text or (is_complex and complex_number(value.data) < 0)


@pytest.mark.requires("androguard")
def test_all_compiled_xml_is_what_androguard_reads(apk_path: Path) -> None:
    AXMLPrinter = androguards("AXMLPrinter")  # noqa: N806
    compared = 0
    with open_apk(apk_path) as apk:
        names = compiled_entries(apk)
        assert "AndroidManifest.xml" in names
        for name in names:
            theirs = AXMLPrinter(apk.archive.read_entry(name)).get_xml_obj()
            ours = apk.read_xml(name)
            for first, other in zip(elements(ours), theirs.iter(etree.Element), strict=True):
                assert other.tag in {f"{{{first.namespace}}}{first.tag}", first.tag}
                attributes = {
                    f"{{{a.namespace}}}{a.name}" if a.namespace else a.name: a.value for a in first.attributes
                }
                assert set(attributes) == set(other.attrib)
                for key, value in attributes.items():
                    text = str(other.attrib[key])
                    if not is_lost_on_androguard(text, value):
                        assert read_androguard(text, value) == as_androguard_shows(value), (name, key)
                    compared += 1
                own_text = "".join(child for child in first.children if isinstance(child, str)).strip()
                other_text = "".join([other.text or "", *(child.tail or "" for child in other)]).strip()
                assert own_text == other_text or "\ufffd" in other_text
    assert compared > 10


@pytest.mark.requires("androguard")
def test_all_resources_are_what_androguard_reads(apk_path: Path) -> None:
    ARSCParser = androguards("ARSCParser")  # noqa: N806
    compared = bags = 0
    with open_apk(apk_path) as apk:
        table = apk.resources
        assert table is not None
        parser = ARSCParser(apk.archive.read_entry("resources.arsc"))
        parser._analyse()
        for identifier, by_configuration in parser.resource_values.items():
            ours = [item.value for item in table.values_of(identifier)]
            theirs = list(by_configuration.values())
            bags += sum(isinstance(item, Bag) for item in ours)
            assert sum(isinstance(item, Bag) for item in ours) == sum(item.is_complex() for item in theirs)
            simple = [item for item in ours if isinstance(item, TypedValue)]
            values = Counter((item.type, item.text or item.data) for item in simple)
            expected = Counter(simple_value(item) for item in theirs if not item.is_complex())
            # Androguard takes configurations for one that differ in what it does not know: the script.
            lost = [item for item in expected - values if "\ufffd" not in str(item[1])]
            assert lost == []
            locales = [item.configuration.locale.split("-") for item in table.values_of(identifier)]
            with_script = sum(any(len(part) == 4 for part in parts) for parts in locales)
            assert 0 <= values.total() - expected.total() <= with_script
            compared += len(expected)
            package, kind, name = parser.get_resource_xml_name(identifier)[1:].replace(":", "/").split("/")
            assert package == apk.package
            reference = table.reference_to(identifier)
            assert reference in {f"@{kind}/{name}", f"@{kind}/{identifier:#010x}"}
            assert table.find(reference or "") == identifier
        assert table.files[0].problem is None
        assert apk.findings == ()
    assert compared > 0
    assert bags > 0 or apk.package.startswith("dev.droidgate")


def simple_value(entry: Any) -> tuple[int, str | int]:
    """Return type and data of one of androguard's entries, a string's text."""
    pool = entry.parent.stringpool_main
    if entry.is_compact():
        kind, data = entry.flags >> 8, entry.data
    else:
        kind, data = entry.key.data_type, entry.key.data
    return kind, str(pool.getString(data)) or 0 if kind == ValueType.STRING else int(data)


@pytest.mark.requires("apk-info")
def test_manifest_facts_and_signers_are_those_of_apk_info(apk_path: Path) -> None:
    theirs = importlib.import_module("apk_info").APK(str(apk_path))
    with open_apk(apk_path) as ours:
        assert ours.package == theirs.get_package_name()
        assert str(ours.version_code or 0) == str(theirs.get_version_code() or 0)
        assert ours.version_name == theirs.get_version_name()
        assert str(ours.minimum_sdk) == str(theirs.get_min_sdk_version())
        assert set(ours.archive.entry_names) == set(theirs.namelist())
        services = next(ours.manifest.child_elements("application")).child_elements("service")
        names = [item.text for each in services if (item := each.find_attribute("name")) is not None]
        assert names == [item.name for item in theirs.get_services()]
        signed = [getattr(scheme, "certificates", ()) for scheme in theirs.get_signatures()]
        assert set(ours.signer_digests()) == {item.sha256_fingerprint for each in signed for item in each}


@pytest.mark.requires("aapt2")
@pytest.mark.parametrize("sample", SAMPLES)
def test_names_and_values_are_those_that_aapt2_prints(sample: str, tmp_path: Path) -> None:
    path = tmp_path / "app.apk"
    path.write_bytes(sample_apk(sample))
    command = [str(require("aapt2")), "dump", "resources", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    printed = re.findall(r"resource 0x([0-9a-f]{8}) (\S+)\n((?:      .*\n)*)", run.stdout)
    assert printed
    with open_apk(path) as apk:
        assert apk.resources is not None
        for digits, name, lines in printed:
            identifier = int(digits, 16)
            assert apk.resources.reference_to(identifier) == f"@{name}"
            values = apk.resources.values_of(identifier)
            if any(isinstance(item.value, Bag) or item.value.type != ValueType.STRING for item in values):
                continue
            locales = re.findall(r"\((\S*)\) (?:\"(.*)\"|\(file\) (\S+))", lines)
            expected = {locale: text or file for locale, text, file in locales}
            assert texts_by_locale(apk.resources, identifier) == expected

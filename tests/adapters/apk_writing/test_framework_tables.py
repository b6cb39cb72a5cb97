"""The tables of Android's attributes, held against what they were not made from."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from adapters.apk_writing.packed_samples import run_tool
from droidgate_mappings.tables.framework_attributes import (
    AttributeFormat,
    attribute_id,
    attribute_name,
    attribute_type,
    resource_id,
    resource_name,
)
from requirements_of_tests import CHECKOUT, require
from titled_rows import titled


def _constants(class_name: str) -> dict[str, int]:
    javap = require("newer-jdk").parent / "javap"
    text = run_tool(javap, "-constants", "-cp", require("framework-jar"), class_name)
    constants = re.findall(r"static final int (\w+) = (-?\d+);", text)
    return {name: int(number) for name, number in constants}


@pytest.mark.slow
def test_ids_are_the_constants_of_android_r_attr() -> None:
    constants = _constants("android.R$attr")
    assert len(constants) > 1_500
    for name, number in constants.items():
        assert attribute_id(name) == number, name
        assert attribute_name(number) == name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["style", "string", "drawable"])
def test_ids_of_other_resources_are_the_constants_of_their_class(kind: str) -> None:
    for name, number in _constants(f"android.R${kind}").items():
        entry = (resource_name(number) or "").removeprefix(f"{kind}/")
        assert re.sub(r"\W", "_", entry) == name
        assert resource_id(kind, entry) == number


LAUNCH_MODES = ("standard", "singleTop", "singleTask", "singleInstance", "singleInstancePerTask")


@titled(("name", "number", "formats", "values"), {
    # AOSP, core/res/res/values/attrs_manifest.xml and public-final.xml
    "a string": ("name", 0x01010003, AttributeFormat.STRING, {}),
    "a boolean": ("exported", 0x01010010, AttributeFormat.BOOLEAN, {}),
    "a string or a reference": ("label", 0x01010001, AttributeFormat.STRING | AttributeFormat.REFERENCE, {}),
    "an integer": ("versionCode", 0x0101021B, AttributeFormat.INTEGER, {}),
    "an enum":
        ("launchMode", 0x0101001D, AttributeFormat.ENUM, {name: n for n, name in enumerate(LAUNCH_MODES)}),
})  # fmt: skip
def test_an_attribute_takes_what_android_declares(
    name: str, number: int, formats: AttributeFormat, values: dict[str, int]
) -> None:
    declared = attribute_type(name)
    assert declared is not None
    assert (declared.id, declared.formats, dict(declared.values)) == (number, formats, values)


def test_a_service_type_of_the_foreground_is_the_constant_of_its_class() -> None:
    constants = _constants("android.content.pm.ServiceInfo")
    declared = attribute_type("foregroundServiceType")
    assert declared is not None
    for word, number in declared.values.items():
        constant = "FOREGROUND_SERVICE_TYPE_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).upper()
        assert constants[constant] == number


def test_a_name_that_android_does_not_have_gives_none() -> None:
    assert attribute_id("noSuchThing") is None
    assert attribute_type("noSuchThing") is None
    assert attribute_name(0x0101FFFF) is None
    assert resource_id("style", "None") is None
    assert resource_name(0x7F010000) is None


def test_the_tables_are_what_the_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("framework-jar")
    require("framework-res")
    path = CHECKOUT / "scripts/write_framework_attributes.py"
    specification = importlib.util.spec_from_file_location("write_framework_attributes", path)
    assert specification is not None
    assert specification.loader is not None
    script = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "write_framework_attributes", script)
    specification.loader.exec_module(script)
    committed = CHECKOUT / "mappings/droidgate_mappings/tables/android"
    monkeypatch.setattr(script, "TARGET", tmp_path)
    vars(script)["main"]()
    for name in ("attributes.tsv", "resources.tsv"):
        assert (tmp_path / name).read_bytes() == (committed / name).read_bytes()

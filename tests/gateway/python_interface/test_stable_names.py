"""The names of `droidgate.__all__`: typed, and loaded late."""

import subprocess
import sys
from pathlib import Path

import pytest

import droidgate
from droidgate import (
    Comparison,
    Conversion,
    InputError,
    LintReport,
    Provider,
    Providers,
    convert,
    diff,
    lint,
    read,
)
from droidgate_phone.apps.sample_apps import sample_apps_directory

APP = sample_apps_directory() / "pdf-tool"


@pytest.mark.parametrize("name", droidgate.__all__)
def test_a_stable_name_is_there_and_has_a_docstring(name: str) -> None:
    assert getattr(droidgate, name).__doc__


def test_no_module_of_ours_hides_a_stable_name() -> None:
    folder = Path(str(droidgate.__file__)).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert modules.isdisjoint(droidgate.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'droidgate' has no attribute 'inspect'"):
        getattr(droidgate, "inspect")  # noqa: B009 - type checkers know that it is not there


def test_importing_droidgate_loads_no_other_module_of_ours() -> None:
    code = "import sys, droidgate; print([name for name in sys.modules if name.startswith('droidgate')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['droidgate']\n"


def test_reading_checking_and_comparing_return_what_their_types_say() -> None:
    providers: Providers = read(APP)
    first: Provider = providers[0]
    assert [first] == list(providers)
    assert len(providers) == 1
    conversion: Conversion = convert(providers, to="mobile-mcp")
    assert "res/xml/mcp_capabilities.xml" in conversion.files
    assert [finding.code for finding in conversion.findings] != []
    assert [name.pointer for name in conversion.names] == ["/component"]
    report: LintReport = lint(APP)
    assert report == LintReport((), checked=("mmcp",))
    comparison: Comparison = diff(providers, providers)
    assert comparison.weight() is None


def test_one_provider_of_several_converts_alone() -> None:
    providers = read(sample_apps_directory())
    assert len(providers) > 1
    assert list(convert([providers[0]], to="mcp").files) == ["tools.json"]
    assert len(convert(providers, to="mcp").files) == len(providers)


def test_what_has_no_descriptor_is_an_error_with_place_and_hint(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("{}")
    with pytest.raises(InputError, match="no known format claims this file") as caught:
        read(tmp_path / "empty.json")
    assert caught.value.place == str(tmp_path / "empty.json")
    assert caught.value.hint is not None

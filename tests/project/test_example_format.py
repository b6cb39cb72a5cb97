"""The worked example of CONTRIBUTING.md is a whole format: it reads, writes, and accounts for every loss."""

import importlib.util

import pytest
from hypothesis import given

from droidgate.formats import Format, SourceFile, detect_format
from droidgate.leniency import ReadingContext
from droidgate.model.capability import Provider
from droidgate.model.errors import InputError
from properties.matching import assert_findings_match
from requirements_of_tests import CHECKOUT
from strategies import providers

EXAMPLE = CHECKOUT / "docs/examples/droidgate_tool_list/droidgate_tool_list.py"


@pytest.fixture(scope="module")
def example() -> Format:
    spec = importlib.util.spec_from_file_location("droidgate_tool_list", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.FORMAT
    assert isinstance(found, Format)
    return found


def test_a_line_is_a_tool_with_its_place(example: Format) -> None:
    source = SourceFile("a.tools", b'search "Find \\"notes\\""\ndelete "Delete one"\n')
    assert detect_format(source, [example]) is example
    (provider,) = example.read_file(source, ReadingContext()).providers
    read = [(one.id, one.description, str(one.source)) for one in provider.capabilities]
    assert read == [("search", 'Find "notes"', "a.tools:1"), ("delete", "Delete one", "a.tools:2")]


def test_a_line_that_is_no_tool_is_named(example: Format) -> None:
    with pytest.raises(InputError, match=r'^a\.tools:2: no tool\nhint: Write: name "what it does"$'):
        example.read_file(SourceFile("a.tools", b'search "x"\ndelete\n'), ReadingContext())


@given(provider=providers())
def test_what_a_line_cannot_carry_is_found_leaf_by_leaf(example: Format, provider: Provider) -> None:
    assert example.write is not None
    writing = example.write(provider, example.dialect())
    assert_findings_match(provider, writing)
    source = SourceFile("a.tools", writing.artifacts[0].text.encode())
    (read,) = example.read_file(source, ReadingContext()).providers
    assert [(one.id, one.description) for one in read.capabilities] == [
        (one.id, one.description) for one in writing.provider.capabilities
    ]

"""The project's own tool app, the paper's clock-in demonstration, is read strictly and breaks no rule."""

import pytest

from adapters.mobile_mcp.tools import DIALECTS, dialect_when_read, read_back, round_trip, write
from droidgate.sources.android_project import application_from_tree
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.types import ObjectType
from droidgate_mobile_mcp.format import FORMAT
from properties.matching import assert_same_declaration
from requirements_of_tests import CHECKOUT

MAIN = CHECKOUT / "device_shim" / "apps" / "clock-in" / "app" / "src" / "main"
APP = application_from_tree(
    {
        path.relative_to(MAIN).as_posix(): path.read_bytes()
        for path in MAIN.rglob("*")
        if path.is_file() and path.suffix == ".xml"
    }
)


def test_it_declares_calls_without_parameters_with_them_and_with_results() -> None:
    (provider,) = FORMAT.read_application(APP, ReadingContext(strict=True)).providers
    shapes = {
        capability.id: (
            bool(isinstance(capability.input, ObjectType) and capability.input.properties),
            capability.output is not None,
        )
        for capability in provider.capabilities
    }
    assert shapes == {
        "clock_in_today": (False, False),
        "make_up_clock_in": (True, False),
        "query_clock_in": (True, True),
    }
    reported = round_trip(provider)
    assert reported.writing.findings == ()
    assert_same_declaration(provider, reported.after)


def test_it_breaks_no_rule() -> None:
    assert FORMAT.lint_application is not None
    assert FORMAT.lint_application(APP) == ()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_crosses_into_every_dialect_without_loss(dialect: str) -> None:
    (provider,) = FORMAT.read_application(APP, ReadingContext(strict=True)).providers
    writing = write(provider, dialect)
    assert writing.findings == ()
    after = read_back(writing, strict=True)
    assert after.dialect == dialect_when_read(dialect)
    assert after.capabilities == tuple(
        first.model_copy(update={"source": other.source})
        for first, other in zip(provider.capabilities, after.capabilities, strict=True)
    )

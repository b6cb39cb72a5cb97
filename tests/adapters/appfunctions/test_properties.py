"""What every conversion into AppFunctions keeps, for any model and each dialect (docs/concepts/levels.md)."""

import pytest
from hypothesis import given, settings

from adapters.appfunctions.function_files import write_in
from droidgate.sources.android_project import application_from_tree
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.findings import Level
from strategies import providers

DIALECTS = [dialect.id for dialect in FORMAT.dialects]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(provider=providers())
@settings(max_examples=15)
def test_our_own_linter_has_nothing_against_what_is_written(dialect: str, provider: Provider) -> None:
    assert FORMAT.lint_application is not None
    writing = write_in(provider, dialect)
    application = application_from_tree({item.path: item.text.encode() for item in writing.artifacts})
    problems = {item.code for item in FORMAT.lint_application(application) if item.level is not Level.NOTE}
    expected = set()
    if provider.access.enabled is not True and dialect != "app-level":
        expected.add("appfunctions-service-disabled")
    if not (provider.instructions or provider.description):
        # An empty text is written as it is.
        expected.add("appfunctions-metadata-content")
    if dialect in {"v1", "platform"}:
        # These forms have no response, so Jetpack's agents do not see their functions (reference 3.3).
        expected.add("appfunctions-no-signature")
    assert problems <= expected

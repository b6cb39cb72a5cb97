"""The page about indexing says what the data says that the indexer's model runs on."""

from collections.abc import Callable
from typing import Final

from droidgate_mappings.tables.app_functions import Release, load_indexing
from requirements_of_tests import CHECKOUT

PAGE = (CHECKOUT / "docs" / "reference" / "formats" / "appfunctions-indexing.md").read_text(encoding="utf-8")
NO_SCHEMA: Final = {True: "the parser of v1's tags", False: "Android's own schema, which knows no signature"}
UNKNOWN_TAG: Final = {
    "enter": "is read over, and its children go into the enclosing document",
    "reject": "drops the file",
    "skip": "is read over with everything in it",
}


def _resources(release: Release) -> str:
    names = (f"`.{name}`" if name != "v1" else name for name in sorted(release.resources))
    return " and ".join(names) or "none"


def _ids(release: Release) -> str:
    return " or ".join(f"`<{tag}>`" for tag in release.id_tags) or "`functionId`"


ROWS: Final[tuple[tuple[str, Callable[[Release], str]], ...]] = (
    ("services read", lambda item: "the last one of the app" if item.services == "last" else "all"),
    ("a service without `BIND_APP_FUNCTION_SERVICE`",
     lambda item: "is skipped" if item.needs_permission else "is read"),
    ("properties of `<application>`", lambda item: "are read" if item.application_level else "are not read"),
    ("file read",
     lambda item: f"`.v2`{' with a schema that is read' if item.choice == 'schema' else ''}, else v1"),
    ("without a schema that is read", lambda item: NO_SCHEMA[item.fixed_parser]),
    ("files as `android:resource`", _resources),
    ("unknown tag", lambda item: UNKNOWN_TAG[item.unknown_tag]),
    ("id of a document", _ids),
    ("`functionId`, by which a function is called",
     lambda item: "always the id" if item.function_id == "id" else "a property of its own"),
    ("`enabledByDefault` left out in `.v2`",
     lambda item: "means true" if item.enabled_when_missing else "means false"),
    ("`scope`, `serviceName`, `packageNameHash`",
     lambda item: "added, with rules of their own" if item.scoped else "unknown"),
)  # fmt: skip


def test_the_documented_table_of_releases_is_that_of_the_data() -> None:
    releases = load_indexing().linted()
    head = f"| | {' | '.join(release.title for release in releases)} |\n|---|{'---|' * len(releases)}\n"
    rows = (f"| {title} | {' | '.join(map(describe, releases))} |\n" for title, describe in ROWS)
    assert head + "".join(rows) in PAGE


def test_the_documented_limits_are_those_of_the_data() -> None:
    limits = load_indexing().limits
    text = " ".join(PAGE.split())
    assert f"first {limits.documents_per_file} functions" in text
    assert f"at most {limits.schema_types} document types" in text
    assert f"at most {limits.document_bytes // 1024} KiB" in text

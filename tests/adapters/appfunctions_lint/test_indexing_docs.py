"""The page about indexing says what the data says."""

from adapters.appfunctions_lint.release_table import write_release_table
from droidgate_android.app_search import REASONS
from droidgate_mappings.tables.app_functions import load_indexing
from requirements_of_tests import CHECKOUT

PAGE = (CHECKOUT / "docs" / "reference" / "formats" / "appfunctions-indexing.md").read_text(encoding="utf-8")


def test_the_table_of_releases_is_the_datas() -> None:
    assert write_release_table() in PAGE


def test_every_reason_of_the_indexer_is_a_row() -> None:
    for reason, meaning in REASONS.items():
        assert f"| `appfunctions-{reason}` | {meaning} |\n" in PAGE


def test_the_limits_are_the_datas() -> None:
    limits = load_indexing().limits
    text = " ".join(PAGE.split())
    assert f"first {limits.documents_per_file} functions" in text
    assert f"at most {limits.schema_types} document types" in text
    assert f"at most {limits.document_bytes // 1024} KiB" in text

"""A question to a catalog, of the command line or of Python code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from droidgate.sources.catalogs.catalog import Answered, Catalog, query


@contextmanager
def query_catalog(
    catalog: Catalog, sql: str, *, memory: int | None = None, deadline: float | None = None
) -> Iterator[Answered]:
    """Ask a catalog one question, as `query` does; the table of conversions is made where it is named.

    Raises:
        BudgetError, UsageError, InputError: as `query`.
    """
    with TemporaryDirectory(prefix="droidgate-") as folder:
        if "conversions" in sql.lower():
            # What converts takes longer to import than most questions to answer.
            from droidgate.coverage.conversion_table import complete_conversions

            catalog = complete_conversions(catalog, Path(folder))
        with query(catalog, sql, memory=memory, deadline=deadline) as answered:
            yield answered

"""The page about catalogs, docs/catalog.md: its words, and the tables as the code has them."""

from __future__ import annotations

from typing import Final

from droidgate.coverage.catalog import CATALOG_SCHEMA
from droidgate.coverage.rows import TABLES, Table
from droidgate.coverage.scan_log import LOG_FILE

_INTRODUCTION: Final = """\
# Catalogs

`droidgate scan SRC... --catalog DIR` reads many apps into a catalog; `droidgate catalog sql` asks it.

```
droidgate scan apps/ @more.txt adb: https://host/apks/ --catalog today
droidgate scan apps/ --catalog tomorrow --known today
droidgate catalog sql --catalog today "SELECT protocol, count(*) FROM capabilities GROUP BY ALL"
```

## What is scanned

| source | what it is |
|---|---|
| `app.apk`, `app.apks`, `app.xapk`, `app.apkm` | an app, with the splits in its container |
| a folder | every APK, container, module and descriptor below it; a split with its base beside it |
| a descriptor or manifest | as for `inspect` |
| `@LIST` | a file with one source a line; `#` begins a remark |
| `adb:`, `adb:SERIAL`, `adb:SERIAL/PACKAGE` | every installed app: its manifest, and what the system says |
| `https://...`, `s3://...`, `gs://...` | what fsspec reads; `s3fs` and `gcsfs` are packages of their own |
| a catalog | all of it, its sources with its name in front |

It needs `pip install 'droidgate[coverage]'`, and `droidgate[cluster]` for `--cluster`.

A source is called as it was written. An absolute path says where on one machine a file is, so it is called
by its last part, and in a list by what it has beyond the folder that all absolute paths of the list share.

## What happens to a file

Each file is read, checked by every linter and crossed into every dialect by that dialect's own writer, in a
process that has so much memory (`--memory`, beyond what it takes to start) and time (`--deadline`). A file
that takes more, or ends the process, is a row with its reason, and the process is replaced. A file whose
process died is tried once more by itself, since somebody else may have ended it.

`--cluster tcp://HOST:8786` does the same on a Dask cluster: the same function, in the same kind of process
beside each Dask worker, so that the catalog is the same, row for row. A task whose worker dies is done
again; one that is late is given to a second worker. Files have to be where the workers can read them.

## Going on, and doing it again

Results are written as they come, as lines of JSON, to `DIR/{log}`. A scan that was stopped, by whatever,
goes on where it was when it is run again with the same settings: a torn last line is dropped, files that
have changed since (size, time of change) are read again. When the catalog is written the log is deleted;
`--keep-log` leaves it.

A scan into a folder that holds a catalog makes it anew and reads only content that it has not: rows stand
under a digest of the content. An APK with a signing block (scheme v2 or later) is known by its size, that
block and its directory: the block holds digests of everything, so two such files that Android installs are
told apart, and a large one need not be read whole. Any other file is known by the SHA-256 of all its bytes.
`--known DIR` uses an earlier catalog in the same way. Rows that another version of droidgate made are not
used.

## The folder

`catalog.json` holds the schema `{schema}`, the version of droidgate, the dialects of the crossings, the
limits and the number of rows of each table; a reader refuses a schema that it does not know. Each table is
a folder of Parquet files, written and read by DuckDB, sorted by its key. The same results make the same
files.

`droidgate catalog sql` runs one SELECT (`FROM`, `DESCRIBE`, `SUMMARIZE` and `SHOW TABLES` too). It can
write nothing, change no setting, and read nothing but the catalog. `--json` and `--csv` are for programs.

No row holds a time, and no row but those of `sources` depends on where a file was: equal files have one set
of rows, their unit's. Security marks and token estimates are hints: the marks are patterns, and a token is
taken as four bytes of UTF-8.

## Tables
"""


def catalog_page() -> str:
    """Return the page."""
    introduction = _INTRODUCTION.replace("{schema}", CATALOG_SCHEMA).replace("{log}", LOG_FILE)
    return "\n".join([introduction, *(_table_part(one) for one in TABLES.values())])


def _table_part(table: Table) -> str:
    key = ", ".join(f"`{one}`" for one in table.key)
    lines = [f"### {table.name}", "", f"{table.meaning} Key: {key}.", "", "| column | type | meaning |"]
    lines.append("|---|---|---|")
    for one in table.columns:
        kind = one.type + (" or null" if one.nullable else "")
        lines.append(f"| `{one.name}` | {kind} | {one.meaning} |")
    return "\n".join([*lines, ""])

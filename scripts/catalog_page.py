"""The page about catalogs, docs/reference/catalog.md: its words, and the tables as the code has them."""

from __future__ import annotations

from typing import Final

from droidgate.sources.catalogs.catalog import CATALOG_SCHEMA
from droidgate.sources.catalogs.catalog_files import LOG_FILE
from droidgate.sources.catalogs.catalog_rows import TABLES, CatalogTable

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
| a folder | its APKs with their splits, containers, modules, descriptors; its other Kotlin files as one |
| a descriptor or manifest | as for `inspect`; the document of `discover --json` too |
| `@LIST` | a file with one source a line, relative to where the command runs; `#` begins a remark |
| `adb:`, `adb:SERIAL`, `adb:SERIAL/PACKAGE` | every installed app: its manifest, and what the system says |
| `https://...`, `s3://...`, `gs://...` | what fsspec reads (with `s3fs`, `gcsfs`); each file stands alone |
| a catalog | all of it, its sources with its name in front |

It needs `pip install -e '.[coverage]'` in the checkout, and the extra `cluster` for `--cluster`.

A source is called as it was written. An absolute path says where on one machine a file is, so it is called
by its last part, and in a list by what it has beyond the folder that all absolute paths of the list share.
A URL is called without the name and password of a user. The catalog that is written is not an input,
wherever it is.

Of a remote APK of more than 1 MiB only the pieces that are read are fetched, where the server gives pieces:
the end, the directory, the manifest, resources and descriptors; 0.5 MB of a signed APK of 52 MB. One without
a signing block, and a container, is fetched whole, since its digest is of everything. A web server that says
nothing for 30 seconds, answers with more than 64 MiB at once or lists more than 256 MiB of names in all, and
a place that takes 10 minutes to list, where fsspec can be stopped (the web, `s3://`, `gs://`), is a row with
its reason.

A source that is named on the command line and is not there is an error before anything is read; in a list it
is a row with its reason. So are a URL that cannot be reached, a scheme in a list that nobody knows, and in a
folder an APK that is a link to nowhere. Where there is nothing to scan, no catalog is written.

A phone that is not there is an error before anything is scanned; one that goes away meanwhile is a row.
Android's shell lists which apps are disabled, by their manifest, their user or the shell (`apps.enabled`); it
has no listing of suspended ones.

## What happens to a file

Each file is read, checked by every linter and converted into every dialect by that dialect's own writer, in a
process that has so much memory (`--memory`, beyond what it takes to start) and time (`--deadline`). A file
that takes more, or ends the process, is a row with its reason, and the process is replaced. A file whose
process died is tried once more by itself, since somebody else may have ended it.

A number that no double holds, such as `1e400`, keeps its digits. One that fills pages when it is written out
(`1e99999999`, more than 1024 digits) makes its file a row with its reason. If droidgate itself fails at one
capability, the app keeps its other capabilities, and `problems` says which one is left out and why.

A file of a module or folder that a link leads out of the folder, a device or a pipe is not read.

All files together have `--run-deadline` seconds, an hour by default. What is not read by then is a row with
the outcome `out-of-time`, the catalog holds what was read, and the command ends with exit code 3. Run the
same scan again: it reads only what is left, and the file that it was at when its time ended is the last one,
so that a file that takes all the time of each run keeps no other one from being read. Such a file needs a
`--run-deadline` above `--deadline`: then it is a row that says that it takes too long. The time begins with
the command, but a file system, a web server or a phone that lists its files or apps is waited for.

`--cluster tls://HOST:8786` does the same on a Dask cluster: the same function, in the same kind of process
next to each Dask worker, so that the catalog is the same, row for row. A task whose worker dies is done
again; one that is late is given to a second worker, and the first answer counts. Files have to be where the
workers can read them. A cluster without workers, or with one that has no droidgate or another version of it,
is refused before anything is made, and such a worker that joins later ends the scan, as a cluster does that
goes away; the scan goes on from there later.

**A scheduler can run any code on this machine and on every worker**, since Dask's messages are pickled. So
`--cluster` takes a `tls://` address, whose certificate Dask checks (`distributed.comm.tls` in its
configuration), or one on this machine, such as the end of an SSH tunnel. For any other address say
`--trust-scheduler`, on a network where nobody else can answer at it.

## Going on, and doing it again

Results are written as they come, as lines of JSON, to `DIR/{log}`. A scan that was stopped, by whatever,
goes on where it was when it is run again with the same settings: a torn last line is dropped, files that
have changed since (size, time of change) are read again. A file on this machine
that changes while it is read, or whose split does, is a row that says so; with a URL that is not seen. When
the catalog is written and on the disk, the log is deleted; `--keep-log` leaves it.

One scan at a time writes into a folder; where the system can lock a folder, its lock is held until the
scan ends, or its process does. `catalog.json` goes before the tables of an earlier scan are replaced and
comes back after the last one: a scan that is ended in between leaves a catalog that is not finished, never a
mixture. A folder that holds anything but a catalog or a scan that has not ended is refused, and so is a
catalog in whose tables lies what no scan has put there.

A scan into a folder that holds a catalog makes it anew and reads only content that it has not: rows stand
under a digest of the content. An APK with a signing block (scheme v2 or later) is known by its size, that
block and its directory: the block holds digests of everything, so two such files that Android installs are
distinguished, and a large one is not read whole. Any other file is known by the SHA-256 of all its bytes.
Nobody checks the signature here: a file that was forged to have the size and the end of another one, which
no phone would install, is taken for that one where its rows are there already.
`--known DIR` uses an earlier catalog in the same way. Rows that another version of droidgate made are not
used.

## The folder

`catalog.json` holds the schema `{schema}`, the version of droidgate, the dialects of the conversions, the
limits and the number of rows of each table; a reader refuses a schema that it does not know. Each table is
a folder of Parquet files, written and read by DuckDB, sorted by its key. The same results make the same
files.

`droidgate catalog sql` runs one SELECT (`FROM`, `DESCRIBE`, `SUMMARIZE` and `SHOW TABLES` too). It can
write nothing, change no setting, and read nothing but the catalog. Rows are printed as they are made. A text
shows the first thousand; `--json` and `--csv` print all. In JSON, what it has no value for (dates, decimals)
is text. A query that takes more than `--deadline` seconds or `--memory` MiB ends with one line. In CSV a
text that a spreadsheet would take for a formula begins with an apostrophe, and characters that cannot be
seen or that turn the writing direction stand as their code; JSON has them escaped.

No row holds a time, and no row but those of `sources` depends on where a file was: equal files have one set
of rows, their unit's. Security marks and token estimates are hints: a token is taken as four bytes of UTF-8.

## A catalog as a source

`inspect`, `convert`, `lint`, `diff` and `droidgate.read` take a catalog, as its folder or its `catalog.json`:

```
droidgate inspect today
droidgate convert today/catalog.json --to mcp -o out
```

They see what the apps declare, with its places, the readers' findings, and for `lint` what the linters found
when it was scanned. Manifests, resources, signatures and archives of the apps are not in a catalog, which the
finding `catalog-without-apps` says. So `shim build` refuses one. At most 50,000 capabilities are read; ask a
larger catalog with `catalog sql`.

## Tables
"""


def catalog_page() -> str:
    """Return the page."""
    introduction = _INTRODUCTION.replace("{schema}", CATALOG_SCHEMA).replace("{log}", LOG_FILE)
    return "\n".join([introduction, *(_table_part(item) for item in TABLES.values())])


def _table_part(table: CatalogTable) -> str:
    key = ", ".join(f"`{item}`" for item in table.key)
    lines = [f"### {table.name}", "", f"{table.meaning} Key: {key}.", "", "| column | type | meaning |"]
    lines.append("|---|---|---|")
    for column in table.columns:
        kind = column.type + (" or null" if column.nullable else "")
        lines.append(f"| `{column.name}` | {kind} | {column.meaning} |")
    return "\n".join([*lines, ""])

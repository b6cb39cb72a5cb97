"""A folder of made-up APKs with the truth next to them (`truth.jsonl`, a line for each file)."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from gateway.synthetic_ecosystem.apks import Expected, make_files

TRUTH_FILE = "truth.jsonl"
APKS_FOLDER = "apks"


def make_ecosystem(count: int, *, seed: int, folder: Path) -> int:
    """Write the APKs of that many apps below the folder; return how many files there are.

    The same count and seed write the same bytes. A thousand APKs share a folder.
    """
    written = 0
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / TRUTH_FILE).open("w", encoding="utf-8") as truth:
        for made in make_files(count, seed):
            number = int(made.expected.file[3:9])
            path = Path(APKS_FOLDER, f"{number // 1000:04}", made.expected.file)
            if number % 1000 == 0:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(made.data)
            line = {**asdict(made.expected), "file": path.as_posix(), "size": len(made.data)}
            truth.write(json.dumps(line) + "\n")
            written += 1
    return written


def read_truth(folder: Path) -> Iterator[Expected]:
    """Yield what each file should come to; `file` is its path below the folder."""
    for text in (folder / TRUTH_FILE).read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        line.pop("size")
        line["protocols"], line["when_asked"] = tuple(line["protocols"]), tuple(line["when_asked"])
        line["capabilities"] = tuple(tuple(ids) for ids in line["capabilities"])
        yield Expected(**line)

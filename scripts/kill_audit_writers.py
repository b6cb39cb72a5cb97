"""End writers of one audit log by `kill -9` at random moments, and check that no committed call is lost.

Run it from the project's folder: `.venv/bin/python scripts/kill_audit_writers.py [KILLS]`. It prints the
figures that docs/guides/policy-and-audit.md gives.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from droidgate.calls.audit_log import AuditLog
from droidgate.calls.audit_reading import read_calls, verify
from gateway.calling.log_writers import kill_writers, write_calls

_KILLS = 1_000
_WRITERS = 3
_THREADS = 3


def main() -> int:
    """Return 0 if the chain holds and no committed call is lost."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else _KILLS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.monotonic()
        committed = kill_writers(folder, kills, writers=_WRITERS, threads=_THREADS, random_=random.Random())  # noqa: S311
        elapsed = time.monotonic() - start
        log = AuditLog(folder / "log", folder / "key")
        write_calls(log, 1)
        verification = verify(log.folder)
        calls = list(read_calls(log.folder))
        lost = committed - {str(call.start["call"]) for call in calls}
        print(f"{kills} writers of {_THREADS} threads ended, {_WRITERS} at a time, in {elapsed:.0f} s")
        print(f"{len(committed)} committed calls, {len(lost)} lost")
        print(f"{verification.records} records in {verification.files} files; broken: {verification.broken}")
        torn = sum("torn" in note for note in verification.notes)
        print(f"{sum(call.end is None for call in calls)} calls without an end, {torn} torn lines")
    return 1 if lost or verification.broken is not None else 0


if __name__ == "__main__":
    sys.exit(main())

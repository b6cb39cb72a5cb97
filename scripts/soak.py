"""Call through the real server again and again while things go wrong, and check each answer.

Run it with `make soak`. It prints the figures that docs/guides/serve.md gives, and fails where an answer is
wrong, more calls fail than were spoiled, or memory grows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from gateway.serving.soak import soak

_MOST_DRIFT = 0.05


def main() -> int:
    """Return 0 if no answer is wrong and memory stays."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=50_000)
    options.add_argument("--clients", type=int, default=8)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--trace", action="store_true", help="count bytes of objects, which takes memory itself"
    )
    chosen = options.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = soak(
            Path(folder), chosen.calls, clients=chosen.clients, seed=chosen.seed, trace=chosen.trace
        )
    elapsed = time.monotonic() - begin
    print(f"{report.calls:,} calls by {chosen.clients} clients in {elapsed:,.0f} s")
    print(f"right {report.right:,}, failed {report.failed:,}, refused {report.refused:,}")
    print(f"wrong {len(report.wrong):,}")
    print("faults: " + ", ".join(f"{name} {count:,}" for name, count in sorted(report.faults.items())))
    unit = "bytes" if chosen.trace else "blocks"
    for name, samples, of in (("resident", report.resident, "MiB"), ("Python objects", report.objects, unit)):
        print(f"{name}: {samples[0]:,.0f} to {samples[-1]:,.0f} {of}, drift {report.drift(samples):+.1%}")
    print(f"audit log: {report.ended:,} calls with an end, broken: {report.broken}")
    for text, count in report.failures.most_common(12):
        print(f"failed {count:,} times: {text[:300]}")
    for text in report.wrong[:5]:
        print(f"wrong: {text[:500]}")
    grew = max(report.drift(report.resident), report.drift(report.objects)) > _MOST_DRIFT
    is_much = report.failed > report.most_failures(chosen.clients)
    return 1 if report.wrong or report.broken is not None or grew or is_much else 0


if __name__ == "__main__":
    sys.exit(main())

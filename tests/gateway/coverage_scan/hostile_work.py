"""What workers do in tests: inputs do the harm that their names say, the others are scanned."""

import os
import time
from collections.abc import Container
from pathlib import Path

from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_one import scan_one
from droidgate.coverage.scan_results import Scanned

WORK = "gateway.coverage_scan.hostile_work:work"
SLOW = "gateway.coverage_scan.hostile_work:slow_work"


def work(item: Item, known: Container[str]) -> Scanned:
    """Scan an input, or do what its name says."""
    name = item.source.rpartition("/")[2]
    if name.startswith("bomb"):
        blocks = []
        while True:
            blocks.append(bytearray(16 << 20))
    if name.startswith("loop"):
        while True:
            pass
    if name.startswith("abort"):
        os.abort()
    if name.startswith("mistake"):
        raise ValueError(name)
    return scan_one(item, known)


def slow_work(item: Item, known: Container[str]) -> Scanned:
    """Scan an input, slowly enough for the scan to be ended in between."""
    time.sleep(0.02)
    return scan_one(item, known)


def no_splits(item: Item, known: Container[str]) -> Scanned:
    """Scan an input; an app with splits is a mistake."""
    if item.kind == "app":
        raise ValueError(item.source)
    return scan_one(item, known)


def touches_splits(item: Item, known: Container[str]) -> Scanned:
    """Scan an input; the splits of an app change just before."""
    for _, path in item.parts:
        os.utime(path, ns=(1, 1))
    return scan_one(item, known)


def fragile(item: Item, known: Container[str]) -> Scanned:
    """Scan an input; of one that is called so, die at the first try."""
    tried = Path(f"{item.location}.tried")
    if item.source == "fragile" and not tried.exists():
        tried.touch()
        os.abort()
    return scan_one(item, known)

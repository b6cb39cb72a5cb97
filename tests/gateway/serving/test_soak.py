"""The server under load while connections drop, output is spoiled and apps die."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.serving.soak import FAULTS, soak

CALLS = 5_000
CLIENTS = 8


@pytest.mark.slow
def test_no_answer_is_that_of_another_call_and_memory_stays(tmp_path: Path) -> None:
    report = soak(tmp_path, CALLS, clients=CLIENTS, seed=18)
    assert report.wrong == []
    assert report.right + report.refused + report.failed == CALLS
    assert set(report.faults) == set(FAULTS)
    assert report.failed <= report.most_failures(CLIENTS)
    # Faults are not only made: the answers of these are lost.
    assert report.failed >= report.faults["dropped"] + report.faults["malformed"]
    assert report.broken is None
    assert report.ended >= CALLS
    assert report.drift(report.resident) < 0.05
    assert report.drift(report.objects) < 0.05

"""What a flood of requests costs the shim on Android's classes: its main thread, and another agent's call.

Run it with `make bench`, or by itself; it needs what the Robolectric tests need. An app without any grant
sends 10,000 short requests, then 400 of 190,000 characters, as fast as one thread can, while an agent that
has a grant makes one call after the other. The floor is the same flood to a Messenger of the same main
thread whose handler does nothing. The Java side is the folder `load` of the Robolectric tests.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "tests"))

from requirements_of_tests import require  # noqa: E402 - found through the line above
from shim_android.robolectric_run import MODULE, write_inputs  # noqa: E402

_LINE = re.compile(r"LOAD (\S+) (.*)")


def main() -> None:
    """Run the flood and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder, "inputs")
        inputs.mkdir()
        write_inputs(inputs)
        command: list[str | Path] = [require("maven"), "--offline", "--batch-mode"]
        command += ["--file", MODULE / "pom.xml"]
        command += [f"-Dbuild.folder={folder}", f"-Dinputs={inputs}", "-Dshipped.skip=true"]
        command += ["-Dtest=LoadBenchmark", "test"]
        environment = {**os.environ, "JAVA_HOME": str(require("newer-jdk").parent.parent)}
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    names = ("requests", "answered", "seconds", "slice ms", "calls", "median ms", "p95 ms", "max ms")
    print("flood   " + "".join(f"{name:>10}" for name in names))
    for name, facts in _LINE.findall(run.stdout):
        of = dict(fact.split("=") for fact in facts.split())
        figures = [of["requests"], of["answered"], f"{float(of['seconds']):.2f}"]
        figures += [f"{float(of['longest_slice_ms']):.2f}", of["calls"]]
        figures += [f"{float(of[name]):.2f}" for name in ("call_ms_median", "call_ms_p95", "call_ms_max")]
        print(f"{name:8}" + "".join(f"{figure:>10}" for figure in figures))


if __name__ == "__main__":
    main()

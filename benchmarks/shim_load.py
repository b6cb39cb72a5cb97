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

from _results import Results, parser  # noqa: E402

from device_shim.shim_android.robolectric_run import MODULE, write_inputs  # noqa: E402
from requirements_of_tests import PartMissingError, find  # noqa: E402 - found through the line above

_LINE = re.compile(r"LOAD (\S+) (.*)")


COLUMNS = {
    "flood": "",
    "requests": ",",
    "answered": ",",
    "seconds": ".2f",
    "slice, ms": ".2f",
    "calls": ",",
    "call: median, ms": ".2f",
    "95 of 100, ms": ".2f",
    "longest, ms": ".2f",
}


def main() -> None:
    """Run the flood and print a table."""
    chosen = parser(__doc__).parse_args()
    try:
        maven, java = find("maven"), find("newer-jdk")
        find("robolectric")
    except PartMissingError as missing:
        print(f"left out: {missing}")
        return
    results = Results(chosen)
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder, "inputs")
        inputs.mkdir()
        write_inputs(inputs)
        command: list[str | Path] = [maven, "--offline", "--batch-mode"]
        command += ["--file", MODULE / "pom.xml"]
        command += [f"-Dbuild.folder={folder}", f"-Dinputs={inputs}", "-Dshipped.skip=true"]
        command += [f"-Dload.divisor={100 if chosen.quick else 1}", "-Dtest=LoadBenchmark", "test"]
        environment = {**os.environ, "JAVA_HOME": str(java.parent.parent)}
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    table = results.table("floods", COLUMNS)
    for name, facts in _LINE.findall(run.stdout):
        of = dict(fact.split("=") for fact in facts.split())
        figures = [float(of[item]) for item in ("call_ms_median", "call_ms_p95", "call_ms_max")]
        longest = float(of["longest_slice_ms"])
        counts = int(of["requests"]), int(of["answered"]), float(of["seconds"]), longest, int(of["calls"])
        table.add(name, *counts, *figures)
    results.write()


if __name__ == "__main__":
    main()

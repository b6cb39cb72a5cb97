"""The program as a process that has its modules already: `preloaded_program.py ORDERS`.

The imports of droidgate take most of a short run. This process makes them once. For each line of JSON that it
reads from the descriptor ORDERS it forks, and the child does what `python -m droidgate` does after them. The
answer is two lines: the child's process id, and its exit code once it has ended.
"""

import gc
import importlib
import json
import os
import sys
from typing import IO, Any

MODULES = (
    "droidgate.cli.program", "droidgate.cli.calls.run_call", "droidgate.cli.coverage.run_scan",
    "droidgate.cli.descriptors.run_convert", "droidgate.cli.descriptors.run_diff",
    "droidgate.cli.descriptors.run_inspect", "droidgate.cli.descriptors.run_lint",
    "droidgate.cli.descriptors.run_migrate", "droidgate.cli.descriptors.run_pack",
    "droidgate.cli.devices.run_discover", "droidgate.cli.shim.run_shim_build",
)  # fmt: skip


def serve(orders: IO[bytes]) -> int | None:
    """Fork for each order until there are no more; return None in a child, which then runs the program."""
    for line in orders:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(order)
            return None
        os.write(1, b"%d\n" % child)
        os.write(1, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return 0


def _become(order: dict[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(order["environment"])
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        opened = os.open(order[name], os.O_RDWR | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.chdir(order["cwd"])
    sys.argv[1:] = order["arguments"]


if __name__ == "__main__":
    from droidgate import __main__ as program
    from droidgate.cli import main
    from droidgate_mappings.formats.format import load_formats

    for name in MODULES:
        importlib.import_module(name)
    load_formats()
    gc.freeze()  # a child looks through its own objects only
    sys.argv = [str(program.__file__), *sys.argv[1:]]
    with os.fdopen(int(sys.argv[1]), "rb") as orders:
        code = serve(orders)
    if code is None:
        main()

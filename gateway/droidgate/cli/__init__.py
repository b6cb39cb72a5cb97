"""The command line.

In the folder of a noun, `NOUN_options.py` declares its commands with their options, and `run_NAME.py` does
the work of the command NAME, or of several commands of the noun, and has their documents. Files of other
names are helpers of these.
"""

from __future__ import annotations

from droidgate.cli.interrupts import INTERRUPTED, CtrlC, catch_ctrl_c, end_at_ctrl_c

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program with the given arguments, or the process's own, and return its exit code."""
    from droidgate.cli.program import run as run_program

    return run_program(arguments)


def main() -> NoReturn:
    """Run the program and end the process; Ctrl-C ends it without output from the first import on."""
    try:
        catch_ctrl_c()
        import gc
        import os
        import sys

        # Pydantic would look for plugins in every installed package, and show them what is validated.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        # Imports make many objects that stay; looking through them often costs a short run a twentieth.
        gc.set_threshold(100_000)
        code = run()
    except BaseException as error:
        # Imports may turn the interruption into another failure.
        if not CtrlC.was_pressed and not isinstance(error, KeyboardInterrupt):
            raise
        code = INTERRUPTED
    end_at_ctrl_c()
    # At its end, Python would look three times through all that imports have made; DuckDB reports as leaked
    # what is not looked through.
    if "duckdb" not in sys.modules:
        gc.freeze()
    sys.exit(INTERRUPTED if CtrlC.was_pressed and code else code)

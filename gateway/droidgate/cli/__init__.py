"""The command line."""

from droidgate.cli.program import main, run

__all__ = ["main", "run"]

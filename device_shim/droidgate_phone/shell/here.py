"""For which run a thread works."""

from __future__ import annotations

import threading
from typing import Final

from droidgate_phone.shell.run import Run


class RunningHere(threading.local):
    """The run that this thread works for, so that `sh`, started as a command, goes on with it."""

    run: Run | None = None
    depth: int = 0


HERE: Final = RunningHere()

"""How long calls may take; `Route.java` and `HostCommands.java` have the same numbers for those of a shim."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.model.errors import UsageError

DEFAULT_DEADLINE_MS: Final = 30_000
"""Of a route that states none."""

LONGEST_DEADLINE_MS: Final = 150_000
"""Of a route; a host that sets none waits so long. Android stops a service of the type shortService after
three minutes (reference android-runtime 1.3)."""

SHORTEST_MS: Final = 1
SHORTEST_SECONDS: Final = 1
LONGEST_SECONDS: Final = LONGEST_DEADLINE_MS // 1000


def check_seconds(seconds: float, least: float = SHORTEST_SECONDS) -> None:
    """Raise where a caller's deadline is not in its range.

    Args:
        seconds: The deadline.
        least: The shortest that is allowed.

    Raises:
        UsageError: it is too short, too long, or not a number.
    """
    if not least <= seconds <= LONGEST_SECONDS:
        message = f"the deadline is {seconds} seconds"
        raise UsageError(message, hint=f"a call may take {least:g} to {LONGEST_SECONDS} seconds")

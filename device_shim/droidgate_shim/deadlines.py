"""How long calls through a shim may take; `Route.java` and `HostCommands.java` have the same numbers."""

from __future__ import annotations

from typing import Final

DEFAULT_DEADLINE_MS: Final = 30_000
"""Of a route that states none."""

LONGEST_DEADLINE_MS: Final = 150_000
"""Of a route; a host that sets none waits so long. Android stops a service of the type shortService after
three minutes (reference android-runtime 1.3)."""

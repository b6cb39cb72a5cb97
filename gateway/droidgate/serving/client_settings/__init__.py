"""The settings of MCP clients: an entry by which a client starts droidgate's MCP server, or reaches it."""

from typing import Final

HINT_OF_DAMAGED: Final = "mend the file, or move it away"
"""The fix for settings that cannot be read or changed."""

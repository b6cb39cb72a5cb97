"""The MCP tools/list format."""

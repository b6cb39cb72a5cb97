"""MCP clients: their settings."""

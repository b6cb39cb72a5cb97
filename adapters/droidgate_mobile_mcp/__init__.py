"""The Mobile-MCP format."""

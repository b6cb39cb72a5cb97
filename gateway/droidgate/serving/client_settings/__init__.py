"""The settings of MCP clients: an entry by which a client starts droidgate's MCP server, or reaches it."""

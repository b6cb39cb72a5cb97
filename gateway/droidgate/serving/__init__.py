"""The MCP server: what the apps of one or more phones declare, as tools for any MCP client.

One application serves both transports (stdio, Streamable HTTP on loopback) and both protocol revisions
(2025-11-25 and 2026-07-28). Where its tools come from is a `ToolProvider`; the phones' is in `phone_tools`.
Nothing here may be imported before a server is asked for: the MCP SDK takes a second to import.
"""

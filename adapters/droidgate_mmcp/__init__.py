"""The mMCP format."""

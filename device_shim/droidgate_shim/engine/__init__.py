"""The shim's engine: what happens to a call between a Mobile-MCP agent and the app behind the shim.

shim-engine.md says what; the Java core in `device_shim/android` is the same engine, and the vectors in
`device_shim/vectors` hold both to that page. Nothing here reads, writes, waits or looks at a clock.
"""

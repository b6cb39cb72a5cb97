"""The virtual phone: an adb device on loopback with an Android userland for agent-tool protocols."""

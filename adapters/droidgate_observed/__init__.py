"""Protocols of other agents, only read: found by their anchors, reported with what an app's files state."""

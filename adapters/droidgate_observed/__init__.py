"""Protocols of other agents, only read: found by their anchors, told with what an app's files say."""

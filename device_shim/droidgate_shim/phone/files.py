"""The phone's files: a tree in memory, with owners, modes and times."""

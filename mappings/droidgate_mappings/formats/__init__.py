"""What a format is: its flags, what it reads and writes, how its capabilities are called, and the registry."""

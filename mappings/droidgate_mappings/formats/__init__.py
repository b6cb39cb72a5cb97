"""What a format is: its flags, what it reads, writes and calls, and the registry of formats."""

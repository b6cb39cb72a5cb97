"""The command that carries out the device checklist."""

"""`droidgate why`."""

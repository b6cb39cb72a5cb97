"""`droidgate serve`."""

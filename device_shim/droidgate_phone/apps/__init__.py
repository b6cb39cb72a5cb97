"""The sample apps: their behaviour in Python, behind one interface."""

"""The computer's side of the shim: talking to it over adb, installing it, keeping it current, looking after
it (shim.md 7).
"""

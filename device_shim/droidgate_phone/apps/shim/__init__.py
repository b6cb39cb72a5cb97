"""The shim as the phone runs it: what surrounds the engine (shim.md), in Python.

A package is a shim by what is inside it, whatever its name. Everything that asks the engine happens on the
main thread of the shim's process; only the host's provider waits on Binder threads.
"""

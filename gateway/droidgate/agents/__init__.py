"""The agent app on a phone: calls of tools as an app makes them, and the check of a live tool app."""

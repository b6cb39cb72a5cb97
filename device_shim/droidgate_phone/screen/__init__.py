"""The screen: view trees, their picture, their description for UI Automator, and input."""

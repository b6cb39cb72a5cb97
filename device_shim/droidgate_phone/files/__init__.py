"""The files of a phone."""

"""A descriptor into an app's source tree."""

"""Shims on their real Java classes: a JVM with Android's own framework code, behind the phone's system."""

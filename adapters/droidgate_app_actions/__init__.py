"""App Actions, only read: what Google Assistant could start, of `shortcuts.xml` and `actions.xml`."""

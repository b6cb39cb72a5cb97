"""The device checklist, carried out on a phone, which is then restored."""

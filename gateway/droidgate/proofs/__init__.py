"""The device checklist, carried out on a phone and put back."""

"""What Android does: packages, activities, services, broadcasts, app functions, and their rules."""

from __future__ import annotations


class AndroidSystem:
    """One running Android."""

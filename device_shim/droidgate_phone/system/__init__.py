"""What Android does: packages, activities, services, broadcasts, app functions, and their rules."""

from __future__ import annotations

from droidgate_phone.system.android_system import AndroidSystem

__all__ = ["AndroidSystem"]

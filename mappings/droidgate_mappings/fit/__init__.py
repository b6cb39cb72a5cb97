"""Fitting a provider into what a dialect can carry, with one finding for each leaf that changes.

A writer fits first and then writes what is left without loss; so every loss, its level and its words are
here, driven by the dialect's `Capacity`, and no writer has its own.
"""

from droidgate_mappings.fit.collector import is_always_object, may_be_null
from droidgate_mappings.fit.provider_fit import Fitted, fit_provider

__all__ = ["Fitted", "fit_provider", "is_always_object", "may_be_null"]

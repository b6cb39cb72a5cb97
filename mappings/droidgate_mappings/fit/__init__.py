"""Fitting a provider into what a dialect can carry, with one finding for each leaf that changes.

A writer fits first, driven by the dialect's `Capacity`, and then writes what is left without loss. `losses`
is the table of losses with their levels and words; `provider_fit`, `type_fit` and `access_fit` find them.
"""

from droidgate_mappings.fit.losses import Loss
from droidgate_mappings.fit.provider_fit import Fitted, fit_provider, without_facts, without_own_facts

__all__ = ["Fitted", "Loss", "fit_provider", "without_facts", "without_own_facts"]

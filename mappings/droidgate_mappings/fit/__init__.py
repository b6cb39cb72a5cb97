"""Fitting a provider into what a dialect can carry, with one finding for each leaf that changes.

A writer fits first, driven by the dialect's `Capacity`, and then writes what is left without loss. `losses`
is the table of losses with their levels and words; `provider_fit` and `type_fit` find them.

How a fit runs: `fit_provider` fits the provider's fields, then chooses the names of definitions and of
capabilities, then fits each capability, then the definitions. Each type is fitted from the outside in by
`fit_type`: it decides whether the type's kind and shape are kept, moves facts that have no place into notes,
and ends with the description, which takes the notes. Where types have no description, the notes go to that
of the capability (`Node.outer_notes`). All steps report to one `Collector`. Where a part is written in
another place than the source has it, it is fitted `apart`, and its findings name the place in the source.
"""

from droidgate_mappings.fit.losses import Loss
from droidgate_mappings.fit.provider_fit import Fitted, fit_provider, without_facts, without_own_facts

__all__ = ["Fitted", "Loss", "fit_provider", "without_facts", "without_own_facts"]

"""Which use cases of Android's guideline a capability serves (`droidgate_mappings.taxonomy`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from droidgate.coverage.match.features import CapabilityText, Features, declared_text, features_of
from droidgate.coverage.match.words import Vocabulary, actions_alike
from droidgate_mappings.taxonomy import Cue, load_taxonomy

LEAST_SCORE: Final = 0.45
"""A lower one is not told."""

_SECOND_ACTION: Final = 0.8
_ALIKE: Final = 0.7
_UNKNOWN_ACTION: Final = 0.6


@dataclass(frozen=True, slots=True)
class ServedUseCase:
    """A use case that a capability serves.

    Attributes:
        use_case: Id of the use case.
        score: How surely, from 0.45 to 1.
        action: Id of the action that tells it, None where the object alone does.
        object: Id of the object that tells it.
    """

    use_case: str
    score: float
    action: str | None
    object: str


class UseCases:
    """Assigns capabilities to use cases; texts are looked up in one vocabulary."""

    def __init__(self, more_words: Mapping[str, str] | None = None) -> None:
        """Begin.

        Args:
            more_words: Further words, each with a word of the taxonomy that means the same.
        """
        self._vocabulary = Vocabulary(more_words)
        self._cues: dict[str, list[tuple[str, Cue]]] = {}
        for use_case in load_taxonomy().use_cases():
            for cue in use_case.cues:
                for thing in cue.objects:
                    self._cues.setdefault(thing, []).append((use_case.id, cue))

    def served_by(self, capability: CapabilityText) -> tuple[ServedUseCase, ...]:
        """Return the use cases that a capability serves, the surest first; mostly one, often none."""
        features = features_of(declared_text(capability), self._vocabulary)
        best: dict[str, ServedUseCase] = {}
        for thing, weight in features.objects:
            for use_case, cue in self._cues.get(thing, ()):
                action, factor = _action_for(cue, features)
                score = round(cue.weight * weight * factor, 4)
                known = best.get(use_case)
                if score >= LEAST_SCORE and (known is None or score > known.score):
                    best[use_case] = ServedUseCase(use_case, score, action, thing)
        return tuple(sorted(best.values(), key=lambda one: (-one.score, one.use_case)))


def _action_for(cue: Cue, features: Features) -> tuple[str | None, float]:
    """Return the action that fits a cue and how well it does, 0 where none does."""
    if not cue.actions:
        return None, 1.0
    if not features.actions:
        return None, _UNKNOWN_ACTION
    for place, action in enumerate(features.actions):
        if action in cue.actions:
            return action, _SECOND_ACTION if place else 1.0
    for action in features.actions[:1]:
        if not actions_alike()[action].isdisjoint(cue.actions):
            return action, _ALIKE
    return None, 0.0

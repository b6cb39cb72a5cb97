"""Which use cases of Android's guideline a capability serves (`droidgate_mappings.tables.taxonomy`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from droidgate.coverage.match.features import Sense
from droidgate_mappings.tables.taxonomy import Cue, load_taxonomy, load_words

LEAST_SCORE: Final = 0.6
"""Lower scores are not reported."""

_SECOND_ACTION: Final = 0.55
_ALIKE: Final = 0.5
_BESIDE: Final = 0.5
"""How sure an object of the description is where the name says another one."""


@dataclass(frozen=True, slots=True)
class ServedUseCase:
    """A use case that a capability serves.

    Attributes:
        use_case: Id of the use case.
        score: How surely, from 0.6 to 1.
        action: Id of the action that identifies it, None where the object alone does.
        object: Id of the object that identifies it.
    """

    use_case: str
    score: float
    action: str | None
    object: str


class UseCases:
    """Assigns capabilities to use cases by their sense."""

    def __init__(self) -> None:
        """Begin."""
        # To move is to edit, but to edit is not to move: here it goes one way.
        self._like = {action.id: frozenset(action.like) for action in load_words().actions}
        self._cues: dict[str, list[tuple[str, Cue]]] = {}
        for use_case in load_taxonomy().use_cases():
            for cue in use_case.cues:
                for thing in cue.objects:
                    self._cues.setdefault(thing, []).append((use_case.id, cue))

    def served_in(self, sense: Sense) -> tuple[ServedUseCase, ...]:
        """Return the use cases that a capability of this sense serves, the surest first."""
        best: dict[str, ServedUseCase] = {}
        said = {thing for thing, _ in sense.objects}
        named = max((weight for _, weight in sense.objects), default=0.0)
        for thing, weight in sense.objects:
            if thing in sense.doubtful:
                continue
            surely = weight if weight == named else weight * _BESIDE
            found = [
                (use_case, action, round(cue.weight * surely * factor, 4), factor)
                for use_case, cue in self._cues.get(thing, ())
                if not cue.near or not said.isdisjoint(cue.near)
                for action, factor in [_action_for(cue, sense, self._like)]
            ]
            # To move is to edit, but where moving is a use case of its own, that is the one.
            least = _SECOND_ACTION if any(factor > _ALIKE for *_, factor in found) else 0.0
            for use_case, action, score, factor in found:
                known = best.get(use_case)
                if score >= LEAST_SCORE and factor >= least and (known is None or score > known.score):
                    best[use_case] = ServedUseCase(use_case, score, action, thing)
        return tuple(sorted(best.values(), key=lambda item: (-item.score, item.use_case)))


def _action_for(cue: Cue, sense: Sense, like: Mapping[str, frozenset[str]]) -> tuple[str | None, float]:
    """Return the action that fits a cue and how well it does, 0 where none does."""
    if not sense.actions:
        return None, float(cue.alone or not cue.actions)
    if sense.actions[0] not in like:
        # A verb that nobody knows may be any: of `gribble_recipe` nothing is known.
        return None, 0.0
    if not cue.actions:
        return sense.actions[0], 1.0
    for place, action in enumerate(sense.actions):
        if action in cue.actions:
            return action, _SECOND_ACTION if place else 1.0
    if not like[sense.actions[0]].isdisjoint(cue.actions):
        return sense.actions[0], _ALIKE
    return None, 0.0

"""Which use cases of Android's guideline a capability serves (`droidgate_mappings.tables.taxonomy`)."""

from __future__ import annotations

from dataclasses import dataclass

from droidgate.coverage.match.features import NAME_WEIGHT, Sense
from droidgate_mappings.tables.taxonomy import Cue, load_taxonomy, load_words


@dataclass(frozen=True, slots=True)
class ServedUseCase:
    """A use case that a capability serves.

    Attributes:
        use_case: Id of the use case.
        action: Id of the action that identifies it, None where the object alone does.
        object: Id of the object that identifies it.
    """

    use_case: str
    action: str | None
    object: str


class UseCases:
    """Assigns capabilities to use cases by their sense; what is doubtful serves none."""

    def __init__(self) -> None:
        """Begin."""
        self._actions = frozenset(action.id for action in load_words().actions)
        self._cues: dict[str, list[tuple[str, Cue]]] = {}
        for use_case in load_taxonomy().use_cases():
            for cue in use_case.cues:
                for object_ in cue.objects:
                    self._cues.setdefault(object_, []).append((use_case.id, cue))

    def served_in(self, sense: Sense) -> tuple[ServedUseCase, ...]:
        """Return the use cases that a capability of this sense serves, by id.

        The name has to say what it is done to; the description alone may speak of anything.
        """
        served: dict[str, ServedUseCase] = {}
        objects = {object_ for object_, _ in sense.objects}
        action = sense.actions[0] if sense.actions else None
        for object_, weight in sense.objects:
            if weight != NAME_WEIGHT or object_ in sense.doubtful:
                continue
            for use_case, cue in self._cues.get(object_, ()):
                if self._is_done(cue, action) and (not cue.near or not objects.isdisjoint(cue.near)):
                    served.setdefault(use_case, ServedUseCase(use_case, action, object_))
        return tuple(served[use_case] for use_case in sorted(served))

    def _is_done(self, cue: Cue, action: str | None) -> bool:
        """Return whether an action is one of a cue; a verb that nobody knows may be any, and is none."""
        if action is None:
            return cue.alone or not cue.actions
        return action in self._actions and (not cue.actions or action in cue.actions)

"""The tally app: a Mobile-MCP service that keeps points for each bound client, as its Java sources do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.tool_requests import (
    RefusalError,
    ToolAnswer,
    answer_message,
    answer_request,
    answer_start,
    read_descriptor,
)
from droidgate_phone.java.app_values import Message
from droidgate_phone.java.intents import Intent
from droidgate_phone.java.java_text import java_length
from droidgate_phone.java.org_json import java_text
from droidgate_phone.system.behaviour import App, Context, Service

_PACKAGE: Final = "dev.droidgate.sample.tally"
_MOST_PLAYERS: Final = 100
_LONGEST_NAME: Final = 100
_LONGS: Final = range(-(2**63), 2**63)


class Totals:
    """Who has how many points, in memory only."""

    def __init__(self) -> None:
        self._totals: dict[str, int] = {}

    def of(self, player: str) -> int:
        """Return a player's points."""
        return self._totals.get(player, 0)

    def add(self, player: str, points: int) -> str | None:
        """Add points; why they cannot be added, None where they were."""
        if not 1 <= java_length(player) <= _LONGEST_NAME:
            return f'"player" must have 1 to {_LONGEST_NAME} characters'
        if player not in self._totals and len(self._totals) == _MOST_PLAYERS:
            return f'"player" would be one more than {_MOST_PLAYERS} players'
        total = self.of(player) + points
        if total not in _LONGS:
            return '"points" would make a total that no 64-bit number holds'
        self._totals[player] = total
        return None

    def clear(self) -> None:
        """Forget all."""
        self._totals.clear()


def run_capability(totals: Totals | None, capability_id: str, arguments: Mapping[str, Json]) -> ToolAnswer:
    """Do what a capability does on a client's totals; None where no client is bound.

    Raises:
        RefusalError: the request fits, and cannot be done.
    """
    if totals is None:
        raise RefusalError("unavailable", "points are kept only for an assistant that binds this service")
    if capability_id == "start_over":
        totals.clear()
        return ToolAnswer("Every total is 0 again.")
    player, points = java_text(arguments["player"]), arguments.get("points")
    # The descriptor holds the points of add_points to be whole, and declares none elsewhere.
    if isinstance(points, int):
        problem = totals.add(player, points)
        if problem is not None:
            raise RefusalError("invalid_argument", problem)
    total = totals.of(player)
    return ToolAnswer(f"{player} has {total}.", {"player": player, "total": total})


class TallyService(Service):
    """Answers requests of assistants that bind it, each over totals of its own."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._descriptor = read_descriptor(context.read_xml_resource("@xml/mcp_capabilities"))
        self._totals: dict[tuple[object, ...], dict[int, Totals]] = {}

    def on_bind(self, intent: Intent) -> Callable[[Message], None]:
        """Return the handler of messages with `what` 1 from clients that bind with such an intent."""
        by_uid = self._totals[intent.filter_comparison()] = {}

        def take(message: Message) -> None:
            totals = by_uid.setdefault(message.sending_uid, Totals())
            answer_message(self.context, message, partial(self._answer, totals))

        return take

    def on_unbind(self, intent: Intent) -> bool:
        """Forget the totals of clients that were bound with such an intent; the handler may be used again."""
        self._totals[intent.filter_comparison()].clear()
        return True

    def on_start_command(self, intent: Intent) -> None:
        """Answer that the service has to be bound."""
        answer_start(self.context, intent, partial(self._answer, None))

    def _answer(self, totals: Totals | None, request_text: str | None) -> str:
        return answer_request(self._descriptor, request_text, partial(run_capability, totals))


class TallyApp(App):
    """Behaviour of the tally app."""

    PACKAGE = _PACKAGE
    SERVICES = {f"{_PACKAGE}.TallyService": TallyService}

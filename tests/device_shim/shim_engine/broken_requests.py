"""Requests that are broken somewhere: cut off, with a character too many, too few or another, or with a
duplicate key.
"""

import json
from collections.abc import Iterator
from random import Random

from device_shim.shim_engine.conformance.vector_files import load_route_table
from droidgate_mappings.model.json_values import Json

_IDS_BESIDE: tuple[Json, ...] = ("u-1", 7, "", None, "\U0001f600", "a" * 1_025)
_IDS: tuple[Json, ...] = (*_IDS_BESIDE, 1.5, 2**63, '"quoted"', "\ud83d")
_CHARACTERS = '{}[]",:\\0123456789.eE+-aftn \t\n\x00\ud83d\U0001f600'
_EXTRAS = ("mobile-mcp-request", "request", "mcp_command_json")


class BrokenRequests:
    """Makes requests from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def calls(self, count: int) -> Iterator[Json]:
        """Yield vectors of the op `call`."""
        for _ in range(count):
            extras: dict[str, Json] = {self._random.choice(_EXTRAS): self._text()}
            if self._random.random() < 0.3:
                extras["mcp_request_id"] = self._random.choice(_IDS_BESIDE)
            policy: dict[str, Json] = {"grants": [{"caller": "any-app", "capability": "*"}]}
            if self._random.random() < 0.15:
                # Only the first 4,096 units of these are read.
                extras = {name: self._padded(text) for name, text in extras.items()}
                policy["limits"] = {"burst": 0}
            yield {
                "op": "call",
                "routes": load_route_table("all"),
                "policy": policy,
                "carrier": self._random.choice(["start", "bind"]),
                "caller": 1,
                "extras": extras,
            }

    def _text(self) -> str:
        text = json.dumps(self._document(), ensure_ascii=self._random.random() < 0.5)
        # A lone half of a pair is written as its escape: a line of UTF-8 cannot hold it.
        text = "".join(
            character if not "\ud800" <= character <= "\udfff" else f"\\u{ord(character):04x}"
            for character in text
        )
        for _ in range(self._random.randint(0, 3)):
            text = self._damaged(text)
        return text

    def _padded(self, text: Json) -> Json:
        """Return a text with so many blanks between two of its members that it ends about at the limit."""
        if not isinstance(text, str):
            return text
        at = self._random.randint(0, text.count(","))
        before = ",".join(text.split(",")[:at])
        blanks = " " * max(0, 4_096 - len(text) + self._random.randint(-20, len(text)))
        return f"{before},{blanks}{text[len(before) + 1 :]}" if before else blanks + text

    def _document(self) -> Json:
        choose = self._random.choice
        members: dict[str, Json] = {"id": choose(_IDS), "capability": self._capability()}
        if self._random.random() < 0.2:
            members[choose(["args", "input", "version"])] = choose([{}, None, "2.0"])
        request: dict[str, Json] = {name: members[name] for name in self._shuffled(members)}
        if self._random.random() < 0.3:
            return request
        version = choose(["1.0", "2.0", None, 1])
        wrapper = {"version": version, choose(["request", "request", "call"]): request}
        wrapper = {name: wrapper[name] for name in self._shuffled(wrapper)}
        return {"mobile-mcp-request": wrapper} if self._random.random() < 0.8 else wrapper

    def _capability(self) -> Json:
        choose = self._random.choice
        if self._random.random() < 0.1:
            return choose([None, "get_weather", 5, []])
        given: list[Json] = [{}, {"location": "Bonn"}, '{"location":1e999}', [[[]]], {"days": -0.5e3}, None]
        arguments = choose(given)
        fields = {"id": choose(["get_weather", "", 5]), choose(["args", "input", "other"]): arguments}
        return {name: fields[name] for name in self._shuffled(fields)}

    def _shuffled(self, names: dict[str, Json]) -> list[str]:
        return self._random.sample(list(names), len(names))

    def _damaged(self, text: str) -> str:
        at = self._random.randrange(len(text) + 1)
        kind = self._random.randrange(6)
        if kind == 0:
            return text[:at]
        if kind == 1:
            return text[:at] + text[at + 1 :]
        if kind == 2:
            return text.replace('"id"', '"id":"u-2","id"', 1)
        character = self._random.choice(_CHARACTERS.replace("\ud83d", ""))
        return text[:at] + character + text[at + (kind == 3) :]

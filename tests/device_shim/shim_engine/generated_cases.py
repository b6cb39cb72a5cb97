"""Inputs of the other operations made up by a seeded generator: texts, patterns, values, documents, lives."""

import json
from collections.abc import Iterator

from device_shim.shim_engine.generated_types import Maker
from droidgate_mappings.model.json_values import Json, canonical_json

_PIECES = (
    *'{}[]",:\\/ \t\n',
    *(
        "true", "false", "null", "nul", "-", "0", "01", "1.50", "1e5", "1E+400", "-0.0", ".5",
        "9223372036854775808",
    ),
    *(
        "\\u0000", "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\u00e9", "\U0001f600", "\ufeff", "\u2028",
        "\x7f", "\x00",
    ),
    *('"a"', '"a":', '"b":1,', "\\x", "'a'", "//", "NaN"),
)  # fmt: skip
_PATTERN_PIECES = (
    *"abz09.^$|()[]{}*+?-\\,",
    *(
        "\\d", "\\W", "\\s", "(?:", "(?<n>", "(?=", "[^", "a-z", "{2}", "{1,3}", "{2,}", "\\u00e9",
        "\\u{1F600}", "\\b", "\\x41",
    ),
)  # fmt: skip
_TEXT_PIECES = ("a", "b", "z", "0", "9", " ", "\n", "\u00e9", "\U0001f600", "A", "-", "_", "\u2028", "\u00a0")


class CaseMaker(Maker):
    """Makes cases."""

    def cases(self, count: int) -> Iterator[dict[str, Json]]:
        """Yield so many vectors' inputs."""
        makers = (self.text, self.text, self.pattern, self.fit, self.fit, self.written, self.read, self.life)
        for _ in range(count):
            yield self.random.choice(makers)()

    def text(self) -> dict[str, Json]:
        if self.random.random() < 0.3:
            pieces = self.random.choices(_PIECES, k=self.random.randrange(1, 8))
            return {"op": "parse", "text": "".join(pieces)}
        text = canonical_json(self.values.anything(3))
        if self.random.random() < 0.3:
            text = json.dumps(json.loads(text), indent=1)
        for _ in range(self.random.randrange(3)):
            at = self.random.randrange(len(text) + 1)
            text = text[:at] + self.random.choice(_PIECES) + text[at + self.random.randrange(3) :]
        return {"op": "parse", "text": text}

    def pattern(self) -> dict[str, Json]:
        pattern = "".join(self.random.choices(_PATTERN_PIECES, k=self.random.randrange(1, 7)))
        text = "".join(self.random.choices(_TEXT_PIECES, k=self.random.randrange(6)))
        return {"op": "pattern", "pattern": pattern, "text": text}

    def fit(self) -> dict[str, Json]:
        declared = self.types.type(3)
        value = (
            self.values.value(declared, bent=0.2) if self.random.random() < 0.7 else self.values.anything(2)
        )
        case = {"op": "fit", "type": declared, "definitions": self.types.written(), "value": value}
        return {**case, "exact": True} if self.random.random() < 0.2 else case

    def written(self) -> dict[str, Json]:
        declared = self.types.object(3, plain=self.random.random() < 0.8)
        value = self.values.value(declared)
        if self.random.random() < 0.3:
            value = {**value, self.random.choice(("p0", "p1", "more")): self.values.anything(2)}
        return {"op": "write-document", "type": declared, "definitions": self.types.written(), "value": value}

    def read(self) -> dict[str, Json]:
        declared = self.types.type(3, plain=True) if self.random.random() < 0.9 else None
        shown = declared if self.random.random() < 0.8 else self.types.type(3, plain=True)
        value = self.values.anything(2) if shown is None else self.values.value(shown)
        returned = self.values.property(value, shown)
        document: Json = {
            "schemaType": "",
            "properties": {"androidAppfunctionsReturnValue": returned} if returned else {},
        }
        if isinstance(value, dict) and self.random.random() < 0.2:
            document = self.values.document(value, shown)
        return {
            "op": "read-document",
            "type": declared,
            "definitions": self.types.written(),
            "document": document,
        }

    def life(self) -> dict[str, Json]:
        events: list[Json] = []
        at = 0
        for _ in range(self.random.randrange(1, 30)):
            at += self.random.choice((0, 0, 1, 10, 100, 2000))
            kind = self.random.choices(("request", "result", "cancel", "died", "time"), (12, 6, 2, 1, 2))[0]
            event: dict[str, Json] = {"at": at, "event": kind}
            if kind in {"request", "result", "cancel"}:
                event |= {"caller": self.random.choice((1, 2)), "id": self.random.choice("abcdef")}
                if self.random.random() < 0.4:
                    event["carrier"] = self.random.choice(("start", "bind"))
            if kind == "request" and self.random.random() < 0.6:
                event["deadline_ms"] = self.random.choice((0, 1, 50, 100, 3000))
            events.append(event)
        case: dict[str, Json] = {"op": "life", "events": events}
        if self.random.random() < 0.5:
            names = self.random.sample(("open", "open_per_caller", "burst", "per_minute"), 2)
            case["limits"] = {name: self.random.choice((1, 2, 3, 7)) for name in names}
        return case

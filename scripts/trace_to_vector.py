"""Print the vectors of a trace: what its shim's engine got and gave, as both engines can be asked again.

Usage: trace_to_vector.py TRACE...

A trace is what `droidgate call --trace` writes. Each delivery through a shim becomes one vector of the op
`call` (shim-engine.md 9); calls by Android's own shell have none, as no engine carries them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from droidgate_mappings.model.json_values import readable_json
from droidgate_mobile_mcp.wire import read_response

SHELL_UID = 2000
ANY_ID = "*"


def vectors_of(lines: Iterable[bytes], name: str) -> Iterator[dict[str, Any]]:
    """Yield the vectors of a trace's lines; `name` is the part of their ids before the number.

    Raises:
        ValueError: the shim's response cannot be read.
    """
    events = [json.loads(line, parse_float=Decimal)["event"] for line in lines]
    deliveries = [event for event in events if event["kind"] == "delivery"]
    for number, delivery in enumerate(deliveries, start=1):
        yield _vector_of(delivery, f"{name}/{number}")


def _vector_of(delivery: dict[str, Any], identifier: str) -> dict[str, Any]:
    sent, answers = delivery["sent"], delivery["answers"]
    if delivery["id"] is not None:
        # Each engine makes another id for the request that goes out; a vector writes it so.
        sent, answers = _replaced([sent, answers], delivery["id"])
    return {
        "id": identifier,
        "source": "docs/internals/shim-engine.md 9",
        "why": f"a traced call of {delivery['to']}",
        "op": "call",
        "routes": delivery["routes"],
        "carrier": "bind",
        "caller": SHELL_UID,
        "extras": {"mobile-mcp-request": delivery["request"]},
        "approved": True,
        "backend": answers[0] if len(answers) == 1 else answers or {"silent": True},
        "expect": {
            "outgoing": sent,
            "extras": {"mobile-mcp-response": delivery["response"]},
            "token": _token_of(delivery["response"], identifier),
        },
    }


def _replaced(value: Any, identifier: str) -> Any:
    if isinstance(value, str):
        return value.replace(identifier, ANY_ID)
    if isinstance(value, list):
        return [_replaced(item, identifier) for item in value]
    if isinstance(value, dict):
        return {key: _replaced(member, identifier) for key, member in value.items()}
    return value


def _token_of(text: str, identifier: str) -> str | None:
    response = read_response(text, carrier="bind")
    if response is None:
        raise ValueError(f"{identifier}: the shim's response is not one")
    return response.token


def main(paths: list[str]) -> int:
    """Print the vectors of traces as a list."""
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    vectors = [
        vector
        for path in map(Path, paths)
        for vector in vectors_of(path.read_bytes().splitlines(), path.stem)
    ]
    print(readable_json(vectors))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

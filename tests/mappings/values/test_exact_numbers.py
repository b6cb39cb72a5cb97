"""Numbers of more digits than Decimal arithmetic keeps are compared exactly (JSON Schema 6.2.1, 6.4.3)."""

from decimal import Decimal
from typing import Any

import pytest

from droidgate_mappings.model.types import AnyType
from droidgate_mappings.values.coercion import find_violation

LONG = "1234567890123456789012345678901"


@pytest.mark.parametrize(("keywords", "value", "fits"), [
    ({"multipleOf": 2}, Decimal(f"{LONG}E+0"), False),
    ({"multipleOf": 2}, Decimal(f"{LONG[:-1]}2"), True),
    ({"multipleOf": Decimal("0.01")}, Decimal(f"0.{LONG}"), False),
    ({"multipleOf": Decimal("0.1")}, Decimal("1.30"), True),
    ({"uniqueItems": True}, [Decimal(f"0.{LONG}"), Decimal(f"0.{LONG}2"), Decimal(f"0.{LONG}0")], False),
    ({"uniqueItems": True}, [Decimal(f"0.{LONG}"), Decimal(f"0.{LONG}2")], True),
    ({"uniqueItems": True}, [100, Decimal("1E+2")], False),
    ({"uniqueItems": True}, [1, -1, 0, True, "1"], True),
])  # fmt: skip
def test_numbers_are_compared_digit_for_digit(keywords: dict[str, Any], value: Any, fits: Any) -> None:
    assert (find_violation(value, AnyType(keywords=keywords)) is None) is fits

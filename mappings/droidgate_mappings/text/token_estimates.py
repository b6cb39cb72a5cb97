"""What a text costs a model."""

from __future__ import annotations

from typing import Final

_BYTES_PER_TOKEN: Final = 4


def estimate_tokens(size: int) -> int:
    """Return the estimate of a text's tokens: its bytes divided by four, rounded up."""
    return -(-size // _BYTES_PER_TOKEN)

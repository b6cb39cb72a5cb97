"""The phone's shim and the builder compute the same digests; docs/shim.md 5 has the recipes."""

import pytest

from droidgate_mmcp.shim_backend import BroadcastListing
from droidgate_phone.apps.shim.shim_discovery import Tools, digest_of


@pytest.mark.parametrize(
    "tools",
    [
        [],
        [["weather", "Says it.", '{"place":"string"}']],
        [["b", "B", "{}"], ["a", "", ""]],
        [["weather", None, None], ["silent", None, "{}"]],
    ],
)
def test_a_discoverys_digest_is_the_builders_whatever_was_left_out(tools: Tools) -> None:
    reported = [(str(name), description, parameters) for name, description, parameters in tools]
    assert f"broadcast:{digest_of(tools)}" == BroadcastListing().digest(reported)

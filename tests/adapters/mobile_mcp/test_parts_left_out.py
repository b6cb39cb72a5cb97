"""Parts of an app that the reader leaves out are dropped, not only read."""

import pytest

from adapters.mobile_mcp.tools import CAPABILITIES, DESCRIPTION, NAME, read_app, service
from droidgate_mappings.model.findings import Level

GONE = DESCRIPTION.replace("Switches the lamp", "@string/gone")


@pytest.mark.parametrize(("services", "level"), [
    ((service(NAME, DESCRIPTION), service(NAME, DESCRIPTION, CAPABILITIES)), Level.DROPPED),
    ((service(NAME, GONE, CAPABILITIES),), Level.DROPPED),
    ((service(NAME, CAPABILITIES),), Level.READ),
])  # fmt: skip
def test_a_service_or_a_text_that_is_left_out_is_dropped(services: tuple[str, ...], level: Level) -> None:
    (finding,) = read_app(*services).findings
    assert finding.level is level

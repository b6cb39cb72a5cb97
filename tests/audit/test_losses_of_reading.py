"""What a reader leaves out is `dropped`, and reaches `--fail-on dropped`."""

from pathlib import Path

import pytest

from audit.conversions import convert, read_by_droidgate
from audit.findings import reaches
from audit.made_descriptors import Descriptor
from audit.test_real_descriptors import app_of
from droidgate.cli import run

FUNCTION = (
    "<appfunction><id>f</id><enabledByDefault>true</enabledByDefault>{}"
    "<functionId>f</functionId></appfunction>"
)
RESPONSE = (
    "<response><id>unused</id><valueType><id>unused</id><isNullable>false</isNullable><type>0</type>"
    "</valueType></response>"
)
PARAMETER = (
    "<parameters><dataTypeMetadata><id>unused</id><isNullable>false</isNullable><type>{}</type></dataTypeMetadata>"
    "<id>unused</id><isRequired>true</isRequired><name>p</name></parameters>"
)
CAPABILITY = '<capability id="c" description="C" version="1">{}</capability>'
PARAM = '<param name="p" type="{}" required="true" description="P" />'
LOSSES = {
    "a function twice": ("appfunctions",
        FUNCTION.format(RESPONSE) + FUNCTION.format(PARAMETER.format(8) + RESPONSE)),
    "a parameter twice": ("appfunctions",
        FUNCTION.format(PARAMETER.format(8) + PARAMETER.format(6) + RESPONSE)),
    "a scope in a service": ("appfunctions", FUNCTION.format(f"<scope>activity</scope>{RESPONSE}")),
    "a Mobile-MCP parameter twice": ("mobile-mcp",
        CAPABILITY.format(f"<input>{PARAM.format('string')}{PARAM.format('integer')}</input>")),
}  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_in_reading_is_dropped(loss: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    protocol, inner = LOSSES[loss]
    descriptor: Descriptor = app_of(protocol, inner)
    conversion = convert(descriptor, read_by_droidgate(descriptor, tmp_path / "app"), "mmcp")
    reported = [*conversion.reading, *conversion.findings]
    assert [item for item in reported if reaches(item.level, "dropped") and item.level != "security"], (
        reported
    )
    arguments = [str(tmp_path / "app"), "--to", "mmcp", "-o", str(tmp_path / "out"), "--json"]
    assert run(["convert", *arguments, "--fail-on", "dropped"]) == 1
    capsys.readouterr()

"""Every golden output is read as it says, and every reader has golden outputs."""

import pytest

from droidgate.devices.device_errors import DeviceOutputError, excerpt
from droidgate_mappings.model.errors import DeviceError
from gateway.devices.golden_outputs import READERS, Case, all_cases, family_of, read_case

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_output_is_read_as_the_golden_file_says(case: Case) -> None:
    if case.error is None:
        assert read_case(case) == case.parsed
        return
    with pytest.raises(DeviceError) as raised:
        read_case(case)
    assert type(raised.value).__name__ == case.error
    assert raised.value.exit_code == 4


@pytest.mark.parametrize("case", CASES, ids=str)
def test_carriage_returns_of_a_terminal_change_nothing(case: Case) -> None:
    if "\n" in str(case.parsed):
        pytest.skip("the value itself has lines")
    terminal = case.altered(
        case.stdout.replace("\n", "\r\n"), case.stderr.replace("\n", "\r\n"), case.exit_status
    )
    if case.error is None:
        assert read_case(terminal) == case.parsed
    else:
        with pytest.raises(DeviceError):
            read_case(terminal)


def test_every_reader_has_an_output_that_is_read_and_names_its_source() -> None:
    assert {family_of(case) for case in CASES if case.error is None} >= READERS.keys() - {"pm uninstall"}
    assert all(case.source for case in CASES)
    assert len({str(case) for case in CASES}) == len(CASES)


def test_what_a_device_says_is_shown_short_and_printable() -> None:
    error = DeviceOutputError(
        "getprop", "the piece is not a property", line=3, text="\x1b[2J\u202e" + "x" * 500
    )
    assert error.excerpt.startswith("\\x1b[2J\\u202e")
    assert error.excerpt.isascii()
    assert error.excerpt.isprintable()
    assert len(error.excerpt) < 200
    assert error.place == "getprop:3"
    assert excerpt("a\nb") == "a\\nb"

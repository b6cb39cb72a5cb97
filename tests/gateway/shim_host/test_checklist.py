"""Each check of `shim doctor` is a step of the page that a person with a phone works through."""

import re

from typer.main import get_command

from droidgate.cli.program import build_app
from droidgate.shims.doctor import CHECKS
from requirements_of_tests import CHECKOUT

PAGE = (CHECKOUT / "docs" / "guides" / "prove-on-a-phone.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (\d+) \| [^|]+ \| (?:`([a-z-]+)`)? ?\| ", PAGE, re.MULTILINE))


def test_each_step_has_a_section_of_its_own() -> None:
    numbers = [str(number) for number in range(1, 25)]
    assert list(ROWS) == numbers
    assert re.findall(r"^### (\d+)\. ", PAGE, re.MULTILINE) == numbers


def test_each_check_of_the_doctor_names_its_step_and_the_page_names_the_check() -> None:
    assert {step: check for step, check in ROWS.items() if check} == {
        str(item.step): item.id for item in CHECKS
    }


def test_checks_have_ids_of_their_own_and_come_in_the_order_of_the_steps() -> None:
    assert len({item.id for item in CHECKS}) == len(CHECKS)
    assert [item.step for item in CHECKS] == sorted(item.step for item in CHECKS)


def test_each_step_says_what_is_expected() -> None:
    sections = re.split(r"^### \d+\. ", PAGE, flags=re.MULTILINE)[1:]
    assert [section.partition("\n")[0] for section in sections if "xpected" not in section] == []


def test_commands_of_the_page_exist() -> None:
    shim = getattr(get_command(build_app()), "commands")["shim"]  # noqa: B009
    named = set(re.findall(r"droidgate shim ([a-z]+)", PAGE))
    assert named
    assert named <= set(shim.commands)

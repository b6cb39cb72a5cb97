"""The line of a value in a TOML document, of which tomllib says nothing."""

import pytest

from droidgate_mappings.text.toml_text import line_of

DOCUMENT = '''# a remark
a = 1
[t]
b = """
[x]
c = 2
"""
"d.e" = [
 1,
 2]
[[r]]
k = 1
[r.s]
z = {q = {w = 1}}
[[r]]
k.l = 2
[[r.u]]
v = 1
[[r.u]]
v = 2
'''


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(("keys", "line"), [
    (("a",), 2),
    (("t",), 3),
    (("t", "b"), 4),
    (("t", "d.e"), 8),
    (("t", "d.e", 1), 8),
    (("r",), 11),
    (("r", 0, "k"), 12),
    (("r", 0, "s", "z", "q", "w"), 14),
    (("r", 1), 15),
    (("r", 1, "k", "l"), 16),
    (("r", 1, "u", 1, "v"), 20),
    (("t", "c"), None),
    (("r", 2), None),
    (("r", 1, "k", 0), None),
])  # fmt: skip
def test_a_value_is_found_on_the_line_where_it_starts(
    keys: tuple[str | int, ...], line: int | None, ending: str
) -> None:
    assert line_of(DOCUMENT.replace("\n", ending), keys) == line


def test_a_value_of_very_many_lines_ends_the_search_instead_of_the_patience() -> None:
    text = "x = [\n" + "1,\n" * 5_000 + "]\ny = 1\n"
    assert line_of(text, ("y",)) is None
    assert line_of("y = 1\n" + text, ("y",)) == 1


@pytest.mark.parametrize("text", ["", "[", "= 1", "x = " + "[" * 5_000, "\0", f"x = {'9' * 5_000}"])
def test_a_text_that_is_not_toml_has_no_lines(text: str) -> None:
    assert line_of(text, ("x",)) is None

"""The command that a hint names for a missing extra works for how droidgate was installed."""

import json
from types import SimpleNamespace

import pytest

from droidgate.computer import optional_packages as extras

CASES: tuple[tuple[object, str], ...] = (
    ({"url": "file:///home/a%20b/droidgate", "dir_info": {"editable": True}},
     "-e '/home/a b/droidgate[coverage]'"),
    ({"url": "file:///tmp/d.whl", "archive_info": {}}, "'droidgate[coverage] @ file:///tmp/d.whl'"),
    ({"url": "https://example.org/d.git", "vcs_info": {"vcs": "git"}},
     "'droidgate[coverage] @ https://example.org/d.git'"),
    (None, "'droidgate[coverage]'"),
    ([], "'droidgate[coverage]'"),
)  # fmt: skip


@pytest.mark.parametrize(("origin", "arguments"), CASES)
def test_an_extra_is_added_from_where_droidgate_came(
    origin: object, arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = None if origin is None else json.dumps(origin)
    monkeypatch.setattr(extras, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))
    assert extras.install_command("coverage") == f"pip install {arguments}"


def test_a_checkout_names_itself() -> None:
    assert extras.install_command("coverage").startswith("pip install -e '/")

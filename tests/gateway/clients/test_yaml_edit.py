"""One entry of a YAML text changes, and every other line stays."""

from typing import Any

import pytest
import yaml

from droidgate.serving.client_settings.yaml_edit import read_settings, remove_entry, set_entry
from droidgate_mappings.model.errors import InputError

ENTRY: dict[str, Any] = {"enabled": True, "type": "stdio", "args": ["serve", "--serial", "a: b"], "envs": {}}
GOOSE = """\
# My goose
GOOSE_PROVIDER: anthropic   # by default
extensions:
  # what comes with it
  developer:
    bundled: true
    enabled: true
    name: developer
    type: builtin

  memory: # my notes
    type: stdio
    args: [a,   b]
    envs: {}

GOOSE_MODEL: x
"""


def test_the_rest_of_a_file_stays_as_it_was_typed() -> None:
    changed = set_entry(GOOSE, "extensions", "droidgate", ENTRY)
    added = changed.index("  droidgate:")
    assert changed[:added] + changed[changed.index("\nGOOSE_MODEL") :] == GOOSE
    expected = yaml.safe_load(GOOSE)
    expected["extensions"]["droidgate"] = ENTRY
    assert yaml.safe_load(changed) == expected
    assert remove_entry(changed, "extensions", "droidgate") == GOOSE


@pytest.mark.parametrize("text", [
    "", "a: 1", "a: 1\n", "extensions: {}\n", "extensions:\n", "extensions: # none\n",
    "extensions:\n    x:\n        type: stdio", "extensions:\r\n  x:\r\n    type: stdio\r\nb: 2\r\n",
    "'extensions':\n  x: {}\n# the end\n",
])  # fmt: skip
def test_an_entry_is_added_and_taken_out_again(text: str) -> None:
    before = yaml.safe_load(text) or {}
    servers = before.get("extensions") or {}
    added = set_entry(text, "extensions", "droidgate", ENTRY)
    assert yaml.safe_load(added) == {**before, "extensions": {**servers, "droidgate": ENTRY}}
    removed = yaml.safe_load(remove_entry(added, "extensions", "droidgate"))
    assert removed == {**before, "extensions": servers}


def test_an_entry_of_the_same_name_is_replaced_in_its_place() -> None:
    changed = set_entry(GOOSE, "extensions", "developer", ENTRY)
    loaded = yaml.safe_load(changed)
    assert loaded["extensions"]["developer"] == ENTRY
    assert list(loaded["extensions"]) == ["developer", "memory"]
    assert "memory: # my notes" in changed


@pytest.mark.parametrize(
    "text", ["- a", "a: [", "a: b: c", "\tx: 1", "a" * 5, "!!python/object:os.system {}"]
)
def test_what_is_not_a_mapping_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_settings(text, path="config.yaml")
    assert (caught.value.place or "").startswith("config.yaml")

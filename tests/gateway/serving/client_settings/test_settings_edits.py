"""One entry of a JSON, TOML or YAML text changes, and everything else stays as it was typed."""

import json
import re
import tomllib
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from droidgate.serving.client_settings import toml_edit, yaml_edit
from droidgate.serving.client_settings.json_edit import read_settings, remove_member, set_member
from droidgate.serving.client_settings.yaml_edit import remove_entry, set_entry
from droidgate_mappings.model.errors import InputError

ENTRY = {"command": "droidgate", "args": ["serve"]}


def read(text: str) -> dict[str, Any]:
    return read_settings(text, path="settings.json", comments=True)


def test_the_rest_of_a_file_stays_as_it_was_typed() -> None:
    text = """\
// My servers
{
    "theme": "dark", /* not light */
    "mcpServers": {
        // the first one
        "other": {"command": "x", "args": [1,2, 3]}, // with a comma
    },
    "last":   true
}
"""
    added = """\
// with a comma
        "droidgate": {
            "command": "droidgate",
            "args": [
                "serve"
            ]
        }
"""
    expected = text.replace("// with a comma\n", added)
    assert set_member(text, "mcpServers", "droidgate", ENTRY) == expected != text


@pytest.mark.parametrize("text", [
    "{}", "{ }\n", '{"servers":{}}', '{"servers": {\n}}', '{"servers": { /* none */ }}',
    '{"servers": {"b": 1,}}', '{"servers": {"b": 1 // one\n}}', '{"x": 1}',
    '{\r\n  "servers": {\r\n    "b": {}\r\n  }\r\n}\r\n', '{"a,b": "// no comment", "servers": {"}": "/*"}}',
])  # fmt: skip
def test_an_entry_is_added_and_taken_out_again(text: str) -> None:
    before = read(text)
    added = set_member(text, "servers", "droidgate", ENTRY)
    expected = {**before, "servers": {**before.get("servers", {}), "droidgate": ENTRY}}
    assert read(added) == expected
    removed = read(remove_member(added, "servers", "droidgate"))
    assert removed == {**before, "servers": before.get("servers", {})}
    if "\r\n" in text:
        assert re.search(r"(?<!\r)\n", added) is None


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_each_member_of_a_list_can_be_removed(name: str) -> None:
    text = '{\n  "servers": {\n    "a": 1, // first\n    "b": 2,\n    "c": 3\n  }\n}\n'
    members = {key: value for key, value in {"a": 1, "b": 2, "c": 3}.items() if key != name}
    assert read(remove_member(text, "servers", name)) == {"servers": members}


@pytest.mark.parametrize("text", [
    "[]", "{", '{"a": 1, "a": 2}', "{'a': 1}", '{"a": NaN}', "/* open", "{} /* open", "{} /*/",
    '{"a": "open}', "{" * 100, '"' + "\\" * 99,
], ids=lambda text: text[:20])  # fmt: skip
def test_a_text_that_is_not_a_json_object_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read(text)


NAMES = st.text(alphabet='ab,:{}"\\/*[] \n\u00e9', max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.dictionaries(NAMES, VALUES, max_size=4), st.randoms())
def test_other_members_stay_when_an_entry_is_added_and_removed(
    others: dict[str, Any], servers: dict[str, Any], random: Random
) -> None:
    document = {**others, "servers": servers}
    text = json.dumps(document, indent=random.choice([None, 1, 2, "\t"]), ensure_ascii=random.random() < 0.5)
    added = set_member(text, "servers", "droidgate", ENTRY)
    assert read(added) == {**document, "servers": {**servers, "droidgate": ENTRY}}
    without = {name: value for name, value in servers.items() if name != "droidgate"}
    assert read(remove_member(added, "servers", "droidgate")) == {**document, "servers": without}


# YAML


GOOSE_ENTRY: dict[str, Any] = {
    "enabled": True,
    "type": "stdio",
    "args": ["serve", "--serial", "a: b"],
    "envs": {},
}
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


def test_the_rest_of_a_yaml_file_stays_as_it_was_typed() -> None:
    changed = set_entry(GOOSE, "extensions", "droidgate", GOOSE_ENTRY)
    added = changed.index("  droidgate:")
    assert changed[:added] + changed[changed.index("\nGOOSE_MODEL") :] == GOOSE
    expected = yaml.safe_load(GOOSE)
    expected["extensions"]["droidgate"] = GOOSE_ENTRY
    assert yaml.safe_load(changed) == expected
    assert remove_entry(changed, "extensions", "droidgate") == GOOSE


@pytest.mark.parametrize("text", [
    "", "a: 1", "a: 1\n", "extensions: {}\n", "extensions:\n", "extensions: # none\n",
    "extensions:\n    x:\n        type: stdio", "extensions:\r\n  x:\r\n    type: stdio\r\nb: 2\r\n",
    "'extensions':\n  x: {}\n# the end\n",
])  # fmt: skip
def test_an_entry_of_yaml_is_added_and_taken_out_again(text: str) -> None:
    before = yaml.safe_load(text) or {}
    servers = before.get("extensions") or {}
    added = set_entry(text, "extensions", "droidgate", GOOSE_ENTRY)
    assert yaml.safe_load(added) == {**before, "extensions": {**servers, "droidgate": GOOSE_ENTRY}}
    removed = yaml.safe_load(remove_entry(added, "extensions", "droidgate"))
    assert removed == {**before, "extensions": servers}


@pytest.mark.parametrize(
    "text", ["- a", "a: [", "a: b: c", "\tx: 1", "a" * 5, "!!python/object:os.system {}"]
)
def test_what_is_not_a_yaml_mapping_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(InputError) as caught:
        yaml_edit.read_settings(text, path="config.yaml")
    assert (caught.value.place or "").startswith("config.yaml")


# TOML


CODEX_ENTRY: dict[str, Any] = {"command": "droidgate", "args": ["serve", 'a "b"'], "env": {"A B": "\\"}}
CODEX = """\
model = "x"   # fast
notes = '''
[mcp_servers.mine]
'''

[mcp_servers."other"]   # mine
command = "y"
rows = [
  [1, 2],
]
[mcp_servers.other.env]
A = "b"

# what follows
[[hooks]]
command = "z"
"""


@pytest.mark.parametrize("text", [
    "", "a = 1", "a = 1\r\n", CODEX, "[mcp_servers]\n", '[mcp_servers]\nb = {command = "y"}\n# end\n',
    'mcp_servers.b.command = "y"\n',
])  # fmt: skip
def test_an_entry_of_toml_is_added_replaced_and_taken_out_again(text: str) -> None:
    before = tomllib.loads(text)
    servers = before.get("mcp_servers", {})
    added = text
    for entry in ({"command": "old", "env": {}}, CODEX_ENTRY):
        added = toml_edit.set_entry(added, "mcp_servers", "droidgate", entry)
        assert tomllib.loads(added) == {**before, "mcp_servers": {**servers, "droidgate": entry}}
    assert added.startswith(text)
    assert toml_edit.remove_entry(added, "mcp_servers", "droidgate").rstrip() == text.rstrip()
    if "\r\n" in text:
        assert re.search(r"(?<!\r)\n", added) is None


def test_an_entry_of_toml_is_replaced_and_removed_in_its_place() -> None:
    changed = toml_edit.set_entry(CODEX, "mcp_servers", "other", {"command": "w"})
    expected = tomllib.loads(CODEX)
    expected["mcp_servers"]["other"] = {"command": "w"}
    assert tomllib.loads(changed) == expected
    removed = toml_edit.remove_entry(CODEX, "mcp_servers", "other")
    assert removed == CODEX[: CODEX.index('[mcp_servers."')] + CODEX[CODEX.index("# what follows") :]

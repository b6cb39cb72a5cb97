"""Configurations of a resource table as the qualifiers of the folders that they come from."""

import struct
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from droidgate_android.apk.resource_qualifiers import compile_qualifier, qualifier_of
from droidgate_android.apk.resource_table import read_configuration

# In the order of Android's documentation.
WORDS = (
    *("mcc310", "mnc004", "fil-rPH", "masculine", "ldrtl", "sw600dp", "w720dp", "h1024dp", "xlarge", "long"),
    *("round", "widecg", "highdr", "land", "television", "night", "xxhdpi", "finger", "keyssoft", "qwerty"),
    *("navhidden", "trackball", "1024x600", "v36"),
)
SDK_VERSION = 20
"""Where ResTable_config has it, without its size field (AOSP ResourceTypes.h)."""


@pytest.mark.parametrize(
    "qualifier", ["", *WORDS, "b+zh+Hant+TW", "b+es+419", "de", "de-rDE", "mnc000", "421dpi"]
)
def test_a_qualifier_comes_back(qualifier: str) -> None:
    assert qualifier_of(compile_qualifier(qualifier)) == qualifier


def test_two_qualifiers_come_back() -> None:
    for words in combinations(WORDS, 2):
        config = compile_qualifier("-".join(words))
        assert compile_qualifier(qualifier_of(config)) == config, words


def test_a_release_that_another_word_implies_is_left_out() -> None:
    assert qualifier_of(compile_qualifier("sw600dp-v13")) == "sw600dp"
    assert qualifier_of(compile_qualifier("sw600dp-v21")) == "sw600dp-v21"


def test_a_configuration_that_was_typed_by_hand_has_its_release() -> None:
    config = bytearray(60)
    struct.pack_into("<H", config, SDK_VERSION, 36)
    assert read_configuration(bytes(config)).qualifier == "v36"
    assert read_configuration(bytes(config[: SDK_VERSION + 4])).qualifier == "v36"
    assert read_configuration(bytes(60)).qualifier == ""


@given(st.binary(min_size=1, max_size=64))
def test_no_configuration_names_another_folder(raw: bytes) -> None:
    qualifier = read_configuration(raw).qualifier
    assert (qualifier == "") is not any(raw)
    assert set(qualifier) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-")


@given(st.binary(min_size=52, max_size=52), st.binary(min_size=52, max_size=52))
def test_configurations_that_no_folder_means_have_texts_of_their_own(first: bytes, second: bytes) -> None:
    texts = [read_configuration(raw).qualifier for raw in (first, second)]
    if first.rstrip(b"\0") != second.rstrip(b"\0") and all(text.startswith("other-") for text in texts):
        assert texts[0] != texts[1]


def test_a_region_or_script_without_a_language_is_not_a_folder() -> None:
    region, script = bytearray(60), bytearray(60)
    region[6:8] = b"DE"
    script[32:36] = b"Latn"
    texts = [read_configuration(bytes(raw)).qualifier for raw in (region, script)]
    assert all(text.startswith("other-") for text in texts)
    assert texts[0] != texts[1]

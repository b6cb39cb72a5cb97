"""What is sent between processes is sent as bytes, and comes out the same."""

import pytest
from hypothesis import given, strategies as st

from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_phone.system.intent_text import show_bundle
from droidgate_phone.system.messengers import fill_in
from droidgate_phone.system.parcels import (
    TRANSACTION_LIMIT,
    cross_bundle,
    cross_intent,
    cross_message,
    read_bundle,
    read_intent,
    write_bundle,
    write_intent,
)

TEXT = st.text(max_size=20)
INTS = st.integers(-(2**31), 2**31 - 1)
LONGS = st.integers(-(2**63), 2**63 - 1)
LEAVES = st.one_of(
    st.builds(Extra, st.just("string"), TEXT),
    st.builds(Extra, st.just("int"), INTS),
    st.builds(Extra, st.just("long"), LONGS),
    st.builds(Extra, st.just("float"), st.floats(width=32, allow_nan=False)),
    st.builds(Extra, st.just("double"), st.floats(allow_nan=False)),
    st.builds(Extra, st.just("boolean"), st.booleans()),
    st.builds(Extra, st.just("string[]"), st.lists(TEXT, max_size=4).map(tuple)),
    st.builds(Extra, st.just("int[]"), st.lists(INTS, max_size=4).map(tuple)),
    st.builds(Extra, st.just("long[]"), st.lists(LONGS, max_size=4).map(tuple)),
    st.builds(Extra, st.just("bytes"), st.binary(max_size=20)),
    st.builds(Extra, st.just("pending-intent"), TEXT),
    st.builds(Extra, st.just("messenger"), TEXT),
    st.just(Extra("null", None)),
)
BUNDLES = st.recursive(
    st.builds(Bundle, st.dictionaries(TEXT, LEAVES, max_size=4)),
    lambda inner: st.builds(
        Bundle, st.dictionaries(TEXT, LEAVES | st.builds(Extra, st.just("bundle"), inner), max_size=4)
    ),
    max_leaves=10,
)
OPTIONAL = st.none() | TEXT
INTENTS = st.builds(
    Intent,
    action=OPTIONAL,
    component=st.none() | st.builds(ComponentName, TEXT, TEXT),
    package=OPTIONAL,
    categories=st.lists(TEXT, max_size=3).map(tuple),
    data=OPTIONAL,
    mime_type=OPTIONAL,
    flags=st.integers(0, 2**32 - 1),
    extras=BUNDLES,
)


@given(BUNDLES)
def test_a_bundle_comes_out_as_it_went_in(bundle: Bundle) -> None:
    result = read_bundle(write_bundle(bundle))
    assert result == bundle
    assert list(result.values) == list(bundle.values)


@given(INTENTS)
def test_an_intent_comes_out_as_it_went_in(intent: Intent) -> None:
    assert read_intent(write_intent(intent)) == intent


@given(INTENTS, INTENTS)
def test_what_the_creator_of_a_pending_intent_set_wins(base: Intent, added: Intent) -> None:
    merged = fill_in(base, added)
    assert merged.component == base.component
    assert {key: merged.extras.values[key] for key in base.extras.values} == dict(base.extras.values)
    assert set(merged.extras.values) == set(base.extras.values) | set(added.extras.values)
    assert merged.action == (base.action if base.action is not None else added.action)
    assert fill_in(base, Intent()) == base


def test_a_string_takes_two_bytes_a_unit_as_in_a_parcel() -> None:
    empty = len(write_bundle(Bundle.of_strings({"k": ""})))
    assert len(write_bundle(Bundle.of_strings({"k": "x" * 100}))) - empty == 200
    assert len(write_bundle(Bundle.of_strings({"k": "\U0001f600" * 100}))) - empty == 400


def test_the_binder_takes_just_under_a_megabyte() -> None:
    fits = Bundle({"k": Extra("bytes", bytes(TRANSACTION_LIMIT - 24))})
    assert cross_bundle(fits) == fits
    with pytest.raises(AndroidError) as refused:
        cross_bundle(Bundle({"k": Extra("bytes", bytes(TRANSACTION_LIMIT))}))
    assert refused.value.exception == "android.os.TransactionTooLargeException"


def test_bundles_are_copied_between_processes() -> None:
    data = bytearray(b"abc")
    with pytest.raises(AndroidError):
        cross_bundle(Bundle({"k": Extra("string", 5)}))
    crossed = cross_bundle(Bundle({"k": Extra("bytes", bytes(data))}))
    data[0] = 0
    assert crossed.values["k"].value == b"abc"
    assert cross_intent(Intent("a")) == Intent("a")


def test_only_the_system_says_who_sends_a_message() -> None:
    assert cross_message(Message(1, sending_uid=1000), 10001).sending_uid == 10001


def test_bundles_are_shown_as_android_shows_them() -> None:
    bundle = Bundle(
        {
            "s": Extra("string", "a, b"),
            "f": Extra("float", 0.1),
            "d": Extra("double", 1e7),
            "n": Extra("null", None),
            "o": Extra("bundle", Bundle({"b": Extra("boolean", value=False)})),
        }
    )
    assert show_bundle(bundle) == "Bundle[{d=1.0E7, f=0.1, n=null, o=Bundle[{b=false}], s=a, b}]"
    assert (
        show_bundle(bundle, parcelled=True) == f"Bundle[mParcelledData.dataSize={len(write_bundle(bundle))}]"
    )

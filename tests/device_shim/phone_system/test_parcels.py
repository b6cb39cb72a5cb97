"""What is sent between processes is sent as bytes, and comes out the same."""

import pytest
from hypothesis import given, strategies as st

from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent, split_uri
from droidgate_phone.java.java_text import java_double, java_float, java_int
from droidgate_phone.system.intent_text import show_bundle, show_intent
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
    found = read_bundle(write_bundle(bundle))
    assert found == bundle
    assert list(found.values) == list(bundle.values)


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


def test_intents_are_shown_as_android_shows_them() -> None:
    intent = Intent(
        "a.B", ComponentName("com.x", "com.x.Y"), "com.x", ("c",), "https://u@host:1/path?q", "text/plain",
        0x10000000,
        Bundle.of_strings({"k": "v"}),
    )  # fmt: skip
    assert show_intent(intent) == (
        "Intent "
        "{ act=a.B cat=[c] dat=https://host:1/... typ=text/plain flg=0x10000000 pkg=com.x cmp=com.x/.Y "
        "(has extras) }"
    )
    assert show_intent(Intent()) == "Intent { }"


@pytest.mark.parametrize(("text", "parts"), [
    ("content://u@org.x.y:8/a/b?c#d", ("content", "org.x.y:8", "/a/b")),
    ("HTTPS://Host", ("https", "Host", "")),
    ("tel:12/3", ("tel", "", "12/3")),
    ("a/b:c", ("", "", "a/b:c")),
    ("http://[::1", ("http", "[::1", "")),
    ("::", ("", "", "::")),
    ("", ("", "", "")),
], ids=str)  # fmt: skip
def test_any_text_is_a_uri_to_android(text: str, parts: tuple[str, str, str]) -> None:
    found = split_uri(text)
    assert (found.scheme, found.host, found.path) == parts


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
    assert show_bundle(bundle) == "Bundle[{s=a, b, f=0.1, d=1.0E7, n=null, o=Bundle[{b=false}]}]"
    assert (
        show_bundle(bundle, parcelled=True) == f"Bundle[mParcelledData.dataSize={len(write_bundle(bundle))}]"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(5.0, "5.0"), (0.001, "0.001"), (1e-4, "1.0E-4"), (1e7, "1.0E7"), (123456.75, "123456.75"),
     (-0.0, "-0.0"), (1.5e300, "1.5E300"), (float("inf"), "Infinity"), (100.0, "100.0")],
)  # fmt: skip
def test_numbers_are_written_as_java_writes_them(value: float, text: str) -> None:
    assert java_double(value) == text


@pytest.mark.parametrize(("text", "number"), [
    ("0", 0), ("+5", 5), ("-2147483648", -(2**31)), ("2147483648", None), ("0" * 5000 + "7", 7),
    ("9" * 5000, None), ("\u0663", 3), ("1_0", None), (" 1", None), ("", None), ("-", None),
], ids=lambda value: str(value)[:20])  # fmt: skip
def test_a_number_is_what_java_takes_for_one(text: str, number: int | None) -> None:
    assert java_int(text) == number


def test_a_float_has_the_digits_of_a_float() -> None:
    assert java_float(3.4028235e38) == "3.4028235E38"
    assert java_float(0.1) == "0.1"
    assert java_float(16777216.0) == "1.6777216E7"

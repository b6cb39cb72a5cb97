"""A manifest is edited in place: what is not touched keeps its bytes, whatever its layout and prefixes."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from lxml import etree

from counted_work import check_linear
from droidgate_android import manifest_edit
from droidgate_android.manifest_edit import merge_manifest
from droidgate_mappings.model.errors import InputError
from titled_rows import titled

ANDROID = "http://schemas.android.com/apk/res/android"
ADDITION = f"""<manifest xmlns:android="{ANDROID}" package="ignored">
  <uses-permission android:name="android.permission.FOREGROUND_SERVICE" />
  <application android:label="ignored">
    <service android:name=".Tool" android:exported="true">
      <intent-filter><action android:name="mobile.mcp.SERVICE" /></intent-filter>
      <meta-data android:name="mobile.mcp.tool.name" android:value="A &quot;name&quot; &lt; &#10;b" />
      <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/caps" />
    </service>
  </application>
</manifest>"""
SERVICE = """        <service
            android:name=".Tool"
            android:exported="true">
            <intent-filter>
                <action android:name="mobile.mcp.SERVICE" />
            </intent-filter>
            <meta-data
                android:name="mobile.mcp.tool.name"
                android:value='A "name" &lt; &#10;b' />
            <meta-data
                android:name="mobile.mcp.tool.capabilities"
                android:resource="@xml/caps" />
        </service>
"""
PLAIN = f"""<?xml version="1.0" encoding="utf-8"?>
<!-- first -->
<manifest xmlns:android="{ANDROID}"
          package="dev.example" >

    <application android:label='@string/a>b'  ><!-- kept -->
        <activity android:name=".Main"/>

        <!-- last -->
    </application>
</manifest>
"""


def merge(text: str, addition: str = ADDITION, **more: Any) -> str:
    return merge_manifest(text, addition, path="app/AndroidManifest.xml", **more)


def test_elements_go_in_where_they_belong_and_nothing_else_changes() -> None:
    merged = merge(PLAIN)
    permission = '    <uses-permission android:name="android.permission.FOREGROUND_SERVICE" />\n'
    expected = PLAIN.replace("    <application", f"{permission}    <application", 1)
    expected = expected.replace("        <!-- last -->\n", f"        <!-- last -->\n{SERVICE}")
    assert merged == expected


def test_the_namespace_is_declared_where_the_file_declares_none() -> None:
    merged = merge("<manifest><application/></manifest>")
    assert merged.startswith(f'<manifest xmlns:android="{ANDROID}">')
    root = etree.fromstring(merged.encode())
    service = root.find("application/service")
    assert service is not None
    assert service.get(f"{{{ANDROID}}}name") == ".Tool"
    assert merge(merged) == merged


TABS = PLAIN.replace("    ", "\t").replace("\n", "\r\n")
PERMISSION = '<uses-permission android:name="android.permission.{}" />'
INTERNET, FOREGROUND = (PERMISSION.format(name) for name in ("INTERNET", "FOREGROUND_SERVICE"))
OPENED = f"{SERVICE}    </application>\n</manifest>\n"
QUERIES = """    <queries>
        <intent><action android:name="a"/></intent>
    </queries>
    <application"""
QUERIED = f"""<manifest xmlns:android="{ANDROID}"><queries>
    <intent><action android:name="b" /></intent><package android:name="c" /></queries></manifest>"""


def manifest(application: str) -> str:
    return f'<manifest xmlns:android="{ANDROID}">\n    {application}\n</manifest>\n'


def with_service(name: str) -> str:
    service = f'        <service android:name="{name}" android:label="mine"/>'
    return PLAIN.replace("        <!-- last -->", service)


def completed(name: str) -> dict[str, int]:
    return {"<service": 1, f'<service android:name="{name}" android:label="mine" android:exported="true">': 1}


# A manifest, what is merged into it, and how often the result has which text.
@titled(("text", "addition", "counts"), {
    "line ends and tabs are those of the file":
        (TABS, ADDITION, {'\r\n\t\t<service\r\n\t\t\tandroid:name=".Tool"': 1}),
    "the prefix of the namespace is that of the file":
        (PLAIN.replace("xmlns:android", "xmlns:a").replace("android:", "a:"), ADDITION,
         {'a:name=".Tool"': 1, "android:name": 0}),
    "an empty application": (manifest("<application/>"), ADDITION, {f"    <application>\n{OPENED}": 1}),
    "an empty application with a space":
        (manifest("<application />"), ADDITION, {f"    <application>\n{OPENED}": 1}),
    "an empty application with an attribute": (manifest('<application\n android:label="/>"\n/>'), ADDITION,
        {f'    <application\n android:label="/>">\n{OPENED}': 1}),
    "an end tag on the line of its element": (manifest("<application><!-- a --></application>"), ADDITION,
        {f"    <application><!-- a -->\n{OPENED}": 1}),
    "a class that is relative": (with_service(".Tool"), ADDITION, completed(".Tool")),
    "a class without a dot": (with_service("Tool"), ADDITION, completed("Tool")),
    "a class in full": (with_service("dev.example.Tool"), ADDITION, completed("dev.example.Tool")),
    "a permission after the others":
        (PLAIN.replace("    <application", f"    {INTERNET}\n\n    <application"), ADDITION,
         {f"    {INTERNET}\n    {FOREGROUND}\n\n    <application": 1}),
    "queries go into the element that is there": (PLAIN.replace("    <application", QUERIES), QUERIED,
        {"<queries>": 1, "<intent>": 2}),
})  # fmt: skip
def test_an_addition_has_the_form_of_the_file_and_is_made_once(
    text: str, addition: str, counts: dict[str, int]
) -> None:
    merged = merge(text, addition)
    assert {part: merged.count(part) for part in counts} == counts
    assert ("\r" in text) is ("\n" not in merged.replace("\r\n", ""))
    assert merge(merged, addition) == merged


def test_what_a_component_has_stays_and_what_differs_is_replaced() -> None:
    merged = merge(PLAIN)
    changed = merged.replace("@xml/caps", "@xml/old").replace(
        "</service>", '<meta-data android:name="own" android:value="1"/></service>'
    )
    again = merge(changed)
    assert '<meta-data android:name="own" android:value="1"/>' in again
    assert "@xml/old" not in again
    assert again.count("mobile.mcp.tool.capabilities") == 1


@pytest.mark.parametrize(
    ("attribute", "message"),
    [('android:exported="false"', "exported='false'"), ('android:permission="p"', "permission='p'")],
)
def test_a_component_with_other_rules_for_its_callers_is_refused(attribute: str, message: str) -> None:
    text = PLAIN.replace("        <!-- last -->", f'        <service android:name=".Tool" {attribute}/>')
    addition = ADDITION.replace('android:exported="true"', 'android:exported="true" android:permission="q"')
    with pytest.raises(InputError) as refused:
        merge(text, addition)
    assert message in refused.value.message
    assert refused.value.place == "app/AndroidManifest.xml:9"
    assert "\n" not in refused.value.message


def test_permission_that_ends_at_an_api_level_is_refused() -> None:
    text = PLAIN.replace(
        "    <application",
        "    <uses-permission"
        ' android:name="android.permission.FOREGROUND_SERVICE" android:maxSdkVersion="30"/>\n'
        "    <application",
        1,
    )
    with pytest.raises(InputError, match=r"up to Android 11 \(API 30\)"):
        merge(text)


@pytest.mark.parametrize("text", [
    "", "<manifest>", "<manifest/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><manifest>&b;</manifest>", "x",
    "<a b='<'/>",
])  # fmt: skip
def test_what_is_not_a_manifest_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        merge(text)


_BLANK = st.text(st.sampled_from(" \t\n"), max_size=4)
_SOME_BLANK = st.text(st.sampled_from(" \t\n"), min_size=1, max_size=3)
_TEXT = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="<&\"'-]\ufffe\uffff\ufeff"),
    max_size=12,
)
_COMMENT = st.builds("<!--{}-->".format, _TEXT)
_ATTRIBUTE = st.builds(
    lambda blank, number, quote, text: f"{blank}android:a{number}={quote}{text}>{quote}",
    _SOME_BLANK,
    st.integers(0, 10**6),
    st.sampled_from("\"'"),
    _TEXT,
)
_NAMED = st.sampled_from([".Main", ".Tool", "dev.example.Tool", "dev.other.Tool", "Tool2", ".Ünïcode"])
_ELEMENT = st.builds(
    lambda tag, name, attributes, inner, closed: (
        f'<{tag} android:name="{name}"{"".join(dict.fromkeys(attributes))}'
        + ("/>" if closed else f">{inner}</{tag}>")
    ),
    st.sampled_from(["activity", "receiver", "provider", "meta-data", "uses-library"]),
    _NAMED,
    st.lists(_ATTRIBUTE, max_size=1),
    st.one_of(
        _BLANK,
        _COMMENT,
        st.just("<![CDATA[<service>]]>"),
        st.just('<intent-filter/>\n<meta-data android:name="x"/>'),
    ),
    st.booleans(),
)
_CONTENT = st.lists(st.one_of(_BLANK, _COMMENT, _ELEMENT, st.just("<?pi x?>")), max_size=6).map("".join)
_MANIFEST = st.builds(
    lambda head, before, attributes, inner, after, tail, crlf: (
        f'{head}<manifest xmlns:android="{ANDROID}" package="dev.example">{before}'
        f"<application{attributes}>{inner}</application>{after}</manifest>{tail}"
    ).replace("\n", "\r\n" if crlf else "\n"),
    st.sampled_from(["", "<?xml version='1.0' encoding='utf-8'?>\n", "<!-- a -->\n"]),
    st.one_of(_BLANK, _COMMENT, st.just('\n    <uses-permission android:name="other"/>\n    ')),
    st.one_of(st.just(""), _ATTRIBUTE),
    _CONTENT,
    st.one_of(_BLANK, _COMMENT),
    _BLANK,
    st.booleans(),
)


@given(_MANIFEST)
def test_any_manifest_keeps_its_bytes_around_what_is_inserted(text: str) -> None:
    merged = merge(text)
    assert _is_text_with_two_insertions(text, merged)
    assert merge(merged) == merged
    root = etree.fromstring(merged.encode())
    services = [item for item in root.iter("service") if item.get(f"{{{ANDROID}}}name") == ".Tool"]
    assert len(services) == 1
    resources = [item.get(f"{{{ANDROID}}}resource") for item in services[0].iter("meta-data")]
    assert "@xml/caps" in resources
    assert _without_added(root) == _without_added(etree.fromstring(text.encode()))


def _is_text_with_two_insertions(text: str, merged: str) -> bool:
    """Return whether the merged text without two pieces is exactly the text."""
    before = _length_of_common_start(text, merged)
    after = _length_of_common_start(text[before:][::-1], merged[::-1])
    return text[before : len(text) - after] in merged[before : len(merged) - after]


def _length_of_common_start(first: str, other: str) -> int:
    pairs = zip(first, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(first), len(other)))


def _without_added(root: Any) -> list[tuple[str, tuple[tuple[str, str], ...], str]]:
    added = set()
    for element in root.iter(etree.Element):
        if element.tag == "service" or (element.get(f"{{{ANDROID}}}name") or "").endswith(
            "FOREGROUND_SERVICE"
        ):
            added.update(element.iter())
    return [
        (str(item.tag), tuple(sorted(item.attrib.items())), (item.text or "").strip())
        for item in root.iter(etree.Element)
        if item not in added
    ]


def test_a_long_text_that_is_not_ascii_is_decoded_once() -> None:
    class Counted(bytes):
        taken = 0

        def __getitem__(self, key: Any) -> Any:
            part = super().__getitem__(key)
            Counted.taken += len(part)
            return part

    text = "<a>é</a>" * 1000
    data = Counted(text.encode())
    offsets = manifest_edit._CharacterOffsets(data)
    ends = [number * 9 for number in range(1, 1001)]
    assert [offsets[end] for end in (*ends, 9)] == [number * 8 for number in (*range(1, 1001), 1)]
    assert Counted.taken <= len(data) + 9


def test_work_grows_with_the_length_of_both_manifests_alone() -> None:
    def components(name: str, count: int) -> str:
        inner = "".join(
            f'<activity android:name=".{name}{number}" android:exported="true" />' for number in range(count)
        )
        attributes = 'xmlns:android="http://schemas.android.com/apk/res/android" package="a.b"'
        return f"<manifest {attributes}><application>{inner}</application></manifest>"

    def merge(count: int) -> None:
        merged = merge_manifest(components("Ü", count), components("Added", count), path="m.xml")
        assert merged.count("<activity") == 2 * count

    check_linear(merge, 500)

"""Resources of a source tree: qualifiers, ids, what is refused and what is reported."""

import re
import subprocess
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from adapters.apk_reading.built_apks import texts_by_locale
from adapters.apk_writing.packed_samples import (
    EVERYTHING,
    SMALL_MANIFEST,
    build_with_aapt2,
    pack_tree,
    resource_dump,
    run_tool,
    signing_key,
    tree_of,
    values,
)
from droidgate_android.apk.pack import pack, pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_android.apk.resource_qualifiers import CONFIG_BYTES, compile_qualifier
from droidgate_android.apk.value_files import report_refused_texts
from droidgate_android.apk.xml_tree import ValueType
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.text.xml_text import parse_xml
from requirements_of_tests import require
from split_apks import pack_base_and_split
from titled_rows import titled

QUALIFIERS = (
    "de", "fil", "de-rDE", "b+es+419", "b+sr+Latn", "b+de+DE+1996", "b+zh+Hant+TW", "mcc310", "mnc00",
    "mnc260", "neuter", "ldrtl", "sw320dp", "w1dp", "h65535dp", "normal", "notlong", "notround", "nowidecg",
    "lowdr", "square", "desk", "television", "watch", "vrheadset", "appliance", "car", "night", "ldpi",
    "tvdpi", "anydpi", "nodpi", "640dpi", "stylus", "keyssoft", "nokeys", "12key", "navexposed", "wheel",
    "trackball", "320x240", "v21", "en-land-v26", "de-car-night-hdpi",
)  # fmt: skip
NOT_IN_THE_OLD_AAPT2 = {"neuter"}
WRONG = (
    "es-r419", "deutsch", "de-DE", "night-land", "v", "sw600", "mcc31", "240x320", "land-land", "xhdpi-night",
    "DE-rde-x",
)  # fmt: skip


def test_qualifiers_are_compiled_as_aapt2_compiles_them(tmp_path: Path) -> None:
    aapt2, framework = require("aapt2"), require("framework-res")
    source = tmp_path / "source"
    for qualifier in ("", *(item for item in QUALIFIERS if item not in NOT_IN_THE_OLD_AAPT2)):
        folder = source / "res" / "-".join(filter(None, ("values", qualifier)))
        folder.mkdir(parents=True)
        (folder / "texts.xml").write_text(
            f'<resources><string name="a">{qualifier or "x"}</string></resources>'
        )
    (source / "AndroidManifest.xml").write_bytes(SMALL_MANIFEST)
    theirs = build_with_aapt2(aapt2, framework, source, tmp_path, "--min-sdk-version", "1")
    ours = tmp_path / "ours.apk"
    ours.write_bytes(pack_project(source, key=signing_key("ec")))
    dumps = [run_tool(aapt2, "dump", "resources", apk) for apk in (ours, theirs)]
    assert len(dumps[0].splitlines()) > len(QUALIFIERS)
    assert sorted(dumps[0].splitlines()) == sorted(dumps[1].splitlines())


def test_a_grammatical_gender_is_the_fourth_byte_of_the_input() -> None:
    # ResTable_config of Android 14 (ResourceTypes.h): GRAMMATICAL_GENDER_FEMININE is 2.
    config = compile_qualifier("de-feminine")
    assert (config[0], config[8:10], config[19], config[24]) == (CONFIG_BYTES, b"de", 2, 34)


@pytest.mark.parametrize("qualifier", WRONG)
def test_a_wrong_qualifier_is_reported_with_its_folder(qualifier: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        pack_tree({f"res/values-{qualifier}/a.xml": "<resources/>"})
    assert raised.value.place == f"res/values-{qualifier}/a.xml"
    folder = tmp_path / f"res/values-{qualifier}"
    folder.mkdir(parents=True)
    (folder / "a.xml").write_text("<resources/>")
    aapt2 = require("aapt2")
    refused = run_tool(aapt2, "compile", "--dir", tmp_path / "res", "-o", tmp_path / "x.zip", succeeds=False)
    assert "invalid" in refused


def of_values(text: str, message: str) -> tuple[dict[str, str], str, str]:
    """Return a file of values with one line, the place of the line, and what is wrong with it."""
    return values(text), "values.xml:1", message


@titled(("files", "place", "message"), {
    "a duplicate name": of_values('<string name="a">1</string><string name="a">2</string>', "second time"),
    "a word for a number": of_values('<integer name="a">one</integer>', "integer/a cannot be 'one'"),
    "no such resource": of_values('<string name="a">@string/none</string>', "no resource @string/none"),
    "not in Android": of_values('<string name="a">@android:string/none</string>', "no public resource"),
    "an attribute of no theme": of_values('<string name="a">?theme</string>', "no resource @attr/theme"),
    "a string without a name": of_values("<string>x</string>", "has no name"),
    "a name with a space": of_values('<string name="a b">x</string>', "cannot be the name"),
    "an overlay": of_values('<overlayable name="x"/>', "<overlayable> is not packed"),
    "an unknown quantity":
        of_values('<plurals name="a"><item quantity="lots">x</item></plurals>', "is not a quantity"),
    "an item's format": of_values('<item name="a" type="dimen" format="x">1</item>', "X is not a format"),
    "an attribute's format": of_values('<attr name="a" format="number"/>', "NUMBER is not a format"),
    "a style without its parent": of_values('<style name="A.B"/>', "no resource @style/A"),
    "an unknown attribute in a style":
        of_values('<style name="A"><item name="android:none">x</item></style>', "no attribute"),
    "another root": ({"res/values/a.xml": "<resource/>"}, "values/a.xml:1", "not <resources>"),
    "XML without an end tag": ({"res/values/a.xml": "<resources>"}, "values/a.xml:1:12", "not well-formed"),
    "an unknown folder": ({"res/strange/a.xml": "<a/>"}, "strange/a.xml", "is not a folder of resources"),
    "a file outside of the folders": ({"res/a.xml": "<a/>"}, "res/a.xml", "folder of its type"),
    "duplicate files": ({"res/xml/a.xml": "<a/>", "res/xml/a.json": "{}"}, "res/xml/a.xml", "second time"),
    "an attribute as an element":
        ({"res/xml/a.xml": '<a xmlns:aapt="http://schemas.android.com/aapt"><aapt:attr name="x"/></a>'},
     "xml/a.xml:1", "aapt:attr"),
    "an unknown attribute in XML":
        ({"res/xml/a.xml": '\n<a xmlns:app="http://schemas.android.com/apk/res-auto" app:title="x"/>'},
     "xml/a.xml:2", "the app has no attribute title"),
})  # fmt: skip
def test_what_cannot_be_packed_is_reported_with_its_line(
    files: dict[str, str], place: str, message: str
) -> None:
    with pytest.raises(InputError) as raised:
        pack_tree(files)
    assert (raised.value.place or "").endswith(place)
    assert message in raised.value.message


@pytest.mark.parametrize(("attributes", "message"), [
    ('android:exported="yes"', "exported cannot be 'yes'"),
    ('android:launchMode="twice"', "launchMode cannot be 'twice'"),
    ('android:configChanges="locale|moon"', "configChanges cannot be"),
    ('android:noSuchThing="x"', "Android 16 has no attribute noSuchThing"),
    ('android:label="@string/none"', "no resource @string/none"),
    ('android:theme="@android:style/None"', "no public resource @android:style/None"),
    ('android:label="${unknown}"', "${unknown}"),
])  # fmt: skip
def test_a_manifest_that_android_would_not_take_is_reported_with_its_line(
    attributes: str, message: str
) -> None:
    activity = f'<application>\n<activity android:name="X" {attributes}/></application>'.encode()
    with pytest.raises(InputError) as raised:
        pack_tree({}, manifest=SMALL_MANIFEST.replace(b"<application/>", activity))
    assert raised.value.place == "AndroidManifest.xml:3"
    assert message in raised.value.message


def test_markup_nine_patches_and_other_products_are_reported_and_nothing_else() -> None:
    tree = {
        **values(
            '<string name="a">plain <b>bold</b> <i>and <u>more</u></i></string>',
            '<string name="b" product="tablet">only there</string>',
            '<string name="b">here</string>',
            """<string name="c">"quoted 's" and \\'s</string>\n<string name="d">it's</string>""",
        ),
        "res/drawable/frame.9.png": "not compiled",
    }
    packing = pack(
        {"AndroidManifest.xml": SMALL_MANIFEST, **{name: text.encode() for name, text in tree.items()}},
        key=signing_key("ec"),
        dex=[b"dex\n035\0"],
    )
    reported = {(finding.code, str(finding.source)) for finding in packing.findings}
    assert {item for item in reported if item[0] != "release-assumed"} == {
        ("styled-string", "res/values/values.xml:1"),
        ("product-left-out", "res/values/values.xml:1"),
        ("unescaped-apostrophe", "res/values/values.xml:2"),
        ("nine-patch-not-compiled", "res/drawable/frame.9.png"),
    }
    with open_apk(packing.apk) as apk:
        assert apk.resources is not None
        ids = [apk.resources.find(f"@string/{name}") or 0 for name in "ab"]
        texts = [getattr(apk.resources.default_value(item), "text", None) for item in ids]
        assert texts == ["plain bold and more", "here"]
        assert apk.resources.find("@drawable/frame") is not None


@pytest.mark.requires("aapt2")
@titled(("declared", "is_refused"), {
    "bare": ("""<string name="a">it's</string>""", True),
    "as an entity": ("""<string name="a">it&apos;s</string>""", True),
    "behind quotes": ("""<string name="a">"q" it's</string>""", True),
    "in an array": ("""<string-array name="a"><item>ok</item><item>it's</item></string-array>""", True),
    "in a plural": ("""<plurals name="a"><item quantity="other">it's</item></plurals>""", True),
    "in a style": ("""<style name="a"><item name="android:text">it's</item></style>""", True),
    "escaped": (r"""<string name="a">it\'s</string>""", False),
    "in quotes": ("""<string name="a">"it's"</string>""", False),
    "in a comment": ("""<string name="a">its<!-- it's --></string>""", False),
    "in what is skipped": ("""<skip>it's</skip><eat-comment/>""", False),
    "a code with two digits": (r"""<string name="a">\u20 and</string>""", True),
    "a code with a letter in it": (r"""<string name="a">\u00g4</string>""", True),
    "a code in markup": (r"""<string name="a"><b>\u20 and</b></string>""", True),
    "a code in an array": (r"""<array name="a"><item>\u20 and</item></array>""", True),
    "a short code at the end": (r"""<string name="a">a \u20</string>""", False),
    "a code of four digits, and more": (r"""<string name="a">\u00e4b\u</string>""", False),
    "a code behind a backslash": (r"""<string name="a">C:\\u20 and</string>""", False),
    "a short code in front of blanks": (r"""<string name="a">\u20  </string>""", False),
    "two substitutions, which Gradle's --legacy accepts": ("""<string name="a">%s of %s</string>""", False),
})  # fmt: skip
def test_a_text_is_reported_where_aapt2_refuses_it(
    declared: str, *, is_refused: bool, tmp_path: Path
) -> None:
    file = tmp_path / "res/values/values.xml"
    file.parent.mkdir(parents=True)
    file.write_text(f"<resources>{declared}</resources>")
    words = (
        require("aapt2"),
        "compile",
        "--legacy",
        "--dir",
        tmp_path / "res",
        "-o",
        tmp_path / "compiled.zip",
    )
    compiled = subprocess.run([*map(str, words)], check=False, capture_output=True, text=True)
    findings = list(report_refused_texts(parse_xml(file.read_text(), path="values.xml"), ""))
    assert (compiled.returncode != 0, bool(findings)) == (is_refused, is_refused), compiled.stderr


def test_a_text_longer_than_aapt2_can_hold_is_whole(tmp_path: Path) -> None:
    text = "word " * 9_000
    packed = pack_tree(values(f'<string name="long">{text}</string>', '<string name="emoji">😀</string>'))
    (tmp_path / "app.apk").write_bytes(packed)
    dump = run_tool(require("aapt2"), "dump", "resources", tmp_path / "app.apk")
    assert text.strip() in dump
    assert "😀" in dump
    assert "STRING_TOO_LARGE" not in dump


def test_ids_depend_on_names_and_not_on_the_order_of_files() -> None:
    x, y = ('<bool name="x">true</bool>', '<bool name="y">true</bool>')
    first = {"res/values/b.xml": f"<resources>{x}</resources>"}
    other = {"res/values/a.xml": f"<resources>{y}</resources>"}
    merged = {"res/values/c.xml": f"<resources>{y}{x}</resources>"}
    assert pack_tree({**first, **other}) == pack_tree({**other, **first}) == pack_tree(merged)


def test_a_split_holds_the_values_that_its_base_leaves_out(tmp_path: Path) -> None:
    aapt2 = require("aapt2")
    tree = {
        "AndroidManifest.xml": SMALL_MANIFEST,
        "res/values/a.xml": b"""<resources>
            <string name="a">English</string><bool name="z">true</bool></resources>""",
        "res/values-de/a.xml": b'<resources><string name="a">Deutsch</string></resources>',
    }
    base, split = pack_base_and_split(tree, key=signing_key("ec"))
    with open_apk(base) as alone:
        assert set(texts_by_locale(alone.resources, 0x7F020000)) == {""}
    with open_apk(base, splits=[split]) as both:
        assert texts_by_locale(both.resources, 0x7F020000) == {"": "English", "de": "Deutsch"}
    (tmp_path / "split.apk").write_bytes(split)
    badge = run_tool(aapt2, "dump", "xmltree", tmp_path / "split.apk", "--file", "AndroidManifest.xml")
    assert 'A: split="config.de"' in badge
    assert "hasCode" in badge
    assert "Deutsch" in resource_dump(aapt2, tmp_path / "split.apk")


def test_the_build_files_id_placeholders_and_namespace_reach_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "src/main").mkdir(parents=True)
    (tmp_path / "build.gradle").write_text(
        "android { namespace 'org.code'\n defaultConfig { applicationId 'org.shop'\n minSdkVersion 24\n"
        " targetSdkVersion 34\n versionCode 12\n versionName '3.4'\n"
        " manifestPlaceholders = [host: 'example.org'] } }"
    )
    (tmp_path / "src/main/AndroidManifest.xml").write_text(
        """<manifest xmlns:android="http://schemas.android.com/apk/res/android"
        xmlns:tools="http://schemas.android.com/tools"><application android:name="App">
        <activity android:name=".Main"><meta-data android:name="h" android:value="https://${host}/${applicationId}"/>
        </activity><service android:name="org.other.Service"/>
        <receiver android:name=".Gone" tools:node="remove"/></application></manifest>"""
    )
    with open_apk(pack_project(tmp_path, key=signing_key("ec"))) as apk:
        assert (apk.package, apk.version_code, apk.version_name) == ("org.shop", 12, "3.4")
        assert (apk.minimum_sdk, apk.target_sdk) == (24, 34)
        application = next(apk.manifest.child_elements("application"))
        names = [item.find_attribute("name") for item in (application, *application.child_elements())]
        assert [item.text for item in names if item] == ["org.code.App", "org.code.Main", "org.other.Service"]
        meta = next(next(application.child_elements("activity")).child_elements())
        value = meta.find_attribute("value")
        assert value is not None
        assert (value.type, value.text) == (ValueType.STRING, "https://example.org/org.shop")


# Broken source trees: an APK that reads, or an error of ours, never anything else

TREE = tree_of(EVERYTHING)
TEXTS = sorted(name for name in TREE if name.endswith(".xml"))
PIECES = st.sampled_from([
    b"", b"<", b">", b'"', b"&", b"&#0;", b"\0", b"\xff", b"@", b"?", b"@+id/", b"@null", b"${", b"\\u",
    b"<item/>", b"<string/>", b'name=""', b"</resources>", b"<!--", b"<![CDATA[", b"\\", b"-1", b"9" * 40,
    b"@string/alias", b"@style/Plain.Wide", b"android:", b'xmlns:a="urn:a"', b"format=", b"\xf0\x9f\x98\x80",
])  # fmt: skip

# Values and texts: whether a file can be compiled depends on them more often than on markup.
_VALUES = re.compile(rb'(?<=["\'>])([^"\'<>]+)(?=["\'<])')


@st.composite
def mutated_files(draw: st.DrawFn) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(TEXTS))
        data = files.get(name, TREE[name])
        if draw(st.booleans()):
            start, end = draw(st.sampled_from([match.span(1) for match in _VALUES.finditer(data)]))
            start = draw(st.integers(start, end))
            end = draw(st.integers(start, end))
        else:
            start = draw(st.integers(0, len(data)))
            end = start + draw(st.integers(0, 12))
        files[name] = data[:start] + draw(PIECES) + data[end:]
    return files


def _packed(tree: dict[str, bytes]) -> bytes | DroidgateError:
    try:
        return pack_project(tree, key=signing_key("ec"))
    except DroidgateError as error:
        return error


@given(mutated_files())
@example({})
@example({"AndroidManifest.xml": b""})
@example({"res/color/tint.xml": b"<a><![CDATA[\n</a>"})
def test_a_mutated_tree_gives_an_apk_or_a_typed_error(files: dict[str, bytes]) -> None:
    packed = _packed(TREE | files)
    if isinstance(packed, DroidgateError):
        assert packed.message
        assert "\n" not in packed.message
        return
    with open_apk(packed) as apk:
        assert apk.manifest.tag == "manifest"
        assert not apk.findings


@given(
    st.dictionaries(
        st.text("ab_1.", min_size=1, max_size=5) | st.text(min_size=1, max_size=20),
        st.binary(max_size=30),
        max_size=2,
    )
)
def test_files_of_any_name_give_an_apk_or_a_typed_error(files: dict[str, bytes]) -> None:
    tree = {"AndroidManifest.xml": b'<manifest package="a.b"/>'}
    tree |= {f"assets/{name}": data for name, data in files.items()}
    tree |= {f"res/raw/{name}": data for name, data in files.items()}
    packed = _packed(tree)
    if isinstance(packed, DroidgateError):
        return
    with open_apk(packed) as apk:
        assert apk.manifest.tag == "manifest"


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "AndroidManifest.xml").write_text('<manifest package="a.b"/>')
    (tmp_path / "assets").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/file.txt").write_text("secret")
    (tmp_path / "assets/folder").symlink_to(tmp_path / "secret")
    with open_apk(pack_project(tmp_path, key=signing_key("ec"))) as apk:
        assert not [name for name in apk.archive.entry_names if name.startswith("assets/")]

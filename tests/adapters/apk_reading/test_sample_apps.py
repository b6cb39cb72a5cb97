"""An APK says what the source tree says that it was built from."""

import struct

import pytest
from hypothesis import given, strategies as st
from lxml import etree

from adapters.apk_reading.built_apks import FORMS, SAMPLES, apk_of, sample_apk, source_tree, texts_by_locale
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.reader import open_apk
from droidgate_android.apk.resource_qualifiers import compile_qualifier, qualifier_of
from droidgate_android.apk.resource_table import read_configuration
from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.aapt_text import read_xml_attribute
from droidgate_mappings.text.configured_flags import is_qualifier
from hand_made_apks import ANDROID

MANIFEST = f"""<manifest xmlns:android="{ANDROID}" package="dev.droidgate.forms">
  <application android:label="@string/name" android:description="@string/about">
    <meta-data android:name="text" android:value="a \\n b" />
    <meta-data android:name="reference" android:value="@string/real" />
    <meta-data android:name="file" android:value="@xml/one" />
    <meta-data android:name="number" android:value="007" />
    <meta-data android:name="hexadecimal" android:value="0xFFFFFFFF" />
    <meta-data android:name="fraction" android:value="1.10" />
    <meta-data android:name="flag" android:value="@bool/on" />
    <meta-data android:name="colour" android:value="#f00" />
    <meta-data android:name="count" android:value="@integer/count" />
    <meta-data android:name="nothing" android:value="@null" />
    <meta-data android:name="resource" android:resource="@array/files" />
    <property android:name="held" android:value="true" />
    <activity android:name=".Main" android:launchMode="singleTask" android:exported="@bool/on"
        android:configChanges="orientation|screenSize" android:theme="@android:style/Theme" />
    <activity-alias android:name="dev.other.Alias" android:targetActivity=".Main"
        android:enabled="false" />
    <receiver android:name="Receiver" android:permission="a.b.C" android:label="plain" />
    <provider android:name=".Provider" android:authorities="a;b" android:enabled="@bool/off" />
  </application>
</manifest>"""

VALUES = """<resources xmlns:x="urn:x">
  <string name="name">Tool \\u00e9 "  kept  "</string>
  <string name="about">@string/real</string>
  <string name="real">Real \U0001f600 text</string>
  <bool name="on">true</bool>
  <bool name="off">false</bool>
  <integer name="count">-5</integer>
  <string-array name="files"><item>@xml/one</item><item>plain</item><item>@string/real</item></string-array>
  <plurals name="days"><item quantity="one">day</item><item quantity="other">days</item></plurals>
  <style name="Look"><item name="android:textSize">12sp</item></style>
</resources>"""

XML = """<one a="&lt;&quot;&amp;&#10;&#9;' ]]&gt;" b=" 7 " c="1.0" d="TRUE"
  e="@string/real" f="10dp" g="50%" h="#fff" i="0x1F" l="-10.5dp" m="-50%p" n="-1.5"
  j="\\u0041\\@" k="-3">text &amp; <![CDATA[<more>]]>
  <two>\U0001f600</two>
</one>"""

TRANSLATED = {
    "de": "Echter Text", "b+csb": "Kasz\u00ebbi", "b+sr+Latn": "Latinica", "b+es+419": "Latino",
    "zh-rTW": "\u6587\u672c",
}  # fmt: skip
FILES = {
    "AndroidManifest.xml": MANIFEST,
    "res/values/values.xml": VALUES,
    "res/xml/one.xml": XML,
    **{
        f"res/values-{qualifier}/values.xml": f'<resources><string name="real">{text}</string></resources>'
        for qualifier, text in TRANSLATED.items()
    },
    "res/raw/notes.txt": "a\nb \u20ac",
    "assets/deep/er.json": '{"a": 1}',
}


def application_of_apk(data: bytes) -> Application:
    return read_application(open_apk(data))


def providers_of(application: Application) -> tuple[list[Provider], list[tuple[str, str | None]]]:
    """Return what all formats read of an app, and code and rule of each finding."""
    readings = [item.read_application(application, ReadingContext()) for item in load_formats().values()]
    findings = [(item.code, item.rule) for reading in readings for item in reading.findings]
    return [item for reading in readings for item in reading.providers], findings


@pytest.mark.parametrize("form", [item for item in FORMS if item != "collapsed names"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_app_reads_alike_from_its_apk_and_from_its_source(sample: str, form: str) -> None:
    built, findings = providers_of(application_of_apk(sample_apk(sample, form)))
    source, source_findings = providers_of(application_from_tree(source_tree(sample)))
    assert [item.content_digest() for item in built] == [item.content_digest() for item in source]
    assert findings == source_findings


@pytest.mark.parametrize("sample", SAMPLES)
def test_collapsed_names_change_nothing_but_the_name_of_the_descriptor(sample: str) -> None:
    built, _ = providers_of(application_of_apk(sample_apk(sample, "collapsed names")))
    source, _ = providers_of(application_from_tree(source_tree(sample)))
    names = [facts.get("resource") for item in built for facts in item.extensions.values()]
    assert all(item is None or item.startswith("@xml/0x7f") for item in names)
    digests = (
        [item.changed({"extensions": {}}).content_digest() for item in side] for side in (built, source)
    )
    assert next(digests) == next(digests)


def stated_in(component: Component) -> list[tuple[object, ...]]:
    items = (*component.meta_data, *component.properties)
    return [(item.name, item.value, item.resource) for item in items]


@pytest.mark.parametrize("form", [item for item in FORMS if item != "collapsed names"])
def test_every_kind_of_value_reads_as_from_the_source(form: str) -> None:
    built = application_of_apk(apk_of(FILES, form))
    source = application_from_tree({name: text.encode() for name, text in FILES.items()})
    for name in ("package", "label", "description"):
        assert getattr(built, name) == getattr(source, name)
    for ours, theirs in zip(built.components, source.components, strict=True):
        assert built.qualified_name(ours) == source.qualified_name(theirs)
        for name in ("kind", "exported", "enabled", "permission", "label", "description"):
            assert getattr(ours, name) == getattr(theirs, name)
        assert stated_in(ours) == stated_in(theirs) or form == "short paths"
        assert ours.place is not None
        assert theirs.place is not None
        assert ours.place.line == theirs.place.line
        words = {name: set(text.split("|")) for name, text in ours.attributes.items()}
        assert words == {name: set(text.split("|")) for name, text in theirs.attributes.items()}
    for reference in ("@string/name", "@string/about", "@string/real", "@string/none", "@xml/one"):
        ours_text = built.resources.read_text(reference)
        assert ours_text == source.resources.read_text(reference) or reference == "@xml/one"
    assert built.resources.read_array("@array/files") == source.resources.read_array("@array/files")
    assert built.resources.read_array("@array/none") is None
    raw = built.resources.read_file("@raw/notes")
    assert raw is not None
    assert (raw.text, raw.compiled) == (FILES["res/raw/notes.txt"], False)
    asset = built.resources.read_asset("deep/er.json")
    assert asset is not None
    assert asset.text == FILES["assets/deep/er.json"]
    assert built.resources.read_asset("none") is None


@pytest.mark.parametrize("form", FORMS)
def test_compiled_xml_is_the_text_that_a_device_gives(form: str) -> None:
    application = application_of_apk(apk_of(FILES, form))
    source = etree.fromstring(XML.encode())
    meta_data = application.components[0].find_meta_data("resource")
    assert meta_data is not None
    references = application.resources.read_array(meta_data.resource or "")
    assert references is not None
    file = application.resources.read_file(references[0])
    assert file is not None
    assert file.compiled
    assert file.place.path.startswith("<bytes>!/res/")
    root = etree.fromstring(file.text.encode())
    for element, written in zip(root.iter(), source.iter(), strict=True):
        assert element.tag == written.tag
        for text in (file.text, XML):
            assert element.sourceline == text[: text.index(f"<{element.tag!s}")].count("\n") + 1
        raw = {str(name): str(text) for name, text in written.attrib.items()}
        read = {name: read_xml_attribute(text) for name, text in raw.items()}
        expected = raw | {"j": "A@"} if form == "raw values" else read
        expected["e"] = str(element.get("e")) if form == "collapsed names" else "@string/real"
        assert dict(element.attrib) == (expected if raw else {})
    assert "".join(root.itertext()).split() == "".join(source.itertext()).split()
    assert root.text is not None
    assert root.text.startswith("text & <more>")


def test_collapsed_names_differ_by_their_ids() -> None:
    built = application_of_apk(apk_of(FILES, "collapsed names"))
    meta_data = {item.name: item for item in built.components[0].meta_data}
    assert meta_data["reference"].value == "Real \U0001f600 text"
    files = built.resources.read_array(meta_data["resource"].resource or "")
    assert files is not None
    assert [item[:9] for item in files] == ["@xml/0x7f", "plain", "@string/0"]
    assert built.resources.read_text(files[2]) == "Real \U0001f600 text"
    file = built.resources.read_file(files[0])
    assert file is not None
    assert file.text.startswith("<one ")


def test_versions_levels_and_locales_of_an_apk_are_read() -> None:
    flags = ("--version-code", "7", "--version-code-major", "2", "--min-sdk-version", "26")
    application = application_of_apk(apk_of(FILES, "plain", *flags, "--target-sdk-version", "35"))
    assert application.version_code == (2 << 32) + 7
    assert (application.minimum_sdk, application.target_sdk) == (26, 35)
    assert application.signers == ()
    with open_apk(apk_of(FILES)) as apk:
        assert apk.resources is not None
        real = apk.resources.find("@string/real")
        assert real is not None
        assert texts_by_locale(apk.resources, real) == {
            "": "Real \U0001f600 text", "de": "Echter Text", "csb": "Kasz\u00ebbi", "sr-Latn": "Latinica",
            "es-419": "Latino", "zh-TW": "\u6587\u672c",
        }  # fmt: skip


# Configurations of a resource table as the qualifiers of the folders that they come from

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
def test_a_qualifier_is_read_back_from_its_compiled_form(qualifier: str) -> None:
    assert qualifier_of(compile_qualifier(qualifier)) == qualifier


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


@pytest.mark.parametrize("text", ["", "land-v36", "b+sr+Latn", "de-rDE", "w600dp-h400dp", "car"])
def test_the_qualifier_of_a_folder_is_recognised(text: str) -> None:
    assert is_qualifier(text)
    compile_qualifier(text)


@pytest.mark.parametrize("text", ["other-ff", "b+", "v36-land", "land-land", "x_y", "-land"])
def test_what_no_folder_can_have_is_not_a_qualifier(text: str) -> None:
    assert not is_qualifier(text)
    with pytest.raises(InputError):
        compile_qualifier(text)

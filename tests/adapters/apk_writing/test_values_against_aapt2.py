"""Random values, typed and escaped by us and by Android's own compiler, which have to agree."""

import random
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from adapters.apk_writing.packed_samples import build_with_aapt2, resource_dump, signing_key, xml_dump
from droidgate_android.apk.pack import pack
from droidgate_android.apk.packed_manifest import AppFacts
from requirements_of_tests import require

PIECES = (
    *"0123456789.eE+-#x%abcdfp \\\"'/:_",
    *(
        "0x",
        "dp",
        "dip",
        "sp",
        "px",
        "pt",
        "mm",
        "in",
        "%p",
        "inf",
        "nan",
        "true",
        "TRUE",
        "false",
        "10",
        "255",
    ),
    *(
        "\\n",
        "\\u0041",
        "\\u00e9",
        "\\@",
        "\\?",
        "\\'",
        '\\"',
        "\\\\",
        "é",
        "😀",
        "@null",
        "@empty",
        "@foo",
        "1.5",
    ),
)


def _random_values(seed: int, count: int) -> list[str]:
    generator = random.Random(seed)
    return ["".join(generator.choices(PIECES, k=generator.randint(0, 5))) for _ in range(count)]


def _without_apostrophes(text: str) -> str:
    """Return a text that aapt2 takes as a string: it refuses a bare apostrophe."""
    return text.replace("\\'", "").replace("'", "")


def _tree(folder: Path, texts: list[str]) -> None:
    (folder / "res/xml").mkdir(parents=True)
    (folder / "res/values").mkdir()
    meta = "".join(
        f'<meta-data android:name="n{number}" android:value={quoteattr(text)}/>'
        for number, text in enumerate(texts)
    )
    (folder / "AndroidManifest.xml").write_text(
        f'<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="a.b">'
        f"<application>{meta}</application></manifest>"
    )
    items = "".join(f"<item value={quoteattr(text)}/>" for text in texts)
    (folder / "res/xml/items.xml").write_text(f"<items>{items}</items>")
    strings = "".join(
        f'<string name="s{number}" formatted="false">{_without_apostrophes(text)}</string>'
        for number, text in enumerate(texts)
    )
    (folder / "res/values/strings.xml").write_text(f"<resources>{strings}</resources>")


@pytest.mark.parametrize("seed", range(4))
def test_random_values_are_typed_and_escaped_alike(tmp_path: Path, seed: int) -> None:
    aapt2, framework = require("aapt2"), require("framework-res")
    source = tmp_path / "source"
    _tree(source, _random_values(seed, 400))
    theirs = build_with_aapt2(
        *(aapt2, framework, source, tmp_path, "--min-sdk-version", "26", "--target-sdk-version", "36"),
        *("--version-code", "1", "--version-name", "1"),
    )
    ours = tmp_path / "ours.apk"
    facts = AppFacts(version_code=1, version_name="1", minimum_sdk=26, target_sdk=36)
    ours.write_bytes(pack(source, key=signing_key("ec"), facts=facts).apk)
    for name in ("AndroidManifest.xml", "res/xml/items.xml"):
        assert xml_dump(aapt2, ours, name) == xml_dump(aapt2, theirs, name)
    assert resource_dump(aapt2, ours) == resource_dump(aapt2, theirs)

"""Broken source trees: an APK that reads, or an error of ours, never anything else."""

import re
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import example, given

from adapters.apk_writing.packed_samples import EVERYTHING, signing_key, tree_of
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.model.errors import DroidgateError

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
            start, end = draw(st.sampled_from([found.span(1) for found in _VALUES.finditer(data)]))
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
def test_a_mutated_tree_becomes_an_apk_or_an_error_of_ours(files: dict[str, bytes]) -> None:
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
def test_files_of_any_name_become_an_apk_or_an_error_of_ours(files: dict[str, bytes]) -> None:
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

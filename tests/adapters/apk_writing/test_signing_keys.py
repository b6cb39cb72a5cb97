"""Keys: kept once, for their owner alone; signatures that are the same each time."""

import os
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from cryptography import x509

from adapters.apk_writing.packed_samples import (
    SAMPLE_MODULES,
    module_folder,
    packed_module,
    run_tool,
    signing_key,
)
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing import sign_apk
from droidgate_android.apk.signing_keys import KeyType, key_path, load_key, load_or_make_key, make_key
from droidgate_android.apk.zip_writer import write_zip
from droidgate_mappings.model.errors import InputError, WriteError


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("key_type", ["ec", "rsa"])
def test_a_key_is_made_once_and_only_its_owner_reads_it(key_type: KeyType) -> None:
    first = load_or_make_key(key_type)
    path = key_path(key_type)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0
    assert [item.name for item in path.parent.iterdir()] == [path.name]
    second = load_or_make_key(key_type)
    assert second.digest == first.digest
    assert second.sign(b"data") == first.sign(b"data")


def test_the_kept_file_is_what_openssl_calls_a_key_and_a_certificate() -> None:
    load_or_make_key("ec")
    key = run_tool("openssl", "pkey", "-in", key_path("ec"), "-noout", "-text")
    assert "prime256v1" in key
    certificate = run_tool("openssl", "x509", "-in", key_path("ec"), "-noout", "-subject")
    assert "droidgate" in certificate
    assert "BEGIN PRIVATE KEY" in key_path("ec").read_text()


@pytest.mark.skipif(os.name != "posix", reason="files have no such modes there")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620], ids=oct)
def test_a_key_that_others_could_have_read_or_changed_is_refused(mode: int) -> None:
    load_or_make_key("ec")
    key_path("ec").chmod(mode)
    with pytest.raises(InputError, match="others can read") as raised:
        load_or_make_key("ec")
    assert raised.value.hint is not None
    assert "chmod 600" in raised.value.hint


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_a_file_that_is_not_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key.pem"
    path.touch(0o600)
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a signing key"):
        load_key(path)


def test_a_certificate_of_another_key_is_refused(tmp_path: Path) -> None:
    load_or_make_key("ec")
    path = tmp_path / "mixed.pem"
    path.touch(0o600)
    marker = "-----BEGIN CERTIFICATE-----"
    own = key_path("ec").read_text().partition(marker)[0]
    other = load_or_make_key("ec", path=tmp_path / "other.pem").certificate
    assert isinstance(other, x509.Certificate)
    path.write_text(own + marker + (tmp_path / "other.pem").read_text().partition(marker)[2])
    with pytest.raises(InputError, match="another key"):
        load_key(path)


def test_a_key_of_the_other_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    load_or_make_key("ec", path=path)
    with pytest.raises(InputError, match="kind ec"):
        load_or_make_key("rsa", path=path)


def test_a_key_that_cannot_be_kept_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="cannot be kept"):
        load_or_make_key("ec", path=tmp_path / "file" / "key.pem")


@pytest.mark.parametrize("key_type", ["ec", "rsa"])
@pytest.mark.parametrize("minimum_sdk", [21, 26])
@pytest.mark.parametrize("module", SAMPLE_MODULES[:2])
def test_packing_twice_gives_the_same_bytes(module: str, minimum_sdk: int, key_type: KeyType) -> None:
    again = pack_project(module_folder(module), key=signing_key(key_type), minimum_sdk=minimum_sdk)
    assert packed_module(module, key_type, minimum_sdk) == again


def test_an_app_for_an_android_before_sha_256_is_refused() -> None:
    with pytest.raises(WriteError, match="API 18"):
        sign_apk({"AndroidManifest.xml": b""}, make_key(), minimum_sdk=17)


def test_an_archive_is_what_pythons_own_module_reads() -> None:
    files = {"a.txt": b"text " * 100, "é/ü.png": b"stored", "empty": b"", "resources.arsc": b"x" * 1000}
    with zipfile.ZipFile(BytesIO(write_zip(files).joined())) as archive:
        assert archive.testzip() is None
        assert {item.filename: archive.read(item) for item in archive.infolist()} == files
        methods = {item.filename: item.compress_type for item in archive.infolist()}
    assert methods == {"a.txt": 8, "é/ü.png": 0, "empty": 0, "resources.arsc": 0}

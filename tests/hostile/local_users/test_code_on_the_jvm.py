"""Shims on the JVM: only the shipped code runs, with pinned jars, from a folder that is the user's alone."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from device_shim.shim_phone import hand_made_shim
from device_shim.shim_phone.tool_apps import TOOL, ToolApp, tool_apk, tool_routes
from device_shim.shim_phone.world import World, key
from droidgate_mappings.model.errors import UsageError
from droidgate_phone.apps.jvm_shim import jvm_parts, private_folder
from droidgate_shim.builder.dex import shim_dex

STRANGER = 54321
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user, which only root can")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of this test."""
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "droidgate"))
    monkeypatch.setattr(jvm_parts, "_checked_here", {})
    return tmp_path / "droidgate" / "cache" / "shim-runtime"


# The dex


def shipped() -> bytes:
    dex = shim_dex()
    assert dex is not None
    return dex


@pytest.mark.parametrize("change", ["appended", "one bit", "empty", "another"])
def test_a_changed_dex_is_refused_with_its_digest(change: str) -> None:
    own = shipped()
    dex = {
        "appended": own + b"\0",
        "one bit": own[:-1] + bytes([own[-1] ^ 1]),
        "empty": b"",
        "another": b"dex\n035\0" + bytes(112),
    }[change]
    with pytest.raises(UsageError, match=hashlib.sha256(dex).hexdigest()) as refused:
        jvm_parts.check_dex(dex)
    assert hashlib.sha256(own).hexdigest() in refused.value.message
    jvm_parts.check_dex(own)


def test_a_changed_dex_is_refused_before_it_is_used(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(jvm_parts, "compiled_bridge", lambda _: pytest.fail("it went on"))
    nothing = jvm_parts.JvmParts(Path("jdk"), (), Path("framework"), ())
    with pytest.raises(UsageError):
        jvm_parts.classes_of_dex(nothing, shipped() + b"\0")
    assert not cache.exists()


@pytest.fixture
def world(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A phone whose shims run on the JVM, with the user's own compiled parts."""
    del cache
    monkeypatch.delenv("DROIDGATE_HOME")
    world = World(behaviours={TOOL: ToolApp}, shim_runtime="jvm")
    world.install(tool_apk())
    yield world
    world.close()


@pytest.mark.slow
@pytest.mark.requires("newer-jdk", "robolectric", "dex2jar")
@pytest.mark.timeout(600)
def test_a_shim_with_other_code_is_there_and_idle(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack of issue 14: the classes of whatever was installed ran as the user who started the phone."""
    with monkeypatch.context() as patch:
        patch.setattr(hand_made_shim, "shim_dex", lambda: shipped() + b"\0")
        world.install(hand_made_shim.make_shim(tool_routes(), key=key(), package="dev.made.changed"))
    world.install(hand_made_shim.make_shim(tool_routes(), key=key()))
    ran = world.run(
        "content", "call", "--uri", "content://dev.made.changed.host", "--method", "hello", "--arg", "e30"
    )
    assert "java.lang.SecurityException: classes.dex has the SHA-256" in ran.stderr
    [refused] = world.system.log.of_kind("refused-code")[:1]
    assert refused["package"] == "dev.made.changed"
    assert hashlib.sha256(shipped() + b"\0").hexdigest() in str(refused["reason"])
    assert world.host("status")["open"] == 0


# The jars


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A local Maven repository with two pinned jars; returns the first."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    folder = tmp_path / "home" / ".m2" / "repository" / "org" / "example"
    pinned = {}
    for name in ("one", "two"):
        path = folder / name / "1.0" / f"{name}-1.0.jar"
        path.parent.mkdir(parents=True)
        path.write_bytes(name.encode() * 1000)
        pinned[f"org.example:{name}:1.0"] = hashlib.sha256(name.encode() * 1000).hexdigest()
    monkeypatch.setattr(jvm_parts, "_pinned", lambda: {"runtime": pinned})
    return folder / "one" / "1.0" / "one-1.0.jar"


def test_a_changed_jar_is_refused_with_both_digests_and_the_fix(jars: Path) -> None:
    jars.write_bytes(b"other")
    with pytest.raises(UsageError, match=hashlib.sha256(b"other").hexdigest()) as refused:
        jvm_parts.pinned_jars("runtime")
    assert hashlib.sha256(b"one" * 1000).hexdigest() in refused.value.message
    assert refused.value.hint is not None
    assert "fetch_robolectric.sh" in refused.value.hint


@pytest.mark.parametrize("is_new_process", [False, True])
def test_a_jar_that_changes_after_it_was_checked_is_refused(
    jars: Path, monkeypatch: pytest.MonkeyPatch, *, is_new_process: bool
) -> None:
    jvm_parts.pinned_jars("runtime")
    if is_new_process:
        monkeypatch.setattr(jvm_parts, "_checked_here", {})
    before = jars.stat()
    jars.write_bytes(b"eno" * 1000)
    # The same size and, as far as a user can set it, the same time.
    os.utime(jars, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert jars.stat().st_mtime_ns == before.st_mtime_ns
    with pytest.raises(UsageError, match="SHA-256"):
        jvm_parts.pinned_jars("runtime")


def test_a_jar_is_read_once(jars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = jvm_parts.pinned_jars("runtime")
    assert jars in first
    monkeypatch.setattr(jvm_parts, "_digest_of_file", lambda _: pytest.fail("it was read again"))
    assert jvm_parts.pinned_jars("runtime") == first
    monkeypatch.setattr(jvm_parts, "_checked_here", {})
    assert jvm_parts.pinned_jars("runtime") == first


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"a": 1}', b"{"])
def test_what_was_written_about_jars_and_cannot_be_read_proves_nothing(
    jars: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    jvm_parts.pinned_jars("runtime")
    monkeypatch.setattr(jvm_parts, "_checked_here", {})
    (cache / "checked-jars.json").write_bytes(content)
    jars.write_bytes(b"other")
    with pytest.raises(UsageError, match="SHA-256"):
        jvm_parts.pinned_jars("runtime")


def test_every_jar_is_pinned() -> None:
    pinned = jvm_parts._pinned()
    assert set(pinned) == {"runtime", "framework", "dex"}
    for jars_of_group in pinned.values():
        assert all(len(digest) == 64 and int(digest, 16) for digest in jars_of_group.values())
        assert all(len(coordinates.split(":")) == 3 for coordinates in jars_of_group)


# The cache


def test_the_folder_is_the_user_s_alone(cache: Path) -> None:
    assert private_folder.runtime_folder() == cache
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_what_lies_in_a_folder_that_others_could_write_to_is_not_used(cache: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    (cache / "bridge-1").mkdir()
    (cache / "bridge-1" / "Planted.class").write_bytes(b"code")
    (cache / "shim-1.jar").write_bytes(b"code")
    (cache / "link").symlink_to("/etc/passwd")
    private_folder.runtime_folder()
    assert list(cache.iterdir()) == []
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert Path("/etc/passwd").exists()


def test_what_an_older_version_made_for_reading_stays(cache: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o755)
    (cache / "kept").write_bytes(b"x")
    private_folder.runtime_folder()
    assert (cache / "kept").read_bytes() == b"x"
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_a_folder_that_others_can_replace_is_refused_with_the_fix(cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.parent.chmod(0o777)
    with pytest.raises(UsageError, match="others can replace") as refused:
        private_folder.runtime_folder()
    assert f"chmod go-w {cache.parent}" in str(refused.value.hint)
    # As /tmp: others may add to it, and not rename what is not theirs.
    cache.parent.chmod(0o1777)
    assert private_folder.runtime_folder() == cache


@AS_ROOT
def test_another_user_s_folder_is_refused(cache: Path) -> None:
    cache.mkdir(parents=True)
    os.chown(cache, STRANGER, STRANGER)
    with pytest.raises(UsageError, match="belongs to another user"):
        private_folder.runtime_folder()
    os.chown(cache, 0, 0)
    os.chown(cache.parent, STRANGER, STRANGER)
    with pytest.raises(UsageError, match="others can replace"):
        private_folder.runtime_folder()


def test_a_folder_behind_a_link_is_judged_where_it_is(cache: Path, tmp_path: Path) -> None:
    cache.parent.mkdir(parents=True)
    elsewhere = tmp_path / "open" / "folder"
    elsewhere.mkdir(parents=True)
    elsewhere.parent.chmod(0o777)
    cache.symlink_to(elsewhere)
    with pytest.raises(UsageError, match="others can replace"):
        private_folder.runtime_folder()


def test_a_planted_apk_is_replaced(cache: Path) -> None:
    path = jvm_parts.kept_apk(b"an apk")
    assert path.parent == cache
    path.write_bytes(b"planted")
    assert jvm_parts.kept_apk(b"an apk").read_bytes() == b"an apk"


@pytest.mark.parametrize("kind", ["link", "open file", pytest.param("stranger's file", marks=AS_ROOT)])
def test_a_planted_file_is_made_anew(cache: Path, tmp_path: Path, kind: str) -> None:
    folder = private_folder.runtime_folder()
    planted = folder / "shim-1.jar"
    if kind == "link":
        (tmp_path / "target").write_bytes(b"planted")
        planted.symlink_to(tmp_path / "target")
    else:
        planted.write_bytes(b"planted")
        if kind == "open file":
            planted.chmod(0o666)
        else:
            os.chown(planted, STRANGER, STRANGER)
    jar = jvm_parts._made_once("shim-1.jar", lambda path: jvm_parts._write(path, b"made"))
    assert jar.read_bytes() == b"made"
    assert not jar.is_symlink()
    assert [item.name for item in cache.iterdir()] == ["shim-1.jar"]

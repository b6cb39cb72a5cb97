"""What the JVM needs: a JDK, jars from the local Maven repository, each compared with the SHA-256 that
`jars.toml` pins, and the bridge, compiled once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import droidgate_shim
from droidgate_mappings.model.errors import UsageError
from droidgate_phone.apps.jvm_shim.private_folder import is_own, runtime_folder
from droidgate_shim.builder.dex import shim_dex
from droidgate_shim.builder.sample_apps import agent_dex

_FETCH: Final = "scripts/fetch_robolectric.sh downloads 1.2 GB from Maven Central, once"
_CHECKED: Final = "checked-jars.json"

NAMED_BY_SHADOWS: Final = (
    "android/app/AppOpsManager$OnOpNotedCallback.class", "android/app/AsyncNotedAppOp.class",
)  # fmt: skip
"""Classes of Android 11 that a shadow of Robolectric 4.17 names, without which it has no Android 10."""

_checked_here: dict[str, str] = {}


@cache
def _pinned() -> dict[str, dict[str, str]]:
    text = files(__package__).joinpath("jars.toml").read_text("utf-8")
    return {group: dict(jars) for group, jars in tomllib.loads(text).items()}


def pinned_jars(group: str) -> tuple[Path, ...]:
    """Return the jars of a group of `jars.toml`, in its order.

    Raises:
        UsageError: one is missing, or is not the one that is pinned.
    """
    paths = {}
    for coordinates, digest in _pinned()[group].items():
        path = _path(coordinates)
        if not path.is_file():
            raise UsageError(
                f"shims on the JVM need {coordinates} in the local Maven repository", hint=_FETCH
            )
        paths[path] = digest
    _check(paths)
    return tuple(paths)


def _path(coordinates: str) -> Path:
    group, name, version = coordinates.split(":")
    repository = Path.home() / ".m2" / "repository"
    return repository / group.replace(".", "/") / name / version / f"{name}-{version}.jar"


def _check(paths: dict[Path, str]) -> None:
    """Compare each file with its digest, unless it was compared and has not changed since."""
    states = {_state(path): (path, digest) for path, digest in paths.items()}
    if all(_checked_here.get(state) == digest for state, (_, digest) in states.items()):
        return
    file = runtime_folder() / _CHECKED
    checked_digests = {**_read(file), **_checked_here}
    is_new = False
    for state, (path, digest) in states.items():
        if checked_digests.get(state) != digest:
            actual_digest = _digest_of_file(path)
            if actual_digest != digest:
                raise UsageError(
                    f'{path} has the SHA-256 "{actual_digest}", "{digest}" is required',
                    hint=f"delete it and fetch it again: {_FETCH}",
                )
            checked_digests[state] = digest
            is_new = True
        _checked_here[state] = digest
    if is_new:
        _write_checked(file, checked_digests)


def _state(path: Path) -> str:
    """Return what changes with a file's content; the time of the last status change cannot be set back."""
    facts = path.stat()
    return f"{path}|{facts.st_dev}|{facts.st_ino}|{facts.st_size}|{facts.st_mtime_ns}|{facts.st_ctime_ns}"


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _read(file: Path) -> dict[str, str]:
    if not is_own(file):
        return {}
    try:
        read = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(state): str(digest) for state, digest in read.items()} if isinstance(read, dict) else {}


def _write_checked(file: Path, known: dict[str, str]) -> None:
    handle, partial = tempfile.mkstemp(dir=file.parent)
    with contextlib.suppress(OSError):
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            json.dump(known, opened, indent=1)
        Path(partial).replace(file)


LEAST_JDK: Final = 21
JDK_VARIABLE: Final = "DROIDGATE_JDK"
_JDK_FOLDERS: Final = Path("/usr/lib/jvm")


@dataclass(frozen=True, slots=True)
class JvmParts:
    """The parts, found.

    Attributes:
        jdk: The JDK's folder.
        runtime: What the JVM runs with.
        framework: Android's classes, for compiling.
        dex: What turns a dex back into class files.
    """

    jdk: Path
    runtime: tuple[Path, ...]
    framework: Path
    dex: tuple[Path, ...]

    def program(self, name: str) -> str:
        """Return a program of the JDK."""
        return str(self.jdk / "bin" / name)


def find_parts() -> JvmParts:
    """Return the parts.

    Raises:
        UsageError: one is missing or is not the pinned one; the message says how to get it.
    """
    jdk = _find_jdk()
    if jdk is None:
        raise _missing(
            f"a JDK of version {LEAST_JDK} or later", f"install one, or name its folder in {JDK_VARIABLE}"
        )
    if not _sources().is_dir():
        raise _missing("the Java sources next to it", "run it in a clone of the repository")
    # Robolectric finds the other jars of the framework in the local repository by itself.
    return JvmParts(jdk, pinned_jars("runtime"), pinned_jars("framework")[0], pinned_jars("dex"))


def _missing(what: str, hint: str) -> UsageError:
    return UsageError(f"shims on the JVM need {what}", hint=hint)


def _find_jdk() -> Path | None:
    """Return the newest JDK that is new enough: the named one, that on PATH, or one next to it."""
    folders = [Path(os.environ[JDK_VARIABLE])] if os.environ.get(JDK_VARIABLE) else []
    on_path = shutil.which("javac")
    if on_path is not None:
        folders.append(Path(on_path).resolve().parents[1])
    if _JDK_FOLDERS.is_dir():
        folders += sorted(_JDK_FOLDERS.iterdir())
    fit = [(version, folder) for folder in folders if (version := _version_of(folder)) >= LEAST_JDK]
    return max(fit, default=(0, None), key=lambda item: item[0])[1]


def _version_of(jdk: Path) -> int:
    """Return a JDK's major version as its `release` file has it, 0 where it is not a JDK."""
    release = jdk / "release"
    if not (jdk / "bin" / "javac").is_file() or not release.is_file():
        return 0
    match = re.search(r'JAVA_VERSION="(\d+)', release.read_text("utf-8", errors="replace"))
    return int(match[1]) if match is not None else 0


def _module() -> Path:
    return Path(droidgate_shim.__file__).parents[1] / "android" / "robolectric" / "src"


def _sources() -> Path:
    return _module() / "runtime" / "java"


def compiled_bridge(parts: JvmParts) -> Path:
    """Return the folder with the bridge's classes, compiled where they are not there yet.

    Raises:
        UsageError: they do not compile.
    """
    folders = (_sources(), _module() / "shared" / "java")
    sources = [path for folder in folders for path in sorted(folder.rglob("*.java"))]
    settings = _module() / "runtime" / "resources" / "robolectric.properties"
    digest = hashlib.sha256(b"\0".join(source.read_bytes() for source in (*sources, settings))).hexdigest()

    def compile_into(folder: Path) -> None:
        folder.mkdir()
        path = os.pathsep.join(map(str, (parts.framework, *parts.runtime, *parts.dex)))
        options = ["-proc:none", "-nowarn", "-Xlint:none", "--release", str(LEAST_JDK)]
        _run([parts.program("javac"), *options, "-d", str(folder), "-cp", path, *map(str, sources)])
        shutil.copy(settings, folder)
        with zipfile.ZipFile(parts.framework) as framework:
            framework.extractall(folder, NAMED_BY_SHADOWS)

    return _made_once(f"bridge-{digest[:32]}", compile_into)


def check_dex(dex: bytes) -> None:
    """Check that a dex is one that is shipped: its classes get the rights of this program.

    Raises:
        UsageError: the dex is another one.
    """
    digest, shipped = _digest(dex), [_digest(shim_dex() or b""), _digest(agent_dex())]
    if digest not in shipped:
        raise UsageError(
            f'classes.dex has the SHA-256 "{digest}"; only those shipped run on the JVM, "{shipped[0]}" of '
            f'shims and "{shipped[1]}" of the agent',
            hint="build the app again with this droidgate, or use the shim runtime python",
        )


def classes_of_dex(parts: JvmParts, dex: bytes) -> Path:
    """Return a jar with the class files of a shipped dex.

    Raises:
        UsageError: it is another dex, or it cannot be turned back.
    """
    check_dex(dex)
    bridge = compiled_bridge(parts)

    def turn_back(made: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, result = Path(folder, "classes.dex"), Path(folder, "classes.jar")
            source.write_bytes(dex)
            # The frames of the class files are computed with Android's class hierarchy.
            path = os.pathsep.join(map(str, (bridge, *parts.dex, parts.framework)))
            program = [parts.program("java"), "-cp", path, "dev.droidgate.runtime.DexToClasses"]
            _run([*program, str(source), str(result)])
            shutil.copy(result, made)

    return _made_once(f"app-{_digest(dex)[:32]}.jar", turn_back)


def kept_apk(apk: bytes) -> Path:
    """Return a file with an APK, whose name holds its digest."""
    name = f"{_digest(apk)}.apk"
    apk_file = runtime_folder() / name
    if is_own(apk_file) and apk_file.read_bytes() != apk:
        apk_file.unlink()
    return _made_once(name, lambda path: _write(path, apk))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _made_once(name: str, make: Callable[[Path], None]) -> Path:
    folder = runtime_folder()
    path = folder / name
    if is_own(path):
        return path
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        temporary_path = Path(temporary, name)
        make(temporary_path)
        temporary_path.chmod(0o700 if temporary_path.is_dir() else 0o600)
        if not path.exists():
            temporary_path.rename(path)
    return path


def _run(command: list[str]) -> None:
    run = subprocess.run(  # noqa: S603 - a JDK's own program, with our own options
        command, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise UsageError(f"{Path(command[0]).name} failed: {run.stderr.strip()[-2000:]}")

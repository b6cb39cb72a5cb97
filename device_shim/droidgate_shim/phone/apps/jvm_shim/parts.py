"""What the JVM is made of: a JDK, jars from the local Maven repository, and the bridge, compiled once."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import droidgate_shim
from droidgate.model.errors import UsageError
from droidgate.user_folders import cache_folder

LEAST_JDK: Final = 21
JDK_VARIABLE: Final = "DROIDGATE_JDK"
_JDK_FOLDERS: Final = Path("/usr/lib/jvm")
_FETCH: Final = "scripts/fetch_robolectric.sh downloads 0.8 GB from Maven Central, once"
_ROBOLECTRIC: Final = "4.16"
_DEX2JAR: Final = "2.4.24"
_DEX2JAR_ASM: Final = "9.7.1"
_FRAMEWORK: Final = "org.robolectric:android-all:16-robolectric-13921718"
_INSTRUMENTED: Final = "org.robolectric:android-all-instrumented:16-robolectric-13921718-i7"

_RUNTIME_JARS: Final = (
    *(
        f"org.robolectric:{name}:{_ROBOLECTRIC}"
        for name in (
            "robolectric", "shadows-framework", "shadowapi", "annotations", "junit", "sandbox", "utils",
            "utils-reflector", "resources", "pluginapi", "plugins-maven-dependency-resolver", "nativeruntime",
        )
    ),
    "org.robolectric:android-all-instrumented:10-robolectric-5803371-i7",
    "junit:junit:4.13.2",
    "org.hamcrest:hamcrest-core:1.3",
    "com.google.guava:guava:33.4.8-jre",
    "com.google.guava:failureaccess:1.0.3",
    *(f"org.ow2.asm:{name}:9.8" for name in ("asm", "asm-tree", "asm-commons")),
    "javax.inject:javax.inject:1",
    "javax.annotation:javax.annotation-api:1.3.2",
    "org.bouncycastle:bcprov-jdk18on:1.81",
    "org.conscrypt:conscrypt-openjdk-uber:2.5.2",
    "com.almworks.sqlite4java:sqlite4java:1.0.392",
    "com.ibm.icu:icu4j:77.1",
)  # fmt: skip
_DEX_JARS: Final = (
    *(
        f"de.femtopedia.dex2jar:{name}:{_DEX2JAR}"
        for name in (
            "dex-translator", "dex-ir", "dex-reader", "dex-reader-api", "d2j-base-cmd", "d2j-external",
        )
    ),
    *(
        f"org.ow2.asm:{name}:{_DEX2JAR_ASM}"
        for name in ("asm-tree", "asm-util", "asm-commons", "asm-analysis")
    ),
    "org.ow2.asm:asm:9.8",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parts:
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


def find_parts() -> Parts:
    """Return the parts.

    Raises:
        UsageError: one is missing; the message says how to get it.
    """
    jdk = _find_jdk()
    if jdk is None:
        raise _missing(
            f"a JDK of version {LEAST_JDK} or later", f"install one, or name its folder in {JDK_VARIABLE}"
        )
    if not _sources().is_dir():
        raise _missing("the Java sources beside it", "run it in a clone of the repository")
    return Parts(jdk, _jars(_RUNTIME_JARS), _jars((_FRAMEWORK, _INSTRUMENTED))[0], _jars(_DEX_JARS))


def _missing(what: str, how: str) -> UsageError:
    return UsageError(f"shims on the JVM need {what}", hint=how)


def _jars(coordinates: Iterable[str]) -> tuple[Path, ...]:
    repository = Path.home() / ".m2" / "repository"
    found = []
    for one in coordinates:
        group, name, version = one.split(":")
        path = repository / group.replace(".", "/") / name / version / f"{name}-{version}.jar"
        if not path.is_file():
            raise _missing(f"{one} in the local Maven repository", _FETCH)
        found.append(path)
    return tuple(found)


def _find_jdk() -> Path | None:
    """Return the newest JDK that is new enough: the named one, that on PATH, or one beside it."""
    folders = [Path(os.environ[JDK_VARIABLE])] if os.environ.get(JDK_VARIABLE) else []
    on_path = shutil.which("javac")
    if on_path is not None:
        folders.append(Path(on_path).resolve().parents[1])
    if _JDK_FOLDERS.is_dir():
        folders += sorted(_JDK_FOLDERS.iterdir())
    fit = [(version, one) for one in folders if (version := _version_of(one)) >= LEAST_JDK]
    return max(fit, default=(0, None), key=lambda one: one[0])[1]


def _version_of(jdk: Path) -> int:
    """Return a JDK's major version as its `release` file tells it, 0 where it is none."""
    release = jdk / "release"
    if not (jdk / "bin" / "javac").is_file() or not release.is_file():
        return 0
    found = re.search(r'JAVA_VERSION="(\d+)', release.read_text("utf-8", errors="replace"))
    return int(found[1]) if found is not None else 0


def _module() -> Path:
    return Path(droidgate_shim.__file__).parents[1] / "android" / "robolectric" / "src"


def _sources() -> Path:
    return _module() / "runtime" / "java"


def compiled_bridge(parts: Parts) -> Path:
    """Return the folder with the bridge's classes, compiled where they are not there yet.

    Raises:
        UsageError: they do not compile.
    """
    folders = (_sources(), _module() / "test" / "java" / "androidx")
    sources = [one for folder in folders for one in sorted(folder.rglob("*.java"))]
    settings = _module() / "runtime" / "resources" / "robolectric.properties"
    digest = hashlib.sha256(b"\0".join(one.read_bytes() for one in (*sources, settings))).hexdigest()

    def compile_into(folder: Path) -> None:
        folder.mkdir()
        path = os.pathsep.join(map(str, (parts.framework, *parts.runtime, *parts.dex)))
        options = ["-proc:none", "-nowarn", "-Xlint:none", "--release", str(LEAST_JDK)]
        _run([parts.program("javac"), *options, "-d", str(folder), "-cp", path, *map(str, sources)])
        shutil.copy(settings, folder)

    return _made_once(f"bridge-{digest[:32]}", compile_into)


def classes_of_dex(parts: Parts, dex: bytes) -> Path:
    """Return a jar with the class files of a dex.

    Raises:
        UsageError: it cannot be turned back.
    """
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

    return _made_once(f"shim-{hashlib.sha256(dex).hexdigest()[:32]}.jar", turn_back)


def kept_apk(apk: bytes) -> Path:
    """Return a file with an APK, whose name holds its digest."""
    return _made_once(f"{hashlib.sha256(apk).hexdigest()}.apk", lambda path: _write(path, apk))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _made_once(name: str, make: Callable[[Path], None]) -> Path:
    folder = cache_folder() / "shim-runtime"
    path = folder / name
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        made = Path(temporary, name)
        make(made)
        if not path.exists():
            made.rename(path)
    return path


def _run(command: list[str]) -> None:
    run = subprocess.run(  # noqa: S603 - a JDK's own program, with our own options
        command, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise UsageError(f"{Path(command[0]).name} failed: {run.stderr.strip()[-2000:]}")

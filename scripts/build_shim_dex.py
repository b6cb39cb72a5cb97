"""Make the `classes.dex` of the shim and of the agent: `.venv/bin/python scripts/build_shim_dex.py [FOLDER]`.

javac of JDK 25 (`--release 8`) against Android 16's classes, then R8; both are fetched from Maven Central by
`mvn` where the local repository has not got them, and both are pinned by their SHA-256. The same sources make
the same bytes; without FOLDER the committed files are written.

R8 looks each member that the classes refer to up in its own database of the Android SDK's public API; this
script fails on one that is not there, so that the app cannot use what Android hides.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parent.parent
JDK_MAJOR: Final = 25
JDK_FOLDERS: Final = Path("/usr/lib/jvm")
LEAST_API: Final = 24
# javac and R8 end before the second stage of the JVM's compiler pays off: without it they take half the time.
JVM: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g")
_FILE_SIZE: Final = 32
_MAP_OFFSET: Final = 52
_DATA_SIZE: Final = 104
_DEBUG_INFO: Final = 0x2003
# The classes that R8 makes of lambdas have names of 70 characters otherwise.
SHORT_NAMES: Final = "-Dcom.android.tools.r8.desugar.minimizeSyntheticNames=1"
UNKNOWN_API: Final = "com.android.tools.r8.reportUnknownApiReferences"


class BuildError(Exception):
    """The dex cannot be made; the message says why and what helps."""


@dataclass(frozen=True)
class Artifact:
    """A jar on Maven Central."""

    group: str
    name: str
    version: str
    sha256: str

    def path(self) -> Path:
        """Return the jar in the local repository, fetched if need be and compared with its digest.

        Raises:
            BuildError: it cannot be had, or is not the one that is pinned.
        """
        folder = Path.home() / ".m2/repository" / self.group.replace(".", "/") / self.name / self.version
        jar = folder / f"{self.name}-{self.version}.jar"
        if not jar.is_file():
            maven = shutil.which("mvn")
            if maven is None:
                raise BuildError(f"{self.name} {self.version} is not here and mvn is missing to fetch it")
            coordinates = f"-Dartifact={self.group}:{self.name}:{self.version}"
            _run(maven, "--quiet", "--batch-mode", "dependency:get", "-Dtransitive=false", coordinates)
        digest = hashlib.sha256(jar.read_bytes()).hexdigest()
        if digest != self.sha256:
            raise BuildError(f"{jar.name} has the digest {digest}, not {self.sha256}")
        return jar


@dataclass(frozen=True)
class App:
    """An app whose dex is committed.

    Attributes:
        target: The dex.
        sources: Folders of Java sources.
        rules: What R8 may not rename, remove or merge.
    """

    target: Path
    sources: tuple[Path, ...]
    rules: Path


_DEVICE: Final = CHECKOUT / "device_shim"
_RULES: Final = Path(__file__).parent
SHIM: Final = App(
    _DEVICE / "droidgate_shim" / "builder" / "classes.dex",
    tuple(_DEVICE / "android" / part / "src" / "main" / "java" for part in ("core", "app")),
    _RULES / "build_shim_dex.pro",
)
AGENT: Final = App(
    _DEVICE / "apps" / "agent" / "classes.dex",
    (_DEVICE / "apps" / "agent" / "app" / "src" / "main" / "java",),
    _RULES / "build_agent_dex.pro",
)
R8: Final = Artifact(
    "com.android.tools", "r8", "8.13.6", "228cbafd252858a2dc618368b57f0e376b387c8bfae9213e48024f8f84120c6d"
)
ANDROID: Final = Artifact(
    "org.robolectric",
    "android-all",
    "16-robolectric-13921718",
    "8b74a0a137330658d2f33f0dc715d42734f74ba8b2d7014fc2e95aa40d3f682d",
)


def find_jdk() -> Path:
    """Return the home of a JDK of the pinned major version.

    Raises:
        BuildError: no such JDK is installed.
    """
    named = os.environ.get("DROIDGATE_JDK")
    on_path = shutil.which("javac")
    candidates = [Path(named)] if named else []
    candidates += [Path(on_path).resolve().parent.parent] if on_path else []
    candidates += sorted(JDK_FOLDERS.glob("*"))
    for home in candidates:
        javac = home / "bin" / "javac"
        if javac.is_file() and re.match(rf"javac {JDK_MAJOR}\b", _run(javac, "-version")):
            return home
    raise BuildError(f"no JDK {JDK_MAJOR} is below {JDK_FOLDERS}; name its folder in DROIDGATE_JDK")


def _run(*command: str | Path) -> str:
    run = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=900)
    if run.returncode != 0:
        raise BuildError(f"{Path(command[0]).name} failed:\n{run.stdout}{run.stderr}")
    return run.stdout + run.stderr


def compile_classes(jdk: Path, out: Path, *, app: App = SHIM, debug: str = "-g:none") -> Path:
    """Compile an app for Java 8 into a folder and return it; a warning fails.

    Raises:
        BuildError: with what the compiler says.
    """
    sources = sorted(path for folder in app.sources for path in folder.rglob("*.java"))
    flags = ["--release", str(8), "-Xlint:all,-options,-classfile", "-Werror", "-proc:none", debug]
    flags += ["-encoding", "UTF-8", *(f"-J{flag}" for flag in JVM)]
    _run(jdk / "bin/javac", *flags, "-cp", ANDROID.path(), "-d", out, *sources)
    return out


def make_dex(classes: Path, jdk: Path, out: Path, rules: Path = SHIM.rules) -> bytes:
    """Return the dex of compiled classes, made in the folder `out`.

    Raises:
        BuildError: R8 says so, or a class refers to what is not public API of Android's.
    """
    command: list[str | Path] = [jdk / "bin/java", *JVM, f"-D{UNKNOWN_API}=1", SHORT_NAMES, "-cp", R8.path()]
    command += ["com.android.tools.r8.R8", "--release", "--min-api", str(LEAST_API)]
    command += ["--lib", ANDROID.path(), "--lib", jdk, "--pg-conf", rules, "--output", out]
    output = _run(*command, *sorted(classes.rglob("*.class")))
    # A line with one name is of a class that R8 came across; our references have a type and a name.
    hidden = re.findall(r"^Warning: (\S+ \S.*) cannot be found in the api database", output, re.MULTILINE)
    if hidden:
        raise BuildError("references to what is not public API:\n" + "\n".join(hidden))
    return without_debug_items((out / "classes.dex").read_bytes())


def without_debug_items(dex: bytes) -> bytes:
    """Return a dex of R8's without its debug items: they number instructions for a mapping that nobody keeps.

    What follows them moves up, so each place that names its offset is changed (source.android.com, Dalvik
    executable format).
    """
    data = bytearray(dex)

    def word(at: int) -> int:
        return int.from_bytes(data[at : at + 4], "little")

    def put(at: int, value: int) -> None:
        data[at : at + 4] = value.to_bytes(4, "little")

    def numbers(at: int, count: int) -> tuple[list[int], int]:
        found = []
        for _ in range(count):
            value = shift = 0
            while data[at] & 0x80:
                value, shift, at = value | (data[at] & 0x7F) << shift, shift + 7, at + 1
            found.append(value | data[at] << shift)
            at += 1
        return found, at

    map_at = word(_MAP_OFFSET)
    entries = [map_at + 4 + 12 * index for index in range(word(map_at))]
    (debug,) = (entry for entry in entries if data[entry] + data[entry + 1] * 256 == _DEBUG_INFO)
    begin = word(debug + 8)
    end = min(word(entry + 8) for entry in entries if word(entry + 8) > begin)
    removed = (end - begin) // 4 * 4
    strings, protos, classes = ((word(at), word(at + 4)) for at in (56, 72, 96))
    members = (word(classes[1] + 32 * number + 24) for number in range(classes[0]))
    for start in filter(None, members):
        counts, at = numbers(start, 4)
        at = numbers(at, 2 * (counts[0] + counts[1]))[1]
        for code in numbers(at, 3 * (counts[2] + counts[3]))[0][2::3]:
            if code:
                put(code + 8, 0)
    places = [_MAP_OFFSET, *(entry + 8 for entry in entries)]
    places += [strings[1] + 4 * number for number in range(strings[0])]
    places += [protos[1] + 12 * number + 8 for number in range(protos[0])]
    places += [classes[1] + 32 * number + field for number in range(classes[0]) for field in (12, 20, 24, 28)]
    for at in places:
        if word(at) >= end:
            put(at, word(at) - removed)
    put(map_at, len(entries) - 1)
    put(_FILE_SIZE, len(data) - removed - 12)
    put(_DATA_SIZE, word(_DATA_SIZE) - removed - 12)
    del data[debug : debug + 12]
    del data[begin : begin + removed]
    # What is left of them keeps the alignment of what follows, and a reader requires it to be empty.
    data[begin : end - removed] = bytes(end - removed - begin)
    data[12:32] = hashlib.sha1(data[32:], usedforsecurity=False).digest()
    put(8, zlib.adler32(data[12:]))
    return bytes(data)


def build(app: App = SHIM) -> bytes:
    """Return the dex of an app's sources in this checkout.

    Raises:
        BuildError: it cannot be made.
    """
    jdk = find_jdk()
    with tempfile.TemporaryDirectory() as folder:
        classes = compile_classes(jdk, Path(folder) / "classes", app=app)
        out = Path(folder) / "dex"
        out.mkdir()
        return make_dex(classes, jdk, out, app.rules)


def main(arguments: list[str]) -> int:
    """Write the files; returns the exit status."""
    for app in (SHIM, AGENT):
        try:
            dex = build(app)
        except BuildError as error:
            print(f"build_shim_dex: {error}", file=sys.stderr)
            return 1
        name = app.target.relative_to(CHECKOUT).as_posix()
        target = Path(arguments[0], name.replace("/", "-")) if arguments else app.target
        target.write_bytes(dex)
        print(f"{name}: {len(dex):,} bytes, SHA-256 {hashlib.sha256(dex).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

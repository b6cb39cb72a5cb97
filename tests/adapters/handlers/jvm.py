"""Compiling generated handlers against Android's own classes, and running them on a plain JVM."""

import base64
import json
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from adapters.handlers.providers import handlers_for
from droidgate_mappings.formats.format import HandlerCode
from droidgate_mappings.model.capability import Provider
from requirements_of_tests import KOTLIN_FROM_MAVEN, SHORT_JVM, maven_jars, require, short_run

RUNNERS = Path(__file__).parent / "runners"
KOTLIN_PARTS = (
    *(
        f"org.jetbrains.kotlin:kotlin-{part}:{KOTLIN_FROM_MAVEN}"
        for part in ("compiler-embeddable", "stdlib", "script-runtime", "daemon-embeddable")
    ),
    "org.jetbrains.kotlin:kotlin-reflect:1.6.10",
    "org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.0",
    "org.jetbrains:annotations:13.0",
    "org.jetbrains.intellij.deps:trove4j:1.0.20200330",
)


def write_sources(code: HandlerCode, folder: Path) -> list[Path]:
    """Write the sources of handlers below a folder, and return them."""
    written = []
    for artifact in code.artifacts:
        if artifact.role in {"code", "skeleton"}:
            path = folder / artifact.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(artifact.text, encoding="utf-8")
            written.append(path)
    return written


def add_runner(name: str, package: str, prefix: str, folder: Path) -> Path:
    """Put a runner of this folder into a generated package, where it reaches what is not public."""
    text = (RUNNERS / f"{name}.java").read_text(encoding="utf-8")
    path = folder / "java" / package.replace(".", "/") / f"{name}.java"
    path.write_text(text.replace("PACKAGE", package).replace("PREFIX", prefix), encoding="utf-8")
    return path


def compile_java(sources: Iterable[Path], out: Path, *more_classes: Path, warnings: bool = True) -> None:
    """Compile for Java 8, as the apps do; a warning about the sources fails too, unless it may not."""
    framework = require("framework-jar")
    command: list[str | Path] = [*short_run("newer-jdk"), "--release", "8"]
    command += ["-Xlint:all,-options,-classfile", "-proc:none"]
    class_path = ":".join(map(str, [framework, *more_classes]))
    command += ["-encoding", "UTF-8", "-Xmaxwarns", "10000", "-d", out, "-cp", class_path, *sources]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = run.stderr.splitlines()
    of_ours = [line for line in lines if not line.startswith(str(framework)) and ".java:" in line]
    assert run.returncode == 0, "\n".join(lines[-40:])
    assert not of_ours or not warnings, "\n".join(of_ours)


def resource_classes(main: Path, out: Path) -> list[Path]:
    """Link an app's resources as its build does, and return the classes of their ids."""
    aapt2, framework = require("aapt2"), require("framework-res")
    out.mkdir()
    resources = out / "resources.zip"
    subprocess.run([aapt2, "compile", "--dir", main / "res", "-o", resources], check=True)
    command: list[str | Path] = [aapt2, "link", "-o", out / "app.apk", "-I", framework, "--manifest"]
    command += [main / "AndroidManifest.xml", "--min-sdk-version", "26", "--target-sdk-version", "36"]
    command += ["--warn-manifest-validation", "--java", out / "gen", resources]
    if (main / "assets").is_dir():
        command += ["-A", main / "assets"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return [*(out / "gen").rglob("*.java")]


def compile_kotlin(sources: Sequence[Path], out: Path, *more_classes: Path) -> None:
    """Compile Kotlin, with the Java that it refers to."""
    require("kotlin-compiler")
    java, framework = require("java"), require("framework-jar")
    jars = maven_jars(*KOTLIN_PARTS)
    command: list[str | Path] = [java, *SHORT_JVM, "-cp", ":".join(map(str, jars))]
    command += ["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-nowarn"]
    class_path = ":".join(map(str, [jars[1], framework, *more_classes]))
    command += ["-cp", class_path, "-d", out, *sources]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]


def kotlin_library() -> Path:
    """Return the jar of Kotlin's standard library."""
    return maven_jars(KOTLIN_PARTS[1])[0]


def coroutines_library() -> Path:
    """Return the jar of Kotlin's coroutines."""
    return maven_jars(next(part for part in KOTLIN_PARTS if "coroutines" in part))[0]


def run_class(name: str, classes: Path, lines: Iterable[str], *more_classes: Path) -> list[Any]:
    """Run a class with lines on its standard input, and return the JSON value of each line it prints."""
    java = require("newer-jdk").with_name("java")
    command: list[str | Path] = [java, *SHORT_JVM, "-Xss512k"]
    class_path = ":".join(map(str, [classes, require("framework-jar"), *more_classes]))
    command += ["-cp", class_path, name]
    given = "".join(f"{line}\n" for line in lines)
    run = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr[-4000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


def as_line(text: str | None) -> str:
    """Return a text in one line: base64 of UTF-16, so that half characters are sent too; `-` for null."""
    return (
        "-" if text is None else base64.b64encode(text.encode("utf-16-be", "surrogatepass")).decode() or "="
    )


def compile_runner(
    runner: str, provider: Provider, target: str, prefix: str, folder: Path
) -> Callable[[dict[str, Any], Iterable[str]], list[Any]]:
    """Compile a provider's handlers with an author and a runner.

    Returns what runs lines, as `run_class` does, with an author of the given behaviour by method.
    """
    _, code = handlers_for(provider, target)
    sources = write_sources(code, folder)
    runners = [add_runner(name, "dev.made.app", prefix, folder) for name in ("Author", runner)]
    compile_java([*sources, *runners], folder / "classes")

    def run(behaviour: dict[str, Any], lines: Iterable[str]) -> list[Any]:
        return run_class(
            f"dev.made.app.{runner}", folder / "classes", [as_line(json.dumps(behaviour)), *lines]
        )

    return run

"""The sample apps' own Java classes, run on a JVM."""

import base64
from pathlib import Path

from droidgate_phone.sample_apps import sample_apps_directory
from handlers.jvm import compile_java
from requirements_of_tests import require

RUNNERS = Path(__file__).parent / "java"


# Classes of each sample app that need nothing of a running Android, and the runner that calls them.
_PARTS = {
    "clock-in/app": ("ClockInRunner", "RequestEngine", "Descriptor", "ClockInBook"),
    "tally/app": ("TallyRunner", "RequestEngine", "Descriptor", "Totals"),
    "weather/app": ("WeatherRunner", "Weather", "WeatherTools"),
    "pdf-tool/app": ("PdfRunner", "SchemaCheck"),
}


def compile_samples(out: Path) -> Path:
    """Compile classes of the sample apps with a runner, and return the folder of classes."""
    require("newer-jdk")
    sources = [RUNNERS / "JsonRunner.java"]
    for module, (runner, *names) in _PARTS.items():
        main = sample_apps_directory() / module / "src/main/java"
        (folder,) = {path.parent for path in main.rglob("*.java")}
        sources += [RUNNERS / f"{runner}.java", *(folder / f"{name}.java" for name in names)]
        sources.append(_resource_ids(folder, out / module))
    classes = out / "classes"
    compile_java(sources, classes, warnings=False)
    return classes


def _resource_ids(folder: Path, out: Path) -> Path:
    """Write resource ids of a package: one, which is all that these classes name."""
    package = ".".join(folder.parts[folder.parts.index("java") + 1 :])
    out.mkdir(parents=True)
    source = out / "R.java"
    text = "final class R { static final class xml { static final int mcp_capabilities = 1; } }"
    source.write_text(f"package {package}; {text}", encoding="utf-8")
    return source


def from_utf16(line: str) -> str:
    """Return the text that a runner printed as base64 of UTF-16."""
    return base64.b64decode(line).decode("utf-16-be", "surrogatepass")

"""The sample apps' own Java classes, run on a JVM."""

import base64
from pathlib import Path

from adapters.handlers.jvm import compile_java
from droidgate_phone.apps.sample_apps import sample_apps_directory
from requirements_of_tests import require

RUNNERS = Path(__file__).parent / "java"

# Folders of the sample apps, and classes in them that need nothing of a running Android.
_CLASSES = {
    "mobile-mcp": ("RequestEngine", "Descriptor"),
    "clock-in/app": ("ClockInEngine", "ClockInBook"),
    "tally/app": ("TallyEngine", "Totals"),
    "weather/app": ("Weather", "WeatherTools"),
    "pdf-tool/app": ("SchemaCheck",),
}


def compile_samples(out: Path) -> Path:
    """Compile classes of the sample apps and the runners that call them, and return the folder of classes."""
    require("newer-jdk")
    sources = sorted(RUNNERS.glob("*.java"))
    for module, names in _CLASSES.items():
        main = sample_apps_directory() / module / "src/main/java"
        sources += [path for path in main.rglob("*.java") if path.stem in names]
    compile_java(sources, out, warnings=False)
    return out


def from_utf16(line: str) -> str:
    """Return the text that a runner printed as base64 of UTF-16."""
    return base64.b64decode(line).decode("utf-16-be", "surrogatepass")

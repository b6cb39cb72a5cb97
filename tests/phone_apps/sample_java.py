"""The sample apps' own Java classes, run on a JVM."""

import base64
from collections.abc import Iterable
from pathlib import Path

from droidgate_shim.sample_apps import sample_apps_directory
from handlers.jvm import compile_java
from requirements_of_tests import require

RUNNERS = Path(__file__).parent / "java"


def compile_sample(module: str, names: Iterable[str], runner: str, out: Path) -> Path:
    """Compile some classes of a sample app with a runner beside them, and return the folder of classes."""
    require("newer-jdk")
    (folder,) = {path.parent for path in (sample_apps_directory() / module / "src/main/java").rglob("*.java")}
    sources = [folder / f"{name}.java" for name in names]
    ids = _resource_ids(folder, out.with_name("ids"))
    compile_java([*sources, RUNNERS / f"{runner}.java"], out, ids, warnings=False)
    return out


def _resource_ids(folder: Path, out: Path) -> Path:
    """Return compiled resource ids of a package: one, which is all that these classes name."""
    package = ".".join(folder.parts[folder.parts.index("java") + 1 :])
    out.mkdir()
    source = out / "R.java"
    text = "final class R { static final class xml { static final int mcp_capabilities = 1; } }"
    source.write_text(f"package {package}; {text}", encoding="utf-8")
    compile_java([source], out, warnings=False)
    return out


def from_utf16(line: str) -> str:
    """Return the text that a runner printed as base64 of UTF-16."""
    return base64.b64decode(line).decode("utf-16-be", "surrogatepass")

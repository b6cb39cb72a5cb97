"""The sample apps as aapt2 builds them, in each form that it knows, and the APKs that other packages ship."""

import functools
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from droidgate_android.apk.resource_table import ResourceTable
from droidgate_android.apk.xml_tree import TypedValue
from requirements_of_tests import CHECKOUT, require

SAMPLES = ("clock-in", "notes", "pdf-tool", "weather")
FORMS = ("plain", "sparse", "raw values", "short paths", "collapsed names", "compact")
REAL_APKS = ("uiautomator2", "appium-settings")

_LINK = {
    "sparse": ("--enable-sparse-encoding", "--min-sdk-version", "26"),
    "raw values": ("--keep-raw-values",),
    "compact": ("--enable-compact-entries", "--min-sdk-version", "35"),
}
_OPTIMIZE = {
    "short paths": ("--enable-resource-path-shortening",),
    "collapsed names": ("--enable-resource-obfuscation", "--enable-resource-path-shortening"),
}


def source_tree(sample: str) -> dict[str, bytes]:
    root = CHECKOUT / "device_shim/apps" / sample / "app/src/main"
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@functools.cache
def sample_apk(sample: str, form: str = "plain") -> bytes:
    """Return a sample app as aapt2 builds it."""
    return built_apk(_frozen(source_tree(sample)), form)


def _frozen(files: Mapping[str, bytes]) -> tuple[tuple[str, bytes], ...]:
    return tuple(sorted(files.items()))


def apk_of(files: Mapping[str, str], form: str = "plain", *flags: str) -> bytes:
    """Return an app of texts as aapt2 builds it."""
    return built_apk(_frozen({name: text.encode() for name, text in files.items()}), form, flags)


@functools.cache
def built_apk(files: tuple[tuple[str, bytes], ...], form: str, flags: tuple[str, ...] = ()) -> bytes:
    aapt2 = require("compact-aapt2" if form == "compact" else "aapt2")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, data in files:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        linked = folder / "linked.apk"
        command: list[object] = [aapt2, "link", "-o", linked, "-I", require("framework-res")]
        command += ["--manifest", folder / "AndroidManifest.xml", "--warn-manifest-validation"]
        command += [*_LINK.get(form, ()), *flags]
        if (folder / "assets").is_dir():
            command += ["-A", folder / "assets"]
        if (folder / "res").is_dir():
            _run(aapt2, "compile", "--dir", folder / "res", "-o", folder / "compiled.zip")
            command.append(folder / "compiled.zip")
        _run(*command)
        if form in _OPTIMIZE:
            _run(aapt2, "optimize", "-o", folder / "optimized.apk", *_OPTIMIZE[form], linked)
            linked = folder / "optimized.apk"
        return linked.read_bytes()


def _run(*command: object) -> None:
    run = subprocess.run([str(item) for item in command], capture_output=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr.decode(errors="replace")[-2000:]


def real_apk(package: str, folder: Path) -> Path:
    """Return the path of an APK that another package ships."""
    apk_path = require(package)
    if package == "uiautomator2":
        return next((apk_path.parent / "assets").glob("*.apk"))
    with tarfile.open(apk_path) as archive:
        member = next(getmember for getmember in archive.getmembers() if getmember.name.endswith(".apk"))
        file = archive.extractfile(member)
        assert file is not None
        path = folder / "settings.apk"
        path.write_bytes(file.read())
    return path


def texts_by_locale(resources: ResourceTable | None, identifier: int) -> dict[str, str | None]:
    """Return a resource's simple values as texts, the default locale's under the empty text."""
    assert resources is not None
    texts: dict[str, str | None] = {}
    values = sorted(resources.values_of(identifier), key=lambda value: not value.configuration.is_default)
    for each in values:
        resolved = resources.resolve(each.value) if isinstance(each.value, TypedValue) else None
        if resolved is not None:
            texts.setdefault(each.configuration.locale, resolved.text)
    return texts

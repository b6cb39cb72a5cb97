"""Small formats of the tests' own, so that sources are tested without an adapter."""

from collections.abc import Mapping
from pathlib import Path

from droidgate.sources import Providers, read_source
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Format, Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.loading import DialectTable, FormatTables

POINTER = "tools.file"


def _provider(
    text: str, place: Place, application: Application | None = None, component: str | None = None
) -> Provider:
    first, *rest = text.split()
    if first != "tools":
        raise InputError("a tools file begins with the word tools", place=str(place))
    return Provider(
        protocol="tools",
        package=application.package if application is not None else None,
        component=component,
        source=place,
        capabilities=tuple(Capability(id=item) for item in rest),
    )


def _detect(source: SourceFile) -> int:
    return 80 if source.data.lstrip().startswith(b"tool") else 0


def _read_file(source: SourceFile, _context: ReadingContext) -> Reading:
    return Reading((_provider(source.data.decode(), Place(path=source.path, line=1)),))


def _read_application(application: Application, _context: ReadingContext) -> Reading:
    """Read each component's file: an asset by `android:value`, a resource by `android:resource`."""
    providers = []
    for component in application.components:
        meta = component.find_meta_data(POINTER)
        if meta is None:
            continue
        place = meta.place or application.place
        if meta.resource is not None:
            file = application.resources.read_file(meta.resource)
        else:
            file = application.resources.read_asset(str(meta.value))
        if file is None:
            raise InputError("the tools file is missing", place=str(place))
        providers.append(_provider(file.text, file.place, application, component.name))
    return Reading(tuple(providers))


TOOLS = Format(
    tables=FormatTables(
        id="tools",
        title="Tools of the tests",
        dialects=(DialectTable(id="1", summary="The only one", not_written_because="no test writes it"),),
    ),
    detect=_detect,
    read_file=_read_file,
    read_application=_read_application,
    endings=(".json",),
)


def read(written: str | Path, *, strict: bool = False) -> Providers:
    """Read a source with the tests' own format only."""
    return read_source(str(written), strict=strict, formats=[TOOLS])


def write_tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder and return it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def manifest(application: str, *, attributes: str = "") -> str:
    """Return a manifest around the content of its `<application>`."""
    return (
        '<manifest xmlns:android="http://schemas.android.com/apk/res/android" '
        f'xmlns:tools="http://schemas.android.com/tools" {attributes}>\n<application>\n{application}\n'
        "</application>\n</manifest>\n"
    )


def service(name: str, pointer: str, *, attributes: str = "") -> str:
    """Return a service that points to a tools file: `android:value="x"` or `android:resource="@raw/x"`."""
    return (
        f'<service android:name="{name}" {attributes}>\n'
        f'<meta-data android:name="{POINTER}" {pointer}/>\n</service>'
    )

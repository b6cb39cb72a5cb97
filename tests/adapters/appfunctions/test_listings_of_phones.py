"""What the virtual phone's shell lists of an app says the same as the app's own files."""

import pytest

from device_shim.phone_system.phone_system_apps import TOOL, make_phone, make_tool, run
from droidgate.sources.android_project import application_from_tree
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import Reading, SourceFile, detect_format
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import ObjectType
from model_types import boolean, int32, optional, record, required, string

SERVICE = f"{TOOL}.Notes"


def provider(dialect: str) -> Provider:
    return Provider(
        protocol=FORMAT.id,
        dialect=dialect,
        package=TOOL,
        component=None if dialect == "app-level" else SERVICE,
        capabilities=(
            Capability(
                id=f"{SERVICE}#create",
                description="Creates a note",
                input=record({"title": required(string()), "count": optional(int32())}),
                output=None if dialect == "platform" else boolean(),
            ),
            Capability(id=f"{SERVICE}#purge", description="Removes all notes", input=ObjectType()),
        ),
    )


def files_of(dialect: str) -> dict[str, str]:
    assert FORMAT.write is not None
    written = FORMAT.write(provider(dialect), FORMAT.dialect(dialect))
    return {artifact.path: artifact.text for artifact in written.artifacts}


def listing_of(files: dict[str, str], release: str) -> Reading:
    application = files["AndroidManifest.xml"].partition("<application>")[2].partition("</application>")[0]
    guarded = application.replace(
        "<service", '<service android:permission="android.permission.BIND_APP_FUNCTION_SERVICE"'
    )
    assets = {path: text for path, text in files.items() if path.startswith("assets/")}
    with make_phone(release, make_tool(guarded, files=assets)) as phone:
        printed = run(phone, "cmd", "app_function", "list-app-functions").stdout
    saved = SourceFile("listing.json", printed.encode())
    assert detect_format(saved) is FORMAT
    return FORMAT.read_file(saved, ReadingContext())


@pytest.mark.parametrize(
    ("dialect", "release"),
    [("v2", "36.1"), ("v2", "37"), ("platform", "36.1"), ("platform", "37"), ("app-level", "37")],
)
def test_a_listing_reads_as_the_files_that_were_indexed(dialect: str, release: str) -> None:
    files = files_of(dialect)
    tree = application_from_tree({path: text.encode() for path, text in files.items()})
    (of_files,) = FORMAT.read_application(tree, ReadingContext()).providers
    reading = listing_of(files, release)
    (of_listing,) = reading.providers
    assert (of_listing.dialect, of_listing.package) == (dialect, TOOL)
    assert of_listing.component == (of_files.component if release == "37" else None)
    assert [(item.id, item.description, item.input, item.output) for item in of_listing.capabilities] == [
        (item.id, item.description, item.input, item.output) for item in of_files.capabilities
    ]
    assert reading.problems == ()
    unknown = {"listed-service-unknown"} if release == "36.1" else set()
    assert {item.code for item in reading.findings} - {"lenient-read"} == unknown


def test_a_phone_of_android_16_says_that_it_cannot_list() -> None:
    with make_phone("36") as phone:
        printed = run(phone, "cmd", "app_function", "list-app-functions")
    saved = SourceFile("listing.txt", (printed.stdout or printed.stderr).encode())
    assert detect_format(saved) is FORMAT

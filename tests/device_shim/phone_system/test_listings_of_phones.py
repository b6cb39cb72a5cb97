"""What a phone answers to `cmd app_function list-app-functions` reads as the files that it indexed."""

import pytest

from device_shim.phone_system.phone_system_apps import TOOL, make_phone, make_tool, run
from droidgate_android.projects.android_project import application_from_tree
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import Reading, SourceFile, detect_format
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import ObjectType
from model_types import boolean, int32, optional, record, required, string

SERVICE = f"{TOOL}.Notes"


def provider(dialect: str) -> Provider:
    arguments = record({"title": required(string()), "count": optional(int32())})
    output = None if dialect == "platform" else boolean()
    return Provider(
        protocol=FORMAT.id,
        dialect=dialect,
        package=TOOL,
        component=None if dialect == "app-level" else SERVICE,
        capabilities=(
            Capability(id=f"{SERVICE}#create", description="Creates a note", input=arguments, output=output),
            Capability(id=f"{SERVICE}#purge", description="Removes all notes", input=ObjectType()),
        ),
    )


def read_listing(printed: str) -> Reading:
    saved = SourceFile("saved.txt", printed.encode())
    assert detect_format(saved) is FORMAT
    return FORMAT.read_file(saved, ReadingContext())


def listing_of_phone(files: dict[str, str], release: str) -> Reading:
    application = files["AndroidManifest.xml"].partition("<application>")[2].partition("</application>")[0]
    guarded = application.replace(
        "<service", '<service android:permission="android.permission.BIND_APP_FUNCTION_SERVICE"'
    )
    assets = {path: text for path, text in files.items() if path.startswith("assets/")}
    with make_phone(release, make_tool(guarded, files=assets)) as phone:
        printed = run(phone, "cmd", "app_function", "list-app-functions").stdout
    return read_listing(printed)


@pytest.mark.parametrize(
    ("dialect", "release"),
    [("v2", "36.1"), ("v2", "37"), ("platform", "36.1"), ("platform", "37"), ("app-level", "37")],
)
def test_a_phones_listing_reads_as_the_files_that_were_indexed(dialect: str, release: str) -> None:
    assert FORMAT.write is not None
    artifacts = FORMAT.write(provider(dialect), FORMAT.dialect(dialect)).artifacts
    tree = application_from_tree({item.path: item.text.encode() for item in artifacts})
    (of_files,) = FORMAT.read_application(tree, ReadingContext()).providers
    reading = listing_of_phone({item.path: item.text for item in artifacts}, release)
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
    assert detect_format(SourceFile("saved.txt", (printed.stdout or printed.stderr).encode())) is FORMAT

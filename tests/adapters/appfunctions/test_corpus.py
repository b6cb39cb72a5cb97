"""Every AppFunctions file of the corpus: read, or refused as Android refuses it; written again as it was."""

import csv
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.appfunctions.function_files import (
    ANDROID,
    artifact,
    only,
    property_of,
    rows_of,
    service_of,
    write_in,
)
from droidgate_android.projects.android_project import application_from_tree
from droidgate_android.projects.indexed_text import to_lower_camel_case
from droidgate_appfunctions.fields import local_name
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.xml_text import Element, parse_xml
from properties.matching import assert_reads_back, assert_same_declaration
from requirements_of_tests import require

pytestmark = pytest.mark.requires("corpus")

HERE = Path(__file__).parent
GOLDEN = "androidx__androidx__appfunctions__appfunctions-compiler__src__test__test-data__output__"
ANOTHER_KIND = ("cmd output", "--parameters", "converted tool", "app_metadata-attrs")
"""Dialects of the index that are not descriptors: a shell's output, another project's, a values file."""


def rows_of_table(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def corpus_files() -> Iterator[tuple[str, str, bytes]]:
    folder = require("corpus") / "appfunctions"
    with (folder / "index.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if not row["dialect"].startswith(ANOTHER_KIND):
                yield row["file"], row["dialect"], (folder / row["file"]).read_bytes()


def read_one(name: str, dialect: str, data: bytes) -> tuple[Provider | None, list[str | None]]:
    """The only or first provider of a file or manifest, and the rows that were used."""
    context = ReadingContext()
    if dialect.startswith("manifest"):
        application = application_from_tree({"AndroidManifest.xml": data}, path=name)
        reading = FORMAT.read_application(application, context)
    else:
        reading = FORMAT.read_file(SourceFile(name, data), context)
    return (reading.providers[0] if reading.providers else None), rows_of(reading)


def read_files() -> Iterator[tuple[str, str, bytes, Provider | None, list[str | None]]]:
    """Yield each file that is not refused, with what `read_one` returns for it."""
    refused = {row["file"] for row in rows_of_table("corpus_refused.tsv")}
    for name, dialect, data in corpus_files():
        if name not in refused:
            yield name, dialect, data, *read_one(name, dialect, data)


def in_an_app(name: str, data: bytes, provider: Provider) -> Provider:
    """Read a functions file again as the file of an app, so that it has a component."""
    stated = property_of("" if provider.dialect == "v1" else "v2", "f.xml")
    part = stated if provider.dialect == "app-level" else service_of(stated)
    manifest = f'<manifest {ANDROID} package="a.b"><application>{part}</application></manifest>'
    tree = {"AndroidManifest.xml": manifest.encode(), "assets/f.xml": data}
    return only(FORMAT.read_application(application_from_tree(tree, path=name), ReadingContext()))


def test_every_file_is_read_or_refused_for_a_reviewed_reason() -> None:
    refused: dict[str, InputError] = {}
    count = 0
    for name, dialect, data in corpus_files():
        count += 1
        try:
            read_one(name, dialect, data)
        except InputError as error:
            refused[name] = error
    reviewed = {row["file"]: row for row in rows_of_table("corpus_refused.tsv")}
    messages = {name: error.message for name, error in refused.items()}
    assert messages == {name: row["message"] for name, row in reviewed.items()}
    assert all(error.place for error in refused.values())
    not_androids = [name for name, row in reviewed.items() if row["android_refuses"] != "yes"]
    assert len(not_androids) <= 0.03 * count
    assert count > 100


def test_every_file_but_manifests_is_detected() -> None:
    for name, dialect, data in corpus_files():
        confidence = FORMAT.detect(SourceFile(name, data))
        assert (confidence == 0) is dialect.startswith("manifest"), name


def test_every_file_has_the_dialect_that_the_index_of_the_corpus_names() -> None:
    expected = {
        "v1": "v1",
        "v2-dynamic": "v2",
        "v2-mixed-case": "v2-legacy",
        "app-level": "app-level",
        "platform-style": "platform",
    }
    for name, dialect, _, provider, _ in read_files():
        word = dialect.split(" ")[0]
        # An empty file says nothing about its dialect; only the property that names it does.
        if word in expected and "(empty)" not in dialect:
            assert provider is not None
            assert provider.dialect == expected[word], name


def without_comments(text: str) -> str:
    return re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)


def test_every_functions_file_is_written_again_with_the_same_meaning() -> None:
    compared = 0
    for name, dialect, data, plain, rows in read_files():
        if dialect.startswith(("manifest", "app_metadata", "schema")):
            continue
        assert plain is not None
        provider = in_an_app(name, data, plain)
        writing = write_in(provider, provider.dialect or "v2")
        assert (writing.findings, writing.names) == ((), ()), name
        assert_same_declaration(provider, writing.provider)
        assert_reads_back(writing, FORMAT, FORMAT.dialect(provider.dialect), strict="A38" not in rows)
        if not rows:
            assert content(parse_xml(artifact(writing, "descriptor"))) == content(parse_xml(data)), name
        compared += 1
    assert compared > 45


def content(element: Element) -> object:
    """Everything an element says, whatever the order and spelling of its tags; without our reader."""
    tag = to_lower_camel_case(local_name(element)).replace("AppFunctionStaticMetadata", "appfunction")
    children = [content(child) for child in element if isinstance(child.tag, str)]
    if children:
        return [tag, sorted(children, key=repr)]
    return [tag, (element.text or "").strip()]


def test_every_file_is_written_again_and_the_compilers_own_byte_for_byte() -> None:
    of_the_compiler = 0
    for name, dialect, data, provider, rows in read_files():
        if dialect.startswith("manifest"):
            continue
        assert provider is not None
        if dialect.startswith(("app_metadata", "schema")):
            assert (rows, provider.capabilities) == ([], ())
        writing = write_in(provider, provider.dialect or "v2")
        assert (writing.findings, writing.names) == ((), ()), name
        written = artifact(writing, "descriptor" if provider.dialect == "app-level" else "document")
        again, _ = read_one("again", dialect, written.encode())
        assert again is not None
        assert_same_declaration(provider, again)
        if name.startswith(GOLDEN):
            assert (rows, written) == ([], without_comments(data.decode())), name
            of_the_compiler += 1
    assert of_the_compiler == 29


def test_what_is_read_is_what_was_reviewed(request: pytest.FixtureRequest) -> None:
    """The digest of each model makes a change in reading visible; `make refresh-golden` writes them anew."""
    lines = ["file\tsha256\tmodel\trows"]
    for name, _, data, provider, rows in read_files():
        model = provider.content_digest() if provider is not None else "none"
        sha256 = hashlib.sha256(data).hexdigest()
        lines.append("\t".join([name, sha256, model, ",".join(sorted({str(item) for item in rows}))]))
    path = HERE / "corpus_digests.tsv"
    if request.config.getoption("refresh_golden"):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    assert lines == path.read_text(encoding="utf-8").splitlines()

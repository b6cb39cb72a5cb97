"""The two properties that every conversion keeps, as assertions with readable failures.

Differences and findings match one to one, at the leaf; and what is written reads back as the writer said.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from droidgate_mappings.fit.losses import levels_of
from droidgate_mappings.formats.format import Format, Reading, SourceFile, Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider, declaration_of
from droidgate_mappings.model.findings import CONVERSION_LEVELS, Finding, Level
from droidgate_mappings.model.json_values import Json, json_equal, pointer_token
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider
from droidgate_mappings.model.names import NameEntry
from droidgate_mappings.tables.loading import DialectTable


def assert_findings_match(before: Provider, writing: Writing) -> None:
    """Assert that the leaves in which a written provider differs are exactly the leaves its findings name.

    A renamed property or definition is not a difference by itself: its leaves are compared under the original
    name, and its finding is about its entry in the name map. An access rule that nothing enforces in the
    target has a security finding, with or without a difference, and so has a text that the target does not
    take for its length.
    """
    levels = {finding.level for finding in writing.findings}
    assert levels <= set(CONVERSION_LEVELS) - {Level.READ}
    undocumented = {
        (finding.code, finding.level)
        for finding in writing.findings
        if finding.level not in (levels_of(finding.code) or levels)
    }
    assert undocumented == set()
    renamed = [entry for entry in writing.names if _is_name_of_part(entry)]
    leaves = dict(leaves_of_provider(before))
    originals = {
        (entry.pointer.rpartition("/")[0], pointer_token(entry.written)): pointer_token(entry.original)
        for entry in renamed
    }
    written = {
        _original_pointer(pointer, originals): value
        for pointer, value in leaves_of_provider(writing.provider)
    }
    changed = Counter(different_leaves(leaves, written))
    reported = Counter(
        finding.pointer
        for finding in without_limits(writing.findings)
        if finding.level is not Level.SECURITY or finding.pointer in changed
    )
    changed.update(entry.pointer for entry in renamed)
    untold = changed - reported
    unfounded = reported - changed
    assert not untold, f"differs without a finding: {_format_differences(untold, leaves, written)}"
    assert not unfounded, f"a finding without a difference: {_findings_at(unfounded, writing)}"


def _is_name_of_part(entry: NameEntry) -> bool:
    above, parent, _ = entry.pointer.rsplit("/", 2) if entry.pointer.count("/") > 1 else ("", "", "")
    return parent == "properties" or (parent == "definitions" and not above)


def _original_pointer(pointer: str, originals: Mapping[tuple[str, str], str]) -> str:
    if not originals:
        return pointer
    path = ""
    for token in pointer.split("/")[1:]:
        path = f"{path}/{originals.get((path, token), token)}"
    return path


def _format_differences(pointers: Counter[str], before: Mapping[str, Json], after: Mapping[str, Json]) -> str:
    nothing = "nothing"
    lines = [
        f"{pointer}: {before.get(pointer, nothing)!r} -> {after.get(pointer, nothing)!r}"
        for pointer in pointers
    ]
    return "\n  ".join(["", *lines])


def _findings_at(pointers: Counter[str], writing: Writing) -> str:
    lines = [
        f"{finding.code} ({finding.level}) at {finding.pointer}: {finding.message}"
        for finding in writing.findings
        if finding.pointer in pointers
    ]
    return "\n  ".join(["", *lines])


def read_artifacts(writing: Writing, format: Format, *, strict: bool = True) -> Reading:
    """Read what was written: a document by itself, the parts of an app as an application."""
    context = ReadingContext(strict=strict)
    parts = [item for item in writing.artifacts if item.role != "document"]
    if not parts:
        (document,) = writing.artifacts
        return format.read_file(SourceFile(document.path, document.text.encode()), context)
    from droidgate_android.projects.android_project import application_from_tree

    tree = {item.path: item.text.encode() for item in parts}
    return format.read_application(application_from_tree(tree), context)


def without_limits(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings but for those about the length of what is written, which writing again has again."""
    return [finding for finding in findings if finding.code != "text-too-long"]


def assert_same_declaration(expected: Provider, actual: Provider) -> None:
    """Assert that two providers declare the same, but for where they were read and their run-time state."""
    if json_equal(declaration_of(expected), declaration_of(actual)):
        return
    before, after = dict(leaves_of_provider(expected)), dict(leaves_of_provider(actual))
    changed = Counter(different_leaves(before, after))
    assert not changed, f"reads back differently: {_format_differences(changed, before, after)}"
    assert expected.dialect == actual.dialect
    assert declaration_of(expected) == declaration_of(actual)


def assert_reads_back(
    writing: Writing, format: Format, dialect: DialectTable, *, strict: bool = True
) -> Provider:
    """Assert that the artifacts read back as the writer says, and are written again alike.

    What keeps parts of its source that Android refuses is not read strictly. A file that is read as another
    dialect has to be, to the byte, the file of that dialect too.

    Returns:
        The provider as read.
    """
    (read,) = read_artifacts(writing, format, strict=strict).providers
    assert_same_declaration(writing.provider.model_copy(update={"dialect": read.dialect}), read)
    assert format.write is not None
    for target in {dialect.id, read.dialect}:
        again = format.write(read, format.dialect(target))
        assert without_limits(again.findings) == []
        assert again.names == ()
        assert again.artifacts == writing.artifacts
    return read

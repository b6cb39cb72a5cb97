"""What Jetpack's compiler writes for a Kotlin input is what the gateway writes; what it refuses is refused.

Inputs and outputs of the corpus are of nearby commits. `DIFFERENCES` names, for each input, what the compiler
did otherwise at the output's commit; each entry is a change of the output, or of ours, reviewed by hand.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from adapters.appfunctions_kotlin.kotlin_pairs import (
    KotlinRow,
    Node,
    canonical,
    companions,
    mapped,
    names,
    read,
    rows,
    source,
    written,
)
from conftest import Golden
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import CapabilitySet, Provider
from requirements_of_tests import require

pytestmark = pytest.mark.requires("corpus")

Change = Callable[[Node], Node | None]


def _child(node: Node, tag: str) -> str | None:
    return next((text for name, text, _ in node[2] if name == tag), None)


def described_later(node: Node) -> Node | None:
    """The input's KDoc became a description after the output's commit."""
    return None if node[0] == "description" else node


def property_kdoc_later(node: Node) -> Node | None:
    """KDoc of properties became a description after the output's commit."""
    if node[0] != "properties":
        return node
    return mapped(node, described_later)


def blanks_at_the_end(node: Node) -> Node | None:
    """Descriptions of classes kept the blank before the end of their KDoc."""
    return (node[0], node[1].rstrip(), node[2]) if node[0] == "description" else node


def lines_trimmed(node: Node) -> Node | None:
    """The compiler's tests compare lines without the blanks around them; real outputs have them."""
    lines = "\n".join(line.strip() for line in node[1].split("\n"))
    return (node[0], lines, node[2]) if node[0] == "description" else node


def empty_components(node: Node) -> Node | None:
    """Files without data types ended with an empty components document."""
    empty = node[0] == "AppFunctionComponentMetadataDocument" and len(node[2]) == 1
    return None if empty else node


def disabled_stated(node: Node) -> Node | None:
    """Functions of the application stated that they are disabled by default."""
    return None if node[:2] == ("enabledByDefault", "false") else node


def address_as_text(node: Node) -> Node | None:
    """A Uri was a string with a format and one regular expression, and no object with patterns."""
    if _child(node, "format") != "uri" or _child(node, "objectQualifiedName"):
        return node
    nullable = ("isNullable", _child(node, "isNullable") or "false", ())
    unused: Node = ("id", "unused", ())
    schemes = re.findall(r"\\Q(.*?)\\E", _child(node, "pattern") or "")
    patterns = tuple(
        ("patterns", "", (unused, ("value", f"{scheme}:", ()), ("type", "1", ()))) for scheme in schemes
    )
    inside = unused, ("isNullable", "false", ()), *patterns, ("format", "uri", ()), ("type", "8", ())
    text: Node = ("dataTypeMetadata", "", inside)
    result: Node = ("properties", "", (text, unused, ("name", "uri", ())))
    name: Node = ("objectQualifiedName", "android.net.Uri", ())
    return node[0], "", (unused, nullable, name, result, ("required", "uri", ()), ("type", "3", ()))


INPUTS: Final = names("output")
DIFFERENCES: Final[Mapping[str, tuple[tuple[Change, ...], tuple[Change, ...]]]] = {
    # input: (changes of the compiler's output, changes of ours)
    "entrypoints__valid__SimpleEntryPoint": ((), (described_later,)),
    "entrypoints__valid__ValidUriConstraintService@d15fa46": ((address_as_text,), ()),
    "functions__valid__FakeFreeFormFunctionsWithParamKdocs": ((), (lines_trimmed,)),
    "functions__valid__FakeNoArgImpl_IsEnabled_False": ((empty_components,), ()),
    "functions__valid__FunctionWithGenericSerializable": ((blanks_at_the_end,), ()),
    **{f"signatures__valid__{name}": ((disabled_stated,), ()) for name in (
        "ActivitySignature", "GlobalSignature", "SignatureWithDescription", "SignatureWithInstruction",
        "SignatureWithKDocAndInstruction", "SignatureWithMixOfKDocAndInstruction",
    )},
    "temoki__appfunction_sample__app__src__main__java__space__hiraku__countapp__CountAppFunctions":
        ((blanks_at_the_end,), (property_kdoc_later,)),
}  # fmt: skip

# fmt: off
_REASONS: Final[Mapping[str, Mapping[str, tuple[int, str]]]] = {
    # folder: input: (line, what our message has to say of the compiler's own)
    "": {
        "EntityWithInvalidParameterType":
            (22, "properties .* must be of a supported type; badParam is kotlin.Any"),
        "SerializableProxyMissingFromMethod":
            (16, "companion object must have exactly one .* fromLocalDateTime"),
        "SubClassRenamedPropertySerializable":
            (8, "@AppFunctionSerializable supertypes must be present .* name"),
    },
    "entrypoints__invalid__": {
        "EmptyAppFunctionEntryPoint": (7, "must have at least one app function"),
        "HiltNonAppFunctionServiceEntryPoint":
            (11, "must extend androidx.appfunctions.AppFunctionService or .*ExtensionsAppFunctionService"),
        "ImplementedExecuteFunctionEntryPoint": (15, "cannot implement onExecuteFunction"),
        "InvalidAccessLevelEntryPoint": (11, "unsupported access level: 999"),
        "InvalidStringValueConstraintPattern":
            (12, r'invalid pattern regex "\[invalid_regex" in @AppFunctionStringValueConstraint'),
        "InvalidUriConstraintTarget": (12, "can only be applied to android.net.Uri"),
        "InvalidUriConstraintTargetInSerializable":
            (19, "@AppFunctionUriValueConstraint can only be applied to android.net.Uri"),
        "KotlinSyntaxErrorEntryPoint": (18, "unresolved reference '.*NotExistClass'"),
        "MissingSuperClassEntryPoint": (7, "must extend androidx.appfunctions.AppFunctionSer"),
        "NotAbstractEntryPoint": (10, "must be an abstract class"),
    },
    "functions__invalid__": {
        "AnyTypedInputFunction": (8, "parameters must be a supported type.* kotlin.Any"),
        "AppFunctionWithOptionalNonNullSerializable":
            (14, "type com.testdata.SerializableData cannot be optional"),
        "ArrayNonPrimitiveInputFunction": (8, "parameters must be a supported type.* kotlin.Arr"),
        "FunctionWithInvalidGenericSerializable": (8, "supported type; value is kotlin.Byte"),
        "FunctionWithInvalidGenericSerializableInterface": (9, "supported type; value is .*Note"),
        "FunctionWithInvalidSerializableInterface": (15, "supported type; content is .*Note"),
        "IncorrectFirstParameter": (7, "first parameter .* androidx.appfunctions.AppFunctionCon"),
        "InvalidBaseParcelable": (27, "use an implementation of Parcelable"),
        "ListPrimitiveArrayInputFunction": (8, "parameters must be a supported type.*IntArray"),
        "MissingFirstParameter": (7, "first parameter .* androidx.appfunctions.AppFunctionContext"),
    },
    "oneofserializable__": {
        "NonSerializableSubclasses":
            (23, r"OneOfSealedInterface\$ASubclass cannot be represented as an app function serializable"),
    },
    "serializable__invalid__": {
        "EntityWithInvalidListParameterType": (22, "supported type; badParam is .*List<.*Any>"),
        "EntityWithNonPropertyParameter": (23, "must have getters: nonPropertyParameter"),
        "SerializableProxyMissingToMethod": (16, "exactly one member function: toLocalDateTime"),
        "SerializableWithOptionalNonNullSerializable":
            (10, "type com.testdata.NestedSerializable cannot be optional"),
    },
    "serializable__valid__": {
        "SubClassRenamedCapabilityProperty":
            (12, "@AppFunctionSchemaCapability supertypes must be present .* stringToOpen"),
    },
    "signatures__invalid__": {
        "EmptyAppFunctionXmlFileNameSignature": (6, "appFunctionXmlFileName cannot be empty"),
        "InvalidClassSignature": (10, "only a functional interface can have @AppFunctionSignature"),
        "InvalidScopeSignature": (5, 'invalid scope: "invalid_scope".* "global" and "activity"'),
        "MultiMethodsInterface": (10, "only a functional interface"),
        "NoMethodsInterface": (10, "only a functional interface"),
        "NotFunctionalInterface": (10, "only a functional interface"),
        "WrongCaseScopeSignature": (5, 'invalid scope: "Global".* "global" and "activity"'),
    },
}
# fmt: on
REASONS: Final = {
    f"{folder}{name}": reason for folder, reasons in _REASONS.items() for name, reason in reasons.items()
}


def _changed(node: Node, changes: tuple[Change, ...]) -> Node | None:
    current: Node | None = node
    for change in changes:
        assert current is not None
        current = mapped(current, change)
    return current


def _equal(ours: Node, theirs: Node, name: str) -> bool:
    of_theirs, of_ours = DIFFERENCES.get(name, ((), ()))
    return _changed(ours, of_ours) == _changed(theirs, of_theirs)


def _row(name: str) -> KotlinRow:
    return next(row for row in rows(require("corpus")) if row.name == name)


def _inputs(name: str) -> tuple[KotlinRow, list[SourceFile]]:
    corpus: Path = require("corpus")
    row = _row(name)
    return row, [source(corpus, file) for file in (row.file, *companions(corpus, row))]


def _read_pair(name: str) -> tuple[KotlinRow, Provider]:
    row, files = _inputs(name)
    reading = read(files)
    assert not reading.problems
    assert not reading.findings
    [provider] = reading.providers
    return row, provider


@pytest.mark.parametrize("name", INPUTS)
def test_each_input_is_written_as_the_compiler_writes_it(name: str) -> None:
    row, provider = _read_pair(name)
    differs = False
    for output in row.outputs:
        theirs = canonical((require("corpus") / "appfunctions_kotlin" / output).read_bytes())
        of_version_1 = any(_child(item, "function_id") for item in theirs[2])
        ours = canonical(written(provider, "v1" if of_version_1 else provider.dialect or ""))
        assert _equal(ours, theirs, name), output
        differs = differs or ours != theirs
    assert differs == (name in DIFFERENCES)


@pytest.mark.parametrize("name", INPUTS)
def test_what_is_read_from_kotlin_is_what_is_read_from_the_file_it_is_written_as(name: str) -> None:
    _, provider = _read_pair(name)
    text = written(provider, provider.dialect or "")
    [again] = FORMAT.read_file(SourceFile("a.xml", text.encode()), ReadingContext()).providers
    # A file alone names neither its service nor itself.
    facts = {**provider.extensions.get("appfunctions", {})}
    facts.pop("functionsFile", None)
    extensions = {"appfunctions": facts} if facts else {}
    alone = provider.model_copy(update={"component": None, "extensions": extensions})
    assert again.content_digest() == alone.content_digest()


@pytest.mark.parametrize("name", REASONS)
def test_each_invalid_input_is_refused_for_the_compilers_reason(name: str) -> None:
    row = _row(name)
    line, reason = REASONS[name]
    reading = read([source(require("corpus"), row.file)])
    [problem] = reading.problems
    assert re.search(reason, problem.message), problem.message
    assert problem.place == f"{row.file}:{line}"
    assert problem.hint
    assert not any(provider.capabilities for provider in reading.providers)


def _readings_of_apps() -> Iterator[str]:
    """Yield what is read from the Kotlin files of each real app: digests of sources and of the model."""
    corpus: Path = require("corpus")
    apps: dict[str, list[str]] = defaultdict(list)
    for row in rows(corpus):
        if row.kind == "app" or row.repo == "temoki/appfunction_sample":
            apps[row.repo].append(row.file)
    for app, files in sorted(apps.items()):
        sources = [source(corpus, file) for file in files if file.endswith(".kt")]
        reading = read(sources)
        declared = CapabilitySet(providers=reading.providers)
        counts = [
            f"{len(item.capabilities)} functions, {len(item.definitions)} types" for item in reading.providers
        ]
        notes = [f"{item.code}: {item.message}" for item in reading.findings]
        notes += [f"problem: {item.message}" for item in reading.problems]
        yield f"{app}\t{'; '.join(counts)}\t{declared.content_digest()}\t{'; '.join(notes)}\n"
        for item in sources:
            yield f"\t{item.path}\t{hashlib.sha256(item.data).hexdigest()}\n"


def test_each_app_of_the_corpus_reads_as_it_did_without_a_finding_or_problem(golden: Golden) -> None:
    readings = list(_readings_of_apps())
    golden("corpus/appfunctions_kotlin.tsv", "".join(readings))
    lines = [line.split("\t") for line in readings if not line.startswith("\t")]
    assert len(lines) == 11
    assert all(counts and not notes.strip() for _, counts, _, notes in lines)


@pytest.mark.parametrize("name", INPUTS)
def test_comments_and_line_ends_change_nothing(name: str) -> None:
    _, files = _inputs(name)
    before = [provider.content_digest() for provider in read(files).providers]
    text = files[0].data.decode()
    commented = re.sub(r"(?m)^([ \t]*)(@AppFunction(?:Declaration)?\b)", r"\1/* { ( */ // }\n\1\2", text)
    ended = re.sub(r"(?m)^(import [\w.]+|package [\w.]+)$", r"\1 // class X {", commented)
    for changed in (text.replace("\n", "\r\n"), commented, ended, f"// package other\n{text}"):
        after = read([SourceFile(files[0].path, changed.encode()), *files[1:]])
        assert not after.problems
        assert [provider.content_digest() for provider in after.providers] == before

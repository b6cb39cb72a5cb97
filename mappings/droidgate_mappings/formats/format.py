"""What a format is, what crosses its border, and the registry of formats (entry points, group
`droidgate.formats`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.installed import (
    CallRoute,
    ComponentQuery,
    DeviceFacts,
    InstalledState,
    SystemListing,
)
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.formats.shell_calls import ShellCalls
from droidgate_mappings.formats.shim_backend import ShimBackend
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.findings import FINDING_CODES, RULE_BOOKS, Finding, LintRule
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.names import NameEntry
from droidgate_mappings.model.types import Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.loading import DialectTable, FormatTables
from droidgate_mappings.text.json_text import utf_16_text
from droidgate_mappings.text.nearest_names import suggest_name

ENTRY_POINT_GROUP = "droidgate.formats"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file or text to read.

    Attributes:
        path: As the user wrote it; `-` for standard input.
        data: Its bytes. A text in UTF-16 is converted to UTF-8, but for XML, which names its own encoding.
        was_utf_16: Whether it was in UTF-16.
    """

    path: str
    data: bytes
    was_utf_16: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        text = utf_16_text(self.data)
        if text is not None:
            object.__setattr__(self, "data", text.encode())
            object.__setattr__(self, "was_utf_16", True)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found.

    Attributes:
        providers: In source order.
        findings: What it accepted beyond the specification.
        problems: Why further providers of the same source could not be read.
    """

    providers: tuple[Provider, ...] = ()
    findings: tuple[Finding, ...] = ()
    problems: tuple[InputError, ...] = ()


def read_each_component(
    components: Iterable[Component],
    read: Callable[[Component], Provider | None],
    context: ReadingContext,
) -> Reading:
    """Read the components of an application; one that cannot be read does not stop the others.

    Args:
        components: What to read.
        read: Reads one, or returns None where it declares nothing. Raises `InputError`.
        context: Collects the leniencies that were used; a strict one allows no unreadable component.

    Raises:
        InputError: none could be read, or the context is strict and one could not; it is the first one's.
    """
    providers: list[Provider] = []
    problems: list[InputError] = []
    for component in components:
        try:
            provider = read(component)
        except InputError as error:
            problems.append(error)
        else:
            providers.extend([] if provider is None else [provider])
    if problems and (context.strict or not providers):
        raise InputError.first_of(problems)
    return Reading(tuple(providers), tuple(context.findings), tuple(problems))


@dataclass(frozen=True, slots=True)
class Artifact:
    """One written file: where it belongs in an app's source set (`res/xml/mcp_capabilities.xml`), and its
    text.

    Attributes:
        path: Relative POSIX path below `src/main`, or a plain file name for a format that is not part of an
            app.
        text: The content.
        role: `descriptor`, `manifest`, `resource`, `schema`, `document` (not part of an app), `code`,
            or `skeleton` (code that the author fills in: written once, never over what is there).
    """

    path: str
    text: str
    role: Literal["descriptor", "manifest", "resource", "schema", "document", "code", "skeleton"]


@dataclass(frozen=True, slots=True)
class Writing:
    """What a writer made of one provider.

    Attributes:
        artifacts: The files.
        provider: The provider as the target holds it; reading the artifacts gives it back.
        findings: Everything in which it differs from what was asked for, one finding a leaf.
        names: The name map.
    """

    artifacts: tuple[Artifact, ...]
    provider: Provider
    findings: tuple[Finding, ...] = ()
    names: tuple[NameEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A language model's call of a function, as its vendor's API states it.

    Attributes:
        name: Name of the function in the list that the model was given.
        arguments: By their names in that list.
        call_id: By which the API knows the call, where it has an id.
    """

    name: str
    arguments: Mapping[str, Json]
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """One parameter of a function in an app's own code.

    Attributes:
        name: Its name in the code.
        role: What it gets: the capability's argument of its name, the app's context, an object of an
            interface that holds the context, the capability's id, or all arguments as one JSON object.
        class_name: The interface of a holder.
        default: The literal that an argument has where it is left out; None where it has none.
        has_other_default: Its default value is not a literal.
    """

    name: str
    role: Literal["argument", "context", "holder", "id", "arguments"] = "argument"
    class_name: str = ""
    default: str | None = None
    has_other_default: bool = False


@dataclass(frozen=True, slots=True)
class ExistingFunction:
    """The function in an app's own code that does what a capability declares.

    Attributes:
        owner: Qualified name of its class.
        name: Its name.
        capability: The capability as its source declares it. A parameter has the type of the input's property
            with its name, and the function returns the output; in code, definitions are classes.
        definitions: What its types refer to.
        parameters: In declared order.
        instance: How its class is reached: by its name, as an object of Kotlin, by a constructor without
            arguments, or by one that takes a context.
        returns: The output's value, a JSON object, or the text of one.
        visibility: Who can call it: `internal` is Kotlin's module, `package` is Java's.
        is_suspend: It is a suspend function of Kotlin.
        data_classes: The names of definitions whose properties can be read from an object of the class.
        missing: Why it cannot be called from another class, one clause for each reason.
        arguments: Declared parameters that have another name in the migrated capability.
        results: Declared keys of the output that have another name there.
        code: The file of its class, where the migration writes that too.
    """

    owner: str
    name: str
    capability: Capability
    definitions: Mapping[str, Type] = field(default_factory=dict)
    parameters: tuple[FunctionParameter, ...] = ()
    instance: Literal["static", "object", "class", "context"] = "class"
    returns: Literal["value", "json", "json-text"] = "value"
    visibility: Literal["public", "internal", "package"] = "public"
    is_suspend: bool = False
    data_classes: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    code: Artifact | None = None


@dataclass(frozen=True, slots=True)
class HandlerCode:
    """Source code that answers the calls of one provider, with the places the app's author fills in.

    Attributes:
        artifacts: Source files, relative to `src/main` (`java/dev/example/ToolService.java`).
        left_out: Paths of descriptor artifacts that the build makes itself from this code.
        component: Fully qualified class of the component that the manifest names.
        ids: Written capability id -> the id that the build makes of this code, where that differs.
        notes: What the author still has to do, one sentence each (a dependency, a permission).
    """

    artifacts: tuple[Artifact, ...]
    left_out: frozenset[str] = frozenset()
    component: str | None = None
    ids: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShimOffer:
    """What a shim offers to the agents of a protocol.

    Attributes:
        application_id: The shim's.
        label: Its human-readable name.
        description: What it offers.
        definitions: What types refer to.
        offered: Its capabilities by the ids of its routes, parameters and outputs as the engine has them.
        declared: The same as the shim's own descriptor has them.
    """

    application_id: str
    label: str
    description: str
    definitions: Mapping[str, Type]
    offered: tuple[Capability, ...]
    declared: tuple[Capability, ...]


@dataclass(frozen=True, slots=True)
class Advertised:
    """What declares an offer to the agents of a protocol.

    Attributes:
        artifacts: Files of the shim's source tree; manifests are merged.
        findings: What the protocol's form loses, each at a capability of the offer.
        functions: Id of an app function -> id of its route.
    """

    artifacts: tuple[Artifact, ...] = ()
    findings: tuple[Finding, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CodeReader:
    """How a format reads source code from which a compiler would make its descriptors.

    Attributes:
        endings: How the names of its files end (`.kt`).
        may_declare: Whether a file's content may declare something; cheap, without a parser. Files for which
            it is false are read only where another file of the app may declare something.
        read: Reads the files of one app, those of its libraries included, and further files for their types
            only; nothing is run. Providers have no package.
        assets: The names of the assets that the compiler writes for a provider that was read.
        lint: Findings against the rules of the specification, for a provider that was read.
        functions: The functions that files declare as capabilities, by id, so that other code can call them;
            takes the files, and further files for their types only.
    """

    endings: tuple[str, ...]
    may_declare: Callable[[bytes], bool]
    read: Callable[[Sequence[SourceFile], Sequence[SourceFile], ReadingContext], Reading]
    assets: Callable[[Provider], frozenset[str]] | None = None
    lint: Callable[[Provider], tuple[Finding, ...]] | None = None
    functions: (
        Callable[[Sequence[SourceFile], Sequence[SourceFile]], Mapping[str, ExistingFunction]] | None
    ) = None


@dataclass(frozen=True, slots=True)
class HandlerRequest:
    """What source code that answers the calls of a provider is written from.

    Attributes:
        provider: The provider as written.
        dialect: Its dialect.
        language: `java` or `kotlin`: what the class that the app's author fills in is written in.
        namespace: Package of the app's classes.
        functions: The app's functions that do what capabilities declare, by the ids of these.
    """

    provider: Provider
    dialect: DialectTable
    language: str
    namespace: str
    functions: Mapping[str, ExistingFunction]


@dataclass(frozen=True, slots=True)
class PhoneSupport:
    """How a format's providers are found on a phone, and read there.

    Attributes:
        looks_for: The components by which they are found.
        listing: The listing of the running system that `read_installed` needs, and how it is read.
        read_installed: Reads an installed application with what the running system says of it; without it,
            `read_application` does. Raises `InputError` as that does.
        why_not_indexed: Why the indexer of a release leaves out a capability of an application: takes the
            application, the capability's id and the API level, such as `36.1`; returns None where the release
            would list it. None where Android indexes nothing.
        find_silent: Providers of an application whose files do not list their capabilities, which is why
            `read_application` leaves them out: a phone would be asked.
        found_by: What would find the capabilities of a provider whose app's files do not list them,
            one sentence; None where they do.
    """

    looks_for: tuple[ComponentQuery, ...] = ()
    listing: SystemListing | None = None
    read_installed: Callable[[Application, InstalledState, ReadingContext], Reading] | None = None
    why_not_indexed: Callable[[Application, str, str], str | None] | None = None
    find_silent: Callable[[Application], tuple[Provider, ...]] | None = None
    found_by: Callable[[Provider], str | None] | None = None


@dataclass(frozen=True, slots=True)
class CallSupport:
    """How a format's capabilities are called, and how a shim serves the format's agents.

    Attributes:
        call_routes: The ways in which a provider could be called from a computer, and what they lack on a
            phone.
        shell_calls: How Android's shell makes the calls, where it can: makes the object. Its `route_id` is
            that of one of the `call_routes`.
        shim_backend: How a shim makes the calls, where it can: makes the object.
        shim_frontends: How a shim declares itself to the format's agents, by the words of `--advertise`. The
            engine and the shim's app have the classes that answer.
    """

    call_routes: Callable[[Provider, DeviceFacts], tuple[CallRoute, ...]] | None = None
    shell_calls: Callable[[], ShellCalls] | None = None
    shim_backend: Callable[[], ShimBackend[Any]] | None = None
    shim_frontends: Mapping[str, Callable[[ShimOffer], Advertised]] = field(default_factory=dict)


def no_descriptors(application: Application, context: ReadingContext) -> Reading:
    """Return nothing: no app declares anything in such a format."""
    del application, context
    return Reading()


@dataclass(frozen=True, slots=True)
class Format:
    """A protocol's descriptor format, as an adapter registers it.

    The first six fields make a format of files; each of the others adds one ability.

    Attributes:
        tables: Id, title, dialects and what each can carry, from `mappings` or the adapter's own data.
        detect: How sure a file's content makes us that it is of this format: 0 no, up to 100.
        read_file: Reads one descriptor file. Raises `InputError`.
        endings: How the names of descriptor files end (`.json`): in a folder, only files with the ending of a
            format are looked at. A file that was named itself is looked at in any case.
        write: Writes one provider in one dialect. Raises `WriteError`.
        lint_file: Findings against the rules of the specification, for one descriptor file. Raises
            `InputError`.
        read_application: Finds the format's providers in an application; none by default. Raises `InputError`
            where none can be read.
        lint_application: As `lint_file`, for an application's components and descriptors.
        may_be: Whether a file that `detect` does not claim is read where the user names the file and the
            format: it lacks the part by which others are known.
        find_losses: The findings that `write` has for a provider of another format that holds no facts of
            this one, without its artifacts; the same in dialects of equal capacity. Raises `WriteError`
            wherever `write` would. Without it, `write` lists them.
        built_in: The provider that the protocol itself fixes, where it fixes its capabilities: `ID:` names it
            as a source.
        code: How source code is read that declares capabilities; None where none does.
        write_handlers: Writes source code that answers a written provider's calls.
        in_code: The dialect with the capacity of that source code in a language, where the build makes the
            descriptor of it; without it, the code carries what the dialect does.
        write_functions: Functions that do what a provider of the app declares, written for the handlers of
            other protocols to call: takes the provider as it was read and the package of new classes, and
            returns them by the ids of its capabilities.
        phones: How its providers are found on a phone.
        calls: How its capabilities are called.
        read_call: Reads a language model's call of a function that the format declared. Raises `InputError`.
        size_for_models: How many bytes a model is given for each capability of a provider, from what was
            written of it; None where that cannot be known. For the one format that language models are given.
    """

    tables: FormatTables
    detect: Callable[[SourceFile], int]
    read_file: Callable[[SourceFile, ReadingContext], Reading]
    endings: tuple[str, ...] = ()
    write: Callable[[Provider, DialectTable], Writing] | None = None
    lint_file: Callable[[SourceFile], tuple[Finding, ...]] | None = None

    read_application: Callable[[Application, ReadingContext], Reading] = no_descriptors
    lint_application: Callable[[Application], tuple[Finding, ...]] | None = None
    may_be: Callable[[SourceFile], bool] | None = None
    find_losses: Callable[[Provider, DialectTable], tuple[Finding, ...]] | None = None
    built_in: Callable[[], Provider] | None = None

    code: CodeReader | None = None
    write_handlers: Callable[[HandlerRequest], HandlerCode] | None = None
    in_code: Callable[[DialectTable, str], DialectTable] | None = None
    write_functions: Callable[[Provider, str], Mapping[str, ExistingFunction]] | None = None
    phones: PhoneSupport = PhoneSupport()
    calls: CallSupport = CallSupport()
    read_call: Callable[[DialectTable, Json], ModelCall] | None = None
    size_for_models: Callable[[Provider, Writing], tuple[int, ...] | None] | None = None

    def __repr__(self) -> str:
        return f"<Format {self.id}>"

    @property
    def id(self) -> str:
        """The stable id, such as `mobile-mcp`."""
        return self.tables.id

    @property
    def title(self) -> str:
        """The human-readable name."""
        return self.tables.title

    @property
    def dialects(self) -> tuple[DialectTable, ...]:
        """The dialects, the default for writing first."""
        return self.tables.dialects

    @property
    def has_rules(self) -> bool:
        """Whether descriptors can be checked against rules of the format."""
        return self.lint_file is not None or self.lint_application is not None

    @property
    def rules(self) -> tuple[LintRule, ...]:
        """The rules that the modules of its linters declare, in the order of the specification."""
        linters = (self.lint_file, self.lint_application)
        loaded = [item.load() if isinstance(item, _Lazy) else item for item in linters if item is not None]
        books = dict.fromkeys(item.__module__ for item in loaded)
        return tuple(rule for name in books if name in RULE_BOOKS for rule in RULE_BOOKS[name].by_id.values())

    def dialect(self, dialect_id: str | None = None) -> DialectTable:
        """Return a dialect, the default one without an id.

        Raises:
            UsageError: the format has no such dialect.
        """
        if dialect_id is None:
            return self.dialects[0]
        for dialect in self.dialects:
            if dialect.id == dialect_id:
                return dialect
        dialect_ids = [dialect.id for dialect in self.dialects]
        message = f"{self.id} has no dialect {dialect_id!r}"
        raise UsageError(message, hint=suggest_name(dialect_id, dialect_ids))


@dataclass(frozen=True, slots=True)
class _Lazy:
    target: str

    @cache  # noqa: B019 - they are few, and modules keep them anyway
    def load(self) -> Callable[..., Any]:
        module, _, name = self.target.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.load()(*arguments, **named)


def lazily(target: str) -> Callable[..., Any]:
    """Return a function that imports and calls `module:function` when it is called.

    Reading one file needs no writer, linter or handler of any format; importing them all would take longer
    than the reading.
    """
    return _Lazy(target)


@cache
def load_finding_codes() -> None:
    """Import what reads, writes and checks every format, so that the codes of its findings are declared."""
    for format_ in load_formats().values():
        reads = (format_.read_file, format_.read_application, format_.code and format_.code.read)
        for function in (*reads, format_.write, format_.lint_file, format_.lint_application):
            if isinstance(function, _Lazy):
                function.load()


def meaning_of(code: str) -> str | None:
    """Return what a finding code says, one sentence; None where no installed format declares it."""
    if code not in FINDING_CODES:
        load_finding_codes()
    return FINDING_CODES[code].meaning if code in FINDING_CODES else None


@cache
def load_formats() -> Mapping[str, Format]:
    """Return every installed format by id; third parties add theirs by entry point.

    Raises:
        UsageError: two packages register the same id, or one's format cannot be imported.

    Example:
        >>> droidgate.load_formats()["mmcp"].title
        'mMCP'
    """
    loaded: dict[str, Format] = {}
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry_point: entry_point.name):
        try:
            format_: Format = entry.load()
        except Exception as error:
            package = "its package" if entry.dist is None else entry.dist.name
            message = f"the format {entry.name!r} cannot be loaded: {type(error).__name__}: {error}"
            raise UsageError(message, hint=f"update {package}, or uninstall it") from error
        if format_.id in loaded:
            message = f"two packages register the format {format_.id!r}"
            raise UsageError(message, hint="uninstall one of them")
        loaded[format_.id] = format_
    return loaded


def found_by(provider: Provider) -> str | None:
    """Return what would find the capabilities that a provider's app does not list in its files.

    Returns:
        One sentence, without a period; None where they are known.
    """
    format_ = load_formats().get(provider.protocol)
    if format_ is None or format_.phones.found_by is None:
        return None
    return format_.phones.found_by(provider)


def finder_of_silent(application: Application) -> str | None:
    """Return what would find the capabilities that no file of an application lists; None where files do."""
    silent = silent_providers(application, load_formats().values())
    return next(filter(None, map(found_by, silent)), None)


def silent_providers(application: Application, formats: Iterable[Format]) -> Iterator[Provider]:
    """Yield the providers of an application that would have to be asked for their capabilities."""
    for format_ in formats:
        if format_.phones.find_silent is not None:
            yield from format_.phones.find_silent(application)


def find_format(text: str) -> tuple[Format, DialectTable]:
    """Return the format and dialect of `FORMAT` or `FORMAT+DIALECT`.

    Raises:
        UsageError: unknown format or dialect.
    """
    format_id, _, dialect_id = str(text).partition("+")
    formats = load_formats()
    if format_id not in formats:
        names = [f"{name}+{item.id}" for name in formats for item in formats[name].dialects]
        of_dialect = [f"did you mean {name!r}?" for name in names if name.endswith(f"+{format_id}")]
        message = f"unknown format {format_id!r}"
        raise UsageError(message, hint=next(iter(of_dialect), suggest_name(format_id, formats)))
    return formats[format_id], formats[format_id].dialect(dialect_id or None)


def chosen_formats(names: Iterable[str] | None) -> list[Format] | None:
    """Return the formats of these ids, or of a single id; None without any.

    Raises:
        UsageError: a format is unknown.
    """
    several = (names,) if isinstance(names, str) else names
    return [find_format(name)[0] for name in several or ()] or None


def only_format(source: SourceFile, formats: Sequence[Format]) -> Format | None:
    """Return the only format that a file is to be read as, where it may be of that; else None."""
    only = formats[0] if len(formats) == 1 else None
    return only if only is not None and only.may_be is not None and only.may_be(source) else None


def detect_format(source: SourceFile, formats: Iterable[Format] | None = None) -> Format | None:
    """Return the format that is surest of a file, None where none claims it."""
    candidates = list(load_formats().values() if formats is None else formats)
    scored = [(candidate.detect(source), candidate) for candidate in candidates]
    best = max(scored, key=lambda pair: pair[0], default=None)
    return best[1] if best is not None and best[0] > 0 else None

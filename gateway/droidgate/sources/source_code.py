"""Source code that declares capabilities: which files a format gets, and how what it declares joins the rest.

Nothing is run. What a compiler has made of the code is preferred where the tree has it, and each difference
is reported (docs/concepts/source-trees.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from droidgate.sources.build_layout import GENERATED
from droidgate_android.projects.android_project import MAIN, Module
from droidgate_android.projects.gradle_text import joined_name, source_sets_of
from droidgate_android.projects.resources import SourceSet
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import CodeReader, Format, SourceFile, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import CapabilitySet, ComponentAccess, Place, Provider
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import pointer_name
from droidgate_mappings.model.names import qualified_class
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.tables.app_functions import Release, load_indexing
from droidgate_mappings.tables.loading import find_binding, find_format_tables
from droidgate_mappings.text.counted_nouns import amount

_code = partial(finding_code, module=__name__)

if TYPE_CHECKING:
    from droidgate_mappings.compare import Change

SOURCE_DIFFERS: Final = _code(
    "source-differs-from-build",
    "The source code declares something else than what a build has made of it; the build's output is read",
)
CAPABILITIES_NOT_FOUND: Final = _code(
    "capabilities-not-found",
    "The files of an app declare a protocol but no capability of it: these are in a place that was not read",
)

VARIANT_CODE: Final = _code(
    "variant-code-unread",
    "The source set of another build type or flavour declares capabilities, or may; one variant is read",
)
VARIANT_READ: Final = _code(
    "variant-code-read",
    "Source code of a build type or flavour declares capabilities; its variant is the one that is read",
)

COMPETING_SERVICES: Final = _code(
    "competing-services",
    "Source code declares functions of several services, and a supported release indexes one service only",
)

_MOST_NAMED: Final = 5

MAX_CODE_BYTES: Final = 256 * 1024 * 1024
"""All files of source code of one app together, where one of them may declare something."""


@dataclass(slots=True)
class CodeReading:
    """What the source code of one app declares in one format.

    Attributes:
        providers: In the reader's order.
        files_read: Paths of the files that may declare something.
        problems: What cannot be read.
    """

    providers: tuple[Provider, ...] = ()
    files_read: list[str] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)


def code_endings(formats: Iterable[Format]) -> tuple[str, ...]:
    """Return how the names of the files end that formats read as source code."""
    return tuple(
        dict.fromkeys(
            ending for format_ in formats if format_.code is not None for ending in format_.code.endings
        )
    )


@dataclass(frozen=True, slots=True)
class Code:
    """Source code of one app, or of one module without an app.

    Attributes:
        own: Folders with what it declares.
        types: Folders of further modules, whose types it may use.
    """

    own: tuple[SourceSet, ...] = ()
    types: tuple[SourceSet, ...] = ()


def code_of_module(module: Module, variant: str | None = None) -> Code:
    """Return the source code of a module; that of modules that are merged into it is its own.

    Args:
        module: The module.
        variant: A variant, or flavours or a build type of it; what it leaves open is as Gradle's default.
    """
    own, *further = (
        (*part.code, *(code for code in part.variant_code if _name_of(code) in sets))
        for part, sets in _parts_of(module, variant)
    )
    types = tuple(code for part in further for code in part)
    return Code((*own, *types)) if module.merges_manifests else Code(own, types)


def with_output_of(module: Module, variant: str | None, formats: Sequence[Format]) -> Module:
    """Return a module, and its libraries, with what a build has made of the variant that is read.

    What was made of another variant counts for it where their source sets declare the same; otherwise the
    source code alone is read, which is that of the variant.

    Args:
        module: The module.
        variant: A variant, or flavours or a build type of it; what it leaves open is as Gradle's default.
        formats: The formats whose source code may declare something.
    """
    if not any(part.generated for part in (module, *module.libraries)):
        return module
    names = module.gradle.names_in(variant or "")
    chosen = module.gradle.variant(names or ())
    start = "" if names is not None or variant is None else variant
    parts = (module, *module.libraries)
    first, *libraries = (
        replace(part, generated=tuple(_outputs_of(part, parts, chosen, start, formats))[:1]) for part in parts
    )
    return replace(first, libraries=tuple(libraries))


def _outputs_of(
    part: Module, parts: Sequence[Module], chosen: tuple[str, ...], start: str, formats: Sequence[Format]
) -> Iterator[SourceSet]:
    """Yield what builds have made of a variant, then what they made of others that declare the same.

    A flavour that a plugin of the build adds is known by the `start` of its variants' names only. The output
    of an app has the functions of its libraries too.
    """
    outputs = {output.shown.rpartition("/")[0].rpartition("/")[2]: output for output in part.generated}
    own = joined_name(part.gradle.variant(chosen))
    yield from (outputs[name] for name in outputs if (name.startswith(start) if start else name == own))
    for name, output in outputs.items():
        names = part.gradle.names_in(name)
        differing = (
            code
            for each in parts
            for code in each.variant_code
            if _name_of(code) in {*_sets_of(each, chosen), start} ^ {*_sets_of(each, names), name}
        )
        if not any(_may_declare(code, formats) for code in differing):
            yield output


def _sets_of(part: Module, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the source sets of a variant; of one whose flavours are not known, none."""
    return () if names is None else source_sets_of(part.gradle.variant(names))


def _may_declare(code: SourceSet, formats: Sequence[Format]) -> bool:
    readers = [format_.code for format_ in formats if format_.code is not None]
    return any(
        reader.may_declare(_content_of(code, name, CodeReading()) or b"")
        for reader in readers
        for _, name in _files_of_languages((code,), reader, CodeReading())
    )


def has_variant(module: Module, variant: str) -> bool:
    """Return whether a module has a variant, a flavour, a build type or a source set of that name."""
    code = map(_name_of, (code for part in (module, *module.libraries) for code in part.variant_code))
    return module.gradle.names_in(variant) is not None or variant in {*module.source_sets, *code} - {MAIN}


@dataclass(frozen=True, slots=True)
class ChosenSets:
    """The source sets of a module, without `main`: those of a variant, and all others.

    Attributes:
        chosen: Those of the variant by name, each with its source code, that of merged libraries included.
        others: The others in the same way.
    """

    chosen: Mapping[str, tuple[SourceSet, ...]]
    others: Mapping[str, tuple[SourceSet, ...]]


def choose_sets(module: Module, variant: str | None) -> ChosenSets:
    """Return which source sets of a module a variant has.

    Args:
        module: The module.
        variant: As in `code_of_module`.
    """
    sets_by_name: tuple[dict[str, tuple[SourceSet, ...]], ...] = ({}, {})
    for part, sets in _parts_of(module, variant):
        if part is module:
            for name in module.source_sets.keys() - {MAIN}:
                sets_by_name[name not in sets][name] = ()
        # Source code of a merged library is that of the app.
        if (part is not module and not module.merges_manifests) or module.is_merged:
            continue
        for code in part.variant_code:
            name = _name_of(code)
            by_name = sets_by_name[name not in sets]
            by_name[name] = (*by_name.get(name, ()), code)
    return ChosenSets(*(dict(sorted(by_name.items())) for by_name in sets_by_name))


class _KeptFiles(Mapping[str, bytes]):
    """Files that are read from disk once, though several readings use their types."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self._kept: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self._kept:
            self._kept[name] = self._files[name]
        return self._kept[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@dataclass(slots=True)
class OtherCode:
    """The source code of source sets of one module, each with that of its variant for the types.

    Attributes:
        module: The module.
    """

    module: Module
    _kept: dict[str, SourceSet] = field(default_factory=dict)

    def of(self, name: str, own: tuple[SourceSet, ...]) -> Code:
        """Return the code of a source set.

        Args:
            name: The source set.
            own: Its source code.
        """
        set_code = code_of_module(self.module, name)
        folders = {code.shown for code in own}
        types = (code for code in (*set_code.own, *set_code.types) if code.shown not in folders)
        return Code(own, tuple(map(self._keep, types)))

    def _keep(self, code: SourceSet) -> SourceSet:
        if code.shown not in self._kept:
            self._kept[code.shown] = SourceSet(_KeptFiles(code.files), code.shown)
        return self._kept[code.shown]


def _parts_of(module: Module, variant: str | None) -> Iterator[tuple[Module, tuple[str, ...]]]:
    """Yield a module and its libraries, each with the variant's source sets in addition to `main`."""
    names = module.gradle.names_in(variant or "")
    chosen = module.gradle.variant(names or ())
    for part in (module, *module.libraries):
        sets = source_sets_of(part.gradle.variant(chosen))
        if part is module and variant is None and part.source_sets and MAIN not in part.source_sets:
            # Tests alone, or manifests of flavours alone: there is nothing that a default could add to.
            sets = (*sets, *part.source_sets)
        # Flavours that a plugin of the build adds are known by their folders only.
        yield part, (sets if names is not None else (*sets, variant or ""))


def _name_of(code: SourceSet) -> str:
    return code.shown.rpartition("/")[2]


def report_source_set(
    module: Module,
    variant: str | None,
    name: str,
    folders: Iterable[str],
    providers: Sequence[Provider],
    *,
    unread: Sequence[str] | None = None,
) -> list[Finding]:
    """Return a finding for each folder of a build type's or flavour's source set that declares something.

    Args:
        module: The module.
        variant: As in `code_of_module`.
        name: The source set.
        folders: Its folders, as a user would write them.
        providers: What was read in them.
        unread: Files that may declare something, where the variant does not have the source set; else None.
    """
    chosen = joined_name(module.gradle.variant(module.gradle.names_in(variant or "") or ()))
    declared = [(item.source, item) for provider in providers for item in provider.capabilities]
    findings: list[Finding] = []
    for folder in folders:
        capabilities = [
            (place, item) for place, item in declared if place is not None and is_below(place, [folder])
        ]
        paths = [place.path for place, _ in capabilities]
        paths += (path for path in unread or () if is_below(Place(path=path), [folder]))
        if not paths:
            continue
        words = _declared_words([item.id.rpartition("#")[2] for _, item in capabilities])
        message = f"the variant {chosen} is read; its source set {name} {words}"
        if unread is not None:
            message = f"the variant {chosen} is read without the source set {name}, which {words}"
        findings.append(
            Finding(
                code=VARIANT_READ if unread is None else VARIANT_CODE,
                level=Level.NOTE,
                pointer="",
                message=message,
                source=Place(path=paths[0]),
                hint="--variant reads another one" if unread is None else f"--variant {name} reads it",
            )
        )
    return findings


def is_below(place: Place | None, folders: Iterable[str]) -> bool:
    """Return whether a place is in one of the folders."""
    return place is not None and place.path.startswith(tuple(f"{folder}/" for folder in folders))


def _declared_words(names: Sequence[str]) -> str:
    if not names:
        return "may declare capabilities"
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    count = amount(len(names), "capability", "capabilities")
    return f"declares {count}: {', '.join(names[:_MOST_NAMED])}{more}"


def read_code(reader: CodeReader, code: Code, context: ReadingContext) -> CodeReading:
    """Read source code; its files are all kept only where one of them may declare something.

    Args:
        reader: How the format reads it.
        code: The source code.
        context: Takes the findings.

    Raises:
        InputError: the context is strict, and the format's reader refuses the files.
    """
    reading = CodeReading()
    own = _files_of_languages(code.own, reader, reading)
    for source_set, name in own:
        data = _content_of(source_set, name, reading)
        if data is not None and reader.may_declare(data):
            reading.files_read.append(source_set.path_of(name))
    if not reading.files_read:
        return reading
    types = _files_of_languages(code.types, reader, reading)
    files: list[SourceFile] = []
    remaining = MAX_CODE_BYTES
    for source_set, name in (*own, *types):
        data = _content_of(source_set, name, CodeReading()) or b""
        remaining -= len(data)
        if remaining < 0:
            message = f"the app has more than {MAX_CODE_BYTES} bytes of source code; it is not read"
            reading.problems.append(BudgetError(message, place=source_set.shown))
            return reading
        files.append(SourceFile(source_set.path_of(name), data))
    try:
        code_reading = reader.read(files[: len(own)], files[len(own) :], context)
    except InputError as error:
        if context.strict:
            raise
        reading.problems.append(error)
        return reading
    reading.providers = code_reading.providers
    reading.problems += code_reading.problems
    earlier_keys = set(map(_key_of, context.findings))
    context.findings += [finding for finding in code_reading.findings if _key_of(finding) not in earlier_keys]
    return reading


def _key_of(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.pointer, finding.message, finding.source


def _files_of_languages(
    code: Sequence[SourceSet], reader: CodeReader, reading: CodeReading
) -> list[tuple[SourceSet, str]]:
    """Return the files of a format's languages, each with its folder."""
    return [
        (item, name) for item in code for name in _names_of(item, reading) if name.endswith(reader.endings)
    ]


def _names_of(code: SourceSet, reading: CodeReading) -> list[str]:
    try:
        return list(code.files)
    except InputError as error:
        reading.problems.append(error)
        return []


def _content_of(code: SourceSet, name: str, reading: CodeReading) -> bytes | None:
    try:
        return code.files[name]
    except InputError as error:
        reading.problems.append(error)
        return None


def join_code(
    declared: Sequence[Provider],
    from_code: Sequence[Provider],
    application: Application,
    findings: list[Finding],
) -> list[Provider]:
    """Return what an app declares, with what its source code declares where no file of the app has it.

    Args:
        declared: What a format reads from the app's manifest, resources and assets.
        from_code: What it reads from the app's source code.
        application: The app.
        findings: Takes each difference between the two.
    """
    joined: list[Provider] = list(declared)
    used_positions: set[int] = set()
    # A provider with a component belongs to that component only, so it goes first.
    for provider in sorted(from_code, key=lambda item: item.component is None):
        position = _find_same(declared, provider, application, used_positions)
        if position is not None and declared[position].capabilities:
            findings += _differences(provider, declared[position])
            continue
        base = declared[position] if position is not None else _without_component(declared)
        filled = _with_guidance(_fill_provider(provider, base, application), declared)
        if position is None:
            joined.append(filled)
        else:
            joined[position] = filled
            used_positions.add(position)
    return joined


def report_elsewhere(
    provider_title: str, declared: Sequence[Provider], application: Application
) -> list[Finding]:
    """Return the finding that an app declares a protocol and no capability of it; empty where it has some."""
    if not declared or any(item.capabilities or item.component is not None for item in declared):
        return []
    hint = (
        "they are in a build type or flavour, in modules or libraries outside of this folder, or made by a "
        "build; read the built APK"
    )
    return [
        Finding(
            code=CAPABILITIES_NOT_FOUND,
            level=Level.NOTE,
            pointer="",
            message=f"{provider_title}: the app describes itself, but no function of it is in these files",
            source=declared[0].source or application.place,
            hint=hint,
        )
    ]


def _find_same(
    declared: Sequence[Provider], provider: Provider, application: Application, taken: set[int]
) -> int | None:
    """Return the position of the provider that source code declares too, None without one."""
    ids = {capability.id for capability in provider.capabilities}
    for position, item in enumerate(declared):
        if _is_component(item.component, provider.component, application):
            return position
    for position, item in enumerate(declared):
        if ids.intersection(capability.id for capability in item.capabilities):
            return position
    empty = [
        position for position, item in enumerate(declared) if not item.capabilities and position not in taken
    ]
    services = [position for position in empty if declared[position].component is not None]
    if provider.component is None and len(services) == 1:
        return services[0]
    return next((position for position in empty if declared[position].component is None), None)


def _is_component(written: str | None, name: str | None, application: Application) -> bool:
    """Return whether a class name in a manifest is the given class."""
    if written is None or name is None:
        return False
    prefix = application.namespace or application.package
    if prefix is None:
        return written == name or (written.startswith(".") and name.endswith(written))
    return qualified_class(written, prefix) == name


def _without_component(declared: Sequence[Provider]) -> Provider | None:
    return next((item for item in declared if not item.capabilities and item.component is None), None)


def _fill_provider(provider: Provider, base: Provider | None, application: Application) -> Provider:
    """Return a provider from source code with what the app's other files state about it."""
    changes: dict[str, object] = {"package": application.package}
    if provider.name is None:
        changes["name"] = base.name if base is not None else application.label
    if base is not None:
        changes["access"] = base.access if base.component is not None else provider.access
        changes["component"] = base.component or provider.component
        changes["description"] = provider.description or base.description
        changes["instructions"] = provider.instructions or base.instructions
        changes["extensions"] = {
            key: {**base.extensions.get(key, {}), **provider.extensions.get(key, {})}
            for key in (*base.extensions, *provider.extensions)
        }
    if base is None or base.component is None:
        changes["access"] = _access_of_service(provider)
    return provider.changed(changes)


def _with_guidance(provider: Provider, declared: Sequence[Provider]) -> Provider:
    """Return a provider with what the app says of itself to agents; every provider of a protocol has it."""
    if provider.description is not None or provider.instructions is not None:
        return provider
    guide = next((item for item in declared if item.description or item.instructions), None)
    if guide is None:
        return provider
    return provider.changed({"description": guide.description, "instructions": guide.instructions})


def _access_of_service(provider: Provider) -> ComponentAccess:
    """Return the access of a component that no manifest here declares: Android binds no other one."""
    binding = find_binding(provider.protocol)
    if binding is None or not is_of_service(provider):
        return provider.access
    return provider.access.changed({"permission": binding.component, "protection_level": None})


def _differences(from_code: Provider, built: Provider) -> list[Finding]:
    """Return what the source code declares and the build's output does not, or has in another way."""
    # Most trees have no build's output.
    from droidgate_mappings.compare import compare_sets
    from droidgate_mappings.fit.provider_fit import fit_provider

    code = from_code.changed({"package": built.package, "component": built.component})
    tables = find_format_tables(built.protocol)
    dialect = next((item for item in tables.dialects if item.id == built.dialect), None) if tables else None
    if dialect is not None and dialect.capacity is not None:
        # What the form of the output cannot hold is not missing in it.
        code = fit_provider(code, dialect.capacity, built.protocol, dialect.id).provider
    compared = compare_sets(CapabilitySet(providers=(code,)), CapabilitySet(providers=(built,)))
    places = {capability.id: capability.source for capability in from_code.capabilities}
    findings = []
    for provider in compared.providers:
        for capability in provider.capabilities:
            place = places.get(capability.id) or from_code.source
            findings += [
                _difference(capability.id, change, place, built.source)
                for change in capability.changes
                if not _is_about_blanks(change)
            ]
    return findings


def _is_about_blanks(change: Change) -> bool:
    """Return whether a text differs in blanks only, which versions of a compiler keep or remove."""
    texts = (change.old, change.new)
    return all(isinstance(text, str) for text in texts) and str(texts[0]).split() == str(texts[1]).split()


def _difference(capability: str, change: Change, place: Place | None, built: Place | None) -> Finding:
    pointer = change.old_pointer or change.new_pointer or ""
    difference = f"{change.message} from the source to the build's output, {built}"
    return Finding(
        code=SOURCE_DIFFERS,
        level=Level.WARNING,
        pointer=pointer,
        message=f"{_subject(pointer, capability)}: {difference}",
        source=place,
        hint="build the app again",
    )


def _subject(pointer: str, capability: str) -> str:
    """Return what of a capability a pointer leads to, such as `the parameter title of Notes#add`."""
    tokens = [pointer_name(token) for token in pointer.split("/")]
    path = ".".join(name for word, name in pairwise(tokens) if word == "properties")
    if "definitions" in tokens:
        owner = tokens[tokens.index("definitions") + 1]
        return f"the property {path} of the class {owner}" if path else f"the class {owner}"
    if "output" in tokens:
        return f"the result {path} of {capability}" if path else f"the result of {capability}"
    return f"the parameter {path} of {capability}" if path else f"the function {capability}"


def is_of_service(provider: Provider) -> bool:
    """Return whether only Android binds the component of a provider, and its dialect has a component."""
    tables = find_format_tables(provider.protocol)
    dialects = () if tables is None or tables.binding is None else tables.dialects
    capacity = next((dialect.capacity for dialect in dialects if dialect.id == provider.dialect), None)
    return capacity is not None and capacity.component is not None


def releases_of_one_service(minimum_sdk: int | None) -> list[Release]:
    """Return the releases that index one service of an app only, oldest first.

    Args:
        minimum_sdk: The oldest SDK level that the app supports, None where it is not known.
    """
    return [
        item
        for item in load_indexing().linted()
        if item.services == "last" and int(item.sdk.partition(".")[0]) >= (minimum_sdk or 0)
    ]


def report_competing_services(
    applications: Iterable[Application], providers: Sequence[Provider]
) -> Iterator[Finding]:
    """Yield a finding for each app whose source code declares functions of several services.

    The services of a manifest are the business of a format's linter; those of source code may be in none.
    """
    for application in applications:
        by_component = {
            provider.component: provider
            for provider in providers
            if provider.package == application.package and is_of_service(provider)
        }
        services = list(by_component.values())
        from_code = [service for service in services if is_from_code(service, load_formats().values())]
        releases = releases_of_one_service(application.minimum_sdk)
        if len(services) > 1 and from_code and releases:
            effect = f"{', '.join(release.title for release in releases)} index the last one only"
            classes = ", ".join(
                service.component or "that of functions outside of entry points" for service in services
            )
            yield Finding(
                code=COMPETING_SERVICES,
                level=Level.WARNING,
                pointer="",
                message=f"{len(services)} services declare functions, and {effect}: {classes}",
                source=from_code[-1].source,
                hint="declare all functions in one entry point, where older releases matter",
            )


def assets_of_code(application: Application, providers: Iterable[Provider]) -> frozenset[str]:
    """Return the names of the assets that a compiler writes of an application's source code."""
    if application.is_built:
        return frozenset()
    formats = load_formats()
    return frozenset(
        name
        for provider in providers
        if provider.package == application.package
        and (format_ := formats.get(provider.protocol)) is not None
        and (code := format_.code) is not None
        and code.assets is not None
        and is_from_code(provider, (format_,))
        for name in code.assets(provider)
    )


def is_from_code(provider: Provider, formats: Iterable[Format]) -> bool:
    """Return whether a provider was read from source code, and not from what a build made of it."""
    return provider.source is not None and provider.source.path.endswith(code_endings(formats) or ("\0",))


def is_from_build(provider: Provider) -> bool:
    """Return whether a provider was read from what a build has made of source code."""
    return provider.source is not None and f"/{GENERATED}/" in f"/{provider.source.path}"

"""The statements of a Gradle build file, and what they say about ids and versions; nothing is run.

Read are literals, constants of the same file, the properties of its build and their concatenation, in Kotlin
and in Groovy, with the blocks around them; whatever a script computes stays unknown. A file that is not a
Gradle script says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from droidgate_android.projects.version_catalog import VersionCatalog, read_version_catalog
from droidgate_mappings.records import dataclass, field, replace

MAX_CHARACTERS: Final = 256 * 1024
"""A longer script is not read."""

MAX_STATEMENT: Final = 8192
"""A longer statement is left out."""

MAX_HEADER: Final = 256
"""How many characters in front of a brace can name its block."""

MAX_BLOCKS: Final = 16
"""How many blocks around a statement are kept."""

_TOKEN = re.compile(
    r"\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?"
    r"|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))|[{}()\[\]\n;]|[^\"'/{}()\[\]\n;]+|.",
    re.DOTALL,
)
_NAMED_BLOCK = re.compile(r"\b(?:create|getByName|named|register|maybeCreate)\s*\(\s*[\"']([^\"']+)[\"']")
_LAST_WORD = re.compile(r"[\"'`]?(\w[\w-]*)[\"'`]?\s*(?:\([^()]*\))?\s*$")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a script.

    Attributes:
        text: The statement without comments.
        line: The 1-based line on which it begins.
        path: The names of the blocks around it, outermost first.
        headers: The text in front of the brace of each of these blocks.
        is_header: A block follows, so the text is also the last header of the statements in it.
    """

    text: str
    line: int
    path: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    is_header: bool = False


def read_statements(text: str) -> Iterator[Statement]:
    """Yield each statement of a script; nothing of one longer than `MAX_CHARACTERS`."""
    if len(text) > MAX_CHARACTERS:
        return
    headers: list[str] = []
    path: list[str] = []
    pieces: list[str] = []
    depth, line, first_line = 0, 1, 1
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if match["comment"] is None:
            if not pieces:
                first_line = line
            if piece in "([":
                depth += 1
            elif piece in ")]":
                depth = max(0, depth - 1)
            elif piece == "{":
                depth = 0
            continues = depth > 0 or (bool(pieces) and pieces[-1].rstrip(" \t\r").endswith(","))
            if piece not in {"{", "}", ";"} and (piece != "\n" or continues):
                if pieces or piece.strip():
                    pieces.append(piece)
            else:
                joined = "".join(pieces).strip()
                pieces.clear()
                if joined and len(joined) <= MAX_STATEMENT:
                    around = tuple(path[-MAX_BLOCKS:]), tuple(headers[-MAX_BLOCKS:])
                    yield Statement(joined, first_line, *around, is_header=piece == "{")
                if piece == "{":
                    headers.append(joined[-MAX_HEADER:])
                    path.append(_block_name(headers[-1]))
                elif piece == "}":
                    depth = 0
                    if headers:
                        headers.pop()
                        path.pop()
        line += piece.count("\n")
    joined = "".join(pieces).strip()
    if joined and len(joined) <= MAX_STATEMENT:
        yield Statement(joined, first_line, tuple(path[-MAX_BLOCKS:]), tuple(headers[-MAX_BLOCKS:]))


def _block_name(header: str) -> str:
    match = _NAMED_BLOCK.search(header)
    if match is not None:
        return match[1]
    last = _LAST_WORD.search(header.strip())
    return last[1] if last is not None else ""


MAX_VALUE: Final = 1024
"""A longer value is not an id; constants that multiply each other stop here."""

_ASSIGNMENT = re.compile(
    r"(?P<prefix>(?:\w+\.)*)(?P<key>namespace|applicationId|applicationIdSuffix)\b\s*(?:=(?!=)|\.\s*set\b|)(?P<value>.+)",
    re.DOTALL,
)
_CONSTANT = re.compile(
    r"(?:(?:private|internal|const|final|static|project)\s+)*"
    r"(?:(?P<shared>(?:(?:root)?[pP]roject\.)?(?:ext\.|extra\[[\"'])|val\b(?=[^=\"]*\bby\s+extra\())"
    r"|val|def|var|String|int|Integer)\s*(?P<name>\w+)(?:[\"']\])?"
    r"\s*+(?::\s*+(?:String|Int))?\s*+(?:=(?!=)|by\s+extra(?=\())(?P<value>.+)",
    re.DOTALL,
)
_VERSION = re.compile(
    r"(?:\w+\.)*(?P<key>minSdk|targetSdk|versionCode|versionName)(?:Version)?\b\s*(?:=(?!=)|\.\s*set\b|)(?P<value>.+)",
    re.DOTALL,
)
_NUMBER = re.compile(r"\(?\s*(?P<digits>[0-9][0-9_]{0,12})\s*\)?")
_PIECE = re.compile(
    r"\"(?P<double>(?:\\.|[^\"\\])*)\"|'(?P<single>(?:\\.|[^'\\])*)'"
    r"|(?:(?:(?:rootProject|project|providers|ext|extra|properties)\b\s*\.?\s*){0,4}+"
    r"(?:(?:gradleProperty|findProperty|property|get)\s*\(\s*[\"'](?P<called>[\w.-]+)[\"']\s*\)"
    r"|\[\s*[\"'](?P<indexed>[\w.-]+)[\"']\s*\]|(?P<name>[A-Za-z_]\w*)))"
    r"(?:\s*\.\s*(?:get|toString|toInt|toInteger)\(\)|\s+as\s+(?:String|Int(?:eger)?|int)\b|!!)*+"
    r"|(?P<other>\S)"
)
_INTERPOLATED = re.compile(r"\$(?:\{([^{}\"]*)\}|(\w+))")
_PROPERTY = re.compile(r"\A\s*+([\w.-]++)\s*+[=:](.*)")
_PLACEHOLDER = re.compile(
    r"(?<![\w.-])[\"']?(?P<key>[\w.-]+)[\"']?\s*(?:\]\s*=|:|\bto\b)\s*(?P<value>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\w+)"
)
_LIBRARY = re.compile(
    r"com\.android\.(?:kotlin\.multiplatform\.)?library|\bandroid[.-]?library\b", re.IGNORECASE
)
_APPLICATION = re.compile(r"com\.android\.application|\bandroid[.-]?application\b", re.IGNORECASE)
_FEATURE = re.compile(r"com\.android\.dynamic-feature|\bandroid[.-]?dynamic[.-]?feature\b", re.IGNORECASE)
_DIMENSION = re.compile(r"dimension\b[^\"']*[\"']([^\"']+)[\"']")
_TEXT = re.compile(r"[\"']([^\"']+)[\"']")
_IS_DEFAULT = re.compile(r"(?:get)?[iI]sDefault\b.*\btrue\b", re.DOTALL)
_OF_ALL: Final = frozenset({"all", "configureEach", "each", "forEach"})
"""Blocks inside of those of flavours and build types that are not one of them."""
_NOT_APPLIED = re.compile(r"\)\s*apply\s+false|\bapply\s*\(\s*false")


@dataclass(frozen=True, slots=True)
class BuildFacts:
    """What the files in the root folder of a build define for the build files of its modules.

    Attributes:
        catalog: What `libs.plugins` and `libs.versions` mean.
        properties: Those of `gradle.properties`, and the extra properties of the root's build file.
    """

    catalog: VersionCatalog = field(default_factory=VersionCatalog)
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GradleFile:
    """What a build file says.

    Attributes:
        namespace: `android.namespace`.
        base_id: `applicationId` of the default configuration.
        own_ids: `applicationId` of product flavours, by flavour.
        suffixes: `applicationIdSuffix` of flavours and build types by name, the default one's under no name.
        flavours: Names of product flavours.
        build_types: Names of build types.
        dimensions: Names of the dimensions of flavours, the first with the highest priority.
        dimension_of: The dimension of a flavour, where it names one.
        defaults: Flavours and build types that say that they are the default.
        placeholders: `manifestPlaceholders`.
        is_library: The module makes a library, which has no application id.
        is_application: The module makes an app.
        is_feature: The module makes a feature that is delivered apart from the app that it depends on.
        minimum_sdk: `minSdk` of the default configuration.
        target_sdk: `targetSdk` of the default configuration.
        version_code: `versionCode` of the default configuration.
        version_name: `versionName` of the default configuration.
        extra: Extra properties that it defines for the modules below it.
        unread_ids: The statements that set an application id or suffix that only a build knows.
    """

    namespace: str | None = None
    base_id: str | None = None
    own_ids: Mapping[str, str] = field(default_factory=dict)
    suffixes: Mapping[str, str] = field(default_factory=dict)
    flavours: tuple[str, ...] = ()
    build_types: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    dimension_of: Mapping[str, str] = field(default_factory=dict)
    defaults: frozenset[str] = frozenset()
    placeholders: Mapping[str, str] = field(default_factory=dict)
    is_library: bool = False
    is_application: bool = False
    is_feature: bool = False
    minimum_sdk: int | None = None
    target_sdk: int | None = None
    version_code: int | None = None
    version_name: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    unread_ids: tuple[Statement, ...] = ()

    @property
    def default_package(self) -> str | None:
        """The application id of a module that names none: its namespace; None for a library."""
        return None if self.is_library else self.namespace

    def application_id(self, source_set: str | None = None) -> str | None:
        """Return the application id of a source set such as `debug` or `demoDebug`, or the default."""
        flavour, build_type = self._parts_of(source_set or "")
        base = self.own_ids.get(flavour) or self.base_id or self.default_package
        if base is None:
            return None
        return base + "".join(
            self.suffixes.get(name, "") for name in dict.fromkeys(("", flavour, build_type))
        )

    def of_variant(self, name: str) -> GradleFile:
        """Return the file with the application id of a variant as that of all its source sets."""
        names = self.names_in(name)
        chosen = () if names is None else self.variant(names)
        base = next((self.own_ids[item] for item in chosen if item in self.own_ids), self.base_id)
        base = base or self.default_package
        if names is None or base is None:
            return self
        id_ = base + "".join(self.suffixes.get(item, "") for item in ("", *chosen))
        return replace(self, base_id=id_, own_ids={}, suffixes={})

    def variant(self, names: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the flavour of each dimension and the build type of a variant, as Gradle chooses them.

        Args:
            names: Flavours and build types that are taken before the default: the one that says that it is,
                or else the first flavour by name and `debug`.
        """
        groups: dict[str, list[str]] = {dimension: [] for dimension in self.dimensions}
        for flavour in sorted(self.flavours):
            groups.setdefault(self.dimension_of.get(flavour, next(iter(self.dimensions), "")), []).append(
                flavour
            )
        requested_names, chosen = set(names), []
        for group in (*filter(None, groups.values()), ["debug", *self.build_types]):
            ranked = sorted(group, key=lambda name: (name not in requested_names, name not in self.defaults))
            chosen.append(ranked[0])
        return tuple(chosen)

    def names_in(self, variant: str) -> tuple[str, ...] | None:
        """Return the flavours and the build type that a name such as `playRelease` is made of, or None."""
        parts: list[str] = []
        names = sorted({*self.flavours, *self.build_types, "debug", "release"}, key=len, reverse=True)
        while variant:
            name = next((item for item in names if variant.startswith(_cased(item, bool(parts)))), None)
            if name is None:
                return None
            parts.append(name)
            variant = variant[len(name) :]
        return tuple(parts)

    def _parts_of(self, source_set: str) -> tuple[str, str]:
        if source_set in self.flavours:
            return source_set, ""
        for flavour, build_type in product(self.flavours, self.build_types):
            if source_set == flavour + build_type[:1].upper() + build_type[1:]:
                return flavour, build_type
        return "", source_set


def _cased(name: str, is_inner: bool) -> str:  # noqa: FBT001 - with a name in front of it
    return name[:1].upper() + name[1:] if is_inner else name


def joined_name(names: Sequence[str]) -> str:
    """Return the name of a variant or source set that names make up: `playDebug`."""
    return "".join(_cased(name, position > 0) for position, name in enumerate(names))


def source_sets_of(variant: Sequence[str]) -> tuple[str, ...]:
    """Return the source sets that a variant has in addition to `main`, those with the higher priority first.

    Args:
        variant: The flavour of each dimension, and the build type.
    """
    *flavours, build_type = variant
    return tuple(
        filter(None, dict.fromkeys((joined_name(variant), build_type, joined_name(flavours), *flavours)))
    )


BUILD_FILES: Final = ("build.gradle.kts", "build.gradle")
CATALOG: Final = "gradle/libs.versions.toml"
_PROPERTIES: Final = "gradle.properties"


def read_build_facts(read_text: Callable[[str], str | None]) -> BuildFacts:
    """Return what the root folder of a build defines for its modules.

    Args:
        read_text: Returns the text of a file by its path in that folder, None without it.
    """
    text = read_text(_PROPERTIES) or ""
    lines = map(_PROPERTY.fullmatch, text.splitlines() if len(text) <= MAX_CHARACTERS else ())
    properties = {line[1]: line[2].strip() for line in lines if line is not None and "\\" not in line[2]}
    facts = BuildFacts(read_version_catalog(read_text(CATALOG) or ""), properties)
    root = next(filter(None, map(read_text, BUILD_FILES)), "")
    return BuildFacts(facts.catalog, {**properties, **read_gradle(root, facts).extra})


def read_gradle(text: str, facts: BuildFacts | None = None) -> GradleFile:
    """Return what the text of a `build.gradle` or `build.gradle.kts` says.

    Args:
        text: The build file.
        facts: What its build defines for it.
    """
    if len(text) > MAX_CHARACTERS:
        return GradleFile()
    facts = facts or BuildFacts()
    reader = _Reader(facts.properties)
    plugins: list[str] = []
    for statement in read_statements(text):
        if statement.is_header:
            reader.note_names((*statement.path, _block_name(statement.text)))
            continue
        filled = facts.catalog.fill(statement.text)
        reader.take(statement, filled)
        if _NOT_APPLIED.search(filled) is None:
            plugins.append(filled)
    applied = "\n".join(plugins)
    is_application = _APPLICATION.search(applied) is not None
    is_library = _LIBRARY.search(applied) is not None and not is_application
    return GradleFile(
        namespace=reader.namespace,
        base_id=reader.base_id,
        own_ids=reader.own_ids,
        suffixes=reader.suffixes,
        flavours=tuple(dict.fromkeys(reader.flavours)),
        build_types=tuple(dict.fromkeys(("debug", "release", *reader.build_types))),
        dimensions=tuple(dict.fromkeys(reader.dimensions)),
        dimension_of=reader.dimension_of,
        defaults=frozenset(reader.defaults),
        placeholders=reader.placeholders,
        is_library=is_library and reader.base_id is None,
        is_application=is_application or reader.base_id is not None,
        is_feature=_FEATURE.search(applied) is not None,
        minimum_sdk=reader.numbers.get("minSdk"),
        target_sdk=reader.numbers.get("targetSdk"),
        version_code=reader.numbers.get("versionCode"),
        version_name=reader.version_name,
        extra=reader.extra,
        unread_ids=tuple(reader.unread_ids),
    )


_CONFIGURED: Final = frozenset({"defaultConfig", "productFlavors", "buildTypes"})


def _owner_of(path: tuple[str, ...]) -> str:
    """Return the flavour or build type in whose block a path is, else no name."""
    places = (path.index(item) for item in ("productFlavors", "buildTypes") if item in path[:-1])
    return next((path[place + 1] for place in places), "")


class _Reader:
    def __init__(self, properties: Mapping[str, str]) -> None:
        self.namespace: str | None = None
        self.base_id: str | None = None
        self.own_ids: dict[str, str] = {}
        self.suffixes: dict[str, str] = {}
        self.flavours: list[str] = []
        self.build_types: list[str] = []
        self.dimensions: list[str] = []
        self.dimension_of: dict[str, str] = {}
        self.defaults: set[str] = set()
        self.placeholders: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        self.version_name: str | None = None
        self.extra: dict[str, str] = {}
        self.unread_ids: list[Statement] = []
        self._properties = properties
        # None is the value of a constant that only a build knows.
        self._constants: dict[str, str | None] = {}

    def take(self, item: Statement, statement: str) -> None:
        """Take what a statement says.

        Args:
            item: The statement.
            statement: Its text, with the values of the version catalog.
        """
        path = item.path
        block = _NAMED_BLOCK.search(statement)
        self.note_names(path if block is None else (*path, block[1]))
        self._note_dimension(path, statement)
        if "manifestPlaceholders" in statement:
            self._take_placeholders(statement)
            return
        constant = _CONSTANT.match(statement)
        if constant is not None:
            self._take_constant(constant["name"], constant["value"], is_shared=constant["shared"] is not None)
            return
        version = _VERSION.fullmatch(statement)
        if version is not None:
            self._take_version(path, version["key"], version["value"])
            return
        match = _ASSIGNMENT.match(statement)
        value = self._evaluate(match["value"]) if match is not None else None
        place = path if match is None else (*path, *match["prefix"].split(".")[:-1])
        if match is not None and value is not None:
            self._take_id(place, match["key"], value)
        elif match is not None and match["key"] != "namespace" and not _CONFIGURED.isdisjoint(place):
            self.unread_ids.append(item)
        elif path[-1:] == ("ext",):
            self.take(Statement("", item.line), f"ext.{statement}")

    def _take_constant(self, name: str, expression: str, *, is_shared: bool) -> None:
        value, number = self._evaluate(expression), self._evaluate_number(expression)
        value = str(number) if value is None and number is not None else value
        self._constants.setdefault(name, value)
        if is_shared and value is not None:
            self.extra.setdefault(name, value)

    def _known(self, name: str) -> str | None:
        return self._constants[name] if name in self._constants else self._properties.get(name)

    def _take_version(self, path: tuple[str, ...], key: str, expression: str) -> None:
        if any(name in path for name in ("productFlavors", "buildTypes")):
            return
        if key == "versionName":
            self.version_name = self.version_name or self._evaluate(expression)
            return
        number = self._evaluate_number(expression)
        if number is not None:
            self.numbers.setdefault(key, number)

    def _evaluate_number(self, expression: str) -> int | None:
        match = _NUMBER.fullmatch(expression.strip())
        if match is None and expression.lstrip(" (")[:1] not in {'"', "'"}:
            match = _NUMBER.fullmatch(self._evaluate(expression) or "")
        return None if match is None else int(match["digits"].replace("_", ""))

    def note_names(self, path: tuple[str, ...]) -> None:
        """Note the flavour or build type whose block a path leads to."""
        for name, names in (("productFlavors", self.flavours), ("buildTypes", self.build_types)):
            if name in path[:-1]:
                member = path[path.index(name) + 1]
                if member and member not in names[-1:] and member not in _OF_ALL:
                    names.append(member)

    def _note_dimension(self, path: tuple[str, ...], statement: str) -> None:
        if statement.startswith("flavorDimensions"):
            self.dimensions += _TEXT.findall(statement)
        owner = _owner_of(path)
        dimension = _DIMENSION.match(statement)
        if owner and dimension is not None:
            self.dimension_of[owner] = dimension[1]
        elif owner and _IS_DEFAULT.match(statement) is not None:
            self.defaults.add(owner)

    def _take_id(self, path: tuple[str, ...], key: str, value: str) -> None:
        if key == "namespace":
            self.namespace = self.namespace or value
            return
        owner = _owner_of(path)
        if key == "applicationIdSuffix":
            self.suffixes.setdefault(owner, value if value.startswith(".") else f".{value}")
        elif owner:
            self.own_ids.setdefault(owner, value)
        else:
            self.base_id = self.base_id or value

    def _take_placeholders(self, statement: str) -> None:
        for match in _PLACEHOLDER.finditer(statement):
            value = self._evaluate(match["value"])
            if value is not None:
                self.placeholders.setdefault(match["key"], value)

    def _evaluate(self, expression: str) -> str | None:
        """Return the text of literals and known constants joined by `+`, None for anything else."""
        expression = expression.strip()
        if expression.startswith("(") and expression.endswith(")"):
            expression = expression[1:-1]
        pieces: list[str] = []
        for number, match in enumerate(_PIECE.finditer(expression)):
            if number % 2:
                if match["other"] != "+":
                    return None
                continue
            piece = self._piece(match)
            if piece is None:
                return None
            pieces.append(piece)
        text = "".join(pieces)
        return text if 0 < len(text) <= MAX_VALUE else None

    def _piece(self, reference: re.Match[str]) -> str | None:
        name = reference["name"] or reference["called"] or reference["indexed"]
        if name is not None:
            return self._known(name)
        if reference["double"] is None:
            return reference["single"]
        values = [
            self._evaluate(match[1] or match[2]) for match in _INTERPOLATED.finditer(reference["double"])
        ]
        if None in values:
            return None
        following = iter(values)
        return _INTERPOLATED.sub(lambda _: str(next(following)), reference["double"])

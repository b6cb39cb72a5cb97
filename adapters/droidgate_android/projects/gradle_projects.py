"""Which projects a Gradle build has, and which of them a module depends on; nothing is run.

Read are project paths in literals and type-safe accessors. What a script computes is reported with its line.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Final

from droidgate_android.projects.gradle_text import Statement, read_statements
from droidgate_mappings.records import dataclass, field

MAX_PROJECTS: Final = 4096
"""More projects of one build, and more dependencies of one module, are not read."""

MAX_SHOWN: Final = 80
"""How many characters of a statement a finding shows."""

_TEXT = r"(?:\"[^\"$\\\n]*\"|'[^'\\\n]*')"
_LITERAL = re.compile(_TEXT)
_INCLUDE = re.compile(r"include\b(?!\s*=)\s*+(?P<names>.*)", re.DOTALL)
_ALL_LITERALS = re.compile(
    rf"\s*+(?:(?:arrayOf\s*+\(|\[)\s*+)?+{_TEXT}(?:\s*+,\s*+{_TEXT})*+\s*+(?:,\s*+)?+(?:[\])]\s*+)?+"
)
_FOLDER = re.compile(
    rf"(?:settings\.)?project\s*\(\s*(?P<project>{_TEXT})\s*\)\s*\.\s*projectDir\s*=\s*(?:new\s+)?[Ff]ile\s*\("
    rf"\s*(?:(?:settingsDir|rootDir|rootProject\.projectDir|settings\.rootDir)\s*,\s*)?(?P<folder>{_TEXT})\s*\)"
)
_OTHER_INCLUDES = re.compile(r"\b(?:include(?:Flat)?\b(?!Build)\s*[(\"'*]|projectDir\s*=)")

_CONFIGURATION = re.compile(
    r"(?:add\s*\(\s*)?[\"'`]?(?P<name>[A-Za-z]\w*)[\"'`]?\s*(?P<rest>[\s(,].*)", re.DOTALL
)
_KINDS: Final = ("implementation", "api", "runtimeOnly", "compile", "runtime")
_PROJECT_CALL = re.compile(
    rf"(?<![\w.])(?:dependencies\.|rootProject\.)?project\s*\(\s*(?:path\s*[=:]\s*)?(?P<path>{_TEXT})"
)
_CALL_WITHOUT_BRACKETS = re.compile(rf"\bproject\s++({_TEXT})")
_ACCESSOR = re.compile(r"(?<![\w.:\"'])projects\.(?P<name>\w+(?:\.\w+)*)")
_MENTION = re.compile(r"(?<![\w.:])(?:project\s*\(|projects\.\w|project\s+[\"'])")
_NOT_ITS_CODE = re.compile(r"\b(?:platform|enforcedPlatform|testFixtures)\s*\(")
_CONDITION = re.compile(r"\b(?:if|else|for|while|when|forEach|each|configureEach|all|matching)\b")
_TEST_NAME = re.compile(r"\b(?:test|androidTest)\w*\b|\b\w*Test(?:s|Fixtures|[A-Z]\w*)?\b")
_SOURCE_SET = re.compile(r"\b(?P<name>\w+)Main\b")
_OTHER_PLATFORMS = re.compile(
    r"(?:ios|js|wasm|jvm|desktop|native|mac|linux|mingw|watch|tv|apple|web|darwin)\w*"
)
_ANDROID_SETS: Final = frozenset({"common", "android"})


@dataclass(frozen=True, slots=True)
class ProjectDependency:
    """One dependency of a module on another project of its build.

    Attributes:
        path: The project's path (`:core:data`); None where `accessor` names it.
        accessor: The type-safe accessor behind `projects.` (`core.data`).
        variant: The only build type or flavour that has it (`debug`), empty for all.
        line: The 1-based line of the build file.
    """

    path: str | None
    accessor: str | None
    variant: str
    line: int


@dataclass(frozen=True, slots=True)
class UnreadStatement:
    """A statement whose meaning only a build knows: its text, shortened, and its line."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class GradleDependencies:
    """The dependencies of one build file on other projects, in order of declaration."""

    projects: tuple[ProjectDependency, ...] = ()
    unread: tuple[UnreadStatement, ...] = ()


@dataclass(frozen=True, slots=True)
class GradleSettings:
    """The projects of a build.

    Attributes:
        folders: Folder of each project relative to the settings file, by project path.
        accessors: The same by type-safe accessor in its short form; None where two projects have one.
        unread: Statements that include projects in a way that only a build knows.
    """

    folders: Mapping[str, str] = field(default_factory=dict)
    accessors: Mapping[str, str | None] = field(default_factory=dict)
    unread: tuple[UnreadStatement, ...] = ()

    def find(self, dependency: ProjectDependency) -> str | None:
        """Return the folder of the project that a dependency names, None where the build has none."""
        if dependency.path is not None:
            return self.folders.get(f":{dependency.path.lstrip(':')}")
        return self.accessors.get(_accessor_key(dependency.accessor or ""))


def read_dependencies(text: str) -> GradleDependencies:
    """Return the project dependencies that the Android app of a module is built with.

    Left out are those of tests, of compile time only, and of other platforms of a multiplatform module.
    """
    projects: list[ProjectDependency] = []
    unread: list[UnreadStatement] = []
    for statement in read_statements(text):
        if len(projects) + len(unread) >= MAX_PROJECTS:
            unread.append(UnreadStatement("the rest of the file", statement.line))
            break
        if "dependencies" not in statement.path or _MENTION.search(statement.text) is None:
            continue
        dependencies = _read_dependency(statement)
        if dependencies is None:
            unread.append(UnreadStatement(_shortened(statement.text), statement.line))
        else:
            projects.extend(dependencies)
    return GradleDependencies(tuple(projects), tuple(unread))


def _read_dependency(statement: Statement) -> list[ProjectDependency] | None:
    """Return the dependencies of a statement, None where only a build knows them."""
    headers = " ".join(statement.headers)
    if "buildscript" in statement.path or _TEST_NAME.search(headers):
        return []
    match = _CONFIGURATION.fullmatch(statement.text)
    if match is None or _CONDITION.match(match["name"]):
        return None
    variant = _variant_of(match["name"])
    if variant is None or _NOT_ITS_CODE.search(match["rest"]):
        return []
    source_set = _SOURCE_SET.search(headers)
    if source_set is not None and source_set["name"] not in _ANDROID_SETS:
        return [] if _OTHER_PLATFORMS.fullmatch(source_set["name"]) else None
    if _CONDITION.search(headers):
        return None
    rest = _CALL_WITHOUT_BRACKETS.sub(r"project(\1)", match["rest"])
    references = [*_PROJECT_CALL.finditer(rest), *_ACCESSOR.finditer(rest)]
    if len(references) < len(_MENTION.findall(rest)):
        return None
    return [_dependency(item, variant, statement.line) for item in references]


def _dependency(match: re.Match[str], variant: str, line: int) -> ProjectDependency:
    groups = match.groupdict()
    if "path" in groups:
        return ProjectDependency(groups["path"][1:-1], None, variant, line)
    return ProjectDependency(None, groups["name"].removesuffix(".dependencyProject"), variant, line)


def _variant_of(configuration: str) -> str | None:
    """Return the variant of a configuration, empty for all; None for one that the app does not include."""
    if _TEST_NAME.search(configuration):
        return None
    for kind in _KINDS:
        if configuration == kind:
            return ""
        ending = kind[0].upper() + kind[1:]
        if configuration.endswith(ending) and not configuration.endswith(("CompileOnly", "RuntimeOnlyTest")):
            name = configuration.removesuffix(ending)
            if name.endswith("Main"):
                return "" if name.removesuffix("Main") in _ANDROID_SETS else None
            return name
    return None


def read_settings(text: str) -> GradleSettings:
    """Return the projects that a `settings.gradle` or `settings.gradle.kts` includes."""
    folders: dict[str, str] = {}
    unread: list[UnreadStatement] = []
    for statement in read_statements(text):
        if len(folders) + len(unread) >= MAX_PROJECTS:
            unread.append(UnreadStatement("the rest of the file", statement.line))
            break
        included = _INCLUDE.fullmatch(statement.text)
        names = "" if included is None else _without_brackets(included["names"])
        moved = _FOLDER.fullmatch(statement.text)
        if included is not None and not statement.headers and _ALL_LITERALS.fullmatch(names):
            _include(folders, _LITERAL.findall(names))
        elif moved is not None and not statement.headers:
            path = f":{moved['project'][1:-1].lstrip(':')}"
            folders[path] = posixpath.normpath(moved["folder"][1:-1])
        elif _OTHER_INCLUDES.search(statement.text):
            unread.append(UnreadStatement(_shortened(statement.text), statement.line))
    accessors: dict[str, str | None] = {}
    for path, folder in folders.items():
        key = _accessor_key(path[1:])
        accessors[key] = folder if accessors.get(key, folder) == folder else None
    return GradleSettings(folders, accessors, tuple(unread))


def _without_brackets(names: str) -> str:
    names = names.strip()
    return names[1:-1] if names.startswith("(") and names.endswith(")") else names


def _include(folders: dict[str, str], literals: Iterable[str]) -> None:
    for literal in literals:
        parts = [part for part in literal[1:-1].split(":") if part][:64]
        folder = ""
        for number, part in enumerate(parts, 1):
            path = ":" + ":".join(parts[:number])
            folder = folders.setdefault(path, posixpath.join(folder, part))


def _accessor_key(name: str) -> str:
    return re.sub(r"[-_]", "", name.replace(":", ".")).casefold()


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"

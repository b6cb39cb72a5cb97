"""Merging library modules' manifests into an app's, as Android's manifest merger does.

The rules are those of developer.android.com/build/manage-manifests: elements match by tag and name, what only
the library has is added, an attribute that only the library has is taken over, and the app's value is kept
where both have one. `tools:node`, `tools:replace`, `tools:remove` and `tools:selector` of the app are
followed. Where Android's merger would end with an error, the conflict is reported as well.
"""

from __future__ import annotations

import copy
import re
import secrets
from collections.abc import Mapping
from typing import Final

from droidgate_android.projects.manifest_limits import MAX_META_DATA
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.names import qualified_class
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.xml_text import ANDROID, TOOLS, Element, child_elements

MERGE_CONFLICT: Final = finding_code(
    "manifest-merge-conflict",
    "Android's manifest merger ends with an error here; the value with the higher priority is read",
    __name__,
)
UNKNOWN_NAMESPACE: Final = finding_code(
    "library-namespace-unknown",
    "A component of a library module has a relative class name, and no file gives the module's namespace; "
    "it is left out",
    __name__,
)

FILE_MARK: Final = f"{{urn:droidgate:{secrets.token_hex(16)}}}file"
"""Attribute of a merged element that names the manifest it is from; no manifest can know its name."""

CLASS_ATTRIBUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "application": ("name", "backupAgent", "appComponentFactory", "manageSpaceActivity", "zygotePreloadName"),
    "activity": ("name", "parentActivityName"),
    "activity-alias": ("name", "targetActivity", "parentActivityName"),
    "service": ("name",),
    "receiver": ("name",),
    "provider": ("name",),
}
"""Attributes that hold a class name, which the app's namespace completes, of the elements that are merged."""
_SINGLE: Final = frozenset({"application", "queries", "supports-screens"})
_UNMERGED: Final = frozenset({"uses-sdk", "instrumentation"})
"""Elements that decide about the build, or belong to tests."""

_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
_NAME: Final = f"{ANDROID}name"
_NODE: Final = f"{TOOLS}node"


@dataclass(frozen=True, slots=True)
class LibraryManifest:
    """The manifest of a library module.

    Attributes:
        root: Its root element; it is changed.
        path: The file as a user would write it.
        namespace: The module's namespace, which completes class names.
        placeholders: `manifestPlaceholders` of the module.
    """

    root: Element
    path: str
    namespace: str | None
    placeholders: Mapping[str, str]


class ManifestMerger:
    """Merges the manifests of library modules into one app's, first the ones with the higher priority.

    Args:
        app: The app's root element; it is changed.
        path: The app's manifest as a user would write it.
        namespace: What completes class names in the app's manifest.
    """

    def __init__(self, app: Element, path: str, namespace: str | None) -> None:
        self.findings: list[Finding] = []
        self._app = app
        self._path = path
        self._namespace = namespace
        self._children: dict[Element, _Children] = {}

    def merge(self, library: LibraryManifest) -> None:
        """Merge one library's manifest; what cannot be merged is among the findings."""
        _prepare(library, self.findings)
        self._merge_children(self._app, library.root, library)

    def _merge_children(self, above: Element, below: Element, library: LibraryManifest) -> None:
        children = self._children_of(above)
        for child in child_elements(below):
            tag = str(child.tag)
            if tag in _UNMERGED or tag in children.removed or child.get(_NODE) in {"remove", "removeAll"}:
                continue
            key = _key_of(child, None)
            match = children.known.get(key)
            if match is None:
                children.known[key] = added = copy.deepcopy(child)
                above.append(added)
            elif key.is_named:
                self._merge_element(match, child, library)

    def _children_of(self, parent: Element) -> _Children:
        # Kept, since an app's elements are looked up once for each library.
        if parent not in self._children:
            children = _Children()
            for child in child_elements(parent):
                children.known.setdefault(_key_of(child, self._namespace), child)
                if child.get(_NODE) == "removeAll":
                    children.removed.add(str(child.tag))
            self._children[parent] = children
        return self._children[parent]

    def _merge_element(self, above: Element, below: Element, library: LibraryManifest) -> None:
        rule = above.get(_NODE, "merge")
        selector = above.get(f"{TOOLS}selector")
        if selector is not None and selector != library.namespace:
            rule = "merge"
        if rule in {"remove", "replace"}:
            return
        if rule == "strict":
            if _content_of(above) != _content_of(below):
                self._report(above, below, library, f"<{above.tag!s}> differs, and tools:node is strict")
            return
        self._merge_attributes(above, below, library)
        if rule not in {"merge-only-attributes", "mergeOnlyAttributes"}:
            self._merge_children(above, below, library)

    def _merge_attributes(self, above: Element, below: Element, library: LibraryManifest) -> None:
        replaced, removed = (_listed(above, name) for name in ("replace", "remove"))
        for key, value in below.attrib.items():
            name = str(key)
            if not name.startswith(ANDROID):
                continue
            short = f"android:{name.removeprefix(ANDROID)}"
            own = above.get(name)
            if own is None:
                if short not in removed:
                    above.set(name, str(value))
            elif not (self._is_same(above, name, own, str(value)) or short in replaced or short in removed):
                hint = f'add tools:replace="{short}" to the element of the app'
                message = f'{short} of <{above.tag!s}> is "{own}" here and "{value!s}" in the library'
                self._report(above, below, library, message, hint)

    def _is_same(self, element: Element, name: str, own: str, value: str) -> bool:
        if name.removeprefix(ANDROID) in CLASS_ATTRIBUTES.get(str(element.tag), ()):
            own = _qualified(own, self._namespace)
        return own == value

    def _report(
        self, above: Element, below: Element, library: LibraryManifest, message: str, hint: str | None = None
    ) -> None:
        self.findings.append(
            Finding(
                code=MERGE_CONFLICT,
                level=Level.WARNING,
                pointer="",
                message=f"{message} ({Place(path=library.path, line=below.sourceline)})",
                source=Place(path=above.get(FILE_MARK) or self._path, line=above.sourceline),
                hint=hint,
            )
        )


@dataclass(frozen=True, slots=True)
class _Key:
    tag: str
    text: str
    is_named: bool


@dataclass(frozen=True, slots=True)
class _Children:
    known: dict[_Key, Element] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)


def _key_of(element: Element, namespace: str | None) -> _Key:
    """Return what makes two children of one parent the same: tag and name, or all of the content."""
    tag = str(element.tag)
    if tag in _SINGLE:
        return _Key(tag, "", is_named=True)
    name = element.get(_NAME)
    if name is None or tag == "intent-filter":
        return _Key(tag, _content_of(element), is_named=False)
    return _Key(tag, _qualified(name, namespace) if tag in CLASS_ATTRIBUTES else name, is_named=True)


def _prepare(library: LibraryManifest, findings: list[Finding]) -> None:
    """Fill in the library's own placeholders, complete its class names, and mark its elements."""
    values = library.placeholders
    for element in list(library.root.iter("*")):
        for key, raw in element.attrib.items():
            if "${" in str(raw) and len(raw) <= MAX_META_DATA:
                element.set(key, _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), str(raw)))
        element.set(FILE_MARK, library.path)
        for name in CLASS_ATTRIBUTES.get(str(element.tag), ()):
            value = element.get(f"{ANDROID}{name}")
            if value is None or not is_relative(value):
                continue
            if library.namespace is None:
                findings.append(_leave_out(element, name, value))
                break
            element.set(f"{ANDROID}{name}", _qualified(value, library.namespace))


def _leave_out(element: Element, attribute: str, name: str) -> Finding:
    """Leave out a component whose class is not known; the application element loses the attribute only."""
    parent = element.getparent()
    if parent is None or element.tag == "application":
        element.attrib.pop(f"{ANDROID}{attribute}")
    else:
        parent.remove(element)
    return Finding(
        code=UNKNOWN_NAMESPACE,
        level=Level.WARNING,
        pointer="",
        message=f"{name} of <{element.tag!s}> is left out: the namespace of its module is not known",
        source=Place(path=element.get(FILE_MARK, ""), line=element.sourceline),
        hint="set namespace in the build file of the module",
    )


def _listed(element: Element, name: str) -> frozenset[str]:
    return frozenset(part.strip() for part in element.get(f"{TOOLS}{name}", "").split(","))


def is_relative(name: str) -> bool:
    """Return whether a class name of a manifest is relative to the namespace, and no reference."""
    return bool(name) and (name.startswith(".") or "." not in name) and not name.startswith(("@", "$"))


def _qualified(name: str, namespace: str | None) -> str:
    if namespace is None or not is_relative(name):
        return name
    return qualified_class(name, namespace)


def _content_of(element: Element) -> str:
    """Return tags and attributes of an element and of those in it; their order does not matter."""
    base = sum(1 for _ in element.iterancestors())
    pieces = []
    for inner in element.iter("*"):
        depth = sum(1 for _ in inner.iterancestors()) - base
        attributes = sorted(
            (str(key), str(value)) for key, value in inner.attrib.items() if _counts(str(key))
        )
        pieces.append(f"{depth} {inner.tag!s} {attributes}")
    return "\n".join(sorted(pieces))


def _counts(key: str) -> bool:
    return key != FILE_MARK and not key.startswith(TOOLS)

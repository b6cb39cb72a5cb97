"""What a release's indexer reads of files and applications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.app_functions import Release, load_indexing

Properties = dict[str, list[Json]]
"""Properties of a document as the shell lists them: each a list, nested documents as such dicts."""

REASONS: Final[Mapping[str, str]] = {
    "malformed-xml": "The file is not well-formed XML, so Android's parser does not come to its end",
    "missing-id": "A document or nested document has no `<id>` with text",
    "unknown-tag": "A tag is not a property of the schema in force",
    "bad-number": "A value that should be a whole number is not one",
    "element-in-text": "An element is where text is expected",
    "reserved-property": "The file sets a property that only the indexer may set",
    "bad-scope": "The scope is missing, unknown, or of another level",
    "enabled-application-function": "A function of the application says that it is enabled by default",
    "missing-file": "The property names a file that the app does not have",
    "not-a-file-property": "The property names its file in a way that the release does not read",
    "too-many-types": "The schema has more document types than the indexer takes",
    "bad-property-name": "A property name of the schema has more than letters and digits",
    "unsupported-type": "A property of the schema has a type that AppSearch does not have",
    "bad-attribute": "A number attribute of the schema is not one that AppSearch takes",
    "no-function-type": "The schema does not declare the type of functions",
    "undefined-type": "The schema uses a type that it does not declare",
    "over-limit": "The file has more documents than the indexer keeps",
    "overwritten": "A later document of the app has the same id",
    "bad-count": "A property has more or fewer values than the schema allows: AppSearch refuses the document",
    "too-large": "The document is larger than AppSearch takes",
    "missing-permission": "The service does not require BIND_APP_FUNCTION_SERVICE",
    "another-service": "The release reads one service of an app, and it is another one",
    "no-file": "The service has no property that names a file of functions for this release",
    "different-schemas": "Services name different schema files, so the platform's schema is used",
}
"""Every reason for which something is dropped, ignored or warned about, and what it means."""

IgnoredKind = Literal["tag", "function", "document", "service", "property", "schema"]


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """One document as AppSearch would hold it.

    Attributes:
        id: Its id, without the package.
        type: Its schema type, without the package.
        properties: What it holds, with what the indexer adds.
        enabled: Effective `enabledByDefault` of a function, None for other documents.
        place: File and line.
    """

    id: str
    type: str
    properties: Properties
    enabled: bool | None = None
    place: Place | None = None

    @property
    def is_function(self) -> bool:
        """It is a function's document."""
        return self.type == load_indexing().names.function_type

    @property
    def function_id(self) -> str | None:
        """The id that a call names; None for other documents, and for a function that has none."""
        values = self.properties.get("functionId") if self.is_function else None
        return str(values[0]) if values else None


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something that a release reads over: a tag, a function, a service, a property, a schema.

    Attributes:
        kind: What.
        name: The tag, the function's id, the service's class.
        reason: A key of `REASONS`.
        message: One sentence.
        place: Where.
    """

    kind: IgnoredKind
    name: str
    reason: str
    message: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class DroppedFile:
    """A file of which nothing is indexed.

    Attributes:
        path: The file, as its property names it.
        reason: A key of `REASONS`.
        message: One sentence.
        name: The tag or document it is about, or None.
        place: Where.
        is_schema: It is the app's schema, so other files may be read differently for it.
        found_as: Where a missing file is instead, None where it is nowhere in the app.
    """

    path: str
    reason: str
    message: str
    name: str | None = None
    place: Place | None = None
    is_schema: bool = False
    found_as: str | None = None


@dataclass(frozen=True, slots=True)
class IndexingReport:
    """What one release reads of one file or application.

    Attributes:
        release: The release.
        documents: By the key the release uses: the document's id; on 15-qpr2 the function's id.
        ignored: What is read over.
        dropped_files: Files that yield nothing.
        warnings: What the indexer only warns about.
    """

    release: Release
    documents: Mapping[str, IndexedDocument] = field(default_factory=dict)
    ignored: tuple[Ignored, ...] = ()
    dropped_files: tuple[DroppedFile, ...] = ()
    warnings: tuple[Ignored, ...] = ()

    def functions(self) -> dict[str, IndexedDocument]:
        """Return the functions' documents by the id that a call names."""
        documents = ((document.function_id, document) for document in self.documents.values())
        return {function_id: item for function_id, item in documents if function_id is not None}

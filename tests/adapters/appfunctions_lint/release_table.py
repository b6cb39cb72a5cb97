"""The table of releases for the docs, written from the data that the indexer's model runs on."""

from collections.abc import Callable
from typing import Final

from droidgate_mappings.tables.app_functions import Release, load_indexing

_ROWS: Final[tuple[tuple[str, Callable[[Release], str]], ...]] = (
    ("services read", lambda item: "the last one of the app" if item.services == "last" else "all"),
    (
        "a service without `BIND_APP_FUNCTION_SERVICE`",
        lambda item: "is skipped" if item.needs_permission else "is read",
    ),
    ("properties of `<application>`", lambda item: "are read" if item.application_level else "are not read"),
    (
        "file read",
        lambda item: (
            "`.v2` with a schema that is read, else v1" if item.choice == "schema" else "`.v2`, else v1"
        ),
    ),
    (
        "without a schema that is read",
        lambda item: (
            "the parser of v1's tags"
            if item.fixed_parser
            else "Android's own schema, which knows no signature"
        ),
    ),
    (
        "files as `android:resource`",
        lambda item: (
            " and ".join(f"`.{name}`" if name != "v1" else name for name in sorted(item.resources)) or "none"
        ),
    ),
    (
        "unknown tag",
        lambda item: {
            "enter": "is read over, and its children go into the enclosing document",
            "reject": "drops the file",
            "skip": "is read over with everything in it",
        }[item.unknown_tag],
    ),
    (
        "id of a document",
        lambda item: (
            "`functionId`" if not item.id_tags else " or ".join(f"`<{tag}>`" for tag in item.id_tags)
        ),
    ),
    (
        "`functionId`, by which a function is called",
        lambda item: "always the id" if item.function_id == "id" else "a property of its own",
    ),
    (
        "`enabledByDefault` left out in `.v2`",
        lambda item: "means true" if item.enabled_when_missing else "means false",
    ),
    (
        "`scope`, `serviceName`, `packageNameHash`",
        lambda item: "added, with rules of their own" if item.scoped else "unknown",
    ),
)


def write_release_table() -> str:
    """Return the releases that lint speaks about as a Markdown table, one column each."""
    releases = load_indexing().linted()
    lines = [
        "| | " + " | ".join(release.title for release in releases) + " |",
        "|---|" + "---|" * len(releases),
    ]
    lines += [
        f"| {title} | " + " | ".join(describe(release) for release in releases) + " |"
        for title, describe in _ROWS
    ]
    return "\n".join(lines) + "\n"

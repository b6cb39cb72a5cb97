"""The table of releases for the docs, written from the data that the indexer's model runs on."""

from collections.abc import Callable
from typing import Final

from droidgate_mappings.app_functions import Release, load_indexing

_ROWS: Final[tuple[tuple[str, Callable[[Release], str]], ...]] = (
    ("services read", lambda one: "the last one of the app" if one.services == "last" else "all"),
    (
        "a service without `BIND_APP_FUNCTION_SERVICE`",
        lambda one: "is skipped" if one.needs_permission else "is read",
    ),
    ("properties of `<application>`", lambda one: "are read" if one.application_level else "are not read"),
    (
        "file read",
        lambda one: (
            "`.v2` with a schema that is read, else v1" if one.choice == "schema" else "`.v2`, else v1"
        ),
    ),
    (
        "without a schema that is read",
        lambda one: (
            "the parser of v1's tags"
            if one.fixed_parser
            else "Android's own schema, which knows no signature"
        ),
    ),
    (
        "files as `android:resource`",
        lambda one: (
            " and ".join(f"`.{name}`" if name != "v1" else name for name in sorted(one.resources)) or "none"
        ),
    ),
    (
        "unknown tag",
        lambda one: {
            "enter": "is read over, and its children go into the enclosing document",
            "reject": "drops the file",
            "skip": "is read over with everything in it",
        }[one.unknown_tag],
    ),
    (
        "id of a document",
        lambda one: "`functionId`" if not one.id_tags else " or ".join(f"`<{tag}>`" for tag in one.id_tags),
    ),
    (
        "`functionId`, by which a function is called",
        lambda one: "always the id" if one.function_id == "id" else "a property of its own",
    ),
    (
        "`enabledByDefault` left out in `.v2`",
        lambda one: "means true" if one.enabled_when_missing else "means false",
    ),
    (
        "`scope`, `serviceName`, `packageNameHash`",
        lambda one: "added, with rules of their own" if one.scoped else "unknown",
    ),
)


def write_release_table() -> str:
    """Return the releases that lint speaks about as a Markdown table, one column each."""
    releases = load_indexing().linted()
    lines = ["| | " + " | ".join(one.title for one in releases) + " |", "|---|" + "---|" * len(releases)]
    lines += [
        f"| {title} | " + " | ".join(describe(one) for one in releases) + " |" for title, describe in _ROWS
    ]
    return "\n".join(lines) + "\n"

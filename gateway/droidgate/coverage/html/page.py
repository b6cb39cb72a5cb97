"""The page: a report and its texts, one file that asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from droidgate.computer.optional_packages import need
from droidgate.coverage.coverage_document import REACHES, CoverageReport, outcomes_in_words
from droidgate.coverage.html import views
from droidgate.coverage.html.page_packs import pack_details
from droidgate.coverage.html.views import ends_tell, finalized, marked, script_json
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.counted_nouns import amount

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_BYTES: Final = 30_000_000
"""A page that would be larger leaves out declarations, and if that does not help all details."""

_SCRIPTS: Final = ("elements.js", "catalog.js", "sheet.js", "explorer.js", "page.js")
_LEFT_OUT: Final = {
    "declarations": "Declarations are left out, since the page would be larger than 30 MB with them",
    "details": "Single apps are left out, since the page would be larger than 30 MB with them",
}


def render_page(report: CoverageReport, *, most_bytes: int = MOST_BYTES) -> str:
    """Return a report as an HTML page without any reference to something outside of it.

    Nothing in a text of an app can become markup or script: templates escape, data is in script elements
    that hold JSON without `<`, the page's own script sets texts alone, and a Content-Security-Policy lets
    nothing but that script and style run, nothing be fetched, and no text become markup.

    Args:
        report: What it says; single apps are on the page where the report has details.
        most_bytes: Of UTF-8. Beyond it the page leaves out declarations, then all details, and says so.

    Raises:
        UsageError: jinja2 is not installed.

    Example:
        >>> _ = droidgate.scan("pdf-tool", catalog="catalog")
        >>> droidgate.render_page(droidgate.report_coverage("catalog"))[:15]
        '<!DOCTYPE html>'
    """
    details = report.details
    if details is None:
        return _page(report, None, None, ())
    for left_out in (None, "declarations"):
        packed = pack_details(report, details, with_declarations=left_out is None)
        notes = (_LEFT_OUT[left_out],) if left_out else ()
        page = _page(report, packed.columns, packed.packs, notes)
        if len(page.encode()) <= most_bytes:
            return page
    return _page(report, None, None, (_LEFT_OUT["details"],))


def _page(report: CoverageReport, columns: Json, packs: Json, notes: tuple[str, ...]) -> str:
    style, script = _style(), _script()
    text: str = (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            notes=(*report.notes, *notes),
            views=views,
            ends_tell=ends_tell,
            outcomes_in_words=outcomes_in_words,
            reaches=REACHES,
            columns=None if columns is None else script_json(columns),
            packs=None if packs is None else script_json(packs),
            style=style,
            script=script,
            policy=_policy(style, script),
        )
    )
    return text


def _policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy: its own style and script by their digests, and nothing else."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _style() -> str:
    return _file("page.css")


@cache
def _script() -> str:
    """Return the parts of the script as one; strict, with names that nobody else sees."""
    return '"use strict";\n{\n' + "\n".join(_file("script", name) for name in _SCRIPTS) + "}\n"


def _file(*parts: str) -> str:
    return files("droidgate.coverage.html").joinpath(*parts).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    jinja2: Any = need("jinja2", "coverage")
    environment: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("droidgate.coverage.html", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = views.number
    environment.globals["amount"] = amount
    environment.filters["marked"] = marked
    return environment

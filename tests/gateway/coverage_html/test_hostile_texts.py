"""What apps say is shown and never obeyed: by the page, by a script element, by whoever copies a command."""

import html
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage.coverage_document import Report
from droidgate.coverage.html.page import render_page
from gateway.coverage_html.browser import Browser, new_page
from gateway.coverage_html.conftest import OpenPage
from gateway.coverage_html.made_reports import make_report

HOSTILE = (
    "<script>window.taken = 1</script>",
    "</script><script>window.taken = 1</script>",
    "<!-- <script>",
    "]]><img src=x onerror='window.taken = 1'>",
    "\" onmouseover='window.taken = 1' x=\"",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe\u2066\u200b\U000e0041",
    "\ud800 half of a character",
    "javascript:window.taken=1",
    "$(touch taken); `touch taken` ' \"",
    "-o /etc/passwd",
    "\u2028\u2029\x00\x1b[31m",
    "W" * 100_000,
)


def _hostile(text: str) -> Report:
    """Return a report in which every text that an app can set is this text."""
    report = make_report(3, seed=11)
    details = report.details
    assert details is not None
    named = {"package": text, "label": text}

    def all_of(items: Any, **texts: Any) -> Any:
        return tuple(item.model_copy(update=texts) for item in items)

    hostile = details.model_copy(
        update={
            "apps": all_of(details.apps, **named, sources=(text,), description=text, version_name=text),
            "providers": all_of(
                details.providers,
                component=text,
                permission=text,
                name=text,
                description=text,
                instructions=text,
                definitions=json.dumps({text: text}),
            ),
            "capabilities": all_of(
                details.capabilities,
                id=text,
                title=text,
                description=text,
                parameters=text,
                output=text,
                declaration=json.dumps({"id": text}, ensure_ascii=False),
            ),
            "findings": all_of(details.findings, message=text, hint=text, pointer=text, place=text),
            "translations": all_of(
                details.translations,
                files=(details.translations[0].files[0].model_copy(update={"path": text, "text": text}),),
                problem=text,
            ),
        }
    )
    quality = report.quality.model_copy(update={"worst": all_of(report.quality.worst, **named)})
    history = report.history
    assert history is not None
    return report.model_copy(
        update={
            "details": hostile,
            "quality": quality,
            "catalog": report.catalog.model_copy(update={"name": text}),
            "history": history.model_copy(update={"since": text, "apps": all_of(history.apps, **named)}),
            "notes": (text,),
        }
    )


def _shown(text: str) -> str:
    """Return how the page shows a text, computed here from what the documents promise."""
    return "".join(
        item if 0x20 <= ord(item) < 0x7F else item.encode("unicode-escape").decode() for item in text
    )


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_stay_texts(text: str, tmp_path: Path, open_page: OpenPage) -> None:
    path = tmp_path / "coverage.html"
    path.write_text(render_page(_hostile(text)), encoding="utf-8")

    page = open_page(path)
    page.run("document.querySelector('[name=show][value=capabilities]').click()")
    page.wait("document.querySelector('#count').textContent.includes('capabilit')")
    page.run("document.querySelector('#matrix tbody .link').click()")
    page.wait("document.querySelector('#sheet pre')")
    title = page.run("document.querySelector('h1').textContent")
    in_sheet = page.run("document.querySelector('#sheet-title').textContent")
    declared = page.run("document.querySelector('#sheet pre').textContent")
    width = page.run("document.documentElement.scrollWidth")

    assert title == _shown(text)
    assert in_sheet == (_shown(text) if len(text) <= 160 else f"{text[:159]}\N{HORIZONTAL ELLIPSIS}")
    assert json.loads(declared) == {"id": text}
    assert declared.isprintable() or set(declared) - {"\n"} == set(re.sub(r"[^\x20-\x7e]", "", declared))
    assert page.run("window.taken === undefined")
    assert page.run("document.querySelectorAll('script').length") == 3
    assert (
        page.run("document.querySelectorAll('img, iframe, object, embed, link, base, form[action]').length")
        == 0
    )
    assert page.run("[...document.querySelectorAll('a')].every((one) => one.getAttribute('href')[0] === '#')")
    assert width <= 1280


@pytest.mark.parametrize("text", [item for item in HOSTILE if item.isprintable() and len(item) < 1000])
def test_a_command_that_is_copied_has_the_source_as_one_word(
    text: str, tmp_path: Path, open_page: OpenPage
) -> None:
    path = tmp_path / "coverage.html"
    path.write_text(render_page(_hostile(text)), encoding="utf-8")

    page = open_page(path)
    page.run("document.querySelector('#matrix tbody .link').click()")
    page.wait("document.querySelector('#sheet pre.command')")
    words = shlex.split(page.run("document.querySelector('#sheet pre.command').textContent"))

    assert words == ["droidgate", "inspect", f"./{text}" if text.startswith("-") else text]


def test_the_policy_lets_no_other_script_run_and_no_text_become_markup(
    tmp_path: Path, browser: Browser
) -> None:
    page_text = render_page(make_report(2))
    path = tmp_path / "coverage.html"
    strange = "<b id=bad onclick='window.taken = 1'>x</b><script>window.taken = 1</script>"
    path.write_text(page_text.replace("</body>", f"{strange}<img src=other.png></body>"), encoding="utf-8")
    page = new_page(browser)
    page.open(path)
    page.run("document.querySelector('#bad').click()")

    blocked = page.run(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return false; } catch { return true; } })()"
    )

    assert blocked
    assert page.run("window.taken === undefined")
    assert sum("Content Security Policy" in complaint for complaint in page.complaints()) >= 3
    page.close()


def test_the_policy_comes_first_and_names_digests_alone() -> None:
    page_text = render_page(make_report(2))
    policy = html.unescape(page_text.split('http-equiv="Content-Security-Policy" content="')[1].split('"')[0])
    directives = dict(item.split(" ", 1) for item in policy.split("; "))

    assert directives["default-src"] == "'none'"
    for name in ("style-src", "script-src"):
        assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", directives[name])
    assert page_text.index("Content-Security-Policy") < page_text.index("<style>")
    assert not re.search(r"\b(?:https?|ftp|data|blob):", page_text.replace("http://www.w3.org/2000/svg", ""))

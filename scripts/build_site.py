"""Build the documentation site: `make docs-site`, into dist/site.

Zensical makes the pages and the search from docs/ and the Markdown files at the top. In strict mode a link
that leads nowhere ends the build. Next to each page is its Markdown, for agents: `guides/in-ci.md` next to
`guides/in-ci/`; `llms.txt` lists them.
"""

import json
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
DOCS = CHECKOUT / "docs"
SITE = CHECKOUT / "dist" / "site"
_PLACES = {"README.md": "index.md", "docs/README.md": "contents.md", "docs/llms.txt": "llms.txt"}
"""Where a file is on the site, if not below docs/ under its own name."""

_OWN_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_LINK = re.compile(r"(!?\[(?:[^]\[]|\[[^]]*\])*\])\((?!https?:|mailto:|#)([^)\s]+)\)")
_INDENT = re.compile(r"^ {2,3}(?=\S)", re.MULTILINE)
_BLOCK = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
_SETTINGS = {
    "docs_dir": "pages",
    "extra_css": ["site.css"],
    "theme": {
        "font": False,
        "features": [
            "content.code.copy",
            "navigation.footer",
            "navigation.path",
            "navigation.top",
            "search.highlight",
        ],
        "palette": [
            {
                "media": f"(prefers-color-scheme: {name})",
                "scheme": scheme,
                "toggle": {"icon": f"lucide/{icon}", "name": f"Switch to {other} mode"},
            }
            for name, scheme, icon, other in (
                ("light", "default", "sun", "dark"),
                ("dark", "slate", "moon", "light"),
            )
        ],
    },
    "markdown_extensions": {
        "attr_list": {},
        "tables": {},
        "toc": {
            "permalink": True,
            "slugify": {"object": "pymdownx.slugs.slugify", "kwds": {"case": "lower"}},
        },
        "pymdownx.highlight": {},
        "pymdownx.superfences": {},
    },
}
_STYLE = """\
/* An option or an id is broken over two lines only where it is longer than a line. */
.md-typeset :is(p, li) > code { display: inline-block; max-width: 100%; }
.md-typeset td code { word-break: normal; }
"""


def site_pages() -> dict[str, str]:
    """Return the text of each page by its place on the site, with links that fit there."""
    sources = [CHECKOUT / name for name in _OWN_PAGES]
    sources += [path for path in DOCS.rglob("*") if path.suffix in {".md", ".txt"}]
    places = {name: _PLACES.get(name, name.removeprefix("docs/")) for name in map(_name, sources)}
    return {
        places[name]: _with_links((CHECKOUT / name).read_text(encoding="utf-8"), name, places)
        for name in sorted(places)
    }


def _name(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


def _with_links(text: str, page: str, places: dict[str, str]) -> str:
    """Return a page's text with each link as it is on the site; a link to a source file becomes its path.

    What belongs to an item of a list is indented by four, which Zensical requires.
    """

    def place(match: re.Match[str]) -> str:
        path, mark, anchor = match[2].partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if target not in places and not target.startswith("docs/"):
            return f"{match[1][1:-1]} (`{target}`)"
        place = places.get(target, target.removeprefix("docs/"))
        return f"{match[1]}({posixpath.relpath(place, posixpath.dirname(places[page]) or '.')}{mark}{anchor})"

    return "".join(
        part if part.startswith("```") else _INDENT.sub("    ", _LINK.sub(place, part))
        for part in _BLOCK.split(text)
    )


def navigation() -> list[dict[str, list[dict[str, str]]]]:
    """Return the sections of docs/README.md with their pages, each the place by the name."""
    sections: dict[str, list[dict[str, str]]] = {}
    for line in (DOCS / "llms.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = sections.setdefault(line[3:], [])
        elif match := re.match(r"- \[([^]]+)\]\(([^)]+)\)", line):
            name, place = match.groups()
            section.append({name if name[1].isupper() else name[0].upper() + name[1:]: place})
    sections["Get started"].insert(0, {"droidgate": "index.md"})
    sections["Project"] = [{name[:-3].capitalize(): name} for name in _OWN_PAGES[1:]]
    sections["Project"].append({"All pages": "contents.md"})
    return [{name: section} for name, section in sections.items()]


def build_site(site: Path) -> None:
    """Write the site into a folder, which is replaced.

    Raises:
        subprocess.CalledProcessError: a link leads nowhere, or Zensical cannot build the pages.
    """
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    settings = {
        **_SETTINGS,
        "site_name": f"{project['name']} {project['version']}",
        "site_description": project["description"],
        "nav": navigation(),
    }
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copytree(DOCS, folder / "pages")
        (folder / "pages" / "README.md").unlink()
        pages = site_pages()
        for place, text in pages.items():
            (folder / "pages" / place).write_text(text, encoding="utf-8")
        (folder / "pages" / "site.css").write_text(_STYLE, encoding="utf-8")
        # JSON is YAML.
        (folder / "mkdocs.yml").write_text(json.dumps(settings), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=folder, check=True)
        for place, text in pages.items():
            (folder / "site" / place).write_text(text, encoding="utf-8")
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(folder / "site", site)


if __name__ == "__main__":
    build_site(SITE)

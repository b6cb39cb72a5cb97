"""Manifests of an app and its libraries: merged by us, and by Android's own merger."""

import random
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from droidgate.sources.android_project import MAIN, Module, application_from_tree, read_source_set
from droidgate.sources.resources import SourceSet
from droidgate_android.projects.gradle_text import GradleFile
from droidgate_mappings.formats.application import Application, Component, MetaData
from droidgate_mappings.formats.leniency import ReadingContext
from requirements_of_tests import SHORT_JVM, manifest_merger_jars

HEAD = 'xmlns:android="http://schemas.android.com/apk/res/android" xmlns:tools="http://schemas.android.com/tools"'
MERGERS = Path(__file__).with_name("Mergers.java")
View = list[tuple[object, ...]]


def manifest_of(package: str, content: str, *, attributes: str = "", before: str = "") -> str:
    return (
        f'<manifest {HEAD} package="{package}">\n{before}\n'
        f"<application {attributes}>\n{content}\n</application>\n</manifest>\n"
    )


def merge_by_us(main: str, libraries: Sequence[str]) -> tuple[Application, ReadingContext]:
    """Return the app and what could not be merged."""

    def module(text: str, path: str, inner: tuple[Module, ...] = ()) -> Module:
        files = {"AndroidManifest.xml": text.encode()}
        gradle = GradleFile(is_library=not inner)
        return Module({MAIN: SourceSet(files, path)}, gradle, inner, merges_manifests=True)

    parts = tuple(module(text, f"lib{number}") for number, text in enumerate(libraries))
    context = ReadingContext()
    return read_source_set(module(main, "app", parts), MAIN, context), context


def merge_by_android(cases: Iterable[tuple[str, Sequence[str]]], folder: Path) -> list[Application | None]:
    """Return the apps that Android's merger makes, None for each where it ends with an error."""
    outs, lines = [], []
    for case, (main, libraries) in enumerate(cases):
        paths = [folder / f"{case}-{number}.xml" for number in range(1 + len(libraries))]
        for path, text in zip(paths, (main, *libraries), strict=True):
            path.write_text(text)
        outs.append(folder / f"merged-{case}.xml")
        libs = ["--libs", ":".join(map(str, paths[1:]))] if libraries else []
        words = ["--main", str(paths[0]), "--log", "ERROR", *libs, "--out", str(outs[-1])]
        lines.append("\t".join(words))
    jars = ":".join(map(str, manifest_merger_jars()))
    command: list[str | Path] = ["java", *SHORT_JVM, "-cp", jars, MERGERS]
    run = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=False, timeout=1000
    )
    assert run.returncode == 0, run.stderr[-4000:]
    return [
        application_from_tree({"AndroidManifest.xml": out.read_bytes()}) if out.is_file() else None
        for out in outs
    ]


def view_of(application: Application) -> View:
    """Return what both sides have to agree on; the order of elements does not matter."""
    components = [_component(application, component) for component in application.components]
    return [*sorted(components, key=repr), ("permissions", sorted(application.permissions.items()))]


def _component(application: Application, item: Component) -> tuple[object, ...]:
    attributes = {
        name: application.qualified_name(Component(item.kind, value)) if name == "targetActivity" else value
        for name, value in item.attributes.items()
        if name != "name"
    }
    return (
        item.kind,
        application.qualified_name(item) if item.name else "",
        (item.exported, item.enabled, item.permission, item.label, item.description),
        sorted((sorted(kept.actions), sorted(kept.categories)) for kept in item.filters),
        sorted(map(_meta, item.meta_data)),
        sorted(map(_meta, item.properties)),
        sorted(attributes.items()),
    )


def _meta(item: MetaData) -> tuple[str, str, str]:
    return item.name, re.sub(r"\s+", " ", str(item.value)), str(item.resource)


class Generator:
    """Makes manifests with few names, so that elements of the app and of its libraries meet."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def case(self) -> tuple[str, list[str]]:
        """Return an app's manifest and those of up to three libraries."""
        count = self._random.randint(1, 3)
        return self._manifest("dev.app", is_app=True), [
            self._manifest(f"dev.lib{number}", is_app=False) for number in range(count)
        ]

    def _manifest(self, package: str, *, is_app: bool) -> str:
        attributes = self._attributes(["label", "permission"], is_app=is_app)
        content = "\n".join(
            self._component(tag, name, is_app=is_app)
            for tag in ("activity", "service", "receiver")
            for name in self._some(["dev.app.One", ".Two", "Three", "dev.lib0.Four"])
        )
        content += "\n".join(self._meta(name, is_app=is_app) for name in self._some(["top", "other"]))
        return manifest_of(package, content, attributes=attributes)

    def _component(self, tag: str, name: str, *, is_app: bool) -> str:
        attributes = self._attributes(["exported", "enabled", "process", "permission"], is_app=is_app)
        rule = ""
        if is_app and self._random.random() < 0.2:
            rule = (
                f'tools:node="{self._random.choice(["remove", "replace", "merge", "mergeOnlyAttributes"])}"'
            )
        filters = "".join(
            f'<intent-filter><action android:name="{action}"/></intent-filter>'
            for action in self._some(["act.A", "act.B"])
        )
        metas = "".join(self._meta(meta, is_app=is_app) for meta in self._some(["x", "y"]))
        return f'<{tag} android:name="{name}" {attributes} {rule}>{filters}{metas}</{tag}>'

    def _meta(self, name: str, *, is_app: bool) -> str:
        value = self._random.choice([*["1"] * 9, "2"])
        replaced = ' tools:replace="android:value"' if is_app and self._random.random() < 0.5 else ""
        return f'<meta-data android:name="{name}" android:value="{value}"{replaced}/>'

    def _attributes(self, names: list[str], *, is_app: bool) -> str:
        values = {"exported": ["true", "false"], "enabled": ["true", "false"]}
        chosen = self._some(names)
        # Mostly equal: where two of many values differ, the merger refuses the whole.
        position = self._random.choice([0] * 9 + [1])
        written = [f'android:{name}="{values.get(name, ["p", "q"])[position]}"' for name in chosen]
        if is_app and chosen and self._random.random() < 0.6:
            written.append(f'tools:replace="{",".join(f"android:{name}" for name in chosen)}"')
        elif is_app and self._random.random() < 0.2:
            absent = [name for name in names if name not in chosen]
            written += [f'tools:remove="android:{absent[0]}"'] if absent else []
        return " ".join(written)

    def _some(self, names: list[str]) -> list[str]:
        return [name for name in names if self._random.random() < 0.4]

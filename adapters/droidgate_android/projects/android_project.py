"""Applications from source trees: the source sets of a module on disk, and files in memory."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from droidgate_android.projects.gradle_text import GradleFile
from droidgate_android.projects.manifest_merge import LibraryManifest, ManifestMerger, is_relative
from droidgate_android.projects.resources import ResourceFile, SourceResources, SourceSet
from droidgate_android.projects.text_manifest import Manifest, ManifestReader, merge_manifests
from droidgate_mappings.formats.application import Application, Component, names_pointed_to
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.names import qualified_class
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.text.xml_text import Element

MAIN: Final = "main"

UNREADABLE_LIBRARY: Final = finding_code(
    "unreadable-library-manifest",
    "The manifest of a library module cannot be read, so it is not merged into the app's",
    __name__,
)


@dataclass(frozen=True, slots=True)
class Module:
    """One module of a build: its source sets by name, and what its build file says.

    Attributes:
        source_sets: Source sets by name; all but `main` have a manifest, or resources over those of main.
        gradle: Its build file, empty where it has none.
        libraries: The modules of its build that it is built with, those with the higher priority first.
        merges_manifests: It makes an app, so the manifests of its libraries are merged into its own.
        is_merged: Its `main` is part of an app, so only its other source sets are read by themselves.
        generated: What builds have made, one source set for each variant; the first one is read.
        code: Source code of `main`, in files of the languages that formats read.
        variant_code: Source code of its build types and flavours, which is not read with `main`.
        findings: What the build files leave open.
    """

    source_sets: Mapping[str, SourceSet]
    gradle: GradleFile = field(default_factory=GradleFile)
    libraries: tuple[Module, ...] = ()
    merges_manifests: bool = False
    is_merged: bool = False
    generated: tuple[SourceSet, ...] = ()
    code: tuple[SourceSet, ...] = ()
    variant_code: tuple[SourceSet, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def resource_layers(self) -> tuple[SourceSet, ...]:
        """`main` and what a build has made for it."""
        main = self.source_sets.get(MAIN)
        return (*(() if main is None else (main,)), *self.generated[:1])


@dataclass(frozen=True, slots=True)
class LooseFile:
    """A descriptor candidate in a module's assets or resources that no component of the module points to."""

    name: str
    file: ResourceFile


def application_from_tree(
    tree: Mapping[str, bytes],
    *,
    path: str = "",
    context: ReadingContext | None = None,
    package: str | None = None,
    namespace: str | None = None,
) -> Application:
    """Return the application that files in memory make up.

    Args:
        tree: Content by path relative to `src/main`: `AndroidManifest.xml`, `res/values/...`, `assets/...`.
        path: How a user would write the folder; every path in errors and places begins with it.
        context: Takes the findings; without it they are dropped.
        package: Application id of the build file; without it the manifest's `package` is taken.
        namespace: Namespace of the build file, for component names that begin with a period.

    Raises:
        InputError: no manifest, or it or a resource file that it needs cannot be read.
    """
    source_set = SourceSet(tree, path)
    module = Module({MAIN: source_set})
    reading = ReadingContext() if context is None else context
    return read_source_set(module, MAIN, reading, package=package, namespace=namespace)


def read_module(
    module: Module, names: Iterable[str], context: ReadingContext, problems: list[InputError]
) -> Iterator[tuple[str, Application]]:
    """Yield a module's applications by source set.

    That of a build type or flavour holds what the source set adds or changes, merged with main's manifest as
    Gradle would, and sees its own resources over main's.

    Args:
        module: The module.
        names: The source sets; those without manifest and resources are passed over.
        context: Takes the findings.
        problems: Takes manifests and resource files that cannot be read.
    """
    for name in names:
        source_set = module.source_sets.get(name)
        if source_set is None or (
            name == MAIN and (module.is_merged or source_set.manifest not in source_set.files)
        ):
            continue
        try:
            yield name, read_source_set(module, name, context, problems)
        except InputError as error:
            problems.append(error)


def read_source_set(
    module: Module,
    name: str,
    context: ReadingContext,
    problems: list[InputError] | None = None,
    *,
    package: str | None = None,
    namespace: str | None = None,
) -> Application:
    """Return the application of one source set of a module; see `read_module`.

    Args:
        module: The module.
        name: The source set.
        context: Takes the findings.
        problems: Takes resource files that cannot be read; without it the first is raised.
        package: Application id, where it is not the build file's.
        namespace: Namespace, where it is not the build file's.

    Raises:
        InputError: no manifest, or it cannot be read.
    """
    main = module.source_sets.get(MAIN)
    own = module.source_sets[name]
    layers = tuple(layer for library in (module, *module.libraries) for layer in library.resource_layers)
    resources = SourceResources(layers if name == MAIN else (own, *layers), problems)
    package = package or module.gradle.application_id(None if name == MAIN else name)
    reader = ManifestReader(resources, module.gradle.placeholders, context)
    base = None if own is main or main is None else _read_main_quietly(module, resources, package)
    if base is not None and own.manifest not in own.files:
        bare = replace(base.components[0], meta_data=(), properties=())
        manifest = replace(base, package=None, components=(bare,), place=Place(path=own.shown))
    else:
        manifest = _read_manifest(reader, own, package, module if own is main else None, context)
    package = package or (None if module.gradle.is_library else manifest.package)
    components, permissions, facts = manifest.components, manifest.permissions, manifest.facts
    inherited = None
    if base is not None:
        overlaid = frozenset(_names_in(own))
        components = merge_manifests(
            manifest, base, lambda item: not overlaid.isdisjoint(names_pointed_to(resources, [item]))
        )
        permissions = {**base.permissions, **permissions}
        facts = facts.merged_over(base.facts)
        inherited = base.package
        package = package or (None if module.gradle.is_library else base.package)
    application = components[0]
    facts = facts.with_build_file(module.gradle)
    package = package or module.gradle.default_package
    namespace = namespace or module.gradle.namespace or manifest.package or inherited
    return Application(
        package=package,
        components=_with_whole_names(components, package, namespace),
        resources=resources,
        place=manifest.place,
        label=application.label,
        description=application.description,
        unresolved=application.unresolved,
        namespace=namespace,
        loose_assets=_names_nobody_points_to(resources, components),
        version_code=facts.version_code,
        version_name=facts.version_name,
        minimum_sdk=facts.minimum_sdk,
        target_sdk=facts.target_sdk,
        permissions=permissions,
        queries=facts.queries,
    )


def _with_whole_names(
    components: tuple[Component, ...], package: str | None, namespace: str | None
) -> tuple[Component, ...]:
    """Return components with whole class names where the application id is not the namespace.

    What reads a provider knows its application id only, and would complete a relative name with it.
    """
    if namespace is None or package in {None, namespace}:
        return components
    return tuple(
        replace(component, name=qualified_class(component.name, namespace))
        if is_relative(component.name)
        else component
        for component in components
    )


def _read_manifest(
    reader: ManifestReader,
    source_set: SourceSet,
    package: str | None,
    module: Module | None,
    context: ReadingContext,
) -> Manifest:
    """Read a source set's manifest, with those of the libraries of `module`."""
    name = source_set.manifest
    path = source_set.path_of(name)
    if name not in source_set.files:
        raise InputError(f"there is no {name}", place=path, hint="name the folder that holds it")
    root = reader.parse(source_set.files[name], path)
    if module is not None and module.merges_manifests and root.tag == "manifest":
        merger = ManifestMerger(root, path, module.gradle.namespace or root.get("package"))
        for library in module.libraries:
            merge_library(merger, library, reader.parse)
        context.findings += merger.findings
    return reader.read_root(root, path=path, package=package)


def merge_library(merger: ManifestMerger, library: Module, parse: Callable[[bytes, str], Element]) -> None:
    """Merge the manifest of a library module; one that cannot be read is a finding.

    Args:
        merger: Takes it, and the finding.
        library: The module.
        parse: Returns the root of a manifest with a path. Raises `InputError`.
    """
    main = library.source_sets.get(MAIN)
    if main is None or main.manifest not in main.files:
        return
    path = main.path_of(main.manifest)
    try:
        root = parse(main.files[main.manifest], path)
    except InputError as error:
        merger.findings.append(
            Finding(
                code=UNREADABLE_LIBRARY,
                level=Level.WARNING,
                pointer="",
                message=f"the manifest of a library module is not merged: {error.message}",
                source=Place(path=error.place or path),
                hint=error.hint,
            )
        )
        return
    if root.tag == "manifest":
        namespace = library.gradle.namespace or root.get("package")
        merger.merge(LibraryManifest(root, path, namespace, library.gradle.placeholders))


def _read_main_quietly(module: Module, resources: SourceResources, package: str | None) -> Manifest | None:
    # What is wrong in main's manifest is reported where main is read by itself.
    context = ReadingContext(rows_off=frozenset())
    reader = ManifestReader(resources, module.gradle.placeholders, context)
    try:
        return _read_manifest(reader, module.source_sets[MAIN], package, module, context)
    except InputError:
        return None


def _names_in(source_set: SourceSet) -> Iterator[str]:
    """Yield the names by which components point to the files of a source set."""
    for path in source_set.files:
        folder, _, name = path.partition("/")
        if folder == "assets":
            yield name
        elif folder == "res":
            kind, _, file = name.partition("/")
            yield f"@{kind.partition('-')[0]}/{file.partition('.')[0]}"


def _names_nobody_points_to(resources: SourceResources, components: Iterable[Component]) -> tuple[str, ...]:
    pointed_to = names_pointed_to(resources, components)
    return tuple(name for name, _ in resources.descriptor_candidates() if name not in pointed_to)


def loose_files_of(applications: Iterable[Application]) -> list[LooseFile]:
    """Return the descriptor candidates of a module that no component of any of its applications points to.

    A file that shares its name with one that is pointed to, such as `res/raw/x.xml` next to `@xml/x`, is a
    stale copy and left out (reference mobile-mcp-and-mmcp 2.2).
    """
    pointed_to: set[str] = set()
    candidates: dict[str, ResourceFile] = {}
    for application in applications:
        resources = application.resources
        if isinstance(resources, SourceResources):
            pointed_to |= names_pointed_to(resources, application.components)
            for name, file in resources.descriptor_candidates():
                candidates.setdefault(name, file)
    stems = {_stem_of(name) for name in pointed_to}
    return [LooseFile(name, file) for name, file in candidates.items() if _stem_of(name) not in stems]


def _stem_of(name: str) -> str:
    return posixpath.basename(name).partition(".")[0]

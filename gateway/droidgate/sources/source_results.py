"""What reading a source gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, overload

from droidgate_mappings.formats.application import Application
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError, UsageError, option_hint
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.names import qualified_class
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.text.nearest_names import closest_name
from droidgate_mappings.text_safety import html_table
from droidgate_mappings.translate import dialect_name, provider_name

if TYPE_CHECKING:
    from droidgate.sources.packed_folders import UnpackedFolder

_PACKAGE: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def _position_of(name: str, providers: Sequence[Provider]) -> int:
    ends = [provider_label(provider) for provider in providers]
    heading = " ".join(name.split())
    exact = [
        position
        for position, provider in enumerate(providers)
        if name in _names_of(provider) or heading == _heading_of(provider)
    ]
    positions = exact or [position for position, label in enumerate(ends) if _is_end_of(name, label)]
    # A component of a library is read once for each app with the library, and declares the same.
    if len({providers[position].content_digest() for position in positions}) == 1:
        return positions[0]
    labels = provider_labels(providers)
    if positions:
        listed = ", ".join(labels[position] for position in positions)
        message = f'provider "{name}" fits {len(positions)} providers'
        raise UsageError(message, hint=f"write one of them in full: {listed}")
    closest = closest_name(name, _suggestions(providers))
    suggestion = f"did you mean {closest}? " if closest is not None else ""
    listed = ", ".join(labels) or "none"
    raise UsageError(f'unknown provider "{name}"', hint=f"{suggestion}the providers are: {listed}")


def provider_labels(providers: Sequence[Provider]) -> list[str]:
    """Return for each provider a name by which `--provider` chooses it alone, where it has one."""
    names = [
        (provider_label(provider), provider_name(provider), str(provider.source or provider.protocol))
        for provider in providers
    ]
    labels: list[str] = []
    for own in names:
        alone = (name for name in own if sum(name in others for others in names) == 1)
        labels.append(next(alone, own[0]))
    return labels


def provider_label(provider: Provider) -> str:
    """Return how `--provider` names a provider: its component, else its file, else its format."""
    if provider.component is not None:
        return qualified_class(provider.component, provider.package)
    return provider.source.path if provider.source is not None else provider.protocol


def _names_of(provider: Provider) -> set[str]:
    qualified = provider.component and qualified_class(provider.component, provider.package)
    names = {provider.component, qualified, provider_name(provider)}
    if provider.source is not None:
        names |= {str(provider.source), provider.source.path if qualified is None else None}
    if provider.package is not None and qualified is not None:
        names |= {f"{provider.package}/{provider.component}", f"{provider.package}/{qualified}"}
    return {name for name in names if name}


def _heading_of(provider: Provider) -> str:
    """Return what `inspect` prints above a provider, with single blanks."""
    return f"{provider_name(provider)} {dialect_name(provider)}"


def _is_end_of(name: str, label: str) -> bool:
    return label.endswith((f".{name.lstrip('.')}", f"/{name}"))


def _suggestions(providers: Sequence[Provider]) -> list[str]:
    labels = [provider_label(provider) for provider in providers]
    return [*labels, *(label.rpartition("/")[2].rpartition(".")[2] for label in labels)]


def only_in_variants(
    declared: Sequence[Provider], others: Sequence[tuple[str, Providers]]
) -> Iterator[tuple[Provider, tuple[str, ...]]]:
    """Yield what only other variants of a module declare, and the names of the source sets that do.

    Args:
        declared: What the default variant declares; a capability of the same id is the same one.
        others: What other source sets declare, by their names.
    """
    components = {(provider.protocol, provider.component) for provider in declared}
    known_keys = {(provider.protocol, item.id) for provider in declared for item in provider.capabilities}
    names: dict[tuple[str, str], dict[str, None]] = {}
    for name, reading in others:
        for provider in reading:
            for item in provider.capabilities:
                names.setdefault((provider.protocol, item.id), {})[name] = None
    for name, reading in others:
        for provider in reading:
            by_variants: dict[tuple[str, ...], list[Capability]] = {}
            for item in provider.capabilities:
                key = provider.protocol, item.id
                if key not in known_keys:
                    known_keys.add(key)
                    by_variants.setdefault(tuple(names[key]), []).append(item)
            for variants, capabilities in by_variants.items():
                yield provider.changed({"capabilities": tuple(capabilities)}), variants
            if not provider.capabilities and (provider.protocol, provider.component) not in components:
                yield provider, (name,)
            components.add((provider.protocol, provider.component))


def check_java_package(name: str) -> None:
    """Check that a text is written as a Java package.

    Raises:
        UsageError: the text is not a Java package.
    """
    if _PACKAGE.fullmatch(name) is None:
        raise UsageError(f"{name!r} is not a Java package", hint="write it as com.example.app")


@dataclass(frozen=True, slots=True)
class Providers(Sequence[Provider]):
    """What sources declare; a sequence of providers, with what reading them found.

    Attributes:
        providers: In order of source and path, formats by id.
        findings: Deviations from a specification that the readers accepted, and other findings.
        applications: The applications found, whether or not they declare anything.
        files_read: Paths of the files read, as a user would write them, each once.
        problems: What could not be read in a folder, or in one component of several; the only descriptor of a
            file that was named itself is raised instead.
        read_alone: Those of the files that were read as descriptors by themselves, without an app.
        sources: The sources as they were named, where `read` or a command named them.
        linted: What linters found when a catalog was made; the files are not at hand to be checked again.
        unreadable: How many of several sources could not be read at all; each is among the problems.
        unpacked: The archives that were looked into; their files are on disk as long as one holds them.
        other_variants: What source sets declare that the default variant of their module does not have, by
            the name of the source set; nothing where a variant was named.
        only_in_variants: Providers with the capabilities of these that the default variant does not declare,
            each capability once, and the names of its source sets.
        code_files: Files on disk with source code that classes may be in, of a folder; none where compiled
            classes are among them.
    """

    providers: tuple[Provider, ...] = ()
    findings: tuple[Finding, ...] = ()
    applications: tuple[Application, ...] = ()
    files_read: tuple[str, ...] = ()
    problems: tuple[InputError, ...] = ()
    read_alone: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    linted: tuple[Finding, ...] = ()
    unreadable: int = 0
    unpacked: tuple[UnpackedFolder, ...] = ()
    other_variants: tuple[tuple[str, Providers], ...] = ()
    only_in_variants: tuple[tuple[Provider, tuple[str, ...]], ...] = ()
    code_files: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return one line: what there is, counted."""
        capabilities = sum(len(provider.capabilities) for provider in self.providers)
        counts = f"providers={len(self.providers)}, capabilities={capabilities}"
        return f"<Providers {counts}, problems={len(self.problems)}>"

    def _repr_html_(self) -> str:
        """Return a table of the capabilities, for notebooks."""
        rows = (
            (provider.protocol, provider.package, provider.component, capability.id, capability.description)
            for provider in self.providers
            for capability in provider.capabilities
        )
        return html_table(("protocol", "app", "component", "capability", "description"), rows)

    @classmethod
    def join(cls, readings: Iterable[Providers]) -> Providers:
        """Return what several sources declare together, in their order."""
        several = tuple(readings)
        return cls(
            providers=tuple(provider for item in several for provider in item.providers),
            findings=tuple(finding for item in several for finding in item.findings),
            applications=tuple(application for item in several for application in item.applications),
            files_read=tuple(path for item in several for path in item.files_read),
            problems=tuple(problem for item in several for problem in item.problems),
            read_alone=tuple(path for item in several for path in item.read_alone),
            unreadable=sum(item.unreadable for item in several),
            unpacked=tuple(archive for item in several for archive in item.unpacked),
            other_variants=tuple(part for item in several for part in item.other_variants),
            only_in_variants=tuple(part for item in several for part in item.only_in_variants),
        )

    def choose(self, *names: str) -> Providers:
        """Return the same with some of the providers only; the types of other modules stay resolved.

        Args:
            names: Components, as the class with or without its package; files of providers without a
                component. All providers without a name.

        Raises:
            UsageError: a name matches no provider, or several.
        """
        positions = {_position_of(name, self.providers) for name in names} or range(len(self))
        chosen = tuple(provider for position, provider in enumerate(self) if position in positions)
        return replace(self, providers=chosen)

    def described(
        self, *, name: str | None = None, package: str | None = None, description: str | None = None
    ) -> Providers:
        """Return the same with facts of the only provider changed, as if its source stated them.

        Args:
            name: Its human-readable name; None leaves it as it is, as the others do.
            package: Its application id.
            description: What it offers.

        Raises:
            UsageError: there are several providers, or a value is empty or not an application id.
        """
        given = {"name": name, "package": package, "description": description}
        changes = {field: value for field, value in given.items() if value is not None}
        if not changes:
            return self
        fields = " and ".join(changes)
        for field, value in changes.items():
            if not value.strip():
                hint = option_hint("leave {} out to keep what the source states", f"--{field}", f"{field}=")
                raise UsageError(f"the {field} is empty", hint=hint)
        if "package" in changes:
            check_java_package(changes["package"])
        if len(self) != 1:
            listed = ", ".join(provider_labels(self.providers))
            message = f"one {fields} cannot describe {len(self)} providers"
            raise UsageError(
                message,
                hint=option_hint(f"choose one with {{}}: {listed}", "--provider", "read(...).choose(NAME)"),
            )
        return replace(self, providers=(self[0].changed(changes),))

    def __iter__(self) -> Iterator[Provider]:
        return iter(self.providers)

    def __len__(self) -> int:
        return len(self.providers)

    @overload
    def __getitem__(self, position: int) -> Provider: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Provider]: ...
    def __getitem__(self, position: int | slice) -> Provider | Sequence[Provider]:
        return self.providers[position]

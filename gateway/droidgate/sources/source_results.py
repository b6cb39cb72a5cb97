"""What reading a source gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from droidgate.sources.choosing import chosen_providers, described_providers
from droidgate_mappings.formats.application import Application
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding


@dataclass(frozen=True, slots=True)
class Providers:
    """What sources declare; a sequence of providers, with what reading them found.

    Attributes:
        providers: In order of source and path, formats by id.
        findings: What was bent, and what else is worth telling.
        applications: The applications found, whether or not they declare anything.
        files_read: Paths of the files read, as a user would write them, each once.
        problems: What could not be read in a folder, or in one component of several; the only descriptor of a
            file that was named itself is raised instead.
        read_alone: Those of the files that were read as descriptors by themselves, without an app.
        sources: The sources as they were named, where `read` or a command named them.
        linted: What linters found when a catalog was made; the files are not at hand to be checked again.
        unreadable: How many of several sources could not be read at all; each is among the problems.
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
        )

    def choose(self, *names: str) -> Providers:
        """Return the same with some of the providers only; the types of other modules stay resolved.

        Args:
            names: Components, as the class with or without its package; files of providers without a
                component. All providers without a name.

        Raises:
            UsageError: a name matches no provider, or several.
        """
        return replace(self, providers=chosen_providers(self.providers, names)) if names else self

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
        return replace(
            self,
            providers=described_providers(
                self.providers, {"name": name, "package": package, "description": description}
            ),
        )

    def __iter__(self) -> Iterator[Provider]:
        return iter(self.providers)

    def __len__(self) -> int:
        return len(self.providers)

    def __getitem__(self, position: int) -> Provider:
        return self.providers[position]

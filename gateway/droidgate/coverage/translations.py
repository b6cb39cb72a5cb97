"""Translations of the providers that a user chose, by the dialects' own writers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from droidgate.coverage.conversions import targets
from droidgate.coverage.document_details import DialectTranslation, TranslatedFile, TranslationFinding
from droidgate.coverage.figures import Figures
from droidgate.sources.catalogs.declarations import read_part
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DroidgateError

MOST_PROVIDERS: Final = 50
MOST_FINDINGS_EACH: Final = 200


def translate_chosen(figures: Figures, patterns: Sequence[str]) -> tuple[DialectTranslation, ...]:
    """Write every provider of the apps whose application id fits a pattern in every dialect.

    Args:
        figures: The catalog.
        patterns: `*` and `?` match other characters, as in the names of files.
    """
    if not patterns:
        return ()
    chosen = [
        (number, declaration)
        for number, package, declaration in figures.rows(
            "SELECT p, identity, declaration FROM provider_fact JOIN providers USING (unit, provider) "
            "JOIN entry USING (entry) ORDER BY p"
        )
        if any(fnmatchcase(package, pattern) for pattern in patterns)
    ]
    return tuple(
        _translate(number, read_part(Provider, declaration), target)
        for number, declaration in chosen[:MOST_PROVIDERS]
        for target in targets()
    )


def misfits(figures: Figures, patterns: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each pattern by which nothing is translated, and one where not all is that fits.

    The sentences have no period.
    """
    listed = (
        figures.rows("SELECT identity, providers FROM entry JOIN entry_sum USING (entry)") if patterns else []
    )
    for pattern in patterns:
        fitting = [providers for identity, providers in listed if fnmatchcase(identity, pattern)]
        if not fitting:
            yield f"--translate {pattern}: no app of the catalog fits it"
        elif not any(fitting):
            yield f"--translate {pattern}: what fits it declares nothing"
    chosen = sum(
        providers
        for identity, providers in listed
        if any(fnmatchcase(identity, pattern) for pattern in patterns)
    )
    if chosen > MOST_PROVIDERS:
        yield f"at most {MOST_PROVIDERS} providers are translated"


def _translate(number: int, provider: Provider, target: str) -> DialectTranslation:
    format_, dialect = targets()[target]
    if format_.write is None:
        return _failed(number, target, f"{format_.title} is only read")
    try:
        writing = format_.write(provider, dialect)
    except DroidgateError as error:
        return _failed(number, target, error.message)
    return DialectTranslation(
        provider=number,
        target=target,
        files=tuple(TranslatedFile(path=artifact.path, text=artifact.text) for artifact in writing.artifacts),
        findings=tuple(
            TranslationFinding(
                code=finding.code, level=finding.level.value, pointer=finding.pointer, message=finding.message
            )
            for finding in writing.findings[:MOST_FINDINGS_EACH]
        ),
        problem=None,
    )


def _failed(number: int, target: str, problem: str) -> DialectTranslation:
    return DialectTranslation(provider=number, target=target, files=(), findings=(), problem=problem)

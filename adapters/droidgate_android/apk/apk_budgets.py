"""What reading one APK may cost: counted, so that a hostile file ends in one error and tests can see how much
was done (reference apk-reading C, android-runtime 3.4).
"""

from __future__ import annotations

from typing import Final

from droidgate_mappings.model.errors import BudgetError
from droidgate_mappings.records import dataclass, field

MIB: Final = 1 << 20

MAX_ENTRY_BYTES: Final = 64 * MIB
"""Largest content of one archive entry."""

MAX_XML_BYTES: Final = 16 * MIB
"""Largest compiled XML file, the manifest included, and largest text file."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one APK with its splits may cost.

    Attributes:
        entries: Entries of all its archives.
        directory_bytes: Size of one central directory.
        inflated_bytes: Content of all entries that are read.
        ratio: How many times its compressed size an entry's content may have once it is over 1 MiB.
        ratio_of_all: How many times an archive's size the content of all entries that are read may have.
        free_bytes: Content of all entries of an archive for which that ratio does not count.
        verified_bytes: Bytes that are hashed to verify one APK's signature.
        nodes: Elements, attributes and texts of compiled XML, and items of resource arrays.
        depth: Levels of elements.
        characters: Characters (bytes of UTF-8, halves of UTF-16) of strings decoded from string pools, and
            of texts made from compiled XML.
        chunks: Chunks of resource tables.
        lookups: Type chunks that are asked for a value.
        references: References followed from one value; AssetManager stops at 20 too.
    """

    entries: int = 65_535
    directory_bytes: int = 16 * MIB
    inflated_bytes: int = 256 * MIB
    ratio: int = 200
    ratio_of_all: int = 50
    free_bytes: int = 32 * MIB
    verified_bytes: int = 4096 * MIB
    nodes: int = 300_000
    depth: int = 200
    characters: int = 16 * MIB
    chunks: int = 200_000
    lookups: int = 2_000_000
    references: int = 20


DEFAULT_LIMITS: Final = Limits()


@dataclass(slots=True)
class Budget:
    """Counts what reading one APK costs. No counter goes beyond its limit: a step that would is refused.

    Attributes:
        limits: How much it may be.
        entries: Archive entries indexed.
        inflated_bytes: Bytes of content that came out of entries.
        nodes: Nodes built.
        characters: Characters decoded or written.
        chunks: Chunks of resource tables indexed.
        lookups: Type chunks asked.
    """

    limits: Limits = field(default=DEFAULT_LIMITS)
    entries: int = 0
    inflated_bytes: int = 0
    nodes: int = 0
    characters: int = 0
    chunks: int = 0
    lookups: int = 0

    def spend_entries(self, count: int, place: str) -> None:
        """Count archive entries.

        Raises:
            BudgetError: they are more than allowed; so for the other `spend_` methods.
        """
        if self.entries + count > self.limits.entries:
            raise BudgetError(f"it has more than {self.limits.entries} entries", place=place)
        self.entries += count

    def spend_inflated(self, count: int, place: str) -> None:
        """Count bytes of content."""
        if self.inflated_bytes + count > self.limits.inflated_bytes:
            message = f"reading it takes more than {self.limits.inflated_bytes} unpacked bytes"
            raise BudgetError(message, place=place)
        self.inflated_bytes += count

    def spend_nodes(self, count: int, place: str) -> None:
        """Count nodes of compiled XML or items of resource arrays."""
        if self.nodes + count > self.limits.nodes:
            message = f"it has more than {self.limits.nodes} elements, attributes and texts"
            raise BudgetError(message, place=place)
        self.nodes += count

    def spend_characters(self, count: int, place: str) -> None:
        """Count characters of decoded or written text."""
        if self.characters + count > self.limits.characters:
            message = f"its texts have more than {self.limits.characters} characters"
            raise BudgetError(message, place=place)
        self.characters += count

    def spend_chunk(self, place: str) -> None:
        """Count a chunk of a resource table."""
        if self.chunks >= self.limits.chunks:
            message = f"its resource table has more than {self.limits.chunks} parts"
            raise BudgetError(message, place=place)
        self.chunks += 1

    def spend_lookup(self, place: str) -> None:
        """Count a type chunk that is asked for a value."""
        if self.lookups >= self.limits.lookups:
            raise BudgetError("resolving its resources takes too many steps", place=place)
        self.lookups += 1

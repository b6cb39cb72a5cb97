"""How fast translation is, next to the floor of parsing and serialising the same bytes with lxml and json
alone.

Run it with `make bench`. For each ordered pair of formats it prints capabilities per second with findings and
positions, and the ratio to the floor of the same run; then the processor time of whole
processes next to that of a Python that does nothing.
"""

from __future__ import annotations

import functools
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from _results import Results, median_seconds, parser, processes
from lxml import etree

from droidgate_mappings.formats.format import Format, SourceFile, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import ArrayType, ObjectType, Property, ScalarType, Type
from droidgate_mappings.translate import translate

PROCESSES = {"command": "", "ms": ".0f", "times `python -c pass`": ".1f", "aim": ""}
CAPABILITIES_IN_PROVIDER = 40
"""As many as one mMCP manifest holds: Android keeps at most 32,768 characters of it."""


def typical_provider(count: int) -> Provider:
    """Return a provider with capabilities such as real descriptors have: a few described parameters, an enum,
    a list.
    """
    return Provider(
        protocol="benchmark",
        package="dev.droidgate.benchmark",
        name="Benchmark",
        description="Capabilities of a usual size",
        instructions="Ask before you call",
        capabilities=tuple(_typical_capability(number) for number in range(count)),
    )


def _typical_capability(number: int) -> Capability:
    def text(about: str) -> Type:
        return ScalarType(kind="string", description=f"The {about} of entry {number}, as the user said it")

    mode = ScalarType(
        kind="string", description="How to order the entries", enum=("newest", "oldest", "title")
    )
    labels = ArrayType(items=ScalarType(kind="string"), description="Labels that all entries must have")
    properties = {
        "title": Property(type=text("title"), required=True),
        "order": Property(type=mode, required=False),
        "limit": Property(
            type=ScalarType(kind="int32", description="At most this many entries"), required=False
        ),
        "labels": Property(type=labels, required=False),
    }
    found = {
        "count": Property(type=ScalarType(kind="int64", description="How many were found"), required=True)
    }
    return Capability(
        id=f"search_entries_{number}",
        description=f"Search the entries of notebook {number} by title and labels",
        version="1",
        input=ObjectType(properties=properties),
        output=ObjectType(properties=found),
    )


def descriptor_of(source: Format, provider: Provider) -> SourceFile:
    """Return the one descriptor file that a format writes for a provider."""
    (translation,) = translate([provider], source, source.dialect())
    artifacts = translation.writing.artifacts
    roles = ("document", "descriptor") if source.id == "mmcp" else ("descriptor", "document")
    chosen = next(artifact for role in roles for artifact in artifacts if artifact.role == role)
    return SourceFile(chosen.path, chosen.text.encode())


def floor_parse(source: SourceFile) -> Callable[[], object]:
    """Return what parses the bytes with the plain library."""
    if source.path.endswith(".json"):
        return lambda: json.loads(source.data)
    return lambda: etree.fromstring(source.data)


def floor_serialise(written: SourceFile) -> Callable[[], object]:
    """Return what serialises the parsed bytes with the plain library."""
    if written.path.endswith(".json"):
        value = json.loads(written.data)
        return lambda: json.dumps(value, indent=2, ensure_ascii=False)
    root = etree.fromstring(written.data)
    return lambda: etree.tostring(root, encoding="unicode")


def cross(source: Format, file: SourceFile, target: Format) -> None:
    """Read a descriptor and write it in another format."""
    reading = source.read_file(file, ReadingContext())
    translate(reading.providers, target, target.dialect())


def measure_pairs(results: Results, formats: Mapping[str, Format], rounds: int) -> None:
    """Measure each ordered pair."""
    provider = typical_provider(CAPABILITIES_IN_PROVIDER)
    files = {name: descriptor_of(format_, provider) for name, format_ in formats.items()}
    columns = {"from": "", "to": "", "capabilities per second": ",.0f", "times the floor": ".1f"}
    table = results.table("pairs", columns)
    for source_id, source in formats.items():
        for target_id, target in formats.items():
            work = functools.partial(cross, source, files[source_id], target)
            taken = median_seconds(work, rounds, time.process_time)
            floor = median_seconds(floor_parse(files[source_id]), rounds, time.process_time)
            floor += median_seconds(floor_serialise(files[target_id]), rounds, time.process_time)
            rate = CAPABILITIES_IN_PROVIDER / taken
            table.add(source_id, target_id, rate, taken / floor)


def measure_processes(results: Results, formats: Mapping[str, Format], rounds: int) -> None:
    """Measure the processor time of whole processes."""
    file = descriptor_of(formats["mobile-mcp"], typical_provider(3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mcp_capabilities.xml"
        path.write_bytes(file.data)
        aims = {
            "--help": 8,
            "--version": 7,
            f"inspect {path}": 26,
            f"lint {path}": 30,
            f"convert {path} --to mcp": 28,
        }
        commands = {line: (sys.executable, "-m", "droidgate", *line.split()) for line in aims}
        table = results.table("processes", PROCESSES)
        for line, measured in processes(commands, rounds).items():
            table.add(f"droidgate {line.split()[0]}", *measured, aims[line])


def main() -> None:
    """Run all measurements."""
    chosen = parser(__doc__).parse_args()
    results, rounds = Results(chosen), 1 if chosen.quick else 7
    formats = {name: format_ for name, format_ in load_formats().items() if format_.write is not None}
    measure_pairs(results, formats, rounds)
    measure_processes(results, formats, rounds)
    results.write()


if __name__ == "__main__":
    main()

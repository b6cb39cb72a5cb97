"""Conversions held against readers, values and texts that know nothing of droidgate."""

from pathlib import Path

import pytest

from audit.comparison import Comparison, compare
from audit.conversions import TARGETS, convert, read_by_droidgate, read_by_specification
from audit.instance_audit import problems_of_instances, problems_of_visibility
from audit.leaf_audit import Problem, problems_of_leaves
from audit.made_descriptors import FORMATS, Descriptor, made_descriptor

PAIRS = [(source, target) for source in FORMATS for target in TARGETS]
DESCRIPTORS_OF_A_BLOCK = 44
BLOCKS = 3
LONG_BLOCKS = 30
SHOWN = 12


def compared(descriptor: Descriptor, target: str, folder: Path) -> Comparison:
    conversion = convert(descriptor, read_by_droidgate(descriptor, folder), target)
    source, written = read_by_specification(descriptor), read_by_specification(conversion.target)
    return compare(source, written, conversion.findings, conversion.renamed)


def seeds_of(block: int, target: str) -> range:
    """Return the seeds of a block; no two targets share one, so each descriptor is another."""
    first = (block * len(TARGETS) + TARGETS.index(target)) * DESCRIPTORS_OF_A_BLOCK
    return range(first, first + DESCRIPTORS_OF_A_BLOCK)


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [*range(BLOCKS), *(pytest.param(at, marks=pytest.mark.long) for at in range(BLOCKS, LONG_BLOCKS))],
)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_each_difference_has_its_finding_and_where_values_differ_a_grave_one(
    source: str, target: str, block: int, tmp_path: Path
) -> None:
    """Each finding has its difference, too; values are those that only one side accepts."""
    problems: list[tuple[int, Problem]] = []
    for seed in seeds_of(block, target):
        sides = compared(made_descriptor(source, seed), target, tmp_path / str(seed))
        found = [
            *problems_of_leaves(sides),
            *problems_of_instances(sides, seed),
            *problems_of_visibility(sides),
        ]
        problems.extend((seed, item) for item in found)
    lines = [
        f"seed {seed}: {item.kind} {item.pointer} {item.code} {item.level} {item.detail}"
        for seed, item in problems
    ]
    if lines:
        pytest.fail("\n".join([f"{len(lines)} problems", *lines[:SHOWN]]), pytrace=False)

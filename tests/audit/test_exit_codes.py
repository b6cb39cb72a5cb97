"""`convert --json --fail-on LEVEL`: exit codes follow the gravest finding, and findings are the API's."""

import json
from pathlib import Path

import pytest

from audit.conversions import TARGETS, convert, read_by_droidgate
from audit.findings import LEVELS
from audit.made_descriptors import FORMATS, made_descriptor
from droidgate.cli import run

SEEDS = (0, 1, 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("source", FORMATS)
def test_the_exit_code_follows_the_gravest_finding(
    source: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    descriptor = made_descriptor(source, seed)
    folder = tmp_path / "source"
    reading = read_by_droidgate(descriptor, folder)
    written = str(folder / "tools.json" if source == "mcp" else folder)
    for target in TARGETS:
        conversion = convert(descriptor, reading, target)
        found = [*conversion.reading, *conversion.findings]
        gravest = max((LEVELS.index(item.level) for item in found), default=0)
        # The ends of the scale, and the levels around the change; `read` is not a threshold.
        for level in sorted({LEVELS[1], *LEVELS[gravest or 1 : gravest + 2], LEVELS[-1]}):
            capsys.readouterr()
            arguments = [written, "--to", target, "-o", str(tmp_path / target), "--json", "--fail-on", level]
            code = run(["convert", *arguments])
            printed = json.loads(capsys.readouterr().out)
            (conversion,) = printed["conversions"]
            reported = [
                (item["code"], item["level"], item["pointer"])
                for item in [*printed["reading"], *conversion["findings"]]
            ]
            assert reported == [(item.code, item.level, item.pointer) for item in found]
            assert code == (1 if gravest >= LEVELS.index(level) else 0), (target, level)

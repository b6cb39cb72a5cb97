import hashlib
import importlib
import json
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from droidgate.sources import Providers, read_source
from gateway.synthetic_ecosystem.apks import PART, READ, UNREADABLE, Expected, make_files
from gateway.synthetic_ecosystem.ecosystem import TRUTH_FILE
from gateway.synthetic_ecosystem.names import SHARED_VERBS, Names
from requirements_of_tests import CHECKOUT, require


@pytest.fixture(scope="module")
def reading(ecosystem: Path) -> Providers:
    return read_source(str(ecosystem / "apks"))


@pytest.mark.slow
def test_the_gateway_finds_in_each_app_what_was_put_in(truth: list[Expected], reading: Providers) -> None:
    found = Counter(
        (
            provider.package,
            f"{provider.protocol}+{provider.dialect}",
            tuple(c.id for c in provider.capabilities),
        )
        for provider in reading.providers
    )
    put_in = Counter(
        (item.package, protocol, ids)
        for item in truth
        for protocol, ids in zip(item.protocols, item.capabilities, strict=True)
    )
    assert found == put_in
    assert sum(len(ids) for _, _, ids in put_in.elements()) > 300


@pytest.mark.slow
def test_exactly_the_broken_and_the_hostile_files_are_refused(
    truth: list[Expected], reading: Providers
) -> None:
    refused = sorted(Path(str(problem.place).partition("!")[0]).name for problem in reading.problems)
    assert refused == sorted(Path(item.file).name for item in truth if item.outcome == UNREADABLE)
    assert all("Traceback" not in str(problem) for problem in reading.problems)


@pytest.mark.slow
def test_each_readable_app_is_one_application_and_a_split_is_none(
    truth: list[Expected], reading: Providers
) -> None:
    assert sorted(item.package or "" for item in reading.applications) == sorted(
        item.package for item in truth if item.outcome == READ
    )
    assert sum(item.outcome == PART for item in truth) >= 8


@pytest.mark.slow
def test_apps_that_say_their_tools_when_asked_differ(truth: list[Expected], reading: Providers) -> None:
    reported = [item for item in reading.findings if item.code == "tools-not-in-files"]
    asked = [item for item in truth if "mmcp+broadcast" in item.when_asked and item.outcome == READ]
    assert len(reported) == len(asked) > 0


@pytest.mark.slow
def test_two_in_a_hundred_are_broken_and_one_is_hostile_in_every_way(truth: list[Expected]) -> None:
    seen = Counter(item.kind for item in truth)
    broken = {kind: count for kind, count in seen.items() if kind.startswith("broken: ")}
    hostile = ("inflating manifest", "words against models", "wild counts", "climbing names")
    assert (len(broken), sum(broken.values())) == (4, 20)
    assert sum(seen[kind] for kind in hostile) == 10
    assert all(seen[kind] >= 2 for kind in hostile)


@pytest.mark.slow
def test_no_two_files_are_equal(ecosystem: Path, truth: list[Expected]) -> None:
    digests = {hashlib.sha256((ecosystem / item.file).read_bytes()).digest() for item in truth}
    assert len(digests) == len(truth)


@pytest.mark.slow
def test_sizes_are_spread_up_to_fifty_megabytes_and_twenty_thousand_entries(ecosystem: Path) -> None:
    sizes = sorted(path.stat().st_size for path in ecosystem.rglob("*.apk"))
    assert sizes[-1] > 50 * 1024 * 1024
    assert sizes[len(sizes) // 2] < 200_000
    assert len({size.bit_length() for size in sizes}) >= 10
    with zipfile.ZipFile(ecosystem / "apks/0000/app000250.apk") as archive:
        assert len(archive.namelist()) > 20_000


@pytest.mark.slow
def test_some_paths_are_shortened_and_still_found(ecosystem: Path, truth: list[Expected]) -> None:
    shortened = [item for item in truth if "short paths" in item.kind]
    assert len(shortened) >= 3
    for item in shortened:
        with zipfile.ZipFile(ecosystem / item.file) as archive:
            assert not [name for name in archive.namelist() if name.startswith("res/xml/")]


def test_the_same_seed_makes_the_same_bytes_and_another_seed_others() -> None:
    first, again, other = ([made.data for made in make_files(3, seed)] for seed in (5, 5, 6))
    assert first == again
    assert not set(first) & set(other)


def test_an_app_does_not_depend_on_how_many_are_made() -> None:
    few, many = ([made.data for made in make_files(count, 9)] for count in (2, 4))
    assert many[: len(few)] == few


def test_names_share_verbs_as_zipf_has_it() -> None:
    names = Names(1)
    made = [names.capability() for _ in range(4_000)]
    counted = Counter(item.verb for item in made if item.verb_is_shared)
    assert sum(counted.values()) / len(made) >= 0.3
    usual = [counted[verb] for verb in SHARED_VERBS]
    assert usual[0] > 3 * usual[9] > 0
    words = Counter(item.noun for item in made)
    assert words.most_common(1)[0][1] > 100
    assert sum(count == 1 for count in words.values()) > 500


def test_the_script_writes_apks_and_the_truth(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    script = CHECKOUT / "scripts/make_ecosystem"
    command = [sys.executable, str(script), "3", "--seed", "4", "-o", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == ""
    lines = [json.loads(line) for line in (folder / TRUTH_FILE).read_text().splitlines()]
    assert [(folder / line["file"]).stat().st_size for line in lines] == [line["size"] for line in lines]


def test_the_script_goes_on_with_the_python_of_the_checkout_or_says_how_to_get_it(tmp_path: Path) -> None:
    script = tmp_path / "scripts/make_ecosystem"
    script.parent.mkdir()
    shutil.copy(CHECKOUT / "scripts/make_ecosystem", script)
    command = [sys.executable, "-I", "-S", str(script), "3", "-o", str(tmp_path / "made")]  # no site packages
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == "error: this Python has no droidgate\nhint: `make demo` installs it into .venv\n"
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == f"{script} 3 -o {tmp_path / 'made'}\n"


@pytest.mark.slow
def test_aapt_reads_the_same_packages_and_launchers(ecosystem: Path, truth: list[Expected]) -> None:
    aapt2 = require("aapt2")
    for item in _a_few(truth):
        run = subprocess.run(
            [aapt2, "dump", "badging", ecosystem / item.file], capture_output=True, text=True, check=False
        )
        assert f"package: name='{item.package}'" in run.stdout, item.file
        assert ("launchable-activity" in run.stdout) == item.has_launcher, item.file


@pytest.mark.slow
def test_androguard_finds_the_same_descriptors(ecosystem: Path, truth: list[Expected]) -> None:
    require("androguard")
    androguard_apk = importlib.import_module("androguard.core.apk")
    androguard_xml = importlib.import_module("androguard.core.axml")
    importlib.import_module("androguard.util").set_log("CRITICAL")
    speaking = [item for item in truth if "mobile-mcp+1.0" in item.protocols]
    shortened = [item for item in speaking if "short paths" in item.kind]
    assert shortened
    for item in (*speaking[:3], *shortened[:3]):
        apk = androguard_apk.APK(str(ecosystem / item.file))
        files = [path for path in apk.get_files() if path.startswith("res/") and path.endswith(".xml")]
        found = [_ids_in(androguard_xml.AXMLPrinter(apk.get_file(path)).get_xml_obj()) for path in files]
        declared = dict(zip(item.protocols, item.capabilities, strict=True))
        assert apk.get_package() == item.package
        assert found == [declared["mobile-mcp+1.0"]], item.file


def _ids_in(root: Any) -> tuple[str, ...]:
    return tuple(element.get("id") for element in root.iter("capability"))


def _a_few(truth: list[Expected]) -> list[Expected]:
    kinds: dict[str, Expected] = {}
    for item in truth:
        if item.outcome == READ and "climbing" not in item.kind:
            kinds.setdefault(item.kind, item)
    return list(kinds.values())

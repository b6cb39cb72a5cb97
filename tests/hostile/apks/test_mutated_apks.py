"""Mutated APKs give one of our errors or an application, within counted budgets."""

import random
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from io import BytesIO

import pytest

from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.apk_budgets import Budget, Limits
from droidgate_android.apk.bundle_files import open_app
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from hand_made_apks import axml, element, whole_app, zip_of

LIMITS = Limits(
    entries=64,
    directory_bytes=1 << 14,
    inflated_bytes=1 << 17,
    nodes=600,
    depth=20,
    characters=1 << 14,
    chunks=120,
    lookups=400,
)
COUNTERS = [field.name for field in fields(Budget) if field.name != "limits"]
LONG_RUNS, MUTANTS_OF_A_LONG_RUN = 16, 15_000
INTERESTING = (0, 1, 4, 0xFF, 0x100, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def signed(archive: bytes) -> bytes:
    """Return the archive with a signing block of scheme v2 before its directory."""

    def prefixed(data: bytes) -> bytes:
        return struct.pack("<I", len(data)) + data

    content = prefixed(b"") + prefixed(prefixed(b"certificate")) + prefixed(b"")
    signer = prefixed(content) + prefixed(b"") + prefixed(b"")
    value = prefixed(prefixed(signer))
    pair = struct.pack("<QI", len(value) + 4, 0x7109871A) + value
    size = len(pair) + 24
    block = struct.pack("<Q", size) + pair + struct.pack("<Q", size) + b"APK Sig Block 42"
    offset = struct.unpack_from("<I", archive, len(archive) - 6)[0]
    tail = archive[offset:-6] + struct.pack("<IH", offset + len(block), 0)
    return archive[:offset] + block + tail


def mutated(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        kind, position = chance.random(), chance.randrange(len(changed))
        if kind < 0.4:
            changed[position] = chance.randrange(256)
        elif kind < 0.7:
            number = chance.choice((*INTERESTING, len(changed), chance.getrandbits(32)))
            changed[position & ~3 : (position & ~3) + 4] = struct.pack("<I", number)
        elif kind < 0.8:
            del changed[position : position + chance.randrange(1, 20)]
        elif kind < 0.9:
            changed[position:position] = chance.randbytes(chance.randrange(1, 20))
        else:
            del changed[position:]
        changed = changed or bytearray(1)
    return bytes(changed)


def mutants(chance: random.Random, count: int) -> Iterator[bytes]:
    apps = [whole_app(encoding=encoding) for encoding in ("plain", "sparse", "offset16", "compact")]
    whole = [signed(zip_of(item)) for item in apps]
    split = axml(element("manifest", {"package": "dev.droidgate.test", "split": "config.de"}))
    split_apk = zip_of({"AndroidManifest.xml": split, "resources.arsc": apps[0]["resources.arsc"]})
    container = {"splits/base-master.apk": whole[0], "splits/base-de.apk": split_apk, "toc.pb": b""}
    parts = ("AndroidManifest.xml", "resources.arsc", "res/xml/descriptor.xml", "archive", "container")
    for _ in range(count):
        app, part = chance.choice(apps), chance.choice(parts)
        if part == "archive":
            yield mutated(chance.choice(whole), chance)
        elif part == "container":
            name = chance.choice(("splits/base-master.apk", "splits/base-de.apk"))
            inner = {**container, name: mutated(container[name], chance)}
            yield zip_of(inner, stored=tuple(inner) if chance.random() < 0.5 else ())
        else:
            yield zip_of({**app, part: mutated(app[part], chance)})


def read_everything(data: bytes) -> Budget:
    """Read all that an app has, as commands do; return what it has cost."""
    budget = Budget(LIMITS)
    errors: list[InputError] = []
    try:
        with open_app(data, budget=budget) as apk:
            application = read_application(apk)
            read_resources(application, errors)
            assert apk.verify_signature().verified is not True
            for item in load_formats().values():
                with collected(errors):
                    item.read_application(application, ReadingContext())
            assert all(finding.message and finding.source is not None for finding in apk.findings)
    except InputError as error:
        errors.append(error)
    assert all(item.message and (item.place or "").startswith("<bytes>") for item in errors)
    return budget


@contextmanager
def collected(errors: list[InputError]) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        errors.append(error)


def read_resources(application: Application, errors: list[InputError]) -> None:
    resources = application.resources
    for name in (*application.loose_assets, "@xml/descriptor", "@array/files", "@string/tool_name"):
        for read in (resources.read_file, resources.read_text, resources.read_array, resources.read_asset):
            with collected(errors):
                read(name)


def check(seed: int, count: int) -> None:
    read = 0
    for number, data in enumerate(mutants(random.Random(seed), count)):
        budget = read_everything(data)
        read += budget.nodes > 0
        for counter in COUNTERS:
            spent, allowed = getattr(budget, counter), getattr(LIMITS, counter)
            assert spent <= allowed, (seed, number, counter)
    assert read > count / 3


@pytest.mark.slow
def test_mutants_are_read_or_refused() -> None:
    check(seed=1, count=1_500)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 100 + LONG_RUNS))
def test_very_many_mutants_are_read_or_refused(seed: int) -> None:
    assert LONG_RUNS * MUTANTS_OF_A_LONG_RUN >= 200_000
    check(seed=seed, count=MUTANTS_OF_A_LONG_RUN)


def test_the_unchanged_apps_are_within_the_limits() -> None:
    for encoding in ("plain", "sparse", "offset16", "compact"):
        data = signed(zip_of(whole_app(encoding=encoding)))
        assert zipfile.ZipFile(BytesIO(data)).testzip() is None
        with open_app(data, budget=Budget(LIMITS)) as apk:
            application = read_application(apk)
            assert application.label == "Test"
            assert len(application.signers) == 1
            errors: list[InputError] = []
            read_resources(application, errors)
            assert errors == []
            assert apk.findings == ()

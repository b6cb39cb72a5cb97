"""Containers of APKs that unpack to much more than they hold, layer upon layer."""

import io
import random
import zipfile
from collections.abc import Mapping

import pytest

from droidgate_android.apk.apk_budgets import MIB, Budget, Limits
from droidgate_android.apk.apk_files import MemorySource
from droidgate_android.apk.archive import Archive
from droidgate_android.apk.bundle_files import open_app
from droidgate_android.apk.reader import Apk
from droidgate_mappings.model.errors import BudgetError, InputError
from hand_made_apks import whole_app


def _read_all(apk: Apk) -> None:
    for name in apk.archive.entry_names:
        apk.archive.read_entry(name)


NAMES = ["app.apks", "app.xapk", "app.apkm"]


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of Python's own making, deflated."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_an_apk_that_unpacks_to_200_times_its_size_is_refused(name: str) -> None:
    base = packed({**whole_app(), "lib/a.so": bytes(60 * MIB)})
    with (
        open_app(MemorySource(packed({"base.apk": base}), name=name)) as apk,
        pytest.raises(BudgetError, match="unpacks to more than 200 times its size"),
    ):
        apk.archive.read_entry("lib/a.so")


@pytest.mark.parametrize("name", NAMES)
def test_a_container_that_unpacks_to_200_times_its_size_is_refused(name: str) -> None:
    inner = packed(whole_app()) + bytes(60 * MIB)
    with pytest.raises(BudgetError, match="unpacks to more than 200 times its size"):
        open_app(MemorySource(packed({"base.apk": inner}), name=name))


def test_ratios_of_two_layers_do_not_multiply() -> None:
    noise = random.Random(1).randbytes(5_000)
    base = packed({**whole_app(), **{f"assets/{number}": noise + bytes(MIB) for number in range(100)}})
    data = packed({"base.apk": base})
    assert len(base) > 20 * len(data)
    budget = Budget(Limits(free_bytes=4 * MIB))
    with (
        open_app(MemorySource(data, name="app.apks"), budget=budget) as apk,
        pytest.raises(BudgetError, match="50 times its size in the file that holds it"),
    ):
        _read_all(apk)
    assert budget.inflated_bytes < 6 * MIB < 50 * len(base)


def test_a_stored_apk_that_claims_to_be_packed_elsewhere_has_the_ratio_of_its_own_size() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("base.apk", packed(whole_app()))
    outer = Archive(MemorySource(written.getvalue(), name="app.apks"))
    assert outer.size_in_file("base.apk") is None
    with open_app(written.getvalue()) as apk:
        assert apk.archive.packed_size == apk.archive.source.size


@pytest.mark.parametrize("depth", [2, 50])
def test_containers_in_containers_are_not_opened(depth: int) -> None:
    data = packed(whole_app())
    for _ in range(depth):
        data = packed({"base.apk": data})
    with pytest.raises(InputError, match=r"AndroidManifest\.xml: there is no such entry"):
        open_app(data)

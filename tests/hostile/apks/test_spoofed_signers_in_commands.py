"""What commands show of APKs whose signer is not verified."""

import json
from pathlib import Path

import pytest

from droidgate.cli import run
from droidgate.coverage.inputs import Item
from droidgate.coverage.scan_one import scan_one
from hostile.apks.made_signatures import forged_v3, key_of, plain_v3, with_pairs


def write(folder: Path, name: str, *, is_good: bool) -> Path:
    path = folder / name
    pairs = (plain_v3("victim"),) if is_good else (forged_v3("victim"), plain_v3("attacker"))
    path.write_bytes(with_pairs(*pairs))
    return path


@pytest.mark.parametrize("is_good", [True, False])
def test_inspect_shows_whether_the_signature_was_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_good: bool
) -> None:
    path = write(tmp_path, "app.apk", is_good=is_good)
    run(["inspect", str(path), "--json"])
    (signed,) = json.loads(capsys.readouterr().out)["signers"]
    assert signed["digests"] == [key_of("victim").digest]
    assert signed["verified"] is is_good
    assert (signed["problem"] is None) is is_good
    run(["inspect", str(path)])
    shown = capsys.readouterr().out
    assert ("(verified)" in shown, "not verified:" in shown) == (is_good, not is_good)


def test_a_scan_keeps_no_pin_for_a_signer_that_is_not_verified(tmp_path: Path) -> None:
    found = {}
    for is_good in (True, False):
        path = write(tmp_path, f"{is_good}.apk", is_good=is_good)
        scanned = scan_one(Item(path.name, "apk", str(path)))
        assert scanned.rows is not None
        (app,) = scanned.rows.tables["apps"]
        pins = {capability.pin is not None for capability in scanned.rows.tables["capabilities"]}  # type: ignore[union-attr]
        found[is_good] = app.signers_verified, pins  # type: ignore[union-attr]
    assert found == {True: (True, {True}), False: (False, {False})}

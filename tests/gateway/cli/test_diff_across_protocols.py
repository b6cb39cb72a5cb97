"""What `diff` shows of an app and its declaration in another protocol."""

import json
from pathlib import Path

from droidgate_phone.apps.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner


def test_the_page_and_the_document_show_what_the_protocol_changes(droidgate: Runner, tmp_path: Path) -> None:
    old = sample_apps_directory() / "clock-in" / "app"
    assert droidgate("convert", old, "--to", "mmcp", "-o", tmp_path).code == 0
    page = droidgate("diff", old, tmp_path)
    assert page.code == 0
    assert "mobile-mcp -> mmcp: because of the protocol" in page.out
    assert "breaking: the protocol mobile-mcp became mmcp" in page.out
    assert page.out.endswith("1 breaking; 3 capabilities are as they were\n")
    (change,) = droidgate.document("diff", old, tmp_path)["comparison"]["protocol_changes"]
    fidelity = json.loads((tmp_path / "fidelity.json").read_text())
    assert len(change["findings"]) == len(fidelity["conversions"][0]["findings"])
    assert droidgate("diff", old, tmp_path, "--fail-on", "breaking").code == 1

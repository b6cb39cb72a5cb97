"""The GitHub Action and the hooks of pre-commit: their own steps, run by bash in a repository."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.cli.samples import TIMER, TIMER_MANIFEST
from gateway.cli.test_sarif import check_log
from gateway.sources.formats_of_tests import write_tree
from requirements_of_tests import CHECKOUT

pytestmark = [pytest.mark.requires("git"), pytest.mark.slow]

ACTION = yaml.safe_load((CHECKOUT / ".github/actions/check/action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
XML = "app/src/main/res/xml/timer.xml"
ACCEPT = """
[[accept]]
code = "property-removed"
reason = "nobody sends it"
until = 2999-01-01
"""


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with an app whose working copy has lost a parameter."""
    monkeypatch.chdir(tmp_path)
    write_tree(tmp_path, {"app/src/main/AndroidManifest.xml": TIMER_MANIFEST, XML: TIMER})
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org")
    for command in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "first")):
        subprocess.run([*git, *command], check=True)
    lost = '            <param name="label" type="string" required="false" description="What for" />\n'
    assert lost in TIMER
    Path(XML).write_text(TIMER.replace(lost, ""))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


def run_action(**given: str) -> tuple[int, str]:
    """Run the step that checks; return its exit code and the job's summary."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "check"]
    inputs = {name: facts["default"] for name, facts in ACTION["inputs"].items()} | given
    values = {
        name: text.removeprefix("${{ inputs.").removesuffix(" }}") for name, text in step["env"].items()
    }
    names = {"RUNNER_TEMP": ".", "GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output"}
    environment = os.environ | names | {name: inputs[value] for name, value in values.items()}
    # GitHub runs `shell: bash` so.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    ran = subprocess.run(command, env=environment, check=False)
    assert Path("output").read_text().startswith("report=")
    return ran.returncode, Path("summary.md").read_text()


@pytest.mark.parametrize(("given", "code", "shown"), [
    ({}, 0, "no problems found"),
    ({"base": "main"}, 1, "1 breaking"),
    ({"base": "main", "fail-on": "security"}, 0, "1 breaking"),
    ({"base": "main", "accept": "accept.toml"}, 0, "1 accepted"),
    ({"base": "main", "source": "app"}, 1, "1 breaking"),
    ({"base": "nosuch"}, 3, "    error: git:nosuch: the repository has no such revision"),
    ({"source": "nosuch"}, 3, "    error: nosuch: cannot be read"),
], ids=lambda value: ",".join(value.values()) if isinstance(value, dict) else None)  # fmt: skip
def test_the_action_fails_by_the_change_and_writes_a_summary(
    given: dict[str, str], code: int, shown: str
) -> None:
    Path("accept.toml").write_text(ACCEPT)
    returned, summary = run_action(**given)
    assert (returned, shown in summary) == (code, True)
    logs = list(Path().glob("droidgate-*.sarif"))
    assert len(logs) == 2 or code != 1
    for log in logs:
        check_log(json.loads(log.read_text()))


@pytest.mark.parametrize(("hook", "arguments", "code"), [
    ("droidgate-lint", None, 0),
    ("droidgate-diff", None, 1),
    ("droidgate-diff", ["git:main", ".", "--fail-on", "security"], 0),
    ("droidgate-convert", ["app", "--to", "mcp", "-o", "out"], 1),
])  # fmt: skip
def test_a_hook_runs_as_pre_commit_runs_it(hook: str, arguments: list[str] | None, code: int) -> None:
    (entry,) = [item for item in HOOKS if item["id"] == hook]
    assert entry["always_run"], "pre-commit gives no files of a commit that only deletes some"
    words = [*shlex.split(entry["entry"]), *(arguments or entry.get("args", []))]
    assert subprocess.run(words, check=False).returncode == code


@pytest.mark.parametrize(("named", "hint"), [
    ("main", "check the path, or write git:main for a revision"),
    ("new.json", "check the path"),
])  # fmt: skip
def test_a_revision_without_its_prefix_is_explained(named: str, hint: str) -> None:
    ran = subprocess.run(["droidgate", "diff", named, "."], capture_output=True, text=True, check=False)
    assert ran.stderr.endswith(f"hint: {hint}\n")


def test_the_page_uses_inputs_and_hooks_that_exist() -> None:
    page = (CHECKOUT / "docs/guides/in-ci.md").read_text(encoding="utf-8")
    blocks: list[Any] = [yaml.safe_load(block.split("```")[0]) for block in page.split("```yaml\n")[1:]]
    workflow, hooks = blocks
    assert set(workflow["jobs"]["agents"]["steps"][1]["with"]) <= set(ACTION["inputs"])
    assert [item["id"] for item in hooks["repos"][0]["hooks"]] == [item["id"] for item in HOOKS]

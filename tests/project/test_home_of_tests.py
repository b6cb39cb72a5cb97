"""Tests keep nothing in the home folder of whoever runs them."""

import os
import subprocess
import sys
from pathlib import Path

from droidgate_mappings.user_folders import HOME_VARIABLE
from requirements_of_tests import CHECKOUT


def test_a_run_of_tests_leaves_the_home_folder_as_it_is(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    kept.pop(HOME_VARIABLE, None)
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider"]
    # The cache of the files of a phone's apps is the first thing a reading of a phone makes.
    subprocess.run(
        [*command, "tests/gateway/devices/test_device.py"],
        cwd=CHECKOUT,
        env={**kept, "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert list(tmp_path.iterdir()) == []

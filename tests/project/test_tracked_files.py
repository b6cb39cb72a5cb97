"""No file of the project knows the machine it was written on."""

import subprocess
from pathlib import Path

from requirements_of_tests import CHECKOUT, GIT, require

# In pieces, so that this file does not have what it looks for. A path begins where no other path goes on.
FOLDERS = "|".join([*(f"/{name}/" for name in ("work", "root")), f"{Path.home()}/"])
HOSTS = r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs[.]|repo1?[.]maven[.]|deb[.]debian[.]org"


def test_no_machine_path_and_no_index_host() -> None:
    require("git-checkout")
    pattern = rf"(^|[^A-Za-z0-9_.~/-])({FOLDERS})|{HOSTS}"
    command = [*GIT, "grep", "--untracked", "--text", "--extended-regexp", "--files-with-matches", pattern]
    found = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (1, "", "")

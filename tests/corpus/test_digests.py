"""What is read from each file of the corpus stays what it is, byte for byte of the source and of the model.

`make refresh-golden` writes the tables anew; a line that changes is a reading that changed: look at it.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from droidgate.sources import read_source
from droidgate_mappings.model.capability import CapabilitySet
from droidgate_mappings.model.errors import InputError
from requirements_of_tests import require

FOLDERS = ("app_actions", "appfunctions", "mmcp", "mobile_mcp", "other")


def readings(corpus: Path, folder: str) -> Iterator[str]:
    """Yield a line for each file: its name, its digest, and the digest of what it declares or `refused`."""
    for path in sorted((corpus / folder).iterdir()):
        if path.name == "index.tsv":
            continue
        try:
            declared = CapabilitySet(providers=read_source(str(path)).providers)
        except InputError:
            outcome = "refused"
        else:
            outcome = declared.content_digest() if declared.providers else "declares nothing"
        yield f"{path.name}\t{hashlib.sha256(path.read_bytes()).hexdigest()}\t{outcome}\n"


@pytest.mark.requires("corpus")
@pytest.mark.parametrize("folder", FOLDERS)
def test_each_file_of_the_corpus_reads_as_it_did(folder: str, golden: Callable[[str, str], None]) -> None:
    golden(f"corpus/{folder}.tsv", "".join(readings(require("corpus"), folder)))

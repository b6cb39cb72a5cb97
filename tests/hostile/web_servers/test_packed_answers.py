"""A web server whose answers unpack to far more than they are: nothing of them is unpacked."""

import gzip
import tracemalloc

import pytest

from droidgate.coverage import remote_files
from droidgate_mappings.model.errors import InputError
from gateway.coverage_scan.test_inputs import serving

BOMB = gzip.compress(bytes(200 << 20), 9)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "GZIP"])
@pytest.mark.parametrize("name", ["app.apk", "folder/"])
def test_a_packed_answer_is_refused_before_it_is_unpacked(coding: str, name: str) -> None:
    read = remote_files.open_remote if name.endswith("apk") else remote_files.find_remote
    with serving(BOMB) as (address, _):
        tracemalloc.start()
        with pytest.raises(InputError, match=f"packs its answers .{coding.lower()}. although"):
            read(f"{address}/{coding}/{name}")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 32 << 20

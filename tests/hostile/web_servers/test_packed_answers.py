"""A web server whose answers unpack to far more than they are: nothing of them is unpacked."""

import gzip
import http.server
import threading
import tracemalloc
from collections.abc import Iterator

import pytest

from droidgate.coverage import remote_files
from droidgate_mappings.model.errors import InputError

BOMB = gzip.compress(bytes(200 << 20), 9)


class _Packing(http.server.BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("Accept-Encoding", ""))
        self.send_response(200)
        self.send_header("Content-Encoding", self.path.strip("/").partition("/")[0])
        self.send_header("Content-Length", str(len(BOMB)))
        self.end_headers()
        self.wfile.write(BOMB)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.fixture
def server() -> Iterator[str]:
    _Packing.asked = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Packing) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


@pytest.mark.parametrize("coding", ["gzip", "deflate", "GZIP"])
@pytest.mark.parametrize("name", ["app.apk", "folder/"])
def test_a_packed_answer_is_refused_before_it_is_unpacked(server: str, coding: str, name: str) -> None:
    url = f"{server}/{coding}/{name}"
    tracemalloc.start()
    with pytest.raises(InputError, match=f"packs its answers .{coding.lower()}. although"):
        remote_files.open_remote(url) if name.endswith("apk") else remote_files.find_remote(url)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20
    assert set(_Packing.asked) == {"identity"}

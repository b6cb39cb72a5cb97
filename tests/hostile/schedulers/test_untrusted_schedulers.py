"""What answers at the address of `--cluster` runs code on this machine: Dask's messages are pickled."""

import os
import pickle
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from droidgate.coverage.cluster import check_cluster
from droidgate_mappings.model.errors import UsageError
from gateway.cli.program_runs import run_process

pytest.importorskip("distributed")


class Attack:
    """Makes a file where it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, tuple[str, int]]:
        return os.open, (str(self.file), os.O_CREAT | os.O_WRONLY)


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    return tmp_path / "made by the scheduler"


@pytest.fixture
def impostor(proof: Path) -> Iterator[tuple[int, list[str]]]:
    """Something that answers every connection with a pickle; the connections it had."""
    message = pickle.dumps(Attack(proof))
    seen: list[str] = []
    with closing(socket.create_server(("0.0.0.0", 0))) as server:

        def answer() -> None:
            while True:
                try:
                    connection, address = server.accept()
                except OSError:
                    return
                seen.append(address[0])
                with connection:
                    connection.sendall(struct.pack("<QQQ", len(message) + 16, 1, len(message)) + message)

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1], seen


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["tcp", "ws", "wss", "ucx"])
def test_a_scheduler_at_an_address_of_every_machine_is_not_called(
    scheme: str, impostor: tuple[int, list[str]], proof: Path, tmp_path: Path
) -> None:
    port, seen = impostor
    (tmp_path / "a.json").write_text('{"tools": []}')
    address = f"{scheme}://0.0.0.0:{port}"
    run = run_process("scan", tmp_path / "a.json", "--catalog", tmp_path / "c", "--cluster", address)
    assert run.code == 2
    first, second = run.err.splitlines()
    assert "a scheduler runs code on this machine" in first
    assert second.startswith("hint: use tls://")
    assert "--trust-scheduler" in second
    assert seen == []
    assert not proof.exists()
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    "host", ["10.0.0.7", "dask.example", "127.0.0.1.example.com", "localhost.example", "[::2]", "0.0.0.0"]
)
def test_a_name_that_only_looks_like_this_machine_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="runs code on this machine"):
        check_cluster(f"tcp://{host}:8786", is_trusted=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "[::1]"])
def test_a_scheduler_on_this_machine_is_called(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def note(address: tuple[str, int], **_: object) -> None:
        called.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", note)
    with pytest.raises(Exception, match="cannot be reached"):
        check_cluster(f"tcp://{host}:8786", is_trusted=False)
    with pytest.raises(Exception, match="cannot be reached"):
        check_cluster("tcp://10.0.0.7:8786", is_trusted=True)
    with pytest.raises(Exception, match="cannot be reached"):
        check_cluster("tls://10.0.0.7:8786", is_trusted=False)
    assert called == [host.strip("[]"), "10.0.0.7", "10.0.0.7"]


def test_help_says_what_a_scheduler_may_do() -> None:
    reported = " ".join(run_process("scan", "--help", COLUMNS="200").out.split())
    assert "it can run code here" in reported
    assert "--trust-scheduler" in reported

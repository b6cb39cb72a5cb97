"""Scanning on a Dask cluster: the same function, in the same kind of guarded process, on many machines.

Each Dask worker keeps one process of `process_pool`, so a hostile file costs that process there as it does
here, and the rows are the same. The inputs have to be where the workers can read them: on a shared disk, or
behind a URL.

Dask's messages are pickled: a scheduler runs what it likes in every client and worker that connects to it. So
its address has to prove which one answers, or the user has to say that nobody else can.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from ipaddress import ip_address
from itertools import islice
from queue import Empty, Queue
from typing import Any, Final, NoReturn

from droidgate.computer.optional_packages import need
from droidgate.coverage.process_pool import PoolAnswer, PoolSettings, StandingWorker
from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_results import Scanned
from droidgate_mappings.model.errors import InputError, UsageError, option_hint
from droidgate_mappings.records import dataclass, field

CHUNK: Final = 16
"""Inputs of one task."""

_TASKS_PER_THREAD: Final = 3
_RETRIES: Final = 3
_MARGIN: Final = 30.0
"""Seconds that a task may wait and start, beyond what its inputs may take."""

_LOOKS_EACH: Final = 1.0
_LET_GO: Final = 5.0
_RUNNING: Final = "running"
_NOT_ITS_FAULT: Final = frozenset({"cancelled", "lost"})
"""What becomes of a task when its cluster goes away."""

_PACKAGE: Final = "droidgate"
_CONNECT: Final = 10
_FIRST_WORKER: Final = 60
"""Seconds: some clusters start their workers when there is work."""

_ADDRESS: Final = re.compile(r"(?P<scheme>tcp|tls|ws|wss|ucx)://(?P<host>[^\s/]+):(?P<port>\d{1,5})")
_WITH_CERTIFICATE: Final = frozenset({"tls"})
_HOW_TO_WRITE: Final = "an address looks like tls://HOST:8786"
_ADDRESS_HINT: Final = f"is `dask scheduler` running there, and is it its address? {_HOW_TO_WRITE}"

Chunk = Sequence[Item]
ChunkAnswer = list[tuple[dict[str, Any], bytes]]


class _OtherVersionError(Exception):
    """This worker would make other rows."""


def scan_chunk(items: Sequence[dict[str, Any]], settings: PoolSettings, expected: str) -> ChunkAnswer:
    """Scan some inputs on a worker of a cluster; one input after the other, as in a process pool.

    Args:
        items: The inputs as JSON values.
        settings: How the process next to the worker works.
        expected: The version of droidgate that makes the rows of this scan.

    Returns:
        The head and the rows of each, in order.
    """
    if version(_PACKAGE) != expected:
        raise _OtherVersionError
    lock, workers = _beside_this_worker()
    with lock:
        if settings not in workers:
            for worker in workers.values():
                worker.end()
            workers.clear()
            workers[settings] = StandingWorker(settings)
        answers = workers[settings].scan(map(Item.from_json, items))
    answers_by_source = {answer.item.source: (answer.head, answer.rows) for answer in answers}
    return [answers_by_source[item["source"]] for item in items]


@cache
def _beside_this_worker() -> tuple[threading.Lock, dict[PoolSettings, StandingWorker]]:
    """Return this process's guarded worker, with the lock that lets one task at a time use it."""
    return threading.Lock(), {}


def _try_to_reach(written: re.Match[str]) -> None:
    """Connect to an address, and let go of it.

    Where nobody listens, or something else does, Dask tries for long, and its client complains when it is
    thrown away. A scheduler behind `tcp://` speaks first (distributed.comm, the handshake).

    Raises:
        OSError: no scheduler answers there.
    """
    host, port = written["host"].strip("[]"), int(written["port"])
    with socket.create_connection((host, port), timeout=_CONNECT) as connection:
        if written["scheme"] == "tcp" and not connection.recv(1):
            raise ConnectionError("what answers is not a scheduler")


def check_cluster(address: str, *, is_trusted: bool) -> None:
    """Refuse a cluster that cannot scan, before anything is made for a scan on it.

    Args:
        address: Its scheduler.
        is_trusted: The user lets the scheduler that answers there run code here.

    Raises:
        UsageError: Dask is not installed, or the address is none; or anybody on the way could answer there.
        InputError: the cluster cannot be reached, has no worker, or one without this version of droidgate.
    """
    cluster = Cluster(address, PoolSettings())
    need("distributed", "cluster")
    if not is_trusted:
        _refuse_open_network(cluster.written())
    with cluster.connected() as client:
        cluster.check_workers(client)


def _refuse_open_network(written: re.Match[str]) -> None:
    """Refuse a scheduler that anybody on the network can impersonate: what it sends is run.

    Raises:
        UsageError: the connection has no certificate, and leaves this machine.
    """
    host = written["host"].strip("[]")
    if written["scheme"] in _WITH_CERTIFICATE or host.lower() == "localhost":
        return
    with suppress(ValueError):
        if ip_address(host).is_loopback:
            return
    message = (
        f"a scheduler runs code on this machine, and {written['scheme']}:// does not prove which one answers"
    )
    hint = option_hint(
        "use tls://, a tunnel to this machine (tcp://127.0.0.1:PORT), or {}",
        "--trust-scheduler",
        "trust_scheduler=True",
    )
    raise UsageError(message, place=written[0], hint=hint)


@dataclass(slots=True)
class _Task:
    """A chunk on its way: its futures (a late one has two), and since when."""

    items: Chunk
    futures: list[Any]
    since: float


@dataclass(slots=True)
class Cluster:
    """A Dask cluster that scans inputs.

    Args:
        address: Its scheduler, such as `tcp://host:8786`.
        settings: How the process next to each worker works.
        chunk: Inputs of one task.
    """

    address: str
    settings: PoolSettings
    chunk: int = CHUNK
    _tasks: dict[str, _Task] = field(default_factory=dict)
    _checked: frozenset[str] = frozenset()
    _version: str = field(default_factory=lambda: version(_PACKAGE))

    def run(self, items: Iterable[Item]) -> Iterator[PoolAnswer]:
        """Yield an answer for each input, as they come.

        A task whose worker dies is done again elsewhere; one that is late is given to a second worker, and
        the first answer counts. An input whose task fails again and again by itself is a result too.

        Raises:
            UsageError: Dask is not installed, or the address is none.
            InputError: the cluster cannot be reached, or goes away; it has no worker, or one without this
                version of droidgate.
        """
        with self.connected() as client:
            self.check_workers(client)
            yield from self._run(client, iter(items))

    def written(self) -> re.Match[str]:
        """Return the parts of the address.

        Raises:
            UsageError: the text is not an address.
        """
        written = _ADDRESS.fullmatch(self.address)
        if written is None:
            message = f"{self.address!r} is not the address of a scheduler"
            raise UsageError(message, hint=_HOW_TO_WRITE)
        return written

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """Hold a client of the cluster.

        Raises:
            UsageError, InputError: as `run`.
        """
        distributed = need("distributed", "cluster")
        written = self.written()
        try:
            _try_to_reach(written)
            client = distributed.Client(self.address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise self._failure(f"the cluster cannot be reached: {reason}", _ADDRESS_HINT) from None
        try:
            yield client
        except OSError:
            raise self._gone() from None
        finally:
            if client.status == _RUNNING:
                for task in self._tasks.values():
                    client.cancel(task.futures, force=True)
            client.close(timeout=_LET_GO)

    def _failure(self, message: str, hint: str | None = None) -> InputError:
        return InputError(message, place=self.address, hint=hint)

    def _gone(self) -> InputError:
        hint = "what has been scanned is kept: the same scan goes on from there"
        return self._failure("the cluster is gone", hint)

    def check_workers(self, client: Any) -> None:
        """Refuse a cluster whose workers would fail at every input, or make other rows.

        A worker without droidgate dies of a task of ours, so it is asked by a function of Python's own.

        Raises:
            InputError: it is such a cluster, or has no worker.
        """
        try:
            client.submit(version, _PACKAGE, pure=False).result(timeout=_FIRST_WORKER)
        except TimeoutError:
            hint = "`dask worker ADDRESS` starts one"
            raise self._failure("the cluster has no worker that takes work", hint) from None
        except ImportError:
            self._refuse_without_droidgate()
        self._check_new_workers(client, client.nthreads())

    def _refuse_without_droidgate(self) -> NoReturn:
        hint = "install droidgate with its extra `cluster` where the workers run"
        raise self._failure("a worker of the cluster has no droidgate", hint) from None

    def _check_new_workers(self, client: Any, addresses: Iterable[str]) -> None:
        """Look at workers that have joined since the last look."""
        joined = sorted(frozenset(addresses) - self._checked)
        if not joined:
            return
        versions = client.run(version, _PACKAGE, workers=joined, on_error="return")
        for address, item in versions.items():
            if isinstance(item, ImportError):
                self._refuse_without_droidgate()
            if item == self._version:
                self._checked |= {address}
            elif not isinstance(item, Exception):  # one that went away meanwhile does not count
                message = f"a worker of the cluster has droidgate {item}, this is {self._version}"
                raise self._failure(message, "the same version makes the same rows")

    def _run(self, client: Any, source: Iterator[Item]) -> Iterator[PoolAnswer]:
        ended: Queue[Any] = Queue()
        waiting: list[Chunk] = []
        is_over = False
        while time.monotonic() < self.settings.ends_at:
            threads = client.nthreads()
            self._check_new_workers(client, threads)
            most = max(1, sum(threads.values())) * _TASKS_PER_THREAD
            while len(self._tasks) < most and (waiting or not is_over):
                chunk = waiting.pop() if waiting else list(islice(source, self.chunk))
                is_over = is_over or not chunk
                if chunk:
                    self._submit(client, ended, chunk)
            if not self._tasks:
                return
            if client.status != _RUNNING:
                raise self._gone()
            with suppress(Empty):
                yield from self._take(client, ended.get(timeout=_LOOKS_EACH), waiting)
            self._help_late_ones(client, ended)

    def _submit(self, client: Any, ended: Queue[Any], chunk: Chunk) -> None:
        future = self._future(client, chunk)
        self._tasks[chunk[0].source] = _Task(chunk, [future], time.monotonic())
        future.add_done_callback(ended.put)

    def _future(self, client: Any, chunk: Chunk) -> Any:
        values = [item.as_json() for item in chunk]
        one_process = PoolSettings(
            workers=1,
            memory=self.settings.memory,
            deadline=self.settings.deadline,
            known_file=self.settings.known_file,
            work=self.settings.work,
        )
        return client.submit(scan_chunk, values, one_process, self._version, pure=False, retries=_RETRIES)

    def _take(self, client: Any, future: Any, waiting: list[Chunk]) -> Iterator[PoolAnswer]:
        """Yield what a task gave; what failed is tried in pieces."""
        name = next((name for name, task in self._tasks.items() if future in task.futures), None)
        if name is None:  # the other one of a late pair was sooner
            return
        task = self._tasks[name]
        if future.status == "finished":
            del self._tasks[name]
            client.cancel([twin for twin in task.futures if twin is not future], force=True)
            for item, (head, rows) in zip(task.items, future.result(), strict=True):
                yield PoolAnswer(item, head, rows)
            return
        task.futures.remove(future)
        if task.futures:
            return
        del self._tasks[name]
        if future.status in _NOT_ITS_FAULT:
            waiting.append(task.items)
            return
        if len(task.items) > 1:
            waiting.extend([item] for item in task.items)
            return
        reason = "the workers of the cluster that scanned it died or failed, again and again"
        with suppress(Exception):
            reason += f": {type(future.exception()).__name__}"
        yield PoolAnswer.of(task.items[0], Scanned.failed(task.items[0].source, "crashed", reason))

    def _help_late_ones(self, client: Any, ended: Queue[Any]) -> None:
        now = time.monotonic()
        for task in self._tasks.values():
            patience = self.settings.deadline * len(task.items) + _MARGIN
            if len(task.futures) == 1 and now - task.since > patience:
                future = self._future(client, task.items)
                task.futures.append(future)
                future.add_done_callback(ended.put)

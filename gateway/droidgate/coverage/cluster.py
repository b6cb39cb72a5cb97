"""Scanning on a Dask cluster: the same function, in the same kind of guarded process, on many machines.

Each Dask worker keeps one process of `process_pool`, so a hostile file costs that process there as it does
here, and the rows are the same. The inputs have to be where the workers can read them: on a shared disk, or
behind a URL.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from queue import Empty, Queue
from typing import Any, Final

from droidgate.coverage.extras import need
from droidgate.coverage.inputs import Item
from droidgate.coverage.process_pool import Answer, PoolSettings, StandingWorker
from droidgate.coverage.scanned import Scanned
from droidgate.model.errors import InputError

CHUNK: Final = 16
"""Inputs of one task."""

_TASKS_PER_THREAD: Final = 3
_RETRIES: Final = 3
_MARGIN: Final = 30.0
"""Seconds that a task may wait and start, beyond what its inputs may take."""

_LOOKS_EACH: Final = 1.0
_CONNECT: Final = 30

Chunk = Sequence[Item]
ChunkAnswer = list[tuple[dict[str, Any], bytes]]


def scan_chunk(items: Sequence[dict[str, Any]], settings: PoolSettings) -> ChunkAnswer:
    """Scan some inputs on a worker of a cluster; one input after the other, as in a process pool.

    Args:
        items: The inputs as JSON values.
        settings: How the process beside the worker works.

    Returns:
        The head and the rows of each, in order.
    """
    lock, workers = _beside_this_worker()
    with lock:
        if settings not in workers:
            for other in workers.values():
                other.end()
            workers.clear()
            workers[settings] = StandingWorker(settings)
        answers = workers[settings].scan(map(Item.from_json, items))
    found = {one.item.source: (one.head, one.rows) for one in answers}
    return [found[one["source"]] for one in items]


@cache
def _beside_this_worker() -> tuple[threading.Lock, dict[PoolSettings, StandingWorker]]:
    """Return this process's guarded worker, with the lock that lets one task at a time use it."""
    return threading.Lock(), {}


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
        settings: How the process beside each worker works.
        chunk: Inputs of one task.
    """

    address: str
    settings: PoolSettings
    chunk: int = CHUNK
    _tasks: dict[str, _Task] = field(default_factory=dict)

    def run(self, items: Iterable[Item]) -> Iterator[Answer]:
        """Yield an answer for each input, as they come.

        A task whose worker dies is done again elsewhere; one that is late is given to a second worker, and
        the first answer counts. An input whose task fails again and again by itself is a result too.

        Raises:
            UsageError: Dask is not installed.
            InputError: the cluster cannot be reached.
        """
        distributed = need("distributed", "cluster")
        try:
            client = distributed.Client(self.address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"the cluster cannot be reached: {error}", place=self.address) from None
        try:
            yield from self._run(client, iter(items))
        finally:
            for task in self._tasks.values():
                client.cancel(task.futures, force=True)
            client.close()

    def _run(self, client: Any, source: Iterator[Item]) -> Iterator[Answer]:
        ended: Queue[Any] = Queue()
        waiting: list[Chunk] = []
        is_over = False
        while True:
            most = max(1, sum(client.nthreads().values())) * _TASKS_PER_THREAD
            while len(self._tasks) < most and (waiting or not is_over):
                chunk = waiting.pop() if waiting else list(islice(source, self.chunk))
                is_over = is_over or not chunk
                if chunk:
                    self._submit(client, ended, chunk)
            if not self._tasks:
                return
            with suppress(Empty):
                yield from self._take(client, ended.get(timeout=_LOOKS_EACH), waiting)
            self._help_late_ones(client, ended)

    def _submit(self, client: Any, ended: Queue[Any], chunk: Chunk) -> None:
        future = self._future(client, chunk)
        self._tasks[chunk[0].source] = _Task(chunk, [future], time.monotonic())
        future.add_done_callback(ended.put)

    def _future(self, client: Any, chunk: Chunk) -> Any:
        values = [one.as_json() for one in chunk]
        one_process = PoolSettings(
            workers=1,
            memory=self.settings.memory,
            deadline=self.settings.deadline,
            known=self.settings.known,
            work=self.settings.work,
        )
        return client.submit(scan_chunk, values, one_process, pure=False, retries=_RETRIES)

    def _take(self, client: Any, future: Any, waiting: list[Chunk]) -> Iterator[Answer]:
        """Yield what a task gave; what failed is tried in pieces."""
        name = next((name for name, one in self._tasks.items() if future in one.futures), None)
        if name is None:  # the other one of a late pair was sooner
            return
        task = self._tasks[name]
        if future.status == "finished":
            del self._tasks[name]
            client.cancel([one for one in task.futures if one is not future], force=True)
            for item, (head, rows) in zip(task.items, future.result(), strict=True):
                yield Answer(item, head, rows)
            return
        task.futures.remove(future)
        if task.futures:
            return
        del self._tasks[name]
        if len(task.items) > 1:
            waiting.extend([one] for one in task.items)
            return
        reason = "the workers of the cluster that scanned it died or failed, again and again"
        with suppress(Exception):
            reason += f": {type(future.exception()).__name__}"
        yield Answer.of(task.items[0], Scanned.failed(task.items[0].source, "crashed", reason))

    def _help_late_ones(self, client: Any, ended: Queue[Any]) -> None:
        now = time.monotonic()
        for task in self._tasks.values():
            patience = self.settings.deadline * len(task.items) + _MARGIN
            if len(task.futures) == 1 and now - task.since > patience:
                future = self._future(client, task.items)
                task.futures.append(future)
                future.add_done_callback(ended.put)

"""Scanning sources into a catalog, on this machine or on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from droidgate.computer.cores import usable_cores
from droidgate.coverage.cluster import Cluster, check_cluster
from droidgate.coverage.process_pool import PoolSettings, ProcessPool
from droidgate.coverage.scan import Executor, ScanRequest, ScanResult, Watcher, scan as scan_request

_MEBIBYTE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """How a scan works.

    Attributes:
        known: Folders of further catalogs whose rows need not be made again.
        workers: Processes; one for each core by default.
        memory: Memory of each, in MiB.
        deadline: Time for each input, in seconds.
        cluster: Address of a Dask scheduler, which scans instead of this machine.
        trust_scheduler: Connect to the scheduler although its connection is not encrypted.
        keep_log: Keep the log next to the catalog.
        own_apps: Read shims and droidgate's agent apps on phones, too.
    """

    known: tuple[str, ...] = ()
    workers: int | None = None
    memory: int = 1024
    deadline: float = 60.0
    cluster: str | None = None
    trust_scheduler: bool = False
    keep_log: bool = False
    own_apps: bool = False


def scan(
    *sources: str | PathLike[str],
    catalog: str | PathLike[str],
    options: ScanOptions | None = None,
    watcher: Watcher | None = None,
) -> ScanResult:
    """Scan sources into a catalog, which afterwards holds exactly them; needs the extra `coverage`.

    A scan that did not end goes on where it was; content that an earlier catalog has is not read again.

    Args:
        sources: As `droidgate.read` takes them, also `@FILE` for a list of sources, and web addresses.
        catalog: The catalog's folder.
        options: How it works.
        watcher: What is called as it goes on.

    Raises:
        UsageError: a source or an option is invalid, a package is missing, or an unfinished scan had
            other settings; or anybody on the network could answer as the cluster's scheduler.
        InputError: a source does not exist, nothing can be scanned, or the folder cannot be written.
        DeviceError: a phone is not there.
    """
    chosen = options or ScanOptions()
    address = chosen.cluster
    if address is not None:
        check_cluster(address, is_trusted=chosen.trust_scheduler)

    def executor(settings: PoolSettings) -> Executor:
        return ProcessPool(settings) if address is None else Cluster(address, settings)

    request = ScanRequest(
        sources=[fspath(source) for source in sources],
        folder=Path(catalog),
        pool=PoolSettings(
            workers=chosen.workers or usable_cores(),
            memory=chosen.memory * _MEBIBYTE,
            deadline=chosen.deadline,
        ),
        earlier=chosen.known,
        keeps_log=chosen.keep_log,
        own_apps=chosen.own_apps,
        make_executor=executor,
    )
    return scan_request(request, watcher)

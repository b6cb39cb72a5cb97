"""What a cluster does with late, failing and strange workers; a cluster that is asked step by step."""

from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

from droidgate.coverage import cluster
from droidgate.coverage.cluster import Cluster
from droidgate.coverage.inputs import Item
from droidgate.coverage.process_pool import PoolAnswer, PoolSettings
from droidgate_mappings.model.errors import InputError, UsageError

ITEMS = [Item(name, "apk", f"/{name}.apk") for name in "abcd"]


class Future:
    """A task of a made-up cluster; the test says when it ends."""

    def __init__(self, items: list[dict[str, Any]]) -> None:
        self.items = items
        self.status = "pending"
        self.callbacks: list[Callable[[Any], None]] = []
        self.will_be: str | None = None

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self.callbacks.append(callback)
        if self.will_be is not None:
            self.end(self.will_be)

    def end(self, status: str) -> None:
        if self.status == "pending":
            self.status = status
            for callback in self.callbacks:
                callback(self)

    def result(self) -> list[Any]:
        return [({"source": item["source"], "outcome": "read"}, b"") for item in self.items]

    def exception(self) -> Exception:
        return RuntimeError("it failed")


class Client:
    """A made-up cluster: calls `on_submit` with each task and how many there have been."""

    def __init__(self, on_submit: Callable[["Client", Future, int], None]) -> None:
        self.on_submit = on_submit
        self.futures: list[Future] = []
        self.status = "running"

        self.joined: dict[str, Any] = {"worker": version("droidgate")}
        self.asked: list[str] = []

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.joined, 1)

    def run(self, work: Any, name: str, *, workers: list[str], on_error: str) -> dict[str, Any]:
        assert (work, name, on_error) == (version, "droidgate", "return")
        self.asked += workers
        return {worker: self.joined[worker] for worker in workers}

    def submit(self, work: Any, items: Any, settings: Any, expected: str, **options: Any) -> Future:
        assert work is cluster.scan_chunk
        assert expected == version("droidgate")
        assert options["retries"] == 3
        del settings
        future = Future(items)
        self.futures.append(future)
        self.on_submit(self, future, len(self.futures))
        return future

    def cancel(self, futures: list[Future], *, force: bool) -> None:
        assert force
        for future in futures:
            future.end("cancelled")


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_LOOKS_EACH", 0.001)
    monkeypatch.setattr(cluster, "_MARGIN", 0.0)


def run_on(client: Client, *, chunk: int = 2) -> Iterator[PoolAnswer]:
    settings = PoolSettings(deadline=0.01)
    return Cluster("tcp://made.up:1", settings, chunk)._run(client, iter(ITEMS))


def test_a_late_task_is_given_to_a_second_worker_and_the_first_answer_counts() -> None:
    def on_submit(_: Client, future: Future, number: int) -> None:
        if number > 2:  # the two tasks of four inputs are late; their second tries are not
            future.will_be = "finished"

    client = Client(on_submit)
    answers = list(run_on(client))
    assert sorted(each.item.source for each in answers) == ["a", "b", "c", "d"]
    assert len(client.futures) == 4
    assert [each.status for each in client.futures] == ["cancelled", "cancelled", "finished", "finished"]


def test_an_answer_of_the_first_worker_after_the_second_one_was_asked_counts_once() -> None:
    def on_submit(client: Client, future: Future, number: int) -> None:
        if number == 3:  # the second try of the first task: now the first try ends after all, and then it
            client.futures[0].end("finished")
            future.will_be = "finished"
        elif number == 4:
            future.will_be = "finished"

    client = Client(on_submit)
    answers = list(run_on(client))
    assert sorted(answer.item.source for answer in answers) == ["a", "b", "c", "d"]


def test_a_task_that_fails_is_tried_input_by_input_and_only_the_guilty_one_is_a_row() -> None:
    def on_submit(_: Client, future: Future, __: int) -> None:
        is_guilty = any(each["source"] == "b" for each in future.items)
        future.will_be = "error" if is_guilty else "finished"

    answers = {each.item.source: each.head for each in run_on(Client(on_submit))}
    assert {name: head["outcome"] for name, head in answers.items()} == {
        "a": "read",
        "b": "crashed",
        "c": "read",
        "d": "read",
    }
    assert answers["b"]["reason"].endswith("again and again: RuntimeError")


def test_a_cluster_that_goes_away_is_an_error_and_no_row() -> None:
    def on_submit(client: Client, future: Future, number: int) -> None:
        future.will_be = "finished" if number == 1 else "cancelled"
        if number > 1:
            client.status = "closed"

    rows: list[str] = []
    with pytest.raises(InputError, match="the cluster is gone"):
        rows.extend(item.head["outcome"] for item in run_on(Client(on_submit)))
    assert "crashed" not in rows


@pytest.mark.parametrize(("reported", "message"), [
    (PackageNotFoundError("droidgate"), "a worker of the cluster has no droidgate"),
    ("0.0.9", "a worker of the cluster has droidgate 0.0.9, "),
])  # fmt: skip
def test_a_worker_that_joins_later_and_scans_otherwise_ends_the_scan(reported: Any, message: str) -> None:
    def on_submit(client: Client, future: Future, number: int) -> None:
        future.will_be = "finished"
        if number == 2:
            client.joined["late"] = reported

    with pytest.raises(InputError, match=message):
        list(run_on(Client(on_submit), chunk=1))


def test_workers_that_join_later_are_asked_once_and_one_that_leaves_again_is_no_matter() -> None:
    def on_submit(client: Client, future: Future, number: int) -> None:
        future.will_be = "finished"
        if number == 1:
            client.joined |= {"late": version("droidgate"), "gone": OSError("it is gone")}
        elif number == 4:
            del client.joined["gone"]

    client = Client(on_submit)
    assert len(list(run_on(client, chunk=1))) == 4
    assert (client.asked.count("worker"), client.asked.count("late")) == (1, 1)


def test_a_worker_of_another_version_makes_no_rows() -> None:
    with pytest.raises(cluster._OtherVersionError):
        cluster.scan_chunk([], PoolSettings(), "0.0.9")


class Asked:
    """A cluster that is asked what its workers are."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def submit(self, work: Any, name: str, **options: Any) -> "Asked":
        assert work is version, "a worker without droidgate dies of a task of ours"
        assert (name, options) == ("droidgate", {"pure": False})
        return self

    def result(self, **_: float) -> str:
        if isinstance(self.answer, Exception):
            raise self.answer
        return str(self.answer)

    def nthreads(self) -> dict[str, int]:
        return {"one": 1, "two": 1}

    def run(self, work: Any, name: str, *, workers: list[str], on_error: str) -> dict[str, str]:
        assert (work, name, on_error) == (version, "droidgate", "return")
        assert workers == ["one", "two"]
        return {"one": version("droidgate"), "two": self.result()}


@pytest.mark.parametrize(("reported", "message"), [
    (TimeoutError(), "has no worker that takes work"),
    (PackageNotFoundError("droidgate"), "a worker of the cluster has no droidgate"),
    ("0.0.9", "a worker of the cluster has droidgate 0.0.9, "),
])  # fmt: skip
def test_workers_that_could_not_scan_or_would_scan_otherwise_are_refused(reported: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Cluster("tcp://made.up:1", PoolSettings()).check_workers(Asked(reported))


def test_workers_of_this_version_are_taken() -> None:
    Cluster("tcp://made.up:1", PoolSettings()).check_workers(Asked(version("droidgate")))


@pytest.mark.parametrize("address", ["nonsense", "tcp://host", "host:8786", "tcp://:port"])
def test_an_address_that_is_none_is_reported_at_once(address: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a scheduler"):
        next(iter(Cluster(address, PoolSettings()).run(ITEMS)))

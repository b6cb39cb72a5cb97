"""Batches: many calls from a file, a few at once, with a journal from which a run goes on where it ended.

A call that was begun and whose end is not in the journal may have had its effect, so it is not made again.
Lists of MobileAgent's commands run in order instead, and end early as UFO's dispatcher does.
"""

from __future__ import annotations

import hashlib
import heapq
import os
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Literal, get_args

from droidgate.computer.private_files import lock_file
from droidgate_android.projects.project_files import check_regular
from droidgate_mappings.model.errors import DroidgateError, InputError, WriteError
from droidgate_mappings.model.json_values import Json, canonical_json, one_line_json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import decode_utf8, parse_json
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mobile_agent.wire import AgentCommand, AgentCommandResult, read_command

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_COMMANDS: Final = 10_000

_COMMANDS_HINT: Final = "write a JSON list of commands, or one command a line"


def read_command_file(path: str | os.PathLike[str]) -> tuple[AgentCommand, ...]:
    """Return the commands of a file: a JSON list, one command, or one command a line; skip blank lines.

    Raises:
        InputError: it cannot be read, or something in it is not a command; none of them may run then.
    """
    place = os.fspath(path)
    commands: list[AgentCommand] = []
    for value, where in _values(_read(path, place), place):
        commands.append(read_command(value, where))
        if len(commands) > MAX_COMMANDS:
            message = f"the file has more than {MAX_COMMANDS:,} commands"
            raise InputError(message, place=place, hint="split the file")
    if not commands:
        raise InputError("the file has no commands", place=place, hint=_COMMANDS_HINT)
    seen: set[str] = set()
    for command in commands:
        if command.call_id in seen:
            message = f'duplicate call_id "{command.call_id[:100]}"'
            raise InputError(message, place=place, hint="give each command its own")
        seen.add(command.call_id)
    return tuple(commands)


def run_commands(
    commands: Sequence[AgentCommand], call: Callable[[AgentCommand], Json]
) -> Iterator[AgentCommandResult]:
    """Run commands in order, and yield the outcome of each as soon as it is known.

    A tool that answers that it failed has answered: only a call without an answer ends the list.

    Args:
        commands: The commands.
        call: Runs one and returns what its tool answers. Raises `DroidgateError` where it does not answer.
    """
    has_failed = False
    for command in commands:
        if has_failed:
            yield AgentCommandResult.of_skipped(command)
            continue
        try:
            value = call(command)
        except DroidgateError as error:
            has_failed = True
            yield AgentCommandResult.of_failure(command, error.located)
        else:
            yield AgentCommandResult.of_value(command, value)


def _read(path: str | os.PathLike[str], place: str) -> str:
    check_regular(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "cannot be read"
        raise InputError(reason, place=place) from error
    if len(data) > MAX_BYTES:
        raise InputError(f"the file has more than {MAX_BYTES:,} bytes", place=place, hint="split the file")
    return decode_utf8(data, path=place)


def _values(text: str, place: str) -> Iterator[tuple[Json, str]]:
    """Yield each command with its place: a list by the position in it, else by its line."""
    if text.lstrip().startswith("["):
        values = parse_json(text, path=place)
        yield from ((value, f"{place}:/{index}") for index, value in enumerate(values))
        return
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) > 1 and lines[0][1].rstrip().endswith("}") and lines[1][1].lstrip().startswith("{"):
        for number, line in lines:
            yield parse_json(line, path=place, line=number), f"{place}:{number}"
    elif lines:
        yield parse_json(text, path=place), place


MAX_REQUESTS: Final = 100_000
MAX_LINE: Final = 1024 * 1024
"""Most bytes of one request."""

CallStatus = Literal["ok", "failed", "not-made", "interrupted"]

_MEMBERS: Final = ("capability", "arguments", "id", "device", "app", "protocol")
_HINT: Final = 'write one object a line: {"capability": "notes.create", "arguments": {"title": "Milk"}}'


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """One line of a batch.

    Attributes:
        id: Unique in the batch; the number of its line where none is stated.
        capability: What to call, as `droidgate call` takes it.
        arguments: Name -> value.
        device: Serial of the phone; None for the only one.
        app: Only capabilities of this package.
        protocol: Only capabilities of this format.
    """

    id: str
    capability: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    device: str | None = None
    app: str | None = None
    protocol: str | None = None

    def digest(self) -> str:
        """Return the SHA-256 of the request, by which a journal recognises it."""
        fields = [self.capability, dict(self.arguments), self.device, self.app, self.protocol]
        return hashlib.sha256(canonical_json(fields).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """How one call ended.

    Attributes:
        id: Id of the request.
        status: `interrupted` where it was begun and its end is not known; `not-made` where nothing ran, so
            that the next run makes it.
        outputs: What it returned, by name.
        error: The failure, one sentence; None where it succeeded.
        token: The failure token, where the failure has one.
        hint: What to do about the failure.
    """

    id: str
    status: CallStatus
    outputs: Mapping[str, Json] = field(default_factory=dict)
    error: str | None = None
    token: str | None = None
    hint: str | None = None


def read_batch(path: str | os.PathLike[str]) -> tuple[BatchRequest, ...]:
    """Return the requests of a batch file: a JSON object a line; blank lines are skipped.

    Raises:
        InputError: it is not a regular file, a line is not a request, or an id is there twice; nothing of the
            batch may run then.
    """
    requests: dict[str, BatchRequest] = {}
    for number, line in _lines(Path(path)):
        place = f"{os.fspath(path)}:{number}"
        request = _read_request(line, number, place)
        if request.id in requests:
            raise InputError(f"duplicate id {request.id!r}", place=place, hint="give each request its own id")
        requests[request.id] = request
        if len(requests) > MAX_REQUESTS:
            message = f"the batch has more than {MAX_REQUESTS:,} requests"
            raise InputError(message, place=place, hint="split the file")
    return tuple(requests.values())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    check_regular(path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), start=1):
                if len(line) > MAX_LINE:
                    message = f"the line has more than {MAX_LINE:,} bytes"
                    raise InputError(message, place=f"{path}:{number}", hint=_HINT)
                if line.strip():
                    yield number, line
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", place=str(path)) from error


def _read_request(line: bytes, number: int, place: str) -> BatchRequest:
    value = parse_json(line, path=place)
    if not isinstance(value, dict):
        raise InputError("the request is not a JSON object", place=place, hint=_HINT)
    unknown = next((name for name in value if name not in _MEMBERS), None)
    if unknown is not None:
        raise InputError(f"unknown member {unknown!r}", place=place, hint=suggest_name(unknown, _MEMBERS))
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        raise InputError("'arguments' is not a JSON object", place=place, hint=_HINT)
    texts = {name: _text(value, name, place) for name in _MEMBERS if name != "arguments"}
    if texts["capability"] is None:
        raise InputError("the request has no 'capability'", place=place, hint=_HINT)
    return BatchRequest(
        id=texts["id"] or str(number),
        capability=texts["capability"],
        arguments=arguments,
        device=texts["device"],
        app=texts["app"],
        protocol=texts["protocol"],
    )


def _text(value: Mapping[str, Json], name: str, place: str) -> str | None:
    text = value.get(name)
    if text is None:
        return None
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{name!r} is not a text", place=place, hint=_HINT)
    return text


class Journal:
    """The results of a batch, a JSON object a line, which are only ever appended.

    A call has a line before it is sent and one when it ended. Both are on the disk before the run goes on.
    A last line that a crash cut is dropped when the journal is opened.

    Args:
        file: The open file.
        begun: Digest of each request that was begun, by its id.
        ended: The outcomes so far, by id.
    """

    def __init__(self, file: BinaryIO, begun: Mapping[str, str], ended: Mapping[str, BatchOutcome]) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._begun = dict(begun)
        self._ended = dict(ended)

    def outcome(self, request: BatchRequest) -> BatchOutcome | None:
        """Return how a request ended in an earlier run, None where nothing ran of it yet.

        Raises:
            InputError: the journal has another request of this id.
        """
        digest, ended = self._begun.get(request.id), self._ended.get(request.id)
        if digest is None or (ended is not None and ended.status == "not-made"):
            return None
        if digest != request.digest():
            message = f"the journal has another request with the id {request.id!r}"
            raise InputError(message, hint="use a new file for results")
        if ended is not None:
            return ended
        message = "the call was begun and its end is not known; it may have had its effect"
        return BatchOutcome(request.id, "interrupted", error=message)

    def begin(self, request: BatchRequest) -> None:
        """Write that a request is about to be sent."""
        self._append({"id": request.id, "status": "begun", "request": request.digest()})

    def end(self, outcome: BatchOutcome) -> None:
        """Write how a request ended."""
        line: dict[str, Json] = {"id": outcome.id, "status": outcome.status}
        if outcome.status == "ok":
            line["outputs"] = dict(outcome.outputs)
        else:
            line |= {"error": outcome.error, "token": outcome.token}
        self._append(line)

    def _append(self, line: Mapping[str, Json]) -> None:
        data = one_line_json(dict(line)).encode() + b"\n"
        with self._lock:
            try:
                self._file.write(data)
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError as error:
                message = error.strerror or "cannot be written"
                raise WriteError(
                    message, place=self._file.name, hint="make room, and run the batch again"
                ) from error


@contextmanager
def open_journal(path: str | os.PathLike[str]) -> Iterator[Journal]:
    """Open a journal for appending; it is made where there is none.

    Raises:
        InputError: the file is not a regular one or not a journal, or another run uses it.
        WriteError: it cannot be made.
    """
    check_regular(path)
    try:
        file = Path(path).open("a+b")  # noqa: SIM115 - closed below
    except OSError as error:
        raise WriteError(error.strerror or "cannot be written", place=os.fspath(path)) from error
    with file:
        if not lock_file(file.fileno(), wait=False):
            hint = "wait, or use a new file"
            raise InputError("another run uses the file", place=os.fspath(path), hint=hint)
        file.seek(0)
        begun, ended, size = _read_journal(file, os.fspath(path))
        file.truncate(size)
        file.seek(0, os.SEEK_END)
        yield Journal(file, begun, ended)


def _read_journal(file: BinaryIO, place: str) -> tuple[dict[str, str], dict[str, BatchOutcome], int]:
    begun: dict[str, str] = {}
    ended: dict[str, BatchOutcome] = {}
    size = 0
    for number, line in enumerate(file, start=1):
        if not line.endswith(b"\n"):
            break
        size += len(line)
        where = f"{place}:{number}"
        value = parse_json(line, path=where)
        if not isinstance(value, dict) or not isinstance(value.get("id"), str):
            raise _no_journal(where)
        if value.get("status") == "begun" and isinstance(value.get("request"), str):
            begun[value["id"]] = value["request"]
            ended.pop(value["id"], None)
        elif value.get("status") in get_args(CallStatus) and value["id"] in begun:
            fields = (value["status"], value.get("outputs", {}), value.get("error"), value.get("token"))
            ended[value["id"]] = BatchOutcome(value["id"], *fields)
        else:
            raise _no_journal(where)
    return begun, ended, size


def _no_journal(place: str) -> InputError:
    return InputError("it is not the result file of a batch", place=place, hint="use a new file for results")


def run_batch(
    requests: Sequence[BatchRequest],
    call: Callable[[BatchRequest], BatchOutcome],
    journal: Journal,
    *,
    parallel: int = 4,
    lane_of: Callable[[BatchRequest], Hashable | None] = lambda _request: None,
    cancel: threading.Event | None = None,
) -> Iterator[BatchOutcome]:
    """Make the calls of a batch that an earlier run has not sent, and yield each outcome as it comes.

    Args:
        requests: The batch.
        call: Makes one call, from several threads at once. What it raises ends the run; the other calls on
            their way are waited for, and the one that raised counts as interrupted.
        journal: Where outcomes are written and earlier ones are read.
        parallel: How many calls are made at once.
        lane_of: Two requests of one lane are never on their way at once; None for a request without a lane.
        cancel: No further call begins once it is set; Ctrl-C sets it.

    Raises:
        InputError: the journal has another request of the same id.
        WriteError: the journal cannot be written.
    """
    earlier = [(request, journal.outcome(request)) for request in requests]
    yield from (outcome for _, outcome in earlier if outcome is not None)
    queue = _Queue((request for request, outcome in earlier if outcome is None), lane_of)
    busy: dict[Future[BatchOutcome], int] = {}

    def make(request: BatchRequest) -> BatchOutcome:
        journal.begin(request)
        outcome = call(request)
        journal.end(outcome)
        return outcome

    canceled = cancel or threading.Event()
    with ThreadPoolExecutor(max_workers=parallel) as pool:
        try:
            while True:
                while queue.startable and len(busy) < parallel and not canceled.is_set():
                    position, request = queue.take()
                    busy[pool.submit(make, request)] = position
                if not busy:
                    return
                done, _ = wait(busy, return_when=FIRST_COMPLETED)
                for future in done:
                    queue.release(busy.pop(future))
                yield from (future.result() for future in done)
        except KeyboardInterrupt:
            # The calls on their way are waited for: they end early, and their ends are written.
            canceled.set()
            raise


class _Queue:
    """Requests in their order, of which only the first of each lane can start.

    Args:
        requests: The requests.
        lane_of: See `run_batch`.

    Attributes:
        startable: A heap of the positions of requests that can start.
    """

    def __init__(
        self, requests: Iterable[BatchRequest], lane_of: Callable[[BatchRequest], Hashable | None]
    ) -> None:
        self._requests = list(requests)
        self._lanes = [lane_of(request) for request in self._requests]
        self._waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        self.startable: list[int] = []
        for position, lane in enumerate(self._lanes):
            if lane is None:
                self.startable.append(position)
            else:
                self._waiting[lane].append(position)
        self.startable += [queue.popleft() for queue in self._waiting.values()]
        heapq.heapify(self.startable)

    def take(self) -> tuple[int, BatchRequest]:
        """Return the first request that can start, with its position."""
        position = heapq.heappop(self.startable)
        return position, self._requests[position]

    def release(self, position: int) -> None:
        """Let the lane of a request that ended go on."""
        lane = self._lanes[position]
        if lane is not None and self._waiting[lane]:
            heapq.heappush(self.startable, self._waiting[lane].popleft())

"""What a phone answered, kept between runs: the commands that a reading runs, and what they printed.

One command checks all of it: the phone prints a digest of what the same commands print now. If the digest is
that of the kept answers, a reading takes them, and reads exactly what it would read if it asked.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from droidgate.computer.private_files import read_private, replace_private
from droidgate.computer.version import VERSION
from droidgate.devices.device import Answers, CommandResult, Device
from droidgate.devices.device_errors import (
    CommandFailedError,
    DeadlineError,
    DeviceOutputError,
    OutputLimitError,
    UnsafeArgumentError,
)
from droidgate.devices.quoting import digest_command
from droidgate.devices.service_shells import SECONDS_FOR_LISTING
from droidgate_mappings.model.errors import InputError, WriteError
from droidgate_mappings.records import dataclass
from droidgate_mappings.user_folders import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_FORM: Final = "droidgate.kept-answers/1"
_FOLDER: Final = "phone-answers"
_MAX_BYTES: Final = 16 * 1024 * 1024
_DIGEST: Final = re.compile(r"[0-9a-f]{32}  -\n")
_UNCHECKED: Final = ("getprop",)
"""Properties change all the time; those that a reading needs change with the build, which the key has."""


@dataclass(slots=True)
class KeptAnswers:
    """The answers of one phone.

    Attributes:
        device: The phone.
        answers: Each command with its answer, of the phone as it is now.
        known: How many of them were kept by an earlier run.
    """

    device: Device
    answers: Answers
    known: int

    def keep(self) -> None:
        """Keep the answers, if there are new ones.

        A folder that cannot be written is not an error: the next run asks again.
        """
        if len(self.answers) == self.known:
            return
        rows = [
            [command, answer.stdout.decode("latin-1"), answer.stderr.decode("latin-1"), answer.exit_status]
            for command, answer in self.answers.items()
        ]
        data = json.dumps({"form": _FORM, "droidgate": VERSION, "answers": rows}).encode()
        if len(data) <= _MAX_BYTES:
            with suppress(OSError, InputError, WriteError):
                replace_private(_path_of(self.device), data)


def kept_answers(device: Device) -> KeptAnswers:
    """Return what a phone answered before if it would answer the same now; otherwise no answers.

    Raises:
        DeviceError: the phone fails.
    """
    answers = _load(_path_of(device))
    checked = [command for command in answers if command != _UNCHECKED]
    now = None
    if checked:
        # To ask one by one may work where all at once take too long, or the file names no command.
        with suppress(DeadlineError, UnsafeArgumentError):
            now = digest_of_commands(device, checked)
    if now != _digest_of(answers[command] for command in checked):
        answers = {}
    return KeptAnswers(device, answers, len(answers))


def digest_of_commands(device: Device, commands: Iterable[Sequence[str]]) -> str | None:
    """Return a digest of what commands print now, and how they end; it is one command that prints 36 bytes.

    Returns:
        None where the phone's shell makes none.

    Raises:
        DeviceError: the phone fails.
    """
    with suppress(CommandFailedError, DeviceOutputError, OutputLimitError):
        result = device.run(digest_command(commands), deadline=SECONDS_FOR_LISTING)
        if result.exit_status == 0 and _DIGEST.fullmatch(result.text):
            return result.text
    return None


def _digest_of(answers: Iterable[CommandResult]) -> str:
    """Return the digest as the phone prints it for these answers.

    A command that prints on both streams may give another one, so that the phone is asked again.
    """
    digest = hashlib.md5(usedforsecurity=False)
    for answer in answers:
        digest.update(answer.stdout + answer.stderr + f"{answer.exit_status}\n".encode())
    return f"{digest.hexdigest()}  -\n"


def _path_of(device: Device) -> Path:
    identity = device.identity
    name = f"{identity.serial_number}\n{identity.fingerprint}\n{device.serial}"
    return cache_folder() / _FOLDER / f"{hashlib.sha256(name.encode()).hexdigest()}.json"


def _load(path: Path) -> Answers:
    try:
        record = json.loads(read_private(path, largest=_MAX_BYTES) or b"{}")
        if record.get("form") != _FORM or record["droidgate"] != VERSION:
            return {}
        return {
            tuple(map(str, command)): CommandResult(out.encode("latin-1"), err.encode("latin-1"), int(status))
            for command, out, err, status in record["answers"]
        }
    except (OSError, InputError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # Whatever is wrong with the file, the phone can be asked again.
        return {}

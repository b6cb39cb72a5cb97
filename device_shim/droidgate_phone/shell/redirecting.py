"""Redirections: which stream stands behind which descriptor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from droidgate_phone.files import VirtualFileError
from droidgate_phone.shell.errors import CommandError
from droidgate_phone.shell.expansion import Expansion
from droidgate_phone.shell.run import BytesInput, ClosedStream, Stream
from droidgate_phone.shell.state import ShellState
from droidgate_phone.shell.syntax import Redirection


def redirect(
    state: ShellState, expansion: Expansion, redirections: Sequence[Redirection]
) -> Mapping[int, Stream]:
    """Return the descriptors that a command sees.

    Raises:
        CommandError: a file cannot be opened, or a descriptor is none.
    """
    descriptors = dict(state.descriptors)
    for one in redirections:
        if one.body is not None:
            text = expansion.here_document(one.body.word)
            descriptors[one.descriptor] = BytesInput(text.encode("utf-8", "surrogateescape"))
            continue
        target = expansion.text(one.word)
        if one.operator in {">&", "<&"}:
            _duplicate(descriptors, one, target)
        elif one.operator == "<":
            descriptors[one.descriptor] = _open_for_reading(state, target)
        else:
            stream = _open_for_writing(state, target, one.operator)
            descriptors[one.descriptor] = stream
            if one.operator.startswith("&"):
                descriptors[2] = stream
    return descriptors


def _duplicate(descriptors: dict[int, Stream], redirection: Redirection, target: str) -> None:
    if target == "-":
        descriptors[redirection.descriptor] = ClosedStream()
        return
    if not (len(target) == 1 and target.isdecimal() and target.isascii()):
        raise CommandError(f"{redirection.operator}{target}: illegal file descriptor name")
    stream = descriptors.get(int(target))
    if stream is None or isinstance(stream, ClosedStream):
        raise CommandError(f"{redirection.operator}{target} : bad file descriptor")
    descriptors[redirection.descriptor] = stream


def _open_for_reading(state: ShellState, target: str) -> Stream:
    try:
        return state.system.files.open_reader(state.path(target) if target else "", uid=state.uid)
    except VirtualFileError as error:
        raise CommandError(f"can't open {target}: {error.strerror}") from None


def _open_for_writing(state: ShellState, target: str, operator: str) -> Stream:
    files = state.system.files
    path = state.path(target) if target else ""
    try:
        if operator == ">" and state.options.noclobber and files.exists(path) and files.stat(path).is_file:
            raise CommandError(f"can't create {target}: File exists")
        return files.open_writer(path, append=operator.endswith(">>"), mode=0o644, uid=state.uid)
    except VirtualFileError as error:
        raise CommandError(f"can't create {target}: {error.strerror}") from None

"""Every way a run can fail, as one line, a hint and an exit code."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.interrupts import CtrlC
from droidgate.cli.output.pages import print_warning
from droidgate.cli.output.safe_text import one_line
from droidgate.computer.missing_files import hint_of_missing
from droidgate_mappings.model.errors import DeviceError, DroidgateError

if TYPE_CHECKING:
    from collections.abc import Callable

_REPORT_FORMS: Final = ("--json", "--sarif", "--markdown", "--junit")
_REPORT_OPTIONS: Final = ("-o", "--output", "--out")
_REPORT_FILE: Final = re.compile(r"extra argument\(s\) \((\S+\.(?:sarif|json|md))\)")

_SARIF_FILE: Final = re.compile(r"\((\S+\.sarif)\)")

_HINTS_OF_FILES: Final = {
    errno.EACCES: "check who may use it",
    errno.EPERM: "check who may use it",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "a part of the path is a file",
    errno.ENOENT: "choose another path",
    errno.EROFS: "choose a folder that can be written",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "a link of the path leads back to itself",
}

TRACEBACK_VARIABLE: Final = "DROIDGATE_TRACEBACK"

USAGE_ERROR: Final[Any] = typer.BadParameter.__bases__[0]
_SHOWN_ERROR: Final = USAGE_ERROR.__bases__[0]
"""typer keeps these two classes in a private module; their places above `BadParameter` are public."""


def guard(body: Callable[[], int], called: str = "droidgate") -> int:
    """Run something and return its exit code; whatever it raises is printed on standard error in a line.

    Args:
        body: What is run.
        called: The command that runs, such as `droidgate scan`; its help is named where an error names none.
    """
    try:
        code = body()
        _flush_output()
    except BrokenPipeError:
        _let_go_of_output()
        return ExitCode.BROKEN_PIPE
    except SystemExit as ended:
        # typer ends the process itself for a broken pipe, and for completions, which it has printed by then.
        if isinstance(ended.__context__, BrokenPipeError):
            _let_go_of_output()
            return ExitCode.BROKEN_PIPE
        return ended.code if isinstance(ended.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001
        return _print_failure(error, called)
    return code


def _flush_output() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _let_go_of_output()
        raise OSError(error.errno, error.strerror, "standard output") from error


def _let_go_of_output() -> None:
    """Point standard output nowhere, so that the interpreter does not complain when it closes it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def _print_failure(error: Exception, called: str) -> int:
    if os.environ.get(TRACEBACK_VARIABLE) == "1":
        traceback.print_exception(error)
    # typer makes an Abort of a Ctrl-C that came before its handler.
    if CtrlC.was_pressed or isinstance(error, typer.Abort):
        return ExitCode.INTERRUPTED
    if isinstance(error, DroidgateError):
        _print_error(error.message, place=error.place, hint=hint_of(error))
        for other in getattr(error, "others", ()):
            _print_error(other.message, place=other.place, hint=other.command_hint)
        return error.exit_code
    if isinstance(error, _SHOWN_ERROR):
        return _print_usage(error, called)
    if isinstance(error, OSError):
        place = _place_of(error)
        _print_error(error.strerror or str(error), place=place, hint=hint_of_file(error, place))
        return ExitCode.INPUT
    _print_error(
        f"internal error: {type(error).__name__}: {error}",
        hint=f"set {TRACEBACK_VARIABLE}=1 to see where it happened, and report it",
    )
    return ExitCode.INTERNAL


def _place_of(error: OSError) -> str | None:
    """Return the file of an error; all that writes files names them, so the other one is standard output."""
    if error.filename is not None:
        return str(error.filename)
    return "standard output" if error.errno == errno.ENOSPC else None


def hint_of_file(error: BaseException | None, place: str | None = None) -> str | None:
    """Return what to do about a file that the system refuses; None for other errors.

    Args:
        error: The error, or one that was raised for it.
        place: The file, where the system's error may name none or a temporary one.
    """
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    if error is None:
        return None
    path = Path(place or str(error.filename or ""))
    if error.errno == errno.ENOSPC:
        return _hint_of_full_disk(path)
    if (variable := _variable_of(path)) is not None:
        return f"set {variable} to a folder that you may write"
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, str):
        return hint_of_missing(Path(error.filename))
    return _HINTS_OF_FILES.get(error.errno or 0)


def _hint_of_full_disk(path: Path) -> str:
    """Return a hint with the room on the disk of a file, where it is a file of a folder."""
    folder = next((parent for parent in path.absolute().parents if parent.is_dir()), None)
    if not path.name or folder is None or path == Path("standard output"):
        return "make room on the disk"
    free = shutil.disk_usage(folder).free
    return f"make room: {free:,} bytes are free on the disk of {folder}"


def _variable_of(path: Path) -> str | None:
    """Return the variable that names the user's folder which a file is in, where that cannot be written."""
    from droidgate_mappings import user_folders

    own = (user_folders.configuration_folder(), user_folders.cache_folder(), user_folders.state_folder())
    folders = [(str(folder), user_folders.HOME_VARIABLE) for folder in own]
    for folder, variable in (*folders, (os.environ.get("HOME", ""), "HOME")):
        if folder and path.is_relative_to(folder) and not os.access(folder, os.W_OK | os.X_OK):
            return variable
    return None


def hint_of(error: DroidgateError) -> str | None:
    """Return the hint; how to use a virtual phone where one runs that the adb server does not know."""
    if not isinstance(error, DeviceError):
        return error.command_hint or hint_of_file(error, error.place)
    from droidgate.cli.phone.running_phones import way_to_running_phone

    return way_to_running_phone(error) or error.command_hint


def print_problem(problem: DroidgateError) -> None:
    """Print on standard error what could not be read or written."""
    print_warning(f"warning: {problem.located}")
    print_hint(problem)


def print_hint(error: DroidgateError) -> None:
    """Print the hint of an error that ends nothing."""
    hint = hint_of(error)
    if hint is not None:
        print_warning(f"hint: {hint}")


def _print_usage(error: Exception, called: str) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else called
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)  # type: ignore[attr-defined]
    else:
        _keep_close_options(error)
        message, suggestion = _split_suggestion(_in_plain_words(error).replace("Value error, ", ""))
        hint = f"{suggestion or _form_of(error, context)}see `{path} --help`"
        sources = "" if context is None else f"({context.params.get('old')})"
        file = _REPORT_FILE.search(message) or _SARIF_FILE.fullmatch(sources)
        if file or _asks_for_report_file(error, message, context):
            hint = f"to write the report into a file, end the command with: > {file[1] if file else 'FILE'}"
        _print_error(message[:1].lower() + message[1:].rstrip("."), hint=hint)
    return ExitCode.USAGE


def _in_plain_words(error: Any) -> str:
    """Return the message of a usage error; a value that is not in its range is named with the range."""
    message: str = error.format_message()
    details = getattr(error.__cause__, "errors", None)
    detail: dict[str, Any] = details()[0] if details is not None else {"type": ""}
    bounds = [value for value in detail.get("ctx", {}).values() if isinstance(value, float)]
    if detail["type"].startswith("float") or bounds:
        kind = "a number"
    elif detail["type"].startswith(("int", "greater_than", "less_than")):
        kind = "a whole number"
    else:
        return message
    least, most = error.param.min, error.param.max
    ends = f" from {least:g} to {most:.10g}" if most is not None else f" of at least {least:g}"
    allowed = f"{kind}{ends if least is not None else ''}"
    return message.replace(error.message, f"{detail['input']!r} is not {allowed}")


def _keep_close_options(error: Any) -> None:
    """Keep of the options that typer suggests those that are close: it counts the hyphens as alike."""
    from droidgate_mappings.text.nearest_names import nearest_names

    possibilities = getattr(error, "possibilities", None) or []
    near = nearest_names(error.option_name, possibilities) if possibilities else []
    error.possibilities = [
        name for name in possibilities if name in near or name.startswith(error.option_name)
    ]


def _asks_for_report_file(error: Any, message: str, context: Any) -> bool:
    """Return whether an option was typed that would name a file for a report that the command prints."""
    option_names = [] if context is None else [name for item in context.command.params for name in item.opts]
    option_name = getattr(error, "option_name", None)
    is_form_of_file = "does not take a value" in message and option_name in _REPORT_FORMS
    is_output = (
        "No such option" in message and option_name in _REPORT_OPTIONS and "--output" not in option_names
    )
    return "--json" in option_names and (is_form_of_file or is_output)


def _form_of(error: Any, context: Any) -> str:
    """Return how an option is written that has no value or is missing, or that it is an argument without a
    name, or the commands of a group, for the hint; "" for other errors.
    """
    if error.message.startswith("No such command") and context is not None and context.parent is not None:
        return f"known: {', '.join(context.command.commands)}; "
    option_name: Any = getattr(error, "option_name", None)
    parameters = () if context is None or option_name is None else context.command.params
    arguments = [item for item in parameters if item.param_type_name == "argument"]
    if any(option_name[2:] in {item.name, item.metavar.lower()} for item in arguments):
        names = " ".join(item.metavar for item in arguments)
        return f"write {context.command_path} {names}, without {option_name}; "
    options = [] if context is None else [item for item in context.command.params if option_name in item.opts]
    if type(error).__name__ == "MissingParameter" and error.param.param_type_name == "option":
        options = [error.param]
    return next((f"write {item.opts[0]} {item.metavar}; " for item in options if not item.is_flag), "")


def _split_suggestion(message: str) -> tuple[str, str]:
    """Return a message without its suggestion, and the suggestion as a question for the hint, or ""."""
    for start in (". Did you mean ", " (Possible options: "):
        refused, is_suggested, names = message.partition(start)
        if is_suggested:
            return refused, f"did you mean {names.rstrip('?).')}? "
    refused, is_choice, allowed = message.partition("' is not one of '")
    if not is_choice:
        return message, ""
    from droidgate_mappings.text.nearest_names import closest_name

    closest = closest_name(refused.rpartition("'")[2], allowed.rstrip("'.").split("', '"))
    return message, f"did you mean {closest!r}? " if closest is not None else ""


def _print_error(message: str, *, place: str | None = None, hint: str | None = None) -> None:
    located = f"{one_line(place)}: " if place else ""
    print(f"error: {located}{one_line(message)}", file=sys.stderr)
    if hint:
        print(f"hint: {one_line(hint)}", file=sys.stderr)

"""What `phone start` does, and its document."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import PublishedDocument, print_json
from droidgate.cli.output.pages import Line, print_note
from droidgate.cli.output.reports import Form, Report
from droidgate.cli.phone.phone_options import PhoneStart
from droidgate.cli.phone.running_phones import RunningPhone, forget_phone, record_phone
from droidgate.devices.connection import remember_port
from droidgate_mappings.model.errors import DeviceError, InputError, UsageError
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.text.json_text import parse_json

if TYPE_CHECKING:
    from droidgate_phone.phone import VirtualPhone

_SECONDS_TO_START: Final = 120.0
_SECONDS_OF_A_WAIT: Final = 0.5
_OTHER_LOG: Final = "name a new file, or a file of your own"
_PORTS_OF_EMULATORS: Final = range(5555, 5586, 2)
"""Where an adb server looks for emulators when it starts (AOSP packages/modules/adb, emulator.md)."""


class PhoneStartDocument(PublishedDocument, schema="droidgate.phone-start/1"):
    """What `phone start --json` prints.

    Attributes:
        serial: What adb calls the phone after `adb connect SERIAL`.
        port: Where adb connects to, on this machine only.
        server_port: Where it acts as an adb server.
        sdk: Its Android release.
        pid: Its process.
        packages: How many packages it has.
        faults: What it shows on purpose.
    """

    serial: str
    port: int
    server_port: int
    sdk: str
    pid: int
    packages: int
    faults: tuple[str, ...]


def start_virtual_phone(options: PhoneStart) -> int:
    """Start a phone, here or in the background, and print how to reach it.

    With `--handover` this is the background process: it prints the document and lets go of its output.

    Raises:
        InputError: the log is a link, or cannot be written.
        UsageError: an unknown release, fault or shim runtime, or one that cannot be had here.
        DeviceError: the phone does not start.
    """
    from droidgate_phone.apps.shim_runtimes import check_shim_runtime
    from droidgate_phone.common.faults import DOCUMENTATION, parse_faults
    from droidgate_phone.system.releases import load_release

    faults = options.fault or ()
    if "list" in faults:
        print("\n".join(DOCUMENTATION.values()))
        return ExitCode.OK
    # What is wrong with the request is reported here, with its own exit code, not by the background process.
    parse_faults(faults)
    check_shim_runtime(options.shim_runtime, load_release(options.sdk.value))
    new_log = None if options.log is None or options.log.exists() else options.log
    if options.log is not None:
        os.close(_open_log(options.log))
    try:
        if options.handover:
            _run_in_background(options)
        elif options.foreground:
            _run_in_foreground(options)
        else:
            _show(_start_in_background(options), options.form)
    except DeviceError:
        if new_log is not None:
            new_log.unlink(missing_ok=True)
        raise
    return ExitCode.OK


def _arguments(options: PhoneStart) -> list[str]:
    """Return the options that ask for the same phone."""
    flags = [f"--port={options.port}", f"--server-port={options.server_port}", f"--sdk={options.sdk.value}"]
    flags += [f"--packages={options.packages}", *(f"--fault={fault}" for fault in options.fault or ())]
    flags += ["--no-apps"] if options.no_apps else []
    flags += [] if options.log is None else [f"--log={options.log.absolute()}"]
    return [*flags, f"--shim-runtime={options.shim_runtime}"]


def _open_log(path: Path) -> int:
    """Open the file of `--log` for writing, made where it is not there; the content stays as it is.

    The name may be in a folder that others write to, such as `/tmp`. So no link is followed, and a file that
    is there already has to be the user's own, and of one name: nobody else can choose what is overwritten.

    Raises:
        InputError: it is a link, not a regular file, or somebody else's; or it cannot be written.
    """
    no_link = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | no_link, 0o600)
    except OSError as error:
        is_link = error.errno == errno.ELOOP
        reason = "it is a link" if is_link else f"cannot be written: {error.strerror}"
        raise InputError(reason, place=str(path), hint=_OTHER_LOG) from None
    status = os.fstat(descriptor)
    is_own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    if stat.S_ISREG(status.st_mode) and is_own and status.st_nlink == 1:
        return descriptor
    os.close(descriptor)
    what = "it is not a regular file" if is_own else "it belongs to another user"
    reason = "it has several names" if stat.S_ISREG(status.st_mode) and is_own else what
    raise InputError(reason, place=str(path), hint=_OTHER_LOG)


def _run_in_foreground(options: PhoneStart) -> None:
    with _running(options) as phone:
        ended = _event_of_signals()
        _show(_document(phone, options), options.form)
        sys.stdout.flush()
        print_note("Ctrl-C stops it")
        _wait(ended)


def _run_in_background(options: PhoneStart) -> None:
    """Detach from the parent, and notify the process that waits when the phone runs."""
    if sys.platform == "win32" or os.fork():
        os._exit(0)
    with _running(options) as phone:
        ended = _event_of_signals()
        print_json(_document(phone, options))
        _let_go_of_output()
        _wait(ended)


@contextlib.contextmanager
def _running(options: PhoneStart) -> Iterator[VirtualPhone]:
    from droidgate_phone.apps.shim_runtimes import check_shim_runtime
    from droidgate_phone.common.event_log import EventLog
    from droidgate_phone.common.faults import parse_faults
    from droidgate_phone.phone import start_phone
    from droidgate_phone.system.releases import load_release

    with contextlib.ExitStack() as stack:
        file = None
        if options.log is not None:
            descriptor = _open_log(options.log)
            os.ftruncate(descriptor, 0)
            file = stack.enter_context(os.fdopen(descriptor, "w", encoding="utf-8"))
        try:
            phone = start_phone(
                sdk=options.sdk.value,
                packages=options.packages,
                apps=not options.no_apps,
                faults=parse_faults(options.fault or ()),
                log=EventLog(file),
                port=options.port,
                server_port=options.server_port,
                shim_runtime=check_shim_runtime(options.shim_runtime, load_release(options.sdk.value)),
            )
        except OSError as error:
            ports = (("--port", options.port), ("--server-port", options.server_port))
            # asyncio's message ends with the address.
            taken = next((f"{name} {port}" for name, port in ports if f", {port})" in str(error)), None)
            if error.errno != errno.EADDRINUSE or taken is None:
                raise DeviceError(f"the phone cannot listen: {error.strerror or error}") from error
            hint = "choose another port; `droidgate phone status` lists the phones that run, and "
            hint += "`adb kill-server` ends an adb server"
            raise DeviceError(f"{taken} is in use", hint=hint) from error
        about = _document(stack.enter_context(phone), options)
        record = RunningPhone(about.serial, about.sdk, about.port, about.server_port, about.pid)
        record_phone(record)
        remember_port(record.server_port)
        stack.callback(forget_phone, record)
        yield phone


def _document(phone: VirtualPhone, options: PhoneStart) -> PhoneStartDocument:
    return PhoneStartDocument(
        serial=phone.serial,
        port=phone.port,
        server_port=phone.server_port or 0,
        sdk=options.sdk.value,
        pid=os.getpid(),
        packages=len(phone.system.packages.all()),
        faults=tuple(options.fault or ()),
    )


def _start_in_background(options: PhoneStart) -> PhoneStartDocument:
    """Start a process that outlives this one, and wait until it has let go of its output: then it runs."""
    if sys.platform == "win32":
        hint = "add --foreground, and leave the window open"
        raise UsageError("a phone does not run in the background on Windows", hint=hint)
    command = [sys.executable, "-P", "-m", "droidgate", "phone", "start", "--handover", *_arguments(options)]
    try:
        started = subprocess.run(  # noqa: S603 - our own program, with options that were checked
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            timeout=_SECONDS_TO_START,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DeviceError("the phone does not start in time") from error
    try:
        return PhoneStartDocument.model_validate(parse_json(started.stdout))
    except (InputError, ValueError) as error:
        lines = started.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[0].removeprefix("error: ") if lines else "its process exited without output"
        hint = lines[1].removeprefix("hint: ") if len(lines) > 1 else None
        raise DeviceError(f"the phone does not start: {reason}", hint=hint) from error


def _show(document: PhoneStartDocument, form: Form) -> None:
    if document.port in _PORTS_OF_EMULATORS:
        name = f"emulator-{document.port - 1}"
        print_note(
            f"adb takes port {document.port} for an emulator's, and may list the phone as {name} by itself"
        )
    about = f"{android_name(document.sdk)}, {amount(document.packages, 'package')}, process {document.pid}"
    lines = [
        Line(f"{document.serial} runs: {about}"),
        Line(),
        Line("With adb:"),
        Line(f"adb connect {document.serial}", 1),
        Line(f"adb -s {document.serial} shell pm list packages", 1),
        Line(f"droidgate discover --serial {document.serial}", 1),
        Line("Without adb, since it acts as an adb server:"),
        Line(f"ANDROID_ADB_SERVER_PORT={document.server_port} droidgate discover", 1),
        Line("To end it:"),
        Line(f"droidgate phone stop --port {document.port}", 1),
    ]
    Report(lambda: lines, lambda: document).print(form)


def _let_go_of_output() -> None:
    """End what the waiting process reads; nobody reads the output of a phone in the background."""
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _wait(ended: threading.Event) -> None:
    # On Windows Ctrl-C does not end a wait without a limit.
    while not ended.wait(_SECONDS_OF_A_WAIT):
        pass


def _event_of_signals() -> threading.Event:
    """Return what Ctrl-C and the signal of `phone stop` set, from now on."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: ended.set())
    return ended

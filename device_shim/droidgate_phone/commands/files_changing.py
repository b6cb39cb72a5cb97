"""chmod, cp, ln, mkdir, mktemp, mv, rm, rmdir, touch, truncate: what changes the tree of files."""

from __future__ import annotations

import re
import secrets
import stat as modes
import string
from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.toybox_options import (
    BLOCK,
    SECONDS,
    NotModelled,
    Options,
    OptionTable,
    UsageFault,
    absolute,
    complain,
    counted,
    number,
    toybox_command,
)
from droidgate_phone.files import VirtualFileError

_SYMBOLIC: Final = re.compile(r"([ugoa]*)([-+=])([rwxXst]*)")
_TWO: Final = 2


@toybox_command(OptionTable("fiRr", refused="v"))
def _rm(call: CommandCall, options: Options) -> int:
    if not options.operands and "f" not in options:
        raise UsageFault("Needs 1 argument")
    if "i" in options and "f" not in options:
        raise NotModelled("rm -i")
    status = 0
    for name in options.operands:
        if name == "/":
            call.write_error("rm: rm /. if you mean it\n")
            status = 1
            continue
        if name.rstrip("/").rpartition("/")[2] in {".", ".."}:
            continue
        try:
            call.system.files.remove(
                absolute(call, name), recursive="r" in options or "R" in options, uid=call.uid
            )
        except VirtualFileError as error:
            if not (error.strerror == "No such file or directory" and "f" in options):
                status = complain(call, name, error)
    return status


@toybox_command(OptionTable("pm:v", {"parents": "p"}, refused="Z", least=1))
def _mkdir(call: CommandCall, options: Options) -> int:
    status = 0
    mode = parse_mode(options.get("m"), 0o777, directory=True) if "m" in options else 0o777
    for name in options.operands:
        try:
            call.system.files.make_directory(
                absolute(call, name), parents="p" in options, mode=mode, uid=call.uid
            )
        except VirtualFileError as error:
            call.write_error(f"mkdir: '{name}': {error.strerror}\n")
            status = 1
        else:
            if "v" in options:
                call.write(f"mkdir: created directory '{name}'\n")
    return status


@toybox_command(OptionTable("p", {"ignore-fail-on-non-empty": "p"}, least=1))
def _rmdir(call: CommandCall, options: Options) -> int:
    status = 0
    for name in options.operands:
        path = name
        while path:
            try:
                call.system.files.remove_directory(absolute(call, path), uid=call.uid)
            except VirtualFileError as error:
                status = complain(call, path, error)
                break
            path = path.rstrip("/").rpartition("/")[0] if "p" in options else ""
    return status


@toybox_command(OptionTable("acd:hmr:t:", {"no-create": "c", "date": "d", "reference": "r"}, least=1))
def _touch(call: CommandCall, options: Options) -> int:
    files, status = call.system.files, 0
    modified = None
    if "t" in options or "h" in options:
        raise NotModelled("touch -t and touch -h")
    if "d" in options:
        if not options.get("d").startswith("@") or not SECONDS.fullmatch(options.get("d")[1:]):
            raise NotModelled("touch -d with another time than @SECONDS")
        modified = float(options.get("d")[1:])
    if "r" in options:
        modified = files.stat(absolute(call, options.get("r")), uid=call.uid).modified
    for name in options.operands:
        path = absolute(call, name)
        try:
            if not files.exists(path, uid=call.uid):
                if "c" in options:
                    continue
                files.write(path, b"", uid=call.uid)
            files.set_time(path, modified, uid=call.uid)
        except VirtualFileError as error:
            call.write_error(f"touch: '{name}': {error.strerror}\n")
            status = 1
    return status


def parse_mode(text: str, before: int, *, directory: bool) -> int:
    """Return the permission bits that `chmod` sets: octal, or changes as `u+x,go=`.

    Raises:
        UsageFault: the text is none.
    """
    if re.fullmatch("[0-7]{1,5}", text):
        return int(text, 8) & 0o7777
    mode = before & 0o7777
    for piece in text.split(","):
        match = _SYMBOLIC.fullmatch(piece)
        if match is None:
            raise UsageFault(f"bad mode '{text}'")
        who, operator, letters = match.groups()
        mode = _changed_mode(mode, who or "a", operator, letters, directory=directory)
    return mode


def _changed_mode(mode: int, who: str, operator: str, letters: str, *, directory: bool) -> int:
    everybody = "ugo" if "a" in who else who
    shifts = [{"u": 6, "g": 3, "o": 0}[one] for one in everybody]
    bits = sum({"r": 4, "w": 2, "x": 1}.get(letter, 0) for letter in set(letters))
    if "X" in letters and (directory or mode & 0o111):
        bits |= 1
    special = 0
    if "s" in letters:
        special = (0o4000 if "u" in everybody else 0) | (0o2000 if "g" in everybody else 0)
    special |= 0o1000 if "t" in letters else 0
    wanted = special
    for shift in shifts:
        wanted |= bits << shift
    if operator == "+":
        return mode | wanted
    if operator == "-":
        return mode & ~wanted
    cleared = mode
    for shift in shifts:
        cleared &= ~(7 << shift)
    return cleared | wanted


@toybox_command(OptionTable("Rvf", least=2))
def _chmod(call: CommandCall, options: Options) -> int:
    text, *names = options.operands
    status = 0
    for name in names:
        status |= _chmod_tree(call, name, text, recursive="R" in options, quiet="f" in options)
    return status


def _chmod_tree(call: CommandCall, name: str, text: str, *, recursive: bool, quiet: bool) -> int:
    files, path, status = call.system.files, absolute(call, name), 0
    try:
        found = files.stat(path, uid=call.uid)
        mode = parse_mode(text, found.mode, directory=found.is_directory)
        files.chmod(path, mode, uid=call.uid)
        if recursive and found.is_directory:
            for one in files.list(path, uid=call.uid):
                inner = f"{name.rstrip('/')}/{one}"
                if not files.lstat(absolute(call, inner), uid=call.uid).is_link:
                    status |= _chmod_tree(call, inner, text, recursive=True, quiet=quiet)
    except VirtualFileError as error:
        if not quiet:
            call.write_error(f"chmod: chmod '{name}' to {text}: {error.strerror}\n")
        return 1
    return status


@toybox_command(OptionTable("fsnTv", refused="tr", least=1))
def _ln(call: CommandCall, options: Options) -> int:
    if "s" not in options:
        raise NotModelled("ln without -s (hard links)")
    files, status = call.system.files, 0
    *targets, place = options.operands if len(options.operands) > 1 else (options.operands[0], ".")
    directory = "T" not in options and _is_directory(call, place)
    if len(targets) > 1 and not directory:
        raise UsageFault(f"'{place}' not a directory")
    for target in targets:
        name = f"{place.rstrip('/')}/{target.rstrip('/').rpartition('/')[2]}" if directory else place
        try:
            if "f" in options and _is_there(call, name):
                files.remove(absolute(call, name), uid=call.uid)
            files.symlink(target, absolute(call, name), uid=call.uid)
        except VirtualFileError as error:
            call.write_error(
                f"ln: cannot create symbolic link from '{target}' to '{name}': {error.strerror}\n"
            )
            status = 1
        else:
            if "v" in options:
                call.write(f"'{name}' -> '{target}'\n")
    return status


def _is_directory(call: CommandCall, name: str) -> bool:
    path = absolute(call, name)
    return (
        call.system.files.exists(path, uid=call.uid)
        and call.system.files.stat(path, uid=call.uid).is_directory
    )


def _is_there(call: CommandCall, name: str) -> bool:
    try:
        call.system.files.lstat(absolute(call, name), uid=call.uid)
    except VirtualFileError:
        return False
    return True


class _Copy:
    """One run of `cp`, or of the part of `mv` that has to copy."""

    def __init__(self, call: CommandCall, options: Options) -> None:
        self._call = call
        self._files = call.system.files
        self._recursive = any(letter in options for letter in "rRa")
        self._keeps_links = any(letter in options for letter in "aPd")
        self._keeps_times = "p" in options or "a" in options
        self._keeps_existing = "n" in options
        self._verbose = "v" in options

    def run(self, source: str, target: str) -> int:
        """Copy a file or tree; return 1 where something of it failed, after telling so."""
        try:
            return self._one(source, target)
        except VirtualFileError as error:
            shown = source if error.filename == absolute(self._call, source) else target
            missing = shown == source and error.strerror == "No such file or directory"
            self._call.write_error(
                f"cp: bad '{source}': {error.strerror}\n" if missing else f"cp: {shown}: {error.strerror}\n"
            )
            return 1

    def _one(self, source: str, target: str) -> int:
        files, uid = self._files, self._call.uid
        old, new = absolute(self._call, source), absolute(self._call, target)
        status = (files.lstat if self._keeps_links else files.stat)(old, uid=uid)
        if files.exists(new, uid=uid) and files.stat(new, uid=uid).inode == status.inode:
            self._call.write_error(f"cp: '{target}' is '{source}'\n")
            return 1
        if status.is_directory:
            return self._directory(source, target, modes.S_IMODE(status.mode))
        if self._keeps_existing and files.exists(new, uid=uid):
            return 0
        if self._verbose:
            self._call.write(f"cp '{source}'\n")
        if status.is_link:
            files.symlink(files.read_link(old, uid=uid), new, uid=uid)
            return 0
        with (
            files.open_reader(old, uid=uid) as reader,
            files.open_writer(
                new, mode=modes.S_IMODE(status.mode) & ~0o077 | modes.S_IMODE(status.mode) & 0o055, uid=uid
            ) as writer,
        ):
            incoming = counted(reader)
            while piece := incoming.read(BLOCK):
                writer.write(piece)
        if self._keeps_times:
            files.set_time(new, status.modified, uid=uid)
        return 0

    def _directory(self, source: str, target: str, mode: int) -> int:
        files, uid = self._files, self._call.uid
        if not self._recursive:
            self._call.write_error(f"cp: Skipped dir '{source}'\n")
            return 1
        old = files.real_path(absolute(self._call, source), uid=uid)
        new = files.real_path(absolute(self._call, target), uid=uid, missing_last=True)
        if (new + "/").startswith(old.rstrip("/") + "/"):
            self._call.write_error(f"cp: '{target}' is '{source}'\n")
            return 1
        names = files.list(old, uid=uid)
        files.make_directory(new, parents=True, mode=mode | 0o200, uid=uid)
        status = 0
        for name in names:
            status |= self.run(f"{source.rstrip('/')}/{name}", f"{target.rstrip('/')}/{name}")
        return status


def _targets(call: CommandCall, options: Options) -> list[tuple[str, str]]:
    """Return sources and their targets."""
    *sources, place = options.operands
    directory = _is_directory(call, place)
    if "T" in options:
        if len(sources) > 1:
            raise UsageFault('Max 2 arguments (see "' + call.name + ' --help")')
        if directory:
            raise UsageFault(f"'{place}' is a directory")
    if len(sources) > 1 and not directory:
        raise UsageFault(f"'{place}' not directory")
    if not directory:
        return [(sources[0], place)]
    return [(one, f"{place.rstrip('/')}/{one.rstrip('/').rpartition('/')[2]}") for one in sources]


@toybox_command(OptionTable("HLPRTadfnprv", refused="DFils", least=2))
def _cp(call: CommandCall, options: Options) -> int:
    copy = _Copy(call, options)
    statuses = [copy.run(source, target) for source, target in _targets(call, options)]
    return int(any(statuses))


@toybox_command(OptionTable("fnTv", refused="iF", least=2))
def _mv(call: CommandCall, options: Options) -> int:
    files, status = call.system.files, 0
    for source, target in _targets(call, options):
        if "n" in options and _is_there(call, target):
            continue
        try:
            files.rename(absolute(call, source), absolute(call, target), uid=call.uid)
        except VirtualFileError as error:
            call.write_error(f"mv: bad '{source}': {error.strerror}\n")
            status = 1
        else:
            if "v" in options:
                call.write(f"mv '{source}'\n")
    return status


@toybox_command(OptionTable("dup:qt", most=1))
def _mktemp(call: CommandCall, options: Options) -> int:
    template = options.operands[0] if options.operands else "tmp.XXXXXXXXXX"
    marks = len(template) - len(template.rstrip("X"))
    if marks < 2:  # noqa: PLR2004
        raise UsageFault(f"need XX in '{template}'" if options.operands else "need XX")
    letters = string.ascii_letters + string.digits
    name = template[:-marks] + "".join(secrets.choice(letters) for _ in range(marks))
    if not options.operands or "p" in options or "t" in options:
        name = f"{options.get('p') or call.environment.get('TMPDIR') or '/data/local/tmp'}/{name}"
    path = absolute(call, name)
    try:
        if "u" in options:
            pass
        elif "d" in options:
            call.system.files.make_directory(path, mode=0o700, uid=call.uid)
        else:
            call.system.files.write(path, b"", mode=0o600, uid=call.uid)
    except VirtualFileError as error:
        if "q" not in options:
            kind = "directory" if "d" in options else "file"
            call.write_error(f"mktemp: Failed to create {kind} {name}: {error.strerror}\n")
        return 1
    call.write(name + "\n")
    return 0


@toybox_command(OptionTable("cs:", least=1))
def _truncate(call: CommandCall, options: Options) -> int:
    if "s" not in options:
        raise UsageFault('Needs -s (see "truncate --help")')
    if options.get("s")[:1] in set("+-<>/%"):
        raise NotModelled("truncate -s with a sign")
    size, status = number(options.get("s")), 0
    for name in options.operands:
        path = absolute(call, name)
        try:
            if not call.system.files.exists(path, uid=call.uid):
                if "c" in options:
                    continue
                call.system.files.write(path, b"", uid=call.uid)
            call.system.files.truncate(path, size, uid=call.uid)
        except VirtualFileError as error:
            status = complain(call, name, error)
    return status


@toybox_command(OptionTable("Rfhv", refused="HLP", least=2))
def _chown(call: CommandCall, options: Options) -> int:
    raise NotModelled(f"{call.name} {' '.join(options.operands)}")


COMMANDS: Final[Mapping[str, Command]] = {
    "chgrp": _chown,
    "chmod": _chmod,
    "chown": _chown,
    "cp": _cp,
    "ln": _ln,
    "mkdir": _mkdir,
    "mktemp": _mktemp,
    "mv": _mv,
    "rm": _rm,
    "rmdir": _rmdir,
    "touch": _touch,
    "truncate": _truncate,
}

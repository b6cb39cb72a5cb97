"""grep: lines that fit a POSIX pattern."""

from __future__ import annotations

import re
from typing import Final

from droidgate_phone.commands import CommandCall
from droidgate_phone.commands.toybox_options import (
    NotModelled,
    Options,
    OptionTable,
    UsageFault,
    absolute,
    complain,
    lines,
    number,
    open_input,
    toybox_command,
)
from droidgate_phone.files import VirtualFileError
from droidgate_phone.streams import InputStream

MAXIMUM_PATTERN: Final = 2000
MAXIMUM_REPETITIONS: Final = 4
LONGEST_LINE: Final = 1 << 16
_CLASSES: Final = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\s",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_WORDS: Final = {
    "<": r"\b(?=\w)",
    ">": r"\b(?<=\w)",
    "b": r"\b",
    "B": r"\B",
    "w": r"\w",
    "W": r"\W",
    "s": r"\s",
    "S": r"\S",
}


def python_pattern(text: str, *, extended: bool) -> str:
    """Return Python's form of a POSIX regular expression, basic or extended.

    Raises:
        UsageFault: it is none.
        NotModelled: it refers back to a group, which takes time without bound, or repeats what repeats.
    """
    made: list[str] = []
    index = 0
    special = "(){}|+?"
    while index < len(text):
        letter = text[index]
        if letter == "\\":
            if index + 1 == len(text):
                raise UsageFault("bad regex: Trailing backslash")
            following = text[index + 1]
            index += 2
            if following.isdecimal():
                raise NotModelled("grep with references to groups")
            if following in special:
                made.append("\\" + following if extended else following)
            else:
                made.append(_WORDS.get(following, re.escape(following)))
            continue
        if letter == "[":
            expression, index = _bracket(text, index)
            made.append(expression)
            continue
        index += 1
        if letter in special:
            made.append(letter if extended else "\\" + letter)
        elif letter == "*":
            made.append("\\*" if not made or made[-1] in {"(", "|", "^"} else "*")
        elif letter == "^":
            made.append("^" if extended or not made or made[-1] in {"(", "|"} else "\\^")
        elif letter == "$":
            made.append(
                r"\Z" if extended or index == len(text) or text[index:].startswith(("\\)", "\\|")) else "\\$"
            )
        else:
            made.append("." if letter == "." else re.escape(letter))
    return "".join(made)


def _bracket(text: str, start: int) -> tuple[str, int]:
    """Return the expression of a bracket and where it ends."""
    index = start + 1
    negated = text[index : index + 1] == "^"
    index += negated
    made: list[str] = []
    first = index
    while index < len(text) and (text[index] != "]" or index == first):
        if text.startswith("[:", index) and (end := text.find(":]", index)) > 0:
            name = text[index + 2 : end]
            if name not in _CLASSES:
                raise UsageFault("bad regex: Invalid character class name")
            made.append(_CLASSES[name])
            index = end + 2
            continue
        if text.startswith(("[.", "[="), index):
            raise NotModelled("grep with [. or [=")
        letter = text[index]
        is_range = letter == "-" and made and index + 1 < len(text) and text[index + 1] != "]"
        made.append("-" if is_range else re.escape(letter))
        index += 1
    if index >= len(text):
        raise UsageFault("bad regex: Missing ']'")
    return f"[{'^' if negated else ''}{''.join(made)}]", index + 1


def _compile(options: Options, patterns: list[str], *, extended: bool, fixed: bool) -> re.Pattern[bytes]:
    made: list[str] = []
    for text in patterns:
        if len(text) > MAXIMUM_PATTERN:
            raise NotModelled(f"grep with a pattern longer than {MAXIMUM_PATTERN}")
        one = re.escape(text) if fixed else python_pattern(text, extended=extended)
        if not fixed:
            _demand_bearable(one)
        if "x" in options:
            one = rf"\A(?:{one})\Z"
        elif "w" in options:
            one = rf"(?<!\w)(?:{one})(?!\w)"
        made.append(f"(?:{one})")
    flags = re.IGNORECASE if "i" in options else 0
    try:
        return re.compile("|".join(made).encode("utf-8", "surrogateescape"), flags | re.DOTALL)
    except (re.error, OverflowError) as error:
        raise UsageFault(f"bad regex: {error}") from None


def _demand_bearable(expression: str) -> None:
    """Refuse what makes matching slow beyond bounds: repeated groups with choices, many repetitions."""
    plain = re.sub(r"\\.|\[(?:\\.|[^\]\\])*+(?:\]|\Z)", "x", expression, flags=re.DOTALL)
    if len(re.findall(r"[*+]|\{\d*,", plain)) > MAXIMUM_REPETITIONS:
        raise NotModelled(f"grep with more than {MAXIMUM_REPETITIONS} repetitions")
    starts: list[int] = []
    for index, letter in enumerate(plain):
        if letter == "(":
            starts.append(index)
        elif letter == ")" and starts:
            inside = plain[starts.pop() : index]
            if plain[index + 1 : index + 2] in set("*+{") and re.search(r"[*+?|{]", inside):
                raise NotModelled("grep with a repetition of choices or repetitions")


class _Grep:
    """One run."""

    def __init__(self, call: CommandCall, options: Options, pattern: re.Pattern[bytes]) -> None:
        self._call = call
        self._options = options
        self._pattern = pattern
        self._repeats = any(letter in pattern.pattern for letter in b"*+{") and "F" not in options
        self._named = False
        self.found = False
        self.failed = False

    def run(self, names: tuple[str, ...]) -> None:
        """Search the files."""
        recursive = "r" in self._options or "R" in self._options
        self._named = "h" not in self._options and (len(names) > 1 or "H" in self._options or recursive)
        for name in names or ("." if recursive else "-",):
            self._one(name, recursive=recursive)
            if self.found and "q" in self._options:
                return

    def _one(self, name: str, *, recursive: bool) -> None:
        call = self._call
        try:
            if name != "-" and recursive:
                path = absolute(call, name)
                if call.system.files.stat(path, uid=call.uid).is_directory:
                    for inner in call.system.files.list(path, uid=call.uid):
                        self._one(f"{name.rstrip('/')}/{inner}", recursive=True)
                    return
            self._search(name, open_input(call, name))
        except VirtualFileError as error:
            self.failed = True
            if "s" not in self._options:
                complain(call, name, error)

    def _search(self, name: str, stream: InputStream) -> None:
        options, call = self._options, self._call
        shown_name = "(standard input)" if name == "-" else name
        limit = number(options.get("m")) if "m" in options else 1 << 60
        count = 0
        for index, raw in enumerate(lines(stream)):
            line = raw.removesuffix(b"\n")
            if len(line) > LONGEST_LINE and self._repeats:
                raise NotModelled(f"grep with repetitions in lines longer than {LONGEST_LINE}")
            matches = self._pattern.search(line) is not None
            if matches == ("v" in options) or count >= limit:
                continue
            count += 1
            self.found = True
            if "q" in options or "l" in options:
                break
            if "c" not in options and "L" not in options:
                self._show(shown_name, index, line)
        if "c" in options:
            call.write(f"{shown_name + ':' if self._named else ''}{count}\n")
        elif ("l" in options and count) or ("L" in options and not count):
            call.write(shown_name + "\n")

    def _show(self, name: str, index: int, line: bytes) -> None:
        prefix = (f"{name}:" if self._named else "") + (f"{index + 1}:" if "n" in self._options else "")
        texts = [line]
        if "o" in self._options:
            texts = [] if "v" in self._options else [one.group() for one in self._pattern.finditer(line)]
        for text in texts:
            if text or "o" not in self._options:
                self._call.streams.output.write(prefix.encode("utf-8", "surrogateescape") + text + b"\n")


@toybox_command(OptionTable("EFHLRce:f:hilm:noqrsvwx", refused="ABCMSZabz"))
def grep(call: CommandCall, options: Options) -> int:
    """Run `grep`, `egrep` and `fgrep`."""
    names = options.operands
    patterns = [piece for text in options.all_values.get("e", ()) for piece in text.split("\n")]
    for name in options.all_values.get("f", ()):
        data = open_input(call, name).read(-1).decode("utf-8", "surrogateescape")
        patterns += data.removesuffix("\n").split("\n")
    if "e" not in options and "f" not in options:
        if not names:
            raise UsageFault('Needs 1 argument (see "grep --help")', 2)
        patterns, names = names[0].split("\n"), names[1:]
    extended = "E" in options or call.name == "egrep"
    pattern = _compile(options, patterns, extended=extended, fixed="F" in options or call.name == "fgrep")
    search = _Grep(call, options, pattern)
    search.run(names)
    if search.failed and not (search.found and "q" in options):
        return 2
    return 0 if search.found else 1

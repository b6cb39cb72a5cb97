"""`android.net.Uri`, to which any text is a URI, and the globs of `android.os.PatternMatcher`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from droidgate_phone.java.java_text import java_int

_MASKED_SCHEMES: Final = frozenset({"tel", "sip", "sms", "smsto", "mailto", "nfc"})
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_AUTHORITY: Final = re.compile(r"//([^/\\?#]*)")
_HOST: Final = re.compile(r"(?:.*@)?(.*?)(?::([0-9]*))?", re.DOTALL)
_TOKEN: Final = re.compile(r"\\(.)|\[(\^?)((?:\\.|[^\]\\])*+)(\]?)|([*+]|\{[0-9,]+\})|(.)", re.DOTALL)
_NEVER: Final = re.compile("(?!)")
_REPLACEMENT: Final = "\ufffd"


def decode_uri(text: str) -> str:
    """Return `Uri.decode`: escapes as UTF-8; a damaged one leaves a replacement character."""
    if "%" not in text:
        return text
    decoded, pending, position = list[str](), bytearray(), 0

    def flush() -> None:
        decoded.append(pending.decode("utf-8", "replace"))
        pending.clear()

    while position < len(text):
        character = text[position]
        position += 1
        if character != "%":
            flush()
            decoded.append(character)
            continue
        number = 0
        for _ in range(2):
            digit = text[position : position + 1]
            position += 1
            if digit not in _HEX:
                flush()
                decoded.append(_REPLACEMENT)
                if not digit:
                    return "".join(decoded)
                break
            number = number * 16 + int(digit, 16)
        pending.append(number)
    flush()
    return "".join(decoded)


@dataclass(frozen=True, slots=True)
class Uri:
    """A text as Android takes it for a URI; a part that it does not have is None."""

    text: str

    @property
    def scheme(self) -> str | None:
        """What is before the first colon, in the letters that it is written in."""
        scheme, colon, _ = self.text.partition(":")
        return scheme if colon else None

    @property
    def _rest(self) -> str:
        """What is behind the scheme, without the fragment."""
        rest = self.text if self.scheme is None else self.text.partition(":")[2]
        return rest.partition("#")[0]

    @property
    def scheme_specific_part(self) -> str:
        """All between scheme and fragment, decoded."""
        return decode_uri(self._rest)

    @property
    def _encoded_authority(self) -> str | None:
        match = _AUTHORITY.match(self._rest)
        return None if match is None else match[1]

    @property
    def authority(self) -> str | None:
        """User, host and port, or a provider's name."""
        encoded = self._encoded_authority
        return None if encoded is None else decode_uri(encoded)

    @property
    def provider(self) -> str:
        """The authority without the user, which may be before it; empty where there is none."""
        return (self.authority or "").rpartition("@")[2]

    @property
    def host(self) -> str | None:
        """The authority without its user and port."""
        return self._place[0]

    @property
    def port(self) -> int:
        """The port, -1 without one."""
        return self._place[1]

    @property
    def _place(self) -> tuple[str | None, int]:
        encoded = self._encoded_authority
        match = None if encoded is None else _HOST.fullmatch(encoded)
        if match is None:
            return None, -1
        port = java_int(match[2] or "")
        return decode_uri(match[1]), -1 if port is None else port

    @property
    def path(self) -> str | None:
        """What is between authority and query, decoded; an opaque URI has none."""
        rest = self._rest
        if self.scheme is not None and not rest.startswith("/"):
            return None
        if authority := _AUTHORITY.match(rest):
            rest = rest[authority.end() :]
        return decode_uri(rest.partition("?")[0])

    @property
    def safe_text(self) -> str:
        """`toSafeString` of Android 17, which logs and shells print: without path, query and fragment."""
        scheme, place = self.scheme, self._place
        if scheme is None:
            return ""
        if scheme.lower() in _MASKED_SCHEMES:
            return f"{scheme}:" + re.sub("[^-@.]", "x", self.scheme_specific_part)
        if place[0] is None:
            return f"{scheme}:" + ("" if self.path is None else "/...")
        return f"{scheme}://{place[0]}" + (f":{place[1]}" if place[1] >= 0 else "") + "/..."


def simple_glob(pattern: str) -> re.Pattern[str]:
    """Return the expression of a simple glob: `*` repeats what is before it, and takes all that it can."""
    written, position = [], 0

    def following() -> str:
        nonlocal position
        position += 1
        return pattern[position - 1 : position] or "\0"

    while position < len(pattern):
        character = following()
        is_escaped = character == "\\"
        if is_escaped:
            character = following()
        literal = re.escape(character)
        if pattern[position : position + 1] != "*":
            # An escaped dot is any character too, as Android has it.
            written.append("." if character == "." else literal)
            continue
        position += 1
        if is_escaped or character != ".":
            # Android looks at it only while there is a character left.
            written.append(f"(?=.){literal}*+")
        elif position == len(pattern):
            written.append(".*")
        else:
            stop = following()
            stop = re.escape(following() if stop == "\\" else stop)
            written.append(f"[^{stop}]*+{stop}")
    return re.compile("".join(written), re.DOTALL)


def advanced_glob(pattern: str) -> re.Pattern[str]:
    """Return the expression of an advanced glob: sets, ranges and counts; a damaged one matches nothing."""
    written = []
    for token in _TOKEN.finditer(pattern):
        escaped, is_other, members, end, count, character = token.groups("")
        if token[0][0] == "[" and not end:
            return _NEVER
        if members:
            # What would be an operation on sets to Python is not one to Android.
            plain = re.sub(r"(?<!\\)([\[&~|]|-(?=-))", r"\\\1", members)
            written.append(f"[{is_other}{plain}]")
        elif count:
            written.append(count + "+")
        else:
            written.append(re.escape(escaped or character) if character != "." else ".")
    try:
        return re.compile("".join(written), re.DOTALL)
    except (re.error, OverflowError):
        return _NEVER

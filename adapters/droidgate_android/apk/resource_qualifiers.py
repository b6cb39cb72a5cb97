"""Qualifiers of resource folders, such as `de-rDE-night`, to `ResTable_config` and back (aapt2,
ConfigDescription).

They come in one order, each at most once. What only newer devices know gets their release's `v` number, as
aapt2 gives it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from functools import cache
from typing import Final, Protocol

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass

CONFIG_BYTES: Final = 64

_SIZE_FIELD: Final = 4

_MNC_ZERO: Final = 0xFFFF
_MAX_16_BITS: Final = 0xFFFF
_PACKED: Final = 0x80
_DENSITIES: Final = {
    "ldpi": 120,
    "mdpi": 160,
    "tvdpi": 213,
    "hdpi": 240,
    "xhdpi": 320,
    "xxhdpi": 480,
    "xxxhdpi": 640,
    "anydpi": 0xFFFE,
    "nodpi": 0xFFFF,
}
_ANY_DENSITY: Final = _DENSITIES["anydpi"]

_MCC, _MNC, _LANGUAGE, _REGION = 4, 6, 8, 10
_ORIENTATION, _TOUCH, _DENSITY = 12, 13, 14
_KEYBOARD, _NAVIGATION, _INPUT_FLAGS, _GENDER = 16, 17, 18, 19
_WIDTH, _HEIGHT, _SDK = 20, 22, 24
_LAYOUT, _MODE, _SMALLEST_WIDTH, _WIDTH_DP, _HEIGHT_DP = 28, 29, 30, 32, 34
_SCRIPT, _VARIANT, _LAYOUT_2, _COLOUR_MODE = 36, 40, 48, 49

_NIGHT_AND_TYPE: Final = 0x3F
_SIZE_AND_LONG: Final = 0x3F

_NOT_QUALIFIER = re.compile(r"[^A-Za-z0-9+-]")
_LEGACY_LOCALE = re.compile(r"(?P<language>[A-Za-z]{2,3})(?:-[rR](?P<region>[A-Za-z]{2}))?(?=-|\Z)")
_BCP47_LOCALE = re.compile(
    r"b\+(?P<language>[A-Za-z]{2,3})(?:\+(?P<script>[A-Za-z]{4}))?(?:\+(?P<region>[A-Za-z]{2}|[0-9]{3}))?"
    r"(?:\+(?P<variant>[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?(?=-|\Z)"
)


class _Qualifier(Protocol):
    """One word of a qualifier."""

    def take(self, config: bytearray, word: str) -> bool:
        """Set what the word says, and return whether the word is this qualifier."""

    def text(self, config: bytes) -> str:
        """Return the word for a configuration, empty where it says nothing here."""


@dataclass(frozen=True, slots=True)
class _Word:
    offset: int
    words: Mapping[str, int]

    def take(self, config: bytearray, word: str) -> bool:
        if word not in self.words:
            return False
        config[self.offset] |= self.words[word]
        return True

    def text(self, config: bytes) -> str:
        mask = 0
        for bits in self.words.values():
            mask |= bits
        return next((word for word, bits in self.words.items() if bits == config[self.offset] & mask), "")


@dataclass(frozen=True, slots=True)
class _Number:
    offset: int
    before: str
    after: str = ""
    digits: str = "{1,5}"

    def take(self, config: bytearray, word: str) -> bool:
        match = re.fullmatch(f"{self.before}([0-9]{self.digits}){self.after}", word)
        if match is None or int(match[1]) > _MAX_16_BITS:
            return False
        struct.pack_into("<H", config, self.offset, int(match[1]))
        return True

    def text(self, config: bytes) -> str:
        number = struct.unpack_from("<H", config, self.offset)[0]
        return f"{self.before}{number}{self.after}" if number else ""


class _Country(_Number):
    __slots__ = ()

    def text(self, config: bytes) -> str:
        number = struct.unpack_from("<H", config, self.offset)[0]
        return f"mcc{number:03}" if number else ""


class _Network:
    def take(self, config: bytearray, word: str) -> bool:
        if not re.fullmatch(r"mnc[0-9]{1,3}", word):
            return False
        struct.pack_into("<H", config, _MNC, int(word[3:]) or _MNC_ZERO)
        return True

    def text(self, config: bytes) -> str:
        number = struct.unpack_from("<H", config, _MNC)[0]
        return f"mnc{0 if number == _MNC_ZERO else number:03}" if number else ""


class _Density:
    def take(self, config: bytearray, word: str) -> bool:
        match = re.fullmatch(r"([0-9]{1,5})dpi", word)
        density = _DENSITIES.get(word, int(match[1]) if match is not None else 0)
        if not 0 < density <= _MNC_ZERO:
            return False
        struct.pack_into("<H", config, _DENSITY, density)
        return True

    def text(self, config: bytes) -> str:
        density = struct.unpack_from("<H", config, _DENSITY)[0]
        words = (word for word, number in _DENSITIES.items() if number == density)
        return next(words, f"{density}dpi" if density else "")


class _ScreenSize:
    def take(self, config: bytearray, word: str) -> bool:
        match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", word)
        if match is None or int(match[1]) < int(match[2]):
            return False
        struct.pack_into("<HH", config, _WIDTH, int(match[1]), int(match[2]))
        return True

    def text(self, config: bytes) -> str:
        width, height = struct.unpack_from("<HH", config, _WIDTH)
        return f"{width}x{height}" if width or height else ""


_BEFORE_LOCALE: Final[tuple[_Qualifier, ...]] = (_Country(_MCC, "mcc", digits="{3}"), _Network())
_AFTER_LOCALE: Final[tuple[_Qualifier, ...]] = (
    _Word(_GENDER, {"neuter": 1, "feminine": 2, "masculine": 3}),
    _Word(_LAYOUT, {"ldltr": 0x40, "ldrtl": 0x80}),
    _Number(_SMALLEST_WIDTH, "sw", "dp"),
    _Number(_WIDTH_DP, "w", "dp"),
    _Number(_HEIGHT_DP, "h", "dp"),
    _Word(_LAYOUT, {"small": 1, "normal": 2, "large": 3, "xlarge": 4}),
    _Word(_LAYOUT, {"notlong": 0x10, "long": 0x20}),
    _Word(_LAYOUT_2, {"notround": 1, "round": 2}),
    _Word(_COLOUR_MODE, {"nowidecg": 1, "widecg": 2}),
    _Word(_COLOUR_MODE, {"lowdr": 4, "highdr": 8}),
    _Word(_ORIENTATION, {"port": 1, "land": 2, "square": 3}),
    _Word(_MODE, {"desk": 2, "car": 3, "television": 4, "appliance": 5, "watch": 6, "vrheadset": 7}),
    _Word(_MODE, {"notnight": 0x10, "night": 0x20}),
    _Density(),
    _Word(_TOUCH, {"notouch": 1, "stylus": 2, "finger": 3}),
    _Word(_INPUT_FLAGS, {"keysexposed": 1, "keyshidden": 2, "keyssoft": 3}),
    _Word(_KEYBOARD, {"nokeys": 1, "qwerty": 2, "12key": 3}),
    _Word(_INPUT_FLAGS, {"navexposed": 4, "navhidden": 8}),
    _Word(_NAVIGATION, {"nonav": 1, "dpad": 2, "trackball": 3, "wheel": 4}),
    _ScreenSize(),
    _Number(_SDK, "v"),
)


@cache
def compile_qualifier(qualifier: str) -> bytes:
    """Return the `ResTable_config` of a resource folder's qualifier, its size field included.

    Args:
        qualifier: What follows the first hyphen of the folder's name; empty for the default.

    Raises:
        InputError: a word in it is not a qualifier, or is in the wrong place.
    """
    config = bytearray(CONFIG_BYTES)
    config[0] = CONFIG_BYTES
    rest = _take_words(config, qualifier.split("-") if qualifier else [], _BEFORE_LOCALE)
    rest = _take_words(config, _take_locale(config, rest), _AFTER_LOCALE)
    if rest:
        message = f"{rest[0]!r} is not a resource qualifier, or is in the wrong place, in {qualifier!r}"
        raise InputError(message, hint="name the folder as Android's documentation of resources orders them")
    _set_least_release(config)
    return bytes(config)


def qualifier_of(config: bytes) -> str:
    """Return the qualifier that means a configuration: the inverse of `compile_qualifier`.

    Args:
        config: A `ResTable_config` with its size field; a shorter one lacks the rest.

    Returns:
        The qualifier, empty for the default configuration. The release is left out where the rest implies it.
        A configuration that no qualifier means is `other-` and its bytes in hexadecimal, so that each has a
        text of its own; only letters, digits, `+` and `-` occur.
    """
    if not any(config[_SIZE_FIELD:]):
        return ""
    config = config.ljust(CONFIG_BYTES, b"\0")
    implied = bytearray(config)
    struct.pack_into("<H", implied, _SDK, 0)
    _set_least_release(implied)
    shortened = config
    if implied[_SDK : _SDK + 2] == config[_SDK : _SDK + 2]:
        shortened = config[:_SDK] + b"\0\0" + config[_SDK + 2 :]
    words = [item.text(shortened) for item in _BEFORE_LOCALE]
    words.append(_locale_qualifier(shortened))
    words.extend(item.text(shortened) for item in _AFTER_LOCALE)
    qualifier = _NOT_QUALIFIER.sub("", "-".join(filter(None, words)))
    if _means(qualifier, config):
        return qualifier
    return f"other-{config[_SIZE_FIELD:].rstrip(bytes(1)).hex()}"


def _means(qualifier: str, config: bytes) -> bool:
    """Return whether a qualifier is a configuration's; aapt2 leaves out a release that every phone has."""
    try:
        compiled = compile_qualifier(qualifier)
    except InputError:
        return False
    if not any(config[_SDK : _SDK + 2]):
        compiled = compiled[:_SDK] + b"\0\0" + compiled[_SDK + 2 :]
    return compiled[_SIZE_FIELD:CONFIG_BYTES] == config[_SIZE_FIELD:CONFIG_BYTES]


def locale_of(config: bytes) -> str:
    """Return a configuration's locale: language, script, region and variant joined by hyphens (`zh-Hant-TW`).

    Args:
        config: A `ResTable_config` with its size field.
    """
    return "-".join(filter(None, _locale_parts(config.ljust(CONFIG_BYTES, b"\0"))))


def _locale_parts(config: bytes) -> tuple[str, str, str, str]:
    """Return language, script, region and variant, each empty where it is not stated."""
    return (
        _letters(config[_LANGUAGE : _LANGUAGE + 2], "a"),
        _ascii(config[_SCRIPT : _SCRIPT + 4]),
        _letters(config[_REGION : _REGION + 2], "0"),
        _ascii(config[_VARIANT : _VARIANT + 8]),
    )


def _locale_qualifier(config: bytes) -> str:
    language, script, region, variant = _locale_parts(config)
    if script or variant or len(region) > 2:  # noqa: PLR2004 - the older form has two letters
        return "+".join(filter(None, ("b", language, script, region, variant)))
    return f"{language}-r{region}" if region else language


def _ascii(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("ascii", "replace")


def _take_words(config: bytearray, words: list[str], qualifiers: tuple[_Qualifier, ...]) -> list[str]:
    for qualifier in qualifiers:
        if words and qualifier.take(config, words[0].lower()):
            words = words[1:]
    return words


def _take_locale(config: bytearray, words: list[str]) -> list[str]:
    text = "-".join(words)
    match = _BCP47_LOCALE.match(text) or _LEGACY_LOCALE.match(text)
    if match is None or match["language"].lower() == "car":  # a dock, not the Carib language
        return words
    parts = match.groupdict()
    config[_LANGUAGE : _LANGUAGE + 2] = _pack(parts["language"].lower(), "a")
    if parts["region"]:
        config[_REGION : _REGION + 2] = _pack(parts["region"].upper(), "0")
    if parts.get("script"):
        config[_SCRIPT : _SCRIPT + 4] = parts["script"].title().encode()
    if parts.get("variant"):
        config[_VARIANT : _VARIANT + 8] = parts["variant"].lower().encode().ljust(8, b"\0")
    rest = text[match.end() + 1 :]
    return rest.split("-") if rest else []


def _pack(letters: str, base: str) -> bytes:
    """Return two letters as they are, three in five bits each."""
    if len(letters) == 2:  # noqa: PLR2004 - the form with two letters
        return letters.encode()
    first, second, third = ((ord(letter) - ord(base)) & 0x1F for letter in letters)
    return bytes((_PACKED | third << 2 | second >> 3, (second << 5 | first) & 0xFF))


def _letters(pair: bytes, base: str) -> str:
    """Return two letters as they are, or three that are packed into five bits each."""
    first, second = pair
    if not first & _PACKED:
        return _ascii(pair)
    letters = (second & 0x1F, (second & 0xE0) >> 5 | (first & 0x03) << 3, (first & 0x7C) >> 2)
    return "".join(chr(ord(base) + letter) for letter in letters)


def _set_least_release(config: bytearray) -> None:
    """Set the release that knows all that the qualifier says, where it says none itself."""
    density, widths = struct.unpack_from("<H", config, _DENSITY)[0], config[_SMALLEST_WIDTH : _HEIGHT_DP + 2]
    needs = (
        (34, config[_GENDER]),
        (26, config[_COLOUR_MODE] or config[_MODE] & 0x0F == 7),  # noqa: PLR2004 - a headset
        (23, config[_LAYOUT_2]),
        (21, density == _ANY_DENSITY),
        (13, any(widths)),
        (8, config[_MODE] & _NIGHT_AND_TYPE),
        (4, config[_LAYOUT] & _SIZE_AND_LONG or density),
    )
    least = next((release for release, is_needed in needs if is_needed), 0)
    stated = struct.unpack_from("<H", config, _SDK)[0]
    struct.pack_into("<H", config, _SDK, max(least, stated))

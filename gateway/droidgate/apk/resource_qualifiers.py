"""Qualifiers of resource folders, such as `de-rDE-night`, to `ResTable_config` (aapt2, ConfigDescription).

They come in one order, each at most once. What only newer devices know gets their release's `v` number, as
aapt2 gives it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import cache
from typing import Final

from droidgate.model.errors import InputError

CONFIG_BYTES: Final = 64

_MNC_ZERO: Final = 0xFFFF
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

_LEGACY_LOCALE = re.compile(r"(?P<language>[A-Za-z]{2,3})(?:-[rR](?P<region>[A-Za-z]{2}))?(?=-|\Z)")
_BCP47_LOCALE = re.compile(
    r"b\+(?P<language>[A-Za-z]{2,3})(?:\+(?P<script>[A-Za-z]{4}))?(?:\+(?P<region>[A-Za-z]{2}|[0-9]{3}))?"
    r"(?:\+(?P<variant>[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?(?=-|\Z)"
)

_Setter = Callable[[bytearray, str], bool]
"""Sets what one qualifier says, and tells whether the word is that qualifier."""


def _byte(offset: int, words: dict[str, int]) -> _Setter:
    def take(config: bytearray, word: str) -> bool:
        if word not in words:
            return False
        config[offset] |= words[word]
        return True

    return take


def _number(offset: int, pattern: str) -> _Setter:
    compiled = re.compile(pattern)

    def take(config: bytearray, word: str) -> bool:
        found = compiled.fullmatch(word)
        if found is None or int(found[1]) > 0xFFFF:  # noqa: PLR2004 - 16 bits
            return False
        struct.pack_into("<H", config, offset, int(found[1]))
        return True

    return take


def _network(config: bytearray, word: str) -> bool:
    if not re.fullmatch(r"mnc[0-9]{1,3}", word):
        return False
    struct.pack_into("<H", config, _MNC, int(word[3:]) or _MNC_ZERO)
    return True


def _density(config: bytearray, word: str) -> bool:
    found = re.fullmatch(r"([0-9]{1,5})dpi", word)
    density = _DENSITIES.get(word, int(found[1]) if found is not None else 0)
    if not 0 < density <= _MNC_ZERO:
        return False
    struct.pack_into("<H", config, _DENSITY, density)
    return True


def _screen_size(config: bytearray, word: str) -> bool:
    found = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", word)
    if found is None or int(found[1]) < int(found[2]):
        return False
    struct.pack_into("<HH", config, _WIDTH, int(found[1]), int(found[2]))
    return True


_BEFORE_LOCALE: Final[tuple[_Setter, ...]] = (_number(_MCC, r"mcc([0-9]{3})"), _network)
_AFTER_LOCALE: Final[tuple[_Setter, ...]] = (
    _byte(_GENDER, {"neuter": 1, "feminine": 2, "masculine": 3}),
    _byte(_LAYOUT, {"ldltr": 0x40, "ldrtl": 0x80}),
    _number(_SMALLEST_WIDTH, r"sw([0-9]{1,5})dp"),
    _number(_WIDTH_DP, r"w([0-9]{1,5})dp"),
    _number(_HEIGHT_DP, r"h([0-9]{1,5})dp"),
    _byte(_LAYOUT, {"small": 1, "normal": 2, "large": 3, "xlarge": 4}),
    _byte(_LAYOUT, {"notlong": 0x10, "long": 0x20}),
    _byte(_LAYOUT_2, {"notround": 1, "round": 2}),
    _byte(_COLOUR_MODE, {"nowidecg": 1, "widecg": 2}),
    _byte(_COLOUR_MODE, {"lowdr": 4, "highdr": 8}),
    _byte(_ORIENTATION, {"port": 1, "land": 2, "square": 3}),
    _byte(_MODE, {"desk": 2, "car": 3, "television": 4, "appliance": 5, "watch": 6, "vrheadset": 7}),
    _byte(_MODE, {"notnight": 0x10, "night": 0x20}),
    _density,
    _byte(_TOUCH, {"notouch": 1, "stylus": 2, "finger": 3}),
    _byte(_INPUT_FLAGS, {"keysexposed": 1, "keyshidden": 2, "keyssoft": 3}),
    _byte(_KEYBOARD, {"nokeys": 1, "qwerty": 2, "12key": 3}),
    _byte(_INPUT_FLAGS, {"navexposed": 4, "navhidden": 8}),
    _byte(_NAVIGATION, {"nonav": 1, "dpad": 2, "trackball": 3, "wheel": 4}),
    _screen_size,
    _number(_SDK, r"v([0-9]{1,5})"),
)


@cache
def compile_qualifier(qualifier: str) -> bytes:
    """Return the `ResTable_config` of a resource folder's qualifier, its size field included.

    Args:
        qualifier: What stands behind the first hyphen of the folder's name; empty for the default.

    Raises:
        InputError: a word in it is no qualifier, or stands in the wrong place.
    """
    config = bytearray(CONFIG_BYTES)
    config[0] = CONFIG_BYTES
    rest = _take_words(config, qualifier.split("-") if qualifier else [], _BEFORE_LOCALE)
    rest = _take_words(config, _take_locale(config, rest), _AFTER_LOCALE)
    if rest:
        message = f"{rest[0]!r} is no resource qualifier, or stands in the wrong place, in {qualifier!r}"
        raise InputError(message, hint="Name the folder as Android's documentation of resources orders them")
    _set_least_release(config)
    return bytes(config)


def _take_words(config: bytearray, words: list[str], setters: tuple[_Setter, ...]) -> list[str]:
    for take in setters:
        if words and take(config, words[0].lower()):
            words = words[1:]
    return words


def _take_locale(config: bytearray, words: list[str]) -> list[str]:
    text = "-".join(words)
    found = _BCP47_LOCALE.match(text) or _LEGACY_LOCALE.match(text)
    if found is None or found["language"].lower() == "car":  # a dock, not the Carib language
        return words
    parts = found.groupdict()
    config[_LANGUAGE : _LANGUAGE + 2] = _pack(parts["language"].lower(), "a")
    if parts["region"]:
        config[_REGION : _REGION + 2] = _pack(parts["region"].upper(), "0")
    if parts.get("script"):
        config[_SCRIPT : _SCRIPT + 4] = parts["script"].title().encode()
    if parts.get("variant"):
        config[_VARIANT : _VARIANT + 8] = parts["variant"].lower().encode().ljust(8, b"\0")
    rest = text[found.end() + 1 :]
    return rest.split("-") if rest else []


def _pack(letters: str, base: str) -> bytes:
    """Return two letters as they are, three in five bits each."""
    if len(letters) == 2:  # noqa: PLR2004 - the form with two letters
        return letters.encode()
    first, second, third = ((ord(letter) - ord(base)) & 0x1F for letter in letters)
    return bytes((0x80 | third << 2 | second >> 3, (second << 5 | first) & 0xFF))


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

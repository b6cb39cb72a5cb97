"""The properties of a document sent to an AppFunction, each read with its type (`Arguments.java`)."""

from __future__ import annotations

import calendar
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final, NoReturn

from droidgate_mappings.model.json_values import Json
from droidgate_phone.java.app_values import AppFunctionError
from droidgate_phone.java.java_text import java_double

ERROR_INVALID_ARGUMENT: Final = 1001
_LONGEST_CONSTANT: Final = 100


@dataclass(frozen=True, slots=True, order=True)
class DateTime:
    """`java.time.LocalDateTime`, which knows nanoseconds."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    nano: int

    def document(self) -> dict[str, Json]:
        """Return it as the document that AppFunctions carry."""
        return {name: [value] for name, value in zip(_DATE_TIME_PARTS, astuple(self), strict=True)}


_DATE_TIME_PARTS: Final[Mapping[str, tuple[int, int]]] = {
    "year": (1, 9999),
    "month": (1, 12),
    "dayOfMonth": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "nanoOfSecond": (0, 999_999_999),
}


class Arguments:
    """One document and where it is in the call; properties that the function does not read are ignored."""

    def __init__(self, document: Mapping[str, Json], where: str = "") -> None:
        self._document = document
        self._where = where

    def schema_type(self) -> str:
        """Return the document's schema type; empty where the caller named none."""
        schema_types = _list_of(self._document.get("schemaType"), str)
        return schema_types[0] if schema_types else ""

    def has(self, name: str) -> bool:
        """Return whether there is such a property."""
        return self._document.get(name) is not None

    def text(self, name: str, least: int, most: int) -> str:
        """Return one text of so many characters."""
        texts = _list_of(self._document.get(name), str)
        if texts is None or len(texts) != 1:
            self.refuse(name, "must be one text")
        return self._sized(name, texts[0], least, most)

    def text_or(self, name: str, least: int, most: int, fallback: str | None) -> str | None:
        """Return one text, or the fallback where there is none."""
        return self.text(name, least, most) if self.has(name) else fallback

    def texts(self, name: str, most: int, longest: int) -> list[str]:
        """Return a list of texts, empty where there is none."""
        if not self.has(name):
            return []
        texts = _list_of(self._document.get(name), str)
        if texts is None or len(texts) > most:
            self.refuse(name, f"must be a list of at most {most} texts")
        return [self._sized(name, item, 1, longest) for item in texts]

    def constant(self, name: str, constants: Sequence[str]) -> str:
        """Return one of an enum's constants."""
        text = self.text(name, 1, _LONGEST_CONSTANT)
        if text not in constants:
            self.refuse(name, f"must be one of [{', '.join(constants)}]")
        return text

    def constant_or(self, name: str, constants: Sequence[str], fallback: str | None) -> str | None:
        """Return one of an enum's constants, or the fallback where there is none."""
        return self.constant(name, constants) if self.has(name) else fallback

    def whole(self, name: str, least: int, most: int) -> int:
        """Return a whole number between two."""
        numbers = _list_of(self._document.get(name), int)
        if numbers is None or len(numbers) != 1 or not least <= numbers[0] <= most:
            self.refuse(name, f"must be a whole number from {least} to {most}")
        return int(numbers[0])

    def whole_or(self, name: str, least: int, most: int, fallback: int) -> int:
        """Return a whole number between two, or the fallback where there is none."""
        return self.whole(name, least, most) if self.has(name) else fallback

    def number(self, name: str, least: float, most: float) -> float:
        """Return a number between two; a whole one is accepted too, since the shell does not know types."""
        value = self._document.get(name)
        numbers = _list_of(value, float)
        if numbers is None:
            numbers = _list_of(value, int)
        if numbers is None or len(numbers) != 1 or not least <= numbers[0] <= most:
            self.refuse(name, f"must be a number from {java_double(least)} to {java_double(most)}")
        return float(numbers[0])

    def flag(self, name: str) -> bool:
        """Return a boolean."""
        flags = _list_of(self._document.get(name), bool)
        if flags is None or len(flags) != 1:
            self.refuse(name, "must be true or false")
        return bool(flags[0])

    def date_time(self, name: str) -> DateTime:
        """Return a date with its time."""
        parts = self.object(name)
        numbers = [parts.whole(part, *bounds) for part, bounds in _DATE_TIME_PARTS.items()]
        date_time = DateTime(*numbers)
        if date_time.day > calendar.monthrange(date_time.year, date_time.month)[1]:
            self.refuse(name, "names a day that does not exist")
        return date_time

    def object(self, name: str) -> Arguments:
        """Return one nested document."""
        documents = self.objects(name, 1)
        if len(documents) != 1:
            self.refuse(name, "must be one object")
        return documents[0]

    def objects(self, name: str, most: int) -> list[Arguments]:
        """Return nested documents."""
        documents = _list_of(self._document.get(name), dict)
        if documents is None or len(documents) > most:
            self.refuse(
                name, "must be an object" if most == 1 else f"must be a list of at most {most} objects"
            )
        return [Arguments(item, f"{self._where}{name}.") for item in documents]

    def refuse(self, name: str, reason: str) -> NoReturn:
        """Refuse a property.

        Raises:
            AppFunctionError: always, with 1001 and the place of the property.
        """
        raise AppFunctionError(ERROR_INVALID_ARGUMENT, f'"{self._where}{name}" {reason}')

    def _sized(self, name: str, text: str, least: int, most: int) -> str:
        if not least <= len(text) <= most:
            self.refuse(name, f"must have {least} to {most} characters")
        return text


def _list_of(value: Json, kind: type) -> list[Any] | None:
    """Return a property's values where all are of one type, as GenericDocument's typed arrays are."""
    is_list = isinstance(value, list | tuple)
    return list(value) if is_list and all(type(item) is kind for item in value) else None

"""Names of tools: at most 64 characters of `[A-Za-z0-9_-]`, never parsed back, and never changed.

A client's user allows a tool by its name, and models remember names. So a capability's name is assigned once
and kept in a file: another app that comes later never changes it, and it is never given to another
capability, not even after its own app is gone.
"""

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from droidgate.calls.subjects import TOOL_NAMES, tool_name
from droidgate.computer.private_files import exclusive_file, read_private, replace_private
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.model.json_values import readable_json
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import WRITTEN, parse_json
from droidgate_mappings.user_folders import configuration_folder

FILE_NAME: Final = "tool-names.json"
LOCK_NAME: Final = "tool-names.lock"
_LARGEST: Final = 1 << 26
_SUFFIX_LENGTHS: Final = (8, 16, 32, 48)
_WAY_OUT: Final = "move the file away; every tool is then named anew"
_SUFFIX: Final = re.compile(r"_[0-9a-f]{8}\Z")

_log = logging.getLogger(__name__)

_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


class _NameFile(Frozen):
    """Namespace -> SHA-256 of a capability's key -> its name."""

    version: Literal[1] = 1
    namespaces: dict[str, dict[_Digest, _Name]] = {}


@dataclass(frozen=True, slots=True)
class NamedCapability:
    """A capability that needs a name.

    Attributes:
        key: Unique in the namespace.
        package: Its app.
        identifier: Its id.
        prefix: The start of the name, such as the phone's serial number; may be empty.
    """

    key: str
    package: str
    identifier: str
    prefix: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the key, so that the file has texts of apps in names only."""
        return hashlib.sha256(self.key.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def short_name(self) -> str:
        """The name that it gets if no other capability has it: `notes_createNote`."""
        return tool_name(self.package, self.identifier, prefix=self.prefix)

    def with_suffix(self, length: int) -> str:
        """Return its name with that many hexadecimal digits of its key's SHA-256."""
        return f"{self.short_name[: TOOL_NAMES.max_length - length - 1]}_{self.digest[:length]}"


@dataclass(slots=True)
class ToolNames:
    """The names that were given; several servers may use one file.

    Attributes:
        folder: Where the file is; the user's configuration folder by default.
    """

    folder: Path = field(default_factory=configuration_folder)
    _given: dict[str, dict[str, str]] = field(default_factory=dict)

    def assign(self, namespace: str, capabilities: Iterable[NamedCapability]) -> dict[str, str]:
        """Return each capability's name by its key; a new one gets a name that nothing else ever had.

        Where the file cannot be used, names are kept while the server runs; that is logged.

        Args:
            namespace: What is served together, such as a phone's serial number.
            capabilities: What is served now.
        """
        every = {capability.digest: capability for capability in capabilities}
        names = self._given.setdefault(namespace, {})
        if not every.keys() <= names.keys():
            try:
                self._assign_in_file(namespace, every)
            except DroidgateError as error:
                _log.warning("names of tools are not kept: %s", error)
                names.update(new_names(every, names))
        return {capability.key: names[digest] for digest, capability in every.items()}

    def _assign_in_file(self, namespace: str, capabilities: Mapping[str, NamedCapability]) -> None:
        path = self.folder / FILE_NAME
        names = self._given[namespace]
        with exclusive_file(self.folder / LOCK_NAME):
            data = read_private(path, largest=_LARGEST)
            stored_names = {} if data is None else _read_names(data, str(path))
            before = stored_names.setdefault(namespace, {})
            # What this server gave while the file could not be used holds for as long as it runs.
            names.update(_without_names(_without_keys(before, names), names))
            names.update(new_names(capabilities, names))
            added = _without_names(_without_keys(names, before), before)
            if added:
                before.update(added)
                replace_private(path, _encode_names(stored_names))


def new_names(capabilities: Mapping[str, NamedCapability], taken: Mapping[str, str]) -> dict[str, str]:
    """Return names for the capabilities that have none; the order of the capabilities makes no difference.

    A name is the last part of the package and of the capability's id. Where another has it, but for case, or
    several new ones need it, each gets a suffix made from its own key.

    Args:
        capabilities: By digest; those included that have a name.
        taken: Digest -> name of every capability that was ever named.
    """
    new = {digest: capabilities[digest] for digest in sorted(capabilities.keys() - taken.keys())}
    used = {name.lower() for name in taken.values()}
    # Two that were named together both have a suffix; the name without it is not given to a third.
    shared = {_SUFFIX.sub("", name) for name in used}
    requested = Counter(capability.short_name.lower() for capability in new.values())
    names: dict[str, str] = {}
    for digest, capability in new.items():
        short = capability.short_name
        is_free = requested[short.lower()] == 1 and short.lower() not in used | shared
        candidates = map(capability.with_suffix, _SUFFIX_LENGTHS)
        name = short if is_free else next(name for name in candidates if name.lower() not in used)
        names[digest] = name
        used.add(name.lower())
    return names


def _without_keys(names: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    return {digest: name for digest, name in names.items() if digest not in others}


def _without_names(names: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    used = {name.lower() for name in others.values()}
    return {digest: name for digest, name in names.items() if name.lower() not in used}


def _encode_names(namespaces: Mapping[str, Mapping[str, str]]) -> bytes:
    file = _NameFile.model_validate({"namespaces": namespaces})
    return f"{readable_json(file.model_dump())}\n".encode()


def _read_names(data: bytes, place: str) -> dict[str, dict[str, str]]:
    try:
        file = _NameFile.model_validate(parse_json(data, path=place, limits=WRITTEN))
    except ValidationError:
        raise InputError("the file of names is damaged", place=place, hint=_WAY_OUT) from None
    except InputError as error:
        message = f"the file of names is damaged: {error.message}"
        raise InputError(message, place=error.place, hint=_WAY_OUT) from None
    for names in file.namespaces.values():
        if len({name.lower() for name in names.values()}) < len(names):
            raise InputError("the file of names has one name twice", place=place, hint=_WAY_OUT)
    return file.namespaces

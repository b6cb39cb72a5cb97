"""The resources of a source tree: every name gets its id, then everything is compiled.

Ids depend on nothing but the names: types are numbered in alphabetical order, and so are the resources of a
type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from droidgate_android.apk.binary_xml_writer import write_binary_xml
from droidgate_android.apk.resource_names import NamedResourceFile, NewId, ResourceNames, Source
from droidgate_android.apk.resource_table_writer import (
    CompiledResource,
    CompiledType,
    CompiledValue,
    write_resource_table,
)
from droidgate_android.apk.typed_values import string_value
from droidgate_android.apk.value_files import ID_VALUE, ValueCompiler
from droidgate_android.apk.xml_compiler import XmlCompiler
from droidgate_android.apk.xml_tree import TypedValue, ValueType
from droidgate_android.projects.manifest_limits import utf16_length
from droidgate_mappings.model.errors import InputError, WriteError
from droidgate_mappings.tables.framework_attributes import AttributeType, resource_id

APP_PACKAGE_ID: Final = 0x7F
_MAX_RESOURCES: Final = 0x10000


class ProjectResources:
    """The resources of one app, compiled.

    Args:
        names: What its tree declares; nothing is added to it afterwards.
        package: The app's package.
        aliases: Other packages under which references name the app's own resources, such as its namespace.
        package_id: First byte of the ids.

    Attributes:
        text_lengths: Id of each text in the last compiled table -> its length in any configuration, the
            longest, in UTF-16 units.

    Raises:
        WriteError: a type has more than 65,536 resources.
    """

    def __init__(
        self,
        names: ResourceNames,
        package: str,
        *,
        aliases: tuple[str, ...] = (),
        package_id: int = APP_PACKAGE_ID,
    ) -> None:
        self._names = names
        self._package = package
        self._own_names = frozenset({"", package, *aliases})
        self._package_id = package_id
        self.text_lengths: dict[int, int] = {}
        self._types: dict[str, list[str]] = {}
        for kind, name in sorted(names.sources):
            self._types.setdefault(kind, []).append(name)
        self._ids = {f"{kind}/{name}": number for kind, name, number in self._numbers()}
        self._attributes = {
            name: replace(attribute, id=self._ids[f"attr/{name}"])
            for name, attribute in names.attributes.items()
        }

    def resolve(self, reference: str, place: str) -> int:
        """Return the id of `@type/name`, `@package:type/name` or `@android:type/name`.

        Raises:
            InputError: there is no such resource.
        """
        package, _, name = reference.removeprefix("@").rpartition(":")
        if package == "android":
            kind, _, entry = name.partition("/")
            found = resource_id(kind, entry)
            if found is None:
                raise InputError(f"Android 16 has no public resource {reference}", place=place)
            return found
        found = self._ids.get(name) if package in self._own_names else None
        if found is None:
            hint = "resources of libraries from Maven are not packed; put it into the app's own res folder"
            raise InputError(f"there is no resource {reference}", place=place, hint=hint)
        return found

    def find_attribute(self, name: str) -> AttributeType | None:
        """Return the app's own attribute of that name, None where it declares none."""
        return self._attributes.get(name)

    def compile_files(self) -> dict[str, bytes | None]:
        """Return the files below `res` by path: compiled XML, or None for a file that is packed as it is.

        Raises:
            InputError: one cannot be compiled.
        """
        compiler = XmlCompiler(self, self._package)
        files = [
            source
            for values in self._names.sources.values()
            for source in values.values()
            if isinstance(source, NamedResourceFile)
        ]
        return {
            file.path: None
            if file.document is None
            else write_binary_xml(compiler.compile(file.document, self._names.spell(file.path)))
            for file in sorted(files, key=lambda file: file.path)
        }

    def compile_table(
        self, *, only: frozenset[str] | None = None, without: frozenset[str] = frozenset()
    ) -> bytes | None:
        """Return the resource table, None where the app has no resource.

        Args:
            only: Keep the values of these qualifiers alone.
            without: Leave the values of these qualifiers out.

        Raises:
            InputError: a value is not of its type, or leads nowhere.
        """
        compiler = ValueCompiler(self, self._attributes, self._names.findings)
        self.text_lengths = {}

        def values_of(kind: str, name: str) -> Iterator[tuple[str, CompiledValue]]:
            for qualifier, source in self._names.sources[kind, name].items():
                if qualifier not in without and (only is None or qualifier in only):
                    value = _compile(compiler, source)
                    self._note_length(self._ids[f"{kind}/{name}"], value)
                    yield qualifier, value

        types = [
            CompiledType(
                number, kind, [CompiledResource(name, dict(values_of(kind, name))) for name in names]
            )
            for number, (kind, names) in enumerate(self._types.items(), 1)
        ]
        return write_resource_table(self._package, types, package_id=self._package_id) if types else None

    def _note_length(self, identifier: int, value: CompiledValue) -> None:
        if isinstance(value, TypedValue) and value.type == ValueType.STRING:
            length = utf16_length(value.text or "")
            self.text_lengths[identifier] = max(length, self.text_lengths.get(identifier, 0))

    def _numbers(self) -> Iterator[tuple[str, str, int]]:
        for type_number, (kind, names) in enumerate(self._types.items(), 1):
            if len(names) > _MAX_RESOURCES:
                raise WriteError(f"an app has at most {_MAX_RESOURCES} resources of one type: {kind}")
            for number, name in enumerate(names):
                yield kind, name, self._package_id << 24 | type_number << 16 | number


def _compile(compiler: ValueCompiler, source: Source) -> CompiledValue:
    if isinstance(source, NamedResourceFile):
        return string_value(source.path)
    return ID_VALUE if isinstance(source, NewId) else compiler.compile(source)

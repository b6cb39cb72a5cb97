"""How apps of other agents' protocols are known, as data (reference mobile-mcp-and-mmcp 4 and 5)."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.loading import load_format_tables, read_table_file

AnchorKind = Literal["activity", "service", "receiver", "provider", "application"]
ToolsForm = Literal["ari", "catalog", "functions", "mcp-tools", "named-lists"]


class Anchor(Frozen):
    """Components by which an app speaks a protocol; one of the last three fields is given.

    Attributes:
        kind: Kind of the component.
        actions: Actions, any of which an intent filter names.
        authority_suffix: What follows the package name in a content provider's authority.
        flag: Name of a meta-data that is true.
    """

    kind: AnchorKind
    actions: tuple[str, ...] = ()
    authority_suffix: str | None = None
    flag: str | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Anchor:
        flags = [bool(self.actions), self.authority_suffix is not None, self.flag is not None]
        if flags.count(True) != 1:
            raise ValueError("an anchor has actions, an authority suffix or a flag, and one of them only")
        return self


class ToolsPlace(Frozen):
    """Where an app's files declare the tools.

    Attributes:
        place: An asset, the resource that a meta-data names, or a meta-data's value.
        form: The form of the text.
        name: The asset.
        meta_data: The meta-data.
    """

    place: Literal["asset", "resource", "value"] = Field(alias="in")
    form: ToolsForm = Field(alias="as")
    name: str | None = None
    meta_data: str | None = None

    @model_validator(mode="after")
    def _is_complete(self) -> ToolsPlace:
        if (self.name if self.place == "asset" else self.meta_data) is None:
            raise ValueError("an asset has a name, everything else a meta-data")
        return self


class DetailsPlace(Frozen):
    """A JSON asset with name and description: a file in the folder that a meta-data names."""

    folder_meta_data: str
    file: str


class ObservedProtocol(Frozen):
    """One protocol.

    Attributes:
        id: Id of its dialect in `formats/observed.toml`.
        source: Where its facts are from.
        anchors: The components by which an app speaks it.
        meta_data: Role (`name`, `description`, or a fact that is kept) -> names of meta-data.
        tools: Where the app's files declare the tools; None where only the running app does.
        details: A further file with name and description.
        found_by: What would find the tools that no file lists.
        not_beside: Protocols by which a component is not counted again under this one.
    """

    id: str
    source: str
    anchors: tuple[Anchor, ...] = Field(min_length=1)
    meta_data: dict[str, tuple[str, ...]] = {}
    tools: ToolsPlace | None = None
    details: DetailsPlace | None = None
    found_by: str
    not_beside: tuple[str, ...] = ()


@cache
def load_observed_protocols() -> tuple[ObservedProtocol, ...]:
    """Return the protocols in the order of their table.

    Raises:
        ValueError: a row does not fit the schema, or rows and dialects are not the same.
    """
    try:
        rows = tuple(
            ObservedProtocol.model_validate(row)
            for row in read_table_file("observed/protocols.toml")["protocols"]
        )
    except ValidationError as error:
        message = f"droidgate_mappings/tables/observed/protocols.toml: {error}"
        raise ValueError(message) from error
    ids = [row.id for row in rows]
    dialects = {dialect.id for dialect in load_format_tables("observed").dialects}
    if len(set(ids)) != len(ids) or set(ids) != dialects:
        message = (
            f"droidgate_mappings/tables/observed: rows and dialects differ: {sorted(set(ids) ^ dialects)}"
        )
        raise ValueError(message)
    return rows

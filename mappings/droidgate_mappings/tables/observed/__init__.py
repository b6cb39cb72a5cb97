"""How apps of other agents' protocols are known, as data (reference mobile-mcp-and-mmcp 4 and 5)."""

from functools import cache
from typing import Literal

from pydantic import Field

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.loading import load_table

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


class _ObservedTable(Frozen):
    protocols: tuple[ObservedProtocol, ...]


@cache
def load_observed_protocols() -> tuple[ObservedProtocol, ...]:
    """Return the protocols in the order of their table, a row for each dialect of `formats/observed.toml`.

    Raises:
        ValueError: a row does not fit the schema.
    """
    return load_table("observed/protocols.toml", _ObservedTable).protocols

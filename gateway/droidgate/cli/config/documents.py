"""What `config show --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from droidgate.cli.output.json_output import Document


class EffectiveSetting(Document):
    """A setting and its value.

    Attributes:
        name: The setting with its tables, such as `lint.fail-on`.
        value: What holds; null where the option's own default is none.
        origin: Where the value comes from.
        line: The line in the file, for a value from there.
        variable: The environment variable that sets it.
        about: What it does.
    """

    name: str
    value: bool | str | tuple[str, ...] | None
    origin: Literal["default", "file", "environment"]
    line: int | None
    variable: str
    about: str


class ConfigShowDocument(Document):
    """What `config show` prints.

    Attributes:
        file: The file that is read, null where there is none.
        settings: Each setting.
    """

    schema_id: Literal["droidgate.config-show/1"] = Field(default="droidgate.config-show/1", alias="schema")
    file: str | None
    settings: tuple[EffectiveSetting, ...]

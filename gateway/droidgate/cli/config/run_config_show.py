"""What `config show` does, and its document."""

from __future__ import annotations

import os
from enum import Enum
from typing import Any, Literal

from pydantic import Field
from typer.main import get_command

from droidgate.cli.config.config_file import ConfigurationFile, find_configuration
from droidgate.cli.config.config_options import ConfigShow
from droidgate.cli.config.settings import SETTINGS, Setting, commands_of, settings_of
from droidgate.cli.output.json_output import Document
from droidgate.cli.output.pages import Block, Line, Table
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.program import build_app
from droidgate_mappings.text.counted_nouns import amount


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


def show_configuration(_options: ConfigShow) -> Report:
    """Report each setting with its value and where it comes from.

    Raises:
        UsageError: the file cannot be read, or sets what it cannot set.
    """
    configuration = find_configuration(with_lines=True)
    defaults = _defaults(get_command(build_app()))
    settings = tuple(_setting(setting, configuration, defaults[setting.name]) for setting in SETTINGS)
    file = None if configuration.path is None else os.path.relpath(configuration.path)
    document = ConfigShowDocument(file=file, settings=settings)
    return Report(lambda: _page(document), lambda: document)


def _page(shown: ConfigShowDocument) -> list[Block]:
    rows = [
        (item.name, _text_of(item.value), _origin_of(item, shown.file), one_line(item.about))
        for item in shown.settings
    ]
    is_set = sum(item.origin != "default" for item in shown.settings)
    read = "no configuration file" if shown.file is None else one_line(shown.file)
    return [
        Table(("SETTING", "VALUE", "FROM", "ABOUT"), rows),
        Line(),
        Line(f"{read}; {is_set} of {amount(len(rows), 'setting')} set"),
    ]


def _defaults(program: Any) -> dict[str, Any]:
    """Return the built-in default of each setting."""
    return {
        setting.name: parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
        for command, item in commands_of(program)
        for setting in settings_of(command)
        for parameter in item.params
        if f"--{setting.key}" in parameter.opts
    }


def _setting(setting: Setting, configuration: ConfigurationFile, default: Any) -> EffectiveSetting:
    raw_value: Any = default
    origin: Literal["default", "file", "environment"] = "default"
    line = None
    value_in_environment = setting.value_in_environment()
    if value_in_environment is not None:
        raw_value, origin = value_in_environment, "environment"
    elif setting.name in configuration.values:
        raw_value, origin = configuration.values[setting.name], "file"
        line = configuration.lines.get(setting.name) or None
    value = tuple(raw_value) if isinstance(raw_value, list) else raw_value
    return EffectiveSetting(
        name=setting.name,
        value=value,
        origin=origin,
        line=line,
        variable=setting.variable,
        about=setting.about,
    )


def _text_of(value: bool | str | tuple[str, ...] | None) -> str:  # noqa: FBT001
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return one_line(value if isinstance(value, str) else " ".join(value))


def _origin_of(item: EffectiveSetting, place: str | None) -> str:
    if item.origin == "environment":
        return item.variable
    if item.origin == "file" and place is not None:
        return one_line(f"{place}:{item.line}" if item.line else place)
    return "default"

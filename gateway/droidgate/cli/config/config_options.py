"""`droidgate config show`."""

from __future__ import annotations

from droidgate.cli.command_classes import Command
from droidgate.cli.shared_options import AS_JSON


class ConfigShow(
    Command,
    short="Show each default that can be set, and where it comes from",
    work="droidgate.cli.config.run_config_show:show_configuration",
):
    """Show each default that can be set, its value, and where it comes from.

    An option on the command line wins over an environment variable, which wins over the file, which wins over
    what is built in. The file is droidgate.toml, or the table tool.droidgate of a pyproject.toml, in the
    working folder or the closest folder above it, up to the root of a repository or the home folder.
    """

    as_json: bool = AS_JSON

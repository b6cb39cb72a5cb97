"""Help of `cmd app_function`, generation by generation, from what each generation's verbs take.

AOSP's AppFunctionManagerServiceShellCommand; reference appfunctions 6.1 names the generations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_PACKAGE: Final = "    --package <PACKAGE_NAME>: The target package name."
_FUNCTION: Final = "    --function <FUNCTION_ID>: The ID of the app function"
_TO_USER: Final = "Defaults to the current user."


@dataclass(frozen=True, slots=True)
class HelpPart:
    """What one verb's help says.

    Attributes:
        generations: The generations that have it.
        lines: Its lines, without the empty line behind.
        flagged: It is shown with the access flags on only.
    """

    generations: frozenset[int]
    lines: tuple[str, ...]
    flagged: bool = False


def _since(first: int, last: int = 5) -> frozenset[int]:
    return frozenset(range(first, last + 1))


def _user(what: str) -> str:
    return f"    --user <USER_ID> (optional): The user ID {what}. {_TO_USER}"


def _execute(generations: frozenset[int], usage: str, title: str, *more: str) -> HelpPart:
    head = (
        "  execute-app-function --package <PACKAGE_NAME> --function <FUNCTION_ID> --parameters "
        "<PARAMETERS_JSON>"
    )
    return HelpPart(
        generations,
        (
            f"{head} [--user <USER_ID>]{usage}",
            f"    {title}",
            _PACKAGE,
            f"{_FUNCTION} to execute.",
            "    --parameters <PARAMETERS_JSON>: JSON string containing the parameters for the function.",
            _user("to execute the function under"),
            *more,
        ),
    )


_JSON_TITLE: Final = (
    "Executes an app function for the given package with the provided parameters  and returns the result "
    "as a "
    "JSON string"
)
_TIMEOUT: Final = (
    "    --timeout-duration <SECONDS> (optional): The timeout for the function execution in seconds. "
    "Defaults to 30 "
    "seconds."
)
_YAML: Final = "    --brief-yaml (optional): Prints a concise yaml output."
_PENDING: Final = (
    "    --pending-intent-path <PATH> (optional): The key in the response extras to extract and send a "
    "PendingIntent "
    "from. Can be nested using '.' as separator."
)


def _access(verb: str, title: str, agent: str) -> HelpPart:
    return HelpPart(
        _since(2),
        (
            (
                f"  {verb} --agent-package <AGENT_PACKAGE_NAME> --target-package <TARGET_PACKAGE_NAME> "
                "[--agent-user <USER_ID>] [--target-user <USER_ID>]"
            ),
            f"    {title}",
            f"    --agent-package <AGENT_PACKAGE_NAME>: The agent package to {agent}.",
            "    --target-package <TARGET_PACKAGE_NAME>: The target package.",
            f"    --agent-user <USER_ID> (optional): The user ID for the agent package. {_TO_USER}",
            f"    --target-user <USER_ID> (optional): The user ID for the target package. {_TO_USER}",
        ),
        flagged=True,
    )


_PARTS: Final[tuple[HelpPart, ...]] = (
    HelpPart(_since(1), ("  help", "    Prints this help text.")),
    HelpPart(
        _since(2, 4),
        (
            "  list-app-functions [--user <USER_ID>]",
            "    Lists all app functions for a specified user in JSON.",
            _user("to list functions for"),
        ),
    ),
    HelpPart(
        _since(5),
        (
            "  list-app-functions [--user <USER_ID>]",
            "    Lists all app functions for a specified user in JSON.",
            _user("to list functions for"),
            (
                "    --package <PACKAGE_NAME> (optional): Package name to list functions for. Defaults to "
                "all packages."
            ),
        ),
    ),
    _execute(
        _since(1, 1), "", "Executes an app function for the given package with the provided parameters."
    ),
    _execute(_since(2, 2), "", _JSON_TITLE),
    _execute(_since(3, 4), "[--timeout-duration <SECONDS>] [--brief-yaml]", _JSON_TITLE, _TIMEOUT, _YAML),
    _execute(
        _since(5),
        "[--timeout-duration <SECONDS>] [--brief-yaml] [--pending-intent-path <PATH>]",
        _JSON_TITLE,
        _TIMEOUT,
        _YAML,
        _PENDING,
    ),
    HelpPart(
        _since(1),
        (
            (
                "  set-enabled --package <PACKAGE_NAME> --function <FUNCTION_ID> --state <enable|disable> "
                "[--user <USER_ID>]"
            ),
            "    Enables or disables an app function for the specified package.",
            _PACKAGE,
            f"{_FUNCTION}.",
            "    --state <enable|disable|default>: The desired enabled state.",
            _user("under which to set the function state"),
        ),
    ),
    HelpPart(
        _since(5),
        (
            "  is-enabled --package <PACKAGE_NAME> --function <FUNCTION_ID> [--user <USER_ID>]",
            "    Checks if an app function is enabled for the specified package.",
            _PACKAGE,
            f"{_FUNCTION}.",
            _user("under which to check the function state"),
        ),
    ),
    HelpPart(_since(4, 4), ("  enable-allowlist", "    Enables the allowlist.")),
    HelpPart(_since(4, 4), ("  disable-allowlist", "    Disables the allowlist.")),
    HelpPart(_since(4), ("  purge-allowlist-cache", "    Purges the allowlist cache.")),
    _access(
        "grant-app-function-access", "Grants an agent package access to an app's functions.", "grant access"
    ),
    _access(
        "revoke-app-function-access",
        "Revokes an agent package's access to an app's functions.",
        "revoke access from",
    ),
)


def help_text(generation: int) -> str:
    """Return the help of a generation; only generation 2 has the access commands without a flag."""
    parts = [
        item
        for item in _PARTS
        if generation in item.generations and (not item.flagged or generation == _WITHOUT_FLAGS)
    ]
    blocks = ("\n".join(part.lines) + "\n\n" for part in parts)
    return "AppFunctionManagerService commands:\n" + "".join(blocks)


_WITHOUT_FLAGS: Final = 2

"""Calls of app functions in the JSON form of `cmd app_function` (reference appfunctions 4, 6.3, 6.4). No I/O.

The shell turns `--parameters` into a GenericDocument by the JSON's own types, so a double has to be written
`5.0` and an integer `5`; null, empty lists and lists in lists are lost. A result comes back with
every property in a list. Values are JSON values (`droidgate_mappings.model.json_values`); bytes cannot cross
the shell, and void and platform objects are None.

Whatever they are given, these functions raise `AppFunctionWireError` and nothing else.
"""

from __future__ import annotations

from droidgate_appfunctions.wire_parameters import Loss, read_parameters, write_parameters
from droidgate_appfunctions.wire_results import RETURN_KEY, read_result, write_result
from droidgate_appfunctions.wire_values import (
    MAX_DEPTH,
    SCHEMA_TYPE_KEY,
    AppFunctionWireError,
    Definitions,
    WireProblem,
)
from droidgate_mappings.tables.failure_tokens import code_of_token, token_of_code

__all__ = [
    "MAX_DEPTH",
    "RETURN_KEY",
    "SCHEMA_TYPE_KEY",
    "AppFunctionWireError",
    "Definitions",
    "Loss",
    "WireProblem",
    "code_of_token",
    "read_parameters",
    "read_result",
    "token_of_code",
    "write_parameters",
    "write_result",
]

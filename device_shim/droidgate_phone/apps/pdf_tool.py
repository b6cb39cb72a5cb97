"""The PDF tool: an mMCP activity that runs one call and hands the result back (`ToolActivity.java`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_phone.app_api.behaviour import Activity, App
from droidgate_phone.app_api.views import View
from droidgate_phone.apps.pdf_tools import PdfTools, ToolError
from droidgate_phone.apps.schema_check import problem_with
from droidgate_phone.intents import Bundle, Intent
from droidgate_phone.java_text import java_length
from droidgate_phone.org_json import JsonError, parse_object, write_json

ACTION_CALL: Final = "com.example.mMCP.ACTION_TOOL_CALL"
MANIFEST: Final = "mMCP_manifest"
EXTRA_TOOL: Final = "tool_name"
EXTRA_PARAMETERS: Final = "parameters"
EXTRA_RESULT: Final = "result"
EXTRA_ERROR: Final = "error"

_PACKAGE: Final = "dev.droidgate.sample.pdftool"
_CLASS: Final = f"{_PACKAGE}.ToolActivity"
_LONGEST_PARAMETERS: Final = 64 * 1024
_RESULT_OK: Final = -1
_RESULT_CANCELED: Final = 0


class ToolActivity(Activity):
    """Checks a call against its own meta-data and runs it."""

    def on_create(self, intent: Intent) -> None:
        """Serve the call and finish."""
        if intent.action != ACTION_CALL:
            self.set_result(_RESULT_CANCELED)
        else:
            self._serve(intent)
        self.finish()

    def view(self) -> View | None:
        """Return None: the activity is translucent."""
        return None

    def _serve(self, intent: Intent) -> None:
        try:
            answer = {EXTRA_RESULT: write_json(self._call(intent))}
            code = _RESULT_OK
        except ToolError as error:
            answer = {EXTRA_ERROR: str(error), EXTRA_RESULT: f"Error: {error}"}
            code = _RESULT_CANCELED
        self.set_result(code, Intent(extras=Bundle.of_strings(answer)))

    def _call(self, intent: Intent) -> dict[str, Json]:
        tool = intent.extras.get_string(EXTRA_TOOL)
        if not tool:
            raise ToolError("no tool is named")
        schema = self._schema_of(tool)
        arguments = _arguments_from(intent.extras.get_string(EXTRA_PARAMETERS))
        problem = problem_with(schema, arguments)
        if problem is not None:
            raise ToolError(problem)
        return PdfTools(self.context).run(tool, arguments)

    def _schema_of(self, tool: str) -> Mapping[str, Json]:
        """Return a tool's parameters from the very text that assistants read."""
        try:
            tools = json.loads(self.context.read_meta_data(_CLASS, MANIFEST) or "")["tools"]
            found = next((other["parameters"] for other in tools if other["name"] == tool), None)
        except (ValueError, LookupError, TypeError) as error:
            raise ToolError("the tool failed: JSONException") from error
        if found is None:
            raise ToolError(f'unknown tool "{tool}"')
        return dict(found)


def _arguments_from(parameters: str | None) -> dict[str, Json]:
    if not parameters:
        return {}
    if java_length(parameters) > _LONGEST_PARAMETERS:
        raise ToolError(f"the parameters are longer than {_LONGEST_PARAMETERS} characters")
    try:
        return parse_object(parameters)
    except JsonError:
        raise ToolError("the parameters are not a JSON object") from None


class PdfToolApp(App):
    """Behaviour of the PDF tool."""

    PACKAGE = _PACKAGE
    ACTIVITIES = {_CLASS: ToolActivity}

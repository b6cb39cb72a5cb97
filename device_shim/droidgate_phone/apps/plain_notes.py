"""The legacy notes app: `createNote` on the bare platform classes (`PlainNotesService.java`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.document_arguments import Arguments
from droidgate_phone.apps.preferences import Preferences
from droidgate_phone.java.app_values import AppFunctionError
from droidgate_phone.system.behaviour import App, AppFunctionService

ERROR_FUNCTION_NOT_FOUND: Final = 1003
ERROR_APP_UNKNOWN_ERROR: Final = 3000

_PACKAGE: Final = "dev.droidgate.sample.notes.legacy"
_MOST_NOTES: Final = 1000
_LONGEST_TITLE: Final = 120
_LONGEST_CONTENT: Final = 20_000
_PRIORITIES: Final = (1, 5)
_DEFAULT_PRIORITY: Final = 3


class PlainNotesService(AppFunctionService):
    """Keeps notes in the app's preferences."""

    def on_execute(self, function_id: str, parameters: Mapping[str, Json]) -> Mapping[str, Json]:
        """Execute `createNote`."""
        if function_id != "createNote":
            raise AppFunctionError(ERROR_FUNCTION_NOT_FOUND, f'This app has no function "{function_id}"')
        arguments = Arguments(parameters)
        title = arguments.text("title", 1, _LONGEST_TITLE)
        content = arguments.text("content", 0, _LONGEST_CONTENT)
        priority = arguments.whole_or("priority", *_PRIORITIES, _DEFAULT_PRIORITY)
        note_id = self._keep(title, content, priority)
        return {"noteId": [note_id], "message": [f'Noted "{title}" with priority {priority}.']}

    def _keep(self, title: str, content: str, priority: int) -> str:
        preferences = Preferences(self.context.files, "notes")
        try:
            notes = list(json.loads(preferences.strings.get("notes", "[]")))
        except (ValueError, TypeError):
            raise AppFunctionError(ERROR_APP_UNKNOWN_ERROR, "The note could not be kept") from None
        if len(notes) >= _MOST_NOTES:
            raise AppFunctionError(ERROR_APP_UNKNOWN_ERROR, f"There is room for {_MOST_NOTES} notes only")
        note_id = f"note-{len(notes) + 1}"
        notes.append({"noteId": note_id, "title": title, "content": content, "priority": priority})
        preferences.strings["notes"] = json.dumps(notes)
        preferences.save()
        return note_id


class PlainNotesApp(App):
    """Behaviour of the legacy notes app."""

    PACKAGE = _PACKAGE
    APP_FUNCTION_SERVICES = {f"{_PACKAGE}.PlainNotesService": PlainNotesService}

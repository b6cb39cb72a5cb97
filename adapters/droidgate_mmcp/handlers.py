"""Java that answers mMCP calls: an activity, or a broadcast receiver, and the calls without Android.

Rules: specification 2, 3; reference mobile-mcp-and-mmcp 3.2, 3.3 and section 6; android-runtime 1.5.
"""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import quoteattr

from droidgate_android.handlers.author_class import write_author_class
from droidgate_android.handlers.java import (
    fill_template,
    java_string,
    java_string_parts,
    write_shared_classes,
)
from droidgate_android.handlers.places import ClassPlace, caller_notes, place_classes
from droidgate_mappings.formats.format import Artifact, HandlerCode, HandlerRequest
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mmcp.discovery import write_discovery
from droidgate_mmcp.format import BROADCAST, NAMES

_ATTRIBUTES: Final = {
    "configChanges": "orientation|screenSize|screenLayout|keyboardHidden|uiMode|density|fontScale|locale",
    "excludeFromRecents": "true",
    "theme": "@android:style/Theme.Translucent.NoTitleBar",
}
_RESULT_OBJECT: Final = """
    /** A result is the text of a JSON object: a text is under "text", any other value under "value". */
    private static String textOf(Object result) throws JSONException {
        if (result instanceof JSONObject) {
            return result.toString();
        }
        if (result == null) {
            return "{}";
        }
        return new JSONObject().put(result instanceof String ? "text" : "value", result).toString();
    }"""
_RESULT_TEXT: Final = """
    /** A result is plain text: a text as it is, any other value as JSON. */
    private static String textOf(Object result) throws JSONException {
        if (result instanceof String) {
            return (String) result;
        }
        if (result == null) {
            return "";
        }
        return result instanceof JSONObject || result instanceof JSONArray
                ? result.toString()
                : String.valueOf(result);
    }"""


def write_handlers(request: HandlerRequest) -> HandlerCode:
    """Return the component, its plain Java half, and the class that the app's author fills in.

    Raises:
        WriteError: the component's name cannot be a class of Java.
    """
    provider, broadcast = request.provider, request.dialect.id == BROADCAST
    place = place_classes(provider.component, request.namespace)
    author = write_author_class(provider, place, request.language, request.functions)
    artifacts = [
        *write_shared_classes(provider, place),
        place.java("Requests", _write_requests(provider, place, broadcast=broadcast)),
        place.file(f"{place.component}.java", _write_component(place, broadcast=broadcast)),
        *author.artifacts,
    ]
    if broadcast:
        action = "sends the broadcast"
    else:
        action = "starts the activity"
        artifacts.append(Artifact("AndroidManifest.xml", _write_manifest(provider, place), "manifest"))
    fact = f"The caller that {action} cannot be identified for certain"
    notes = (*caller_notes(provider.access, place, fact), *author.notes)
    return HandlerCode(tuple(artifacts), component=place.component_name, notes=notes)


def _write_requests(provider: Provider, place: ClassPlace, *, broadcast: bool) -> str:
    return fill_template(
        "droidgate_mmcp",
        "Requests.java",
        place,
        # A broadcast's client sends every value as a text (row M49).
        texts_count="true" if broadcast else "false",
        text_of=_RESULT_TEXT + _tools(write_discovery(provider)) if broadcast else _RESULT_OBJECT,
    )


def _tools(extras: dict[str, Json]) -> str:
    tools = extras[NAMES["broadcast_tools_extra"]]
    names = "".join(f"        {java_string(tool)},\n" for tool in tools)
    texts = "".join(
        f"        {{{java_string(name)}, text(\n{java_string_parts(value, ' ' * 16)})}},\n"
        for name, value in extras.items()
        if isinstance(value, str)
    )
    return f"""

    /** The names of the tools. */
    static final String[] TOOLS = {{
{names}    }};

    /** What discovery reports about them: names and texts of result extras. */
    static final String[][] TEXTS = {{
{texts}    }};

    private static String text(String... parts) {{
        StringBuilder text = new StringBuilder();
        for (String part : parts) {{
            text.append(part);
        }}
        return text.toString();
    }}"""


def _write_component(place: ClassPlace, *, broadcast: bool) -> str:
    if broadcast:
        return fill_template(
            "droidgate_mmcp",
            "Receiver.java",
            place,
            discovery_action=java_string(NAMES["discovery_action"]),
            invoke_action=java_string(NAMES["invoke_action"]),
            tool_extra=java_string(NAMES["broadcast_tool_extra"]),
            parameters_extra=java_string(NAMES["broadcast_parameters_extra"]),
            tools_extra=java_string(NAMES["broadcast_tools_extra"]),
        )
    return fill_template(
        "droidgate_mmcp",
        "Activity.java",
        place,
        call_action=java_string(NAMES["call_action"]),
        tool_extra=java_string(NAMES["tool_extra"]),
        parameters_extra=java_string(NAMES["parameters_extra"]),
        result_extra=java_string(NAMES["result_extra"]),
        error_extra=java_string(NAMES["error_extra"]),
    )


def _write_manifest(provider: Provider, place: ClassPlace) -> str:
    """Return what the activity needs next to its descriptor: to be unseen, and to stay while it works."""
    stated = {"name": provider.component or place.component_name, **_ATTRIBUTES}
    attributes = " ".join(f"android:{name}={quoteattr(value)}" for name, value in stated.items())
    return (
        '<manifest xmlns:android="http://schemas.android.com/apk/res/android">\n    <application>\n'
        f"        <activity {attributes} />\n    </application>\n</manifest>\n"
    )

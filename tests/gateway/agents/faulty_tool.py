"""A tool app of each protocol that is right, or has one fault.

Its service for Mobile-MCP is in `Tool.java`, both forms of mMCP are in `Mmcp.java`.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from device_shim.phone_system.phone_system_apps import make_apk
from droidgate_phone.java.app_values import (
    AppCrashError,
    AppFunctionError,
    CallingPackage,
    CancellationSignal,
)
from droidgate_phone.system.behaviour import Activity, App, AppFunctionService, Context
from droidgate_shim.builder.sample_apps import sample_apps_directory

TOOL = "com.example.faulty"
_SCHEMA = sample_apps_directory() / "notes/app/src/main/assets/app_functions_schema.xsd"
CALL = {"echo": {"text": "hello", "count": 2}}
DESCRIPTOR = """<mobile-mcp-capabilities version="1.0">
  <capability id="echo" description="Returns what it is given." version="1.0">
    <input>
      <param name="text" type="string" required="true" description="Any text" />
      <param name="count" type="integer" required="false" description="Any number" />
    </input>
    <output>
      <param name="text" type="string" description="The text" />
      <param name="count" type="integer" description="The number" />
    </output>
  </capability>
</mobile-mcp-capabilities>"""
_MANIFEST = json.dumps(
    {
        "instructions": "An app of the tests.",
        "tools": [
            {"name": "echo", "description": "Returns what it is given.", "parameters": {"type": "object"}}
        ],
    }
)
_META_DATA = (
    '<meta-data android:name="mobile.mcp.tool.name" android:value="Faulty" />'
    '<meta-data android:name="mobile.mcp.tool.description" android:value="An app of the tests" />'
    '<meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/capabilities" />'
)
_FILTER = (
    '<intent-filter><action android:name="{}" />'
    '<category android:name="android.intent.category.{}" /></intent-filter>'
)
_SERVICE = (
    '<service android:name=".Tool" android:exported="true"><intent-filter>'
    f'<action android:name="mobile.mcp.SERVICE" /></intent-filter>{_META_DATA}</service>'
)
_SCREEN = (
    '<activity android:name=".Screen" android:exported="true">'
    + _FILTER.format("com.example.mMCP.ACTION_TOOL_ADVERTISE", "DEFAULT")
    + _FILTER.format("com.example.mMCP.ACTION_TOOL_CALL", "DEFAULT")
    + f"<meta-data android:name=\"mMCP_manifest\" android:value='{_MANIFEST}' /></activity>"
)
_RADIO = (
    '<receiver android:name=".Radio" android:exported="true"><intent-filter>'
    '<action android:name="com.example.ACTION_MMCP_DISCOVERY" />'
    '<action android:name="com.example.ACTION_MMCP_INVOKE" /></intent-filter></receiver>'
)
_FUNCTIONS = (
    '<service android:name=".Functions" android:exported="true"'
    ' android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">'
    '<property android:name="android.app.appfunctions.schema" android:value="app_functions_schema.xsd" />'
    '<property android:name="android.app.appfunctions.v2" android:value="functions.xml" />'
    '<intent-filter><action android:name="android.app.appfunctions.AppFunctionService" /></intent-filter>'
    "</service>"
)
FUNCTION = f"{TOOL}.Functions#echo"


def _typed(element: str, number: int, more: str = "") -> str:
    return f"<{element}><id>unused</id><isNullable>false</isNullable><type>{number}</type>{more}</{element}>"


def _member(element: str, name: str, number: int, more: str = "") -> str:
    kind = _typed("dataTypeMetadata", number)
    return f"<{element}>{kind}<id>unused</id>{more}<name>{name}</name></{element}>"


FUNCTIONS = (
    f"<appfunctions><appfunction><id>{FUNCTION}</id><enabledByDefault>true</enabledByDefault>"
    "<description>Returns what it is given.</description>"
    + _member("parameters", "text", 8, "<isRequired>true</isRequired>")
    + _member("parameters", "count", 7, "<isRequired>false</isRequired>")
    + "<response><id>unused</id>"
    + _typed(
        "valueType",
        3,
        _member("properties", "text", 8) + _member("properties", "count", 7) + "<required>text</required>",
    )
    + f"</response><functionId>{FUNCTION}</functionId></appfunction></appfunctions>"
)
_MAIN = (
    '<activity android:name=".Main" android:exported="true">'
    + _FILTER.format("android.intent.action.MAIN", "LAUNCHER")
    + "</activity>"
)
COMPONENTS = {
    "mobile-mcp": _SERVICE,
    "mmcp": _SCREEN,
    "mmcp-broadcast": _RADIO,
    "appfunctions": _FUNCTIONS,
}


def faulty_apk(protocol: str, *, descriptor: str = DESCRIPTOR, functions: str = FUNCTIONS) -> bytes:
    """Return the app with one of `COMPONENTS`."""
    files = {"res/xml/capabilities.xml": descriptor}
    if protocol == "appfunctions":
        schema = _SCHEMA.read_text(encoding="utf-8")
        files = {"assets/functions.xml": functions, "assets/app_functions_schema.xsd": schema}
    return make_apk(TOOL, COMPONENTS[protocol] + _MAIN, files=files)


class Planted:
    """The fault, and what is open because of it."""

    fault: ClassVar[str] = ""
    _busy_with: ClassVar[str | None] = None

    @classmethod
    def plant(cls, fault: str) -> None:
        """Have the app's next calls show a fault."""
        cls.fault, cls._busy_with = fault, None

    @classmethod
    def answer_alone(cls, context: Context, answer: Callable[[], None], caller: str = "") -> None:
        """Answer later, and nothing else until then but the same caller where one is named."""
        if cls._busy_with is not None and (not caller or cls._busy_with != caller):
            return
        cls._busy_with = caller

        def answer_now() -> None:
            cls._busy_with = None
            answer()

        context.platform.after(0.6, answer_now)


class Functions(AppFunctionService):
    """The function, and its faults."""

    def on_execute_later(
        self,
        function_id: str,
        parameters: Mapping[str, Any],
        calling_package: CallingPackage,
        signal: CancellationSignal,
        on_outcome: Callable[[Mapping[str, Any] | AppFunctionError], None],
    ) -> None:
        del function_id, signal
        fault, text, count = Planted.fault, parameters.get("text"), parameters.get("count", [1])
        names = {"text", "count"}
        if fault == "silent" or (fault == "silent on more" and not parameters.keys() <= names):
            return
        if fault == "crash" and not parameters:
            raise AppCrashError
        if text is None:
            takes = fault == "nothing required"
        else:
            takes = fault == "any type" or (isinstance(text[0], str) and isinstance(count[0], int))
        value: dict[str, list[Any]] = {
            "text": [str(text)],
            "count": ["2" if fault == "output as text" else 2],
        }
        if fault == "undeclared output":
            value["more"] = [""]
        if fault == "no output":
            value = {}
        if fault == "two outputs":
            value["text"] *= 2
        code = 3000 if fault == "a code of its own" else 1001
        refusal = AppFunctionError(code, "the arguments are not those that are declared")
        outcome = {"androidAppfunctionsReturnValue": [value]} if takes else refusal
        if fault == "one at a time":
            Planted.answer_alone(self.context, lambda: on_outcome(outcome))
        elif fault == "one caller":
            Planted.answer_alone(self.context, lambda: on_outcome(outcome), calling_package.name)
        else:
            on_outcome(outcome)


class FaultyApp(App):
    """The app, with the fault that is planted."""

    PACKAGE = TOOL
    ACTIVITIES = {f"{TOOL}.Main": Activity}
    APP_FUNCTION_SERVICES = {f"{TOOL}.Functions": Functions}

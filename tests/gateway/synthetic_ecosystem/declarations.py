"""How a made-up app declares its capabilities in each protocol: as text, without droidgate's writers."""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.synthetic_ecosystem.names import MadeCapability, Parameter

_HEADER = '<?xml version="1.0" encoding="utf-8"?>\n'


@dataclass(frozen=True)
class Declared:
    """One protocol's part of an app.

    `components` and `files` (by path below `src/main`) are what the source tree holds; `capabilities` are the
    ids that a reader should find, in order of the file. With `when_asked` only the running app lists them.
    """

    protocol: str
    dialect: str
    components: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    when_asked: bool = False


Declare = Callable[[str, Sequence[MadeCapability]], Declared]


def mobile_mcp(package: str, made: Sequence[MadeCapability]) -> Declared:
    return _mobile_mcp("1.0", "mobile.mcp.SERVICE", ' version="1.0"', package, made)


def mobile_mcp_prototype(package: str, made: Sequence[MadeCapability]) -> Declared:
    return _mobile_mcp("prototype", "com.example.mcpdemo.COMMAND_GATEWAY", "", package, made)


def _mobile_mcp(
    dialect: str, action: str, form: str, package: str, made: Sequence[MadeCapability]
) -> Declared:
    version = "1.0" if form else "1"
    files = {"res/xml/mobile_capabilities.xml": _mobile_mcp_file(form, made, version)}
    names = tuple(item.snake_name for item in made)
    return Declared("mobile-mcp", dialect, _mobile_mcp_service(action, package), files, names)


def _mobile_mcp_service(action: str, package: str) -> str:
    return f"""
        <service android:name=".ToolService" android:exported="true">
            <intent-filter><action android:name="{action}" /></intent-filter>
            <meta-data android:name="mobile.mcp.tool.name" android:value="Tools of {package}" />
            <meta-data android:name="mobile.mcp.tool.description" android:value="A made-up app" />
            <meta-data
                android:name="mobile.mcp.tool.capabilities" android:resource="@xml/mobile_capabilities" />
        </service>"""


def _mobile_mcp_file(form: str, made: Sequence[MadeCapability], version: str) -> bytes:
    lines = [_HEADER, f"<mobile-mcp-capabilities{form}>\n"]
    for item in made:
        lines.append(
            f'    <capability id="{item.snake_name}" description={quoteattr(item.description)} '
            f'version="{version}">\n'
        )
        parameters = "".join(
            f'<param name="{each.name}" type="{_JSON_TYPES[each.kind]}" '
            f'required="{str(each.required).lower()}" description={quoteattr(each.description)} />'
            for each in item.parameters
        )
        lines.append(f"        <input>{parameters}</input>\n" if parameters else "")
        lines.append("    </capability>\n")
    lines.append("</mobile-mcp-capabilities>\n")
    return "".join(lines).encode()


_JSON_TYPES = {"string": "string", "boolean": "boolean", "int32": "integer", "double": "number"}
_CODES = {"string": 8, "boolean": 1, "int32": 7, "double": 4}
_JAVA_WORDS = {"string": "string", "boolean": "boolean", "int32": "int", "double": "double"}


def mmcp(_package: str, made: Sequence[MadeCapability]) -> Declared:
    document = json.dumps(
        {
            "protocolVersion": "1.0",
            "instructions": "A made-up app.",
            "tools": [
                {
                    "name": item.snake_name,
                    "description": item.description,
                    "parameters": _json_schema(item.parameters),
                }
                for item in made
            ],
        }
    )
    component = f"""
        <activity android:name=".ToolActivity" android:exported="true">
            <intent-filter>
                <action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE" />
                <action android:name="com.example.mMCP.ACTION_TOOL_CALL" />
                <category android:name="android.intent.category.DEFAULT" />
            </intent-filter>
            <meta-data android:name="mMCP_manifest" android:value={quoteattr(document)} />
        </activity>"""
    return Declared("mmcp", "1.0", component, {}, tuple(item.snake_name for item in made))


def _json_schema(parameters: Sequence[Parameter]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {
            parameter.name: {"type": _JSON_TYPES[parameter.kind], "description": parameter.description}
            for parameter in parameters
        },
        "required": [parameter.name for parameter in parameters if parameter.required],
    }


def mmcp_broadcast(_package: str, _made: Sequence[MadeCapability]) -> Declared:
    component = """
        <receiver android:name=".ToolReceiver" android:exported="true">
            <intent-filter>
                <action android:name="com.example.ACTION_MMCP_DISCOVERY" />
                <action android:name="com.example.ACTION_MMCP_INVOKE" />
            </intent-filter>
        </receiver>"""
    return Declared("mmcp", "broadcast", component, when_asked=True)


def app_functions_v2(package: str, made: Sequence[MadeCapability]) -> Declared:
    ids = [f"{package}.Functions#{item.camel_name}" for item in made]
    functions = "".join(_v2_function(name, item, "id") for name, item in zip(ids, made, strict=True))
    return _app_functions("v2", ids, functions, schema="notes/app", holder="v2")


def app_functions_legacy(package: str, made: Sequence[MadeCapability]) -> Declared:
    ids = [f"{package}.Functions#{item.camel_name}" for item in made]
    functions = "".join(_v2_function(name, item, "function_id") for name, item in zip(ids, made, strict=True))
    functions = functions.replace("enabledByDefault", "enabled_by_default")
    return _app_functions("v2-legacy", ids, functions, schema="notes/app", holder="v2")


def _v2_function(name: str, item: MadeCapability, id_tag: str) -> str:
    parameters = "".join(
        f"<parameters><dataTypeMetadata><id>unused</id><isNullable>false</isNullable>"
        f"<type>{_CODES[each.kind]}</type></dataTypeMetadata><id>unused</id>"
        f"<isRequired>{str(each.required).lower()}</isRequired><name>{each.name}</name>"
        f"<description>{escape(each.description)}</description></parameters>"
        for each in item.parameters
    )
    identity = f"<id>{name}</id>" if id_tag == "id" else f"<id>unused</id><function_id>{name}</function_id>"
    return (
        f"<appfunction>{identity}<enabledByDefault>true</enabledByDefault>"
        f"<description>{escape(item.description)}</description>{parameters}<response><id>unused</id>"
        f"<valueType><id>unused</id><isNullable>false</isNullable><type>0</type></valueType></response>"
        + (f"<functionId>{name}</functionId>" if id_tag == "id" else "")
        + "</appfunction>\n"
    )


def app_functions_v1(package: str, made: Sequence[MadeCapability]) -> Declared:
    ids = [f"{package}.Functions#{item.camel_name}" for item in made]
    functions = "".join(
        f"<appfunction><function_id>{name}</function_id><schema_category>made</schema_category>"
        f"<schema_name>{item.camel_name}</schema_name><schema_version>1</schema_version>"
        "<enabled_by_default>true</enabled_by_default></appfunction>\n"
        for name, item in zip(ids, made, strict=True)
    )
    return _app_functions("v1", ids, functions, schema=None, holder=None)


def app_functions_platform(_package: str, made: Sequence[MadeCapability]) -> Declared:
    ids = [item.camel_name for item in made]
    functions = "".join(
        f"<AppFunctionStaticMetadata><id>{name}</id><functionId>{name}</functionId>"
        f"<enabledByDefault>true</enabledByDefault><description>{escape(item.description)}</description>"
        + "".join(
            f"<paramNames>{each.name}</paramNames><paramTypes>{_JAVA_WORDS[each.kind]}</paramTypes>"
            f"<paramRequired>{str(each.required).lower()}</paramRequired>"
            for each in item.parameters
        )
        + "</AppFunctionStaticMetadata>\n"
        for name, item in zip(ids, made, strict=True)
    )
    return _app_functions("platform", ids, functions, schema="notes/legacy", holder="v2")


_SCHEMA_FILES = {"notes/app": "app_functions_schema.xsd", "notes/legacy": "app_function_schema.xml"}


def _app_functions(
    dialect: str, ids: Sequence[str], functions: str, *, schema: str | None, holder: str | None
) -> Declared:
    files = {"assets/functions.xml": f"{_HEADER}<appfunctions>\n{functions}</appfunctions>\n".encode()}
    properties = f'<property android:name="{_property(holder)}" android:value="functions.xml" />'
    if schema is not None:
        files["assets/functions.xsd"] = _schema(schema)
        properties += (
            '<property android:name="android.app.appfunctions.schema" android:value="functions.xsd" />'
        )
    component = f"""
        <service android:name=".FunctionService" android:exported="true"
            android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">
            {properties}
            <intent-filter>
                <action android:name="android.app.appfunctions.AppFunctionService" />
            </intent-filter>
        </service>"""
    return Declared("appfunctions", dialect, component, files, tuple(ids))


def _property(holder: str | None) -> str:
    return "android.app.appfunctions" if holder is None else f"android.app.appfunctions.{holder}"


@functools.cache
def _schema(sample: str) -> bytes:
    folder: Path = sample_apps_directory() / sample / "src/main/assets"
    return (folder / _SCHEMA_FILES[sample]).read_bytes()


def observed_service(_package: str, _made: Sequence[MadeCapability]) -> Declared:
    component = """
        <service android:name=".OtherService" android:exported="true">
            <intent-filter><action android:name="io.rosenpin.mmcp.action.MCP_SERVICE" /></intent-filter>
        </service>"""
    return Declared("observed", "rosenpin-mmcp", component)


def observed_provider(package: str, _made: Sequence[MadeCapability]) -> Declared:
    component = f"""
        <provider
            android:name=".FlintProvider" android:authorities="{package}.flint" android:exported="true" />"""
    return Declared("observed", "flint", component)


def observed_tools(_package: str, made: Sequence[MadeCapability]) -> Declared:
    names = ",".join(item.snake_name for item in made)
    component = f"""
        <service android:name=".NamedService" android:exported="true">
            <intent-filter><action android:name="io.mmcp.action.SERVER" /></intent-filter>
            <meta-data android:name="mcp.capabilities" android:value="tools:{names}" />
        </service>"""
    return Declared("observed", "rosenpin-documented", component, {}, tuple(item.snake_name for item in made))

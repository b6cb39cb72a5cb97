"""Descriptor texts as apps and servers ship them, from a seed: realistic and adversarial."""

import json
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from audit import made_schemas
from audit.appfunctions_reader import BIND
from audit.made_appfunctions import AppFunctionTexts, schema_file

FORMATS: Final = ("mcp", "mmcp", "mobile-mcp", "appfunctions")
_VERBS: Final = ("create", "get", "list", "delete", "search", "update", "send", "play")
_THINGS: Final = ("note", "event", "message", "alarm", "song", "contact", "order", "file")
_ODD_IDS: Final = (
    "a.b", "with space", "äöü", "x" * 130, "slash/ed", "UPPER-case", "1st", "com.example.Foo#bar",
)  # fmt: skip
_PERMISSION: Final = "com.example.permission.CALL_TOOLS"


_FUNCTION_PROPERTIES: Final = (
    '<property android:name="android.app.appfunctions.schema" android:value="app_functions_schema.xsd" />'
    '<property android:name="android.app.appfunctions.v2" android:value="functions.xml" />'
)
_FUNCTION_FILTER: Final = (
    '<intent-filter><action android:name="android.app.appfunctions.AppFunctionService" /></intent-filter>'
)
_METADATA_PROPERTY: Final = (
    '<property android:name="android.app.appfunctions.app_metadata" android:resource="@xml/app_metadata" />'
)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a source holds: the files of an app's `src/main`, or one file of tools."""

    protocol: str
    files: dict[str, str]


def made_descriptor(protocol: str, seed: int) -> Descriptor:
    """Return the descriptor of a seed; every other seed is adversarial."""
    random = Random(f"{protocol} {seed}")
    maker = _Maker(random, adversarial=seed % 2 == 1)
    return Descriptor(protocol, _MAKERS[protocol](maker))


class _Maker:
    def __init__(self, random: Random, *, adversarial: bool) -> None:
        self.random = random
        self.adversarial = adversarial
        self.schemas = made_schemas.Schemas(random, adversarial=adversarial)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def text(self) -> str:
        return made_schemas.text(self.random, odd=self.adversarial)

    def ids(self) -> list[str]:
        count = self.random.choice((1, 1, 2, 3))
        pool = [f"{verb}_{thing}" for verb in _VERBS for thing in _THINGS]
        if self.adversarial:
            pool = [*_ODD_IDS, *pool[:10]]
        return self.random.sample(pool, count)

    # MCP

    def mcp(self) -> dict[str, str]:
        tools = [self.mcp_tool(name) for name in self.ids()]
        document: Any = {"tools": tools}
        if self.chance(0.15):
            document = tools
        elif self.chance(0.1):
            document = {"jsonrpc": "2.0", "id": 1, "result": document}
        elif self.chance(0.1):
            document["nextCursor"] = "abc"
        return {"tools.json": json.dumps(document, indent=2, ensure_ascii=self.chance(0.5))}

    def mcp_tool(self, name: str) -> dict[str, Any]:
        tool: dict[str, Any] = {"name": name}
        if self.chance(0.3):
            tool["title"] = name.replace("_", " ").title()
        if self.chance(0.9):
            tool["description"] = self.text()
        tool["inputSchema"] = self.schemas.input_schema()
        if self.chance(0.4):
            tool["outputSchema"] = self.schemas.output_schema()
        if self.chance(0.4):
            hints = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
            tool["annotations"] = {hint: self.chance(0.5) for hint in hints if self.chance(0.4)}
            if self.chance(0.3):
                tool["annotations"]["title"] = "Annotated title"
        if self.adversarial and self.chance(0.2):
            tool["icons"] = [{"src": "https://example.com/i.png"}]
        if self.adversarial and self.chance(0.2):
            tool["_meta"] = {"example.com/key": [1, {"a": None}]}
        return tool

    # Manifests

    def component(self, tag: str, name: str, inner: str, *, permission: str | None = None) -> str:
        """Return a component with its access attributes."""
        attributes = {"name": name}
        if self.chance(0.9):
            attributes["exported"] = "false" if self.adversarial and self.chance(0.2) else "true"
        if self.adversarial and self.chance(0.25):
            attributes["enabled"] = self.random.choice(("false", "true", "@bool/tools_enabled"))
        if permission is None and self.chance(0.2):
            permission = _PERMISSION
        if permission is not None:
            attributes["permission"] = permission
        if self.chance(0.2):
            attributes["label"] = "Tool label"
        stated = " ".join(f"android:{key}={quoteattr(value)}" for key, value in attributes.items())
        return f"<{tag} {stated}>{inner}</{tag}>"

    def manifest(self, component: str, *, before: str = "") -> dict[str, str]:
        package = ' package="com.example.app"' if self.chance(0.7) else ""
        label = ' android:label="@string/app_name"' if self.chance(0.6) else ""
        if self.adversarial and self.chance(0.1):
            label += self.random.choice((f' android:permission="{_PERMISSION}"', ' android:enabled="false"'))
        files = {
            "AndroidManifest.xml": '<?xml version="1.0" encoding="utf-8"?>\n'
            f'<manifest xmlns:android="http://schemas.android.com/apk/res/android"{package}>'
            f"<application{label}>{before}{component}</application></manifest>\n",
            "res/values/strings.xml": '<?xml version="1.0" encoding="utf-8"?>\n<resources>'
            '<string name="app_name">Example app</string>'
            '<string name="tool_text">What the \\"tool\\" does</string></resources>\n',
        }
        if "@bool/tools_enabled" in component:
            for folder, value in (("values", "false"), ("values-v36", "true")):
                files[f"res/{folder}/bools.xml"] = (
                    f'<resources><bool name="tools_enabled">{value}</bool></resources>\n'
                )
        return files

    # mMCP

    def mmcp(self) -> dict[str, str]:
        draft = self.chance(0.3)
        document: dict[str, Any] = {"appDescription" if draft else "instructions": self.text()}
        if draft:
            document["protocolVersion"] = "1.0"
        document["tools"] = [self.mmcp_tool(name, draft=draft) for name in self.ids()]
        value = json.dumps(document, ensure_ascii=False).replace("\\", "\\\\").replace("'", "\\'")
        inner = (
            '<intent-filter><action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE" />'
            '<action android:name="com.example.mMCP.ACTION_TOOL_CALL" />'
            '<category android:name="android.intent.category.DEFAULT" /></intent-filter>'
            f'<meta-data android:name="mMCP_manifest" android:value={quoteattr(value)} />'
        )
        return self.manifest(self.component("activity", ".ToolActivity", inner))

    def mmcp_tool(self, name: str, *, draft: bool) -> dict[str, Any]:
        tool: dict[str, Any] = {"name": name, "description": self.text()}
        tool["parameters"] = self.schemas.input_schema()
        if draft and self.chance(0.6):
            words = self.random.choice((("String",), ("string", "boolean"), ("Integer", "array", "object")))
            tool["return"] = dict(zip(made_schemas.names(self.random, len(words)), words, strict=True))
        return tool

    # Mobile-MCP

    def mobile_mcp(self) -> dict[str, str]:
        name = "@string/app_name" if self.chance(0.5) else "Clock-in"
        description = "@string/tool_text" if self.chance(0.5) else "Clocks in & out"
        if self.adversarial and self.chance(0.2):
            name = self.random.choice(("2048", "2.1", "1e2", "true"))
        inner = (
            '<intent-filter><action android:name="mobile.mcp.SERVICE" /></intent-filter>'
            f'<meta-data android:name="mobile.mcp.tool.name" android:value={quoteattr(name)} />'
            f'<meta-data android:name="mobile.mcp.tool.description" android:value={quoteattr(description)} />'
            '<meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/capabilities" />'
        )
        files = self.manifest(self.component("service", ".ToolService", inner))
        capabilities = "".join(map(self.capability, self.ids()))
        version = ' version="1.0"' if self.chance(0.8) else ""
        files["res/xml/capabilities.xml"] = (
            f"<mobile-mcp-capabilities{version}>{capabilities}</mobile-mcp-capabilities>\n"
        )
        return files

    def capability(self, name: str) -> str:
        attributes = {
            "id": name,
            "description": _resource_text(self.text()),
            "version": self.random.choice(("1", "1.0")),
        }
        if self.adversarial:
            for key in ("description", "version"):
                if self.chance(0.1):
                    del attributes[key]
        inputs = self.params("input") if self.chance(0.8) else ""
        outputs = self.params("output") if self.chance(0.6) else ""
        stated = " ".join(f"{key}={quoteattr(value)}" for key, value in attributes.items())
        return f"<capability {stated}>{inputs}{outputs}</capability>"

    def params(self, tag: str) -> str:
        words: tuple[str, ...] = ("string", "string", "boolean", "integer", "number", "array", "object")
        if self.adversarial:
            words = (*words, "String", "INT", "float", "long", "date", "list")
        inner: list[str] = []
        for name in made_schemas.names(self.random, self.random.randint(0, 3), odd=self.adversarial):
            attributes = {"name": name or "n", "type": self.random.choice(words)}
            if tag == "input":
                attributes["required"] = self.random.choice(("true", "false"))
            attributes["description"] = _resource_text(self.text())
            if self.adversarial and self.chance(0.15):
                del attributes[
                    self.random.choice(["description", "required"] if tag == "input" else ["description"])
                ]
            stated = " ".join(f"{key}={quoteattr(value)}" for key, value in attributes.items())
            inner.append(f"<param {stated} />")
        return f"<{tag}>{''.join(inner)}</{tag}>"

    # AppFunctions

    def appfunctions(self) -> dict[str, str]:
        texts = AppFunctionTexts(self.random, adversarial=self.adversarial)
        texts.of_application = self.adversarial and self.chance(0.15)
        before = _METADATA_PROPERTY if self.chance(0.4) else ""
        if texts.of_application:
            files = self.manifest("", before=f"{before}{_FUNCTION_PROPERTIES}")
        else:
            permission = BIND if not self.adversarial or self.chance(0.8) else _PERMISSION
            inner = f"{_FUNCTION_PROPERTIES}{_FUNCTION_FILTER}"
            component = self.component("service", ".FunctionService", inner, permission=permission)
            files = self.manifest(component, before=before)
        files["assets/functions.xml"] = texts.functions_file(self.random.randint(1, 3))
        files["assets/app_functions_schema.xsd"] = schema_file()
        if before:
            files["res/xml/app_metadata.xml"] = (
                "<AppFunctionAppMetadata "
                'xmlns:appfn="http://schemas.android.com/apk/androidx.appfunctions" '
                f"appfn:description={quoteattr(_resource_text(self.text()))} "
                'appfn:displayDescription="@string/app_name" />\n'
            )
        return files


def _resource_text(text: str) -> str:
    """Return a text for an attribute of an XML resource, on one line, escaped for aapt."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("\x01", "")


_MAKERS: Final = {
    "mcp": _Maker.mcp,
    "mmcp": _Maker.mmcp,
    "mobile-mcp": _Maker.mobile_mcp,
    "appfunctions": _Maker.appfunctions,
}

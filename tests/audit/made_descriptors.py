"""Descriptor texts as apps and servers ship them, from a seed: realistic and adversarial.

AppFunctions files are as Jetpack's compiler writes them (reference appfunctions 2.c), and odd.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from audit import made_schemas
from audit.readers import BIND

_SCALARS: Final = (1, 4, 5, 6, 7, 8, 8, 8)
_PACKAGE: Final = "com.example.notes"
_PERSON: Final = f"{_PACKAGE}.Person"
_SHAPE: Final = f"{_PACKAGE}.Shape"
_ODD_OWNERS: Final = ("`impl`.Notes", "Notes$Inner", "Set<kotlin.String?>", "N")
_NODE: Final = f"{_PACKAGE}.Node"
_CLASSES: Final = (f"{_SHAPE}$Circle", f"{_SHAPE}$Square")
_BASE: Final = f"{_PACKAGE}.Derived"


class AppFunctionTexts(made_schemas.Maker):
    """Writes functions and the components that they refer to.

    Attributes:
        of_application: The functions are those of the application element (Android 17), with a scope.
    """

    def __init__(self, random: Random, *, adversarial: bool) -> None:
        super().__init__(random)
        self.adversarial = adversarial
        self.of_application = False
        self.used: set[str] = set()

    def functions_file(self, count: int) -> str:
        functions = "\n".join(self.function(number) for number in range(count))
        head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
        return f"{head}\n<appfunctions>\n{functions}\n{self.components()}</appfunctions>\n"

    def function(self, number: int) -> str:
        owner = self.random.choice(_ODD_OWNERS) if self.adversarial and self.chance(0.3) else "NoteFunctions"
        name = f"{_PACKAGE}.{owner}#{self.random.choice(('create', 'edit', 'delete'))}Note{number}"
        enabled = "false" if self.chance(0.2) else "true"
        name = escape(name)
        parts = [f"<id>{name}</id><enabledByDefault>{enabled}</enabledByDefault>"]
        if self.of_application:
            scope = self.random.choice(("global", "activity"))
            parts = [f"<id>{name}</id><scope>{scope}</scope>"]
        if self.chance(0.8):
            parts.append(self.element("description", self.text()))
        parts.extend(
            self.parameter(item) for item in made_schemas.names(self.random, self.random.randint(0, 4))
        )
        parts.append(self.response())
        if self.chance(0.2):
            parts.append(
                "<schemaCategory>notes</schemaCategory><schemaName>createNote</schemaName>"
                "<schemaVersion>2</schemaVersion>"
            )
        if self.chance(0.1):
            parts.append("<deprecation><id>unused</id><message>Use another</message></deprecation>")
        if self.adversarial and self.chance(0.2):
            parts.append(
                self.element("accessLevel", self.random.choice(("self", "system", "androidTrusted")))
            )
        if self.adversarial and self.chance(0.15):
            flag = self.random.choice(("true", "false"))
            parts.append(self.element("restrictCallersWithExecuteAppFunctions", flag))
        parts.append(f"<functionId>{name}</functionId>")
        return f"<appfunction>{''.join(parts)}</appfunction>"

    def text(self) -> str:
        return made_schemas.text(self.random, odd=self.adversarial).replace("\x01", "")

    def element(self, tag: str, text: str) -> str:
        return f"<{tag}>{escape(text)}</{tag}>"

    def parameter(self, name: str) -> str:
        description = self.element("description", self.text()) if self.chance(0.6) else ""
        required = self.random.choice(("true", "false"))
        return (
            f"<parameters>{self.data_type('dataTypeMetadata', 0)}<id>unused</id>"
            f"<isRequired>{required}</isRequired><name>{escape(name)}</name>{description}</parameters>"
        )

    def response(self) -> str:
        value = self.data_type("valueType", 0) if self.chance(0.7) else self.typed("valueType", 0, "")
        description = self.element("description", self.text()) if self.chance(0.3) else ""
        return f"<response><id>unused</id>{value}{description}</response>"

    def typed(self, tag: str, number: int, inner: str, *, nullable: bool | None = None) -> str:
        """Return a data type; `inner` has what comes before `id` and, after `|`, behind `isNullable`."""
        if nullable is None:
            nullable = self.chance(0.2)
        before, _, after = inner.partition("|")
        stated = "true" if nullable else "false"
        common = f"<id>unused</id><isNullable>{stated}</isNullable>"
        return f"<{tag}>{before}{common}{after}<type>{number}</type></{tag}>"

    def data_type(self, tag: str, depth: int) -> str:
        roll = self.random.random()
        if depth < 2 and roll < 0.15:
            return self.typed(tag, 10, f"|{self.data_type('itemType', depth + 1)}")
        if depth < 2 and roll < 0.25:
            return self.object_type(tag, depth)
        if roll < 0.4:
            return self.reference(tag)
        if self.adversarial and roll < 0.45:
            return self.typed(tag, 2, "")
        if self.adversarial and roll < 0.5:
            return self.all_of(tag)
        if self.adversarial and roll < 0.56:
            return self.odd(tag)
        if self.adversarial and roll < 0.58:
            return self.typed(
                tag, 13, "|<objectQualifiedName>android.app.PendingIntent</objectQualifiedName>"
            )
        return self.scalar(tag)

    def odd(self, tag: str) -> str:
        """Return a type that compilers do not write, or seldom."""
        class_name = self.element("objectQualifiedName", f"{_PACKAGE}.Odd")
        text_part = self.typed("oneOf", 8, "", nullable=False)
        number_part = self.typed("oneOf", 6, "", nullable=False)
        inner_list = self.typed(
            "itemType", 10, f"|{self.typed('itemType', 8, '', nullable=True)}", nullable=False
        )
        enum = "|<enumValues>two words</enumValues><enumValues>a&amp;b</enumValues>"
        choices = (
            self.typed(tag, 3, f"|{class_name}"),
            self.typed(tag, 14, f"{text_part}{number_part}|{class_name}"),
            self.typed(tag, 10, f"|{inner_list}"),
            self.typed(tag, 8, enum),
            self.typed(tag, 7, "|<enumValues>-1</enumValues><enumValues>0</enumValues>"),
            self.typed(tag, 8, f"|{self.element('description', self.text())}"),
        )
        return self.random.choice(choices)

    def scalar(self, tag: str) -> str:
        number = self.random.choice(_SCALARS)
        inner = ""
        if number == 8 and self.chance(0.25):
            inner = "|<enumValues>low</enumValues><enumValues>high</enumValues>"
        elif number == 7 and self.chance(0.25):
            inner = "|<enumValues>0</enumValues><enumValues>1</enumValues>"
        elif number == 8 and self.chance(0.1):
            return self.typed(tag, 8, "").replace("<type>", "<format>uri</format><type>")
        elif number == 8 and self.adversarial and self.chance(0.15):
            return self.typed(tag, 8, "").replace(
                "<type>", "<pattern>^[a-z]+$</pattern><format>custom</format><type>"
            )
        return self.typed(tag, number, inner)

    def object_type(self, tag: str, depth: int, class_name: str | None = None) -> str:
        chosen = made_schemas.names(self.random, self.random.randint(1, 3))
        name_xml = self.element("objectQualifiedName", class_name or f"{_PACKAGE}.Inline")
        properties = "".join(
            self.property(item, self.data_type("dataTypeMetadata", depth + 1)) for item in chosen
        )
        required = "".join(f"<required>{item}</required>" for item in chosen if self.chance(0.6))
        return self.typed(tag, 3, f"|{name_xml}{properties}{required}")

    def property(self, name: str, data_type: str) -> str:
        return f"<properties>{data_type}<id>unused</id><name>{name}</name></properties>"

    def reference(self, tag: str) -> str:
        names = (_PERSON, _SHAPE, _NODE) if self.adversarial else (_PERSON, _PERSON, _SHAPE)
        name = self.random.choice(names)
        self.used.add(name)
        if name == _SHAPE and self.adversarial:
            self.used.update(_CLASSES)
        return self.typed(tag, 11, f"<dataTypeReference>{name}</dataTypeReference>|")

    def all_of(self, tag: str) -> str:
        self.used.add(_PERSON)
        member = self.typed("allOf", 11, f"<dataTypeReference>{_PERSON}</dataTypeReference>|")
        other = self.object_type("allOf", 2, f"{_BASE}Part")
        return self.typed(tag, 12, f"{member}{other}|{self.element('objectQualifiedName', _BASE)}")

    def components(self) -> str:
        if not self.used:
            return ""
        entries = "".join(self.component(name, self.definition(name)) for name in sorted(self.used))
        tag = "AppFunctionComponentMetadataDocument"
        return f"<{tag}>{entries}<id>unused</id></{tag}>\n"

    def component(self, name: str, data_type: str) -> str:
        return f"<dataTypes>{data_type}<id>unused</id><name>{name}</name></dataTypes>"

    def definition(self, name: str) -> str:
        tag = "dataTypeMetadata"
        name_xml = self.element("objectQualifiedName", name)
        text_type = self.typed(tag, 8, "", nullable=False)
        if name == _PERSON:
            age = self.typed(tag, 7, "", nullable=True)
            inner = f"{self.property('name', text_type)}{self.property('age', age)}"
            return self.typed(tag, 3, f"|{name_xml}{inner}<required>name</required>", nullable=True)
        if name == _NODE:
            next_type = self.typed(tag, 11, f"<dataTypeReference>{_NODE}</dataTypeReference>|", nullable=True)
            inner = f"{self.property('next', next_type)}{self.property('value', text_type)}"
            return self.typed(tag, 3, f"|{name_xml}{inner}<required>value</required>", nullable=True)
        if name in _CLASSES:
            return self.sealed_part(tag, name)
        return self.typed(tag, 14, f"{''.join(map(self.alternative, _CLASSES))}|{name_xml}", nullable=True)

    def alternative(self, name: str) -> str:
        """Return an alternative of the sealed class: its class written out, or a reference to it."""
        if name in self.used:
            return self.typed("oneOf", 11, f"<dataTypeReference>{name}</dataTypeReference>|", nullable=False)
        return self.sealed_part("oneOf", name)

    def sealed_part(self, tag: str, name: str) -> str:
        """Return a class of the sealed class; both have the same properties, only their names differ."""
        number_type = self.typed("dataTypeMetadata", 4, "", nullable=False)
        name_xml = self.element("objectQualifiedName", name)
        inner = f"|{name_xml}{self.property('size', number_type)}<required>size</required>"
        return self.typed(tag, 3, inner, nullable=True)


APP_FUNCTIONS_SCHEMA: Final = (
    Path(__file__).parents[2] / "device_shim/apps/notes/app/src/main/assets/app_functions_schema.xsd"
).read_text(encoding="utf-8")
"""The AppSearch schema of a file of functions (reference appfunctions 2.f), as a sample app has it."""


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


class _Maker(made_schemas.Maker):
    def __init__(self, random: Random, *, adversarial: bool) -> None:
        super().__init__(random)
        self.adversarial = adversarial
        self.schemas = made_schemas.Schemas(random, adversarial=adversarial)

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
        files["assets/app_functions_schema.xsd"] = APP_FUNCTIONS_SCHEMA
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

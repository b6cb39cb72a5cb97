"""Small apps and files of our own making, right in every way, from which tests make wrong ones."""

from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.application import Application

PACKAGE = "com.example.notes"
STRING = "<dataTypeMetadata><id>unused</id><type>8</type></dataTypeMetadata>"
PARAMETER = (
    f"<parameters><id>unused</id><name>title</name><isRequired>true</isRequired>{STRING}"
    "<description>Its first line.</description></parameters>"
)
RESPONSE = "<response><id>unused</id><valueType><id>unused</id><type>0</type></valueType></response>"


def function(
    name: str = "com.example.notes.Notes#add",
    *,
    extra: str = "",
    parameters: str = PARAMETER,
    response: str = RESPONSE,
    enabled: str = "<enabledByDefault>true</enabledByDefault>",
    description: str = "<description>Adds a note.</description>",
) -> str:
    return (
        f"  <appfunction>\n<id>{name}</id>{enabled}{description}{parameters}{response}{extra}"
        f"<functionId>{name}</functionId>\n  </appfunction>\n"
    )


def functions(*content: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<appfunctions>\n{"".join(content)}</appfunctions>\n'


def of_type(content: str) -> str:
    """A file with one function whose one parameter has a data type of this content."""
    data_type = f"<dataTypeMetadata><id>unused</id>{content}</dataTypeMetadata>"
    parameter = f"<parameters><id>unused</id><name>p</name>{data_type}</parameters>"
    return functions(function(parameters=parameter))


def components(content: str) -> str:
    return (
        "  <AppFunctionComponentMetadataDocument><id>unused</id><dataTypes><id>unused</id>"
        f"<name>com.example.Note</name>{content}</dataTypes></AppFunctionComponentMetadataDocument>\n"
    )


SCHEMA = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:documentType name="AppFunctionStaticMetadata">
    <xs:element name="functionId" type="xs:string" indexingType="1" tokenizerType="2"/>
    <xs:element name="packageName" type="xs:string" indexingType="1" tokenizerType="2"/>
    <xs:element name="enabledByDefault" type="xs:boolean"/>
    <xs:element name="mobileApplicationQualifiedId" type="xs:string" joinableValueType="1"/>
    <xs:element name="schemaVersion" type="xs:long" indexingType="1"/>
    <xs:element name="description" type="xs:string"/>
    <xs:element name="parameters" type="appfn:Parameter" cardinality="1"/>
    <xs:element name="response" type="appfn:Response"/>
  </xs:documentType>
  <xs:documentType name="Parameter">
    <xs:element name="name" type="xs:string"/>
    <xs:element name="isRequired" type="xs:boolean"/>
    <xs:element name="dataTypeMetadata" type="appfn:DataType"/>
    <xs:element name="description" type="xs:string"/>
  </xs:documentType>
  <xs:documentType name="Response"><xs:element name="valueType" type="appfn:DataType"/></xs:documentType>
  <xs:documentType name="DataType"><xs:element name="type" type="xs:long" cardinality="3"/></xs:documentType>
</xs:schema>
"""

ACTION = '<intent-filter><action android:name="android.app.appfunctions.AppFunctionService"/></intent-filter>'
PERMISSION = 'android:permission="android.permission.BIND_APP_FUNCTION_SERVICE"'
METADATA = (
    '<AppFunctionAppMetadata xmlns:appfn="http://schemas.android.com/apk/res-auto" '
    'appfn:description="Notes are short."/>'
)


def named(name: str, value: str, *, kind: str = "property", attribute: str = "value") -> str:
    return f'<{kind} android:name="android.app.appfunctions{name}" android:{attribute}="{value}"/>'


V2 = named(".v2", "functions.xml")
SCHEMA_PROPERTY = named(".schema", "app_functions_schema.xsd")


def service(
    *content: str, name: str = ".NotesService", attributes: str = PERMISSION, action: str = ACTION
) -> str:
    inner = "".join(content or (V2, SCHEMA_PROPERTY))
    return f'<service android:name="{name}" android:exported="true" {attributes}>{inner}{action}</service>\n'


def manifest(*content: str) -> str:
    return (
        f'<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="{PACKAGE}">\n'
        f"<application>\n{''.join(content or (service(),))}</application></manifest>"
    )


def app(*content: str, attributes: str = "", **files: str) -> Application:
    """An app with this content of its application element; keywords are assets, with `_` for the period."""
    assets = {"functions_xml": functions(function()), "app_functions_schema_xsd": SCHEMA, **files}
    text = manifest(*content).replace("<application>", f"<application {attributes}>")
    tree = {"AndroidManifest.xml": text.encode()}
    for name, text in assets.items():
        stem, _, suffix = name.rpartition("_")
        tree[f"assets/{stem}.{suffix}"] = text.encode()
    tree["res/xml/app_metadata.xml"] = METADATA.encode()
    tree["res/xml/functions.xml"] = functions(function()).encode()
    tree["res/xml/empty.xml"] = b"<AppFunctionAppMetadata/>"
    tree["res/xml/wrong.xml"] = b"<app-metadata/>"
    return application_from_tree(tree)

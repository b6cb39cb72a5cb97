"""Java that answers Mobile-MCP calls: a service for both transports, and a half without Android.

Rules: specification 3; reference mobile-mcp-and-mmcp 2.4, 2.7 and section 6; android-runtime 1.3, 2.1.
"""

from __future__ import annotations

import json
import zlib
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
from droidgate_mappings.model.types import ObjectType
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mobile_mcp.extension_facts import word_of
from droidgate_mobile_mcp.format import NAMES

_UNWRAPPED: Final = frozenset({"prototype"})
_NOT_SERVED: Final = frozenset({"pre-spec"})
_NOT_SERVED_NOTE: Final = (
    "Calls of the time before the specification are not served, so no code is made for them."
)
_OUTPUT_IS_LIST: Final = frozenset({"1.0"})
_PERMISSIONS: Final = (
    "android.permission.FOREGROUND_SERVICE",
    "android.permission.FOREGROUND_SERVICE_DATA_SYNC",
)
_FOREGROUND_TYPE: Final = "dataSync"
_CALLER: Final = "The caller that starts the service cannot be identified"


def write_handlers(request: HandlerRequest) -> HandlerCode:
    """Return the service, its plain Java half, and the class that the app's author fills in.

    Raises:
        WriteError: the component's name cannot be a class of Java.
    """
    provider, dialect = request.provider, request.dialect
    if dialect.id in _NOT_SERVED:
        return HandlerCode((), notes=(_NOT_SERVED_NOTE,))
    place = place_classes(provider.component, request.namespace)
    author = write_author_class(provider, place, request.language, request.functions)
    artifacts = (
        *write_shared_classes(provider, place),
        place.java("Requests", _write_requests(provider, dialect, place)),
        place.file(f"{place.component}.java", _write_service(dialect, place)),
        *author.artifacts,
        Artifact("AndroidManifest.xml", _write_manifest(provider, place), "manifest"),
    )
    notes = (*caller_notes(provider.access, place, _CALLER), *author.notes)
    return HandlerCode(artifacts, component=place.component_name, notes=notes)


def _write_requests(provider: Provider, dialect: DialectTable, place: ClassPlace) -> str:
    words = {
        capability.id: {
            name: word_of(property_.type) for name, property_ in capability.output.properties.items()
        }
        for capability in provider.capabilities
        if isinstance(capability.output, ObjectType)
    }
    return fill_template(
        "droidgate_mobile_mcp",
        "Requests.java",
        place,
        wrapped="false" if dialect.id in _UNWRAPPED else "true",
        usually_a_list="true" if dialect.id in _OUTPUT_IS_LIST else "false",
        version=java_string(NAMES["version"]),
        request_wrapper=java_string(NAMES["request_wrapper"]),
        response_wrapper=java_string(NAMES["response_wrapper"]),
        words=java_string_parts(json.dumps(words, ensure_ascii=False, separators=(",", ":")), " " * 12),
    )


def _write_service(dialect: DialectTable, place: ClassPlace) -> str:
    pairs = [("request_extra", "response_extra"), ("prototype_request_extra", "prototype_response_extra")]
    if dialect.id in _UNWRAPPED:
        pairs.reverse()
    rows = [
        f"        {{{java_string(NAMES[item])}, {java_string(NAMES[paired])}}}," for item, paired in pairs
    ]
    return fill_template(
        "droidgate_mobile_mcp",
        "Service.java",
        place,
        message_request=NAMES["message_invoke"],
        message_response=NAMES["message_result"],
        callback_extra=java_string(NAMES["callback_extra"]),
        request_id_extra=java_string(NAMES["request_id_extra"]),
        keys="\n".join(rows),
        channel=java_string(place.component_name),
        # A number that the app's own notifications hardly have, the same each time.
        notification=str(zlib.crc32(place.component_name.encode()) & 0x7FFFFFFF | 1),
    )


def _write_manifest(provider: Provider, place: ClassPlace) -> str:
    """Return what the service needs in addition to its descriptor: permission to run in the foreground."""
    permissions = "".join(
        f"    <uses-permission android:name={quoteattr(item)} />\n" for item in _PERMISSIONS
    )
    name = quoteattr(provider.component or place.component_name)
    return (
        '<manifest xmlns:android="http://schemas.android.com/apk/res/android">\n'
        f"{permissions}    <application>\n"
        f'        <service android:name={name} android:foregroundServiceType="{_FOREGROUND_TYPE}" />\n'
        "    </application>\n</manifest>\n"
    )

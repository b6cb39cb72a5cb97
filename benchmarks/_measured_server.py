"""A server over HTTP for serve.py, which prints its address: the SDK's echo, or droidgate's of a phone.

Arguments: `echo` or `phone`, a folder, the port of the adb server, the serial.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types
import uvicorn
from mcp.server.lowlevel.server import Server

from droidgate.calls.audit_log import AuditLog
from droidgate.calls.caller import CapabilityCaller
from droidgate.calls.pins import PinStore
from droidgate.calls.policy import Policy
from droidgate.calls.subjects import EVERY_CAPABILITY
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import Device
from droidgate.serving.http_transport import HttpAddress, listen
from droidgate.serving.phone_tools import PhoneTools
from droidgate.serving.served_phones import ServedPhone
from droidgate.serving.server_process import serve_tools


async def list_tools(_context: Any, _parameters: Any) -> mcp_types.ListToolsResult:
    return mcp_types.ListToolsResult(tools=[mcp_types.Tool(name="echo", input_schema={"type": "object"})])


async def call_tool(_context: Any, parameters: Any) -> mcp_types.CallToolResult:
    text = str(parameters.arguments)
    return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=text)])


def serve_echo() -> None:
    application = Server("echo", on_list_tools=list_tools, on_call_tool=call_tool).streamable_http_app()
    with listen(HttpAddress("127.0.0.1", 0)) as (listener, address):
        print(address.url, flush=True)
        config = uvicorn.Config(application, log_config=None, access_log=False, http="h11")
        anyio.run(uvicorn.Server(config).serve, [listener])


def serve_phone(folder: Path, port: int, serial: str) -> None:
    def connect() -> CapabilityCaller:
        device = Device(AdbClient(ServerAddress(port=port)), serial)
        audit = AuditLog(folder / "audit", folder)
        return CapabilityCaller(device, policy=Policy(), pins=PinStore(folder), audit=audit)

    serve_tools(
        PhoneTools([ServedPhone(None, connect)], allow=EVERY_CAPABILITY),
        address=HttpAddress("127.0.0.1", 0),
        needs_token=False,
        on_listening=lambda listening: print(listening.url, flush=True),
    )


if sys.argv[1] == "echo":
    serve_echo()
else:
    serve_phone(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])

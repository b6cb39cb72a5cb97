"""A shim for tests of the host, written from shim.md 7 alone: it answers `content` commands.

It shares nothing with the code under test. What it answers can be replaced, method by method.
"""

import base64
import hashlib
import json
import shlex
import struct
from collections.abc import Callable
from typing import Any

from droidgate.shims.answers import StatusAnswer
from droidgate.shims.device_user import InstalledShim
from gateway.devices.fake_adb_server import Answer

APPLICATION_ID = "dev.droidgate.shim.of.com.example.notes"
AUTHORITY = f"{APPLICATION_ID}.host"
SIGNER = "ab" * 32
HELLO: dict[str, Any] = {
    "application_id": APPLICATION_ID,
    "build": "cd" * 32,
    "sdk": 36,
    "routes": ["createNote", 'it\'s "odd" $(id) 語'],
    "sources": [{"package": "com.example.notes", "label": "Notes", "signer": SIGNER, "version_code": 7}],
}
STATUS: dict[str, Any] = {
    **HELLO,
    "grants": [
        {"caller": "any-app", "capability": "*", "since": 1_700_000_000_000},
        {
            "caller": {"package": "com.example.agent", "signer": SIGNER},
            "capability": "createNote",
            "since": 5,
        },
    ],
    "switched_off": ["createNote"],
    "asking": True,
    "open": 0,
    "targets": [{"package": "com.example.notes", "state": "as-approved", "version_code": 7}],
    "access": {
        "notifications": True,
        "overlay": False,
        "battery_exempt": True,
        "execute_app_functions": False,
    },
}

Method = Callable[[dict[str, Any]], dict[str, Any]]


def installed_shim(application_id: str, **changes: Any) -> InstalledShim:
    """Return a shim that reports the usual status with changes."""
    status = {**STATUS, "application_id": application_id, **changes}
    return InstalledShim(application_id, StatusAnswer.model_validate(status))


def token(values: dict[str, Any], *, version: int = 1) -> str:
    """Return an answer's token."""
    text = json.dumps({"version": version, **values})
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def bundle(result: str) -> Answer:
    return Answer(f"Result: Bundle[{{result={result}}}]\n".encode())


def failure(name: str, message: str) -> dict[str, Any]:
    return {"error": {"token": name, "message": message}}


def frame(text: str) -> bytes:
    payload = text.encode()
    return b"DGF1" + struct.pack(">I", len(payload)) + hashlib.sha256(payload).digest() + payload


def unframe(data: bytes) -> str:
    assert data[:4] == b"DGF1"
    (length,) = struct.unpack(">I", data[4:8])
    assert data[8:40] == hashlib.sha256(data[40:]).digest()
    assert length == len(data) - 40
    return data[40:].decode()


class FakeShim:
    """The shell of a device on which one shim is installed."""

    def __init__(self) -> None:
        self.methods: dict[str, Method] = {
            "hello": lambda _: HELLO,
            "status": lambda _: STATUS,
            "call": lambda given: {"response": given["request"]},
        }
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.commands: list[list[str]] = []
        self.frames: dict[str, bytes] = {}
        self.raw: Answer | None = None
        self.users: set[str] = {"0"}
        self.outputs: dict[str, Answer] = {}

    def __call__(self, command: str, stdin: bytes) -> Answer:
        if command == "sh":
            # A command that is too long for adb comes as a script.
            command, stdin = stdin.decode().removesuffix(" </dev/null\n"), b""
        words = shlex.split(command)
        self.commands.append(words)
        if words[:4] == ["pm", "list", "packages", "-d"]:
            return self.outputs.get("pm list -d", Answer())
        if words[0] != "content":
            return self.outputs.get(" ".join(words[:2]), self.outputs.get(words[0], Answer()))
        options = dict(zip(words[2::2], words[3::2], strict=True))
        authority, _, path = options["--uri"].removeprefix("content://").partition("/")
        if authority != AUTHORITY or options.get("--user") not in self.users:
            error = f"java.lang.IllegalStateException: Could not find provider: {authority}"
            return Answer(stderr=f"Error while accessing provider:{authority}\n{error}\n".encode())
        if self.raw is not None:
            return self.raw
        if words[1] == "write":
            self.frames[path] = frame(self.methods["call"]({"request": unframe(stdin)})["response"])
            return Answer()
        if words[1] == "read":
            return Answer(self.frames.pop(path))
        padded = options["--arg"] + "=" * (-len(options["--arg"]) % 4)
        argument = json.loads(base64.urlsafe_b64decode(padded))
        self.calls.append((options["--method"], argument))
        if argument["version"] != 1:
            return bundle(token(failure("unsupported_version", "version 1 is spoken here")))
        return bundle(token(self.methods[options["--method"]](argument)))

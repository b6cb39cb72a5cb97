"""Talking to a shim over adb: `HostClient` (shim.md 7; reference android-runtime 1.8).

Small things go by `content call`, whose argument and result are one base64url token each; long requests go as
frames by `content write` and `content read`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import ValidationError

from droidgate.devices.content import (
    ProviderError,
    call_command,
    call_provider,
    read_content,
    stream_command,
    write_content,
)
from droidgate.devices.device import Device
from droidgate.devices.device_errors import DeviceOutputError
from droidgate.devices.quoting import check_package
from droidgate.shims.answers import (
    BroadcastTool,
    BroadcastTools,
    CallAnswer,
    CallStage,
    Hello,
    ListedGrant,
    Progress,
    StatusAnswer,
)
from droidgate.shims.host_messages import (
    LONG_ARGUMENT_CHARACTERS,
    LONG_REQUEST_BYTES,
    MAX_FRAME_BYTES,
    VERSION,
    read_answer,
    read_frame,
    write_argument,
    write_frame,
)
from droidgate.shims.refusals import ShimMissingError, ShimVersionError, refusal_of
from droidgate_mappings.formats.installed import INSTALL_SHIM
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.types import Frozen
from droidgate_shim.deadlines import LONGEST_DEADLINE_MS

SECONDS: Final = 30.0
DISCOVERY_SECONDS: Final = 20.0

ANY_APP: Final = "any-app"
EVERY_CAPABILITY: Final = "*"

_MARGIN_SECONDS: Final = 10.0
_CONTROL_SECONDS: Final = 10.0
"""For what is asked about an open call, which nobody may wait for as long as for a call."""

_UNSUPPORTED: Final = "unsupported_version"

Answer = TypeVar("Answer", bound=Frozen)


class HostClient:
    """The host's side of one shim.

    Args:
        device: Where it is installed.
        application_id: Which shim.
        user: For whom it is installed.

    Every method raises:
        ShimMissingError: it is not installed for this user.
        ShimVersionError: it speaks another version of the protocol.
        ShimRefusalError: it answers with a failure.
        DeviceError: the device fails, or the answer is none of the protocol.
    """

    def __init__(self, device: Device, application_id: str, *, user: int = 0) -> None:
        self.device = device
        self.application_id = check_package(application_id)
        self.user = user
        self._uri = f"content://{application_id}.host"

    def __repr__(self) -> str:
        return f"HostClient({self.device!r}, {self.application_id!r}, user={self.user})"

    def hello(self) -> Hello:
        """Return which shim answers, and be sure that it speaks this version."""
        hello = self._ask("hello", {}, Hello)
        self._be_sure_of(hello)
        return hello

    def status(self) -> StatusAnswer:
        """Return which shim answers, its grants and switches, and what became of its targets."""
        status = self._ask("status", {}, StatusAnswer)
        self._be_sure_of(status)
        return status

    def grant(
        self, caller: str, capability: str = EVERY_CAPABILITY, *, signer: str | None = None
    ) -> ListedGrant:
        """Let a caller use a capability.

        Args:
            caller: A package, whose certificate the shim looks up, or `any-app`.
            capability: Its id, or `*` for all.
            signer: SHA-256 of the caller's certificate, hexadecimal. Needed for an app that has never called
                the shim: from Android 11 on the shim does not see it.
        """
        values: dict[str, Json] = {"caller": caller, "capability": capability}
        answer = self._call("grant", values if signer is None else {**values, "signer": signer})
        return self._read(ListedGrant, answer.get("grant"), "grant")

    def revoke(self, caller: str, capability: str = EVERY_CAPABILITY) -> int:
        """Take a grant away; return how many there were."""
        revoked = self._call("revoke", {"caller": caller, "capability": capability}).get("revoked")
        if type(revoked) is not int:
            raise self._malformed("revoke", "`revoked` is not a number")
        return revoked

    def ask(self, *, on: bool) -> None:
        """Let the shim ask the user where a grant is missing, or refuse at once."""
        self._call("ask", {"on": on})

    def call(
        self,
        request: str,
        *,
        deadline_ms: int | None = None,
        call_id: str | None = None,
        traced: bool = False,
    ) -> CallAnswer:
        """Call a capability as the host, which needs no grant.

        Args:
            request: Text of a `mobile-mcp-request`.
            deadline_ms: How long it may take; the route's own deadline where it is None, and for a request
                that is too long for `content call`.
            call_id: 32 hexadecimal digits that no other call has, for `cancel` and `stage`.
            traced: Ask what goes to the app and comes from it; a request that is too long for
                `content call` has no trace.
        """
        seconds = (LONGEST_DEADLINE_MS if deadline_ms is None else deadline_ms) / 1000 + _MARGIN_SECONDS
        values = _call_values(request, deadline_ms, call_id, traced=traced)
        if _is_long(request, values):
            return CallAnswer(response=self._call_by_frames(request, self._call_uri(call_id), seconds))
        return self._read(CallAnswer, self._call("call", values, seconds=seconds), "call")

    def call_commands(
        self,
        request: str,
        *,
        deadline_ms: int | None = None,
        call_id: str | None = None,
        traced: bool = False,
    ) -> list[list[str]]:
        """Return the commands that `call` runs; without an id, that of a long request is new each time."""
        values = _call_values(request, deadline_ms, call_id, traced=traced)
        if not _is_long(request, values):
            argument = write_argument(values)
            return [call_command(self._uri, "call", argument=argument, user=self.user)]
        uri = self._call_uri(call_id)
        return [stream_command("write", uri, user=self.user), stream_command("read", uri, user=self.user)]

    def cancel(self, call_id: str) -> bool:
        """End an open call; return whether it was open. What its app has done is not undone.

        A shim of before this method refuses it with `invalid_argument`.
        """
        canceled = self._call("cancel", {"id": call_id}, seconds=_CONTROL_SECONDS).get("canceled")
        if not isinstance(canceled, bool):
            raise self._malformed("cancel", "`canceled` is not true or false")
        return canceled

    def stage(self, call_id: str) -> CallStage | None:
        """Return how far an open call has come, None where none of this id is open.

        A shim of before this method refuses it with `invalid_argument`.
        """
        answer = self._call("progress", {"id": call_id}, seconds=_CONTROL_SECONDS)
        return self._read(Progress, answer, "progress").stage

    def discover_broadcast(
        self, component: str, *, seconds: float = DISCOVERY_SECONDS
    ) -> tuple[BroadcastTool, ...]:
        """Ask an app's receiver for its mMCP tools.

        Args:
            component: `package/class`.
            seconds: How long it may take.
        """
        answer = self._call("discover-broadcast", {"component": component}, seconds=seconds)
        return self._read(BroadcastTools, answer, "discover-broadcast").tools

    def _call_by_frames(self, request: str, uri: str, seconds: float) -> str:
        try:
            write_content(self.device, uri, write_frame(request), user=self.user, deadline=SECONDS)
            answered = read_content(
                self.device, uri, user=self.user, deadline=seconds, limit=2 * MAX_FRAME_BYTES
            )
        except ProviderError as error:
            raise self._explained(error) from None
        return read_frame(answered)

    def _call_uri(self, call_id: str | None) -> str:
        return f"{self._uri}/calls/{call_id or secrets.token_hex(16)}"

    def _ask(self, method: str, values: Mapping[str, Json], answer: type[Answer]) -> Answer:
        return self._read(answer, self._call(method, values), method)

    def _call(self, method: str, values: Mapping[str, Json], *, seconds: float = SECONDS) -> dict[str, Json]:
        """Return the answer of a method, without its version."""
        argument = write_argument(values)
        try:
            result = call_provider(
                self.device, self._uri, method, argument=argument, user=self.user, deadline=seconds
            )
        except ProviderError as error:
            raise self._explained(error) from None
        tokens = result.tokens()
        if tokens.keys() != {"result"}:
            raise self._malformed(method, "it is not a Bundle with the one key `result`")
        answer = read_answer(tokens["result"], self._command_name(method))
        version = answer.pop("version")
        failure = answer.get("error")
        if version != VERSION:
            raise self._other_version(f"it speaks version {version} of the host's protocol, not {VERSION}")
        if failure is not None:
            raise self._failure(method, failure)
        return answer

    def _failure(self, method: str, failure: Json) -> Exception:
        token = failure.get("token") if isinstance(failure, dict) else None
        text = failure.get("message", "") if isinstance(failure, dict) else None
        if not isinstance(token, str) or not isinstance(text, str):
            return self._malformed(method, "the error has no token and message")
        if token == _UNSUPPORTED:
            return self._other_version(text or f"it does not speak version {VERSION} of the host's protocol")
        return refusal_of(token, text.removeprefix(f"{token}: "), place=self.application_id)

    def _read(self, answer: type[Answer], value: Json, method: str) -> Answer:
        try:
            return answer.model_validate_json(canonical_json(value), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            where = "/".join(str(part) for part in first["loc"]) or "it"
            raise self._malformed(method, f"{where}: {first['msg']}") from None

    def _be_sure_of(self, hello: Hello) -> None:
        if hello.application_id != self.application_id:
            raise self._malformed("hello", f"it calls itself {hello.application_id}")

    def _command_name(self, method: str) -> str:
        return f"{self.application_id} {method}"

    def _malformed(self, method: str, message: str) -> DeviceOutputError:
        return DeviceOutputError(self._command_name(method), message)

    def _other_version(self, message: str) -> ShimVersionError:
        hint = "build and install it anew with this version of droidgate: droidgate shim sync"
        return ShimVersionError(message, place=self.application_id, hint=hint)

    def _explained(self, error: ProviderError) -> Exception:
        if not error.is_missing:
            return error
        return ShimMissingError(
            f"the shim is not installed for user {self.user}",
            place=self.application_id,
            hint=f"install it with `{INSTALL_SHIM}`",
        )


def _call_values(
    request: str, deadline_ms: int | None, call_id: str | None, *, traced: bool
) -> dict[str, Json]:
    values: dict[str, Json] = {"request": request}
    if deadline_ms is not None:
        values["deadline_ms"] = deadline_ms
    if call_id is not None:
        values["id"] = call_id
    return {**values, "trace": True} if traced else values


def _is_long(request: str, values: Mapping[str, Json]) -> bool:
    """Return whether a request goes as a frame."""
    if len(request.encode()) > LONG_REQUEST_BYTES:
        return True
    return len(write_argument(values)) > LONG_ARGUMENT_CHARACTERS

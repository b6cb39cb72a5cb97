"""Installing a shim and setting it up, as a record of steps."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final

from droidgate.devices.app_installation import install_apks, uninstall
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError
from droidgate.devices.quoting import check_user
from droidgate.shims.access import set_up_access
from droidgate.shims.answers import Hello
from droidgate.shims.client import ANY_APP, EVERY_CAPABILITY, HostClient
from droidgate.shims.install_steps import Step, refused
from droidgate.shims.place import ShimPlace
from droidgate.shims.shim_facts import ShimFacts
from droidgate_mappings.model.errors import DroidgateError

INSTALL: Final = "install the shim"
UNINSTALL: Final = "remove the shim"
HANDSHAKE: Final = "host and shim speak the same version, and it is the shim that was built"
GRANT: Final = "let any app on this phone use its capabilities"
REVOKE: Final = "take back that any app on this phone may use its capabilities"

_ASKED: Final = "the phone asks its user about calls without a grant"
_NOBODY_SAID: Final = "not allowed; --allow-any-app allows it"
_STILL: Final = "allowed since earlier; --no-allow-any-app takes it back"
_ASSENT: Final = "take it back in the shim's own screen, or with --no-allow-any-app"


@dataclass(frozen=True, slots=True)
class Installation:
    """What came of installing one shim.

    Attributes:
        application_id: Which one.
        steps: What was done, in order.
        hello: What it answers about itself; None where it is not there, or does not answer.
    """

    application_id: str
    steps: tuple[Step, ...]
    hello: Hello | None

    @property
    def works(self) -> bool:
        """It is installed and answers."""
        return self.hello is not None


def install_shim(
    place: ShimPlace, facts: ShimFacts, apk: bytes, *, file_name: str, any_app: bool | None
) -> Installation:
    """Install a shim, or replace it, and set up what adb may.

    Args:
        place: Where.
        facts: What the APK says.
        apk: The APK.
        file_name: What records call it.
        any_app: The user said yes to letting any app on the phone use it, or no, which takes that back; None
            leaves it as it is. Never assume a yes.

    Raises:
        DeviceError: the device fails; what Android refuses is a step of the record.
    """
    first = install_archive(place, apk, file_name)
    if first.outcome != "done":
        return Installation(facts.application_id, (first,), None)
    rest = set_up_shim(place, facts, any_app=any_app)
    return Installation(facts.application_id, (first, *rest.steps), rest.hello)


def set_up_shim(place: ShimPlace, facts: ShimFacts, *, any_app: bool | None) -> Installation:
    """Set up a shim that is installed.

    Args:
        place: Where.
        facts: What its APK says.
        any_app: As for `install_shim`.

    Raises:
        DeviceError: the device fails; what Android refuses is a step of the record.
    """
    client = place.client(facts.application_id)
    hello, step = _shake_hands(client, facts)
    steps = [step, *set_up_access(place, facts.application_id, facts.kinds)]
    if hello is not None and facts.capabilities:
        steps.append(_grant_any_app(client, any_app=any_app))
    return Installation(facts.application_id, tuple(steps), hello)


def remove_shim(place: ShimPlace, application_id: str) -> Step:
    """Remove a shim; what Android allowed it goes with it.

    Raises:
        DeviceError: the device fails.
    """
    command = f"pm uninstall --user {check_user(place.user)} {application_id}"
    try:
        uninstall(place.device, application_id, user=place.user)
    except (CommandFailedError, DeviceOutputError) as error:
        return refused(UNINSTALL, command, error)
    return Step(UNINSTALL, "done", command)


def install_archive(place: ShimPlace, apk: bytes, file_name: str) -> Step:
    """Install an APK, and no more.

    Raises:
        DeviceError: the device fails; what Android refuses is the step.
    """
    command = f"pm install -r -t --user {check_user(place.user)} {shlex.quote(file_name)}"
    try:
        install_apks(place.device, {"base.apk": apk}, user=place.user)
    except (CommandFailedError, DeviceOutputError) as error:
        return refused(INSTALL, command, error)
    return Step(INSTALL, "done", command)


def _command(client: HostClient, method: str) -> str:
    return f"content call --user {client.user} --uri content://{client.application_id}.host --method {method}"


def _shake_hands(client: HostClient, facts: ShimFacts) -> tuple[Hello | None, Step]:
    command = _command(client, "hello")
    try:
        hello = client.hello()
    except DroidgateError as error:
        return None, _refused_by_shim(client, HANDSHAKE, command, error)
    if hello.build != facts.build:
        return None, Step(HANDSHAKE, "refused", command, f"another build answers: {hello.build}")
    return hello, Step(HANDSHAKE, "done", command)


def _grant_any_app(client: HostClient, *, any_app: bool | None) -> Step:
    if any_app is None:
        return Step(GRANT, "left-out", why=_STILL if _is_any_app_allowed(client) else _NOBODY_SAID)
    command = _command(client, "grant" if any_app else "revoke")
    try:
        if any_app:
            client.grant(ANY_APP, EVERY_CAPABILITY)
            return Step(GRANT, "done", command, _ASSENT)
        revoked = client.revoke(ANY_APP, EVERY_CAPABILITY)
    except DroidgateError as error:
        return _refused_by_shim(client, GRANT, command, error)
    if revoked:
        return Step(REVOKE, "done", command, _ASKED)
    return Step(GRANT, "left-out", command, _ASKED)


def _is_any_app_allowed(client: HostClient) -> bool:
    try:
        return any(grant.caller == ANY_APP for grant in client.status().grants)
    except DroidgateError:
        client.device.run(["true"])
        return False


def _refused_by_shim(client: HostClient, what: str, command: str, error: DroidgateError) -> Step:
    # The next command says whether it was the device or only this shim.
    client.device.run(["true"])
    hint = f"; {error.hint}" if error.hint else ""
    return Step(what, "refused", command, error.message + hint)

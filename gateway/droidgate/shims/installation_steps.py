"""Installing a shim and setting it up, as a record of steps, including what adb may allow a shim: to start
activities, to be started, to notify (reference android-runtime 0 to 1.3).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, Literal

from droidgate.devices.app_installation import install_apks, uninstall
from droidgate.devices.device import CommandResult, Device
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError, excerpt
from droidgate.devices.quoting import check_user
from droidgate.shims.answers import Hello
from droidgate.shims.device_user import DeviceUser
from droidgate.shims.host_client import ANY_APP, EVERY_CAPABILITY, HostClient
from droidgate.shims.shim_facts import ShimFacts
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.tables.android_names import android_name
from droidgate_shim.builder.shim_manifest import SCREEN_BACKENDS

BACKGROUND_SERVICES_SDK: Final = 26
BACKGROUND_ACTIVITIES_SDK: Final = 29
NOTIFICATIONS_SDK: Final = 33
APP_FUNCTIONS_SDK: Final = 36
APP_FUNCTION_ALLOWLIST_SDK: Final = 37

OVERLAY: Final = "open screens of apps while no agent is in front"
BATTERY: Final = "be started by agents while it does not run"
NOTIFICATIONS: Final = "show notifications, by which it asks the user where no window may open"
APP_FUNCTIONS: Final = "call app functions"

_NO_AGENTS: Final = "it has no capabilities, so no agent calls it"


def set_up_access(
    device_user: DeviceUser, application_id: str, kinds: Collection[str]
) -> Iterator[InstallationStep]:
    """Allow a shim what its routes need and adb may give, and yield the outcome of each step.

    App functions are called for all shims by one of them; see `droidgate.shims.shell_identity`.

    Args:
        device_user: Where it is installed.
        application_id: Which shim.
        kinds: Kinds of the backends of its routes.

    Raises:
        DeviceError: the device fails.
    """
    if not kinds:
        for item in (OVERLAY, BATTERY, NOTIFICATIONS):
            yield not_needed(item, _NO_AGENTS)
        return
    yield allow_overlay(device_user, application_id, kinds)
    yield exempt_from_battery_rules(device_user, application_id)
    yield allow_notifications(device_user, application_id)
    yield _about_app_functions(device_user, kinds)


def _about_app_functions(device_user: DeviceUser, kinds: Collection[str]) -> InstallationStep:
    if "app-function" not in kinds:
        return not_needed(APP_FUNCTIONS, "none of its capabilities is an app function")
    if device_user.sdk < APP_FUNCTIONS_SDK:
        first = android_name(APP_FUNCTIONS_SDK)
        return not_needed(APP_FUNCTIONS, f"{first} is the first with app functions")
    return not_needed(APP_FUNCTIONS, f"{SHIM_PACKAGE} calls them for all shims")


def allow_overlay(device_user: DeviceUser, application_id: str, kinds: Collection[str]) -> InstallationStep:
    """Allow SYSTEM_ALERT_WINDOW, which exempts from the rules about starting activities."""
    if SCREEN_BACKENDS.isdisjoint(kinds):
        return not_needed(OVERLAY, "none of its capabilities opens a window")
    if device_user.sdk < BACKGROUND_ACTIVITIES_SDK:
        return not_needed(OVERLAY, f"{android_name(BACKGROUND_ACTIVITIES_SDK)} is the first that forbids it")
    command = ["appops", "set", "--user", check_user(device_user.user), application_id]
    step = run_step(
        device_user.device,
        OVERLAY,
        [*command, "SYSTEM_ALERT_WINDOW", "allow"],
        accept=lambda result: not result.stdout.strip() and not result.stderr.strip(),
    )
    return _noted(step, "SYSTEM_ALERT_WINDOW, as it opens screens of apps")


def exempt_from_battery_rules(device_user: DeviceUser, application_id: str) -> InstallationStep:
    """Take the shim out of the rules about background services."""
    if device_user.sdk < BACKGROUND_SERVICES_SDK:
        return not_needed(BATTERY, f"{android_name(BACKGROUND_SERVICES_SDK)} is the first that forbids it")
    return run_step(
        device_user.device,
        BATTERY,
        ["dumpsys", "deviceidle", "whitelist", f"+{application_id}"],
        accept=lambda result: result.text.strip() == f"Added: {application_id}",
    )


def allow_notifications(device_user: DeviceUser, application_id: str) -> InstallationStep:
    """Grant POST_NOTIFICATIONS."""
    if device_user.sdk < NOTIFICATIONS_SDK:
        return not_needed(NOTIFICATIONS, f"every app may before {android_name(NOTIFICATIONS_SDK)}")
    permission = "android.permission.POST_NOTIFICATIONS"
    step = run_step(
        device_user.device,
        NOTIFICATIONS,
        ["pm", "grant", "--user", check_user(device_user.user), application_id, permission],
        accept=lambda result: not result.stdout.strip() and not result.stderr.strip(),
    )
    return _noted(step, "POST_NOTIFICATIONS, as every shim with capabilities may have to ask")


def _noted(step: InstallationStep, why: str) -> InstallationStep:
    return replace(step, why=why) if step.outcome == "done" else step


Outcome = Literal["done", "refused", "not-needed", "left-out"]


@dataclass(frozen=True, slots=True)
class InstallationStep:
    """One step.

    Attributes:
        what: What it is for, in words.
        outcome: `done`, `refused` by Android, `not-needed` here, or `left-out` as it was not asked for.
        command: The command on the device, as a user would type it there; None where it is none.
        why: The reason, where it is not done; what to know, where it is.
    """

    what: str
    outcome: Outcome
    command: str | None = None
    why: str = ""


def not_needed(task: str, why: str) -> InstallationStep:
    """Return the record of a step that is not needed here."""
    return InstallationStep(task, "not-needed", why=why)


def run_step(
    device: Device, task: str, arguments: Sequence[str], *, accept: Callable[[CommandResult], bool]
) -> InstallationStep:
    """Run a command and record the outcome; Android's refusal is an outcome, not an error.

    Args:
        device: The device.
        task: What it is for.
        arguments: The command.
        accept: Returns from its result whether it was done; many commands end with status 0 in any case.

    Raises:
        DeviceError: the device fails.
    """
    command = shlex.join(arguments)
    result = device.run(arguments)
    if result.exit_status == 0 and accept(result):
        return InstallationStep(task, "done", command)
    return InstallationStep(task, "refused", command, said_by(result))


def said_by(result: CommandResult) -> str:
    """Return the line by which a command says what is wrong, of its usage and stack only the reason."""
    for stream in (result.error_text, result.text):
        lines = [line.strip() for line in stream.splitlines() if line.strip()]
        reasons_given = [line for line in lines if not line.startswith(("at ", "usage:"))]
        if reasons_given:
            reasons = [line for line in reasons_given if "Exception: " in line or line.startswith("Error")]
            return excerpt((reasons or reasons_given)[0])
    return f"it ended with status {result.exit_status}"


def refused_step(
    task: str, command: str | None, error: CommandFailedError | DeviceOutputError
) -> InstallationStep:
    """Return the record of a step that ended with an error of Android."""
    hint = f"; {error.hint}" if error.hint else ""
    return InstallationStep(task, "refused", command, error.message + hint)


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
    """The outcome of installing one shim.

    Attributes:
        application_id: Which one.
        steps: What was done, in order.
        hello: What it answers about itself; None where it is not there, or does not answer.
    """

    application_id: str
    steps: tuple[InstallationStep, ...]
    hello: Hello | None

    @property
    def works(self) -> bool:
        """It is installed and answers."""
        return self.hello is not None


def install_shim(device_user: DeviceUser, facts: ShimFacts, apk: bytes, *, file_name: str) -> Installation:
    """Install a shim, or replace it, and set up what adb may.

    Args:
        device_user: Where.
        facts: What the APK says.
        apk: The APK.
        file_name: What records call it.

    Raises:
        DeviceError: the device fails; what Android refuses is a step of the record.
    """
    first = install_archive(device_user, apk, file_name)
    if first.outcome != "done":
        return Installation(facts.application_id, (first,), None)
    rest = set_up_shim(device_user, facts)
    return Installation(facts.application_id, (first, *rest.steps), rest.hello)


def set_up_shim(device_user: DeviceUser, facts: ShimFacts) -> Installation:
    """Set up a shim that is installed; `facts` is what its APK says.

    Raises:
        DeviceError: the device fails; what Android refuses is a step of the record.
    """
    client = device_user.client(facts.application_id)
    hello, step = _shake_hands(client, facts)
    steps = (step, *set_up_access(device_user, facts.application_id, facts.kinds))
    return Installation(facts.application_id, steps, hello)


def allow_any_app(
    device_user: DeviceUser, facts: ShimFacts, installation: Installation, *, any_app: bool | None
) -> Installation:
    """Return the installation of a shim with the step that lets any app on the phone use it, if it may.

    Args:
        device_user: Where.
        facts: What its APK says; without capabilities there is nothing to use.
        installation: The outcome of installing it; where it does not answer nothing is done.
        any_app: The user said yes, or no, which takes it back; None leaves it as it is. Never assume a yes.

    Raises:
        DeviceError: the device fails.
    """
    if not installation.works or not facts.capabilities:
        return installation
    step = _grant_any_app(device_user.client(facts.application_id), any_app=any_app)
    return replace(installation, steps=(*installation.steps, step))


def remove_shim(device_user: DeviceUser, application_id: str) -> InstallationStep:
    """Remove a shim; what Android allowed it goes with it.

    Raises:
        DeviceError: the device fails.
    """
    command = f"pm uninstall --user {check_user(device_user.user)} {application_id}"
    try:
        uninstall(device_user.device, application_id, user=device_user.user)
    except (CommandFailedError, DeviceOutputError) as error:
        return refused_step(UNINSTALL, command, error)
    return InstallationStep(UNINSTALL, "done", command)


def install_archive(device_user: DeviceUser, apk: bytes, file_name: str) -> InstallationStep:
    """Install an APK, and no more.

    Raises:
        DeviceError: the device fails; what Android refuses is the step.
    """
    command = f"pm install -r -t --user {check_user(device_user.user)} {shlex.quote(file_name)}"
    try:
        install_apks(device_user.device, {"base.apk": apk}, user=device_user.user)
    except (CommandFailedError, DeviceOutputError) as error:
        return refused_step(INSTALL, command, error)
    return InstallationStep(INSTALL, "done", command)


def _command(client: HostClient, method: str) -> str:
    return f"content call --user {client.user} --uri content://{client.application_id}.host --method {method}"


def _shake_hands(client: HostClient, facts: ShimFacts) -> tuple[Hello | None, InstallationStep]:
    command = _command(client, "hello")
    try:
        hello = client.hello()
    except DroidgateError as error:
        return None, _refused_by_shim(client, HANDSHAKE, command, error)
    if hello.build != facts.build:
        return None, InstallationStep(HANDSHAKE, "refused", command, f"another build answers: {hello.build}")
    return hello, InstallationStep(HANDSHAKE, "done", command)


def _grant_any_app(client: HostClient, *, any_app: bool | None) -> InstallationStep:
    if any_app is None:
        return InstallationStep(
            GRANT, "left-out", why=_STILL if _is_any_app_allowed(client) else _NOBODY_SAID
        )
    command = _command(client, "grant" if any_app else "revoke")
    try:
        if any_app:
            client.grant(ANY_APP, EVERY_CAPABILITY)
            return InstallationStep(GRANT, "done", command, _ASSENT)
        revoked = client.revoke(ANY_APP, EVERY_CAPABILITY)
    except DroidgateError as error:
        return _refused_by_shim(client, GRANT if any_app else REVOKE, command, error)
    if revoked:
        return InstallationStep(REVOKE, "done", command, _ASKED)
    return InstallationStep(GRANT, "left-out", command, _ASKED)


def _is_any_app_allowed(client: HostClient) -> bool:
    try:
        return any(grant.caller == ANY_APP for grant in client.status().grants)
    except DroidgateError:
        client.device.run(["true"])
        return False


def _refused_by_shim(client: HostClient, task: str, command: str, error: DroidgateError) -> InstallationStep:
    # The next command says whether it was the device or only this shim.
    client.device.run(["true"])
    hint = f"; {error.hint}" if error.hint else ""
    return InstallationStep(task, "refused", command, error.message + hint)

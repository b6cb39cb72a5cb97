"""App functions that the agent executes as an app on the phone: with the shell's right to call those of other
apps, which adb lends it (reference appfunctions 7.3).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from droidgate.agents.agent_client import AgentClient
from droidgate.agents.live_calls import LiveAnswer, wait_for_end
from droidgate.shims.device_user import DeviceUser
from droidgate.shims.installation_steps import APP_FUNCTION_ALLOWLIST_SDK, APP_FUNCTIONS_SDK
from droidgate.shims.shell_identity import list_as_agent, run_instrumentation
from droidgate.sources.phone_source import PhoneRequest, read_phone
from droidgate_mappings.model.errors import DeviceError, UsageError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.tables.app_functions import load_error_codes

_INSTRUMENTATION: Final = "dev.droidgate.sample.agent.ShellIdentityInstrumentation"
_SECONDS_TO_LEND: Final = 10.0
_PAUSE: Final = 0.1


def lend_identity(device_user: DeviceUser, client: AgentClient) -> str:
    """Let an agent borrow the shell's right to call app functions; if it could not yet, its log begins anew.

    It can until its process ends: when the agent is installed anew, removed or stopped.

    Returns:
        Why it cannot; empty where it can. Android's answer to a call is the last word on both.

    Raises:
        UsageError: the agent is not installed, or the phone has no app functions.
        DeviceError: the phone fails.
    """
    if device_user.sdk < APP_FUNCTIONS_SDK:
        name = android_name(str(APP_FUNCTIONS_SDK))
        raise UsageError("the phone has no app functions", hint=f"{name} is the first with AppFunctions")
    if client.is_lent():
        return ""
    reason = ""
    if device_user.sdk >= APP_FUNCTION_ALLOWLIST_SDK:
        request = PhoneRequest((), package=client.application_id, keep=False)
        (application,) = (app.application for app in read_phone(device_user.device, request).apps)
        signer = "" if application is None else next(iter(application.signers), "")
        refused = [
            step
            for step in list_as_agent(device_user, client.application_id, signer)
            if step.outcome == "refused"
        ]
        reason = f"{refused[-1].what}: {refused[-1].why}" if refused else ""
    step = run_instrumentation(device_user, f"{client.application_id}/{_INSTRUMENTATION}")
    end = time.monotonic() + _SECONDS_TO_LEND
    while step.outcome == "done" and time.monotonic() < end:
        try:
            if client.is_lent():
                return reason
        except DeviceError:
            # Starting the instrumentation ends the app's process, and such a call with it.
            device_user.device.run(["true"])
        time.sleep(_PAUSE)
    return step.why or "the agent's instrumentation does not run"


def call_function(
    client: AgentClient, package: str, function: str, arguments: Mapping[str, Json], *, seconds: float
) -> LiveAnswer:
    """Execute an app function as the agent, and return the outcome.

    Raises:
        DeviceError: the phone or the agent fails.
    """
    after = client.last_event()
    return wait_for_end(client, client.execute(package, function, arguments), package, after, seconds)


def error_text(answer: LiveAnswer) -> str:
    """Return an error of the contract with its name; empty for anything else."""
    event = answer.event
    if event is None or event.kind != "function-error":
        return ""
    code = event.fields.get("code")
    error_code = load_error_codes().get(code) if isinstance(code, int) else None
    name = "the app's own" if error_code is None else error_code.name
    return f"error {code} ({name}): {event.fields.get('message')}"


def attachment_lines(answer: LiveAnswer) -> list[str]:
    """Return a line for each file, and each extra, that came with the result of an app function.

    The right to read a file is the agent's, so the computer has no more than this of it (reference
    appfunctions 4).
    """
    event = answer.event
    if event is None or event.kind != "function-result":
        return []
    lines = [f"extra: {name}, {value.get('kind')}" for name, value in event.extras.items()]
    attachments = event.fields.get("attachments")
    for item in attachments if isinstance(attachments, list) else []:
        if isinstance(item, dict):
            outcome = item.get("error") or f"the agent read {item.get('bytes_read')} bytes"
            lines.append(f"attachment: {item.get('uri')}: {outcome}")
    return lines

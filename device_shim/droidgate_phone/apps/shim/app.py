"""The behaviour of each class of the shim's APK."""

from __future__ import annotations

from typing import Final

from droidgate_phone.app_api.behaviour import App
from droidgate_phone.apps.shim.consent import CONSENT
from droidgate_phone.apps.shim.consent_screen import ConsentActivity
from droidgate_phone.apps.shim.frontends import FunctionService, MmcpActivity, MmcpReceiver
from droidgate_phone.apps.shim.host import HostProvider
from droidgate_phone.apps.shim.manage import ManageActivity
from droidgate_phone.apps.shim.recognition import HOST_PROVIDER
from droidgate_phone.apps.shim.screen import TRAMPOLINE
from droidgate_phone.apps.shim.service import TOOL_SERVICE, ToolService
from droidgate_phone.apps.shim.shell_identity import SHELL_SERVICE
from droidgate_phone.apps.shim.shell_service import (
    INSTRUMENTATION,
    ShellIdentityInstrumentation,
    ShellIdentityService,
)
from droidgate_phone.apps.shim.trampoline import TrampolineActivity

_PACKAGE: Final = "dev.droidgate.shim"


class ShimApp(App):
    """Behaviour of every shim."""

    PACKAGE = _PACKAGE
    SERVICES = {TOOL_SERVICE: ToolService, SHELL_SERVICE: ShellIdentityService}
    ACTIVITIES = {
        TRAMPOLINE: TrampolineActivity,
        CONSENT: ConsentActivity,
        f"{_PACKAGE}.consent.ManageActivity": ManageActivity,
        f"{_PACKAGE}.frontends.MmcpActivity": MmcpActivity,
    }
    RECEIVERS = {f"{_PACKAGE}.frontends.MmcpReceiver": MmcpReceiver}
    PROVIDERS = {HOST_PROVIDER: HostProvider}
    APP_FUNCTION_SERVICES = {f"{_PACKAGE}.frontends.FunctionService": FunctionService}
    INSTRUMENTATIONS = {INSTRUMENTATION: ShellIdentityInstrumentation}

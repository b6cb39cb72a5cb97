"""Which class of the shim's APK does what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_shim.phone.apps.behaviour import App, Instrumentation
from droidgate_shim.phone.apps.shim.consent import CONSENT, ConsentActivity
from droidgate_shim.phone.apps.shim.frontends import FunctionService, MmcpActivity, MmcpReceiver
from droidgate_shim.phone.apps.shim.host import HostProvider
from droidgate_shim.phone.apps.shim.manage import ManageActivity
from droidgate_shim.phone.apps.shim.recognition import HOST_PROVIDER
from droidgate_shim.phone.apps.shim.screen import TRAMPOLINE, TrampolineActivity
from droidgate_shim.phone.apps.shim.service import TOOL_SERVICE, ToolService

_PACKAGE: Final = "dev.droidgate.shim"


class ShellIdentityInstrumentation(Instrumentation):
    """Lets adb lend the shim the shell's permissions for as long as it runs."""

    def on_start(self, arguments: Mapping[str, str]) -> None:
        """Take them."""
        del arguments
        self.context.platform.adopt_shell_permissions()


class ShimApp(App):
    """Behaviour of every shim."""

    PACKAGE = _PACKAGE
    SERVICES = {TOOL_SERVICE: ToolService}
    ACTIVITIES = {
        TRAMPOLINE: TrampolineActivity,
        CONSENT: ConsentActivity,
        f"{_PACKAGE}.ManageActivity": ManageActivity,
        f"{_PACKAGE}.MmcpActivity": MmcpActivity,
    }
    RECEIVERS = {f"{_PACKAGE}.MmcpReceiver": MmcpReceiver}
    PROVIDERS = {HOST_PROVIDER: HostProvider}
    APP_FUNCTION_SERVICES = {f"{_PACKAGE}.FunctionService": FunctionService}
    INSTRUMENTATIONS = {f"{_PACKAGE}.ShellIdentityInstrumentation": ShellIdentityInstrumentation}

"""What is set up for a shim: the commands as Android takes them, and every refusal a record of its own."""

import shlex
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.apk_writing.packed_samples import signing_key
from droidgate.devices.device import Device
from droidgate.devices.packages import InstalledPackage
from droidgate.shims import granting, installation_steps, shell_identity
from droidgate.shims.device_user import DeviceUser, InstalledShim
from droidgate.shims.host_client import HostClient
from droidgate.shims.installation_steps import (
    APP_FUNCTIONS,
    BATTERY,
    GRANT,
    HANDSHAKE,
    NOTIFICATIONS,
    OVERLAY,
    REVOKE,
    Installation,
    InstallationStep,
    allow_any_app,
    install_shim,
    set_up_access,
    set_up_shim,
)
from droidgate.shims.refusals import ShimVersionError
from droidgate.shims.scopes import Scope, forget_scope, join_scopes, keep_scopes, load_scopes
from droidgate.shims.shell_identity import (
    END,
    INSTALL,
    LEND,
    REMOVE,
    list_as_agent,
    needs_identity,
    release_identity,
    set_up_identity,
    start_instrumentation,
)
from droidgate.shims.shim_facts import ShimFacts, facts_of
from droidgate.shims.sync_runs import plan_changes, plan_identity
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_mappings.user_folders import state_folder
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import BuiltShim, build_bare_shim
from gateway.devices.fake_adb_server import Answer
from gateway.shims import fake_shim
from gateway.shims.fake_shim import APPLICATION_ID, HELLO, SIGNER, STATUS, FakeShim, installed_shim
from titled_rows import titled

ADDED = f"Added: {APPLICATION_ID}\n".encode()
EVERY_KIND = ("mmcp-activity", "app-function")


def set_up(device: Device, sdk: int, kinds: tuple[str, ...] = EVERY_KIND) -> list[InstallationStep]:
    return list(set_up_access(DeviceUser(device, 0, str(sdk)), APPLICATION_ID, kinds))


def outcomes(steps: Iterable[InstallationStep]) -> dict[str, str]:
    return {step.what: step.outcome for step in steps}


def commands(shim: FakeShim) -> list[list[str]]:
    return [words for words in shim.commands if words[0] != "content" and words != ["true"]]


def test_each_release_is_asked_for_what_it_knows(device: Device, shim: FakeShim) -> None:
    shim.outputs["dumpsys deviceidle"] = Answer(ADDED)
    for sdk, needed in ((24, 0), (26, 1), (29, 2), (33, 3)):
        shim.commands.clear()
        steps = set_up(device, sdk)
        assert sum(step.outcome == "done" for step in steps) == needed, sdk
        assert sum(step.outcome == "not-needed" for step in steps) == 4 - needed, sdk
        assert len(commands(shim)) == needed, sdk


def test_commands_are_those_of_the_reference(device: Device, shim: FakeShim) -> None:
    set_up(device, 37)
    assert commands(shim) == [
        ["appops", "set", "--user", "0", APPLICATION_ID, "SYSTEM_ALERT_WINDOW", "allow"],
        ["dumpsys", "deviceidle", "whitelist", f"+{APPLICATION_ID}"],
        ["pm", "grant", "--user", "0", APPLICATION_ID, "android.permission.POST_NOTIFICATIONS"],
    ]


def test_routes_decide_what_a_shim_is_allowed(device: Device, shim: FakeShim) -> None:
    shim.outputs["dumpsys deviceidle"] = Answer(ADDED)
    steps = {item.what: item for item in set_up(device, 37, ("mobile-mcp", "app-function"))}
    assert steps[OVERLAY].outcome == "not-needed"
    assert steps[NOTIFICATIONS].outcome == "done"
    assert "POST_NOTIFICATIONS" in steps[NOTIFICATIONS].why
    functions = steps[APP_FUNCTIONS]
    assert (functions.outcome, functions.why) == ("not-needed", "dev.droidgate.shim calls them for all shims")
    assert all(words[0] not in {"appops", "am", "cmd"} for words in commands(shim))
    steps = {item.what: item for item in set_up(device, 37, ("mmcp-activity",))}
    assert "SYSTEM_ALERT_WINDOW" in steps[OVERLAY].why


def test_a_shim_that_offers_nothing_is_allowed_nothing(device: Device, shim: FakeShim) -> None:
    assert {item.outcome for item in set_up(device, 37, ())} == {"not-needed"}
    assert commands(shim) == []


@pytest.mark.parametrize(("command", "answer", "what", "message"), [
    pytest.param("appops set", Answer(stderr=b"Error: No UID for x\n", status=255), OVERLAY,
        "No UID", id="an overlay that Android refuses"),
    pytest.param("appops set", Answer(stderr=b"Error: no\n"), OVERLAY, "Error: no",
        id="an error with status 0"),
    pytest.param("dumpsys deviceidle", Answer(b"Unknown package: x\n"), BATTERY, "Unknown package",
        id="a package that is not known"),
    pytest.param("dumpsys deviceidle", Answer(b""), BATTERY, "status 0",
        id="no output"),
    pytest.param("dumpsys deviceidle", Answer(ADDED, status=1), BATTERY, "Added",
        id="a status that is not 0"),
    pytest.param("dumpsys deviceidle", Answer(b"Added: dev.droidgate.other\n"), BATTERY, "other",
        id="output of another package"),
    pytest.param("pm grant",
        Answer(stderr=b"Exception occurred while executing 'grant':\njava.lang.SecurityException: "
               b"not a changeable permission type\n\tat x\n", status=255),
        NOTIFICATIONS, "SecurityException: not a changeable", id="an exception without its stack"),
])  # fmt: skip
def test_a_refusal_is_a_record_with_androids_words(
    device: Device, shim: FakeShim, command: str, answer: Answer, what: str, message: str
) -> None:
    shim.outputs[command] = answer
    (step,) = [item for item in set_up(device, 37) if item.what == what]
    assert step.outcome == "refused"
    assert message in step.why
    assert step.command is not None


def facts(build: str) -> ShimFacts:
    return ShimFacts(APPLICATION_ID, build, ("createNote",), frozenset({"mobile-mcp"}), ("a.b",), SIGNER)


def set_up_and_allow(device_user: DeviceUser, shim: ShimFacts, *, any_app: bool | None) -> Installation:
    return allow_any_app(device_user, shim, set_up_shim(device_user, shim), any_app=any_app)


def test_an_installation_s_command_can_be_typed(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation_steps, "install_apks", lambda *_, **__: None)
    name = "my shim; (1).apk"
    done = install_shim(DeviceUser(device, 0, "24"), facts("ef" * 32), b"", file_name=name)
    assert shlex.split(done.steps[0].command or "")[-1] == name


def test_another_build_than_the_one_that_was_installed_does_not_work(device: Device, shim: FakeShim) -> None:
    shim.methods["grant"] = lambda _: {"grant": STATUS["grants"][0]}
    device_user = DeviceUser(device, 0, "24")
    good = set_up_and_allow(device_user, facts(STATUS["build"]), any_app=True)
    assert (good.works, outcomes(good.steps)[GRANT]) == (True, "done")
    other = set_up_and_allow(device_user, facts("ef" * 32), any_app=True)
    assert (other.works, outcomes(other.steps)[HANDSHAKE]) == (False, "refused")
    assert GRANT not in outcomes(other.steps)


@pytest.mark.parametrize(
    ("message", "asked"), [(None, []), (True, ["grant"]), (False, ["revoke"])], ids=["no answer", "yes", "no"]
)
def test_who_may_call_changes_only_by_a_yes_or_a_no(
    device: Device, shim: FakeShim, asked: list[str], *, message: bool | None
) -> None:
    shim.methods["grant"] = lambda _: {"grant": STATUS["grants"][0]}
    shim.methods["revoke"] = lambda _: {"revoked": 0}
    set_up_and_allow(DeviceUser(device, 0, "24"), facts(STATUS["build"]), any_app=message)
    assert [method for method, _ in shim.calls if method in {"grant", "revoke"}] == asked


@pytest.mark.parametrize(
    ("any_app", "refused"), [(True, GRANT), (False, REVOKE)], ids=["grant", "revocation"]
)
def test_a_change_of_who_may_call_that_the_shim_refuses_is_named(
    device: Device, shim: FakeShim, refused: str, *, any_app: bool
) -> None:
    shim.methods |= dict.fromkeys(("grant", "revoke"), lambda _: fake_shim.failure("denied", "not now"))
    done = set_up_and_allow(DeviceUser(device, 0, "24"), facts(STATUS["build"]), any_app=any_app)
    assert [(step.what, step.outcome) for step in done.steps[-1:]] == [(refused, "refused")]


def test_a_shim_that_does_not_answer_is_an_error_once_the_grants_of_the_others_are_revoked(
    device: Device, shim: FakeShim, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = InstalledShim("dev.droidgate.shim.of.c.d", None)
    monkeypatch.setattr(granting, "installed_shims", lambda _: (silent, installed_shim(APPLICATION_ID)))
    shim.methods["revoke"] = lambda _: {"revoked": 2}
    with pytest.raises(DeviceError, match=r"keeps its grants: dev\.droidgate\.shim\.of\.c\.d") as caught:
        granting.revoke_capabilities(DeviceUser(device, 0, "36"), "com.example.agent", ())
    assert (caught.value.hint or "").startswith("2 grants of the other shims revoked")
    assert [method for method, _ in shim.calls] == ["revoke"]


# Who calls app functions for all shims: signed with their key, started once, removed with the last one


KEY = signing_key("ec")
OTHER = signing_key("rsa")
BARE = build_bare_shim(KEY)
BARE_FACTS = facts_of(BARE, KEY.digest)
SHIM = ShimFacts(APPLICATION_ID, "1" * 64, ("f",), frozenset({"app-function"}), ("a.b",), KEY.digest)
SECOND = replace(SHIM, application_id="dev.droidgate.shim.of.c.d")
AGGREGATE = replace(SHIM, application_id=SHIM_PACKAGE, kinds=frozenset({"mmcp-activity"}))
INSTRUMENT = (
    "am instrument -w --user 0 'dev.droidgate.shim/dev.droidgate.shim.backends.ShellIdentityInstrumentation'"
    " </dev/null >/dev/null 2>&1 &"
)
HELP_37 = (
    "AppFunctionManagerService commands:\n  help\n    Prints this help text.\n\n"
    "  purge-allowlist-cache\n    Purges the cache.\n\n"
)


class Phone:
    """What is installed on the fake device, and whether the instrumentation runs."""

    def __init__(self, device: Device, shim: FakeShim) -> None:
        self.device = device
        self.shim = shim
        self.installed: dict[str, ShimFacts | None] = {}
        self.archives: list[bytes] = []
        self.runs = False
        self.can_run = True

    def device_user(self, sdk: int = 36) -> DeviceUser:
        return DeviceUser(self.device, 0, str(sdk))

    def packages(self) -> dict[str, InstalledPackage]:
        return {
            name: InstalledPackage(name, f"/data/app/{name}/base.apk", 1, 10_001) for name in self.installed
        }

    def facts(self, _: DeviceUser, package: InstalledPackage) -> ShimFacts | None:
        return self.installed[package.name]

    def install(self, _: Device, archives: dict[str, bytes], *, user: int) -> None:
        assert user == 0
        self.archives += archives.values()
        self.installed[SHIM_PACKAGE] = BARE_FACTS
        self.runs = False

    def uninstall(self, _: Device, name: str, *, user: int) -> None:
        assert user == 0
        del self.installed[name]

    def status(self, _: dict[str, Any]) -> dict[str, Any]:
        if any(words[:2] == ["sh", "-c"] for words in self.shim.commands):
            self.runs = self.can_run
        access = {**STATUS["access"], "execute_app_functions": self.runs}
        return {**STATUS, "application_id": SHIM_PACKAGE, "access": access}

    def commands(self) -> list[list[str]]:
        return commands(self.shim)


@pytest.fixture
def phone(device: Device, shim: FakeShim, monkeypatch: pytest.MonkeyPatch) -> Phone:
    item = Phone(device, shim)
    shim.methods["status"] = item.status
    monkeypatch.setattr(fake_shim, "AUTHORITY", f"{SHIM_PACKAGE}.host")
    monkeypatch.setattr(shell_identity, "_SECONDS_TO_LEND", 0.0)
    monkeypatch.setattr(shell_identity, "installed_facts", item.facts)
    monkeypatch.setattr(DeviceUser, "packages", lambda _: item.packages())
    monkeypatch.setattr(installation_steps, "install_apks", item.install)
    monkeypatch.setattr(installation_steps, "uninstall", item.uninstall)
    return item


def outcomes_of(done: Installation) -> dict[str, str]:
    return outcomes(done.steps)


def test_only_app_functions_on_a_phone_that_has_them_need_it(phone: Phone) -> None:
    other = replace(SHIM, kinds=frozenset({"mobile-mcp"}))
    assert needs_identity(phone.device_user(36), [other, SHIM])
    assert not needs_identity(phone.device_user(35), [SHIM])
    assert not needs_identity(phone.device_user(36), [other])
    assert not needs_identity(phone.device_user(36), [])


DONE = {INSTALL: "done", LEND: "done"}
RUNS = {INSTALL: "not-needed", LEND: "not-needed"}
STARTED = {INSTALL: "not-needed", LEND: "done"}
REFUSED = {INSTALL: "refused"}
UNINSTALL = "droidgate shim uninstall dev.droidgate.shim"
OF_OTHER_KEY = replace(BARE_FACTS, signer=OTHER.digest)


@titled(("present", "runs", "key", "expected", "why"), {
    "it is installed and started": ({}, False, KEY, DONE, "am force-stop dev.droidgate.shim"),
    "it is there and runs": ({SHIM_PACKAGE: BARE_FACTS}, True, KEY, RUNS, ""),
    "it is there and runs, and no key is needed": ({SHIM_PACKAGE: BARE_FACTS}, True, None, RUNS, ""),
    "it does not run after a restart": ({SHIM_PACKAGE: BARE_FACTS}, False, None, STARTED, ""),
    "another version is replaced": ({SHIM_PACKAGE: replace(BARE_FACTS, build="0" * 64)}, True, KEY, DONE, ""),
    "the shim of several apps calls, too": ({SHIM_PACKAGE: AGGREGATE}, False, KEY, STARTED, ""),
    "another key signed it": ({SHIM_PACKAGE: OF_OTHER_KEY}, False, KEY, REFUSED, UNINSTALL),
    "it is not a shim": ({SHIM_PACKAGE: None}, False, KEY, REFUSED, UNINSTALL),
    "the key is not known": ({}, False, None, REFUSED, "--key"),
    "the key is another one": ({}, False, OTHER, REFUSED, "--key"),
})  # fmt: skip
def test_one_app_that_calls_functions_is_installed_and_started_for_all_shims(
    phone: Phone, present: dict[str, Any], key: Any, expected: dict[str, str], why: str, *, runs: bool
) -> None:
    phone.installed, phone.runs = dict(present), runs
    done = set_up_identity(phone.device_user(), [SHIM, SECOND], key)
    assert (outcomes_of(done), done.works) == (expected, expected is not REFUSED)
    assert why in done.steps[-1].why
    assert phone.archives == ([BARE.apk] if expected is DONE else [])
    assert phone.commands() == ([["sh", "-c", INSTRUMENT]] if expected.get(LEND) == "done" else [])


def test_a_shim_of_another_key_is_reported(phone: Phone) -> None:
    done = set_up_identity(phone.device_user(), [SHIM, replace(SECOND, signer=OTHER.digest)], KEY)
    assert outcomes_of(done)[f"call app functions for {SECOND.application_id}"] == "refused"
    assert outcomes_of(done)[LEND] == "done"


def test_an_instrumentation_that_does_not_run_is_reported(phone: Phone) -> None:
    phone.can_run = False
    done = set_up_identity(phone.device_user(), [SHIM], KEY)
    assert (outcomes_of(done)[LEND], "another instrumentation" in done.steps[-1].why) == ("refused", True)
    assert done.works


def test_on_android_17_only_the_app_that_calls_functions_is_listed_as_an_agent(phone: Phone) -> None:
    phone.shim.outputs["cmd app_function"] = Answer(HELP_37.encode())
    set_up_identity(phone.device_user(37), [SHIM, SECOND], KEY)
    assert phone.commands() == [
        ["cmd", "app_function", "help"],
        ["cmd", "app_function", "purge-allowlist-cache"],
        ["cmd", "allowlist", "add-package-multimap", "2", f"{SHIM_PACKAGE}:{KEY.digest}", "*"],
        ["sh", "-c", INSTRUMENT],
    ]


@pytest.mark.parametrize(("command", "answer", "run", "message"), [
    pytest.param("cmd allowlist", Answer(stderr=b"cmd: Can't find service\n", status=20),
        lambda phone: list(list_as_agent(phone.device_user(37), SHIM_PACKAGE, KEY.digest))[-1], "find",
        id="the list of agents"),
    pytest.param("sh -c", Answer(stderr=b"sh: syntax error\n", status=1),
        lambda phone: start_instrumentation(phone.device_user(), HostClient(phone.device, SHIM_PACKAGE)),
        "syntax error", id="the instrumentation"),
])  # fmt: skip
def test_a_refusal_to_lend_is_a_record_with_androids_words(
    phone: Phone, command: str, answer: Answer, run: Callable[[Phone], InstallationStep], message: str
) -> None:
    phone.shim.outputs["cmd app_function"] = Answer(HELP_37.encode())
    phone.shim.outputs[command] = answer
    step = run(phone)
    assert (step.outcome, message in step.why) == ("refused", True)
    assert step.command is not None


def test_the_app_that_calls_functions_is_removed_with_the_last_shim_that_needs_it(phone: Phone) -> None:
    phone.installed = {SHIM_PACKAGE: BARE_FACTS, SECOND.application_id: SECOND}
    assert release_identity(phone.device_user(), {KEY.digest}) is None
    phone.installed = {SHIM_PACKAGE: BARE_FACTS, SHIM.application_id: None}
    assert release_identity(phone.device_user(), {KEY.digest}) is None
    windows = replace(SHIM, kinds=frozenset({"mmcp-activity"}))
    phone.installed = {SHIM_PACKAGE: BARE_FACTS, windows.application_id: windows}
    assert release_identity(phone.device_user(), {OTHER.digest}) is None
    step = release_identity(phone.device_user(), {KEY.digest})
    assert step is not None
    assert (step.what, step.outcome) == (REMOVE, "done")
    assert phone.installed.keys() == {windows.application_id}
    assert release_identity(phone.device_user(), {KEY.digest}) is None


def test_a_shim_of_several_apps_stays_and_only_its_instrumentation_ends(phone: Phone) -> None:
    phone.installed = {SHIM_PACKAGE: AGGREGATE}
    assert release_identity(phone.device_user(), {KEY.digest}) is None
    phone.runs = True
    step = release_identity(phone.device_user(), {KEY.digest})
    assert step is not None
    assert (step.what, step.command) == (END, "am force-stop --user 0 dev.droidgate.shim")
    assert phone.installed.keys() == {SHIM_PACKAGE}


# What `shim sync` would do, and what it remembers of a device


PREFIX = "dev.droidgate.shim.of."


def built(package: str, *capabilities: str, build: str = "1") -> BuiltShim:
    return BuiltShim(
        PREFIX + package, package, b"", {}, {}, packages=(package,), capabilities=capabilities, build=build
    )


def installed(
    package: str, *routes: str, build: str = "1", name: str | None = None, **more: Any
) -> InstalledShim:
    sources = [{**HELLO["sources"][0], "package": package}] if routes else []
    facts = {"build": build, "routes": routes, "sources": sources, **more}
    return installed_shim(name or PREFIX + package, **facts)


def test_apps_that_came_changed_went_or_stayed_are_planned_apart() -> None:
    present = [installed("a.same", "x"), installed("a.changed", "x", "y"), installed("a.went", "x")]
    expected = [built("a.same", "x"), built("a.changed", "x", "z", build="2"), built("a.came", "x")]
    planned = plan_changes(present, expected, None)
    changes = {change.application_id.removeprefix(PREFIX): change for change in planned}
    assert {name: change.kind for name, change in changes.items()} == {
        "a.came": "added", "a.changed": "changed", "a.same": "same", "a.went": "removed",
    }  # fmt: skip
    assert changes["a.changed"].why == "new: z; gone: y"
    assert changes["a.went"].built is None


OTHER_SIGNER = [STATUS["targets"][0] | {"package": "a.b", "state": "other-signer"}]
SILENT = InstalledShim(PREFIX + "a.b", None, ShimVersionError("it speaks version 9"))


@titled(("present", "expected", "named", "asleep", "kind", "why"), {
    "an app that is named and declares nothing": ([installed("a.b", "x"), installed("a.other", "x")], [],
        ["a.b"], (), "removed", ""),
    "an app whose declaration is unclear": ([installed("a.b", "x")], [], None, {"a.b"}, "same", "not known"),
    "an app of another signer": ([installed("a.b", "x", targets=OTHER_SIGNER)],
        [built("a.b", "x", build="2")], None, (), "changed", "than the shim was built for: a.b"),
    "a shim that does not answer": ([SILENT], [built("a.b", "x")], None, (), "changed", "version 9"),
    "a shim that does not answer and is not needed": ([SILENT], [], ["a.b"], (), "removed", ""),
    "the bare shim": ([installed("", name="dev.droidgate.shim")], [], None, (), None, ""),
})  # fmt: skip
def test_one_app_s_change_is_planned(
    present: list[InstalledShim],
    expected: list[BuiltShim],
    named: list[str] | None,
    asleep: Collection[str],
    kind: str | None,
    why: str,
) -> None:
    changes = plan_changes(present, expected, named, asleep)
    assert [(change.kind, change.application_id) for change in changes] == (
        [(kind, PREFIX + "a.b")] if kind else []
    )
    assert all(why in change.why for change in changes)
    assert [change.built for change in changes if change.built] == expected


BARE_SHIM = BuiltShim("dev.droidgate.shim", "droidgate", b"", {}, {}, build="1")
INSTALLED = ShimFacts("dev.droidgate.shim", "1", (), frozenset(), (), "ab" * 32)


@pytest.mark.parametrize(("kept", "is_lending", "kind"), [
    pytest.param(None, False, "added", id="it comes with the first"),
    pytest.param(INSTALLED, True, "same", id="it stays"),
    pytest.param(INSTALLED, False, "changed", id="it is not lending"),
    pytest.param(replace(INSTALLED, build="0"), True, "changed", id="it is of another build"),
])  # fmt: skip
def test_who_calls_for_others_is_planned(kept: ShimFacts | None, kind: str, *, is_lending: bool) -> None:
    change = plan_identity(kept, BARE_SHIM, is_installed=kept is not None, is_lending=is_lending)
    assert change is not None
    assert (change.kind, change.application_id, change.built) == (kind, "dev.droidgate.shim", BARE_SHIM)


def test_an_app_that_calls_functions_for_no_shim_is_removed_unless_that_is_unclear() -> None:
    change = plan_identity(INSTALLED, None, is_installed=True, is_lending=True)
    assert change is not None
    assert (change.kind, change.built) == ("removed", None)
    assert plan_identity(INSTALLED, None, is_installed=True, is_lending=True, is_unclear=True) is None
    several = replace(INSTALLED, capabilities=("t",))
    assert plan_identity(several, None, is_installed=True, is_lending=True) is None
    assert plan_identity(None, None, is_installed=False, is_lending=False) is None


def test_a_scope_is_kept_for_each_device_and_forgotten(device: Device) -> None:
    assert load_scopes(device) == ()
    options = ShimOptions(
        protocols=("appfunctions", "mmcp"),
        only=("a", "b"),
        aggregate=True,
        advertise=frozenset({"mmcp"}),
        deadline_ms=5,
        key=Path("/key.pem"),
    )
    scope = Scope(packages=("a.b", "b.c"), options=options)
    keep_scopes(device, [scope])
    assert load_scopes(device) == (scope,)
    forget_scope(device)
    assert load_scopes(device) == ()


_MMCP = ShimOptions(protocols=("mmcp",))
_ALL = Scope(options=_MMCP)
_SOME = Scope(packages=("a", "b"), options=_MMCP)
_SLOW = Scope(packages=("c",), options=_MMCP.changed({"deadline_ms": 9}))
_ONE_SHIM = Scope(packages=("a", "b"), options=_MMCP.changed({"aggregate": True}))


def _like(scope: Scope, *packages: str, **options: Any) -> Scope:
    return Scope(packages=packages or None, options=scope.options.changed(options))


@pytest.mark.parametrize(("earlier", "asked", "after"), [
    pytest.param([_ALL], _like(_ALL, "c"), [_ALL], id="all apps include one more"),
    pytest.param([_ALL], _SLOW, [_ALL, _SLOW], id="another deadline is a scope of its own"),
    pytest.param([_SOME], _like(_SOME, "c"), [_like(_SOME, "a", "b", "c")], id="an app joins its options"),
    pytest.param([_SOME, _SLOW], _like(_SLOW, "a"), [_like(_SOME, "b"), _like(_SLOW, "a", "c")],
        id="an app moves to the same options"),
    pytest.param([_SOME, _SLOW], _like(_SOME, "c"), [_like(_SOME, "a", "b", "c")],
        id="the last app of a scope leaves it"),
    pytest.param([_SOME], _ALL, [_ALL], id="all apps include some"),
    pytest.param([_SLOW], _like(_ALL), [_SLOW, _ALL], id="all apps leave other options alone"),
    pytest.param([_ALL], _like(_ALL, protocols=("mobile-mcp",)),
        [_like(_ALL, protocols=("mmcp", "mobile-mcp"))], id="one more protocol joins"),
    pytest.param([_ALL], _like(_ALL, deadline_ms=9), [_ALL, _like(_ALL, deadline_ms=9)],
        id="all apps with another deadline come second"),
    pytest.param([_SOME, _ONE_SHIM], _like(_ONE_SHIM, "c", deadline_ms=9),
        [_SOME, _like(_ONE_SHIM, "a", "b", "c", deadline_ms=9)],
        id="one shim for several takes the newest deadline"),
    pytest.param([_ONE_SHIM], _like(_ONE_SHIM, "c", only=("x",)), [_like(_ONE_SHIM, "c", only=("x",))],
        id="one shim for several takes the newest choice"),
])  # fmt: skip
def test_installing_more_apps_takes_none_out(earlier: list[Scope], asked: Scope, after: list[Scope]) -> None:
    built = asked.packages or ("a", "b")
    assert list(join_scopes(earlier, asked, built)) == after


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 2}', '{"scopes": [{"packages": "a"}]}', '{"more": 1}']
)
def test_a_scope_that_cannot_be_read_is_none(device: Device, text: str) -> None:
    keep_scopes(device, [Scope()])
    (path,) = (state_folder() / "shims").iterdir()
    Path(path).write_text(text)
    assert load_scopes(device) == ()


def test_a_scope_that_another_user_may_write_names_no_key_to_trust(device: Device) -> None:
    keep_scopes(device, [Scope(options=ShimOptions(key=Path("/key.pem")))])
    (path,) = (state_folder() / "shims").iterdir()
    path.chmod(0o666)
    with pytest.raises(InputError, match="other users of this computer may write"):
        load_scopes(device)

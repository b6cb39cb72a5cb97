"""Who calls app functions for all shims: signed with their key, started once, removed with the last one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from adapters.apk_writing.packed_samples import signing_key
from droidgate.devices.device import Device
from droidgate.devices.packages import InstalledPackage
from droidgate.shims import installing, shell_identity
from droidgate.shims.client import HostClient
from droidgate.shims.installing import Installation, Step
from droidgate.shims.place import ShimPlace
from droidgate.shims.shell_identity import (
    END,
    INSTALL,
    LEND,
    REMOVE,
    list_as_agent,
    needs_identity,
    release_identity,
    set_up_identity,
)
from droidgate.shims.shim_facts import ShimFacts, facts_of
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_shim.builder.shims import build_bare_shim
from gateway.devices.fake_adb_server import Answer
from gateway.shim_host import fake_shim
from gateway.shim_host.fake_shim import APPLICATION_ID, STATUS, FakeShim

KEY = signing_key("ec")
OTHER = signing_key("rsa")
BARE = build_bare_shim(KEY)
BARE_FACTS = facts_of(BARE, KEY.digest)
SHIM = ShimFacts(APPLICATION_ID, "1" * 64, ("f",), frozenset({"app-function"}), ("a.b",), KEY.digest)
SECOND = replace(SHIM, application_id="dev.droidgate.shim.of.c.d")
AGGREGATE = replace(SHIM, application_id=SHIM_PACKAGE, kinds=frozenset({"mmcp-activity"}), serves_shims=True)
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

    def place(self, sdk: int = 36) -> ShimPlace:
        return ShimPlace(self.device, 0, str(sdk))

    def packages(self) -> dict[str, InstalledPackage]:
        return {
            name: InstalledPackage(name, f"/data/app/{name}/base.apk", 1, 10_001) for name in self.installed
        }

    def facts(self, _: ShimPlace, package: InstalledPackage) -> ShimFacts | None:
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
        return [words for words in self.shim.commands if words[0] != "content" and words != ["true"]]


@pytest.fixture
def phone(device: Device, shim: FakeShim, monkeypatch: pytest.MonkeyPatch) -> Phone:
    item = Phone(device, shim)
    shim.methods["status"] = item.status
    monkeypatch.setattr(fake_shim, "AUTHORITY", f"{SHIM_PACKAGE}.host")
    monkeypatch.setattr(shell_identity, "_SECONDS_TO_LEND", 0.0)
    monkeypatch.setattr(shell_identity, "installed_facts", item.facts)
    monkeypatch.setattr(ShimPlace, "packages", lambda _: item.packages())
    monkeypatch.setattr(installing, "install_apks", item.install)
    monkeypatch.setattr(installing, "uninstall", item.uninstall)
    return item


def outcomes(done: Installation) -> dict[str, str]:
    return {step.what: step.outcome for step in done.steps}


def test_only_app_functions_on_a_phone_that_has_them_need_it(phone: Phone) -> None:
    other = replace(SHIM, kinds=frozenset({"mobile-mcp"}))
    assert needs_identity(phone.place(36), [other, SHIM])
    assert not needs_identity(phone.place(35), [SHIM])
    assert not needs_identity(phone.place(36), [other])
    assert not needs_identity(phone.place(36), [])


def test_it_is_installed_and_started_once_for_all_shims(phone: Phone) -> None:
    done = set_up_identity(phone.place(), [SHIM, SECOND], KEY)
    assert outcomes(done) == {INSTALL: "done", LEND: "done"}
    assert done.works
    assert phone.archives == [BARE.apk]
    assert phone.commands() == [["sh", "-c", INSTRUMENT]]
    assert "am force-stop dev.droidgate.shim" in done.steps[-1].why


def test_what_runs_already_is_neither_installed_nor_started_again(phone: Phone) -> None:
    phone.installed[SHIM_PACKAGE] = BARE_FACTS
    phone.runs = True
    for key in (KEY, None):
        done = set_up_identity(phone.place(37), [SHIM], key)
        assert outcomes(done) == {INSTALL: "not-needed", LEND: "not-needed"}
        assert done.works
    assert (phone.archives, phone.commands()) == ([], [])


def test_after_a_restart_it_is_started_again(phone: Phone) -> None:
    phone.installed[SHIM_PACKAGE] = BARE_FACTS
    done = set_up_identity(phone.place(), [SHIM], None)
    assert outcomes(done) == {INSTALL: "not-needed", LEND: "done"}


@pytest.mark.parametrize(
    "kept", [replace(BARE_FACTS, build="0" * 64), replace(BARE_FACTS, serves_shims=False)]
)
def test_one_of_another_version_is_replaced(phone: Phone, kept: ShimFacts) -> None:
    phone.installed[SHIM_PACKAGE] = kept
    phone.runs = True
    assert outcomes(set_up_identity(phone.place(), [SHIM], KEY))[INSTALL] == "done"
    assert phone.archives == [BARE.apk]


def test_the_shim_of_several_apps_calls_for_the_others_too(phone: Phone) -> None:
    phone.installed[SHIM_PACKAGE] = AGGREGATE
    assert outcomes(set_up_identity(phone.place(), [SHIM], KEY)) == {INSTALL: "not-needed", LEND: "done"}
    phone.installed[SHIM_PACKAGE] = replace(AGGREGATE, serves_shims=False)
    done = set_up_identity(phone.place(), [SHIM], KEY)
    assert (outcomes(done), done.works) == ({INSTALL: "refused"}, False)
    assert "droidgate shim sync" in done.steps[0].why
    assert phone.archives == []


@pytest.mark.parametrize(
    "kept", [replace(BARE_FACTS, signer=OTHER.digest), None], ids=["other key", "no shim"]
)
def test_one_that_another_key_signed_stays_and_the_fix_is_reported(
    phone: Phone, kept: ShimFacts | None
) -> None:
    phone.installed[SHIM_PACKAGE] = kept
    done = set_up_identity(phone.place(), [SHIM], KEY)
    assert (outcomes(done), done.works) == ({INSTALL: "refused"}, False)
    assert "droidgate shim uninstall dev.droidgate.shim" in done.steps[0].why
    assert (phone.archives, phone.commands()) == ([], [])


@pytest.mark.parametrize("key", [None, OTHER])
def test_without_the_key_of_the_shims_it_cannot_be_installed(phone: Phone, key: Any) -> None:
    done = set_up_identity(phone.place(), [SHIM], key)
    assert outcomes(done) == {INSTALL: "refused"}
    assert "--key" in done.steps[0].why


def test_a_shim_of_another_key_is_reported(phone: Phone) -> None:
    done = set_up_identity(phone.place(), [SHIM, replace(SECOND, signer=OTHER.digest)], KEY)
    assert outcomes(done)[f"call app functions for {SECOND.application_id}"] == "refused"
    assert outcomes(done)[LEND] == "done"


def test_an_instrumentation_that_does_not_run_is_reported(phone: Phone) -> None:
    phone.can_run = False
    done = set_up_identity(phone.place(), [SHIM], KEY)
    assert (outcomes(done)[LEND], "another instrumentation" in done.steps[-1].why) == ("refused", True)
    assert done.works


def test_on_17_it_alone_is_listed_as_an_agent(phone: Phone) -> None:
    phone.shim.outputs["cmd app_function"] = Answer(HELP_37.encode())
    set_up_identity(phone.place(37), [SHIM, SECOND], KEY)
    assert phone.commands() == [
        ["cmd", "app_function", "help"],
        ["cmd", "app_function", "purge-allowlist-cache"],
        ["cmd", "allowlist", "add-package-multimap", "2", f"{SHIM_PACKAGE}:{KEY.digest}", "*"],
        ["sh", "-c", INSTRUMENT],
    ]


def start_by_shell(phone: Phone) -> list[Step]:
    return [shell_identity.start_instrumentation(phone.place(), HostClient(phone.device, SHIM_PACKAGE))]


def list_it(phone: Phone) -> list[Step]:
    return list(list_as_agent(phone.place(37), SHIM_PACKAGE, KEY.digest))


@pytest.mark.parametrize(
    ("command", "answer", "run", "said"),
    [
        ("cmd allowlist", Answer(stderr=b"cmd: Can't find service\n", status=20), list_it, "find"),
        ("sh -c", Answer(stderr=b"sh: syntax error\n", status=1), start_by_shell, "syntax error"),
    ],
)
def test_a_refusal_is_a_record_with_androids_words(
    phone: Phone, command: str, answer: Answer, run: Callable[[Phone], list[Step]], said: str
) -> None:
    phone.shim.outputs["cmd app_function"] = Answer(HELP_37.encode())
    phone.shim.outputs[command] = answer
    step = run(phone)[-1]
    assert (step.outcome, said in step.why) == ("refused", True)
    assert step.command is not None


def test_it_goes_with_the_last_shim_that_calls_app_functions(phone: Phone) -> None:
    phone.installed = {SHIM_PACKAGE: BARE_FACTS, SECOND.application_id: SECOND}
    assert release_identity(phone.place(), {KEY.digest}) is None
    phone.installed = {SHIM_PACKAGE: BARE_FACTS, SHIM.application_id: None}
    assert release_identity(phone.place(), {KEY.digest}) is None
    windows = replace(SHIM, kinds=frozenset({"mmcp-activity"}))
    phone.installed = {SHIM_PACKAGE: BARE_FACTS, windows.application_id: windows}
    assert release_identity(phone.place(), {OTHER.digest}) is None
    step = release_identity(phone.place(), {KEY.digest})
    assert step is not None
    assert (step.what, step.outcome) == (REMOVE, "done")
    assert phone.installed.keys() == {windows.application_id}
    assert release_identity(phone.place(), {KEY.digest}) is None


def test_a_shim_of_several_apps_stays_and_only_its_instrumentation_ends(phone: Phone) -> None:
    phone.installed = {SHIM_PACKAGE: AGGREGATE}
    assert release_identity(phone.place(), {KEY.digest}) is None
    phone.runs = True
    step = release_identity(phone.place(), {KEY.digest})
    assert step is not None
    assert (step.what, step.command) == (END, "am force-stop --user 0 dev.droidgate.shim")
    assert phone.installed.keys() == {SHIM_PACKAGE}

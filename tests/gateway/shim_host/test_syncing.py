"""What `shim sync` would do, and what it remembers of a device."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from droidgate.devices.device import Device
from droidgate.shims.answers import ShimVersionError, Status
from droidgate.shims.place import InstalledShim
from droidgate.shims.scopes import (
    Scope,
    forget_scope,
    join_scopes,
    keep_scopes,
    load_scopes,
    scope_of,
)
from droidgate.shims.shim_facts import ShimFacts
from droidgate.shims.sync_runs import plan_changes, plan_identity
from droidgate_mappings.user_folders import state_folder
from droidgate_shim.builder.shims import BuiltShim, ShimOptions
from gateway.shim_host.fake_shim import HELLO, STATUS

PREFIX = "dev.droidgate.shim.of."


def built(package: str, *capabilities: str, build: str = "1") -> BuiltShim:
    return BuiltShim(
        PREFIX + package, package, b"", {}, {}, packages=(package,), capabilities=capabilities, build=build
    )


def installed(package: str, *routes: str, build: str = "1", name: str | None = None) -> InstalledShim:
    source = {**HELLO["sources"][0], "package": package}
    reported = {
        **STATUS,
        "application_id": name or PREFIX + package,
        "build": build,
        "routes": routes,
        "sources": [source] if routes else [],
    }
    return InstalledShim(name or PREFIX + package, Status.model_validate(reported))


def test_what_came_changed_went_and_stayed_is_distinguished() -> None:
    present = [installed("a.same", "x"), installed("a.changed", "x", "y"), installed("a.went", "x")]
    expected = [built("a.same", "x"), built("a.changed", "x", "z", build="2"), built("a.came", "x")]
    changes = {
        plan_change.application_id.removeprefix(PREFIX): plan_change
        for plan_change in plan_changes(present, expected, None)
    }
    assert {name: plan_change.kind for name, plan_change in changes.items()} == {
        "a.came": "came",
        "a.changed": "changed",
        "a.same": "same",
        "a.went": "went",
    }
    assert changes["a.changed"].why == "new: z; gone: y"
    assert changes["a.went"].built is None


def test_shims_of_apps_that_nobody_named_are_left_alone() -> None:
    present = [installed("a.mine", "x"), installed("a.other", "x")]
    (change,) = plan_changes(present, [], ["a.mine"])
    assert (change.kind, change.application_id) == ("went", PREFIX + "a.mine")


def test_a_shim_stays_while_it_is_not_known_what_its_app_declares() -> None:
    (change,) = plan_changes([installed("a.asleep", "x")], [], None, {"a.asleep"})
    assert (change.kind, change.built) == ("same", None)
    assert "not known" in change.why


def test_an_app_of_another_signer_is_reported_as_what_it_is() -> None:
    present = installed("a.b", "x")
    assert present.status is not None
    other = STATUS["targets"][0] | {"package": "a.b", "state": "other-signer"}
    status = Status.model_validate({**present.status.model_dump(), "targets": [other]})
    replaced = InstalledShim(present.application_id, status)
    (change,) = plan_changes([replaced], [built("a.b", "x", build="2")], None)
    assert change.why == "signed by another than was approved: a.b"


def test_the_bare_shim_is_left_alone() -> None:
    assert plan_changes([installed("", name="dev.droidgate.shim")], [], None) == ()


BARE = BuiltShim("dev.droidgate.shim", "droidgate", b"", {}, {}, build="1")
INSTALLED = ShimFacts("dev.droidgate.shim", "1", (), frozenset(), (), "ab" * 32, serves_shims=True)


@pytest.mark.parametrize(("kept", "is_lending", "kind"), [
    (None, False, "came"),
    (INSTALLED, True, "same"),
    (INSTALLED, False, "changed"),
    (replace(INSTALLED, build="0"), True, "changed"),
])  # fmt: skip
def test_who_calls_for_others_is_planned(kept: ShimFacts | None, kind: str, *, is_lending: bool) -> None:
    change = plan_identity(kept, BARE, is_installed=kept is not None, is_lending=is_lending)
    assert change is not None
    assert (change.kind, change.application_id, change.built) == (kind, "dev.droidgate.shim", BARE)


def test_who_calls_app_functions_for_nobody_goes_unless_that_is_unclear() -> None:
    change = plan_identity(INSTALLED, None, is_installed=True, is_lending=True)
    assert change is not None
    assert (change.kind, change.built) == ("went", None)
    assert plan_identity(INSTALLED, None, is_installed=True, is_lending=True, is_unclear=True) is None
    several = replace(INSTALLED, capabilities=("t",))
    assert plan_identity(several, None, is_installed=True, is_lending=True) is None
    assert plan_identity(None, None, is_installed=False, is_lending=False) is None


def test_a_shim_that_does_not_answer_is_built_anew_or_removed() -> None:
    silent = InstalledShim(PREFIX + "a.b", None, ShimVersionError("it speaks version 9"))
    (change,) = plan_changes([silent], [built("a.b", "x")], None)
    assert (change.kind, "version 9" in change.why) == ("changed", True)
    (change,) = plan_changes([silent], [], ["a.b"])
    assert change.kind == "went"


def test_a_scope_is_kept_for_each_device_and_forgotten(device: Device) -> None:
    assert load_scopes(device) == ()
    options = ShimOptions(only=("a", "b"), aggregate=True, advertise=frozenset({"mmcp"}), deadline_ms=5)
    keep_scopes(device, [scope_of(["b.c", "a.b"], options, "/key.pem", ["mmcp", "appfunctions"])])
    (scope,) = load_scopes(device)
    assert (scope.packages, scope.options, scope.key) == (("a.b", "b.c"), options, "/key.pem")
    assert scope.protocols == ("appfunctions", "mmcp")
    forget_scope(device)
    assert load_scopes(device) == ()


_ALL = Scope(protocols=("mmcp",))
_SOME = Scope(packages=("a", "b"), protocols=("mmcp",))
_SLOW = Scope(packages=("c",), options=ShimOptions(deadline_ms=9), protocols=("mmcp",))
_ONE_SHIM = Scope(packages=("a", "b"), options=ShimOptions(aggregate=True), protocols=("mmcp",))


def _like(scope: Scope, *packages: str, protocols: tuple[str, ...] = ("mmcp",), **options: Any) -> Scope:
    changed = replace(scope.options, **options)
    return Scope(packages=packages or None, options=changed, protocols=protocols)


@pytest.mark.parametrize(("earlier", "asked", "after"), [
    ([_ALL], _like(_ALL, "c"), [_ALL]),
    ([_ALL], _SLOW, [_ALL, _SLOW]),
    ([_SOME], _like(_SOME, "c"), [_like(_SOME, "a", "b", "c")]),
    ([_SOME, _SLOW], _like(_SLOW, "a"), [_like(_SOME, "b"), _like(_SLOW, "a", "c")]),
    ([_SOME, _SLOW], _like(_SOME, "c"), [_like(_SOME, "a", "b", "c")]),
    ([_SOME], _ALL, [_ALL]),
    ([_SLOW], _like(_ALL), [_SLOW, _ALL]),
    ([_ALL], _like(_ALL, protocols=("mobile-mcp",)), [_like(_ALL, protocols=("mmcp", "mobile-mcp"))]),
    ([_ALL], _like(_ALL, deadline_ms=9), [_ALL, _like(_ALL, deadline_ms=9)]),
    ([_SOME, _ONE_SHIM], _like(_ONE_SHIM, "c", deadline_ms=9),
     [_SOME, _like(_ONE_SHIM, "a", "b", "c", deadline_ms=9)]),
    ([_ONE_SHIM], _like(_ONE_SHIM, "c", only=("x",)), [_like(_ONE_SHIM, "c", only=("x",))]),
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

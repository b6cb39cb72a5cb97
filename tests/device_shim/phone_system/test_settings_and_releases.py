"""Releases, properties, settings, the display's size, services, and what the phone refuses."""

import pytest

from device_shim.phone_system.phone_system_apps import TOOL, Ran, make_phone, make_tool, run
from droidgate_mappings.model.errors import UsageError
from droidgate_phone.system.releases import known_releases, load_release

RELEASES = {
    "26": ("8.0.0", "26", "", None, None),
    "30": ("11", "30", "", None, None),
    "33": ("13", "33", "", None, None),
    "34": ("14", "34", "", None, None),
    "36": ("16", "36", "36.0", "16", 0),
    "36.1": ("16", "36", "36.1", "16-qpr2", 3),
    "37": ("17", "37", "37.0", "17", 5),
}
"""Version, API level and full version, the indexer and the generation of the shell of app functions."""


def test_each_release_is_what_it_came_with() -> None:
    seen = {}
    for name in known_releases():
        release, words = load_release(name), ("release", "sdk", "sdk_full")
        with make_phone(name) as system:
            properties = [run(system, "getprop", f"ro.build.version.{word}").stdout.strip() for word in words]
        seen[name] = (*properties, release.app_search, release.function_shell)
    assert seen == RELEASES


def test_an_unknown_release_is_refused() -> None:
    with pytest.raises(UsageError):
        load_release("35")


def test_properties_can_be_set_unless_they_are_read_only() -> None:
    with make_phone("36.1") as system:
        assert run(system, "setprop", "debug.a", "b c") == Ran(0, "", "")
        assert run(system, "getprop", "debug.a").stdout == "b c\n"
        assert "[debug.a]: [b c]\n" in run(system, "getprop").stdout
        assert run(system, "getprop", "absent", "fallback").stdout == "fallback\n"
        ran = run(system, "setprop", "ro.build.version.sdk", "99")
        assert ran == Ran(1, "", "setprop: Failed to set property 'ro.build.version.sdk' to '99'.\n")


def test_settings_are_kept_by_namespace() -> None:
    with make_phone("36.1") as system:
        assert run(system, "settings", "get", "secure", "absent").stdout == "null\n"
        run(system, "settings", "put", "--user", "0", "secure", "a", "b=c")
        assert run(system, "settings", "get", "secure", "a").stdout == "b=c\n"
        assert run(system, "settings", "get", "global", "a").stdout == "null\n"
        assert "a=b=c\n" in run(system, "cmd", "settings", "list", "secure").stdout
        assert run(system, "settings", "delete", "secure", "a").stdout == "Deleted 1 rows\n"
        assert run(system, "settings", "get", "elsewhere", "a").stderr == "Invalid namespace 'elsewhere'\n"


def test_the_display_can_be_turned() -> None:
    with make_phone("36.1") as system:
        run(system, "settings", "put", "system", "user_rotation", "1")
        assert system.window.screen().display.rotation == 1


def test_services_are_found_by_name() -> None:
    with make_phone("34") as system:
        assert run(system, "cmd", "frob") == Ran(20, "", "cmd: Can't find service: frob\n")
        assert "app_function" not in run(system, "cmd", "-l").stdout
        assert run(system, "cmd").stderr == "cmd: No service specified; use -l to list all services\n"


@pytest.mark.parametrize(
    "command",
    [
        "am instrument -p out a/.B", "dumpsys meminfo", "pm trim-caches 1", "cmd content x", "wm overscan",
        "am monitor", "am start -a b --eu k v", "pm query-activities intent:#Intent;end",
    ],
)  # fmt: skip
def test_what_is_not_modelled_is_refused_loudly_with_one_status(command: str) -> None:
    with make_phone("36.1") as system:
        ran = run(system, *command.split())
        assert (ran.status, ran.stdout) == (69, "")
        assert ran.stderr.startswith("droidgate phone: not modelled: ")
        assert system.log.of_kind("not-modelled")


def test_a_package_can_be_looked_at() -> None:
    with make_phone("36.1", make_tool("", version=7)) as system:
        text = run(system, "dumpsys", "package", TOOL).stdout
        assert "versionCode=7 minSdk=26 targetSdk=36\n" in text
        assert run(system, "dumpsys", "package", "absent").stdout == "Unable to find package: absent\n"

"""No command reaches a device that the quoting functions did not build, and none without a serial.

Three parts of one proof: the types (what sends a command takes a `DeviceCommand` only), the source (here:
nothing else makes one, and no other text names a service), and what virtual phones saw in each test
(`conftest.py`: a test fails whose commands are not built so).
"""

import ast
from collections.abc import Iterator

import pytest

from device_commands import is_built, not_built
from droidgate.devices.adb_client import AdbServer, ServerAddress
from droidgate.devices.device import Device
from droidgate.devices.quoting import join_command, join_commands, join_guarded
from droidgate_phone.phone import start_phone
from gateway.devices.test_quoting import HOSTILE
from requirements_of_tests import CHECKOUT

SOURCES = ("gateway", "adapters", "mappings", "device_shim/droidgate_shim")
SERVICES = ("shell", "exec:", "exec-", "abb", "host:", "host-", "sync:", "reverse:")
QUOTING = "gateway/droidgate/devices/quoting.py"
REQUESTS = {
    ("gateway/droidgate/devices/device.py", "shell,v2,raw:"),
    ("gateway/droidgate/devices/device.py", "sync:"),
    # How an error names the list of devices.
    ("gateway/droidgate/devices/device_list.py", "host:devices-l"),
    ("gateway/droidgate/devices/adb_client.py", "host:version"),
    ("gateway/droidgate/devices/adb_client.py", "host:devices-l"),
    ("gateway/droidgate/devices/adb_client.py", "host:track-devices"),
    ("gateway/droidgate/devices/adb_client.py", "host-serial:"),
    ("gateway/droidgate/devices/adb_client.py", "host:tport:serial:"),
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for source in SOURCES:
        for path in sorted((CHECKOUT / source).rglob("*.py")):
            yield path.relative_to(CHECKOUT).as_posix(), ast.parse(path.read_bytes())


@pytest.mark.slow
def test_only_the_quoting_functions_make_a_device_command() -> None:
    uses = [
        (path, type(parent).__name__)
        for path, tree in modules()
        for parent in ast.walk(tree)
        for child in ast.iter_child_nodes(parent)
        if isinstance(child, ast.Name | ast.Constant)
        and "DeviceCommand" in {getattr(child, "id", None), getattr(child, "value", None)}
    ]
    # A call, a cast, a subclass or an alias elsewhere would be another node than an annotation.
    assert {path for path, kind in uses if kind not in {"arg", "FunctionDef"}} == {QUOTING}


@pytest.mark.slow
def test_no_other_text_names_a_service_of_a_device_or_a_device_without_its_serial() -> None:
    found = {
        (path, text)
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(text := node.value, str)
        and text.startswith(SERVICES)
        and (":" in text.partition(" ")[0] and len(text.split()) == 1)
    }
    assert {(path, text) for path, text in found if "/devices/" in path} == REQUESTS
    assert {text for path, text in found if "/devices/" not in path and "tport" in text} == set()


def test_what_the_quoting_functions_build_is_recognized_and_nothing_that_a_shell_would_read() -> None:
    for argument in HOSTILE:
        assert is_built(join_command(["echo", argument]))
        assert is_built(join_commands([["echo", argument], ["true"]]))
        if argument and "\n" not in argument:
            refusal = f"droidgate-{'0' * 32}"
            assert is_built(join_guarded(["pm", argument], argument, ["echo", argument], refusal))
    for rest in (
        "$(id)",
        "a; id;",
        "`id`",
        "a | sh",
        "'a",
        "a && b",
        ">a",
        "$HOME",
        "*",
        "~",
        "a\nid",
        '"a"',
        "",
    ):
        assert not is_built(f"echo {rest}")


def test_a_phone_sees_what_was_not_built(services_of_phones: list[str]) -> None:
    with start_phone(server_port=0) as phone:
        server = AdbServer(ServerAddress(port=phone.server_port or 0))
        device = Device(server, phone.serial)
        assert device.run(["echo", "$(id)"]).text == "$(id)\n"
        assert "shell,v2,raw:echo '$(id)'" in services_of_phones
        assert not_built(services_of_phones) == []
        with device._open(device._deadline(10, "a test")) as connection:
            connection.request("shell,v2,raw:echo $HOME")
        assert not_built(services_of_phones) == ["echo $HOME"]
    services_of_phones.remove("shell,v2,raw:echo $HOME")

"""Arguments reach a command as they were given, through the shells that Android and others have.

mksh is Android's shell; dash and busybox ash stand for others. Each batch is one command of `join_command`,
run by the real shell; what came out is compared with what went in. A canary file would be made by any
substitution that runs.
"""

import ast
import hashlib
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from device_commands import is_built, not_built
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import Device
from droidgate.devices.device_errors import UnsafeArgumentError
from droidgate.devices.quoting import (
    check_action,
    check_component,
    check_package,
    check_serial,
    check_user,
    digest_command,
    is_component,
    join_command,
    join_commands,
    join_guarded,
    quote_argument,
)
from droidgate_phone.phone import start_phone
from requirements_of_tests import CHECKOUT, require

SHELLS = {"mksh": ("mksh",), "dash": ("dash",), "busybox": ("busybox", "ash")}
HOSTILE = (
    "$(touch CANARY)", "`touch CANARY`", "; touch CANARY", "&& touch CANARY", "| touch CANARY",
    "\ntouch CANARY\n", "' ; touch CANARY ; '", '" ; touch CANARY ; "', "'\"'\"'$(touch CANARY)",
    "\\'; touch CANARY; \\'", "> CANARY", "a=b touch CANARY", "~", "~root", "*", "#comment", "!!",
    "$HOME ${PATH} $((1+1)) $'\\n'", "{a,b}", "-n", "--", "\\", "\\\\n", "", " ", "\t", "\r\n", "\x7f\x1b[2J",
    "é 語 😀 \u202e \ufeff", '{"a": "it\'s $(x)"}', "%s%n%%", "\ufffd\uffff",
)  # fmt: skip
PIECES = (*HOSTILE, "'", '"', "$", "(", ")", "`", ";", "&", "\n", "\\", "a", "語", "\x01")
BATCH = 100


def random_arguments(random: Random, count: int) -> list[str]:
    return ["".join(random.choices(PIECES, k=random.randrange(6))) for _ in range(count)]


def run_in(
    shell: Sequence[str], command: str, folder: Path, *, check: bool = True
) -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": "/usr/bin:/bin"}
    return subprocess.run(
        [*shell, "-c", command], cwd=folder, capture_output=True, check=check, env=environment
    )


def echoed(shell: Sequence[str], arguments: Sequence[str], folder: Path) -> list[str]:
    """Run one command with all the arguments in a real shell and return what the command got."""
    run = run_in(shell, join_command(["printf", "%s\\0", *arguments]), folder)
    return run.stdout.decode().split("\0")[: len(arguments)]


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> Sequence[str]:
    program, *applet = SHELLS[request.param]
    return (str(require(program)), *applet)


def test_hostile_arguments_arrive_unchanged(shell: Sequence[str], tmp_path: Path) -> None:
    assert echoed(shell, HOSTILE, tmp_path) == list(HOSTILE)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line", [argument for argument in HOSTILE if argument.strip() and "\n" not in argument]
)
def test_a_guarded_command_needs_its_line_printed(shell: Sequence[str], tmp_path: Path, line: str) -> None:
    command = ["printf", "%s\\0", *HOSTILE]
    for printed, is_run in {f"first\n{line}\nlast": True, f"{line}x\nx{line}": False, "": False}.items():
        guarded = join_guarded(["printf", "%s\\n", printed], line, command, "refused ' $(touch CANARY)")
        run = run_in(shell, guarded, tmp_path, check=False)
        assert run.returncode == (0 if is_run else 1)
        assert run.stdout.decode().split("\0")[:-1] == (list(HOSTILE) if is_run else [])
        assert run.stderr.decode() == ("" if is_run else "refused ' $(touch CANARY)")
    assert list(tmp_path.iterdir()) == []


def test_a_digest_is_of_all_that_commands_print_and_how_they_end(
    shell: Sequence[str], tmp_path: Path
) -> None:
    commands = [["printf", "%s", *HOSTILE], ["sh", "-c", "printf refused >&2; exit 1"], ["printf", "last"]]
    run = run_in(shell, join_command(digest_command(commands)), tmp_path)
    printed = f"{''.join(HOSTILE)}0\nrefused1\nlast0\n"
    expected = hashlib.md5(printed.encode(), usedforsecurity=False).hexdigest()
    assert run.stdout.decode() == f"{expected}  -\n"
    assert list(tmp_path.iterdir()) == []


def test_a_condition_is_one_line() -> None:
    for line in ("", "a\nb"):
        with pytest.raises(UnsafeArgumentError, match="is not one line"):
            join_guarded(["true"], line, ["true"], "refused")


def test_random_arguments_arrive_unchanged(shell: Sequence[str], tmp_path: Path) -> None:
    random = Random(14)
    for _ in range(50):
        arguments = random_arguments(random, BATCH)
        assert echoed(shell, arguments, tmp_path) == arguments
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_million_random_arguments_arrive_unchanged(shell: Sequence[str], tmp_path: Path) -> None:
    random = Random()
    for _ in range(1_000_000 // 500):
        arguments = random_arguments(random, 500)
        assert echoed(shell, arguments, tmp_path) == arguments
    assert list(tmp_path.iterdir()) == []


def test_any_text_arrives_unchanged(shell: Sequence[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("quoting")

    @settings(max_examples=30)
    @given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1, max_size=50))
    def holds(arguments: list[str]) -> None:
        assert echoed(shell, arguments, folder) == arguments

    holds()


def test_the_canary_sings_where_nothing_is_quoted(shell: Sequence[str], tmp_path: Path) -> None:
    run_in(shell, f"printf %s {HOSTILE[0]}", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["CANARY"]


@pytest.mark.parametrize(
    "argument", ["a\0b", "\ud83d", "x" * 131_072, "語" * 50_000], ids=lambda argument: argument[:20]
)
def test_a_text_that_is_not_an_argument_is_refused(argument: str) -> None:
    with pytest.raises(UnsafeArgumentError):
        quote_argument(argument)


def test_the_longest_argument_of_linux_is_taken() -> None:
    assert shlex.split(quote_argument("x" * 131_071)) == ["x" * 131_071]


SAFE_WORDS: list[tuple[Callable[[str], str], list[str]]] = [
    (check_package, ["com.example.a", "a.b_c.D9", "android", "androidhwext"]),
    (check_component, ["a.b/.C", "a.b/c.D$E", "a.b/C", "a.b/.語"]),
    (check_action, ["com.example.mMCP.ACTION_TOOL_CALL"]),
    (check_user, ["10", "current", "all"]),
    (check_serial, ["fe80::1%eth0]:5555"]),
]
UNSAFE_WORDS: list[tuple[Callable[[str], str], list[str]]] = [
    (check_package,
     ["", "-a", "-a.b", "a..b", "a.b ", "a.b;c", "a.9", "a.b\n", "../a.b", "é.b", "a.b/c", "a.b$c"]),
    (check_component, ["a.b", "a.b/", "a.b/-C", "-a.b/.C", "a.b/.C D", "a.b/.C\n", "a.b/C/D", "/.C"]),
    (check_action, ["-a", "a b"]),
    (check_user, ["-1", "0;x"]),
    (check_serial, ["[::1]:5", "a\n"]),
]  # fmt: skip


@pytest.mark.parametrize(("check", "word"), [(check, word) for check, words in SAFE_WORDS for word in words])
def test_a_safe_word_is_taken_as_it_is(check: Callable[[str], str], word: str) -> None:
    assert check(word) == word
    assert check != check_component or is_component(word)


@pytest.mark.parametrize(
    ("check", "word"), [(check, word) for check, words in UNSAFE_WORDS for word in words]
)
def test_an_unsafe_word_is_refused_by_its_kind(check: Callable[[str], str], word: str) -> None:
    with pytest.raises(UnsafeArgumentError, match=check.__name__.removeprefix("check_")):
        check(word)
    assert check != check_component or not is_component(word)


# No command reaches a device that the quoting functions did not build, and none without a serial


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


def modules_with(*words: str) -> Iterator[tuple[str, ast.Module]]:
    for source in SOURCES:
        for path in sorted((CHECKOUT / source).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if any(word in text for word in words):
                yield path.relative_to(CHECKOUT).as_posix(), ast.parse(text)


def test_only_the_quoting_functions_make_a_device_command() -> None:
    uses = [
        (path, "annotation" if getattr(parent, "annotation", None) is child else type(parent).__name__)
        for path, tree in modules_with("DeviceCommand")
        for parent in ast.walk(tree)
        for child in ast.iter_child_nodes(parent)
        if isinstance(child, ast.Name | ast.Constant)
        and "DeviceCommand" in {getattr(child, "id", None), getattr(child, "value", None)}
    ]
    # A call, a cast, a subclass or an alias elsewhere would be another node than an annotation.
    assert {path for path, kind in uses if kind not in {"annotation", "FunctionDef"}} == {QUOTING}


@pytest.mark.slow
def test_no_other_text_names_a_service_of_a_device_or_a_device_without_its_serial() -> None:
    places = {
        (path, text)
        for path, tree in modules_with(*SERVICES)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(text := node.value, str)
        and text.startswith(SERVICES)
        and (":" in text.partition(" ")[0] and len(text.split()) == 1)
    }
    assert {(path, text) for path, text in places if "/devices/" in path} == REQUESTS
    assert {text for path, text in places if "/devices/" not in path and "tport" in text} == set()


def test_what_the_quoting_functions_build_is_recognized_and_nothing_that_a_shell_would_read() -> None:
    for argument in HOSTILE:
        assert is_built(join_command(["echo", argument]))
        assert is_built(join_commands([["echo", argument], ["true"]]))
        if argument and "\n" not in argument:
            refusal = f"droidgate-{'0' * 32}"
            assert is_built(join_guarded(["pm", argument], argument, ["echo", argument], refusal))
    for rest in ("$(id)", "a; id;", "`id`", "a | sh", "'a", "a && b", ">a", "$HOME", *("*", "~", '"a"', "")):
        assert not is_built(f"echo {rest}")
    assert not is_built("echo a\nid")


def test_a_phone_sees_what_was_not_built(services_of_phones: list[str]) -> None:
    with start_phone(server_port=0) as phone:
        server = AdbClient(ServerAddress(port=phone.server_port or 0))
        device = Device(server, phone.serial)
        assert device.run(["echo", "$(id)"]).text == "$(id)\n"
        assert "shell,v2,raw:echo '$(id)'" in services_of_phones
        assert not_built(services_of_phones) == []
        with device._open(device._deadline(10, "a test")) as connection:
            connection.request("shell,v2,raw:echo $HOME")
        assert not_built(services_of_phones) == ["echo $HOME"]
    services_of_phones.remove("shell,v2,raw:echo $HOME")

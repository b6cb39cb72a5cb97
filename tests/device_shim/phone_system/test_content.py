"""`content` and the providers behind it."""

import pytest

from device_shim.phone_system.phone_system_apps import TOOL, Ran, component, make_phone, make_tool, run

URI = f"content://{TOOL}.store"


def provider(**attributes: str) -> bytes:
    return make_tool(component("provider", "Store", inside=" ", authorities=f"{TOOL}.store", **attributes))


def call(apk: bytes, *arguments: str, sdk: str = "36.1", stdin: bytes = b"", uid: int = 2000) -> Ran:
    with make_phone(sdk, apk) as system:
        return run(system, "content", *arguments, stdin=stdin, uid=uid)


def test_a_call_prints_the_bundle() -> None:
    ran = call(provider(), "call", "--uri", URI, "--method", "status", "--arg", "a=b")
    expected = "Result: Bundle[{caller=2000, method=status, arg=a=b}]\n"
    assert (ran.status, ran.stdout, ran.stderr) == (0, expected, "")


def test_a_call_that_returns_nothing_prints_null() -> None:
    assert call(provider(), "call", "--uri", URI, "--method", "nothing").stdout == "Result: null\n"


def test_bytes_go_through_a_provider_unchanged() -> None:
    content = bytes(range(256)) * 4096
    with make_phone("36.1", provider()) as system:
        assert run(system, "content", "write", "--uri", f"{URI}/a", stdin=content) == Ran(0, "", "")
        assert system.app_context(TOOL).files.read("document") == content


def test_reading_what_is_not_there_fails_with_status_0() -> None:
    ran = call(provider(), "read", "--uri", f"{URI}/a")
    error = (
        f"Error while accessing provider:{TOOL}.store\n"
        f"java.io.FileNotFoundException: No files supported by provider at {URI}/a\n"
    )
    assert (ran.status, ran.stdout, ran.stderr) == (0, "", error)


@pytest.mark.parametrize(("attributes", "error"), [
    ({"exported": "false"}, "that is not exported from UID 10000"),
    ({"permission": "com.example.P"}, "requires com.example.P or com.example.P"),
], ids=str)  # fmt: skip
def test_a_provider_that_is_guarded_is_not_opened(attributes: dict[str, str], error: str) -> None:
    ran = call(provider(**attributes), "call", "--uri", URI, "--method", "status")
    assert (ran.status, ran.stdout) == (0, "")
    assert ran.stderr == (
        f"Error while accessing provider:{TOOL}.store\njava.lang.SecurityException: Permission Denial: "
        "opening "
        f"provider {TOOL}.Store from (null) (pid=4711, uid=2000) {error}\n"
    )
    assert call(provider(**attributes), "call", "--uri", URI, "--method", "status", uid=0).stdout


def test_dump_guards_a_provider_that_the_shell_may_call() -> None:
    ran = call(provider(permission="android.permission.DUMP"), "call", "--uri", URI, "--method", "status")
    assert "method=status" in ran.stdout


def test_reading_and_writing_have_permissions_of_their_own_and_a_call_needs_either() -> None:
    apk = provider(readPermission="android.permission.DUMP", writePermission="com.example.P")
    assert call(apk, "call", "--uri", URI, "--method", "status").stdout.startswith("Result: Bundle")
    assert "java.io.FileNotFoundException" in call(apk, "read", "--uri", f"{URI}/a").stderr
    ran = call(apk, "write", "--uri", f"{URI}/a", stdin=b"x")
    assert f"Permission Denial: writing {TOOL}.Store uri {URI}/a from pid=4711" in ran.stderr


def test_the_crash_of_a_provider_is_an_error() -> None:
    ran = call(provider(), "call", "--uri", URI, "--method", "crash")
    assert ran.stderr == f"Error while accessing provider:{TOOL}.store\nandroid.os.DeadObjectException\n"


@pytest.mark.parametrize(("arguments", "error"), [
    ((), "Unsupported operation: null"),
    (("frob",), "Unsupported operation: frob"),
    (("call", "--uri", URI), "Content provider method not specified. Did you specify --method argument?"),
    (("call", "--method", "m", "--uri"), "No value for argument: --uri"),
    (("call", "--method", "m", "--arg", "--x"), "No value for argument: --arg"),
    (("read", "--where", "x"), "Unsupported argument: --where"),
], ids=str)  # fmt: skip
def test_arguments_that_content_does_not_take_are_reported_on_standard_output(
    arguments: tuple[str, ...], error: str
) -> None:
    ran = call(provider(), *arguments)
    assert (ran.status, ran.stderr) == (0, "")
    assert ran.stdout.endswith(f"\n\n[ERROR] {error}\n")


@pytest.mark.parametrize(("words", "what"), [
    (("insert",), "content insert"), (("call", "--extra", "a:s:b"), "content call --extra"),
], ids=str)  # fmt: skip
def test_what_is_not_modelled_is_refused_loudly(words: tuple[str, ...], what: str) -> None:
    ran = call(provider(), *words, "--uri", URI)
    assert ran == Ran(69, "", f"droidgate phone: not modelled: {what}\n")

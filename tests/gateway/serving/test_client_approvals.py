"""What the user of a client, and the policy, allow; and what a model reads of that."""

import json
import re
import secrets
from typing import Any
from unittest.mock import Mock

import anyio
import mcp_types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from droidgate.calls.audit_log import AuditLog
from droidgate.calls.audit_reading import read_calls, without_questions
from droidgate.calls.pins import PinStore
from droidgate.serving import call_tasks
from droidgate.serving.http_transport import FrontDoor
from droidgate.serving.phone_tools import MAX_CALLS
from droidgate.serving.tool_search import SearchTools
from droidgate_mappings.model.errors import DeviceError, DroidgateError, WriteError
from droidgate_phone.common.faults import Faults
from gateway.calls.phones_with_shims import NOTES, PDF_TOOL, ReachedPhone
from gateway.serving.phone_servers import Answers, connected, tools_of
from gateway.serving.running_servers import REVISIONS, Ask, http_client, running_server, text_of
from gateway.serving.task_client import AnyResult, Tasks

pytestmark = pytest.mark.anyio
ADD = ("tally_add_points", {"player": "Ada", "points": 1})


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_call_needs_the_approval_of_the_clients_user(
    own: ReachedPhone, revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def call(ask: Ask | None) -> mcp_types.CallToolResult:
        async with connected(tools_of(own, allow=None), revision, ask) as client:
            return await client.call_tool(*ADD)

    async def reason() -> tuple[str, str | None]:
        async with connected(tools_of(own, allow=None), revision) as client:
            (content,) = (await client.read_resource(f"droidgate://{own.device.serial}/why")).contents
        assert isinstance(content, mcp_types.TextResourceContents)
        (row,) = [row for row in json.loads(content.text) if row["capability"].endswith("add_points")]
        return row["verdict"], row.get("gate")

    assert await reason() == ("not known", "approval")
    cannot = "add_points is not approved, and this client cannot ask its user; only the user can approve it"
    assert text_of(await call(None)) == f"needs_approval: {cannot}"
    # People read the log, a model does not.
    approved = f"dev.droidgate.sample.tally/add_points --serial {own.device.serial}"
    assert caplog.messages[-1].endswith(f"droidgate pins approve {approved} --client mcp:test-client")
    user = Answers(None, "once", "always")
    assert text_of(await call(user)) == "denied: the user refused the call"
    assert not (await call(user)).is_error
    assert not (await call(user)).is_error
    assert len(user.questions) == 3
    assert ["cannot ask" in line for line in caplog.messages].count(True) == 1
    question = "Test Client wants to call add_points\nof the app dev.droidgate.sample.tally on"
    assert user.questions[0].startswith(question)
    lines = '\n- player (3): "Ada"\n- points (1): 1\n'
    assert f"Arguments (2, each with its length):{lines}" in user.questions[0]
    # A question of 2026-07-28 and the attempt with its answer are one call.
    calls = without_questions(read_calls(own.folder / "audit"))
    names = ("approved_by", "refused_by", "result")
    assert [tuple((call.end or {}).get(name) for name in names) for call in calls] == [
        (None, None, "needs_approval"),
        (None, "person", "denied"),
        *[("person", None, "ok")] * 2,
    ]
    # It is pinned now: nobody is asked.
    assert not (await call(None)).is_error
    assert await reason() == ("can", None)


@pytest.mark.parametrize("replacement", [{"other_signer": True}, {"other_text": True}], ids=str)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_yes_counts_only_for_the_app_that_the_client_showed(
    own: ReachedPhone, revision: str, replacement: dict[str, bool]
) -> None:
    title = secrets.token_hex(8)
    user = Answers("always", None, before_first=lambda: own.replace_legacy(**replacement))
    try:
        # As rarely as usual: a look at the phone between the two apps would find neither.
        tools = tools_of(own, allow=None, poll_seconds=60)
        async with connected(tools, revision, user) as client:
            result = await client.call_tool("legacy_createNote", {"title": title, "content": "b"})
    finally:
        own.restore_legacy()
    assert text_of(result).startswith("denied")
    assert len(set(user.questions)) == len(user.questions) == 2
    assert ["Attention: the app was replaced" in question for question in user.questions] == [False, True]
    assert not [command for command in own.commands() if title in command]
    assert PinStore(own.folder).list() == ()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_cut_argument_hides_no_other_and_is_not_remembered(own: ReachedPhone, revision: str) -> None:
    user = Answers("always")  # the form does not offer it
    arguments = {"content": "x" * 5000, "priority": 5, "title": "to me"}
    async with connected(tools_of(own, allow=None), revision, user) as client:
        text = text_of(await client.call_tool("legacy_createNote", arguments))
    assert text.startswith("needs_approval")
    assert "answer is not what its form asks for" in text
    assert len(user.questions) == 1
    for line in ('- title (5): "to me"', '- content (5,000): "xxx', "- priority (1): 5"):
        assert f"\n{line}" in user.questions[0]
    assert PinStore(own.folder).list() == ()


@pytest.mark.slow
async def test_a_user_who_does_not_answer_delays_nobody_else_and_not_for_ever(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.serving.elicitation.ANSWER_SECONDS", 5.0)
    results: list[str] = []
    questions: list[str] = []

    async def wait(_context: Any, parameters: Any) -> Any:
        questions.append(parameters.message)
        await anyio.sleep_forever()

    async def call(client: Client) -> None:
        results.append(text_of(await client.call_tool(*ADD)))

    options: dict[str, Any] = {"name": "Silent", "elicitation_callback": wait}
    with running_server(tools_of(own, allow=None)) as server:
        async with (
            http_client(server, "2025-11-25", **options) as silent,
            http_client(server, "2025-11-25", Answers("once"), name="Other") as other,
            anyio.create_task_group() as calls,
        ):
            for _ in range(MAX_CALLS):
                calls.start_soon(call, silent)
            with anyio.fail_after(60):
                while len(questions) < MAX_CALLS:  # noqa: ASYNC110 - asked by another task
                    await anyio.sleep(0.02)
                assert not (await other.call_tool(*ADD)).is_error
            assert results == []
    assert len(results) == MAX_CALLS
    unanswered = "needs_approval: add_points is not approved, and the user did not answer"
    assert all(unanswered in text for text in results)


_GRANTING = re.compile(r"droidgate (?!is |and )[a-z-]+|--(yes|allow|signed-by|files)|\.(toml|json)\b|/tmp/")
DENY = '[[rule]]\ndecision = "deny"\npackage = "*.tally"\n'
DENY_IT = f'{DENY}client = "mcp:test-*"\n'
DENIED = "denied: a rule of the policy denies it"
PAGES = ("pdftool_page_count", {"path": "/sdcard/Download/x.pdf"})
READS = ("resources/read", {"uri": "droidgate://absent"})
NOT_THERE = DeviceError("the device is not there", place="emulator-1", hint="droidgate phone start")


@pytest.mark.parametrize(("call", "ask", "kept", "allow", "fault", "message"), [
    (ADD, None, {}, None, None, "needs_approval"),
    (ADD, Answers(None), {}, None, None, "denied"),
    (ADD, None, {"pins.json": "{"}, None, None, "backend_failure"),
    (ADD, None, {"policy.toml": DENY_IT}, None, None, DENIED),
    (ADD, None, {"policy.toml": DENY_IT}, "*", None, DENIED),
    (("pdftool_page_count", {"path": "droidgate://files/a.pdf"}), None, {}, None, None, "invalid_argument"),
    (("notes_createNote", {"title": 1}), None, {}, None, None, "invalid_argument"),
    (PAGES, None, {}, "*", Faults(silent=frozenset({PDF_TOOL})), "timeout"),
    (ADD, None, {}, "*", WriteError("no room", hint="droidgate audit"), "backend_failure: no room"),
    (ADD, None, {}, "*", NOT_THERE, "unavailable: emulator-1: the device is not there"),
    (("tally_add_point", {}), None, {}, None, None, "unknown tool"),
    (READS, None, {}, None, None, "unknown resource"),
    (("prompts/get", {"name": "x"}), None, {}, None, None, "Method not found"),
], ids=["no approval", "a refusal", "damaged pins", "a rule", "a rule over --allow", "no such file",
    "no text", "no answer", "no room for the log", "no phone", "no such tool", "no such resource",
    "no prompts"])  # fmt: skip
@pytest.mark.parametrize(
    "way",
    ["tools", *(pytest.param(way, marks=pytest.mark.slow) for way in ("search", "tasks", "2025-11-25"))],
)
async def test_nothing_that_a_model_reads_names_a_command_that_grants(
    own: ReachedPhone,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    call: tuple[str, dict[str, Any]],
    ask: Answers | None,
    kept: dict[str, str],
    allow: str | None,
    fault: Faults | DroidgateError | None,
    message: str,
    way: str,
) -> None:
    for name, text in kept.items():
        (own.folder / name).write_text(text)
        (own.folder / name).chmod(0o600)
    if isinstance(fault, Faults):
        monkeypatch.setattr(own.phone.system, "faults", fault)
    elif fault is not None:
        monkeypatch.setattr(AuditLog, "start", Mock(side_effect=fault))
    read: list[str] = []

    async def keep_and_serve(door: FrontDoor, scope: Any, receive: Any, send: Any) -> None:
        async def keep(message: Any) -> None:
            read.append(message.get("body", b"").decode())
            await send(message)

        await serve(door, scope, receive, keep)

    serve = FrontDoor.__call__
    monkeypatch.setattr(FrontDoor, "__call__", keep_and_serve)
    # Every call that takes any time is a task for a client that takes tasks.
    monkeypatch.setattr(call_tasks, "GRACE_SECONDS", 0.0)
    options: dict[str, Any] = {"extensions": [Tasks({"action": "decline"})]} if way == "tasks" else {}
    tools = SearchTools(tools_of(own, allow=allow, deadline=2), always=way == "search")
    revision = way if way in REVISIONS else "2026-07-28"
    with running_server(tools) as server:
        async with http_client(server, revision, ask, **options) as client:
            await client.list_tools()
            for resource in (await client.list_resources()).resources:
                await client.read_resource(resource.uri)
            text = await _refusal(client, call, is_found=way == "search")
    assert message in text
    assert [match for text in read for match in _GRANTING.finditer(text)] == []
    assert any(message in text for text in read)
    if message == DENIED:
        assert caplog.messages[-1].endswith(f"; hint: see rule 1 of {own.folder / 'policy.toml'}")


async def _refusal(client: Client, call: tuple[str, dict[str, Any]], *, is_found: bool) -> str:
    name, arguments = call
    try:
        if "/" in name:
            request = mcp_types.Request[dict[str, Any], str](method=name, params=arguments)
            await client.session.send_request(request, AnyResult)
        search_call = ("call_tool", {"name": name, "arguments": arguments})
        result = await client.call_tool(*(search_call if is_found else call))
    except MCPError as error:
        return f"{error.message} {error.data}"
    assert result.is_error
    return text_of(result)


@pytest.mark.parametrize(("rule", "listed"), [
    ("", ""),
    ('client = "*"', ""),
    ('client = ["cli", "mcp:*"]', ""),
    ('client = "mcp:other"', "add_points read_total start_over"),
    ('client = "cli"', "add_points read_total start_over"),
    ('capability = "add_points"', "read_total start_over"),
    ('effect = "unknown"', "read_total"),
    ('device = "another"', "add_points read_total start_over"),
], ids=str)  # fmt: skip
def test_a_tool_that_the_policy_denies_to_every_client_is_not_listed(
    own: ReachedPhone, caplog: pytest.LogCaptureFixture, rule: str, listed: str
) -> None:
    reads = '[[effect]]\ncapability = "read_total"\nis = "reads"\n'
    (own.folder / "policy.toml").write_text(f"{DENY}{rule}\n{reads}")
    tools = tools_of(own)
    tools.look()
    names = {tool.name for tool in tools.snapshot().tools}
    assert {name for name in names if name.startswith("tally_")} == {
        f"tally_{name}" for name in listed.split()
    }
    number = 3 - len(listed.split())
    left_out = [line for line in caplog.messages if line.startswith("left out: ") and "denied" in line]
    assert [f"left out: {number} " in line for line in left_out] == [True] * (number > 0)
    assert "weather_forecast" in names


@pytest.mark.parametrize("revision", REVISIONS)
async def test_what_the_policy_says_of_effects_is_in_the_hints_of_a_tool(
    own: ReachedPhone, revision: str
) -> None:
    effects = {"read_total": "reads", "start_over": "writes"}
    texts = (f'[[effect]]\ncapability = "{name}"\nis = "{effect}"\n' for name, effect in effects.items())
    (own.folder / "policy.toml").write_text("".join(texts))
    async with connected(tools_of(own), revision) as client:
        listed = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    hints = {name: hint.read_only_hint for name, hint in listed.items() if hint is not None}
    assert hints == {"tally_read_total": True, "tally_start_over": False}


def test_one_warning_for_each_rule_and_option_without_matches(
    own: ReachedPhone, caplog: pytest.LogCaptureFixture
) -> None:
    names = ("creatNote", "createNote", "tap")
    rules = "".join(f'[[rule]]\ndecision = "deny"\ncapability = "{name}"\n' for name in names)
    (own.folder / "policy.toml").write_text(rules)
    tools = tools_of(own, allow="*note/*", select=["dev.droidgate.sample.nots", "*.pdftool", "x"])
    for _ in range(2):
        tools.look()
    question = "did you mean 'notes/createNote' or 'legacy/createNote'?"
    unmatched = f"matches no capability that is installed; {question}"
    assert [message for message in caplog.messages if " on the phone " in message or "rule" in message] == [
        f'rule 1 (decision = "deny") of {own.folder / "policy.toml"} {unmatched}',
        f"no app on the phone is selected by 'dev.droidgate.sample.nots'; did you mean {NOTES!r}?",
        "no app on the phone is selected by 'x'",
        "no capability on the phone is allowed by '*note/*'",
    ]

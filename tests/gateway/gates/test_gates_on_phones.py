"""Situations built by hand on the virtual phone, each with the gate that Android's rules shut first.

The expectations are typed from reference appfunctions 1 to 3 and 7, android-runtime 1.1 to 1.6, and the
protocols' specifications (mobile-mcp-and-mmcp 1 to 3); the published cases are the issues that they name.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from device_shim.phone_system.phone_system_apps import make_apk
from device_shim.phone_system.test_app_functions import SCHEMA
from droidgate import open_device
from droidgate.calls.subjects import pin_of
from droidgate.cli.program import run
from droidgate.coverage.report import ReportOptions, report_coverage
from droidgate.coverage.scan import scan
from droidgate.devices.packages import PackageState, read_package_states, read_permissions
from droidgate.gates import phone_gates
from droidgate.gates.gate_chains import WhyAnswer
from droidgate.gates.phone_gates import WhyOnPhone, why
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.tables.reach import load_gates
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.commands import app_function_commands
from droidgate_phone.phone import VirtualPhone, start_phone
from gateway.cli.samples import TIMER, TIMER_MANIFEST, write_project
from requirements_of_tests import CHECKOUT
from titled_rows import titled

BIND = "android.permission.BIND_APP_FUNCTION_SERVICE"
EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS"
EXECUTE_SYSTEM = "android.permission.EXECUTE_APP_FUNCTIONS_SYSTEM"
FUNCTION_ACTION = "android.app.appfunctions.AppFunctionService"
ADVERTISE, CALL = "com.example.mMCP.ACTION_TOOL_ADVERTISE", "com.example.mMCP.ACTION_TOOL_CALL"
LAUNCHER = (
    '<activity android:name=".Main" android:exported="true"><intent-filter>'
    '<action android:name="android.intent.action.MAIN"/>'
    '<category android:name="android.intent.category.LAUNCHER"/></intent-filter></activity>'
)


@dataclass(frozen=True, kw_only=True)
class Made:
    """An app of a situation; its package is made from the number of its row.

    Attributes:
        application: Inner XML of `<application>`.
        files: Its other files.
        options: What else `make_apk` takes.
        capability: What is asked about, None for the app as a whole.
    """

    application: str
    files: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    capability: str | None = None


def timer(
    state: str = 'android:exported="true"',
    *,
    action: str = "mobile.mcp.SERVICE",
    xml: str = TIMER,
    more: str = "",
    asked: str | None = "start_timer",
    **options: Any,
) -> Made:
    """Return a Mobile-MCP app, as its specification has it (sections 1.1 and 1.2)."""
    service = (
        f'<service android:name=".Tools" {state}>'
        f'<intent-filter><action android:name="{action}"/></intent-filter>'
        '<meta-data android:name="mobile.mcp.tool.name" android:value="Timer"/>'
        '<meta-data android:name="mobile.mcp.tool.description" android:value="Keeps time"/>'
        '<meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/timer"/></service>'
    )
    return Made(
        application=service + more, files={"res/xml/timer.xml": xml}, options=options, capability=asked
    )


def tool(tag: str = "activity", state: str = 'android:exported="true"', *, broadcast: bool = False) -> Made:
    """Return an mMCP app: an activity, or a receiver of broadcasts, which lists its tools only when asked."""
    if broadcast:
        actions = ("com.example.ACTION_MMCP_DISCOVERY", "com.example.ACTION_MMCP_INVOKE")
        filters = "".join(f'<action android:name="{action}"/>' for action in actions)
        receiver = (
            f'<receiver android:name=".Radio" {state}><intent-filter>{filters}</intent-filter></receiver>'
        )
        return Made(application=receiver)
    parameters = {"type": "object", "properties": {}}
    tools = [{"name": "tune", "description": "Tunes", "parameters": parameters}]
    listed = json.dumps({"protocolVersion": "1.0", "instructions": "Tune", "tools": tools})
    escaped = listed.replace('"', "&quot;")
    element = (
        f'<{tag} android:name=".Tool" {state}><intent-filter><action android:name="{ADVERTISE}"/>'
        f'<action android:name="{CALL}"/><category android:name="android.intent.category.DEFAULT"/>'
        f'</intent-filter><meta-data android:name="mMCP_manifest" android:value="{escaped}"/></{tag}>'
    )
    return Made(application=element, capability="tune")


RESPONSE = "<response><id>unused</id><valueType><id>unused</id><type>8</type></valueType></response>"
JETPACK_SCHEMA = SCHEMA.replace(
    '<xs:element name="parameters"',
    '<xs:element name="accessLevel" type="xs:string" cardinality="2"/>'
    '<xs:element name="response" type="appfn:Response" cardinality="2"/><xs:element name="parameters"',
).replace(
    "</xs:schema>",
    '<xs:documentType name="Response"><xs:element name="valueType" type="appfn:Kind" cardinality="2"/>'
    '</xs:documentType><xs:documentType name="Kind"><xs:element name="type" type="xs:long" cardinality="2"/>'
    "</xs:documentType></xs:schema>",
)
V1 = (
    "<appfunctions><appfunction><function_id>N#echo</function_id><enabled_by_default>true</enabled_by_default>"
    "</appfunction></appfunctions>"
)


def function(
    inside: str = f"<enabledByDefault>true</enabledByDefault>{RESPONSE}",
    *,
    guard: str = f'android:permission="{BIND}"',
    kind: str = "property",
    files: tuple[str, ...] = ("schema", "v2"),
    **options: Any,
) -> Made:
    """Return an app with one app function, `N#echo` (reference appfunctions 1.1, 2.c)."""
    names = {"schema": ".schema", "v2": ".v2", "v1": ""}
    properties = "".join(
        f'<{kind} android:name="android.app.appfunctions{names[file]}" android:value="{file}.xml"/>'
        for file in files
    )
    service = (
        f'<service android:name=".Functions" android:exported="true" {guard}>{properties}<intent-filter>'
        f'<action android:name="{FUNCTION_ACTION}"/></intent-filter></service>'
    )
    body = f"<id>N#echo</id><functionId>N#echo</functionId>{inside}"
    texts = {
        "schema": JETPACK_SCHEMA,
        "v2": f"<appfunctions><appfunction>{body}</appfunction></appfunctions>",
        "v1": V1,
    }
    contents = {f"assets/{name}.xml": texts[name] for name in files}
    return Made(application=service, files=contents, options=options, capability="N#echo")


ADVERTISE_QUERY = f'<intent><action android:name="{ADVERTISE}"/></intent>'
SERVICE_QUERY = '<intent><action android:name="mobile.mcp.SERVICE"/></intent>'
FUNCTION_QUERY = f'<intent><action android:name="{FUNCTION_ACTION}"/></intent>'
# Agent -> its entry in `<queries>`, and the permission that it requests.
AGENTS = {
    "sees": (SERVICE_QUERY, "com.timer.USE"),
    "blind": ('<package android:name="org.other"/>', EXECUTE),
    "everything": ("", "android.permission.QUERY_ALL_PACKAGES"),
    "holder": (SERVICE_QUERY, None),
    "asks": (FUNCTION_QUERY, EXECUTE),
    "image": (FUNCTION_QUERY, EXECUTE),
    "system": (FUNCTION_QUERY, EXECUTE_SYSTEM),
    "finds": (ADVERTISE_QUERY, None),
}
IN_THE_IMAGE = {"image": (EXECUTE,), "blind": (EXECUTE,), "system": (EXECUTE_SYSTEM,)}
"""What the device's image grants; `pm grant` cannot (reference appfunctions 7.1)."""

NORMAL = '<permission android:name="com.timer.USE"/>'
SIGNATURE = '<permission android:name="com.timer.OWN" android:protectionLevel="signature"/>'
needs = 'android:exported="true" android:permission="com.timer.{}"'.format
PROTOTYPE = TIMER.replace(' version="1.0">\n    <capability', ">\n    <capability", 1)

# Title -> release, app, agent, the gate that decides, and its state; None where every gate is open.
Row = tuple[str, Made, str, str | None, str]
ROWS: dict[str, Row] = {
    # Mobile-MCP: components, permissions, what agents see
    "an open service": ("36.1", timer(), "mobile-mcp", None, "open"),
    "a service that is not exported": (
        "36.1", timer('android:exported="false"'), "mobile-mcp", "exported", "shut"),
    "an old app's filter exports": ("36.1", timer("", target=30), "mobile-mcp", None, "open"),
    "a disabled service": (
        "36.1", timer('android:exported="true" android:enabled="false"'), "mobile-mcp", "component-enabled",
        "shut"),
    "a disabled app": (
        "36.1", timer(of_application='android:enabled="false"'), "mobile-mcp", "app-enabled", "shut"),
    "a permission of the app's signer": (
        "36.1", timer(needs("OWN"), before=SIGNATURE), "mobile-mcp", "permission", "shut"),
    "a permission that no app declares": ("36.1", timer(needs("GONE")), "mobile-mcp", "permission", "shut"),
    "a normal permission": (
        "36.1", timer(needs("USE"), before=NORMAL), "mobile-mcp", "permission", "not known"),
    "a normal permission that the agent's app holds": (
        "37", timer(needs("USE"), before=NORMAL), "org.agents.sees", None, "open"),
    "a normal permission that the agent's app does not hold": (
        "34", timer(needs("USE"), before=NORMAL), "org.agents.holder", "permission", "shut"),
    "an action that is nearly the protocol's": (
        "36.1", timer(action="mobile.mcp.SERVICES", asked=None), "mobile-mcp", "manifest", "shut"),
    "a descriptor that is cut off": (
        "36.1", timer(xml="<mobile-mcp-capabilities/>", asked=None), "mobile-mcp", "declaration", "shut"),
    "an app that declares nothing": (
        "36.1", Made(application=LAUNCHER), "mobile-mcp", "declaration", "shut"),
    "an app that is not installed": ("36.1", Made(application=""), "mobile-mcp", "installed", "shut"),
    "another release than the app's": ("34", timer(minimum=30), "mobile-mcp", None, "open"),
    "an mMCP agent and no shim": ("36.1", timer(), "mmcp-activity", "shim", "shut"),
    "an MCP client and no shim": ("36.1", timer(), "mcp-client", "shim", "shut"),
    "the prototype of the protocol": ("36.1", timer(xml=PROTOTYPE), "mobile-mcp", "shim", "shut"),
    "an agent that sees the action": ("36.1", timer(), "org.agents.sees", None, "open"),
    "an agent that sees another app only": ("36.1", timer(), "org.agents.blind", "visible", "shut"),
    "an agent that sees everything and names no protocol": (
        "36.1", timer(), "org.agents.everything", "protocol", "not known"),
    "an agent that works on screens": ("36.1", timer(more=LAUNCHER), "ui", None, "open"),
    "an agent that works on screens, and no screen": ("36.1", timer(), "ui", "screen", "shut"),
    # mMCP
    "an mMCP activity that is not exported": (
        "36.1", tool(state='android:exported="false"'), "mmcp-activity", "exported", "shut"),
    "an mMCP activity": ("36.1", tool(), "mmcp-activity", None, "open"),
    "an mMCP agent that names the action of advertisements": (
        "36.1", tool(), "org.agents.finds", None, "open"),
    "an mMCP manifest in a service": ("36.1", tool("service"), "mmcp-activity", "manifest", "shut"),
    "a Mobile-MCP agent and an mMCP activity": ("36.1", tool(), "mobile-mcp", "shim", "shut"),
    "a receiver that was not asked": (
        "36.1", tool(broadcast=True), "mmcp-broadcast", "declaration", "not known"),
    "a receiver that was not asked and is not exported": (
        "36.1", tool(state='android:exported="false"', broadcast=True), "mmcp-broadcast", "exported", "shut"),
    # AppFunctions: what Android lists
    "a function, and any holder": ("36.1", function(), "app-functions", "agent-permission", "not known"),
    "a function on Android 14": ("34", function(), "app-functions", "release", "shut"),
    "a function on a phone that lists none": ("36", function(), "app-functions", "indexed", "not known"),
    "a file of version 2 without a schema, on 16": (
        "36.1", function(files=("v2",)), "app-functions", "indexed", "shut"),
    "a tag that the schema does not know, on 16 QPR2": (
        "36.1", function(f"<novel>x</novel>{RESPONSE}"), "app-functions", "indexed", "shut"),
    "the same tag on 17, which skips it": (
        "37", function(f"<novel>x</novel>{RESPONSE}"), "app-functions", "agent-permission", "not known"),
    "a service without the permission, on 17": (
        "37", function(guard=""), "app-functions", "manifest", "shut"),
    "a service without the permission, on 16 QPR2": (
        "36.1", function(guard=""), "app-functions", "manifest", "shut"),
    "<meta-data> in place of <property>": (
        "36.1", replace(function(kind="meta-data"), capability=None), "app-functions", "manifest", "shut"),
    "a function that is off at first": (
        "36.1", function(f"<enabledByDefault>false</enabledByDefault>{RESPONSE}"), "app-functions",
        "function-enabled", "shut"),
    "a function that states no default, on 16 QPR2": (
        "36.1", function(RESPONSE), "app-functions", "function-enabled", "shut"),
    "a function that states no default, on 17": (
        "37", function(RESPONSE), "app-functions", "agent-permission", "not known"),
    "a function for Android alone": (
        "37", function(f"<accessLevel>system</accessLevel>{RESPONSE}"), "app-functions", "access", "shut"),
    # AppFunctions: who may call
    "an agent that requests the permission": (
        "36.1", function(), "org.agents.asks", "agent-permission", "shut"),
    "an agent of the device's image, on 16 QPR2": ("36.1", function(), "org.agents.image", None, "open"),
    "an agent of the image that does not see the app": (
        "36.1", function(), "org.agents.blind", "visible", "shut"),
    "an agent of the image, on 17": ("37", function(), "org.agents.image", "allow-list", "not known"),
    "an agent of the system, on 17": ("37", function(), "org.agents.system", None, "open"),
    "a Mobile-MCP agent and a function": ("36.1", function(), "org.agents.holder", "shim", "shut"),
    "an MCP client and Android's shell": ("36.1", function(), "mcp-client", "approval", "not known"),
    "an MCP client and a shell that cannot call": ("36", function(), "mcp-client", "shim", "shut"),
    # Published cases: android/appfunctions#9, #39 and #51 are agents of the image on 17, and #51 Android 14.
    "google-gemini/cookbook#1151: listed by the older file, without a signature": (
        "36.1", function(files=("v1",)), "org.agents.image", "signature", "shut"),
    "the same called by Android's shell, which does not read signatures": (
        "36.1", function(files=("v1",)), "mcp-client", "approval", "not known"),
    "android/snippets#830: the same on a later release": (
        "37", function(files=("v1",)), "org.agents.system", "signature", "shut"),
}  # fmt: skip


@pytest.fixture(scope="module")
def phones() -> Iterator[dict[str, WhyOnPhone]]:
    """Yield a phone of each release, with the app of each row and the agents."""
    started: dict[str, VirtualPhone] = {}
    with pytest.MonkeyPatch.context() as patch:
        try:
            for number, (sdk, made, *_) in enumerate(ROWS.values()):
                if sdk not in started:
                    started[sdk] = start_phone(sdk=sdk, server_port=0, apps=False)
                if made.application:
                    apk = make_apk(f"org.row{number}", made.application, files=made.files, **made.options)
                    started[sdk].install(apk)
            for phone in started.values():
                install_agents(phone)
            yield {sdk: why_on(phone, patch) for sdk, phone in started.items()}
        finally:
            for phone in started.values():
                phone.stop()


def install_agents(phone: VirtualPhone) -> None:
    for name, (query, permission) in AGENTS.items():
        requested = f'<uses-permission android:name="{permission}"/>' if permission else ""
        phone.install(make_apk(f"org.agents.{name}", before=f"{requested}<queries>{query}</queries>"))
    for name, granted in IN_THE_IMAGE.items():
        package = phone.system.packages.find(f"org.agents.{name}")
        assert package is not None
        package.granted.update(granted)


def why_on(phone: VirtualPhone, patch: pytest.MonkeyPatch) -> WhyOnPhone:
    patch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
    return WhyOnPhone(open_device(phone.serial))


def decided(answer: WhyAnswer) -> tuple[str | None, str]:
    gate = answer.decisive_gate
    return (None, "open") if gate is None else (gate.id, gate.state.value)


@titled("number", {title: number for number, title in enumerate(ROWS)})
def test_the_gate_that_androids_rules_shut_first_is_named(phones: dict[str, WhyOnPhone], number: int) -> None:
    sdk, made, asking, gate, state = list(ROWS.values())[number]
    (answer,) = phones[sdk].answers(made.capability, agent=asking, app=f"org.row{number}")[:1]
    assert decided(answer) == (gate, state), [(item.id, item.state, item.fact) for item in answer.gates]
    expected = {"open": "can", "shut": "cannot", "not known": "not known"}
    assert answer.verdict == expected[state]
    assert all((item.fix is None) == (item.state == "open") for item in answer.gates)


# Situations that change while the app stays: states, the list of agents, shims
NOTES, CLOCK_IN = "dev.droidgate.sample.notes", "dev.droidgate.sample.clockin"
CREATE = f"{NOTES}/{NOTES}.NotesService#createNote"


@pytest.fixture
def sample_phone(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualPhone]:
    with start_phone(sdk="37", server_port=0) as phone:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.server_port))
        install_agents(phone)
        yield phone


def ask(phone: VirtualPhone, capability: str, agent: str) -> tuple[str | None, str]:
    (answer,) = why(capability, agent=agent, source=f"adb:{phone.serial}")
    return decided(answer)


def shell(phone: VirtualPhone, *words: str) -> None:
    assert open_device(phone.serial).device.run(words).exit_status == 0


@pytest.mark.slow
def test_what_a_user_and_an_app_switch_off_shuts_a_gate(sample_phone: VirtualPhone) -> None:
    state = ("cmd", "app_function", "set-enabled", "--package", NOTES, "--function", CREATE.partition("/")[2])
    assert ask(sample_phone, CREATE, "org.agents.system") == (None, "open")
    shell(sample_phone, *state, "--state", "disable")
    assert ask(sample_phone, CREATE, "org.agents.system") == ("function-enabled", "shut")
    shell(sample_phone, *state, "--state", "default")
    query = f"{CLOCK_IN}/query_clock_in"
    assert ask(sample_phone, query, "mobile-mcp") == (None, "open")
    shell(sample_phone, "pm", "disable-user", "--user", "0", CLOCK_IN)
    for capability in (query, "query_clock_in"):
        assert ask(sample_phone, capability, "mobile-mcp") == ("app-enabled", "shut")


@titled(("agents", "expected"), {
    "it has the agent, and shows no pair": ("[org.agents.image, a.b]", ("allow-list", "not known")),
    "it does not have the agent": ("[a.b]", ("allow-list", "shut")),
    "it is empty": ("[]", ("allow-list", "shut")),
})  # fmt: skip
def test_the_allow_list_decides_where_the_shell_prints_it(
    sample_phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch, agents: str, expected: tuple[str, str]
) -> None:
    """The line is that of builds with the flags on: reference appfunctions 6.2."""

    def print_agents(call: Any, _reader: Any, _generation: int) -> int:
        call.write(f"Valid agents: {agents}\n")
        return 0

    verbs: Any = app_function_commands._VERBS
    monkeypatch.setitem(verbs, "list-valid-agents", (print_agents, verbs["list-valid-agents"][1]))
    assert ask(sample_phone, CREATE, "org.agents.image") == expected


@pytest.mark.slow
def test_the_gates_of_a_shim_are_found_with_it(
    sample_phone: VirtualPhone, capsys: pytest.CaptureFixture[str]
) -> None:
    capability, source = f"{CLOCK_IN}/query_clock_in", f"adb:{sample_phone.serial}/{CLOCK_IN}"
    agents = {"mmcp-broadcast": "mmcp-broadcast", "mmcp-activity": "mmcp", "org.agents.finds": "mmcp"}
    advertised = ""
    for arguments in (None, "--format all", "--advertise appfunctions"):
        if arguments is not None:
            assert run(["shim", "install", "--from", source, *arguments.split()]) == 0
            advertised = " --advertise appfunctions" * ("appfunctions" in arguments)
        for agent, word in agents.items():
            (answer,) = why(capability, agent=agent, source=f"adb:{sample_phone.serial}")
            assert decided(answer) == ("shim", "shut")
            fix = answer.decisive_gate and answer.decisive_gate.fix
            assert f"{advertised} --advertise {word}" in (fix or "")
    assert run(["shim", "install", "--from", source, "--advertise", "mmcp-broadcast"]) == 0
    capsys.readouterr()
    assert ask(sample_phone, capability, "mcp-client") == ("approval", "not known")
    shim = f"dev.droidgate.shim.of.{CLOCK_IN}"
    (answer,) = why(capability, agent="mmcp-broadcast", source=f"adb:{sample_phone.serial}")
    assert decided(answer) == ("shim-grant", "not known")
    way = f"or grant it: droidgate shim grant --agent PACKAGE --capability query_clock_in --shim {shim}"
    assert answer.decisive_gate is not None
    assert (answer.decisive_gate.fix or "").endswith(way)
    WhyOnPhone(open_device(sample_phone.serial)).device_user.client(shim).grant("any-app")
    assert ask(sample_phone, capability, "mmcp-broadcast") == (None, "open")
    shell(sample_phone, "pm", "uninstall", CLOCK_IN)
    assert ask(sample_phone, capability, "mmcp-broadcast") == ("installed", "shut")
    behind = timer().application.replace(".Tools", ".ClockInService")
    other = make_apk(CLOCK_IN, behind, files={"res/xml/timer.xml": QUERY}, signer="other")
    sample_phone.install(other)
    assert ask(sample_phone, capability, "mmcp-broadcast") == ("shim-current", "shut")


@pytest.mark.slow
def test_a_shim_that_may_not_appear_on_top_opens_screens_on_a_condition_or_not(
    sample_phone: VirtualPhone, capsys: pytest.CaptureFixture[str]
) -> None:
    tool, shim = "dev.droidgate.sample.pdftool", "dev.droidgate.shim.of.dev.droidgate.sample.pdftool"
    assert run(["shim", "install", "--from", f"adb:{sample_phone.serial}/{tool}"]) == 0
    capsys.readouterr()
    phone = open_device(sample_phone.serial)
    WhyOnPhone(phone).device_user.client(shim).grant("any-app")
    target = phone.caller.targets.find("page_count")
    phone.caller.pins.approve(target.pin, target.provider, client="mcp:one")
    assert ask(sample_phone, "page_count", "mcp-client") == ("approval", "not known")
    phone.caller.pins.approve(target.pin, target.provider)
    assert ask(sample_phone, "page_count", "mcp-client") == (None, "open")
    shell(sample_phone, "appops", "set", shim, "SYSTEM_ALERT_WINDOW", "deny")
    assert ask(sample_phone, "page_count", "mcp-client") == ("background", "not known")
    shell(sample_phone, "pm", "revoke", shim, "android.permission.POST_NOTIFICATIONS")
    assert ask(sample_phone, "page_count", "mcp-client") == ("background", "shut")
    assert ask(sample_phone, "page_count", "mobile-mcp") == ("background", "not known")


QUERY = TIMER.replace("start_timer", "query_clock_in")


@pytest.mark.slow
def test_the_exit_code_is_the_answer_about_one_agent(
    sample_phone: VirtualPhone, capsys: pytest.CaptureFixture[str]
) -> None:
    serial = ("--serial", sample_phone.serial)
    assert run(["why", CREATE, "--agent", "org.agents.system", *serial]) == 0
    assert capsys.readouterr().out.startswith("org.agents.system can call ")
    assert run(["why", CREATE, "--agent", "org.agents.asks", *serial, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    (answer,) = document["answers"]
    assert (document["schema"], answer["decisive"]) == ("droidgate.why/1", "agent-permission")
    (shut,) = [gate for gate in answer["gates"] if gate["state"] == "shut"]
    assert (shut["owner"], shut["place"]) == ("device maker", "dumpsys package")
    for app in (["--app", NOTES], [NOTES]):
        assert run(["why", *app, *serial]) == 0
        assert "8 capabilities, 6 agents" in capsys.readouterr().out


@titled(("options", "message"), {
    "an unknown agent": (("--agent", "goose", "--source", "x.apk"), "did you mean 'mcp:goose'?"),
    "an agent's app without a phone": (("--agent", "org.a", "--source", "x.apk"), "unknown agent 'org.a'"),
    "a release of a phone": (("--sdk", "37"), "a phone has a release of its own"),
    "an unknown format": (("--format", "mobile_mcp"), "did you mean 'mobile-mcp'?"),
    "two sources": (("--source", "x.apk", "--serial", "y"), "--source excludes --serial"),
})  # fmt: skip
def test_questions_that_contradict_themselves_are_refused(
    options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", "start_timer", *options]) == 2
    assert message in capsys.readouterr().err


def test_a_capability_is_named_as_in_a_call(tmp_path: Path) -> None:
    source = write_project(tmp_path / "timer")
    for name in ("start_timer", "app.timer/start_timer", "timer.start_timer"):
        (answer,) = why(name, agent="mobile-mcp", source=source)
        assert (answer.capability, answer.verdict) == ("start_timer", "can")
    answers = why("app.timer", source=source)
    assert {answer.capability for answer in answers} == {"start_timer", "stop_timer"}
    with pytest.raises(UsageError, match="no capability of the source is called 'start_timr'"):
        why("start_timr", source=source)
    write_project(tmp_path / "twin", manifest=TIMER_MANIFEST.replace("app.timer", "app.twin"))
    with pytest.raises(UsageError, match=r"mean 'timer/start_timer' or 'twin/start_timer'"):
        why("start_timr", source=tmp_path)


def test_a_descriptor_that_cannot_be_read_is_the_reason(tmp_path: Path) -> None:
    source = write_project(tmp_path / "timer", descriptor=TIMER.replace("</mobile-mcp-capabilities>", ""))
    (answer,) = why(agent="mobile-mcp", source=source)
    assert decided(answer) == ("declaration", "shut")
    assert answer.decisive_gate is not None
    assert "timer.xml" in (answer.decisive_gate.place or "")


def test_a_receiver_in_a_file_lists_its_tools_later_as_on_a_phone(tmp_path: Path) -> None:
    source = tmp_path / "radio.apk"
    source.write_bytes(make_apk("org.radio", tool(broadcast=True).application))
    (answer,) = why(agent="mmcp-broadcast", source=source)
    assert (decided(answer), answer.reach) == (("declaration", "not known"), "native")


@pytest.mark.slow
def test_what_the_user_decided_on_computer_and_phone_shuts_a_gate(
    sample_phone: VirtualPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    phone = open_device(sample_phone.serial)
    target = phone.caller.targets.find(CREATE)
    changed = tuple(item.model_copy(update={"description": "Other"}) for item in target.provider.capabilities)
    other = target.provider.model_copy(update={"capabilities": changed})
    approved = pin_of(other, target.capability.id, user=0, signer=target.pin.signer)
    phone.caller.pins.approve(approved, other)
    assert ask(sample_phone, CREATE, "mcp-client") == ("approval", "not known")
    phone.caller.pins.approve(target.pin, target.provider, client="mcp:mine")
    assert ask(sample_phone, CREATE, "mcp:mine") == (None, "open")
    (answer,) = why(CREATE, agent="mcp:other", source=f"adb:{sample_phone.serial}")
    gate = answer.decisive_gate
    assert gate is not None
    assert gate.fact == "it is approved for mcp:mine only"
    command = f"droidgate pins approve '{CREATE}' --serial {sample_phone.serial} --client mcp:other"
    assert (gate.fix or "").endswith(f"or run: {command}")
    (tmp_path / "config/policy.toml").write_text('[[rule]]\ncapability = "createNote"\ndecision = "deny"\n')
    assert ask(sample_phone, CREATE, "mcp-client") == ("policy", "shut")
    assert ask(sample_phone, CREATE, "org.agents.system") == (None, "open")
    sample_phone.system.is_locked = True
    (answer,) = why(agent="ui", app=NOTES, capability=CREATE, source=f"adb:{sample_phone.serial}")
    assert decided(answer) == ("unlocked", "shut")
    (answer,) = why(agent="ui", app="dev.droidgate.sample.note", source=f"adb:{sample_phone.serial}")
    assert (decided(answer), [gate.id for gate in answer.gates]) == (("installed", "shut"), ["installed"])
    assert "did you mean 'dev.droidgate.sample.notes'" in (answer.gates[0].fix or "")


STATES = {
    "the user has it": ("installed=true hidden=false suspended=false stopped=true", "", PackageState()),
    "another user has it": ("installed=false suspended=false", "", PackageState(is_installed=False)),
    "Digital Wellbeing suspends it": ("installed=true suspended=true", "", PackageState(is_suspended=True)),
    "it is archived": (
        "installed=false suspended=false", "      archiveTime=2026-11-28 10:00:00\n",
        PackageState(is_installed=False, is_archived=True)),
    "it is hidden": ("installed=true hidden=true", "", PackageState(is_hidden=True)),
    "it is in quarantine": (
        "installed=true suspended=true quarantined=true", "",
        PackageState(is_suspended=True, is_quarantined=True)),
}  # fmt: skip


@titled(("flags", "more", "expected"), STATES)
def test_the_state_of_a_package_is_that_of_each_user(flags: str, more: str, expected: PackageState) -> None:
    """The lines are those of AOSP's Settings.dumpPackageLPr, whose flags grew with the releases."""
    package = "Packages:\n  Package [a.b] (1):\n"
    text = f"{package}    User 0: ceDataInode=1 {flags}\n{more}    User 10: installed=true\n"
    assert read_package_states(text) == {0: expected, 10: PackageState()}


@titled(("states", "fact"), {
    "another user": ({10: PackageState()}, "it is installed for user 10, and user 0 is in front"),
    "an archive": (
        {0: PackageState(is_installed=False, is_archived=True)},
        "it is archived for user 0, who is in front"),
    "an administrator": ({0: PackageState(is_hidden=True)}, "it is hidden from user 0, who is in front"),
})  # fmt: skip
def test_an_app_that_the_user_in_front_does_not_have_is_not_installed_for_them(
    sample_phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch, states: dict[int, PackageState], fact: str
) -> None:
    monkeypatch.setattr(phone_gates, "package_states", lambda *_: states)
    (answer,) = why(agent="mobile-mcp", app="org.absent", source=f"adb:{sample_phone.serial}")
    assert (decided(answer), answer.gates[0].fact) == (("installed", "shut"), fact)


@titled(("flag", "capability", "expected"), {
    "suspended, a service": ("is_suspended", f"{CLOCK_IN}/query_clock_in", (None, "open")),
    "suspended, an activity": ("is_suspended", "page_count", ("app-enabled", "shut")),
    "in quarantine, a service": ("is_quarantined", f"{CLOCK_IN}/query_clock_in", ("app-enabled", "shut")),
})  # fmt: skip
def test_a_suspended_app_opens_no_screen(
    sample_phone: VirtualPhone,
    monkeypatch: pytest.MonkeyPatch,
    flag: str,
    capability: str,
    expected: tuple[str, str],
) -> None:
    state = replace(PackageState(), **{flag: True})
    monkeypatch.setattr(phone_gates, "package_states", lambda *_: {0: state})
    agent = "mmcp-activity" if capability == "page_count" else "mobile-mcp"
    assert ask(sample_phone, capability, agent) == expected


ASKS_USER = '<permission android:name="com.asks.USE" android:protectionLevel="dangerous"/>'


@titled(("agent", "owner"), {
    "requested": ("org.agents.refused", "user"), "not requested": ("org.agents.sees", "agent developer"),
})  # fmt: skip
def test_a_missing_permission_of_an_agent_has_the_fix_of_who_can_grant_it(
    sample_phone: VirtualPhone, agent: str, owner: str
) -> None:
    made = timer('android:exported="true" android:permission="com.asks.USE"', before=ASKS_USER)
    sample_phone.install(make_apk("com.asks", made.application, files=made.files, **made.options))
    query = f'<queries>{SERVICE_QUERY}</queries><uses-permission android:name="com.asks.USE"/>'
    sample_phone.install(make_apk("org.agents.refused", before=query))
    (answer,) = why("com.asks/start_timer", agent=agent, source=f"adb:{sample_phone.serial}")
    gate = answer.decisive_gate
    assert (decided(answer), gate and gate.owner) == (("permission", "shut"), owner)


DUMP = """Packages:
  Package [com.example.agent] (1f2e3d):
    versionName=1.0: granted=true
    declared permissions:
      com.example.agent.OWN: prot=normal, INSTALLED
    requested permissions:
      android.permission.INTERNET
      android.permission.CAMERA: restricted=true
    install permissions:
      android.permission.INTERNET: granted=true
      android.permission.DUMP: granted=false
    User 0: ceDataInode=1 installed=true hidden=false
      runtime permissions:
        android.permission.CAMERA: granted=false, flags=[ USER_SET]
    User 10: ceDataInode=0 installed=true hidden=false
      runtime permissions:
        android.permission.CAMERA: granted=true, flags=[ USER_SET]
"""
"""Typed by hand from AOSP's Settings.dumpPackageLPr."""


@titled(("user", "held"), {"the first user": (0, {"INTERNET"}), "another": (10, {"INTERNET", "CAMERA"})})
def test_the_permissions_of_a_dump_are_those_of_the_user(user: int, held: set[str]) -> None:
    android = "android.permission.{}".format
    requested, granted = read_permissions(DUMP, user)
    assert requested == set(map(android, ("INTERNET", "CAMERA")))
    assert granted == set(map(android, held))


def test_every_finding_that_shuts_a_gate_is_one_that_droidgate_has() -> None:
    page = (CHECKOUT / "docs/reference/findings.md").read_text()
    codes = {code for gate in load_gates().values() for code in gate.codes}
    assert [code for code in sorted(codes) if f"`{code}`" not in page] == []


@pytest.mark.slow
def test_coverage_reports_the_same_reach_for_each_capability_and_agent(tmp_path: Path) -> None:
    """The apps are those of every row, and the samples."""
    folder = tmp_path / "apps"
    folder.mkdir()
    for number, (_, made, *_) in enumerate(ROWS.values()):
        if made.application:
            apk = make_apk(f"org.row{number}", made.application, files=made.files, **made.options)
            (folder / f"row{number}.apk").write_bytes(apk)
    for package in sample_packages():
        (folder / f"{package.package}.apk").write_bytes(package.apk)
    scan(folder, catalog=tmp_path / "catalog")
    report = report_coverage(tmp_path / "catalog", options=ReportOptions(matching=False, details=True))
    assert report.details is not None
    details, agents = report.details, [agent.id for agent in report.agents]
    packages = [details.apps[provider.app].package for provider in details.providers]
    cells = {
        (packages[capability.provider], capability.id): details.reach_profiles[capability.reach].cells
        for capability in details.capabilities
    }
    answers = [answer for answer in why(source=folder) if answer.capability is not None]
    assert len(answers) >= len(cells) * len(agents) > 0
    for answer in answers:
        cell = cells[answer.package, answer.capability or ""][agents.index(answer.agent)]
        is_reached = cell.reach in ({"ui-only"} if answer.agent == "ui" else {"native", "gateway"})
        assert (answer.verdict != "cannot") == is_reached, (answer, cell)
        if not is_reached:
            assert answer.decisive == cell.gate

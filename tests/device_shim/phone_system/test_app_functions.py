"""AppFunctions on the phone: what is indexed, what `cmd app_function` prints, and who may execute."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from device_shim.phone_system.phone_system_apps import (
    AGENT,
    BEHAVIOURS,
    TOOL,
    Inbox,
    MemoryStreams,
    Ran,
    ToolApp,
    ignore,
    make_agent,
    make_phone,
    make_tool,
    run,
    uid_of,
)
from droidgate_phone.common.clocks import Clock
from droidgate_phone.common.faults import Faults
from droidgate_phone.common.uids import SHELL_UID
from droidgate_phone.java.app_values import (
    AppFunctionError,
    CallingPackage,
    CancellationSignal,
    FunctionOutcome,
)
from droidgate_phone.shell import run_shell
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.behaviour import AppFunctionService
from droidgate_phone.system.callers import CallerIdentity
from droidgate_phone.system.releases import load_release

ANDROID_17 = "37"
RUN = "androidAppfunctionsReturnValue"
SCHEMA = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:documentType name="AppFunctionStaticMetadata">
<xs:element name="functionId" type="xs:string" cardinality="2"/>
<xs:element name="enabledByDefault" type="xs:boolean" cardinality="2"/>
<xs:element name="description" type="xs:string" cardinality="2"/>
<xs:element name="parameters" type="appfn:Parameter" cardinality="1"/>
</xs:documentType>
<xs:documentType name="Parameter">
<xs:element name="name" type="xs:string" cardinality="2"/>
<xs:element name="isRequired" type="xs:boolean" cardinality="2"/>
</xs:documentType>
<xs:documentType name="AppFunctionComponentMetadataDocument">
<xs:element name="dataTypes" type="xs:string" cardinality="1"/>
</xs:documentType>
</xs:schema>"""
NAMES = ("echo", "fail", "crash", "void", "text")


def function(name: str, more: str = "") -> str:
    identifier = f"{TOOL}.Notes#{name}"
    return (
        f"<appfunction><id>{identifier}</id><functionId>{identifier}</functionId>"
        f"<enabledByDefault>true</enabledByDefault>{more}</appfunction>"
    )


FUNCTIONS = (
    "<appfunctions>"
    + function(
        "echo", "<parameters><id>unused</id><name>title</name><isRequired>true</isRequired></parameters>"
    )
    + "".join(map(function, NAMES[1:]))
    + "<AppFunctionComponentMetadataDocument><id>unused</id><dataTypes>x</dataTypes>"
    + "</AppFunctionComponentMetadataDocument></appfunctions>"
)


def tool(
    functions: str = FUNCTIONS,
    *,
    permission: str = "android.permission.BIND_APP_FUNCTION_SERVICE",
    exported: str = "true",
    **options: Any,
) -> bytes:
    guard = f'android:permission="{permission}"' if permission else ""
    application = (
        f'<service android:name=".Functions" android:exported="{exported}" {guard}>'
        '<property android:name="android.app.appfunctions.schema" android:value="schema.xsd"/>'
        '<property android:name="android.app.appfunctions.v2" android:value="functions.xml"/>'
        '<intent-filter><action android:name="android.app.appfunctions.AppFunctionService"/></intent-filter>'
        "</service>"
    )
    files = {
        "assets/schema.xsd": SCHEMA,
        "assets/functions.xml": functions,
    }
    return make_tool(application, files=files, **options)


def phone(sdk: str = ANDROID_17, **options: Any) -> AndroidSystem:
    # 16's own shell lists nothing, so that nobody sees what its indexer takes.
    release = replace(load_release(sdk), function_shell=3) if sdk == "36" else load_release(sdk)
    return make_phone(release, *options.pop("apks", (tool(),)), **options)  # type: ignore[arg-type]


def command(system: AndroidSystem, verb: str, *words: str, uid: int = SHELL_UID) -> Ran:
    return run(system, "cmd", "app_function", verb, *words, uid=uid)


def execute(
    system: AndroidSystem, name: str = "echo", parameters: str = "{}", *more: str, uid: int = SHELL_UID
) -> Ran:
    function = name if "#" in name else f"{TOOL}.Notes#{name}"
    words = ("--package", TOOL, "--function", function, "--parameters", parameters, *more)
    return command(system, "execute-app-function", *words, uid=uid)


def listed(system: AndroidSystem, *more: str) -> dict[str, Any]:
    ran = command(system, "list-app-functions", *more)
    assert ran.status == 0
    documents: dict[str, Any] = json.loads(ran.stdout)
    return documents


def ids(system: AndroidSystem) -> list[str]:
    results = (result for package in listed(system).values() for result in package)
    documents = (document for result in results for document in result.values())
    return [each["functionId"][0].rpartition("#")[2] for each in documents if "functionId" in each]


# 16 reads over the tag, 17 skips it.
@pytest.mark.parametrize(("sdk", "names"), [("36", NAMES), ("36.1", ()), ("37", NAMES)])
def test_a_function_file_with_an_unknown_tag_is_dropped_by_16_qpr2_only(
    sdk: str, names: tuple[str, ...]
) -> None:
    broken = FUNCTIONS.replace("<parameters>", "<surprise>x</surprise><parameters>")
    with phone(sdk, apks=(tool(broken),)) as system:
        assert ids(system) == list(names)
        assert bool(system.log.of_kind("app-functions-dropped")) is not bool(names)


def test_a_service_without_the_permission_is_not_indexed_by_17() -> None:
    with phone("37", apks=(tool(permission=""),)) as system:
        assert listed(system) == {}
    with phone("36.1", apks=(tool(permission=""),)) as system:
        assert ids(system) == list(NAMES)
        message = "Cannot find the target service."
        assert message in execute(system).stdout


def test_an_update_and_a_removal_change_the_listing() -> None:
    with phone() as system:
        assert ids(system) == list(NAMES)
        system.packages.install(tool("<appfunctions>" + function("fresh") + "</appfunctions>", version=2))
        assert ids(system) == ["fresh"]
        system.packages.uninstall(TOOL)
        assert command(system, "list-app-functions").stdout == "{}\n"


def test_one_package_can_be_listed_from_generation_5_on() -> None:
    with phone() as system:
        assert listed(system, "--package", "com.example.other") == {}
        assert list(listed(system, "--package", TOOL)) == [TOOL]
    with phone("36.1") as system:
        ran = command(system, "list-app-functions", "--package", TOOL)
        assert (ran.status, ran.stdout) == (255, "Unknown option: --package\n")


def test_a_result_is_the_whole_document_in_arrays() -> None:
    with phone() as system:
        ran = execute(system, "text")
        assert ran == Ran(0, '{\n  "androidAppfunctionsReturnValue": [\n    "a\\/b é"\n  ]\n}\n', "")
        ran = execute(system, "echo", '{"title": "x", "count": 5, "ratio": 5.0, "none": null, "empty": []}')
        assert json.loads(ran.stdout) == {RUN: [{"title": ["x"], "count": [5], "ratio": [5]}]}
        assert execute(system, "void").stdout == "{}\n"


NOT_SUPPORTED = "android.app.appfunctions.AppFunctionException: It is not supported"


@pytest.mark.parametrize(("sdk", "code"), [("36.1", ""), ("37", " (code 3501)")])
def test_errors_are_printed_as_each_generation_does(sdk: str, code: str) -> None:
    with phone(sdk) as system:
        text = f"Error executing app function: {NOT_SUPPORTED}{code}. See logcat for more details. \n"
        assert execute(system, "fail") == Ran(255, text, "")


@pytest.mark.parametrize(("more", "seconds"), [((), 30), (("--timeout-duration", "3"), 3)])
def test_a_function_that_does_not_answer_times_out(more: tuple[str, ...], seconds: int) -> None:
    with phone(faults=Faults(silent=frozenset({TOOL}))) as system:
        before = system.clock.now()
        assert execute(system, "echo", "{}", *more) == Ran(255, "Timed out\n", "")
        assert system.clock.now() - before == seconds


class WaitingFunctions(AppFunctionService):
    """Functions that answer when they are cancelled."""

    cancelled: ClassVar[Inbox[str]]

    def on_execute_later(
        self,
        function_id: str,
        parameters: Mapping[str, Any],
        calling_package: CallingPackage,
        signal: CancellationSignal,
        on_outcome: Callable[[FunctionOutcome], None],
    ) -> None:
        del parameters, calling_package

        def end() -> None:
            self.cancelled.put(function_id)
            on_outcome({})

        signal.set_on_cancel_listener(end)


class WaitingApp(ToolApp):
    """The tool app with these functions."""

    APP_FUNCTION_SERVICES = {f"{TOOL}.Functions": WaitingFunctions}


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Iterator[AndroidSystem]:
    with phone("36.1", apks=(tool(), make_agent()), behaviours={**BEHAVIOURS, TOOL: WaitingApp}) as system:
        monkeypatch.setattr(WaitingFunctions, "cancelled", Inbox(system), raising=False)
        system.packages.permissions.adopt(uid_of(system, AGENT))
        yield system


def test_a_cancelled_call_is_cancelled_in_its_app_whose_answer_is_dropped_then(
    waiting: AndroidSystem,
) -> None:
    outcomes: Inbox[FunctionOutcome] = Inbox(waiting)
    platform = waiting.app_context(AGENT).platform
    cancel = platform.execute_app_function(TOOL, f"{TOOL}.Notes#echo", {}, outcomes.put)
    assert WaitingFunctions.cancelled.take(20) is None
    cancel()
    assert WaitingFunctions.cancelled.take() == f"{TOOL}.Notes#echo"
    assert outcomes.take(20) is None


def test_the_end_of_its_callers_process_cancels_a_call(waiting: AndroidSystem) -> None:
    waiting.app_context(AGENT).platform.execute_app_function(TOOL, f"{TOOL}.Notes#echo", {}, ignore)
    assert WaitingFunctions.cancelled.take(20) is None
    run(waiting, "am", "force-stop", AGENT)
    assert WaitingFunctions.cancelled.take() == f"{TOOL}.Notes#echo"


def test_a_call_of_the_shell_is_cancelled_when_its_time_is_over(waiting: AndroidSystem) -> None:
    assert execute(waiting, "void", "{}", "--timeout-duration", "3").stdout == "Timed out\n"
    assert WaitingFunctions.cancelled.take() == f"{TOOL}.Notes#void"


class LeavingClient(MemoryStreams):
    """Streams whose other side goes away."""

    leave: Callable[[], None]

    def on_hang_up(self, listener: Callable[[], None]) -> None:
        self.leave = listener


def test_a_command_whose_client_is_gone_does_not_wait_for_a_silent_app() -> None:
    with phone(faults=Faults(silent=frozenset({TOOL})), clock=Clock()) as system:
        streams = LeavingClient()
        words = f"--package {TOOL} --function '{TOOL}.Notes#echo' --parameters '{{}}'"
        line = f"cmd app_function execute-app-function {words} --timeout-duration 10000"
        working = threading.Thread(target=run_shell, args=(system, line, streams))
        working.start()
        while not system.log.of_kind("app-silent"):
            threading.Event().wait(0.01)
        streams.leave()
        working.join(60)
        assert not working.is_alive()
        assert streams.output.data == b""


def test_the_crash_of_an_app_is_an_error() -> None:
    with phone() as system:
        ran = execute(system, "crash")
        assert ran.status == 255
        assert ran.stdout.startswith(f"Error executing app function: {NOT_SUPPORTED.partition(' ')[0]} ")
        assert execute(system, "text").status == 0


def test_a_disabled_function_is_listed_and_not_executed() -> None:
    with phone() as system:
        state = ("--package", TOOL, "--function", f"{TOOL}.Notes#text")
        assert command(system, "is-enabled", *state).stdout == "true\n"
        ran = command(system, "set-enabled", *state, "--state", "disable")
        assert ran == Ran(0, "App function enabled state updated successfully.\n", "")
        assert command(system, "is-enabled", *state).stdout == "false\n"
        assert "The app function is disabled" in execute(system, "text").stdout
        assert "text" in ids(system)
        command(system, "set-enabled", *state, "--state", "default")
        assert execute(system, "text").status == 0


def test_a_function_that_is_not_there_is_an_error() -> None:
    with phone() as system:
        ran = execute(system, "absent")
        error = f"App function not found with identifier: {TOOL}.Notes#absent under package: {TOOL}"
        assert (ran.status, error in ran.stdout) == (255, True)
        ran = command(system, "set-enabled", "--package", TOOL, "--function", "absent", "--state", "enable")
        assert ran.status == 0
        assert ran.stdout.startswith("Error setting app function state: ")


def test_a_function_of_a_disabled_service_stays_listed_and_cannot_be_executed() -> None:
    with phone() as system:
        run(system, "pm", "disable", f"{TOOL}/.Functions", uid=0)
        assert ids(system) == list(NAMES)
        assert "Cannot find the target service." in execute(system, "text").stdout


@pytest.mark.parametrize("words", [
    ("read-app-description", "--package", TOOL), ("set-test-page-size", "--page-size", "5"),
    ("execute-app-function", "--brief-yaml"),
], ids=" ".join)  # fmt: skip
def test_what_the_shell_has_and_the_phone_has_not_is_refused(words: tuple[str, ...]) -> None:
    with phone() as system:
        ran = command(system, *words)
        assert (ran.status, ran.stdout) == (69, "")
        assert ran.stderr.startswith(f"droidgate phone: not modelled: cmd app_function {words[0]}")
    with phone("36.1") as system:
        assert command(system, "set-test-page-size").stdout == "Unknown command: set-test-page-size\n"


def test_only_the_shell_and_root_execute_by_command() -> None:
    with phone() as system:
        ran = execute(system, "text", uid=10099)
        assert ran.status == 255
        assert ran.stderr.endswith("java.lang.IllegalAccessError: Only allow shell or root\n")


def test_an_app_executes_its_own_functions_and_no_others() -> None:
    with phone(apks=(tool(), make_agent())) as system:
        uids = {package.name: package.uid for package in system.packages.all()}
        own = CallerIdentity(uids[TOOL], TOOL)
        result = system.app_functions.execute(own, TOOL, f"{TOOL}.Notes#text", {}, seconds=5)
        assert result == {RUN: ["a/b é"]}
        other = CallerIdentity(uids[AGENT], AGENT)
        with pytest.raises(AppFunctionError) as refused:
            system.app_functions.execute(other, TOOL, f"{TOOL}.Notes#text", {}, seconds=5)
        message = "Caller does not have permission to execute the appfunction"
        assert (refused.value.code, refused.value.message) == (1000, message)


def test_an_activity_scoped_function_cannot_be_reached_from_the_shell() -> None:
    application = '<property android:name="android.app.appfunctions.v2" android:value="app.xml"/>'
    functions = "<appfunctions><appfunction><id>a#b</id><scope>activity</scope></appfunction></appfunctions>"
    apk = make_tool(application, files={"assets/app.xml": functions})
    with phone(apks=(apk,)) as system:
        error = "SCOPE_ACTIVITY functions must be targeted with an AppFunctionActivityId"
        assert error in execute(system, "a#b").stdout


def test_code_that_the_phone_does_not_model_is_refused_loudly() -> None:
    with phone(behaviours={}) as system:
        code = f"the code of AppFunctions service {TOOL}/{TOOL}.Functions"
        assert execute(system, "text") == Ran(69, "", f"droidgate phone: not modelled: {code}\n")

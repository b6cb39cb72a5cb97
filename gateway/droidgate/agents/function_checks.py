"""What can be seen of an app function that Android's shell calls (reference appfunctions 4 to 6).

Declared types are those that Android itself lists, not those that droidgate reads from the app's files. The
shell prints no error codes where it prints results as JSON. Android refuses unknown and disabled functions
before the app sees them, so neither can be a fault of the app.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, Literal

from droidgate.agents.agent_client import AgentClient
from droidgate.agents.function_calls import call_function, error_text
from droidgate.agents.live_calls import LiveAnswer, answer_texts
from droidgate.agents.rule_checks import NOT_ALLOWED, CheckVerdict, RuleCheck
from droidgate.devices.device import Device
from droidgate.devices.device_errors import DeadlineError
from droidgate.devices.service_shells import app_function_shell
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.findings import Level, LintRule, LintRules
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.text.nearest_names import suggest_name

_BOOK: Final = LintRules("AppFunctions", __name__, "appfunctions-live-")
_rule = partial(_BOOK.declare, Level.ERROR)

INDEXED: Final = _rule("indexed", "reference 3.2", "Android lists each function that the app declares")
ANSWERS: Final = _rule("answers", "reference 6.2", "A call ends with a result or an error")
RUNNING: Final = _rule("keeps-running", "reference 5.1", "The app keeps running, whatever a call holds")
MISSING: Final = _rule(
    "missing-argument", "reference 2.c, 5.1", "A function refuses a call without a required argument"
)
TYPED: Final = _rule(
    "argument-type", "reference 4, 5.1", "A function refuses an argument that is not of the declared type"
)
UNDECLARED: Final = _rule(
    "undeclared-argument", "reference 4", "A call with an argument that is not declared ends"
)
RESULT: Final = _rule("result", "reference 2.c, 6.4", "A result is of the declared type")
OPEN: Final = _rule("open-calls", "reference 6.2", "Two calls that are open at once both end")
ERROR_CODE: Final = _rule(
    "error-code", "reference 5.1", "An app refuses a call without a required argument with the code 1001"
)
CANCELLED: Final = _rule(
    "cancelled-call",
    "reference 5.1",
    "A call that is cancelled leaves the app running, and the next one ends",
)
TWO_CALLERS: Final = _rule(
    "two-callers", "reference 5.1", "Two apps that call at once each get the end of their call"
)

RULES: Final = _BOOK.by_id
"""Every rule by id."""

_TRANSPORT: Final = "shell"
_BY_AGENT: Final = "agent"
_INVALID_ARGUMENT: Final = 1001
_DENIED: Final = 1000
_LIST: Final = ("cmd", "app_function", "list-app-functions")
_EXECUTE: Final = ("cmd", "app_function", "execute-app-function")
_RETURNED: Final = "androidAppfunctionsReturnValue"
_TIMED_OUT: Final = "Timed out"
_UNKNOWN_ARGUMENT: Final = "droidgateVerifyUnknown"
_INDEXING_SECONDS: Final = 20.0
"""How long Android may take to list the functions of an app that was just installed."""

_ENABLED, _DISABLED = 1, 2
"""States at run time; any other is the default (reference 6.5)."""
_UNIT, _BOOLEAN, _OBJECT, _DOUBLE, _FLOAT, _LONG, _INT, _STRING = 0, 1, 3, 4, 5, 6, 7, 8
_ARRAY, _REFERENCE, _ALL_OF, _PARCELABLE, _ONE_OF = 10, 11, 12, 13, 14
_SAMPLES: Final[Mapping[int, Json]] = {
    _BOOLEAN: True, _DOUBLE: 1.5, _FLOAT: 1.5, _LONG: 1, _INT: 1, _STRING: "droidgate", _ARRAY: ["droidgate"],
    _OBJECT: {}, _REFERENCE: {}, _ALL_OF: {}, _ONE_OF: {},
}  # fmt: skip
"""Types of which an argument can be made, by Android's numbers; those of a single value come first."""

_VALUES: Final[Mapping[int, tuple[str, tuple[type, ...]]]] = {
    _BOOLEAN: ("a boolean", (bool,)), _DOUBLE: ("a number", (int, float)), _FLOAT: ("a number", (int, float)),
    _LONG: ("a whole number", (int,)), _INT: ("a whole number", (int,)), _STRING: ("a text", (str,)),
    _OBJECT: ("an object", (dict,)), _ALL_OF: ("an object", (dict,)), _ONE_OF: ("an object", (dict,)),
}  # fmt: skip
_DEEPEST: Final = 32

_Document = Mapping[str, Json]
_End = Literal["result", "error", "silence"]


def _first(document: _Document, name: str) -> Json:
    """Return the value of a property; Android lists every property as an array."""
    values = document.get(name)
    return values[0] if isinstance(values, list) and values else None


def _documents(document: _Document, name: str) -> list[_Document]:
    documents = document.get(name)
    return [item for item in documents if isinstance(item, dict)] if isinstance(documents, list) else []


@dataclass(frozen=True, slots=True)
class _Function:
    """A function as Android lists it."""

    id: str
    static: _Document
    state: Json

    @property
    def parameters(self) -> dict[str, _Document]:
        return {
            str(_first(item, "name")): next(iter(_documents(item, "dataTypeMetadata")), {})
            for item in _documents(self.static, "parameters")
        }

    @property
    def required(self) -> list[str]:
        """Names of arguments that a call has to have: required, and not nullable."""
        types = self.parameters
        items = (item for item in _documents(self.static, "parameters") if _first(item, "isRequired") is True)
        names = [str(_first(item, "name")) for item in items]
        return [name for name in names if _first(types[name], "isNullable") is not True]

    @property
    def result_type(self) -> _Document | None:
        """The declared type of its result, where Android lists one."""
        responses = _documents(self.static, "response")
        return next((kind for item in responses for kind in _documents(item, "valueType")), None)

    @property
    def is_open(self) -> bool:
        """Whether Android lets the shell call it, and the app has its code in a service."""
        is_default = _first(self.static, "enabledByDefault") is not False
        is_enabled = self.state == _ENABLED or (self.state != _DISABLED and is_default)
        is_for_all = _first(self.static, "accessLevel") not in ("self", "system")
        return is_enabled and is_for_all and _first(self.static, "serviceName") != "@null"


@dataclass(frozen=True, slots=True)
class _Answer:
    """A call by the shell, and what it printed."""

    function: _Function
    sent: str
    text: str
    end: _End
    died: bool

    @property
    def summary(self) -> str:
        name = self.function.id.rpartition("#")[2]
        return f"{name}: the call does not end" if self.end == "silence" else f"{name}: {self.text[:200]}"


class _Run:
    """The checks of one app's functions."""

    def __init__(self, device: Device, package: str, user: int, seconds: float) -> None:
        self._device = device
        self._package = package
        self._user = str(user)
        self._seconds = seconds
        self._answers: list[_Answer] = []
        self.functions: dict[str, _Function] = {}
        self._types: dict[str, _Document] = {}

    def list(self) -> None:
        """Read what Android lists of the app."""
        result = self._device.run([*_LIST, "--user", self._user], deadline=60.0)
        try:
            listed = parse_json(result.text, path="list-app-functions")
        except InputError:
            listed = None
        functions = listed.get(self._package) if isinstance(listed, dict) else None
        for item in functions if isinstance(functions, list) else ():
            parts = (
                {name.partition("-")[0]: part for name, part in item.items()}
                if isinstance(item, dict)
                else {}
            )
            components = parts.get("AppFunctionComponentMetadataDocument")
            if isinstance(components, dict):
                for data_type in _documents(components, "dataTypes"):
                    types = _documents(data_type, "dataTypeMetadata")
                    self._types.update({str(_first(data_type, "name")): kind for kind in types[:1]})
            static, runtime = parts.get("AppFunctionStaticMetadata"), parts.get("AppFunctionRuntimeMetadata")
            if isinstance(static, dict):
                joined = next(iter(runtime.values()), None) if isinstance(runtime, dict) else None
                state = _first(joined, "enabled") if isinstance(joined, dict) else None
                name = _first(static, "functionId")
                if isinstance(name, str):
                    self.functions[name] = _Function(name, static, state)

    def call(self, function: _Function, arguments: Mapping[str, Json]) -> _Answer:
        """Call a function, and keep what it answers."""
        text = json.dumps(arguments)
        command = [*_EXECUTE, "--package", self._package, "--function", function.id, "--parameters", text]
        command += ["--user", self._user, "--timeout-duration", str(max(1, round(self._seconds)))]
        before = self._process()
        try:
            result = self._device.run(command, deadline=self._seconds + 5.0)
        except DeadlineError:
            printed, exit_status = _TIMED_OUT, 1
        else:
            printed, exit_status = (result.text or result.error_text).strip(), result.exit_status
        end = _end_of(printed, exit_status)
        died = end != "result" and bool(before) and self._process() != before
        answer = _Answer(function, shlex.join(command), printed, end, died)
        self._answers.append(answer)
        return answer

    def _process(self) -> str:
        return self._device.run(["pidof", self._package]).text.strip()

    def checks(self, calls: Mapping[str, Mapping[str, Json]]) -> Iterator[RuleCheck]:
        """Yield what each rule says, but for the one of the index."""
        usable = [item for item in self.functions.values() if item.is_open]
        yield self._missing(usable)
        yield self._typed(usable)
        yield from self._allowed(calls)
        yield self._open(usable, calls)
        silent = [item for item in self._answers if item.end == "silence"]
        dead = [item for item in self._answers if item.died]
        reason = "no function is called: Android lets the shell call none, or their types are not listed"
        for rule, broken, fallback in ((ANSWERS, silent, ""), (RUNNING, dead, "the app's process ended; ")):
            if not self._answers:
                yield self.unchecked(rule, reason)
            else:
                yield self._check(
                    rule, (broken or self._answers)[:1], fallback + broken[0].summary if broken else ""
                )

    def checks_by_agents(
        self,
        agents: tuple[AgentClient, AgentClient],
        calls: Mapping[str, Mapping[str, Json]],
        lend: Callable[[AgentClient], str],
    ) -> Iterator[RuleCheck]:
        """Yield what the rules say that need an app as caller."""
        usable = [item for item in self.functions.values() if item.is_open]
        refused = next((item for item in usable if item.required), None)
        named = refused.id if refused is not None else next(iter(calls), None)
        arguments = {} if refused is not None or named is None else calls[named]
        if named is None:
            yield from (self._by_agent(rule, "not-checked", NOT_ALLOWED) for rule in _AGENT_RULES)
            return
        call = partial(call_function, package=self._package, function=named, arguments=arguments)
        reason = lend(agents[0])
        before = self._process()
        first = call(agents[0], seconds=self._seconds)
        denied = "Android does not let the agent call: "
        if _is_denied(first):
            denied += reason or _ended_as(first)
            yield from (self._by_agent(rule, "not-checked", denied) for rule in _AGENT_RULES)
            return
        if refused is None:
            reason = "no function has a required parameter"
            yield self._by_agent(ERROR_CODE, "not-applicable", reason)
        elif first.event is None or first.is_answer or self._has_died(before):
            yield self._by_agent(ERROR_CODE, "not-checked", f"no refusal: {_ended_as(first)}", first)
        else:
            is_right = first.event.fields.get("code") == _INVALID_ARGUMENT
            problem = "" if is_right else _ended_as(first)
            yield self._by_agent(ERROR_CODE, "failed" if problem else "passed", problem, first)
        if first.event is None or self._has_died(before):
            reason = f"a call alone ends otherwise: {_ended_as(first)}"
            yield from (self._by_agent(rule, "not-checked", reason) for rule in (CANCELLED, TWO_CALLERS))
            return
        agents[0].cancel(agents[0].execute(self._package, named, arguments))
        following = call(agents[0], seconds=self._seconds)
        problem = "" if following.event is not None else "the next call does not end"
        problem = "the app's process ended" if self._has_died(before) else problem
        yield self._by_agent(CANCELLED, "failed" if problem else "passed", problem, following)
        # Android lends the shell's right to one app at a time, so the other caller is the shell itself.
        reason = lend(agents[1])
        with ThreadPoolExecutor(1) as pool:
            by_shell = pool.submit(self.call, self.functions[named], arguments)
            second = call(agents[1], seconds=self._seconds)
        if _is_denied(second):
            yield self._by_agent(TWO_CALLERS, "not-checked", f"{denied}{reason or _ended_as(second)}", second)
            return
        is_silent = second.event is None or by_shell.result().end == "silence"
        problem = "a call does not end" if is_silent else ""
        yield self._by_agent(TWO_CALLERS, "failed" if problem else "passed", problem, second)

    def _has_died(self, before: str) -> bool:
        now = self._process()
        return not now or (bool(before) and now != before)

    def _by_agent(
        self, rule: LintRule, verdict: CheckVerdict, reason: str, *answers: LiveAnswer
    ) -> RuleCheck:
        sent = tuple(
            json.dumps(event.document())
            for answer in answers
            for event in answer.events
            if event.kind == "sent"
        )
        ends = tuple(map(_ended_as, answers))
        return RuleCheck(rule, self._package, _BY_AGENT, verdict, reason, sent, ends)

    def _check(self, rule: LintRule, answers: Sequence[_Answer], problem: str) -> RuleCheck:
        sent, received = tuple(item.sent for item in answers), tuple(item.text for item in answers)
        verdict: CheckVerdict = "failed" if problem else "passed"
        return RuleCheck(rule, self._package, _TRANSPORT, verdict, problem, sent, received)

    def unchecked(self, rule: LintRule, reason: str, *, applies: bool = True) -> RuleCheck:
        """Return that a rule was not checked, or does not apply."""
        verdict: CheckVerdict = "not-checked" if applies else "not-applicable"
        return RuleCheck(rule, self._package, _TRANSPORT, verdict, reason)

    def _refusal(self, rule: LintRule, answers: Sequence[_Answer]) -> RuleCheck:
        lost = next((item for item in answers if item.end == "silence" or item.died), None)
        if lost is not None:
            return self.unchecked(rule, lost.summary)
        result = next((item for item in answers if item.end == "result"), None)
        problem = "" if result is None else f"{result.function.id.rpartition('#')[2]} returns a result"
        return self._check(rule, [result] if result else answers, problem)

    def _missing(self, usable: Sequence[_Function]) -> RuleCheck:
        function = next((item for item in usable if item.required), None)
        if function is None:
            return self.unchecked(MISSING, "no function has a required parameter", applies=False)
        return self._refusal(MISSING, [self.call(function, {})])

    def _typed(self, usable: Sequence[_Function]) -> RuleCheck:
        answers: dict[int, _Answer] = {}
        for function in usable:
            arguments: dict[str, Json] = {
                name: _sample(function.parameters[name]) for name in function.required
            }
            for name, declared in function.parameters.items():
                kind = _first(declared, "type")
                if isinstance(kind, int) and kind in _SAMPLES and kind not in answers:
                    # No declared type but the numbers takes a number, and none but string takes a text.
                    wrong: Json = "droidgate" if kind in (_DOUBLE, _FLOAT, _LONG, _INT, _BOOLEAN) else 17
                    answers[kind] = self.call(function, {**arguments, name: wrong})
        if not answers:
            return self.unchecked(TYPED, "no function has a parameter whose type is listed", applies=False)
        return self._refusal(TYPED, list(answers.values()))

    def _allowed(self, calls: Mapping[str, Mapping[str, Json]]) -> Iterator[RuleCheck]:
        """Yield the checks that need a call which the app carries out."""
        if not calls:
            yield self.unchecked(UNDECLARED, NOT_ALLOWED)
            yield self.unchecked(RESULT, NOT_ALLOWED)
            return
        answers = [self.call(self.functions[name], arguments) for name, arguments in calls.items()]
        name, arguments = next(iter(calls.items()))
        extra = self.call(self.functions[name], {**arguments, _UNKNOWN_ARGUMENT: "droidgate"})
        yield self._check(UNDECLARED, [extra], extra.summary if extra.end == "silence" or extra.died else "")
        results = [item for item in answers if item.end == "result"]
        if not results:
            yield self.unchecked(RESULT, f"no result: {answers[0].summary}")
            return
        typed = [item for item in results if item.function.result_type is not None]
        if not typed:
            yield self.unchecked(RESULT, "Android lists no type of the result", applies=False)
            return
        problems = ((item, self._result_problem(item)) for item in typed)
        broken = next(((item, problem) for item, problem in problems if problem), None)
        yield self._check(
            RESULT, typed if broken is None else [broken[0]], "" if broken is None else broken[1]
        )

    def _open(self, usable: Sequence[_Function], calls: Mapping[str, Mapping[str, Json]]) -> RuleCheck:
        refused = next((item for item in usable if item.required), None)
        if refused is not None:
            function, arguments = refused, dict[str, Json]()
        elif calls:
            name = next(iter(calls))
            function, arguments = self.functions[name], dict(calls[name])
        else:
            return self.unchecked(OPEN, NOT_ALLOWED)
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(self.call, function, arguments) for _ in range(2)]
        answers = [item.result() for item in futures]
        silent = next((item for item in answers if item.end == "silence"), None)
        return self._check(OPEN, answers, "" if silent is None else silent.summary)

    def _result_problem(self, answer: _Answer) -> str:
        """Return why a result is not of the declared type; empty where it is."""
        document = parse_json(answer.text, path="result")
        kind = answer.function.result_type
        if kind is None or not isinstance(document, dict):
            return ""
        return self._property_problem(document.get(_RETURNED), kind, "the result", 0)

    def _property_problem(self, values: Json, declared: _Document, name: str, depth: int) -> str:
        """Return why a property of a document is not of its type."""
        kind = _first(declared, "type")
        if kind in (_UNIT, _PARCELABLE):
            return f"{name} is declared as nothing that is printed" if values else ""
        if not isinstance(values, list):
            return "" if _first(declared, "isNullable") is True else f"{name} is missing"
        if kind == _ARRAY:
            item = next(iter(_documents(declared, "itemType")), {})
            return next(filter(None, (self._value_problem(value, item, name, depth) for value in values)), "")
        if len(values) != 1:
            return f"{name} has {len(values)} values, and one is declared"
        return self._value_problem(values[0], declared, name, depth)

    def _value_problem(self, value: Json, declared: _Document, name: str, depth: int) -> str:
        kind = _first(declared, "type")
        if kind == _REFERENCE and depth < _DEEPEST:
            target = self._types.get(str(_first(declared, "dataTypeReference")))
            return "" if target is None else self._value_problem(value, target, name, depth + 1)
        words, types = _VALUES.get(kind, ("", ())) if isinstance(kind, int) else ("", ())
        if types and (not isinstance(value, types) or isinstance(value, bool) != (kind == _BOOLEAN)):
            return f"{name} is {json.dumps(value)[:100]}, and {words} is declared"
        allowed = declared.get("enumValues")
        if isinstance(allowed, list) and str(value) not in allowed:
            return f"{name} is {json.dumps(value)[:100]}, which is not among the declared values"
        if kind != _OBJECT or not isinstance(value, dict) or depth >= _DEEPEST:
            return ""
        properties = {str(_first(item, "name")): item for item in _documents(declared, "properties")}
        for key in value:
            if key not in properties:
                return f'{name} has the property "{key}", which is not declared'
        required = declared.get("required")
        for key in required if isinstance(required, list) else ():
            types_of = _documents(properties.get(str(key), {}), "dataTypeMetadata")
            if str(key) not in value and types_of and _first(types_of[0], "isNullable") is not True:
                return f'{name} has no property "{key}"'
        problems = (
            self._property_problem(values, kinds[0], f"{name}/{key}", depth + 1)
            for key, values in value.items()
            if (kinds := _documents(properties[key], "dataTypeMetadata"))
        )
        return next(filter(None, problems), "")


_AGENT_RULES: Final = (ERROR_CODE, CANCELLED, TWO_CALLERS)


def _is_denied(answer: LiveAnswer) -> bool:
    """Return whether Android, and not the app, refused a call."""
    event = answer.event
    return event is not None and (event.kind == "refused" or event.fields.get("code") == _DENIED)


def _ended_as(answer: LiveAnswer) -> str:
    if answer.event is None:
        return "the call does not end"
    refusal = str(answer.event.fields.get("message", answer.event.kind))
    return error_text(answer) or next(iter(answer_texts(answer)), refusal)


def _end_of(printed: str, exit_status: int) -> _End:
    if printed == _TIMED_OUT:
        return "silence"
    if exit_status == 0 and printed.startswith("{"):
        try:
            parse_json(printed, path="result")
        except InputError:
            return "error"
        return "result"
    return "error"


def _sample(declared: _Document) -> Json:
    allowed = declared.get("enumValues")
    kind = _first(declared, "type")
    if isinstance(allowed, list) and allowed:
        return allowed[0] if kind == _STRING else int(str(allowed[0]))
    return _SAMPLES.get(kind, "droidgate") if isinstance(kind, int) else "droidgate"


def check_functions(
    device: Device,
    package: str,
    declared: Mapping[str, str],
    calls: Mapping[str, Mapping[str, Json]],
    *,
    agents: tuple[AgentClient, AgentClient],
    lend: Callable[[AgentClient], str],
    user: int,
    seconds: float,
) -> Iterator[RuleCheck]:
    """Yield what each rule says of an app's functions.

    Args:
        device: The phone.
        package: The app.
        declared: Why Android's release leaves a function out, empty where it lists it, by the ids that the
            app's files declare.
        calls: Calls that may be carried out, the arguments by function.
        agents: The apps that call.
        lend: Lets one of them call app functions; returns why it cannot, empty where it can.
        user: For whom the app is installed.
        seconds: How long an answer may take.

    Raises:
        UsageError: the app does not declare the function of a call.
        DeviceError: the phone fails.
    """
    run = _Run(device, package, user, seconds)
    shell = app_function_shell(device)
    if not shell.lists or "--timeout-duration" not in shell.commands.get("execute-app-function", ()):
        reason = shell.reason or "the shell of this build does not list functions and print their results"
        yield from (run.unchecked(rule, reason) for rule in RULES.values())
        return
    end = time.monotonic() + _INDEXING_SECONDS
    run.list()
    expected = {name for name, reason in declared.items() if not reason}
    while not expected <= run.functions.keys() and time.monotonic() < end:
        time.sleep(1.0)
        run.list()
    missing = [name for name in declared if name not in run.functions]
    reason = declared[missing[0]] or "by the rules of its release it would be" if missing else ""
    problem = f"{missing[0]} is not listed: {reason}" if missing else ""
    listed = tuple(run.functions)
    verdict: CheckVerdict = "failed" if problem else "passed"
    yield RuleCheck(INDEXED, package, _TRANSPORT, verdict, problem, (shlex.join(_LIST),), listed)
    for name in calls:
        if name not in run.functions and name not in declared:
            raise UsageError(f'unknown function "{name}" of {package}', hint=suggest_name(name, listed))
    arguments_by_function = {name: arguments for name, arguments in calls.items() if name in run.functions}
    yield from run.checks(arguments_by_function)
    yield from run.checks_by_agents(agents, arguments_by_function, lend)

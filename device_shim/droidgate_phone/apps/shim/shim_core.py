"""The shim's process: requests to the engine, its effects to what carries them out, what it keeps on disk in
addition to grants, and what of a route's target is installed (shim.md 5).

Everything here runs on the main thread.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_phone.apps.shim.caller_grants import POLICY, ROUTES, GrantStore, Origin
from droidgate_phone.java.app_values import AndroidError, PackageFacts, XmlAttributeText, XmlNode
from droidgate_phone.java.intents import ComponentName
from droidgate_phone.system.behaviour import AppFiles, Context, Platform
from droidgate_shim.engine.authority import Carrier, parse_policy
from droidgate_shim.engine.backends import BackendAnswer, ExtrasCall, write_answer, write_outgoing
from droidgate_shim.engine.engine import Answer, Ask, Drop, Effect, Engine, Send, refuse
from droidgate_shim.engine.requests import read_incoming
from droidgate_shim.engine.responses import answer_journal_entry, write_journal_entry
from droidgate_shim.engine.routes import FunctionBackend, RouteTable, Target, parse_route_table
from droidgate_shim.engine.strict_json import BUILT, parse_strict, write_strict

MOST_CALLS: Final = 200
_SETTINGS: Final = "switches.json"
_HISTORY: Final = "history.json"
_JOURNAL: Final = "journal.json"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of the history: never its arguments or its result.

    Attributes:
        time: When it came, in ms since 1970.
        caller: The package that called, None for one that Android does not name.
        capability: What was asked for; empty where that could not be read.
        token: The failure's, None for a success.
        milliseconds: How long it took.
    """

    time: int
    caller: str | None
    capability: str
    token: str | None
    milliseconds: int

    def as_json(self) -> dict[str, Json]:
        """Return it as the host sees it."""
        return {
            "time": self.time,
            "caller": self.caller,
            "capability": self.capability,
            "token": self.token,
            "ms": self.milliseconds,
        }


class Settings:
    """Which capabilities are switched off, and whether the user is asked."""

    def __init__(self, files: AppFiles, built_off: frozenset[str]) -> None:
        self._files = files
        saved = _read(files, _SETTINGS)
        values: Mapping[str, Json] = saved if isinstance(saved, dict) else {}
        off = values.get("switched_off")
        self.switched_off = {str(item) for item in off} if isinstance(off, list) else set(built_off)
        self.asking = values.get("asking") is not False

    def switch(self, capability: str, *, on: bool) -> None:
        """Switch a capability on or off."""
        (self.switched_off.discard if on else self.switched_off.add)(capability)
        self._save()

    def ask(self, *, on: bool) -> None:
        """Have the user asked, or not."""
        self.asking = on
        self._save()

    def _save(self) -> None:
        values: dict[str, Json] = {"switched_off": sorted(self.switched_off), "asking": self.asking}
        self._files.write(_SETTINGS, write_strict(values).encode())


class History:
    """The last calls."""

    def __init__(self, files: AppFiles) -> None:
        self._files = files
        saved = _read(files, _HISTORY)
        self._calls: list[Json] = list(saved) if isinstance(saved, list) else []

    def add(self, record: CallRecord) -> None:
        """Remember a call; the oldest beyond 200 are forgotten."""
        self._calls = [*self._calls, record.as_json()][-MOST_CALLS:]
        self._save()

    def all(self) -> Sequence[Json]:
        """Return the calls, oldest first."""
        return tuple(self._calls)

    def clear(self) -> None:
        """Forget all."""
        self._calls = []
        self._save()

    def _save(self) -> None:
        self._files.write(_HISTORY, write_strict(self._calls).encode())


class Journal:
    """The calls that are open, so that those of a process that died can be answered."""

    def __init__(self, files: AppFiles) -> None:
        self._files = files
        saved = _read(files, _JOURNAL)
        self._left = [write_strict(item) for item in saved] if isinstance(saved, list) else []
        self._written: list[str] = []

    def take(self, entry: str) -> bool:
        """Take an entry of the previous process; return false if it does not exist."""
        if entry not in self._left:
            return False
        self._left.remove(entry)
        return True

    def forget_left(self) -> None:
        """Drop the entries that were not taken again."""
        self._left = []

    def keep(self, entries: Sequence[str]) -> None:
        """Keep the entries of the calls that are open now."""
        all_entries = [*self._left, *entries]
        if all_entries == self._written:
            return
        self._written = all_entries
        parsed = [parse_strict(item, path=_JOURNAL) for item in all_entries]
        self._files.write(_JOURNAL, write_strict(parsed).encode())


def _read(files: AppFiles, name: str) -> Json:
    content = files.read(name)
    if content is None:
        return None
    try:
        return parse_strict(content.decode(), path=name, limits=BUILT)
    except (InputError, UnicodeDecodeError):
        return None


_MMCP_META: Final = "mMCP_manifest"
_MOBILE_MCP_META: Final = "mobile.mcp.tool.capabilities"
_NOTHING: Final = ""


class TargetReader:
    """Reports what is installed to the engine; digests are worked out once for each version of a package.

    Args:
        table: The routes, with the component of each target's descriptor.
        platform: Where packages are looked up.
    """

    def __init__(self, table: RouteTable, platform: Platform) -> None:
        self._platform = platform
        self._components: dict[Target, ComponentName] = {}
        self._digests: dict[tuple[str, str, ComponentName | None], str] = {}
        self._discovered: dict[tuple[ComponentName, str], str] = {}
        for prepared in table.routes.values():
            backend = prepared.route.backend
            component = (
                None if isinstance(backend, FunctionBackend) else ComponentName.parse(backend.component)
            )
            if component is not None:
                self._components.setdefault(prepared.route.target, component)

    def __call__(self, target: Target, /) -> Target | None:
        """Return what is installed of a target's package, None where it is not."""
        found = self._platform.find_package(target.package)
        if found is None:
            return None
        signer = target.signer if target.signer in found.signers else ",".join(found.signers)
        return Target(
            package=found.name,
            signer=signer,
            version_code=found.version_code,
            digest=self._digest(target, found),
        )

    def to_discover(self, target: Target) -> ComponentName | None:
        """Return the component that has to be asked before the target can be compared, None for no one."""
        component = self._components.get(target)
        found = self._platform.find_package(target.package)
        if not target.digest.startswith("broadcast:") or component is None or found is None:
            return None
        return None if (component, found.code_path) in self._discovered else component

    def discovered(self, component: ComponentName, digest: str) -> None:
        """Remember the digest of what a receiver answered, for as long as its package is not changed."""
        found = self._platform.find_package(component.package)
        if found is not None:
            self._discovered[component, found.code_path] = digest

    def _digest(self, target: Target, found: PackageFacts) -> str:
        recipe = target.digest.rpartition(":")[0]
        component = self._components.get(target)
        if recipe == "broadcast":
            known = None if component is None else self._discovered.get((component, found.code_path))
            return f"broadcast:{known or _NOTHING}"
        key = (recipe, found.code_path, component)
        if key not in self._digests:
            content = self._content(recipe, found.name, component)
            hashed = _NOTHING if content is None else hashlib.sha256(content).hexdigest()
            self._digests[key] = f"{recipe}:{hashed}"
        return self._digests[key]

    def _content(self, recipe: str, package: str, component: ComponentName | None) -> bytes | None:
        if recipe.startswith("assets(") and recipe.endswith(")"):
            names = recipe.removeprefix("assets(").removesuffix(")").split(",")
            return b"".join(self._platform.read_asset(package, name) or b"" for name in names)
        if component is None:
            return None
        if recipe == "mmcp":
            return self._mmcp(component)
        return self._capabilities(component) if recipe == "mobile-mcp" else None

    def _mmcp(self, component: ComponentName) -> bytes | None:
        found = self._platform.find_meta_data(component, _MMCP_META)
        reference = None if found is None else found.resource or found.raw_value
        if reference is not None and reference.startswith("@raw/"):
            return self._platform.read_raw_resource(component.package, reference)
        if reference is not None and reference.startswith("@xml/"):
            return self._events(component.package, reference)
        return str(found.value).encode() if found is not None and found.value is not None else None

    def _capabilities(self, component: ComponentName) -> bytes | None:
        found = self._platform.find_meta_data(component, _MOBILE_MCP_META)
        reference = None if found is None else found.resource or found.raw_value
        return None if reference is None else self._events(component.package, reference)

    def _events(self, package: str, reference: str) -> bytes | None:
        root = self._platform.read_xml(package, reference)
        return None if root is None else "".join(_events_of(root)).encode()


def _events_of(node: XmlNode) -> Iterator[str]:
    yield f"<{node.name}"
    for attribute in sorted(node.attributes, key=lambda attribute: (attribute.namespace, attribute.name)):
        yield f" {_qualified(attribute)}={write_strict(attribute.value)}"
    yield ">"
    for child in node.children:
        if isinstance(child, XmlNode):
            yield from _events_of(child)
        elif child.strip():
            yield write_strict(child.strip())
    yield f"</{node.name}>"


def _qualified(attribute: XmlAttributeText) -> str:
    return f"{{{attribute.namespace}}}{attribute.name}" if attribute.namespace else attribute.name


_LEFT_SECONDS: Final = 30.0
"""How long after a restart the journal of before is kept for those who come again."""

MOST_WAITING: Final = 64
"""Requests that wait for a discovery before the engine takes them."""

MOST_WAITING_OF_CALLER: Final = 8
"""Those of one caller."""

_BUSY: Final = "busy"
_FULL: Final = Failure(_BUSY, "this app has too many requests waiting; retry in 1 s")
_CALLER_GONE: Final = Failure("canceled", "the app that called has stopped")

Deliver = Callable[[Mapping[str, str], str | None], None]
"""Takes an answer's extras and the failure's token, None for a success."""


@dataclass(slots=True, eq=False)
class Receipt:
    """One request that came in, and where its answer goes; the engine's `reply_to`.

    Attributes:
        carrier: How it came.
        origin: Its caller.
        capability: What it asks for; empty where that cannot be read.
        began: When it came, in seconds.
        deliver: Takes its answer.
        call: The engine's call, once it is open.
        stage: How far it has come: `waiting`, `window` (the window that calls its app is not open) or `app`.
        trace: What went to the app and came from it (shim.md 7); None where nobody wants to know.
        is_answered: Its answer has gone.
        on_end: What runs after its answer.
    """

    carrier: Carrier
    origin: Origin
    capability: str
    began: float
    deliver: Deliver
    call: int | None = None
    stage: str = "waiting"
    trace: dict[str, Json] | None = None
    is_answered: bool = False
    on_end: list[Callable[[], None]] = field(default_factory=list)


class Core(ABC):
    """One process of one shim, without what carries out the engine's effects (`process.ShimProcess`).

    Attributes:
        context: Its context.
        table: The routes.
        app: What the policy holds for the app.
        engine: The engine.
        grants: What the user granted.
        settings: Switches.
        history: The last calls.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.platform = context.platform
        policy_text = _asset(context, POLICY)
        policy = parse_policy(policy_text)
        document = parse_strict(policy_text, path=POLICY, limits=BUILT)
        app = document.get("app") if isinstance(document, dict) else None
        self.app: Mapping[str, Json] = app if isinstance(app, dict) else {}
        self.table: RouteTable = parse_route_table(_asset(context, ROUTES))
        self.grants = GrantStore(context.files)
        self.settings = Settings(context.files, policy.switched_off)
        self.history = History(context.files)
        self.journal = Journal(context.files)
        self.targets = TargetReader(self.table, self.platform)
        self.engine = Engine(self.table, policy, self.targets)
        self._waiting: list[Receipt] = []
        self._traced: dict[int, Receipt] = {}
        self._cancel_timer: Callable[[], None] | None = None
        self.platform.after(_LEFT_SECONDS, self._forget_left)

    @abstractmethod
    def ask_user(self, ask: Ask, receipt: Receipt) -> Failure | None:
        """Ask the user about a call; return why nobody is asked, None where the user is."""

    @abstractmethod
    def discover(self, component: ComponentName, then: Callable[[], None]) -> None:
        """Ask a receiver for its tools, and go on when it has answered or does not."""

    @abstractmethod
    def send(self, send: Send, receipt: Receipt) -> None:
        """Bring a call to its backend."""

    def now(self) -> int:
        """Return the phone's time in ms."""
        return round(self.context.now() * 1000)

    def receive(
        self,
        carrier: Carrier,
        origin: Origin,
        extras: Mapping[str, Json],
        deliver: Deliver,
        *,
        approved: bool = False,
        caller_token: str | None = None,
        obstacle: Failure | None = None,
        trace: dict[str, Json] | None = None,
    ) -> Receipt:
        """Receive a request.

        Args:
            carrier: How it came.
            origin: Its caller.
            extras: What came.
            deliver: Takes its answer.
            approved: It needs no grant.
            caller_token: The caller's Messenger; when its process dies, the call ends.
            obstacle: Why it goes no further than its rate, such as an answer that could not be sent.
            trace: Gets what goes to the app and comes from it, until the answer.
        """
        receipt = Receipt(carrier, origin, "", self.context.now(), deliver, trace=trace)
        refused = self.engine.admit(self.now(), carrier, origin.uid, extras, receipt)
        if refused:
            self.carry_out(refused)
            return receipt
        request = read_incoming(carrier, extras).request
        receipt.capability = "" if request is None else request.capability_id
        if obstacle is not None:
            self._answer(receipt, {}, obstacle.token)
        elif caller_token is None or self._watch(receipt, caller_token):
            self._prepare(receipt, extras, approved=approved)
        return receipt

    def _watch(self, receipt: Receipt, caller_token: str) -> bool:
        """End a call when its caller's process dies; return whether that process lives."""
        try:
            unlink = self.platform.link_to_death(caller_token, lambda: self.end(receipt, _CALLER_GONE))
        except AndroidError:
            self.end(receipt, _CALLER_GONE)
            return False
        receipt.on_end.append(unlink)
        return True

    def _prepare(self, receipt: Receipt, extras: Mapping[str, Json], *, approved: bool) -> None:
        """Hand a request to the engine, after its target was asked where only that knows its descriptor."""

        def go_on() -> None:
            if receipt.is_answered:
                return
            self._take_off(receipt)
            self._use_policy(receipt)
            effects = self.engine.receive(
                self.now(),
                receipt.carrier,
                receipt.origin.uid,
                extras,
                receipt,
                approved=approved,
                asks=self.settings.asking,
            )
            self.carry_out(effects)

        component = self._to_discover(receipt)
        if component is None or not (approved or self.settings.asking or self._may_have_grant(receipt)):
            go_on()
        elif self._has_room(receipt):
            self._waiting.append(receipt)
            receipt.on_end.append(lambda: self._take_off(receipt))
            self.discover(component, go_on)
        else:
            self.carry_out([refuse(receipt.carrier, extras, receipt, _FULL)])

    def _has_room(self, receipt: Receipt) -> bool:
        caller = (receipt.carrier, receipt.origin.uid)
        own = [other for other in self._waiting if (other.carrier, other.origin.uid) == caller]
        return len(own) < MOST_WAITING_OF_CALLER and len(self._waiting) < MOST_WAITING

    def _take_off(self, receipt: Receipt) -> None:
        if receipt in self._waiting:
            self._waiting.remove(receipt)

    def _may_have_grant(self, receipt: Receipt) -> bool:
        policy = self.grants.policy_for(receipt.origin, ())
        return policy.is_granted(receipt.carrier, receipt.origin.uid, receipt.capability, is_read_only=True)

    def _use_policy(self, receipt: Receipt) -> None:
        self.engine.use_policy(self.grants.policy_for(receipt.origin, self.settings.switched_off))

    def carry_out(self, effects: list[Effect]) -> None:
        """Do what the engine decided, and set the next deadline.

        A call is in the journal before it goes out, and until it is answered.
        """
        self._keep_journal()
        for effect in effects:
            receipt = effect.reply_to
            if not isinstance(receipt, Receipt):
                continue
            if isinstance(effect, Answer):
                self._answer(receipt, effect.extras, effect.token)
            elif isinstance(effect, Drop):
                self._answer(receipt, {}, effect.failure.token)
            elif isinstance(effect, Ask):
                receipt.call = effect.call
                self._ask(effect, receipt)
            else:
                receipt.call = effect.call
                self._keep_sent(effect, receipt)
                self.send(effect, receipt)
        self._settle()

    def _keep_sent(self, send: Send, receipt: Receipt) -> None:
        """Take note of what goes to an app."""
        receipt.stage = "app"
        if receipt.trace is None:
            return
        backend, outgoing = send.backend, send.outgoing
        receipt.trace |= {
            "to": send.target.package if isinstance(backend, FunctionBackend) else backend.component,
            "id": outgoing.request_id if isinstance(outgoing, ExtrasCall) else None,
            "sent": write_outgoing(outgoing),
            "origin": receipt.origin.extras(),
            "answers": [],
        }
        self._traced[send.call] = receipt

        def forget() -> None:
            del self._traced[send.call]

        receipt.on_end.append(forget)

    def _ask(self, ask: Ask, receipt: Receipt) -> None:
        refusal = self.ask_user(ask, receipt)
        if refusal is not None:
            self.decided(receipt, refusal)

    def decided(self, receipt: Receipt, refusal: Failure | None) -> None:
        """Take the user's decision about a call: None for a yes, else its failure."""
        call = receipt.call
        if call is None:
            return

        def go_on() -> None:
            self._use_policy(receipt)
            self.carry_out(self.engine.decided(self.now(), call, refusal))

        # Its app may have been updated while the user was asked.
        component = None if refusal is not None else self._to_discover(receipt)
        if component is None:
            go_on()
        else:
            self.discover(component, go_on)

    def _to_discover(self, receipt: Receipt) -> ComponentName | None:
        """Return the component that has to be asked before a request's target can be compared."""
        prepared = self.table.routes.get(receipt.capability)
        return None if prepared is None else self.targets.to_discover(prepared.route.target)

    def may_leave(self, send: Send, receipt: Receipt) -> bool:
        """Check a call for the last time, just before it leaves this app; end one that may not."""
        if receipt.is_answered:
            return False
        policy = self.grants.policy_for(receipt.origin, self.settings.switched_off)
        try:
            send.permission.check(policy, self.targets(send.target))
        except CallError as error:
            self.fail(send.call, error.failure.token, error.failure.text)
            return False
        return True

    def _answer(self, receipt: Receipt, extras: Mapping[str, str], token: str | None) -> None:
        if receipt.is_answered:
            return
        receipt.is_answered = True
        if token != _BUSY:
            elapsed = round((self.context.now() - receipt.began) * 1000)
            began = round(receipt.began * 1000)
            self.history.add(CallRecord(began, receipt.origin.name, receipt.capability, token, elapsed))
        receipt.deliver(extras, token)
        for end in receipt.on_end:
            end()

    def answered(self, call: int, answer: BackendAnswer) -> None:
        """Take a backend's answer, which changes nothing if it is late."""
        traced = self._traced.get(call)
        if traced is not None and traced.trace is not None:
            traced.trace["answers"].append(write_answer(answer))
        self.carry_out(self.engine.answered(self.now(), call, answer))

    def fail(self, call: int, token: str, message: str) -> None:
        """End a call that could not be brought to its backend."""
        traced = self._traced.get(call)
        if traced is not None and traced.trace is not None:
            traced.trace["answers"].append({"failure": {"token": token, "message": message}})
        self.carry_out(self.engine.fail(self.now(), call, Failure(token, message)))

    def end(self, receipt: Receipt, failure: Failure) -> None:
        """End a request, also one that the engine has not taken."""
        if receipt.call is not None:
            self.carry_out(self.engine.fail(self.now(), receipt.call, failure))
        else:
            self._answer(receipt, {}, failure.token)

    def interrupt(self, extras: Mapping[str, Json]) -> Mapping[str, str] | None:
        """Return the answer to a request that the process of before did not finish; None for any other."""
        request = read_incoming("start", extras).request
        entry = None if request is None else write_journal_entry(request)
        if entry is None or not self.journal.take(entry):
            return None
        self.journal.keep(self.engine.journal())
        return answer_journal_entry(entry)

    def open_count(self) -> int:
        """Return how many calls are open."""
        return self.engine.open_count()

    def _settle(self) -> None:
        self._keep_journal()
        if self._cancel_timer is not None:
            self._cancel_timer()
            self._cancel_timer = None
        deadline = self.engine.next_deadline()
        if deadline is not None:
            self._cancel_timer = self.platform.after((deadline - self.now()) / 1000, self._expire)

    def _keep_journal(self) -> None:
        """Write the journal where the set of open calls has changed."""
        self.journal.keep(self.engine.journal())

    def _expire(self) -> None:
        self.carry_out(self.engine.expire(self.now()))

    def _forget_left(self) -> None:
        self.journal.forget_left()
        self.journal.keep(self.engine.journal())


def _asset(context: Context, path: str) -> str:
    return (context.read_raw(path) or b"").decode()

"""Search mode: three tools instead of hundreds, for clients whose model would be given all of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from droidgate.serving.call_outcomes import failed_call, failure_of
from droidgate.serving.tool_documents import BETWEEN_WORDS, LABEL_END, LABEL_START
from droidgate.serving.tools import (
    ListChange,
    ResourceContent,
    ServedTool,
    ToolCall,
    ToolOutcome,
    ToolProvider,
    ToolSnapshot,
    UnknownToolError,
)
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.text.nearest_names import closest_name
from droidgate_mappings.text_safety import one_line
from droidgate_mappings.values.coercion import argument_problems, fit_arguments
from droidgate_mappings.values.failures import first_of
from droidgate_mcp.format import HANDSHAKE, MODERN
from droidgate_mcp.wire import McpToolResult, result_text

MANY_TOOLS: Final = 40
"""Above it search mode is the default: clients take 40 to 128 tools (reference style-and-peers 2.1)."""

_MOST_FOUND: Final = 20
_USUALLY_FOUND: Final = 5
_TOKENIZER: Final = "porter unicode61 remove_diacritics 2"
_RANKED: Final = "SELECT rowid, bm25(tools, 3, 1, 0.3) FROM tools WHERE tools MATCH ?"
"""The weights are those of a tool's name, description and members."""
_RELATED_WEIGHT: Final = 0.5
_MOST_WORDS: Final = 64
"""Words of a query that are searched for."""
_MOST_APPS: Final = 50
_OF_DIGITS_OR_NOT: Final = re.compile(r"\d+|\D+")

_STOP_WORDS: Final = """
    a about after all am an and any app are as at be but by can could d did do does for from get give had has
    have he her here his how i if in into is it its just let ll m may me my need no not of on one or our out
    please re s she should so some t than that the their them then there these they this those to too tool
    tools up us use used uses ve want was we were what when where which who why will with would you your
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""What a query is searched without, unless it has nothing else."""

# A tool is found by the words in its own texts. Users, and models that pass their words on, have others: the
# weather answers how hot it is. A group has words of which one may stand for another in what a phone does;
# they count less than the words of the query itself. They follow the categories of an app shop.
_RELATED: Final = """
    weather forecast temperature warm warmer warmest hot heat cold rain umbrella snow sun sunny wind
    storm, weather outside outdoors degrees hot cold, air quality smog pollution, map route directions
    navigate way, trip journey travel tour, taxi cab ride lift, car vehicle auto drive, park parked
    parking garage, traffic jam congestion commute, train bus tram subway metro transit station stop,
    flight fly plane airline airport, hotel accommodation lodging room stay night, gas petrol fuel,
    place location where nearby near close around, restaurant eat food meal dinner lunch breakfast dish
    hungry pizza, recipe cook bake ingredients, drink water coffee tea, shopping groceries supermarket
    cart basket, product item goods article, parcel package delivery deliver shipment, order reorder
    purchase, refund return back, reserve reservation book booking, ticket seat, alarm wake timer
    countdown stopwatch seconds minutes, alarm ringing beeping sounding, calendar event appointment
    meeting meet schedule agenda diary, remind reminder remember, time clock hour, duration long length,
    deadline due overdue late expire, free available slot, invite attendee guest participant, message
    text sms chat conversation, mail email inbox letter, spam junk, newsletter promo mailing, call phone
    dial ring facetime, contact person people friend, mother mom father dad parent family relative,
    block ban harass, share send forward, reply answer respond, write compose draft, note memo jot
    write, todo task chore errand job, list checklist, done finish complete tick mark check, pending
    open left remaining unfinished outstanding incomplete, important urgent priority critical, category
    tag label folder group, archive away, summary summarize overview statistics stats figures report,
    document file paper pdf contract, page sheet, merge join combine glue unite, split divide separate,
    sign signature autograph, convert transform export turn, picture image photo selfie snap snapshot
    screenshot camera capture, video clip film record footage, lens front rear selfie, flash torch
    flashlight, zoom closer magnify, crop cut trim remove, text words say content extract copy, find
    search look locate query, get show read view see display fetch, list every available, add create new
    make insert, delete remove erase clear discard drop, change edit update modify set adjust switch
    correct fix, undo revert restore recover, cancel abort dismiss, reset restart over anew zero, move
    transfer shift, rename name title call, save keep store later bookmark, favourite favorite like love
    star heart, pin top, on enable activate, off disable stop deactivate, lock unlock secure, play watch
    listen hear, stop pause halt, resume continue keep, next skip forward ahead, previous back backward
    rewind, repeat loop again, speed slow slower fast faster quick, volume loud louder quiet silent
    silence mute sound noise, music song musical album track tune melody, artist band singer, playlist
    queue, film movie cinema, series serial season show, episode podcast feed, kids child children
    family cartoon, sport football soccer match game basketball tennis, esports cyber gaming, workout
    exercise training run running jog gym activity, bike bicycle cycling, step walk distance far, heart
    pulse, sleep rest asleep, weight weigh kilogram kilo pound, calorie meal ate eat, medicine pill
    medication, news politics political headline article story happened, live stream broadcast, channel
    station tv television, subscribe subscription follow, unsubscribe unfollow, popular trending trends,
    recent latest newest last, history past previous earlier, best top highest most maximum, lowest
    least minimum, home main start, settings preferences configure options, size font bigger smaller
    larger, bright brighter brightness dim light lamp, dark night theme, heating thermostat temperature
    warm warmer, vacuum hoover clean, door gate, disturb bother interrupt, wifi internet network
    wireless online connection data, hotspot tether, money pay spend spent expense cost price euro
    dollar buy transaction transfer account savings bank, balance money funds account, income salary
    earn earning wage, bill invoice, fare estimate price cost, card debit credit, cash atm withdraw,
    clock punch attendance check office work shift, job vacancy opening career position employer, score
    points total leaderboard rank, count number many amount total, word vocabulary learn language
    translate, define definition meaning mean, lesson course teach learn study, quiz test exam practice,
    phone device model battery android version, battery charge power, app application program package,
    open launch start run, tap click touch press push, type enter input, swipe scroll drag, screen
    display, wait sleep, increase increment count counter, decrease decrement subtract, author creator
    channel, verse chapter scripture holy recite, rid throw trash bin toss delete remove, put place add
    set move, pull bring show open, jump go seek navigate position, log record track register, lookup
    look check find get, pick choose select option, swap exchange replace substitute, join enter
    participate, leave exit quit close, hide conceal invisible, reveal unhide visible, copy duplicate
    clone, paste insert, sort order arrange, filter narrow only, compare difference versus, attach
    attachment upload, download offline, import load, backup export, print printer, scan qr barcode,
    login sign account register, password pin passcode code, translate translation foreign, caption
    subtitle, quality resolution hd, cast tv, portrait blur bokeh, panorama wide, timer delay delayed
    self countdown, beauty filter effect, ratio aspect square, burst shots, slow motion, front mirror
    selfie, wallet cash money, deposit income earn received, owe debt loan borrow lend, merchant payee
    store shop, currency dollar euro exchange, flashcard card memorize vocabulary word learn, revise
    review practice train, progress streak achievement statistics, subtask step, assign owner, project
    plan, prayer pray worship, chapter verse passage scripture bible quran surah ayah, recite recitation
    read aloud, insult swear curse rude offend nasty mean, tally count counter score bump plus, points
    score goal mark, shift attendance work office job clock arrive, yesterday date day past, button
    element control icon, keyboard key type, title name heading call called, body content text, tag
    label hashtag, reopen restore unarchive bring back, flag star mark important, idea thought note,
    checkbox tick check item, item entry row thing, temperature thermometer celsius fahrenheit hot cold,
    rainy rain umbrella wet precipitation, climate weather, place city location town, tomorrow forecast
    week, warmest hottest, now current currently, mistake wrong correct fix edit, twice again repeat,
    whole entire full all, convert turn into change, image picture png jpg, combine together merge join
    one, length long size pages, channel broadcaster station network, programme show program, binge
    series episode, league match game team sport, concert music gig, stream live watch, recommend
    suggestion recommended, trending popular hot viral, author creator maker artist, comment reply, like
    thumbs, watch later saved, history watched viewed, skip forward ahead seconds, rewind back seconds,
    speed faster slower rate, finish end stop
"""
RELATED_WORDS: Final = tuple(" ".join(group.split()) for group in _RELATED.split(","))
"""Groups of words, separated by spaces; a word may be in several."""

_QUESTION_WORDS: Final = frozenset(
    ["any", "are", "did", "does", "how", "is", "what", "when", "where", "which", "who"]
)
_READING_WORDS: Final = ["check", "find", "get", "list", "query", "read", "search", "show"]
"""Words in the names of tools that answer a question; those that change something seldom have one."""
_QUESTION_WEIGHT: Final = 0.5

_NAME: Final[dict[str, Json]] = {"type": "string", "description": "Name of a tool, as find_tools gives it"}
_SCHEMAS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "find_tools": (
        "Find tools of the phone's apps by words. Returns names and the apps' own descriptions.",
        {
            "query": {
                "type": "string",
                "minLength": 1,
                "description": "Words that the tool may have, with synonyms, such as: create new note memo",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": _MOST_FOUND,
                "default": _USUALLY_FOUND,
                "description": "How many to return",
            },
        },
    ),
    "describe_tool": ("Return a tool's description and the JSON Schema of its arguments.", {"name": _NAME}),
    "call_tool": (
        "Call a tool of an app.",
        {
            "name": _NAME,
            "arguments": {
                "type": "object",
                "default": {},
                "description": "By the schema that describe_tool returns",
            },
        },
    ),
}


class SearchTools:
    """A provider whose three tools find, describe and call those of another.

    Args:
        inner: Has the tools.
        always: Whether the three are served. None serves the others themselves until there are more than
            `MANY_TOOLS`, and the three from then on.
    """

    def __init__(self, inner: ToolProvider, *, always: bool | None = True) -> None:
        self._inner = inner
        self._mode = always
        self._announced = False
        self._index: tuple[ToolSnapshot, ToolIndex] | None = None

    @property
    def is_searched(self) -> bool:
        """Whether the three tools are served; once they are, they stay."""
        if self._mode is None and len(self._inner.snapshot().tools) > MANY_TOOLS:
            self._mode = True
        return bool(self._mode)

    @property
    def instructions(self) -> str | None:
        """The instructions of the other provider, and how to find a tool."""
        inner = self._inner.instructions
        if self._mode is False:
            return inner
        condition = "" if self.is_searched else "If there is a tool find_tools: "
        return f"{inner or ''}\n{condition}Find a tool with find_tools, then call it with call_tool."

    @asynccontextmanager
    async def run(self, on_change: Callable[[ListChange], None]) -> AsyncIterator[None]:
        """Keep the other's snapshot up to date; the three tools never change."""

        def forward(change: ListChange) -> None:
            if change == "tools":
                before, self._announced = self._announced, self.is_searched
                if before and self._announced:
                    return
            on_change(change)

        async with self._inner.run(forward):
            self._announced = self.is_searched
            yield

    def snapshot(self) -> ToolSnapshot:
        """Return the tools that are served now, and the other's resources."""
        inner = self._inner.snapshot()
        return ToolSnapshot(_TOOLS, inner.resources) if self.is_searched else inner

    async def read_resource(self, uri: str, client: str) -> ResourceContent:
        """Return the content of one of the other's resources."""
        return await self._inner.read_resource(uri, client)

    async def call(self, call: ToolCall) -> ToolOutcome:
        """Find, describe or call a tool; a client may know the others' names from before."""
        if call.tool not in _SCHEMAS or not self.is_searched:
            return await self._inner.call(call)
        capability = Capability(id=call.tool, input=read_schema(_input_schema(call.tool))[0])
        problems = argument_problems(call.arguments, capability, {})
        if problems:
            return failure_of(first_of(problems))
        arguments: Mapping[str, Any] = fit_arguments(call.arguments, capability, {}).values
        if call.tool == "find_tools":
            tools = self._find(arguments["query"], arguments.get("limit", _USUALLY_FOUND))
            return ToolOutcome(McpToolResult(canonical_json(tools) if tools else self._nothing_found()))
        name = arguments["name"]
        if call.tool == "describe_tool":
            known = self._inner.snapshot().by_name
            if (tool := known.get(name)) is None:
                closest = closest_name(name, known)
                question = "" if closest is None else f"did you mean {closest!r}? "
                message = f"/name: unknown tool {name!r}\nhint: {question}find names with find_tools"
                return failed_call("invalid_argument", message)
            return ToolOutcome(McpToolResult(canonical_json(dict(tool.documents[MODERN]))))
        try:
            outcome = await self._inner.call(
                replace(call, tool=name, arguments=arguments.get("arguments", {}))
            )
        except UnknownToolError as error:
            return failed_call("invalid_argument", f"/name: {error}")
        # call_tool declares no output, so the value is a text.
        text = result_text(outcome.result.value, outcome.declared)
        return replace(outcome, result=replace(outcome.result, value=text), declared=None)

    def _find(self, query: str, limit: int) -> list[Json]:
        snapshot = self._inner.snapshot()
        if self._index is None or self._index[0] is not snapshot:
            self._index = snapshot, ToolIndex(snapshot.tools)
        matches: list[Json] = []
        for tool, *others in self._index[1].find(query, limit):
            twins: list[Json] = [twin.name for twin in others]
            matches.append(
                {
                    "name": tool.name,
                    "description": tool.documents[MODERN].get("description", ""),
                    **({"same_on_other_phones": twins} if twins else {}),
                }
            )
        return matches

    def _nothing_found(self) -> str:
        """Return a text for a query that finds nothing: tools are found by words, and apps have names."""
        apps = sorted({one_line(tool.group) for tool in self._inner.snapshot().tools})
        more = f" and {len(apps) - _MOST_APPS} more" if len(apps) > _MOST_APPS else ""
        listed = ", ".join(apps[:_MOST_APPS]) + more
        return f"No tool has these words. Use synonyms, or the name of an app: {listed or 'none'}"


class ToolIndex:
    """Finds tools by the words of their names, titles, descriptions, parameters and results.

    SQLite ranks them by BM25 over stems of English words. Words that are related to those of the query count,
    too, but less. For a question, tools count more whose names say that they read.
    """

    def __init__(self, tools: Sequence[ServedTool]) -> None:
        # Most servers have so few tools that they are never searched.
        import sqlite3

        self._tools = tools
        self._database = sqlite3.connect(":memory:")
        for table, columns in (("tools", "name, description, members"), ("related", "words")):
            self._database.execute(
                f"CREATE VIRTUAL TABLE {table} USING fts5({columns}, tokenize='{_TOKENIZER}')"
            )
        texts = [_texts_of(tool) for tool in tools]
        self._database.executemany(
            "INSERT INTO tools (rowid, name, description, members) VALUES (?, ?, ?, ?)",
            ((number, *text) for number, text in enumerate(texts)),
        )
        groups = ((group,) for group in RELATED_WORDS)
        self._database.executemany("INSERT INTO related (words) VALUES (?)", groups)

    def find(self, query: str, limit: int) -> list[list[ServedTool]]:
        """Return the tools that have a word of the query or a related one, the best first.

        Tools that are one capability on several phones are together.
        """
        every = list(dict.fromkeys(_words(query)))
        words = ([word for word in every if word not in STOP_WORDS] or every)[:_MOST_WORDS]
        scores: defaultdict[int, float] = defaultdict(float)
        for weight, searched_words in ((1.0, words), (_RELATED_WEIGHT, self._related(words))):
            for number, score in self._scores(_any_of(searched_words)).items():
                scores[number] += weight * score
        if every and every[0] in _QUESTION_WORDS:
            reading = self._scores(f"name: ({_any_of(_READING_WORDS)})")
            for number in reading.keys() & scores.keys():
                scores[number] += _QUESTION_WEIGHT * reading[number]
        tools_by_capability: dict[str, list[ServedTool]] = {}
        for number in sorted(scores, key=lambda number: (-scores[number], number)):
            tool = self._tools[number]
            tools_by_capability.setdefault(tool.capability or tool.name, []).append(tool)
        return list(tools_by_capability.values())[:limit]

    def _related(self, words: Sequence[str]) -> list[str]:
        rows = self._database.execute("SELECT words FROM related WHERE related MATCH ?", (_any_of(words),))
        return list(dict.fromkeys(word for (group,) in rows for word in group.split()))

    def _scores(self, expression: str) -> dict[int, float]:
        rows = self._database.execute(_RANKED, (expression,))
        # The best of SQLite's figures is the least.
        return {number: -score for number, score in rows}


def _any_of(words: Iterable[str]) -> str:
    """Return a query of SQLite; words are letters and digits, so none can end its quotes."""
    return " OR ".join(f'"{word}"' for word in words) or '""'


def _texts_of(tool: ServedTool) -> tuple[str, ...]:
    """Return the words of a tool's name, description and members, with spaces between them."""
    document: Mapping[str, Any] = tool.documents[MODERN]
    description = str(document.get("description", ""))
    if description.startswith(LABEL_START):
        description = description.partition(LABEL_END)[2]
    members = [text for name in ("inputSchema", "outputSchema") for text in _texts_in(document.get(name))]
    texts = (f"{tool.name} {tool.group}", description, " ".join(members))
    return tuple(" ".join(_words(text)) for text in texts)


def _texts_in(schema: Any) -> Iterator[str]:
    """Yield the names, texts and choices in a schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from _texts_in(item)
    elif isinstance(schema, Mapping):
        for name, value in schema.items():
            if name == "properties" and isinstance(value, Mapping):
                yield from value
                yield from _texts_in(list(value.values()))
            elif name in {"description", "enum"}:
                yield from map(str, value if isinstance(value, list) else [value])
            else:
                yield from _texts_in(value)


def _words(text: str) -> list[str]:
    """Return the words in lower case: `createNotes` is `create` and `notes`, `w2` is `w` and `2`."""
    return [part.lower() for word in BETWEEN_WORDS.split(text) for part in _OF_DIGITS_OR_NOT.findall(word)]


def _input_schema(name: str) -> dict[str, Any]:
    properties = _SCHEMAS[name][1]
    required = [member for member, schema in properties.items() if "default" not in schema]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _tool(name: str) -> ServedTool:
    document: dict[str, Json] = {
        "name": name,
        "title": name.replace("_", " ").capitalize(),
        "description": _SCHEMAS[name][0],
        "inputSchema": _input_schema(name),
    }
    if name != "call_tool":
        document["annotations"] = {"readOnlyHint": True, "openWorldHint": False}
    return ServedTool(name, {HANDSHAKE: document, MODERN: document})


_TOOLS: Final = tuple(map(_tool, _SCHEMAS))

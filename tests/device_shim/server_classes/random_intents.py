"""Random arguments of `am`, filters with intents that may match them, and texts that may be URIs."""

import contextlib
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any
from xml.sax.saxutils import quoteattr

from droidgate.devices.activities import intent_arguments, start_command
from droidgate_app_actions.read import read_file
from droidgate_app_actions.shell_calls import AppActionShellCalls
from droidgate_app_actions.shim_backend import AppActionBackend as ShimBackend
from droidgate_app_actions.url_templates import LinkError, fill_template
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.installed import DeviceFacts
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.formats.shell_calls import NotCarriedError, ScreenStart, ShellCall
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_shim.engine.routes import AppActionBackend
from droidgate_shim.engine.screen_starts import write_start

_NUMBERS = (
    "0", "1", "-1", "+5", "0x1F", "0X1f", "#1f", "-#1", "-0x80000000", "010", "08", "09", "2147483647",
    "2147483648", "-2147483648", "9223372036854775807", "9223372036854775808", "1.5", "", " 1", "1 ", "1_0",
    "٣", "-", "+", "--1", "0x", "1e3", "NaN", "Infinity", "-Infinity", "0x1p3", "1f", "1d", ".5", "1.",
    "3.5e38", "1e400", "\t2\n", "-0", "-0.0", "abc", "1L", "0.1", "16777217", "infinity", "nan",
    "0.001", "1e-4", "1e7", "123456.75", "1.5e300", "100.0", "3.4028235e38", "1e-45",
    "0" * 99 + "7", "9" * 99,
)  # fmt: skip
_BOOLEANS = ("true", "TRUE", "t", "T", "false", "F", "0", "1", "0x0", "yes", "", "2", "-1", "tRUE", " true")
_TEXTS = ("a", "", "a b", "é", "😀", "x=y;z", "%20", "a,b", "a\\,b", "\\", "'", '"', "\n", "-a", "null")
_LISTS = ("", ",", "1", "1,2", "1,,2", ",1", "1,", "1,,", "a,b", "a\\,b,c", "\\,", ",\\,", "0x10,010", "1, 2")
_NAMES = ("k", "key", "a.b", "", "é", "k")
_COMPONENTS = (
    "com.x/.Y", "com.x/com.x.Y", "com.x/com.z.Y", "com.x/Y", "com.x/", "/", "/.Y", "com.x", "", "com.x/.",
    "a/b/c", "com.x/.Y/Z", "com.x/com.x.", "com.x/com.x", "x/.x.y", "com.x/com.xy.Z", "com.x/.a.B",
)  # fmt: skip
_TYPES = (
    "text/plain", "TEXT/plain", "*/*", "text/*", "image/*", "image/png", "a", "", "text/", "*",
    "text/plain; charset=x", "/", "/png",
)  # fmt: skip
_SCHEMES = (
    "http", "HTTP", "https", "tel", "content", "file", "mailto", "x+y", "intentx", "ftp", "sms", "rtsp",
    "data", "geo",
)  # fmt: skip
_HOSTS = (
    "h", "H", "example.com", "www.example.com", "WWW.Example.com", "", "u@h", "u:p@h:80", "h:80", "h:",
    "h:x", "[::1]:8", "a@b@c", "h%20i", "h%3A8", "é",
)  # fmt: skip
_PATHS = (
    "", "/", "/a", "/a/b", "/a%20b", "/a b", "/aaa", "/ab.c", "/é", "/a//b", "/A", "/a;b", "/a:b", "/%",
    "/a%2Fb", "/a\\b", "/\\a", "/[a]", "/a1", "/a.b", "/aXb", "/a*b", "/abab",
)  # fmt: skip
_ENDS = ("", "?", "?q=1", "#f", "?q#f", "#f?q", "?a/b", "#")
_ODD_URIS = (
    "", ":", "::", "a", "a/b:c", "a?b:c", "#a:b", "?", "//h", "//h/p", "///p", "http:", "http:/", "http:/p",
    "http://", "http:///p", "http:p", "tel:12/3", "tel:+49 (30)-1@x.y", "mailto:a@b.c?d", "sip:x", "SMS:1",
    "1a:b", "é:b", "http://[::1", "http:\\\\h\\p", "http://a\\@b", "x y:z", "a:b:c", ":a",
    "http://u:p@h:8/p?q#f", "nfc:1-2", "smsto:12", "TEL:12", "data:text/plain,a", "package:com.x",
    "file:///a/b", "content://com.x/a/1", "content://10@com.x/a", "ftp://h", "RTSP://u@h:1/a",
    "geo:0,0?q=a", "a\nb:c",
)  # fmt: skip
_ACTIONS = ("a.B", "android.intent.action.VIEW", "", "é b", "android.intent.action.MAIN")
_CATEGORIES = ("c", "android.intent.category.DEFAULT", "", "c2", "c")
_FLAGS = (
    "--grant-read-uri-permission", "--grant-write-uri-permission", "--grant-persistable-uri-permission",
    "--grant-prefix-uri-permission", "--debug-log-resolution", "--exclude-stopped-packages",
    "--include-stopped-packages", "--activity-brought-to-front", "--activity-clear-top",
    "--activity-clear-when-task-reset", "--activity-exclude-from-recents",
    "--activity-launched-from-history", "--activity-multiple-task", "--activity-no-animation",
    "--activity-no-history", "--activity-no-user-action", "--activity-previous-is-top",
    "--activity-reorder-to-front", "--activity-reset-task-if-needed", "--activity-single-top",
    "--activity-clear-task", "--activity-task-on-home", "--activity-match-external",
    "--receiver-registered-only", "--receiver-replace-pending", "--receiver-foreground",
    "--receiver-no-abort", "--receiver-include-background", "--activity-launch-adjacent",
)  # fmt: skip
_ODD_OPTIONS = ("-aX", "-axyz", "--bogus", "-", "--", "-nfoo/.B", "--es", "-a", "word", "-f0x10", "-x")
_BASES = (
    "com.x", "", "é", "com.x/.Y", "com.x/Y", "/", "a/", "http://h/p", "a:b", ":", "com.x/.Y:z", "-",
    "tel:1",
)  # fmt: skip


def _uri(random: Random) -> str:
    if random.random() < 0.3:
        return random.choice(_ODD_URIS)
    slashes = "//" if random.random() < 0.85 else ""
    scheme = random.choice(_SCHEMES) + ":" if random.random() < 0.95 else ""
    return scheme + slashes + random.choice(_HOSTS) + random.choice(_PATHS) + random.choice(_ENDS)


def random_uri(random: Random) -> dict[str, Any]:
    """Return a text that may be a URI."""
    return {"uri": _uri(random)}


_VALUES = {
    "-a": _ACTIONS, "-t": _TYPES, "-c": _CATEGORIES, "-n": _COMPONENTS, "-p": ("com.x", "", "é"),
    "-i": ("id", ""), "-f": _NUMBERS,
}  # fmt: skip
_EXTRAS = {
    "-e": _TEXTS, "--es": _TEXTS, "--ei": _NUMBERS, "--el": _NUMBERS, "--ef": _NUMBERS, "--ed": _NUMBERS,
    "--ez": _BOOLEANS, "--esa": _LISTS, "--eia": _LISTS, "--ela": _LISTS,
}  # fmt: skip


def _own_option(random: Random) -> list[str]:
    user = random.choice(("0", "all", "10", "-1", "x", "", "+0", "٣"))
    return random.choice((["-W"], ["-S"], ["--user", user]))


def _option(random: Random) -> list[str]:
    kind = random.randrange(20)
    if kind < 8:
        name = random.choice(list(_VALUES))
        return [name, random.choice(_VALUES[name])]
    if kind < 10:
        return ["-d", _uri(random)]
    if kind < 16:
        name = random.choice(list(_EXTRAS))
        return [name, random.choice(_NAMES), random.choice(_EXTRAS[name])]
    if kind < 17:
        return ["--esn", random.choice(_NAMES)]
    if kind < 19:
        return [random.choice(_FLAGS)] if random.random() < 0.7 else _own_option(random)
    return [random.choice(_ODD_OPTIONS)]


def random_command(random: Random) -> dict[str, Any]:
    """Return a command as droidgate writes it, with any text in it, and the intent that is meant."""
    package = random.choice((None, "com.x"))
    component = random.choice((None, "com.x/.Y", "com.x/com.z.Y"))
    action = random.choice((None, "a.B", "android.intent.action.VIEW"))
    data = random.choice((None, _uri(random)))
    texts = (*_TEXTS, *_NUMBERS, *_ODD_OPTIONS, *_BASES, *_EXTRAS, *_FLAGS)
    strings = {random.choice(texts): random.choice(texts) for _ in range(random.randrange(4))}
    fields: dict[str, Any] = {"component": component, "package": package, "action": action, "data": data}
    if not any(value is not None for value in fields.values()):
        fields["package"] = "com.x"
    words = start_command(intent_arguments(**fields, strings=strings))
    component_text = component and (component.replace("/.", "/com.x.") if "/." in component else component)
    extras = {name: ["String", text] for name, text in strings.items()}
    meant = {**fields, "component": component_text, "extras": extras}
    return {"intent": words[2:], "meant": {**meant, "user": 0, "wait": True, "rest": None, "error": None}}


def random_link(random: Random) -> dict[str, Any]:
    """Return the link of an App Action with any text in it, and the parts that are meant."""
    texts = (*_TEXTS, *_NUMBERS, *_HOSTS, *_PATHS, *_ENDS, *_ODD_URIS, *_BASES)
    while True:
        values = {"a": random.choice(texts), "b": random.choice(texts) + random.choice(texts)}
        end = random.choice(("{?b}", "?b={b}", "?c=1{&b}"))
        # What would move the path is refused.
        with contextlib.suppress(LinkError):
            link, _ = fill_template("https://example.com/p/{a}" + end + "#f", values)
            meant = {"scheme": "https", "host": "example.com", "path": "/p/" + values["a"], "b": values["b"]}
            return {"uri": link, "meant": meant}


_PIECES = (
    "", "/", "/a", "?x=1", "#f", "%41", "%", "é", " ", "..", "/..", "/.", "{", ";end", "#Intent;S.x=1;end",
    "{a}", "{?a}", "{&a}", "{a,b}", "{?a,b}", "{b}", "{#a}", "{c}",
)  # fmt: skip
_NAMED = ("Ulm", "İ", "STRASSE", "straße", "ΑΣ", "ας", "%2e%2e", "a/../b", "+*~&=?", "@x:y\n", "\u2028", "..")


def random_screen(random: Random) -> tuple[Provider, Mapping[str, str]]:
    """Return a declared App Action with any text in it, and arguments of a call."""
    texts = (*_TEXTS, *_HOSTS, *_PATHS, *_ODD_URIS, *_NAMED)

    def attribute(*choices: str) -> str:
        return quoteattr("".join(each for each in random.choice(choices) if each >= " "))

    def fulfilment() -> str:
        link = random.choice(("https://h", "weather://x", "x:", "", "content://a", "tel:"))
        link = quoteattr(link + "".join(random.choices(_PIECES, k=random.randrange(5))))
        keys = random.sample(("a", "b", "c d", "S.x;end"), random.randrange(4))
        return (
            f"<intent android:action={attribute('a.B', *texts)} android:targetPackage='org.app' "
            f"android:targetClass={attribute('org.app.M', 'org.app.a b', 'org.app.M;end')}>"
            + (f"<url-template android:value={link}/>" if random.random() < 0.7 else "")
            + f"<extra android:key={attribute(*texts)} android:value={attribute(*texts)}/>"
            + "".join(
                f"<parameter android:name='thing.{key[0]}' android:key={quoteattr(key)} "
                f"android:required='{random.choice(('true', 'false'))}'/>"
                for key in keys
            )
            + "</intent>"
        )

    listed = "".join(
        f"<shortcut android:shortcutId={attribute(*texts)} android:shortcutShortLabel={attribute(*texts)}>"
        "<capability-binding android:key='c.SHOW'><parameter-binding android:key='thing.a' "
        f"android:value={attribute(*texts)}/></capability-binding></shortcut>"
        for _ in range(random.randrange(3))
    )
    capability = f"<capability android:name='c.SHOW'>{fulfilment()}{fulfilment()}</capability>"
    android = "xmlns:android='http://schemas.android.com/apk/res/android'"
    declared = f"<shortcuts {android}>{capability}{listed}</shortcuts>"
    (provider,) = read_file(SourceFile("s.xml", declared.encode()), ReadingContext()).providers
    provider = provider.model_copy(update={"package": "org.app"})
    names = random.sample(("a", "b", "c d", "S.x;end"), 3)
    return provider, {name: random.choice(texts) for name in names}


def shell_start(provider: Provider, capability: Capability, given: Mapping[str, str]) -> ScreenStart | None:
    """Return what droidgate has Android's shell start for an App Action, None where it refuses the call."""
    with contextlib.suppress(NotCarriedError):
        call = ShellCall(provider, capability, given, DeviceFacts("36"), 30)
        return AppActionShellCalls().write(call)
    return None


def random_started(random: Random) -> dict[str, Any]:
    """Return the intent that a shim starts for an App Action, as text, and the one that is meant."""
    while True:
        provider, given = random_screen(random)
        (capability,) = provider.capabilities
        meant = shell_start(provider, capability, given)
        if meant is not None:
            target = ShimBackend().target(provider, capability)
            text = write_start(AppActionBackend.model_validate(target), given)
            shown: dict[str, Any] = {
                "action": meant.action or "", "component": meant.component, "data": meant.data,
                "extras": {name: ["String", each] for name, each in meant.extras.items()},
            }  # fmt: skip
            return {"started": text, "meant": {**shown, "flags": 0x10008000, "categories": []}}


def random_arguments(random: Random) -> dict[str, Any]:
    """Return the arguments of an intent, with their extras, in any order, damaged or not."""
    words = [word for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4, 6))) for word in _option(random)]
    if random.random() < 0.4:
        words.append(random.choice(_BASES))
        if random.random() < 0.2:
            words.append("more")
    if words and random.random() < 0.06:
        del words[random.randrange(len(words))]
    return {"intent": words}


_GLOBS = (
    "", "/", "/a", "/a*", "/.*", ".*", "/a.*b", "/a\\*b", "/a*b", "*", ".", "/a\\", "/.", "/a.b", "/.*b",
    "/.*/b", "/a*.*", "\\/a", "/a.*c.*d", "/é.*", "/..", "a*b*",
)  # fmt: skip
_FILTER_HOSTS = ("h", "H", "*", "*.example.com", "*example.com", "example.com", "www.*", "")
_ADVANCED = (
    "/[a-c]+", "/a{2,3}", "/[^a]", "/.", "/a{3}", "/.*", "/[a1]*", "/a+b?", "/\\[a\\]", "/a{2,}",
    "/[ab]{4}", "/[a&&b|~-]+", "/[\\[]",
)  # fmt: skip


def _pattern(random: Random) -> tuple[str, str]:
    kind = random.choice(("literal", "prefix", "suffix", "glob", "glob", "advanced"))
    return kind, random.choice(_ADVANCED if kind == "advanced" else _GLOBS if kind == "glob" else _PATHS)


def _some(random: Random, words: Sequence[str], counts: Sequence[int]) -> list[str]:
    return [random.choice(words) for _ in range(random.choice(counts))]


def _filter(random: Random) -> dict[str, Any]:
    hosts = _some(random, _FILTER_HOSTS, (0, 0, 1, 1, 2))
    return {
        "actions": _some(random, ("a.B", "a.C", ""), (0, 1, 1, 1, 2)),
        "categories": _some(random, ("c", "d", "android.intent.category.DEFAULT"), (0, 1, 2)),
        "schemes": _some(random, ("http", "https", "HTTP", "content", "file", "tel", ""), (0, 1, 1, 1, 2)),
        "hosts": [[host, random.choice((None, None, "80", "8"))] for host in hosts],
        "types": _some(random, ("text/plain", "text/*", "*/*", "image/png", "TEXT/plain"), (0, 0, 1, 2)),
        "paths": [_pattern(random) for _ in range(random.choice((0, 0, 1, 1, 2)))],
        "specific_parts": [_pattern(random)] if random.random() < 0.15 else [],
        "priority": random.choice((0, 0, 0, 5, -5)),
    }


def _random_intent(random: Random, of: dict[str, Any], wildcards: Sequence[str]) -> dict[str, Any]:
    """Return an intent that often matches a filter."""
    intent = {
        "action": random.choice(("a.B", "a.B", "a.B", "a.C", None, "", *wildcards)),
        "asked": _some(random, ("c", "d", "e"), (0, 0, 0, 1)),
        "type": random.choice((None, None, None, *_TYPES)),
        "data": random.choice((None, None, _uri(random), _uri(random))),
    }
    if random.random() < 0.6 and of["schemes"]:
        host, port = random.choice(of["hosts"] or [["h", None]])
        place = host.replace("*", random.choice(("www", ""))) + (f":{port}" if port else "")
        path = random.choice(of["paths"] or [("", "/a")])[1].replace("*", "a").replace("\\", "")
        paths = (path, path, random.choice(_PATHS), *("/*" for _ in wildcards))
        schemes, places = (of["schemes"][0], *wildcards), (place, *wildcards)
        parts = ((f"{random.choice(schemes)}:",), ("//", "//", "//", ""), places, paths, _ENDS)
        intent["data"] = "".join(map(random.choice, parts))
    if random.random() < 0.5:
        intent["type"] = random.choice(of["types"] or [None])
    return intent


def random_match(random: Random) -> dict[str, Any]:
    """Return a filter and an intent that often matches it, with or without wildcards in the intent."""
    wildcards = ["*"] if random.random() < 0.3 else []
    declared = _filter(random)
    return {"filter": declared, "wildcards": bool(wildcards), **_random_intent(random, declared, wildcards)}


def random_resolution(random: Random) -> dict[str, Any]:
    """Return components with their filters, and an intent that often finds some."""
    components: list[dict[str, Any]] = []
    for _ in range(3):
        filters = [_filter(random) for _ in range(random.choice((1, 1, 2, 3)))]
        if random.random() < 0.7:
            filters[-1] |= {"actions": ["a.B"], "schemes": [], "specific_parts": []}
        app, system = random.choice(("com.x", "com.x", "com.a")), random.random() < 0.2
        components.append({"app": app, "system": system, "filters": filters})
    intent = _random_intent(random, random.choice(random.choice(components)["filters"]), [])
    if random.random() < 0.5:
        intent |= {"data": None, "asked": []}
    package = random.choice((None, "com.x"))
    return {"components": components, "package": package, "only_default": random.random() < 0.3, **intent}

"""Random commands of `cmd app_function`: what its options and its JSON can be, damaged or not."""

from random import Random

# Left out: purge-allowlist-cache and dump, which ask what is not in the jar, and what the phone refuses.
_VERBS = (
    *["execute-app-function"] * 8,
    *["set-enabled", "is-enabled", "list-app-functions"] * 3,
    "grant-app-function-access", "revoke-app-function-access", "list-valid-agents", "list-valid-targets",
    "set-additional-allowlisted-agents", "clear-additional-allowlisted-agents",
    "enable-allowlist", "disable-allowlist", "frob", "help", "-h", "", "EXECUTE-APP-FUNCTION",
)  # fmt: skip
_USERS = (
    "0", "current", "cur", "all", "-2", "-1", "10", "abc", "+0", "00", "0x0", "٣", "2147483648", "-10000", "",
    " 0", "0 ",
)  # fmt: skip
_SECONDS = ("1", "0", "-1", "1.5", "abc", "+5", "9223372036854775808", "٣", "", "05", "5s", "30")
_STATES = ("enable", "disable", "default", "Enable", "enabled", "", "1")
_VALUES = {
    "--user": _USERS,
    "--state": _STATES,
    "--timeout-duration": _SECONDS,
}
_OPTIONS = (
    *_VALUES, "--package", "--function", "--parameters", "--page-size", "--bogus",
    "-p", "-ux", "extra", "--", "-", "--agent-package", "--user=0",
)  # fmt: skip
_NUMBERS = (
    "0", "-0", "1", "-1", "1.0", "-0.0", "1.5", "1e3", "1E-3", "1e400", "-1e400", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "0x1F", "010", "08", "1.", ".5",
    "+1", "1_0", "NaN", "Infinity", "-Infinity", "1e16", "1e19", "123456789012345680", "0.1", "1e-7",
    "100000000.0", "1L", "1f", "1d", "٣", "2147483648", "1e7", "12345678.9", "4.9e-324",
)  # fmt: skip
_STRINGS = (
    "", "a", "a b", "é", "😀", "\\u00e9", "\\n", "\\/", "/", "</x>", "\\ud83d", "\\u0000", "\\u2028",
    "\u2028", "\\x", "\\u12", "\x7f", "a: b", "- a", "# c", "true", "null", "1", "1.0", "'", '\\"', "\\t",
    "\\b", "multi\\nline", " lead", "\u3000lead", "trail ", "{", "[a]", "*x", "&x", "!t", "%p", "@", "`",
    "a,b", "~", "yes", "a|b", "a>b", "?q",
)  # fmt: skip
_NAMES = (
    "a", "b", "n", "", "a b", "id", "é", "a.b", "a[0]", "zz", "creationTimestampMillis", "x:y", "\\u0061",
    "androidAppfunctionsReturnValue", ".", "a]", "a[", "a[x]", "a[-1]", "a[1].b", "a[0]b", "a[0].",
)  # fmt: skip
_BROKEN = (
    "", " ", "{", "}", "[]", "[1]", "null", '"s"', "1", "nul", "{a", "//", "/*", "/* c */ {}", "# c\n{}",
    "// c\n{}", "\ufeff{}", "{}x", "{} {}", ")]}'\n{}", '{"a":1}//', '{"a"', "\t{}\r\n",
)  # fmt: skip


def _often(random: Random, usual: str, *others: str, of: int) -> str:
    """Return the usual text, or once in so many times another."""
    return random.choice(others) if random.randrange(of) == 0 else usual


def _string(random: Random) -> str:
    quote = _often(random, '"', "'", of=10)
    return quote + random.choice(_STRINGS) + quote


def _scalar(random: Random) -> str:
    words = ("true", "false", "null", "TRUE", "Null", "nil", "undefined", "bare")
    return random.choice((_string(random), _string(random), random.choice(_NUMBERS), random.choice(words)))


def _array(random: Random, depth: int) -> str:
    kind, count = random.randrange(20), random.randrange(5)
    if kind < 6:
        items = [_string(random) for _ in range(count)]
    elif kind < 12:
        items = [random.choice(_NUMBERS) for _ in range(count)]
    elif kind < 14:
        items = [random.choice(("true", "false")) for _ in range(count)]
    elif kind < 17:
        items = [_object(random, depth + 1) for _ in range(count)]
    else:
        items = [_value(random, depth + 1) for _ in range(count)]
    separator = _often(random, ",", ";", ", ", of=3)
    return "[" + separator.join(items) + _often(random, "", ",", of=5) + "]"


def _object(random: Random, depth: int = 0) -> str:
    entries = []
    for _ in range(random.choice((0, 1, 1, 2, 3, 5)) if depth < 3 else 0):
        name = _often(random, '"{}"', "{}", "'{}'", of=7).format(random.choice(_NAMES))
        between = _often(random, ":", ": ", " : ", "=", "=>", "", of=3)
        entries.append(name + between + _value(random, depth + 1))
    return "{" + _often(random, ",", ", ", ";", of=3).join(entries) + _often(random, "", ",", of=9) + "}"


def _value(random: Random, depth: int) -> str:
    kind = random.randrange(20)
    if kind < 11 or depth > 3:
        return _scalar(random)
    return _array(random, depth) if kind < 17 else _object(random, depth)


def _parameters(random: Random) -> str:
    text, kind = _object(random), random.randrange(20)
    if kind < 15:
        return text
    if kind < 16:
        return random.choice(_BROKEN)
    at = random.randrange(len(text) + 1)
    return text[:at] if kind < 18 else text[:at] + random.choice("{}[]\",:;=/\\#'x1 ") + text[at:]


def _known_options(random: Random, verb: str) -> list[list[str]]:
    options = [["--package", "p"], ["--function", _often(random, "f", "fail", of=5)]]
    if verb == "set-enabled":
        options.append(["--state", random.choice(_STATES)])
    if verb != "execute-app-function":
        return [*options, ["--user", random.choice(_USERS)]]
    options.append(["--parameters", _parameters(random)])
    for share, option in (
        (0.15, ["--user", random.choice(_USERS)]),
        (0.15, ["--timeout-duration", random.choice(_SECONDS)]),
    ):
        if random.random() < share:
            options.append(option)
    return options


def random_command(random: Random) -> tuple[str, ...]:
    """Return the arguments of one `cmd app_function`."""
    verb = random.choice(_VERBS)
    shares = {"execute-app-function": 0.85, "set-enabled": 0.5, "is-enabled": 0.5}
    if random.random() < shares.get(verb, 0):
        options = _known_options(random, verb)
        random.shuffle(options)
        return (verb, *(word for option in options for word in option))
    words = [verb]
    for _ in range(random.randrange(5)):
        option = random.choice(_OPTIONS)
        words.append(option)
        if random.random() < 0.8:
            words.append(random.choice(_VALUES.get(option, ("p", "com.x", "", "0", "--x", "{}"))))
    return tuple(words)


_Options = dict[str, tuple[str, ...] | None]
_APPS = (
    "com.x", "com.x", "com.x", "com.none", "", "é", "com.x/.Activity", "com.x/com.x.Service", "com.none/.A",
    "com.x/.No", "x/",
)  # fmt: skip
_SESSIONS = ("7", "7", "7", "8", "x", "", "٣", "2147483648", "0x7", "-7")
_LENGTHS = ("7", "0", "-1", "x", "", "9223372036854775808", "0x10", "٣")
_PLACES = (
    "1", "2.5", "-3", "1e2", "x", "", "NaN", "1f", "0x1p3", "٣", "1_0", " 4 ", "Infinity", "1d",
)  # fmt: skip
_KEYS = (
    "KEYCODE_HOME", "3", "HOME", "x", "", "-1", "999", "2000", "٣", "+4", "KEYCODE_3", "home", "66", "04",
    "KEYCODE_KEYCODE_A", "a",
)  # fmt: skip
_USER: _Options = {"--user": _USERS}
# The action says how what is behind the shell answers.
_INTENT: _Options = {
    "-a": (
        "Activity", "Service", "Receiver", "a.B", "result.3", "result.2", "result.1", "result.-1",
        "result.-91", "result.-92",
    ),
    "-n": ("com.x/.Activity", "com.x/.Service", "com.x/.Receiver", "com.none/.A", "com.x/.No", "bad"),
    "--esn": ("k",), "-i": ("id",), "-f": ("0x20", "x"), **_USER,
}  # fmt: skip
_START: _Options = {**_INTENT, "-W": None}
_QUERY: _Options = {**_INTENT, "--brief": None, "--components": None, "--query-flags": ("0", "x")}
_INSTALL: _Options = {
    "-S": _LENGTHS, "-i": ("com.x", ""), "-p": ("com.x", "com.none"),
    **_USER,
    **dict.fromkeys(
        (
            "-r", "-R", "-t", "-d", "-g", "-f", "-l", "-q", "-s", "--full", "--dont-kill",
            "--force-sdk", "--skip-verification", "--skip-enable", "--update-ownership", "--non-staged",
            "--restrict-permissions", "--streaming", "--bypass-low-target-sdk-block",
            "--force-queryable", "--force-verification", "--ignore-dexopt-profile",
        )
    ),
}  # fmt: skip
_LISTED: _Options = {
    "--uid": ("10000", "x", "1"), **_USER,
    **dict.fromkeys(
        (
            "-d", "-e", "-f", "-i", "-s", "-3", "-U", "-a", "-l", "-u", "-q", "--show-versioncode",
            "--match-libraries", "--factory-only", "--apex-only", "--show-stopped",
        )
    ),
}  # fmt: skip
_GRANT: tuple[_Options, tuple[tuple[str, ...], ...]] = (
    {**_USER, "--all-permissions": None},
    (_APPS, ("android.permission.POST_NOTIFICATIONS", "android.permission.POST_NOTIFICATIONS", "a.B", "")),
)
_OPERATION = ("SYSTEM_ALERT_WINDOW", "RUN_IN_BACKGROUND", "RUN_ANY_IN_BACKGROUND", "x")
_STARTS = (
    "start", "start-activity", "startservice", "start-service", "start-foreground-service", "stopservice",
    "startforegroundservice", "startfgservice", "start-fg-service", "stop-service", "broadcast",
)  # fmt: skip
SHELLS: dict[str, dict[str, tuple[_Options, tuple[tuple[str, ...], ...]]]] = {
    "pm": {
        "path": (_USER, (_APPS,)),
        "list": ({}, (("packages", "package", "features", "x", "users"),)),
        "list packages": (_LISTED, (("com", "com.x", "none", ""),)),
        "install": (_INSTALL, (("-", "/data/none.apk"), ("-", "/data/b.apk"))),
        "install-create": (_INSTALL, ()),
        "install-write": ({"-S": _LENGTHS}, (_SESSIONS, ("base.apk", ""), ("-", "/data/none.apk"))),
        "install-commit": ({}, (_SESSIONS,)),
        "install-abandon": ({}, (_SESSIONS,)),
        "uninstall": ({"-k": None, "--versionCode": ("7", "x"), **_USER}, (_APPS, ("split",))),
        "clear": ({"--cache-only": None, **_USER}, (_APPS,)),
        **dict.fromkeys(("enable", "disable", "disable-user"), (_USER, (_APPS,))),
        "grant": _GRANT,
        "revoke": _GRANT,
        "query-activities": (_QUERY, (("com.x", "a:b", "com.x/.Activity"),)),
        **dict.fromkeys(("query-services", "query-receivers", "resolve-activity"), (_QUERY, ())),
    },
    "am": {
        **dict.fromkeys(_STARTS, (_START, ())),
        "start -S": (_START, ()),
        **dict.fromkeys(("force-stop", "kill"), (_USER, (_APPS,))),
        "get-current-user": ({}, ()),
    },
    "input": {
        "tap": ({}, (_PLACES, _PLACES)),
        "swipe": ({}, (*(_PLACES,) * 4, ("0", "300", "-5", "x", "1.5", "٣"))),
        "draganddrop": ({}, (*(_PLACES,) * 4, ("0", "x"))),
        "keyevent": ({"--doubletap": None, "--async": None, "--delay": ("0", "x")}, (_KEYS, _KEYS)),
        "-d": ({}, (("0", "-1", "x", "default_display"), ("tap", "keyevent"), ("1", "x"), ("2",))),
        "touchscreen": ({}, (("tap", "swipe", "keyevent"), ("1", "x"), ("2",))),
        **dict.fromkeys(("roll", "scroll", "motionevent", "keycombination"), ({}, (("1",),))),
    },
    "appops": {
        "set": (
            {**_USER, "--uid": None},
            (_APPS, _OPERATION, ("allow", "deny", "ignore", "default", "foreground", "0", "1", "-1", "x")),
        ),
    },
}  # fmt: skip
"""Verbs of each service's shell, with their options, whose values are listed, and arguments."""


def random_shell_command(random: Random, shell: str) -> list[str]:
    """Return the words of a command of a service's shell, now and then with one too many or too few."""
    if random.random() < 0.02:
        return random.choice((["frob"], [""], ["-z", "x"], ["HELP"]))
    verb = random.choice(list(SHELLS[shell]))
    options, arguments = SHELLS[shell][verb]
    words = verb.split()
    for option in random.sample(list(options), min(len(options), random.choice((0, 0, 1, 1, 2, 3)))):
        words.append(option)
        values = options[option]
        if values is not None and random.random() < 0.95:
            words.append(random.choice(values))
    count = len(arguments) if random.random() < 0.7 else random.randrange(len(arguments) + 1)
    words += [random.choice(argument) for argument in arguments[:count]]
    if random.random() < 0.06:
        odd = ("--bogus", "-z", "--", "-", "word", "--user", "-h", "-Sx", "--user=0")
        words.insert(random.randrange(1, len(words) + 1), random.choice(odd))
    return words[:-1] if random.random() < 0.06 and len(words) > 1 else words

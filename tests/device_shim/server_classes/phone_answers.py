"""What the virtual phone answers to the questions of `random_intents`, in the form of Android's answers."""

from typing import Any, cast

from droidgate_phone.commands.activity_commands import read_start
from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader
from droidgate_phone.java.intents import Extra, Intent
from droidgate_phone.java.java_text import java_double, java_float
from droidgate_phone.java.uris import Uri
from droidgate_phone.system.intent_text import show_bundle, show_intent
from droidgate_phone.system.manifests import DataRule, InstalledComponent, InstalledFilter
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.resolver import MATCH_DEFAULT_ONLY, find_match, in_android_order, match_filter

_CLASSES = {
    "string": "String", "int": "Integer", "long": "Long", "float": "Float", "double": "Double",
    "boolean": "Boolean", "string[]": "String[]", "int[]": "int[]", "long[]": "long[]",
}  # fmt: skip
Question = dict[str, Any]


def _value_of(extra: Extra) -> list[object] | None:
    value = extra.value
    if value is None:
        return None
    text: object = str(value)
    if isinstance(value, tuple):
        text = [str(item) for item in value]
    elif isinstance(value, bool):
        text = text.lower() if isinstance(text, str) else text
    elif isinstance(value, float):
        text = (java_float if extra.kind == "float" else java_double)(value)
    return [_CLASSES[extra.kind], text]


def parse_arguments(question: Question) -> Question:
    """Return what `am` reads of arguments, and the first that is left, or what is thrown."""
    reader = ArgumentReader(question["intent"])
    try:
        start = read_start(reader)
    except ArgumentError as error:
        return {"error": f"{error.exception}: {error.message}"}
    intent = start.intent
    values = intent.extras.values
    has_array = any(isinstance(extra.value, tuple) for extra in values.values())
    return {
        "text": show_intent(intent),
        "action": intent.action,
        "data": intent.data,
        "type": intent.mime_type,
        "identifier": intent.identifier,
        "package": intent.package,
        "flags": intent.flags,
        "component": None if intent.component is None else intent.component.flatten(),
        "categories": list(intent.categories),
        "extras": {key: _value_of(extra) for key, extra in values.items()},
        "bundle": show_bundle(intent.extras) if values and not has_array else None,
        "wait": start.wait,
        "stop": start.stop,
        "user": start.user,
        "rest": reader.next(),
    }


def meant(question: Question) -> Question:
    """Return what a command or a link of droidgate is for."""
    return cast("Question", question["meant"])


def split_uri(question: Question) -> Question:
    """Return the parts of a URI."""
    uri = Uri(question["uri"])
    names = ("scheme", "authority", "host", "port", "path", "scheme_specific_part", "safe_text")
    return {name: getattr(uri, name) for name in names}


def _intent(question: Question) -> Intent:
    return Intent(
        question["action"],
        package=question.get("package"),
        categories=tuple(question["asked"]),
        data=question["data"],
        mime_type=question["type"],
    )


def _filter(declared: Question) -> InstalledFilter:
    rule = DataRule(
        schemes=tuple(declared["schemes"]),
        hosts=tuple((host, int(port) if port else None) for host, port in declared["hosts"]),
        paths=tuple(declared["paths"]),
        specific_parts=tuple(declared["specific_parts"]),
        types=tuple(declared["types"]),
    )
    return InstalledFilter(
        tuple(declared["actions"]), tuple(declared["categories"]), rule, declared["priority"]
    )


def match(question: Question) -> int | None:
    """Return the number of a match, None for none."""
    return match_filter(_intent(question), _filter(question["filter"]), wildcards=question["wildcards"])


class _Package:
    def __init__(self, declared: Question) -> None:
        self.name, self.system = declared["app"], declared["system"]


def resolve(question: Question) -> list[list[int]]:
    """Return number, match and priority of each component that is found, in Android's order."""
    matches = []
    for number, declared in enumerate(question["components"]):
        package = cast("InstalledPackage", _Package(declared))
        filters = tuple(map(_filter, declared["filters"]))
        component = InstalledComponent(
            package.name, "service", str(number), exported=True, exported_stated=True, filters=filters
        )
        flags = MATCH_DEFAULT_ONLY if question["only_default"] else 0
        matched = find_match(package, component, _intent(question), flags)
        if matched is not None:
            matches.append(matched)
    return [[int(each.component.name), each.match, each.priority] for each in in_android_order(matches)]

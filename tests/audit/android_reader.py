"""AndroidManifest.xml and string, bool and XML resources of a source tree, read with lxml alone."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lxml import etree

ANDROID: Final = "{http://schemas.android.com/apk/res/android}"
_PIECE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)|[ \t\r\n]+|.", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)

Files = Mapping[str, str]
"""The texts of an app's `src/main`, by path."""


def manifest_of(files: Files) -> Any:
    """Return the root of the manifest."""
    return etree.fromstring(files["AndroidManifest.xml"].encode())


def attribute(element: Any, name: str) -> str | None:
    """Return an attribute of Android's namespace."""
    value: str | None = element.get(f"{ANDROID}{name}")
    return value


def components_with_action(manifest: Any, kinds: tuple[str, ...], action: str) -> Iterator[Any]:
    """Yield the components of these kinds that have an intent filter with the action."""
    for component in manifest.iterfind("application/*"):
        actions = [attribute(item, "name") for item in component.iterfind("intent-filter/action")]
        if component.tag in kinds and action in actions:
            yield component


def meta_data(component: Any, name: str, tag: str = "meta-data") -> Any:
    """Return the meta-data (or property) element of that name, None without it."""
    return next((item for item in component.iterfind(tag) if attribute(item, "name") == name), None)


def text_of(value: str | None, files: Files) -> str | None:
    """Return a text attribute as a device has it: escapes replaced, a string reference resolved."""
    if value is None:
        return None
    if value.startswith("@string/"):
        found = resource_values(files, "string", value.removeprefix("@string/"))
        return found.get("", next(iter(found.values()), None))
    return unescaped(value)


def unescaped(text: str) -> str:
    """Return a text without aapt's backslash escapes (developer.android.com, string resources)."""

    def replaced(match: re.Match[str]) -> str:
        word = match[1]
        if len(word) == 5:
            return chr(int(word[1:], 16))
        return {"n": "\n", "t": "\t"}.get(word, word)

    return _ESCAPE.sub(replaced, text)


def resource_values(files: Files, kind: str, name: str) -> dict[str, str]:
    """Return the values of a string or bool resource by resource qualifier (`""` for res/values)."""
    found: dict[str, str] = {}
    for path, text in files.items():
        folder = path.split("/")[1] if path.startswith("res/values") else ""
        if not folder:
            continue
        for element in etree.fromstring(text.encode()).iterfind(kind):
            if element.get("name") == name:
                found[folder.removeprefix("values").removeprefix("-")] = _resource_text(element.text or "")
    return found


def _resource_text(text: str) -> str:
    """Return the text of a resource: white space outside double quotes is collapsed, then escapes."""
    built, is_quoted, has_quotes = "", False, False
    for piece in _PIECE.findall(text):
        if piece == '"':
            is_quoted, has_quotes = not is_quoted, True
        elif piece.isspace() and not is_quoted:
            built += " "
        else:
            built += unescaped(piece)
    return built if has_quotes else built.strip()


def component_access(component: Any, files: Files, *, binding: str | None = None) -> dict[str, Any]:
    """Return the rules of a component that keep callers out.

    Args:
        component: A service or activity with an intent filter.
        files: The app's files, for `@bool/`.
        binding: A permission that the platform requires of every such component; it says nothing of callers.
    """
    access: dict[str, Any] = {}
    exported = attribute(component, "exported")
    if exported == "false":
        access["exported"] = False
    # A component of a disabled application is disabled, too.
    stated = [attribute(item, "enabled") for item in (component.getparent(), component)]
    enabled = next((item for item in stated if item not in {None, "true"}), None)
    if enabled is not None and enabled.startswith("@bool/"):
        values = resource_values(files, "bool", enabled.removeprefix("@bool/"))
        access["enabled"] = {qualifier: value == "true" for qualifier, value in values.items()}
    elif enabled == "false":
        access["enabled"] = False
    permission = attribute(component, "permission") or attribute(component.getparent(), "permission")
    if permission is not None and permission != binding:
        access["permission"] = permission
    return access

"""What of a route's target is installed (shim.md 5)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from droidgate_phone.java.app_values import PackageFacts, XmlAttributeText, XmlNode
from droidgate_phone.java.intents import ComponentName
from droidgate_phone.system.behaviour import Platform
from droidgate_shim.engine.routes import CapabilityBackend, RouteTable, Target, ToolBackend
from droidgate_shim.engine.strict_json import write_strict

_MMCP_META: Final = "mMCP_manifest"
_MOBILE_MCP_META: Final = "mobile.mcp.tool.capabilities"
_OLD_MOBILE_MCP_META: Final = "mcp.capabilities"
_NOTHING: Final = ""
BROADCAST: Final = "broadcast"
"""The recipe of a digest of what a receiver reports: only it knows."""


def component_of(backend: ToolBackend | CapabilityBackend) -> ComponentName:
    """Return the component of a backend."""
    package, _, name = backend.component.partition("/")
    return ComponentName(package, name)


def recipe_of(target: Target) -> str:
    """Return the recipe that a target's digest was made by."""
    return target.digest.rpartition(":")[0]


class Installed:
    """Reports what is installed to the engine; digests are worked out once for each version of a package.

    Args:
        table: The routes, with the component of each target's descriptor.
        platform: Where packages are looked up.
    """

    def __init__(self, table: RouteTable, platform: Platform) -> None:
        self._platform = platform
        self._components: dict[Target, ComponentName] = {}
        self._digests: dict[tuple[str, str, ComponentName | None], str] = {}
        for prepared in table.routes.values():
            backend = prepared.route.backend
            if isinstance(backend, ToolBackend | CapabilityBackend):
                self._components.setdefault(prepared.route.target, component_of(backend))

    def now(self, target: Target) -> Target | None:
        """Return what is installed of a target's package, None where it is not.

        What only a receiver reports counts as approved here, and is compared before the call goes out
        (`receiver_calls.Broadcasts`).
        """
        package = self._platform.find_package(target.package)
        if package is None:
            return None
        signer = target.signer if target.signer in package.signers else ",".join(package.signers)
        return Target(
            package=package.name,
            signer=signer,
            version_code=package.version_code,
            digest=target.digest if recipe_of(target) == BROADCAST else self._digest(target, package),
        )

    def _digest(self, target: Target, found: PackageFacts) -> str:
        recipe = recipe_of(target)
        component = self._components.get(target)
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
        if recipe.startswith("xml(") and recipe.endswith(")"):
            names = recipe.removeprefix("xml(").removesuffix(")").split(",")
            files = [self._events(package, f"@xml/{name}") for name in names]
            return None if None in files else b"".join(filter(None, files))
        if component is None:
            return None
        if recipe == "mmcp":
            return self._text(component, _MMCP_META)
        if recipe != "mobile-mcp":
            return None
        text = self._text(component, _MOBILE_MCP_META)
        return self._text(component, _OLD_MOBILE_MCP_META) if text is None else text

    def _text(self, component: ComponentName, key: str) -> bytes | None:
        """Return what meta-data holds: a text, the content of a raw resource, or the events of an XML."""
        entry = self._platform.find_meta_data(component, key)
        reference = None if entry is None else entry.resource or entry.raw_value
        if reference is not None and reference.startswith("@raw/"):
            return self._platform.read_raw_resource(component.package, reference)
        if reference is not None and reference.startswith("@xml/"):
            return self._events(component.package, reference)
        return str(entry.value).encode() if entry is not None and entry.value is not None else None

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

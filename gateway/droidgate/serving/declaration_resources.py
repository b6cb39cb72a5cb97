"""What apps declare as resources: declarations, losses, instructions, and why capabilities can be called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from droidgate.calls.caller import CapabilityCaller
from droidgate.calls.subjects import CapabilityKey, component_name
from droidgate.calls.targets import CallTarget
from droidgate.serving.served_phones import ServedPhone
from droidgate.serving.tool_results import MAX_PART
from droidgate.serving.tools import ResourceContent, ServedResource
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json, readable_json
from droidgate_mappings.records import dataclass
from droidgate_mappings.text_safety import one_line, visible_json, without_hidden
from droidgate_mappings.values.failures import CallError

_REASONS_IN_PART: Final = 250
_ABOUT_WHY: Final = "Which capabilities can be called, and what keeps the others from it ({})"


@dataclass(frozen=True, slots=True)
class CallReasons:
    """Why capabilities of a phone can or cannot be called: gathered when a client asks, which few do."""

    uri: str
    targets: tuple[CallTarget, ...]
    sdk_full: str
    failures: Mapping[CapabilityKey, CallError]
    caller: CapabilityCaller | None
    allowed: Sequence[str]

    def read(self, client: str) -> ResourceContent:
        """Return them as a resource for the client that asks."""
        from droidgate.gates.phone_gates import reasons_for_models

        rows: Json = (
            []
            if self.caller is None
            else reasons_for_models(
                self.targets, self.sdk_full, self.failures, self.caller, client, self.allowed
            )
        )
        return ResourceContent(self.uri, "application/json", _shown_json(rows))


def reason_resources(
    phone: ServedPhone, declared: Sequence[CallTarget], allowed: Sequence[str]
) -> Iterator[tuple[ServedResource, CallReasons]]:
    """Yield why capabilities of a phone can or cannot be called; those of many are several texts."""
    count = -(-len(declared) // _REASONS_IN_PART)
    for number in range(count):
        end, part = ("", "") if count == 1 else (f"/{number + 1}", f", part {number + 1} of {count}")
        uri = f"droidgate://{quote(phone.name, safe='/:$')}/why{end}"
        targets = tuple(declared[number * _REASONS_IN_PART :][:_REASONS_IN_PART])
        yield (
            ServedResource(
                uri,
                f"{one_line(phone.name)} why{end}",
                "application/json",
                title=_ABOUT_WHY.format(one_line(phone.name)) + part,
            ),
            CallReasons(uri, targets, phone.sdk_full, phone.failures, phone.caller, allowed),
        )


def provider_resources(
    place: str, app: str, provider: Provider, findings: Sequence[Finding]
) -> list[tuple[ServedResource, ResourceContent]]:
    """Return what a provider declares, what MCP cannot express of it where that is anything, and its
    instructions.

    Args:
        place: Its phone and package.
        app: What titles end with: clients list the titles of all apps together.
        provider: The provider.
        findings: What its tools do not express, and new names, which the tools do not have.
    """
    path = f"{place}/{provider.protocol}/{component_name(provider) or 'app'}"
    declaration = provider.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    losses: list[Json] = [
        finding.model_dump(mode="json", exclude_none=True)
        for finding in findings
        if finding.level is not Level.RENAMED
    ]
    texts = [("declaration", "application/json", f"What the app declares ({app})", _shown_json(declaration))]
    if losses:
        text = _shown_json(losses)
        texts.append(("losses", "application/json", f"What MCP cannot express of the app ({app})", text))
    if provider.instructions:
        # The first line says whose words these are, wherever the text is copied to.
        text = (
            f"[Text of the app {provider.package}, not of droidgate]\n{without_hidden(provider.instructions)}"
        )
        texts.append(("instructions", "text/plain", f"What the app's author wrote for models ({app})", text))
    return _parts(path, texts, place)


def _parts(
    path: str, texts: Sequence[tuple[str, str, str, str]], place: str
) -> list[tuple[ServedResource, ResourceContent]]:
    """Return texts as resources; a long one is several.

    Args:
        path: What their URIs begin with.
        texts: Name, media type, title and text.
        place: What their names begin with.
    """
    base = f"droidgate://{quote(path, safe='/:$')}"
    resources: list[tuple[ServedResource, ResourceContent]] = []
    for name, mime_type, title, text in texts:
        parts = [text[start : start + MAX_PART] for start in range(0, len(text) or 1, MAX_PART)]
        for number, part in enumerate(parts, 1):
            # A part of a JSON text is not one.
            is_whole = len(parts) == 1
            kind = mime_type if is_whole else "text/plain"
            end = name if is_whole else f"{name}/{number}"
            part_title = title if is_whole else f"{title}, part {number} of {len(parts)}"
            resource = ServedResource(f"{base}/{end}", f"{one_line(place)} {end}", kind, title=part_title)
            resources.append((resource, ResourceContent(f"{base}/{end}", kind, part)))
    return resources


def _shown_json(value: Json) -> str:
    return visible_json(readable_json(value))

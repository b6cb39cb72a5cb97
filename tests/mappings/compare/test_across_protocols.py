"""A comparison across protocols: what the protocol changes is apart from what the app changed."""

from pathlib import Path

import pytest

from droidgate import convert, diff, read
from droidgate_mappings.compare import Weight
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.types import ObjectType, ScalarType
from droidgate_phone.apps.sample_apps import sample_apps_directory
from model_types import properties_of

APPS = ("clock-in", "notes", "pdf-tool", "tally")
TARGETS = ("mobile-mcp", "mmcp", "mmcp+draft", "appfunctions", "mcp")


def provider_of(app: str) -> Provider:
    (provider,) = read(str(sample_apps_directory() / app / "app"))
    return provider


def written(provider: Provider, target: str, folder: Path) -> Provider:
    convert([provider], target).write(folder)
    (again,) = read(str(folder))
    return again


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("app", APPS)
def test_an_app_and_its_conversion_differ_by_the_protocol_only(app: str, target: str, tmp_path: Path) -> None:
    old = provider_of(app)
    new = written(old, target, tmp_path)
    compared = diff([old], [new])
    if old.protocol == find_format(target)[0].id:
        assert compared.protocol_changes == ()
        return
    assert compared.providers == ()
    assert compared.unchanged_capabilities == len(old.capabilities)
    (change,) = compared.protocol_changes
    assert (change.old_protocol, change.protocol) == (old.protocol, new.protocol)
    assert change.findings == convert([old], target).findings
    assert compared.weight() is Weight.BREAKING, "each caller has to follow"


def test_what_the_app_changed_as_well_is_a_change_beyond_the_protocol(tmp_path: Path) -> None:
    old = provider_of("clock-in")
    new = written(old, "mmcp", tmp_path)
    others = list(new.capabilities)
    first = next(item for item in others if isinstance(item.input, ObjectType) and item.input.properties)
    others.remove(first)
    parameters = dict(properties_of(first.input))
    name, parameter = next(iter(parameters.items()))
    parameters[name] = parameter.model_copy(update={"type": ScalarType(kind="boolean")})
    changed = first.model_copy(update={"input": first.input.model_copy(update={"properties": parameters})})
    compared = diff([old], [new.model_copy(update={"capabilities": (changed, *others[1:])})])
    assert len(compared.protocol_changes) == 1
    (provider,) = compared.providers
    found = {item.id: [change.code for change in item.changes] for item in provider.capabilities}
    assert found.pop(first.id)
    assert list(found.values()) == [["capability-removed"]]


def test_providers_of_other_apps_are_not_taken_for_each_other(tmp_path: Path) -> None:
    clock, tally = provider_of("clock-in"), provider_of("tally")
    new = written(clock, "mmcp", tmp_path)
    compared = diff([clock, tally], [new, provider_of("pdf-tool")])
    assert [(item.old_protocol, item.package) for item in compared.protocol_changes] == [
        ("mobile-mcp", clock.package)
    ]
    assert {item.status for item in compared.providers} == {"added", "removed"}

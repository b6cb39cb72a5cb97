"""What a shim declares is what both engines answer, whatever the source declares and in which protocol."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from device_shim.shim_builder.built_samples import (
    CALLED_DIALECTS,
    declared_in,
    generated_app,
    shim_of,
)
from device_shim.shim_engine.jvm_core import CoreJvm, compile_core
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.model.types import ObjectType, Type
from droidgate_shim.builder.route_building import plan_routes
from droidgate_shim.engine.routes import RouteTable, parse_route_table

SEEDS = range(40, 56)
GENERATED = [pytest.param(*item, id="-".join(item)) for item in CALLED_DIALECTS]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreJvm]:
    with CoreJvm(compile_core(tmp_path_factory.mktemp("core"))) as running:
        yield running


def tables(protocol: str, dialect: str, seeds: range) -> Iterator[dict[str, Any]]:
    for seed in seeds:
        yield plan_routes([generated_app(seed, protocol, dialect)]).table()


def outputs_of(table: RouteTable) -> dict[str, Mapping[str, str]]:
    return {
        name: {output: property_.type.kind for output, property_ in item.descriptor_output.properties.items()}
        for name, item in table.routes.items()
    }


def declared_outputs(provider: Provider) -> dict[str, Mapping[str, str]]:
    outputs: dict[str, Mapping[str, str]] = {}
    for item in provider.capabilities:
        assert item.output is None or isinstance(item.output, ObjectType)
        properties = {} if item.output is None else item.output.properties
        outputs[item.id] = {name: output.type.kind for name, output in properties.items()}
    return outputs


def parameters_of(item: Type) -> list[tuple[str, bool]]:
    """Return the parameters and whether they are required; no parameter of an input of another shape."""
    properties = item.properties if isinstance(item, ObjectType) else {}
    return [(name, parameter.required) for name, parameter in properties.items()]


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "dialect"), GENERATED)
def test_what_is_declared_is_what_the_engine_takes_and_answers(protocol: str, dialect: str) -> None:
    count = 0
    for seed in SEEDS:
        app = generated_app(seed, protocol, dialect)
        if not plan_routes([app]).routes:
            continue
        shim = shim_of(app)
        table = parse_route_table(one_line_json(shim.routes))
        (provider,) = declared_in(shim.apk)
        assert declared_outputs(provider) == outputs_of(table), seed
        for item in provider.capabilities:
            assert parameters_of(item.input) == parameters_of(table.routes[item.id].route.input), seed
        count += len(table.routes)
    assert count > 20


@pytest.mark.slow
@pytest.mark.requires("javac", "java")
@pytest.mark.parametrize(("protocol", "dialect"), GENERATED)
def test_the_engine_in_java_takes_every_route_table(core: CoreJvm, protocol: str, dialect: str) -> None:
    question = {"op": "call", "carrier": "bind", "caller": 10001, "extras": {}}
    cases = [{**question, "routes": table} for table in tables(protocol, dialect, range(60))]
    outcomes = list(core.outcomes(cases))
    refused = [outcome for outcome in outcomes if "error" in outcome]
    assert refused == []
    assert all(outcome["token"] == "invalid_argument" for outcome in outcomes)


@pytest.mark.requires("javac", "java")
def test_the_engine_in_java_refuses_a_broken_table(core: CoreJvm) -> None:
    table = next(tables("mmcp", "1.0", range(1)))
    broken = {**table, "routes": [{**table["routes"][0], "surprise": 1}]}
    outcome = core.ask(op="call", carrier="bind", caller=1, extras={}, routes=broken)
    assert outcome["error"] == "malformed"

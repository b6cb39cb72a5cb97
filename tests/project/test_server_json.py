"""`server.json`, by which the MCP registry lists the server, agrees with the package that it names.

The rules are typed by hand from the registry's documentation: the server.json format of 2025-12-11
(ServerDetail, Package, Argument, Transport) and its page on package types (PyPI: ownership by README).
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

CHECKOUT = Path(__file__).parents[2]
TEXT = {"type": "string", "minLength": 1}
ARGUMENT = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": ["positional", "named"]},
        "name": {**TEXT, "pattern": "^--?[a-z][a-z-]*$"},
        "value": TEXT,
        "valueHint": TEXT,
        "description": TEXT,
        "placeholder": TEXT,
        "default": TEXT,
        "isRepeated": {"type": "boolean"},
        "isRequired": {"type": "boolean"},
        "isSecret": {"type": "boolean"},
        "format": {"enum": ["string", "number", "boolean", "filepath"]},
    },
    "additionalProperties": False,
    "if": {"properties": {"type": {"const": "named"}}},
    "then": {"required": ["name"]},
    "else": {"anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}]},
}
PACKAGE = {
    "type": "object",
    "required": ["registryType", "identifier", "transport", "version"],
    "properties": {
        "registryType": {"enum": ["npm", "pypi", "nuget", "oci", "mcpb"]},
        "registryBaseUrl": {**TEXT, "format": "uri"},
        "identifier": TEXT,
        "version": {**TEXT, "maxLength": 255, "not": {"const": "latest"}, "pattern": "^[0-9.]+$"},
        "runtimeHint": TEXT,
        "runtimeArguments": {"type": "array", "items": ARGUMENT},
        "packageArguments": {"type": "array", "items": ARGUMENT},
        "transport": {"type": "object", "properties": {"type": {"const": "stdio"}}, "required": ["type"]},
        "environmentVariables": {"type": "array"},
    },
    "additionalProperties": False,
}
SERVER = {
    "type": "object",
    "required": ["$schema", "name", "description", "version"],
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {
            "type": "string",
            "minLength": 3,
            "maxLength": 200,
            "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
        },
        "title": {**TEXT, "maxLength": 100},
        "description": {**TEXT, "maxLength": 100},
        "version": {**TEXT, "maxLength": 255},
        "packages": {"type": "array", "items": PACKAGE, "minItems": 1},
    },
    "additionalProperties": False,
}


def server() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((CHECKOUT / "server.json").read_text(encoding="utf-8"))
    return document


def project() -> dict[str, Any]:
    with (CHECKOUT / "pyproject.toml").open("rb") as file:
        document: dict[str, Any] = tomllib.load(file)["project"]
    return document


def test_it_has_the_form_that_the_registry_takes() -> None:
    Draft202012Validator.check_schema(SERVER)
    assert [error.message for error in Draft202012Validator(SERVER).iter_errors(server())] == []


def test_its_versions_are_those_of_the_package() -> None:
    (package,) = server()["packages"]
    assert server()["version"] == package["version"] == project()["version"]
    assert package["identifier"] == project()["name"]


def test_the_readme_proves_whose_package_it_is() -> None:
    readme = (CHECKOUT / project()["readme"]).read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: *(\S+)", readme) == [server()["name"]]


def test_what_is_started_has_what_the_server_requires() -> None:
    (package,) = server()["packages"]
    (needed,) = (
        runtimeArgument["value"]
        for runtimeArgument in package["runtimeArguments"]
        if runtimeArgument["name"] == "--with"
    )
    assert project()["optional-dependencies"]["serve"] == [needed]
    assert package["packageArguments"][0]["value"] == "serve"

"""`server.json`, by which the MCP registry lists the server, agrees with the package that it names."""

import json
import re
import tomllib

from requirements_of_tests import CHECKOUT


def test_what_the_registry_lists_is_the_package() -> None:
    server = json.loads((CHECKOUT / "server.json").read_text(encoding="utf-8"))
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (package,) = server["packages"]
    assert server["version"] == package["version"] == project["version"]
    assert package["identifier"] == project["name"]
    # Thus the registry knows whose package it is: "PyPI: ownership by README".
    readme = (CHECKOUT / project["readme"]).read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: *(\S+)", readme) == [server["name"]]
    needed = [item["value"] for item in package["runtimeArguments"] if item["name"] == "--with"]
    assert project["optional-dependencies"]["serve"] == needed
    assert package["packageArguments"][0]["value"] == "serve"

"""Apps in two APKs: a base, and a configuration split with the values of one qualifier."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from droidgate_android.apk.binary_xml_writer import write_binary_xml
from droidgate_android.apk.pack import ProjectResources, pack
from droidgate_android.apk.packed_files import MANIFEST, ProjectFiles, read_project
from droidgate_android.apk.packed_manifest import AppFacts
from droidgate_android.apk.resource_names import ResourceNames
from droidgate_android.apk.signing import sign_apk
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_android.apk.typed_values import boolean_value, integer_value, string_value
from droidgate_android.apk.xml_compiler import set_attribute
from droidgate_android.apk.xml_tree import XmlElement


def pack_base_and_split(
    project: Path | Mapping[str, bytes],
    *,
    key: SigningKey,
    qualifier: str = "de",
    package: str | None = None,
    version_code: int | None = None,
) -> tuple[bytes, bytes]:
    """Return the base without the values of a qualifier, and a split with them, by the base's ids."""
    files = read_project(project) if isinstance(project, Path) else ProjectFiles(dict(project))
    tree = {name: data for name, data in files.tree.items() if f"-{qualifier}/" not in name}
    base = pack(replace(files, tree=tree), key=key, facts=AppFacts(package, version_code))
    names = ResourceNames(files.tree, files.folder)
    for resource, values in names.sources.items():
        names.sources[resource] = {word: value for word, value in values.items() if word == qualifier}
    table = ProjectResources(names, base.facts.package or "").compile_table()
    manifest = write_binary_xml(_split_manifest(base.facts, f"config.{qualifier}"))
    parts = {MANIFEST: manifest, "resources.arsc": table or b""}
    return base.apk, sign_apk(parts, key, minimum_sdk=base.facts.minimum_sdk or 0)


def _split_manifest(facts: AppFacts, split: str) -> XmlElement:
    root = XmlElement("manifest", line=1)
    set_attribute(root, "package", string_value(facts.package or ""), None)
    set_attribute(root, "split", string_value(split), None)
    set_attribute(root, "versionCode", integer_value(facts.version_code or 1))
    application = XmlElement("application", line=2)
    set_attribute(application, "hasCode", boolean_value(flag=False))
    root.children.append(application)
    return root

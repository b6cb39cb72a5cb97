"""Each access rule of the source that nothing enforces in the app is first among what is left to do."""

from pathlib import Path

from droidgate.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider
from migrate.projects import copy_module, migrate

FUNCTIONS = Provider(
    protocol="appfunctions",
    dialect="v2",
    package="com.example",
    component=".Functions",
    access=ComponentAccess(permission="android.permission.BIND_APP_FUNCTION_SERVICE"),
    capabilities=(
        Capability(id="open", description="Opens"),
        Capability(id="later", description="Waits", access=CapabilityAccess(enabled_by_default=False)),
        Capability(id="mine", description="Is closed", access=CapabilityAccess(access_level="self")),
    ),
)


def test_each_rule_that_nothing_enforces_is_a_note_of_its_own(tmp_path: Path) -> None:
    migration = migrate(FUNCTIONS, "mobile-mcp+1.0", copy_module("clock-in", tmp_path))
    security = [one for one in migration.notes if one.startswith("security: ")]
    assert list(migration.notes[: len(security)]) == security
    assert [one.split(": ")[1] for one in security] == ["later", "mine"]
    assert all(one.endswith("or leave the capability out") for one in security)


def test_a_migration_that_keeps_every_rule_has_no_such_note(tmp_path: Path) -> None:
    provider = FUNCTIONS.changed({"capabilities": FUNCTIONS.capabilities[:1]})
    migration = migrate(provider, "mobile-mcp+1.0", copy_module("clock-in", tmp_path))
    assert not [one for one in migration.notes if one.startswith("security: ")]

"""Access rules survive a conversion, or a security finding names each one that nothing enforces then."""

import pytest

from droidgate_mappings.fit import Fitted, fit_provider
from droidgate_mappings.fit.provider_fit import is_restriction
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.tables.loading import load_format_tables

BIND = "android.permission.BIND_APP_FUNCTION_SERVICE"
EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS"
OWN = "com.example.permission.CALL"

CLOSED_COMPONENT = ComponentAccess(exported=False, enabled=False, permission=OWN)
CLOSED_FUNCTION = CapabilityAccess(
    enabled_by_default=False, restrict_callers=True, scope="activity", access_level="self"
)


def _fit(
    protocol: str, target: str, access: ComponentAccess, of_capability: CapabilityAccess | None = None
) -> Fitted:
    format_id, _, dialect_id = target.partition("+")
    tables = load_format_tables(format_id)
    dialect = next(item for item in tables.dialects if item.id == (dialect_id or tables.dialects[0].id))
    assert dialect.capacity is not None
    provider = Provider(
        protocol=protocol,
        dialect="v2" if protocol == "appfunctions" else None,
        component=".Service",
        access=access,
        capabilities=(Capability(id="c", description="d", access=of_capability or CapabilityAccess()),),
    )
    return fit_provider(provider, dialect.capacity, format_id, dialect.id)


def _findings(fitted: Fitted) -> dict[str, tuple[str, Level]]:
    return {
        finding.pointer: (finding.code, finding.level)
        for finding in fitted.findings
        if "/access/" in finding.pointer
    }


LOST = ("access-not-enforced", Level.SECURITY)


@pytest.mark.parametrize("target", ["mmcp", "mmcp+draft", "mmcp+broadcast", "mobile-mcp"])
def test_components_of_the_caller_keep_every_rule_of_a_component(target: str) -> None:
    fitted = _fit("test", target, CLOSED_COMPONENT)
    assert fitted.provider.access == CLOSED_COMPONENT
    assert _findings(fitted) == {}


@pytest.mark.parametrize("target", ["mmcp", "mobile-mcp"])
def test_rules_of_a_function_are_security_findings_where_only_components_have_rules(target: str) -> None:
    fitted = _fit("test", target, ComponentAccess(), CLOSED_FUNCTION)
    assert fitted.provider.capabilities[0].access == CapabilityAccess()
    assert _findings(fitted) == {
        f"/capabilities/0/access/{name}": LOST
        for name in ("enabled_by_default", "restrict_callers", "scope", "access_level")
    }


def test_mcp_keeps_every_rule_as_a_note_and_reports_that_nothing_enforces_it() -> None:
    fitted = _fit("test", "mcp", CLOSED_COMPONENT, CLOSED_FUNCTION)
    assert fitted.provider.access == CLOSED_COMPONENT
    assert fitted.provider.capabilities[0].access == CLOSED_FUNCTION
    assert set(_findings(fitted).values()) == {LOST}
    assert len(_findings(fitted)) == 7


def test_android_calls_app_functions_of_services_that_are_not_exported() -> None:
    fitted = _fit("test", "appfunctions", ComponentAccess(exported=False), CLOSED_FUNCTION)
    assert fitted.provider.access.exported is False
    assert fitted.provider.capabilities[0].access == CLOSED_FUNCTION.model_copy(update={"scope": None})
    assert _findings(fitted) == {
        "/access/exported": LOST,
        "/access/permission": ("field-defaulted", Level.DEFAULTED),
        "/capabilities/0/access/scope": LOST,
    }


@pytest.mark.parametrize(("protocol", "target", "stated", "written", "finding"), [
    ("appfunctions", "mmcp", BIND, EXECUTE, ("permission-translated", Level.RENAMED)),
    ("appfunctions", "mobile-mcp", BIND, EXECUTE, ("permission-translated", Level.RENAMED)),
    ("appfunctions", "mmcp", None, EXECUTE, ("permission-translated", Level.RENAMED)),
    ("appfunctions", "mmcp", OWN, OWN, LOST),
    ("appfunctions", "mcp", BIND, EXECUTE, LOST),
    ("mcp", "appfunctions", EXECUTE, BIND, ("permission-translated", Level.RENAMED)),
    ("mcp", "mobile-mcp", EXECUTE, EXECUTE, None),
    ("appfunctions", "appfunctions+v1", OWN, OWN, None),
    ("appfunctions", "appfunctions+v1", BIND, BIND, None),
    ("appfunctions", "appfunctions+app-level", BIND, None, ("permission-translated", Level.RENAMED)),
    ("mmcp", "appfunctions", None, BIND, ("field-defaulted", Level.DEFAULTED)),
    ("mmcp", "appfunctions", EXECUTE, BIND, ("permission-translated", Level.RENAMED)),
    ("mmcp", "appfunctions", OWN, BIND, LOST),
    ("mmcp", "mobile-mcp", OWN, OWN, None),
    ("mmcp", "mcp", OWN, OWN, LOST),
    ("mcp", "mmcp", OWN, OWN, None),
])  # fmt: skip
def test_the_permission_that_callers_need_is_kept(
    protocol: str, target: str, stated: str | None, written: str | None, finding: tuple[str, Level] | None
) -> None:
    fitted = _fit(protocol, target, ComponentAccess(permission=stated))
    assert fitted.provider.access.permission == written
    assert _findings(fitted).get("/access/permission") == finding


def test_a_service_that_is_new_to_its_functions_requires_that_only_android_binds_it() -> None:
    dialect = load_format_tables("appfunctions").dialects[0]
    assert dialect.capacity is not None
    provider = Provider(protocol="appfunctions", dialect="app-level", capabilities=(Capability(id="c"),))
    fitted = fit_provider(provider, dialect.capacity, "appfunctions", "v2")
    assert fitted.provider.access.permission == BIND
    assert _findings(fitted) == {"/access/permission": ("permission-translated", Level.RENAMED)}


def test_a_component_that_does_not_state_exported_is_written_as_exported() -> None:
    fitted = _fit("mmcp", "mobile-mcp", ComponentAccess(exported=None))
    assert fitted.provider.access.exported is True
    assert _findings(fitted) == {"/access/exported": ("notation-dropped", Level.RENAMED)}


def test_enabled_by_configuration_is_kept_as_it_is() -> None:
    enabled = {"": False, "v36": True}
    fitted = _fit("mobile-mcp", "mmcp", ComponentAccess(enabled=enabled, permission=OWN))
    assert fitted.provider.access.enabled == enabled
    assert _findings(fitted) == {}


def test_rules_that_restrict_nobody_are_not_security_findings() -> None:
    fitted = _fit(
        "test",
        "mmcp",
        ComponentAccess(),
        CapabilityAccess(restrict_callers=False, access_level="androidTrusted"),
    )
    assert set(_findings(fitted).values()) == {("notation-dropped", Level.RENAMED)}


def test_an_access_level_that_nobody_knows_counts_as_a_restriction() -> None:
    assert is_restriction("access_level", "somethingNew")
    assert not is_restriction("access_level", "androidTrusted")

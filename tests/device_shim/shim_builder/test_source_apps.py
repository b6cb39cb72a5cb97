"""Which apps a shim can serve, and which of their capabilities it can call."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from adapters.apk_writing.packed_samples import module_folder, packed_module, run_tool, signing_key
from device_shim.shim_builder.built_samples import (
    KEY,
    PACKAGE,
    SIGNER,
    WEATHER_TOOLS,
    packed,
    sample_app,
    sample_shim,
)
from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.signing_keys import SigningKey, make_key
from droidgate_android.apk.zip_writer import write_zip
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_shim.builder.sample_apps import sample_apps_directory
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import build_bare_shim, build_shims
from droidgate_shim.builder.source_app import SourceApp, complete_broadcast
from requirements_of_tests import short_run

MANIFEST = (
    '{"instructions":"Ask","protocolVersion":"1.0",'
    '"tools":[{"name":"t","description":"T","parameters":{"type":"object"}}]}'
)
RECEIVER = """<receiver android:name=".Tools" android:exported="true"><intent-filter>
    <action android:name="com.example.ACTION_MMCP_DISCOVERY" />
    <action android:name="{0}" />
</intent-filter></receiver>"""
SERVICE = """<service android:name=".Tools" {0}><intent-filter>
    <action android:name="{1}" /></intent-filter>
    <meta-data android:name="mobile.mcp.tool.name" android:value="Tools" />
    <meta-data android:name="mobile.mcp.tool.description" android:value="Some" />
    <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/tools" /></service>"""
DESCRIPTOR = (
    '<mobile-mcp-capabilities{0}><capability id="t" description="T" version="1" /></mobile-mcp-capabilities>'
)
PRE_SPEC = """<service android:name=".Tools" android:exported="true"><intent-filter>
    <action android:name="com.example.mcpdemo.COMMAND_GATEWAY" /></intent-filter>
    <meta-data android:name="mcp.capabilities" android:resource="@xml/tools" /></service>"""


def mmcp(
    element: str = "activity",
    attributes: str = 'android:exported="true"',
    call: str = "com.example.mMCP.ACTION_TOOL_CALL",
) -> str:
    return f"""<{element} android:name=".Tools" {attributes}><intent-filter>
        <action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE" /><action android:name="{call}" />
        <category android:name="android.intent.category.DEFAULT" /></intent-filter>
        <meta-data android:name="mMCP_manifest" android:value='{MANIFEST}' /></{element}>"""


def read(tmp_path: Path, apk: bytes) -> SourceApp:
    path = tmp_path / "app.apk"
    path.write_bytes(apk)
    (app,) = read_source_apps([str(path)])
    return app


def codes(app: SourceApp) -> set[str]:
    return {finding.code for finding in app.findings}


def test_an_app_is_read_with_its_certificate_version_and_digests(tmp_path: Path) -> None:
    app = read(tmp_path, packed(mmcp(), version_code=41))
    assert (app.package, app.label, app.version_code) == (PACKAGE, "Tools", 41)
    assert app.signer == KEY.digest
    assert app.instructions == "Ask"
    (provider,) = app.providers
    assert provider.component == f"{PACKAGE}.Tools"
    assert app.digest_of(provider) == next(iter(app.digests.values()))
    assert app.findings == ()


@pytest.mark.parametrize(("module", "protocol", "capabilities"), [
    ("clock-in/app", "mobile-mcp", 3),
    ("pdf-tool/app", "mmcp", 5),
    ("weather/app", "mmcp", 2),
    ("notes/app", "appfunctions", 7),
    ("notes/legacy", "appfunctions", 1),
])  # fmt: skip
def test_every_sample_app_can_be_called(module: str, protocol: str, capabilities: int) -> None:
    app = sample_app(module)
    (provider,) = app.providers
    assert provider.protocol == protocol
    assert len(provider.capabilities) == capabilities
    assert app.unasked_components == ()


@pytest.mark.parametrize(("body", "code", "reason"), [
    pytest.param(mmcp(attributes='android:exported="false"'), "shim-component-closed", "is not exported",
        id="not exported"),
    pytest.param(mmcp(attributes='android:exported="true" android:enabled="false"'), "shim-component-closed",
        "its component is disabled", id="disabled"),
    pytest.param(mmcp(attributes='android:exported="true" android:permission="a.b.C"'),
        "shim-component-closed", "callers need the permission a.b.C, whose protection level is not known",
        id="permission"),
    pytest.param(mmcp(call="com.example.OTHER"), "shim-component-closed", "does not declare the action",
        id="no call action"),
    pytest.param(mmcp(element="service"), "shim-protocol-not-called", "calls of mMCP are made to activities",
        id="service of mMCP"),
    pytest.param(RECEIVER.format("com.example.OTHER"), "shim-component-closed",
        "com.example.ACTION_MMCP_INVOKE", id="no invoke action"),
    pytest.param(PRE_SPEC, "shim-protocol-not-called", "the dialect pre-spec", id="pre-spec"),
    pytest.param(SERVICE.format('android:exported="true"', "com.example.mcpdemo.COMMAND_GATEWAY"),
        "shim-component-closed", "its component does not declare the action mobile.mcp.SERVICE",
        id="older action"),
])  # fmt: skip
def test_a_component_that_cannot_be_called_is_reported(
    tmp_path: Path, body: str, code: str, reason: str
) -> None:
    root = '<mcp><capability id="t" description="T" version="1" /></mcp>'
    descriptor = root if body == PRE_SPEC else DESCRIPTOR.format(' version="1.0"')
    app = read(tmp_path, packed(body, {"res/xml/tools.xml": descriptor}))
    assert app.providers == ()
    (finding,) = [item for item in app.findings if item.code.startswith("shim-")]
    assert finding.code == code
    assert reason in finding.message


@pytest.mark.parametrize("attribute", ['android:enabled="false"', 'android:permission="a.b.C"'])
def test_an_app_that_is_disabled_or_guarded_as_a_whole_cannot_be_called(
    tmp_path: Path, attribute: str
) -> None:
    app = read(tmp_path, packed(mmcp(), application=f" {attribute}"))
    assert (app.providers, codes(app)) == ((), {"shim-component-closed"})


def test_a_prototypes_service_can_be_called(tmp_path: Path) -> None:
    body = SERVICE.format('android:exported="true"', "mobile.mcp.SERVICE")
    app = read(tmp_path, packed(body, {"res/xml/tools.xml": DESCRIPTOR.format("")}))
    assert [provider.dialect for provider in app.providers] == ["prototype"]


def test_a_descriptor_that_no_phone_could_compare_is_reported(tmp_path: Path) -> None:
    body = SERVICE.format('android:exported="true"', "mobile.mcp.SERVICE").replace("@xml/", "@raw/")
    app = read(tmp_path, packed(body, {"res/raw/tools.xml": DESCRIPTOR.format(' version="1.0"')}))
    assert app.providers == ()
    assert "shim-not-pinned" in codes(app)


def test_another_gateways_protocol_is_reported_and_not_called(tmp_path: Path) -> None:
    body = """<service android:name=".Server" android:exported="true"><intent-filter>
        <action android:name="io.rosenpin.mmcp.action.MCP_TOOL_SERVICE" /></intent-filter></service>"""
    app = read(tmp_path, packed(body + mmcp()))
    assert [provider.protocol for provider in app.providers] == ["mmcp"]
    assert "shim-protocol-not-called" in codes(app)


def function_service(
    file: str, name: str = "v2", guard: str = "android.permission.BIND_APP_FUNCTION_SERVICE"
) -> str:
    name = f"android.app.appfunctions{name and '.'}{name}"
    return f"""<service android:name=".Functions" android:exported="true" android:permission="{guard}">
        <property android:name="{name}" android:value="{file}" />
        <intent-filter><action android:name="android.app.appfunctions.AppFunctionService" /></intent-filter>
        </service>"""


def function_app(tmp_path: Path, inside: str, **guard: str) -> SourceApp:
    signature = (
        "<parameters><name>text</name><isRequired>true</isRequired><dataTypeMetadata><type>8</type>"
        "</dataTypeMetadata></parameters><response><valueType><type>0</type></valueType></response>"
    )
    text = (
        f"<appfunctions><appfunction><id>com.acme.Notes#open</id>{signature}</appfunction>"
        f"<appfunction><id>com.acme.Notes#closed</id>{signature}{inside}</appfunction></appfunctions>"
    )
    return read(tmp_path, packed(function_service("f.xml", **guard), {"assets/f.xml": text}))


@pytest.mark.parametrize(("level", "is_open"), [("self", False), ("system", False), ("androidTrusted", True)])
def test_a_function_whose_level_excludes_the_shim_is_left_out(
    tmp_path: Path, level: str, *, is_open: bool
) -> None:
    app = function_app(tmp_path, f"<accessLevel>{level}</accessLevel>")
    ids = ["com.acme.Notes#open", *(["com.acme.Notes#closed"] if is_open else [])]
    assert [capability.id for capability in app.providers[0].capabilities] == ids
    assert ("shim-function-not-open" in codes(app)) is not is_open


def test_functions_of_a_service_that_android_does_not_bind_are_left_out(tmp_path: Path) -> None:
    app = function_app(tmp_path, "", guard="com.acme.OWN")
    assert app.providers == ()
    assert "shim-component-closed" in codes(app)


def test_a_receiver_is_kept_until_it_is_asked(tmp_path: Path) -> None:
    app = read(tmp_path, packed(RECEIVER.format("com.example.ACTION_MMCP_INVOKE")))
    assert app.unasked_components == (f"{PACKAGE}.Tools",)
    assert codes(app) == {"shim-tools-not-known"}
    done = complete_broadcast(app, f"{PACKAGE}.Tools", WEATHER_TOOLS)
    assert [capability.id for capability in done.providers[0].capabilities] == ["currentWeather", "forecast"]
    assert done.unasked_components == ()
    assert done.findings == ()
    assert done.digests["mmcp", f"{PACKAGE}.Tools"].startswith("broadcast:")


def test_an_answer_of_no_receiver_or_with_a_tool_twice_is_refused(tmp_path: Path) -> None:
    app = read(tmp_path, packed(RECEIVER.format("com.example.ACTION_MMCP_INVOKE")))
    with pytest.raises(InputError, match="no receiver"):
        complete_broadcast(app, "com.acme.Other", WEATHER_TOOLS)
    with pytest.raises(InputError, match="twice"):
        complete_broadcast(app, f"{PACKAGE}.Tools", [WEATHER_TOOLS[0]] * 2)


def test_a_folder_of_apks_is_read_without_the_shims_in_it(tmp_path: Path) -> None:
    (tmp_path / "clock.apk").write_bytes(packed_module("clock-in/app"))
    (tmp_path / "pdf.apk").write_bytes(packed_module("pdf-tool/app"))
    (tmp_path / "nothing.apk").write_bytes(packed("", package="com.acme.empty"))
    (tmp_path / "shim.apk").write_bytes(sample_shim("clock-in/app").apk)
    (tmp_path / "bare.apk").write_bytes(build_bare_shim(KEY).apk)
    apps = read_source_apps([str(tmp_path)])
    assert [app.package for app in apps] == ["dev.droidgate.sample.clockin", "dev.droidgate.sample.pdftool"]


def test_a_shim_that_is_named_is_refused_as_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a shim itself"):
        read(tmp_path, sample_shim("clock-in/app").apk)


def test_what_cannot_be_read_in_a_folder_is_reported_next_to_the_others(tmp_path: Path) -> None:
    (tmp_path / "broken.apk").write_bytes(b"PK\3\4 and no more")
    (tmp_path / "clock.apk").write_bytes(packed_module("clock-in/app"))
    broken, clock = read_source_apps([str(tmp_path)])
    assert broken.package == str(tmp_path / "broken.apk")
    assert (broken.providers, codes(broken)) == ((), {"shim-app-unreadable"})
    assert clock.package == "dev.droidgate.sample.clockin"


def test_an_app_that_is_named_and_declares_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="declares no capability"):
        read(tmp_path, packed(""))


def test_the_same_app_twice_is_one_and_another_version_an_error(tmp_path: Path) -> None:
    for name, version in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / f"{name}.apk").write_bytes(packed(mmcp(), version_code=version))
    a, b, c = (str(tmp_path / f"{name}.apk") for name in "abc")
    assert len(read_source_apps([a, b])) == 1
    with pytest.raises(InputError, match="named twice, with different contents"):
        read_source_apps([a, c])


def test_an_unsigned_app_is_an_error_where_it_is_named(tmp_path: Path) -> None:
    with ZipFile(BytesIO(packed(mmcp()))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with pytest.raises(InputError, match="not signed"):
        read(tmp_path, write_zip(files).joined())
    (tmp_path / "other.apk").write_bytes(packed_module("clock-in/app"))
    apps = {source_app.package: source_app for source_app in read_source_apps([str(tmp_path)])}
    assert apps[PACKAGE].providers == ()
    assert codes(apps[PACKAGE]) == {"shim-signer-unclear"}


def key_files(folder: Path, key: SigningKey, name: str) -> list[str]:
    private, certificate = folder / f"{name}.pk8", folder / f"{name}.pem"
    private.write_bytes(key.private_key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    certificate.write_bytes(key.certificate.public_bytes(Encoding.PEM))
    return ["--key", str(private), "--cert", str(certificate)]


def test_an_app_that_several_signed_is_an_error(tmp_path: Path) -> None:
    apksigner = short_run("apksigner")
    source, target = tmp_path / "in.apk", tmp_path / "two.apk"
    source.write_bytes(packed(mmcp()))
    first = key_files(tmp_path, signing_key("ec"), "one")
    second = key_files(tmp_path, make_key(), "two")
    options = ["sign", "--v3-signing-enabled", "false", "--min-sdk-version", "26"]
    run_tool(*apksigner, *options, *first, "--next-signer", *second, "--out", target, source)
    with pytest.raises(InputError, match="2 certificates signed the APK"):
        read_source_apps([str(target)])


def test_a_project_needs_the_certificate_that_will_sign_it() -> None:
    project = str(module_folder("clock-in"))
    with pytest.raises(InputError, match="a project has no signature") as error:
        read_source_apps([project])
    assert error.value.hint is not None
    (app,) = read_source_apps([project], signer=":".join(["5A"] * 32))
    assert (app.signer, app.version_code) == ("5a" * 32, 1)
    assert dict(app.digests) == dict(sample_app("clock-in/app").digests)


def test_all_projects_below_a_folder_are_read() -> None:
    apps = read_source_apps([str(sample_apps_directory())], signer=SIGNER)
    names = [app.package.rpartition("sample.")[2] for app in apps]
    assert names == ["clockin", "notes", "notes.legacy", "pdftool", "tally", "weather"]


@pytest.mark.parametrize("signer", ["", "12", "g" * 64, "5" * 63])
def test_what_is_not_a_certificates_digest_is_refused(signer: str) -> None:
    with pytest.raises(UsageError, match="not a SHA-256"):
        read_source_apps([str(module_folder("clock-in"))], signer=signer)


def test_what_holds_no_app_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("words")
    with pytest.raises(InputError, match="neither an APK nor an Android project"):
        read_source_apps([str(tmp_path)])
    with pytest.raises(UsageError, match="not an app"):
        read_source_apps([str(tmp_path / "words.txt")])
    for name in ("gone.apk", "nul\0.apk", "n" * 300):
        with pytest.raises(InputError, match="cannot be read"):
            read_source_apps([str(tmp_path / name)])
    with pytest.raises(UsageError, match="no app is named"):
        read_source_apps([])


def test_functions_of_the_application_are_called_while_they_need_no_open_activity(tmp_path: Path) -> None:
    body = '<property android:name="android.app.appfunctions.v2" android:value="app.xml" />'
    text = "".join(
        f"<appfunction><id>com.acme#{scope}</id><scope>{scope}</scope>"
        "<response><valueType><type>0</type></valueType></response></appfunction>"
        for scope in ("global", "activity")
    )
    app = read(tmp_path, packed(body, {"assets/app.xml": f"<appfunctions>{text}</appfunctions>"}))
    (provider,) = app.providers
    assert (provider.component, [item.id for item in provider.capabilities]) == (None, ["com.acme#global"])
    assert app.digests["appfunctions", ""].startswith("assets(app.xml):")
    (reported,) = [item for item in app.findings if item.code == "shim-function-not-open"]
    assert reported.pointer == "//com.acme#activity"
    assert "while an activity of the app is open" in reported.message


def test_functions_of_the_first_asset_are_called_without_declared_parameters(tmp_path: Path) -> None:
    text = (
        "<appfunctions><appfunction><function_id>com.acme#one</function_id>"
        "<enabled_by_default>true</enabled_by_default></appfunction></appfunctions>"
    )
    app = read(tmp_path, packed(function_service("v1.xml", ""), {"assets/v1.xml": text}))
    assert [provider.dialect for provider in app.providers] == ["v1"]
    assert "shim-parameters-unknown" in codes(app)


# Apps on the virtual phone: read over adb, with the digests that their own APKs have


SAMPLE = "dev.droidgate.sample."


@pytest.fixture
def phone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualPhone]:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    with start_phone(sdk="36.1", server_port=0, apps=False) as started:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(started.server_port))
        for sample_package in sample_packages():
            started.install(sample_package.apk)
        yield started


def facts(app: SourceApp) -> tuple[object, ...]:
    ids = tuple(tuple(each.id for each in item.capabilities) for item in app.providers)
    return app.package, app.signer, frozenset(app.digests.items()), app.label, ids


def test_a_phones_apps_are_what_their_apks_say(phone: VirtualPhone, tmp_path: Path) -> None:
    folder = tmp_path / "apks"
    folder.mkdir()
    for item in sample_packages():
        (folder / f"{item.package}.apk").write_bytes(item.apk)
    phone.install(sample_shim("clock-in/app").apk)
    on_phone, in_files = (
        {item.package: item for item in read_source_apps([source])}
        for source in (f"adb:{phone.serial}", str(folder))
    )
    assert set(map(facts, on_phone.values())) == set(map(facts, in_files.values()))
    assert on_phone[f"{SAMPLE}weather"].unasked_components == (f"{SAMPLE}weather.WeatherReceiver",)
    built = build_shims(tuple(on_phone.values()), ShimOptions(), KEY)
    assert {item.packages[0] for item in built} == set(on_phone) - {f"{SAMPLE}weather"}


def test_one_app_of_a_phone_can_be_named(phone: VirtualPhone) -> None:
    (app,) = read_source_apps([f"adb:{phone.serial}/{SAMPLE}pdftool"])
    assert app.package == f"{SAMPLE}pdftool"
    phone.install(packed("", package="com.acme.empty", minimum_sdk=26, target_sdk=36))
    with pytest.raises(InputError, match="declares no capability"):
        read_source_apps([f"adb:{phone.serial}/com.acme.empty"])

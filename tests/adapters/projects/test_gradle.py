"""Build files of Gradle are looked at, not run; projects and dependencies in the forms of its user guide."""

import pytest
from hypothesis import given, strategies as st

from counted_work import check_linear
from droidgate_android.projects.gradle_projects import ProjectDependency, read_dependencies, read_settings
from droidgate_android.projects.gradle_text import (
    MAX_CHARACTERS,
    BuildFacts,
    GradleFile,
    read_build_facts,
    read_gradle,
)
from droidgate_android.projects.version_catalog import read_version_catalog
from titled_rows import titled

KOTLIN = """
plugins { id("com.android.application") } // android { namespace = "wrong" }
/* defaultConfig { applicationId = "wrong" } */
val base = "dev.example"
private const val NAME: String = "clock"
android {
    namespace = "$base.ns"
    defaultConfig {
        applicationId = base + "." + NAME
        manifestPlaceholders["host"] = "example.dev"
        manifestPlaceholders += mapOf(
            "scheme" to "https", "both" to base
        )
    }
    buildTypes {
        getByName("debug") { applicationIdSuffix = ".debug" }
        release { isMinifyEnabled = true }
        create("staging") {
            applicationIdSuffix = "staging"
        }
    }
    productFlavors {
        create("demo") { applicationId = "dev.demo" }
        register("full") { applicationIdSuffix = ".full" }
    }
}
"""
GROOVY = """
apply plugin: 'com.android.application'
def base = 'dev.example'
ext { tail = "groovy" }
android {
    namespace 'dev.example.ns'
    defaultConfig {
        applicationId "${base}.${tail}"
        manifestPlaceholders = [host: "example.dev", 'a.b': 'c']
    }
    buildTypes { debug { applicationIdSuffix '.debug' } }
    productFlavors { demo { applicationId = 'dev.demo' } }
}
"""


@titled(("text", "variant", "application_id"), {
    "Kotlin without a variant": (KOTLIN, None, "dev.example.clock"),
    "Kotlin with the suffix of a build type": (KOTLIN, "debug", "dev.example.clock.debug"),
    "Kotlin with a build type without a suffix": (KOTLIN, "release", "dev.example.clock"),
    "Kotlin with a suffix without a dot": (KOTLIN, "staging", "dev.example.clock.staging"),
    "Kotlin with the id of a flavor": (KOTLIN, "demo", "dev.demo"),
    "Kotlin with the suffix of a flavor": (KOTLIN, "full", "dev.example.clock.full"),
    "Kotlin with the id of a flavor and the suffix of a build type": (KOTLIN, "demoDebug", "dev.demo.debug"),
    "Kotlin with two suffixes": (KOTLIN, "fullStaging", "dev.example.clock.full.staging"),
    "Groovy without a variant": (GROOVY, None, "dev.example.groovy"),
    "Groovy with the suffix of a build type": (GROOVY, "debug", "dev.example.groovy.debug"),
    "Groovy with the id of a flavor": (GROOVY, "demo", "dev.demo"),
})  # fmt: skip
def test_an_application_id_is_that_of_the_variant(
    text: str, variant: str | None, application_id: str
) -> None:
    assert read_gradle(text).application_id(variant) == application_id


DIMENSIONS = KOTLIN.replace(
    "productFlavors {",
    'flavorDimensions += listOf("store", "tier")\n productFlavors {\n'
    'create("fdroid") { dimension = "store"; applicationIdSuffix = ".fdroid" }\n'
    'create("pro") { dimension = "tier"; applicationIdSuffix = ".pro" }',
)


@titled(("text", "variant", "application_id"), {
    "a flavor and a build type": (KOTLIN, "fullStaging", "dev.example.clock.full.staging"),
    "the id of a flavor": (KOTLIN, "demoRelease", "dev.demo"),
    "flavors of two dimensions": (DIMENSIONS, "fdroidProDebug", "dev.example.clock.fdroid.pro.debug"),
    "a name that is no variant": (KOTLIN, "other", "dev.example.clock"),
})  # fmt: skip
def test_a_variant_that_is_read_has_its_application_id(text: str, variant: str, application_id: str) -> None:
    assert read_gradle(text).of_variant(variant).application_id() == application_id


@titled(("text", "placeholders"), {
    "Kotlin": (KOTLIN, {"host": "example.dev", "scheme": "https", "both": "dev.example"}),
    "Groovy": (GROOVY, {"host": "example.dev", "a.b": "c"}),
})  # fmt: skip
def test_namespace_and_placeholders_are_read(text: str, placeholders: dict[str, str]) -> None:
    gradle = read_gradle(text)
    assert (gradle.namespace, gradle.placeholders) == ("dev.example.ns", placeholders)
    assert not gradle.is_library


@pytest.mark.parametrize(("text", "application_id", "namespace"), [
    ("", None, None),
    ('android { namespace = "a.b" }', "a.b", "a.b"),
    ('android.namespace = "a.b"', "a.b", "a.b"),
    ('android.defaultConfig.applicationId = "c.d"', "c.d", None),
    ('android { namespace("a.b"); defaultConfig { applicationId("c.d") } }', "c.d", "a.b"),
    ('android { namespace.set("a.b") }', "a.b", "a.b"),
    ('plugins { id("com.android.library") }\nandroid { namespace = "a.b" }', None, "a.b"),
    ("plugins { alias(libs.plugins.android.library) }\nandroid { namespace = 'a.b' }", None, "a.b"),
    ('android { defaultConfig { applicationId = project.property("id") } }', None, None),
    ('android { defaultConfig { applicationId = "a.$unknown" } }', None, None),
    ('if (applicationId == "no") { }', None, None),
    ('val text = """\nandroid { namespace = "no" }\n"""\nandroid { namespace = "yes" }', "yes", "yes"),
    ('android { namespace = "a.b" // "\n}', "a.b", "a.b"),
    ('println("namespace = \\"no\\"")', None, None),
])  # fmt: skip
def test_a_value_in_a_build_script_is_read_or_unknown(
    text: str, application_id: str | None, namespace: str | None
) -> None:
    gradle = read_gradle(text)
    assert (gradle.application_id(), gradle.namespace) == (application_id, namespace)


def test_a_flavour_without_a_name_is_left_out() -> None:
    gradle = read_gradle("android { productFlavors { ${ { } } }")
    assert (gradle.flavours, gradle.names_in("playRelease")) == ((), None)


@given(st.text(alphabet="{}()[]\"'/*\\\n;=$ +,.:namespceidlato\t", max_size=200))
def test_any_text_as_a_build_script_is_read_without_an_error(text: str) -> None:
    gradle = read_gradle(text)
    for name in (None, "debug", text[:8]):
        gradle.application_id(name)
        gradle.names_in(name or "a")


@pytest.mark.parametrize("unit", [
    "{", "a{", "a(", "/*", '"', '"""', "//\n", "a.", "namespace ", "val ", "val a = b + ", "x to ", "(a)",
    "project ", '"${', "\\", " ", "a\n",
])  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "manifestPlaceholders ", "namespace = ", "android { "])
def test_work_grows_with_the_length_alone(unit: str, prefix: str) -> None:
    check_linear(lambda length: read_gradle(prefix + unit * (length // len(unit)) + "{"), MAX_CHARACTERS // 8)


def test_constants_that_multiply_each_other_stop() -> None:
    lines = [f'val a{n} = "$a{n - 1}$a{n - 1}"' for n in range(1, 60)]
    text = "\n".join(['val a0 = "xxxxxxxxxx"', *lines, 'namespace = "$a59"'])
    assert read_gradle(text).namespace is None


def test_nothing_is_read_of_a_file_beyond_the_limit() -> None:
    assert read_gradle(KOTLIN + " " * MAX_CHARACTERS) == GradleFile()


@titled("text", {
    "Kotlin in one line":
        'android { defaultConfig { minSdk = 24; targetSdk = 35; versionCode = 1_002; versionName = "1.2" } }',
    "Groovy in lines": """android {
        defaultConfig {
            minSdkVersion 24
            targetSdkVersion 35
            versionCode 1002
            versionName '1.2'
        }
    }""",
    "constants and calls in Groovy": """def least = 24
    android { defaultConfig { minSdkVersion(least)
        targetSdk.set(35)
        versionCode(1002)
        versionName('1.' + '2') } }""",
    "constants in Kotlin, and a flavor that changes nothing": """val least: Int = 24
    android { defaultConfig.minSdk = least
        defaultConfig { targetSdk = 35
            versionCode = 1002
            versionName = "1.2" }
        productFlavors { create("a") { minSdk = 30 } } }""",
})  # fmt: skip
def test_releases_and_versions_are_read(text: str) -> None:
    read = read_gradle(text)
    assert (read.minimum_sdk, read.target_sdk, read.version_code, read.version_name) == (24, 35, 1002, "1.2")


@pytest.mark.parametrize(
    "value", ["libs.versions.minSdk.get().toInt()", "24 + 1", "System.getenv()", '"24"', "unknown"]
)
def test_a_computed_release_is_unknown(value: str) -> None:
    assert read_gradle(f"android {{ defaultConfig {{ minSdk = {value} }} }}").minimum_sdk is None


SETTINGS = """
rootProject.name = "sample"
include(":app", ":core:data-store")
include ':old',
    ':older'
include("plain")
includeBuild("build-logic")
project(":old").projectDir = file("legacy/old")
project(':older').projectDir = new File(rootDir, '../older')
dependencyResolutionManagement { repositories { google { content { includeGroup("a.b") } } } }
"""


def test_included_projects_have_their_folders() -> None:
    settings = read_settings(SETTINGS)
    moved = {":old": "legacy/old", ":older": "../older"}
    assert settings.folders == {
        ":app": "app", ":core": "core", ":core:data-store": "core/data-store", ":plain": "plain", **moved,
    }  # fmt: skip
    assert settings.unread == ()


@pytest.mark.parametrize(("path", "accessor", "folder"), [
    (":old", None, "legacy/old"),
    ("old", None, "legacy/old"),
    (None, "core.dataStore", "core/data-store"),
    (None, "app", "app"),
    (":missing", None, None),
    (None, "core.other", None),
])  # fmt: skip
def test_a_dependency_finds_its_project(path: str | None, accessor: str | None, folder: str | None) -> None:
    assert read_settings(SETTINGS).find(ProjectDependency(path, accessor, "", 1)) == folder


@pytest.mark.parametrize("statement", [
    'listOf("a").forEach { include(":feature:$it") }',
    "file('libs').listFiles().each { d -> include \":libs:${d.name}\" }", "include(*modules)",
    "includeFlat 'sibling'", 'if (flag) { include(":x") }', 'project(":x").projectDir = dir',
])  # fmt: skip
def test_what_only_a_build_knows_of_settings_is_reported_with_its_line(statement: str) -> None:
    settings = read_settings(f"\n{statement}\n")
    assert settings.folders == {}
    assert [item.line for item in settings.unread] == [2]


@titled(("statement", "expected"), {
    "Kotlin": ('implementation(project(":a"))', [":a"]),
    "Groovy": ("api project(':a')", [":a"]),
    "a path with a configuration": ("implementation project(path: ':a', configuration: 'default')", [":a"]),
    "a path with an exclusion": ('implementation(project(path = ":a")) { exclude(group = "x") }', [":a"]),
    "two projects at once": ('implementation(project(":a"), project(":b"))', [":a", ":b"]),
    "a quoted configuration": ('"implementation"(project(":a"))', [":a"]),
    "a configuration that is added by name": ('add("implementation", project(":a"))', [":a"]),
    "an accessor of projects": ("implementation(projects.core.data)", ["core.data"]),
    "the configuration of a variant": ('debugImplementation(project(":a"))', [":a debug"]),
    "the configuration of a source set": ('androidMainImplementation(project(":a"))', [":a"]),
    "only at run time": ('runtimeOnly(project(":a"))', [":a"]),
    "the old word for it": ('compile project(":a")', [":a"]),
    "a test of the JVM is not in the app": ('testImplementation(project(":a"))', []),
    "a test on a device is not in the app": ('androidTestImplementation(project(":a"))', []),
    "only at compile time is not in the app": ('compileOnly(project(":a"))', []),
    "a processor is not in the app": ('ksp(project(":a"))', []),
    "a platform has only versions": ('implementation(platform(project(":a")))', []),
    "fixtures of tests are not in the app": ('implementation(testFixtures(project(":a")))', []),
    "a coordinate with the word projects": ('implementation("group:projects.name:1")', []),
    "a folder of libraries is not a project": ("implementation fileTree(dir: 'libs')", []),
})  # fmt: skip
def test_the_dependencies_that_go_into_an_app_are_read(statement: str, expected: list[str]) -> None:
    dependencies = read_dependencies(f"dependencies {{\n{statement}\n}}")
    assert dependencies.unread == ()
    read = [(item.path or item.accessor, item.variant, item.line) for item in dependencies.projects]
    assert read == [(*text.partition(" ")[::2], 2) for text in expected]


@pytest.mark.parametrize("statement", [
    "implementation(project(name))", 'implementation(project(":f:$n"))',
    'listOf(":x").forEach { implementation(project(it)) }', 'if (flag) { implementation(project(":x")) }',
    'if (flag) implementation(project(":x"))', 'implementation(flag ? project(":x") : project(other))',
])  # fmt: skip
def test_what_only_a_build_knows_of_dependencies_is_reported_with_its_line(statement: str) -> None:
    dependencies = read_dependencies(f"dependencies {{\n{statement}\n}}")
    assert dependencies.projects == ()
    assert [item.line for item in dependencies.unread] == [2]


@titled(("header", "expected", "unread"), {
    "common code": ("commonMain.dependencies", [":a"], 0),
    "code of Android": ("androidMain { dependencies", [":a"], 0),
    "code of Android by a delegate": ("val androidMain by getting { dependencies", [":a"], 0),
    "code of iOS is left out": ("val iosMain by getting { dependencies", [], 0),
    "code of the desktop is left out": ('getByName("desktopMain") { dependencies', [], 0),
    "tests of common code are left out": ("commonTest.dependencies", [], 0),
    "unit tests of Android are left out": ("androidUnitTest { dependencies", [], 0),
    "a source set of another name is reported": ('getByName("mobileMain") { dependencies', [], 1),
})  # fmt: skip
def test_the_android_part_of_a_multiplatform_module_is_read(
    header: str, expected: list[str], unread: int
) -> None:
    text = f'kotlin {{ sourceSets {{ {header} {{ implementation(project(":a")) }} }} }}'
    read = read_dependencies(text)
    assert ([project.path for project in read.projects], len(read.unread)) == (expected, unread)


@given(st.text(alphabet="{}()[]\"'/*\\\n;=$ +,.:projectincludm\t", max_size=200))
def test_any_text_as_settings_is_read_without_an_error(text: str) -> None:
    read_settings(text)
    read_dependencies(f"dependencies {{ {text}")
    read_version_catalog(text)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [
    "include(", 'include(":a"),', '"a",', "project(", 'project(":a"),', "projects.a.", "a{", "if ", "add ( ",
    pytest.param(f'include("a"{" " * 8000}x)\n', id="blanks after a quoted path"),
    pytest.param(f"include x{' ' * 8000}x\n", id="blanks after a path"),
])  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "include ", "dependencies { implementation(", "dependencies { "])
def test_work_for_projects_grows_with_the_length_alone(unit: str, prefix: str) -> None:
    def read(length: int) -> None:
        text = prefix + unit * (length // len(unit))
        read_settings(text)
        read_dependencies(text)

    check_linear(read, MAX_CHARACTERS // 8)


CATALOG = """
[versions]
minSdk = "26"
app-id = "dev.example.app"
range = { strictly = "1" }
[plugins]
android-application = { id = "com.android.application", version.ref = "agp" }
my-app = "dev.example.convention:1.0"
android_lib = { id = "com.android.library", version = "8" }
"""
CATALOG_APP = """plugins { alias(libs.plugins.android.application) }
android { defaultConfig { applicationId = libs.versions.app.id.get()
minSdk = libs.versions.minSdk.get().toInt() } }"""
CATALOG_LIBRARY = "plugins { alias(libs.plugins.android.lib) }"
NOT_APPLIED = 'plugins { id("com.android.library") apply false\nid("com.android.application") }'


@titled(("text", "application", "library", "facts"), {
    "an app by the catalog": (CATALOG_APP, True, False, ("dev.example.app", 26)),
    "a library by the catalog": (CATALOG_LIBRARY, False, True, (None, None)),
    "a plugin that is not applied counts for nothing": (NOT_APPLIED, True, False, (None, None)),
})  # fmt: skip
def test_plugins_decide_what_a_module_is(
    text: str, *, application: bool, library: bool, facts: tuple[str | None, int | None]
) -> None:
    gradle = read_gradle(text, BuildFacts(read_version_catalog(CATALOG)))
    assert (gradle.is_application, gradle.is_library) == (application, library)
    assert (gradle.application_id(), gradle.minimum_sdk) == facts


def test_plugins_are_looked_up_in_the_version_catalog() -> None:
    assert read_version_catalog(CATALOG).plugins["my.app"] == "dev.example.convention"


@titled("text", {
    "a table without an end": "[", "a key without a value": "a = ",
    "too many levels of arrays": "x = " + "[" * 900,
    "too many levels of keys": "[versions]\na." + "a." * 600 + "a = 1",
    "versions that are a number": "versions = 1", "a zero byte": "\x00",
})  # fmt: skip
def test_a_catalog_that_cannot_be_read_defines_nothing(text: str) -> None:
    assert read_version_catalog(text).versions == {}


BUILD = {
    "gradle.properties": "# shared\nappId=dev.example.app\nAPP_ID : dev.upper \r\nleast=26\nodd=a\\u0041\n",
    "build.gradle.kts": "",
    "build.gradle": """def own = "dev.own"
        ext { base = "dev.root"
            releases = 28 }
        rootProject.ext.second = "dev.second"
        """,
}


@titled(("statement", "application_id", "minimum_sdk"), {
    "a property through its provider": (
        'applicationId = providers.gradleProperty("appId").get() + ".x"\nminSdk = property("least").toInt()',
        "dev.example.app.x", 26),
    "a property by its name in Groovy": ("applicationId APP_ID\nminSdkVersion releases", "dev.upper", 28),
    "an extra property of the root": (
        'applicationId "${rootProject.ext.base}.x"\nminSdk rootProject.ext.releases', "dev.root.x", 28),
    "an extra property in Kotlin": (
        'applicationId = "${rootProject.extra["second"]}.x"\nminSdk = rootProject.extra["releases"] as Int',
        None, 28),
    "an extra property of the root in Kotlin": (
        'applicationId = rootProject.extra["second"] as String', "dev.second", None),
    "a property that the build does not have": ('applicationId = property("none") as String', None, None),
    "a variable of the root's script, which modules do not see": ("applicationId own", None, None),
    "a text that only looks like a property": ('applicationId = "a.project.appId"', "a.project.appId", None),
    "what another object computes": ("applicationId = AppConfig.appId", None, None),
    "a property with an escape": ('applicationId = property("odd")', None, None),
})  # fmt: skip
def test_an_id_from_properties_of_the_build_is_read_and_another_is_reported(
    statement: str, application_id: str | None, minimum_sdk: int | None
) -> None:
    text = f"android {{ defaultConfig {{ {statement}\n }} }}"
    gradle = read_gradle(text, read_build_facts(BUILD.get))
    assert (gradle.application_id(), gradle.minimum_sdk) == (application_id, minimum_sdk)
    assert [item.line for item in gradle.unread_ids] == [1] * (application_id is None)


def test_a_constant_that_is_computed_hides_a_property_of_its_name() -> None:
    text = "val appId = compute()\nandroid { defaultConfig { applicationId = appId } }"
    gradle = read_gradle(text, read_build_facts(BUILD.get))
    assert (gradle.application_id(), len(gradle.unread_ids)) == (None, 1)

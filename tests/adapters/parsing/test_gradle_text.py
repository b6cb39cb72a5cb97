"""Build files are looked at, not run."""

import pytest
from hypothesis import given, strategies as st

from counted_work import check_linear
from droidgate_android.projects.gradle_text import MAX_CHARACTERS, GradleFile, read_gradle

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


def test_kotlin_is_read() -> None:
    gradle = read_gradle(KOTLIN)
    assert gradle.namespace == "dev.example.ns"
    assert {
        name: gradle.application_id(name) for name in (None, "debug", "release", "staging", "demo", "full")
    } == {
        None: "dev.example.clock",
        "debug": "dev.example.clock.debug",
        "release": "dev.example.clock",
        "staging": "dev.example.clock.staging",
        "demo": "dev.demo",
        "full": "dev.example.clock.full",
    }
    assert gradle.application_id("demoDebug") == "dev.demo.debug"
    assert gradle.application_id("fullStaging") == "dev.example.clock.full.staging"
    assert gradle.placeholders == {"host": "example.dev", "scheme": "https", "both": "dev.example"}
    assert not gradle.is_library


def test_groovy_is_read() -> None:
    gradle = read_gradle(GROOVY)
    assert gradle.namespace == "dev.example.ns"
    assert gradle.application_id() == "dev.example.groovy"
    assert gradle.application_id("debug") == "dev.example.groovy.debug"
    assert gradle.application_id("demo") == "dev.demo"
    assert gradle.placeholders == {"host": "example.dev", "a.b": "c"}


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
def test_what_a_script_says_or_leaves_open(
    text: str, application_id: str | None, namespace: str | None
) -> None:
    gradle = read_gradle(text)
    assert (gradle.application_id(), gradle.namespace) == (application_id, namespace)


@given(st.text(alphabet="{}()[]\"'/*\\\n;=$ +,.:namespceidlato\t", max_size=200))
def test_any_text_says_something_or_nothing(text: str) -> None:
    gradle = read_gradle(text)
    for name in (None, "debug", text[:8]):
        gradle.application_id(name)


@pytest.mark.parametrize("unit", [
    "{", "a{", "a(", "/*", '"', '"""', "//\n", "a.", "namespace ", "val ", "val a = b + ", "x to ", "(a)",
    "\\", " ", "a\n",
])  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "manifestPlaceholders ", "namespace = ", "android { "])
def test_work_grows_with_the_length_alone(unit: str, prefix: str) -> None:
    check_linear(lambda length: read_gradle(prefix + unit * (length // len(unit)) + "{"), MAX_CHARACTERS // 8)


def test_constants_that_multiply_each_other_stop() -> None:
    lines = [
        'val a0 = "xxxxxxxxxx"',
        *(f'val a{n} = "$a{n - 1}$a{n - 1}"' for n in range(1, 60)),
        'namespace = "$a59"',
    ]
    assert read_gradle("\n".join(lines)).namespace is None


def test_a_file_beyond_the_limit_says_nothing() -> None:
    assert read_gradle(KOTLIN + " " * MAX_CHARACTERS) == GradleFile()


VERSIONS = (
    'android { defaultConfig { minSdk = 24; targetSdk = 35; versionCode = 1_002; versionName = "1.2" } }',
    """android {
        defaultConfig {
            minSdkVersion 24
            targetSdkVersion 35
            versionCode 1002
            versionName '1.2'
        }
    }""",
    """def least = 24
    android { defaultConfig { minSdkVersion(least)
        targetSdk.set(35)
        versionCode(1002)
        versionName('1.' + '2') } }""",
    """val least: Int = 24
    android { defaultConfig.minSdk = least
        defaultConfig { targetSdk = 35
            versionCode = 1002
            versionName = "1.2" }
        productFlavors { create("a") { minSdk = 30 } } }""",
)


@pytest.mark.parametrize("text", VERSIONS)
def test_releases_and_versions_are_read(text: str) -> None:
    read = read_gradle(text)
    assert (read.minimum_sdk, read.target_sdk, read.version_code, read.version_name) == (24, 35, 1002, "1.2")


@pytest.mark.parametrize(
    "value", ["libs.versions.minSdk.get().toInt()", "24 + 1", "System.getenv()", '"24"', "unknown"]
)
def test_a_computed_release_is_unknown(value: str) -> None:
    assert read_gradle(f"android {{ defaultConfig {{ minSdk = {value} }} }}").minimum_sdk is None

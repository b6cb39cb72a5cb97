"""Source code of modules: which files are read, with what, and what of a build is preferred."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from counted_work import count_calls
from droidgate.coverage.scan_inputs import Item, list_inputs
from droidgate.coverage.scan_one import scan_one
from droidgate.sources import Providers, module_layout, read_source
from droidgate.sources.linting import lint
from droidgate.sources.source_code import CAPABILITIES_NOT_FOUND, SOURCE_DIFFERS
from droidgate_android.projects.project_files import read_project_file
from droidgate_mappings.formats.format import find_format, load_formats
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.translate import translate
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import ADD_NOTE, FUNCTIONS, MANIFEST, NOTE, kotlin_tree
from requirements_of_tests import require
from titled_rows import titled

METADATA_PROPERTY = (
    '<property android:name="android.app.appfunctions.app_metadata" android:resource="@xml/app_metadata"/>'
)
METADATA = (
    '<AppFunctionAppMetadata xmlns:appfn="http://schemas.android.com/apk/res-auto" '
    'appfn:description="Keeps notes."/>'
)
KSP = "app/build/generated/ksp/debug/resources/assets/app_functions_v2.xml"
PLAIN = (
    "package dev.notes\n\nclass Plain{number} {{\n    fun add(first: Int, second: Int) = first + second\n}}\n"
)


pytestmark = pytest.mark.usefixtures("own_folder")


def tree(files: dict[str, str | bytes] | None = None) -> Providers:
    write_tree(Path("p"), {**kotlin_tree(), **(files or {})})
    return read_source("p")


def with_application(content: str) -> str:
    return MANIFEST.replace("</application>", f"{content}</application>")


def ids(reading: Providers) -> list[str]:
    return [item.id for provider in reading.providers for item in provider.capabilities]


def codes(reading: Providers) -> list[str]:
    return [finding.code for finding in reading.findings]


LIBRARY_ALONE = {
    "build.gradle.kts": 'plugins { id("com.android.kotlin.multiplatform.library") }\n',
    "src/commonMain/kotlin/Notes.kt": FUNCTIONS,
    "src/androidMain/kotlin/Note.kt": NOTE,
    "src/commonTest/kotlin/Test.kt": FUNCTIONS.replace("Notes", "Tests"),
    "src/iosMain/kotlin/Test.kt": FUNCTIONS.replace("Notes", "Tests"),
}
OF_LIBRARY = FUNCTIONS.replace("package dev.notes", "package dev.shared")
ALONE = FUNCTIONS.replace("import dev.shared.Note\n", "").replace(": Note = Note(title)", ": String = title")


@titled(("files", "source", "package", "expected"), {
    "a library belongs to the app that has it":
        ({**kotlin_tree(), "shared/src/main/java/Inner.kt": OF_LIBRARY}, "p", "dev.notes",
         [ADD_NOTE, "dev.shared.Notes#addNote"]),
    "a library without an app": (LIBRARY_ALONE, "p", None, [ADD_NOTE]),
    "Kotlin files without a build": ({"Notes.kt": FUNCTIONS, "Note.kt": NOTE}, "p", None, [ADD_NOTE]),
    "a Kotlin file": ({"Notes.kt": ALONE}, "p/Notes.kt", None, [ADD_NOTE]),
})  # fmt: skip
def test_functions_are_read_with_and_without_a_build(
    files: dict[str, str | bytes], source: str, package: str | None, expected: list[str]
) -> None:
    write_tree(Path("p"), files)
    reading = read_source(source)
    assert ids(reading) == expected
    assert {provider.package for provider in reading.providers} == {package}


def test_the_service_of_the_manifest_gives_its_access_to_functions_of_the_code() -> None:
    service = """<service android:name=".Functions" android:exported="true"
        android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">
        <property android:name="android.app.appfunctions.v2" android:value="app_functions_v2.xml"/>
        <intent-filter><action android:name="android.app.appfunctions.AppFunctionService"/></intent-filter>
        </service>"""
    reading = tree({"app/src/main/AndroidManifest.xml": with_application(service)})
    (provider,) = reading.providers
    assert (provider.component, provider.access.exported) == (".Functions", True)
    assert ids(reading) == [ADD_NOTE]


def test_an_app_with_guidance_only_has_a_note_about_its_functions() -> None:
    files = {
        "app/src/main/AndroidManifest.xml": with_application(METADATA_PROPERTY),
        "app/src/main/res/xml/app_metadata.xml": METADATA,
        "app/src/release/res/values/colors.xml": "<resources/>",
    }
    reading = tree({**files})
    assert [CAPABILITIES_NOT_FOUND in codes(part) for _, part in reading.other_variants] == [False]
    assert CAPABILITIES_NOT_FOUND not in codes(reading)
    assert [(item.instructions, len(item.capabilities)) for item in reading.providers] == [
        ("Keeps notes.", 1)
    ]
    Path("p/app/src/main/java/dev/notes/Notes.kt").unlink()
    reading = read_source("p")
    (finding,) = [item for item in reading.findings if item.code == CAPABILITIES_NOT_FOUND]
    assert str(finding.source).startswith("p/app/src/main/res/xml/app_metadata.xml")


def test_every_provider_of_an_app_has_its_guidance() -> None:
    entry_point = """package dev.notes
import androidx.appfunctions.*
@AppFunctionServiceEntryPoint(serviceName = "More", appFunctionXmlFileName = "more")
abstract class BaseMore : AppFunctionService() { @AppFunction fun count(x: Int): Int = x }
"""
    reading = tree(
        {
            "app/src/main/AndroidManifest.xml": with_application(METADATA_PROPERTY),
            "app/src/main/res/xml/app_metadata.xml": METADATA,
            "app/src/main/java/dev/notes/More.kt": entry_point,
        }
    )
    assert sorted((provider.component or "", provider.instructions) for provider in reading.providers) == [
        ("", "Keeps notes."),
        ("dev.notes.More", "Keeps notes."),
    ]


def functions_file(reading: Providers, dialect: str) -> str:
    """Return a functions file in the form of the compiler's."""
    target, _ = find_format("appfunctions")
    (translation,) = translate(reading.providers, target, target.dialect(dialect))
    texts = [artifact.text for artifact in translation.writing.artifacts]
    return next(text for text in texts if "functionId" in text or "function_id" in text)


class TestBuilds:
    @staticmethod
    def output(dialect: str = "v2") -> str:
        return functions_file(tree(), dialect)

    def test_what_the_compiler_has_made_is_preferred(self) -> None:
        reading = tree({KSP: self.output()})
        (provider,) = reading.providers
        assert str(provider.source).startswith(f"p/{KSP}")
        assert (ids(reading), SOURCE_DIFFERS in codes(reading)) == ([ADD_NOTE], False)

    @pytest.mark.parametrize("dialect", ["v2-legacy", "v1", "app-level"])
    def test_what_a_form_of_the_output_cannot_hold_is_not_a_difference(self, dialect: str) -> None:
        reading = tree({KSP if dialect != "v1" else KSP.replace("_v2", ""): self.output(dialect)})
        (provider,) = reading.providers
        assert (provider.dialect, SOURCE_DIFFERS in codes(reading)) == (dialect, False)

    def test_each_difference_is_reported_at_the_line_of_the_source(self) -> None:
        changed = self.output().replace("The title of the note.", "A title.")
        reading = tree({KSP: changed})
        (finding,) = [item for item in reading.findings if item.code == SOURCE_DIFFERS]
        assert str(finding.source) == "p/app/src/main/java/dev/notes/Notes.kt:14"
        changed_text = f"the parameter title of {ADD_NOTE}: the description changed"
        assert finding.message == f"{changed_text} from the source to the build's output, p/{KSP}:2"

    @pytest.mark.parametrize(("made", "module", "variant", "read", "count"), [
        pytest.param({"debug", "release"}, "app", None, "debug", 2, id="of both, that of the default"),
        pytest.param({"debug", "release"}, "app", "release", "release", 1, id="of both, that of the variant"),
        pytest.param({"release"}, "app", None, None, 2, id="a release lacks what the debug build declares"),
        pytest.param({"release"}, "shared", None, None, 2, id="a release lacks what a library declares"),
        pytest.param({"debug"}, "app", "release", None, 1, id="a debug build has what the release lacks"),
        pytest.param({"debug"}, None, "release", "debug", 1, id="builds do not differ where no code does"),
        pytest.param({"beta", "release"}, None, None, "release", 1, id="a release before another variant"),
        pytest.param({"beta"}, "app", None, None, 2, id="a variant that no build file names"),
    ])  # fmt: skip
    def test_what_was_made_of_a_variant_is_read_for_it(
        self, made: set[str], module: str | None, variant: str | None, read: str | None, count: int
    ) -> None:
        debug = FUNCTIONS.replace("class Notes", "class Debug").replace("addNote", "traceNote")
        path = f"{module}/src/debug/java/dev/notes/Debug.kt"
        code: dict[str, str | bytes] = {} if module is None else {path: debug}
        for name in made:
            write_tree(Path("p"), {**kotlin_tree(), **code})
            built = "release" if name == "beta" else name
            output = functions_file(read_source("p", variant=built), "v2")
            write_tree(Path("outputs"), {KSP.replace("/debug/", f"/{name}/"): output})
        shutil.copytree("outputs/app/build", "p/app/build")
        reading = read_source("p", variant=variant)
        (source,) = {provider.source.path for provider in reading.providers if provider.source}
        assert source.partition("/ksp/")[2].partition("/")[0] == (read or "")
        assert (len(ids(reading)), SOURCE_DIFFERS in codes(reading)) == (count, False)

    def test_a_link_in_place_of_the_output_is_not_followed(self) -> None:
        write_tree(Path("elsewhere"), {"ksp/debug/resources/assets/app_functions_v2.xml": self.output()})
        Path("p/app/build").mkdir()
        Path("p/app/build/generated").symlink_to(Path("elsewhere").absolute())
        reading = read_source("p")
        assert str(reading.providers[0].source).startswith("p/app/src/main/java")


@pytest.mark.requires("corpus")
def test_a_real_app_differs_from_its_compilers_output_where_the_compiler_was_older() -> None:
    """temoki/appfunction_sample keeps the output; that compiler left the text of properties out."""
    corpus = require("corpus")
    app = "temoki__appfunction_sample__app__src__main__"
    names = {
        "app/src/main/java/CountAppFunctions.kt": f"appfunctions_kotlin/{app}java*CountAppFunctions.kt",
        "app/src/main/assets/app_functions_v2.xml": f"appfunctions/{app}assets__app_functions_v2.xml",
    }
    files = {path: next(corpus.glob(name)).read_bytes() for path, name in names.items()}
    write_tree(Path("p"), {**files, "app/src/main/AndroidManifest.xml": MANIFEST})
    reading = read_source("p")
    assert ids(reading)
    assert all(str(item.source).startswith("p/app/src/main/assets") for item in reading.providers)
    (finding,) = [item for item in reading.findings if item.code == SOURCE_DIFFERS]
    assert finding.pointer.endswith("CountAppFunctions$Count/properties/value/type/description")


@pytest.mark.requires("corpus")
def test_real_apps_without_compilers_output_have_functions() -> None:
    """Each app of the corpus of which a manifest and Kotlin functions are stored."""
    corpus = require("corpus")
    apps: dict[str, dict[str, str | bytes]] = {}
    for folder in ("appfunctions_kotlin", "appfunctions"):
        for row in _rows(corpus / folder / "index.tsv"):
            path = corpus / folder / row["file"]
            if row.get("kind") in {"app", None} or folder == "appfunctions":
                apps.setdefault(row["repo"], {})[row["path"]] = path.read_bytes()
    apps = {name: files for name, files in apps.items() if _is_kotlin_app(files)}
    assert len(apps) >= 8
    for name, files in apps.items():
        write_tree(Path(name.replace("/", "__")), files)
        reading = read_source(name.replace("/", "__"))
        assert ids(reading), name
        assert reading.problems == (), name


def _rows(index: Path) -> list[dict[str, str]]:
    head, *lines = index.read_text().splitlines()
    return [dict(zip(head.split("\t"), line.split("\t"), strict=False)) for line in lines]


def _is_kotlin_app(files: dict[str, str | bytes]) -> bool:
    return any(path.endswith(".kt") for path in files) and any("AndroidManifest" in path for path in files)


class TestCost:
    @pytest.mark.slow
    def test_ten_thousand_plain_files_are_not_parsed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The count does not depend on the machine: a parse alone has thousands of calls."""
        count = 10_000
        names = {
            f"app/src/main/java/dev/notes/f{number % 100}/Plain{number}.kt": PLAIN.format(number=number)
            for number in range(count)
        }
        write_tree(Path("p"), {"app/src/main/AndroidManifest.xml": MANIFEST, **names})
        formats = [load_formats()["appfunctions"]]
        monkeypatch.setitem(sys.modules, "droidgate_appfunctions.kotlin.syntax", None)
        calls = count_calls(lambda: read_source("p", formats=formats))
        assert calls < 300 * count

    def test_other_sources_do_not_import_the_parser(self) -> None:
        write_tree(Path("p"), {"app/src/main/AndroidManifest.xml": MANIFEST, "app/src/main/java/A.kt": PLAIN})
        program = (
            "import json, sys\nfrom droidgate.sources import read_source\nread_source('p')\n"
            "print(json.dumps([one for one in sys.modules if one.endswith('kotlin.syntax')]))"
        )
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert json.loads(run.stdout) == []


FLAVOURS = """
plugins {{ id("com.android.application") }}
android {{
  flavorDimensions += listOf("store", "stage")
  productFlavors {{
    create("play") {{ dimension = "store"; {default} }}
    create("fdroid") {{ dimension = "store" }}
    create("staging") {{ dimension = "stage" }}
    create("live") {{ dimension = "stage" }}
  }}
  buildTypes {{ create("benchmark") }}
}}
dependencies {{ implementation(project(":shared")) }}
"""
SETS = (
    "play", "fdroid", "staging", "debug", "release", "fdroidLive", "fdroidLiveDebug", "benchmark", "plugged",
)  # fmt: skip
PLAY = "getIsDefault().set(true)"


IMPORTS = "import androidx.appfunctions.AppFunctionContext\nimport androidx.appfunctions.AppFunction\n"
# fmt: off
VARIANTS = {
    "the first flavours by name, and debug": ("", None, {"fdroid", "debug", "fdroidLive", "fdroidLiveDebug"}),
    "the flavour that is set to be the default": (PLAY, None, {"play", "debug"}),
    "the flavour that states that it is the default": ("isDefault = true", None, {"play", "debug"}),
    "the flavour that is named": ("", "play", {"play", "debug"}),
    "the variant that is named": ("", "playStagingRelease", {"play", "staging", "release"}),
    "the build type that is named": ("", "release", {"fdroid", "release", "fdroidLive"}),
    "a named flavour before the default": (PLAY, "fdroidBenchmark", {"fdroid", "benchmark", "fdroidLive"}),
    "a source set that no build file names":
        ("", "plugged", {"fdroid", "debug", "fdroidLive", "fdroidLiveDebug", "plugged"}),
}
# fmt: on


@titled(("default", "variant", "expected"), VARIANTS)
def test_functions_of_one_variant_are_read_and_those_of_others_are_reported(
    default: str, variant: str | None, expected: set[str]
) -> None:
    function = "@AppFunction fun f(c: AppFunctionContext) {}"
    code = {
        f"{module}/src/{name}/java/{name}.kt": f"package {module}\n{IMPORTS}class Of{name} {{ {function} }}\n"
        for name in SETS
        for module in ("app", "shared")
    }
    write_tree(Path("p"), {**kotlin_tree(), **code, "app/build.gradle.kts": FLAVOURS.format(default=default)})
    reading = read_source("p", variant=variant)
    in_app = {id_.partition("#")[0].removeprefix("app.Of") for id_ in ids(reading) if id_.startswith("app.")}
    assert in_app == expected
    # A library without flavours has the build type of the app where it knows it.
    own = {"release" if "release" in expected else "debug", *({"plugged"} & expected)}
    assert {id_ for id_ in ids(reading) if id_.startswith("shared.")} == {
        f"shared.Of{name}#f" for name in own
    }
    findings = {str(item.source): item for item in reading.findings}
    for name in SETS:
        finding = findings[f"p/app/src/{name}/java/{name}.kt"]
        is_read = name in expected
        assert finding.code == ("variant-code-read" if is_read else "variant-code-unread")
        assert finding.message.endswith("declares 1 capability: f")
        assert finding.hint == ("--variant reads another one" if is_read else f"--variant {name} reads it")


SERVICE = """<service android:name=".S" android:exported="true">
    <intent-filter><action android:name="mobile.mcp.SERVICE"/></intent-filter>
    <meta-data android:name="mobile.mcp.tool.name" android:value="Notes"/>
    <meta-data android:name="mobile.mcp.tool.description" android:value="Keeps notes."/>
    <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/mcp"/>
</service>"""
CAPABILITY = '<capability id="add" description="Adds a note." version="1.0"/>'
DESCRIPTOR = '<mobile-mcp-capabilities version="1.0">{}</mobile-mcp-capabilities>'
APP_WITH_SERVICE: dict[str, str | bytes] = {
    "app/build.gradle.kts": FLAVOURS.format(default=""),
    "app/src/main/AndroidManifest.xml": with_application(SERVICE),
    "app/src/main/res/xml/mcp.xml": DESCRIPTOR.format(CAPABILITY),
}
REFUSED = (
    f"package dev.notes\n{IMPORTS}"
    "class Of{0} {{ @AppFunction fun f(c: AppFunctionContext) {{}} "
    "@AppFunction fun g(c: AppFunctionContext, x: Any) {{}} }}\n"
)
HIDDEN = SERVICE.split("\n", 1)[0].replace("true", "false") + "</service>"
# fmt: off
FAULTS: dict[str, tuple[dict[str, str], str, str]] = {
    "a function of a flavour": ({"play/java/F.kt": REFUSED.format("Play")}, "play", "unreadable"),
    "a function of a build type": ({"release/java/F.kt": REFUSED.format("Release")}, "release", "unreadable"),
    "a function of a flavour with a build type":
        ({"playStagingRelease/java/F.kt": REFUSED.format("All")}, "playStagingRelease", "unreadable"),
    "a descriptor over that of main": (
        {"play/res/xml/mcp.xml": DESCRIPTOR.format(CAPABILITY * 2)}, "play", "mobile-mcp-capability-id-unique"
    ),
    "a component of main with another attribute":
        ({"release/AndroidManifest.xml": with_application(HIDDEN)}, "release", "mobile-mcp-exported"),
}
# fmt: on


@titled(("files", "source_set", "code"), FAULTS)
def test_lint_finds_a_fault_of_another_variant_once_and_names_the_source_set(
    files: dict[str, str], source_set: str, code: str
) -> None:
    own = {f"app/src/{name}": text for name, text in files.items()}
    write_tree(Path("p"), {**kotlin_tree(), **APP_WITH_SERVICE, **own})
    (finding,) = [item for item in lint("p").findings if item.code == code]
    assert finding.variants == (source_set,)
    assert finding.source is not None
    assert finding.source.path == f"p/app/src/{next(iter(files))}"
    assert finding.text.endswith(f"(only in {source_set})")
    (reported,) = [item for item in lint("p", variant=source_set).findings if item.code == code]
    assert reported == finding.model_copy(update={"variants": ()})
    assert code not in [item.code for item in lint("p", variant="fdroid").findings]


def test_what_only_other_variants_declare_is_counted_once_by_inspect_and_scan() -> None:
    def functions(*names: str) -> str:
        return (
            f"package dev.notes\n{IMPORTS}class Flavour {{"
            + "".join(f"@AppFunction fun {name}(c: AppFunctionContext) {{}}\n" for name in names)
            + "}\n"
        )

    code = {"fdroid": ("a", "b"), "play": ("b", "c", "d"), "benchmark": ("d", "e")}
    files = {f"app/src/{name}/java/F.kt": functions(*names) for name, names in code.items()}
    debug = {"app/src/debug/AndroidManifest.xml": with_application('<activity android:name=".Debug"/>')}
    overlay = {"app/src/play/res/xml/mcp.xml": DESCRIPTOR.format(CAPABILITY.replace("add", "share"))}
    write_tree(Path("p"), {**kotlin_tree(), **APP_WITH_SERVICE, **files, **debug, **overlay})
    reading = read_source("p")
    others = {
        item.id.rpartition("#")[2]: variants
        for provider, variants in reading.only_in_variants
        for item in provider.capabilities
    }
    expected = {"c": ("play",), "d": ("benchmark", "play"), "e": ("benchmark",), "share": ("play",)}
    assert others == expected
    assert sorted(id_.rpartition("#")[2] for id_ in ids(reading)) == ["a", "add", "addNote", "b"]
    (item,) = list_inputs(["p"]).items
    scanned = scan_one(item)
    assert scanned.rows is not None
    rows = scanned.rows
    variants_by_id = {row.id.rpartition("#")[2]: row.variants for row in rows["capabilities"]}  # type: ignore[union-attr]
    assert variants_by_id == {**expected, "a": (), "add": (), "addNote": (), "b": ()}
    assert len(rows["apps"]) == 1


def test_a_file_that_variants_share_is_not_read_again_for_each_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: Counter[str] = Counter()

    def counted(path: str, **options: Any) -> bytes:
        reads[path] += 1
        return read_project_file(path, **options)

    monkeypatch.setattr(module_layout, "read_project_file", counted)
    most = {}
    for count in (1, 20):
        reads.clear()
        names = [f"flavour{number:02}" for number in range(count)]
        flavours = "".join(f'create("{name}") {{ dimension = "store" }}\n' for name in names)
        gradle = FLAVOURS.format(default="").replace('create("play")', flavours + 'create("play")')
        code = {f"app/src/{name}/java/F.kt": FUNCTIONS.replace("Notes", name) for name in names}
        write_tree(Path("p"), {**kotlin_tree(), "app/build.gradle.kts": gradle, **code})
        assert len(read_source("p").other_variants) == count
        most[count] = max(reads[path] for path in reads if "/src/" in path)
    assert most[20] == most[1]


def test_a_variant_that_no_module_has_is_an_error() -> None:
    write_tree(Path("p"), {**kotlin_tree(), "app/build.gradle.kts": FLAVOURS.format(default="")})
    with pytest.raises(UsageError, match='no module has the variant "demo"') as caught:
        read_source("p", variant="demo")
    assert caught.value.hint == (
        "flavours and build types here: benchmark, debug, fdroid, live, play, release, staging"
    )


@pytest.mark.parametrize("packed", ["p", "other"])
def test_a_variant_is_looked_for_in_all_that_is_read(packed: str) -> None:
    write_tree(Path("box/p"), {**kotlin_tree(), "app/build.gradle.kts": FLAVOURS.format(default="")})
    write_tree(Path("box/other"), {"list.json": "[]"})
    shutil.make_archive("packed", "zip", f"box/{packed}")
    shutil.rmtree(f"box/{packed}")
    shutil.move("packed.zip", "box")
    assert read_source("box", variant="play").providers
    with pytest.raises(UsageError, match='no module has the variant "demo"'):
        read_source("box", variant="demo")


def test_a_scan_has_the_functions_of_a_tree_and_changes_with_its_libraries() -> None:
    tree()
    units = []
    for note in (NOTE, NOTE.replace("title: String", "title: String?")):
        Path("p/shared/src/main/kotlin/dev/shared/Note.kt").write_text(note)
        (item,) = list_inputs(["p"]).items
        scanned = scan_one(Item.from_json(json.loads(json.dumps(item.as_json()))))
        assert scanned.outcome == "read"
        assert scanned.rows is not None
        (row,) = scanned.rows["capabilities"]
        assert ADD_NOTE in str(row)
        units.append(scanned.unit)
    assert units[0] != units[1]

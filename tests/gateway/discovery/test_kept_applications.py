"""What is kept of an app answers as the app did: values of every type, files, absent things and errors."""

import math
from pathlib import Path

import pytest

from droidgate.sources.phone_source import (
    ApplicationStore,
    KeptApplication,
    NotKeptError,
    RecordedResources,
    record,
)
from droidgate_mappings.formats.application import Application, Component, IntentFilter, MetaData, TextFile
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding, Level

KEY = {"version_code": 7, "files": {"/a/base.apk": [1, 2]}}


class Resources:
    """Counts what it is asked; some questions are errors."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read_file(self, reference: str) -> TextFile | None:
        self.asked.append(reference)
        if reference == "@xml/broken":
            raise InputError("it is broken", place="a!/res/xml/broken.xml", hint="Look")
        if reference == "@xml/large":
            raise BudgetError("it is too large")
        if reference == "@xml/absent":
            return None
        return TextFile("<a>\U0001f600 é\ud800</a>", Place(path="a!/res/xml/x.xml", line=1), compiled=True)

    def read_text(self, reference: str) -> str | None:
        self.asked.append(reference)
        return None if reference == "@string/absent" else "text"

    def read_array(self, reference: str) -> tuple[str, ...] | None:
        self.asked.append(reference)
        return None if reference == "@array/absent" else ("one", "@xml/two")

    def read_asset(self, name: str) -> TextFile | None:
        self.asked.append(name)
        return TextFile("{}", Place(path=f"a!/assets/{name}"))


def application(resources: Resources) -> Application:
    values: tuple[str | bool | int | float | None, ...] = (
        "1", True, 1, 1.5, 1.0, -(2**31), math.inf, None, "\ud800",
    )  # fmt: skip
    meta = tuple(MetaData(f"m{at}", value, resource="@xml/x") for at, value in enumerate(values))
    service = Component(
        kind="service",
        name=".S",
        exported=True,
        filters=(IntentFilter(("a.B",), ("c.D",)),),
        meta_data=meta,
        properties=(MetaData("p", place=Place(path="a", line=2)),),
        attributes={"foregroundServiceType": "dataSync"},
        place=Place(path="a!/AndroidManifest.xml"),
    )
    return Application(
        package="org.example",
        components=(Component(kind="application"), service),
        resources=resources,
        place=Place(path="a!/AndroidManifest.xml"),
        label="Example",
        loose_assets=("x.xml",),
        version_code=2**40,
        minimum_sdk=26,
        signers=("ab",),
    )


def ask_everything(of: Application) -> list[object]:
    resources = of.resources
    answers: list[object] = []
    answers += [resources.read_file(f"@xml/{name}") for name in ("x", "absent")]
    answers += [resources.read_text(f"@string/{name}") for name in ("x", "absent")]
    answers += [resources.read_array(f"@array/{name}") for name in ("x", "absent")]
    answers.append(resources.read_asset("x.json"))
    for name in ("broken", "large"):
        with pytest.raises(InputError) as caught:
            resources.read_file(f"@xml/{name}")
        answers.append((type(caught.value), str(caught.value)))
    return answers


def stored(tmp_path: Path, kept: KeptApplication) -> KeptApplication:
    store = ApplicationStore(tmp_path / "kept")
    store.keep("name", KEY, kept)
    found = store.load("name")
    assert found is not None
    assert found[0] == KEY
    return found[1]


def test_every_answer_is_the_same_and_asks_nothing(tmp_path: Path) -> None:
    resources = Resources()
    original = application(resources)
    recorded = record(original, {})
    answers = ask_everything(recorded.application)
    assert answers == ask_everything(original)
    count = len(resources.asked)
    kept = stored(tmp_path, recorded)
    assert ask_everything(kept.application) == answers
    assert len(resources.asked) == count


def test_components_are_the_same_with_the_types_of_their_values(tmp_path: Path) -> None:
    original = application(Resources())
    kept = stored(tmp_path, record(original, {})).application
    for name in ("package", "components", "place", "label", "loose_assets", "version_code", "signers"):
        assert getattr(kept, name) == getattr(original, name), name
    types = [type(item.value) for item in kept.components[1].meta_data]
    assert types == [type(item.value) for item in original.components[1].meta_data]


def test_a_question_is_asked_once() -> None:
    resources = Resources()
    recorded = record(application(resources), {}).application
    for _ in range(3):
        recorded.resources.read_text("@string/x")
    assert resources.asked == ["@string/x"]


def test_a_question_that_was_never_asked_has_no_answer(tmp_path: Path) -> None:
    kept = stored(tmp_path, record(application(Resources()), {}))
    with pytest.raises(NotKeptError):
        kept.application.resources.read_asset("x.json")


def test_answers_of_an_earlier_record_are_used() -> None:
    first = record(application(Resources()), {})
    first.application.resources.read_text("@string/x")
    resources = Resources()
    second = record(application(resources), first.resources.answers)
    assert second.application.resources.read_text("@string/x") == "text"
    assert resources.asked == []


def test_findings_are_kept(tmp_path: Path) -> None:
    finding = Finding(code="x", level=Level.WARNING, pointer="", message="m", source=Place(path="a", line=3))
    recorded = record(application(Resources()), {})
    kept = stored(tmp_path, KeptApplication(recorded.application, recorded.resources, (finding,)))
    assert kept.findings == (finding,)


def test_a_record_of_another_version_is_none(tmp_path: Path) -> None:
    stored(tmp_path, record(application(Resources()), {}))
    (path,) = (tmp_path / "kept").iterdir()
    path.write_text(path.read_text().replace('"droidgate": "', '"droidgate": "older-'))
    assert ApplicationStore(tmp_path / "kept").load("name") is None


def test_a_folder_that_cannot_be_written_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file is in the way")
    store = ApplicationStore(tmp_path / "kept")
    store.keep("name", KEY, record(application(Resources()), {}))
    assert store.load("name") is None


def test_what_cannot_be_put_in_place_leaves_nothing_behind(tmp_path: Path) -> None:
    store = ApplicationStore(tmp_path)
    store.keep("app", KEY, record(application(Resources()), {}))
    (kept,) = tmp_path.iterdir()
    kept.unlink()
    (kept / "in the way").mkdir(parents=True)
    store.keep("app", KEY, record(application(Resources()), {}))
    assert list(tmp_path.iterdir()) == [kept]


def test_what_is_kept_is_the_user_s_alone(tmp_path: Path) -> None:
    stored(tmp_path, record(application(Resources()), {}))
    folder = tmp_path / "kept"
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_nothing_was_kept_under_another_name(tmp_path: Path) -> None:
    stored(tmp_path, record(application(Resources()), {}))
    assert ApplicationStore(tmp_path / "kept").load("other") is None
    assert isinstance(record(application(Resources()), {}).application.resources, RecordedResources)

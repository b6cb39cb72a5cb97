"""Applications kept between runs: what was asked of an APK and what it said.

Every answer of an application's resources is recorded while formats read it; a later run gets the same
answers from the record. So formats always run anew, and a record is never older than the code that reads it.
A question that the record does not answer says so (`NotKeptError`), and the APK is read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter, ValidationError

from droidgate.computer.version import VERSION
from droidgate_mappings.formats.application import Application, Component, Query, Resources, TextFile
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field, replace

_FORM: Final = "droidgate.kept-application/3"
_MAX_BYTES: Final = 64 * 1024 * 1024

ResourceQuestion = Literal["read_file", "read_text", "read_array", "read_asset"]


class NotKeptError(Exception):
    """The record has no answer to a question; the APK has to be read."""


@dataclass(slots=True)
class RecordedResources:
    """Resources that remember each answer, an error too.

    Attributes:
        source: Where answers come from; None for a replay.
        answers: Question and argument to the answer as JSON: `{"value": ...}` or `{"error": ...}`.
    """

    source: Resources | None
    answers: dict[tuple[str, str], dict[str, Json]] = field(default_factory=dict)

    def read_file(self, reference: str) -> TextFile | None:
        """Return the file behind `@xml/name` or `@raw/name`, None where there is none."""
        return _file_of(self._ask("read_file", reference))

    def read_text(self, reference: str) -> str | None:
        """Return the text of `@string/name`, None if unknown."""
        answer: str | None = self._ask("read_text", reference)
        return answer

    def read_array(self, reference: str) -> tuple[str, ...] | None:
        """Return the items of `@array/name`, None where there is none."""
        answer = self._ask("read_array", reference)
        return None if answer is None else tuple(answer)

    def read_asset(self, name: str) -> TextFile | None:
        """Return the asset of that name, None where there is none."""
        return _file_of(self._ask("read_asset", name))

    def _ask(self, question: ResourceQuestion, argument: str) -> Any:
        answer = self.answers.get((question, argument))
        if answer is None:
            if self.source is None:
                raise NotKeptError(argument)
            answer = _answer_of(lambda: getattr(self.source, question)(argument))
            self.answers[question, argument] = answer
        if "error" in answer:
            raise _error_of(answer["error"])
        return answer["value"]


def _answer_of(ask: Callable[[], Any]) -> dict[str, Json]:
    try:
        value = ask()
    except InputError as error:
        texts = {"message": error.message, "place": error.place, "hint": error.hint}
        return {"error": {**texts, "budget": isinstance(error, BudgetError)}}
    if isinstance(value, TextFile):
        place = value.place.model_dump(exclude_none=True)
        facts = {"compiled": value.compiled, "has_mark": value.has_mark}
        return {"value": {"text": value.text, "place": place, **facts}}
    return {"value": list(value) if isinstance(value, tuple) else value}


def _error_of(value: Mapping[str, Json]) -> InputError:
    kind = BudgetError if value["budget"] else InputError
    return kind(value["message"], place=value["place"], hint=value["hint"])


def _file_of(value: Mapping[str, Json] | None) -> TextFile | None:
    if value is None:
        return None
    return TextFile(value["text"], Place.model_validate(value["place"]), value["compiled"], value["has_mark"])


@dataclass(frozen=True, slots=True)
class KeptApplication:
    """An application whose resources record or replay.

    Attributes:
        application: The application, with these resources.
        resources: Its resources.
        findings: Findings about its archive.
    """

    application: Application
    resources: RecordedResources
    findings: tuple[Finding, ...] = ()


def record(application: Application, answers: Mapping[tuple[str, str], dict[str, Json]]) -> KeptApplication:
    """Return an application whose resources remember what they are asked, in addition to what is known."""
    resources = RecordedResources(application.resources, dict(answers))
    return KeptApplication(replace(application, resources=resources), resources)


@cache
def _components() -> TypeAdapter[tuple[Component, ...]]:
    return TypeAdapter(tuple[Component, ...])


@cache
def _queries() -> TypeAdapter[tuple[Query, ...]]:
    return TypeAdapter(tuple[Query, ...])


@dataclass(frozen=True, slots=True)
class ApplicationStore:
    """A folder of kept applications.

    Attributes:
        folder: Where they are; made when something is kept.
    """

    folder: Path

    def load(self, name: str) -> tuple[dict[str, Json], KeptApplication] | None:
        """Return the key and what is kept under a name, None where nothing is, or by another version."""
        path = self._path(name)
        try:
            if path.stat().st_size > _MAX_BYTES:
                return None
            record = json.loads(path.read_bytes())
            if record["form"] != _FORM or record["droidgate"] != VERSION:
                return None
            return dict(record["key"]), _kept_of(record)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, ValidationError):
            # Whatever is wrong with the file, the APK can be read again.
            return None

    def keep(self, name: str, key: Mapping[str, Json], kept_app: KeptApplication) -> None:
        """Keep an application, in place of what was kept under that name.

        Args:
            name: What is kept: a device's package.
            key: Everything that makes the record out of date when it changes, as JSON.
            kept_app: The application, recorded.

        A folder that cannot be written is not an error: the next run reads again.
        """
        data = json.dumps({"form": _FORM, "droidgate": VERSION, "key": dict(key), **_record_of(kept_app)})
        path = self._path(name)
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(descriptor, "w", encoding="ascii") as file:
                    file.write(data)
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}.json"


_PLAIN: Final = (
    "package",
    "label",
    "description",
    "namespace",
    "version_code",
    "version_name",
    "minimum_sdk",
    "target_sdk",
    "permissions",
    "is_built",
)


def _record_of(kept_app: KeptApplication) -> dict[str, Json]:
    application = kept_app.application
    return {
        "application": {name: getattr(application, name) for name in _PLAIN},
        "place": application.place.model_dump(exclude_none=True),
        "loose_assets": list(application.loose_assets),
        "signers": list(application.signers),
        "unresolved": list(application.unresolved),
        "components": _components().dump_python(application.components, mode="json"),
        "queries": _queries().dump_python(application.queries, mode="json"),
        "answers": [[*question, answer] for question, answer in kept_app.resources.answers.items()],
        "findings": [finding.model_dump(mode="json") for finding in kept_app.findings],
    }


def _kept_of(record: Mapping[str, Any]) -> KeptApplication:
    answers = {(str(question), str(argument)): answer for question, argument, answer in record["answers"]}
    resources = RecordedResources(None, answers)
    application = Application(
        **record["application"],
        components=_components().validate_python(record["components"]),
        queries=_queries().validate_python(record["queries"]),
        resources=resources,
        place=Place.model_validate(record["place"]),
        loose_assets=tuple(record["loose_assets"]),
        signers=tuple(record["signers"]),
        unresolved=tuple(record["unresolved"]),
    )
    findings = tuple(Finding.model_validate(item) for item in record["findings"])
    return KeptApplication(application, resources, findings)

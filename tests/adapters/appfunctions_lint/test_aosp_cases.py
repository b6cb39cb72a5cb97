"""AOSP's own test cases of the indexer: each comes out as its name and the notes of the corpus say."""

import csv
import re
from pathlib import Path

import pytest

from droidgate_android.app_search import (
    AppSearchSchema,
    IndexerError,
    index_file,
    jetpack_schema,
    platform_schema,
    read_schema,
)
from droidgate_mappings.tables.app_functions import SchemaProperty, load_indexing
from requirements_of_tests import find

PREFIX = "GrapheneOS__platform_packages_modules_AppSearch__"
LIMIT_OF_THE_TEST = 2


def read_cases() -> list[tuple[str, int]]:
    """The cases by file name, and the number of documents or schemas that the notes expect."""
    try:
        index = find("corpus") / "appfunctions" / "index.tsv"
    except Exception:  # noqa: BLE001 - without the corpus the marked tests are skipped, with the reason
        return [("corpus", 0)]
    with index.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    cases = []
    for row in rows:
        if row["file"].startswith(PREFIX):
            notes = row["how obtained / notes"]
            expected = re.search(r"expected: (\d+|nothing)", notes)
            assert expected is not None
            cases.append((row["file"], 0 if expected[1] == "nothing" else int(expected[1])))
    return cases


def schema_of_the_test() -> AppSearchSchema:
    """The schema that AOSP's tests make: functions with parameters that may hold themselves."""
    functions = dict(platform_schema().types["AppFunctionStaticMetadata"])
    parameter = "AppFunctionParameterMetadata"
    functions["appFunctionParameterMetadata"] = SchemaProperty("document", "repeated", parameter)
    return AppSearchSchema(
        {
            "AppFunctionStaticMetadata": functions,
            parameter: {
                "parameterName": SchemaProperty("string", "repeated"),
                "selfReference": SchemaProperty("document", "optional", parameter),
            },
        }
    )


CASES = read_cases()


@pytest.mark.requires("corpus")
@pytest.mark.parametrize(("name", "expected"), CASES, ids=[name.removeprefix(PREFIX) for name, _ in CASES])
def test_a_case_of_aosp_comes_out_as_it_says(name: str, expected: int) -> None:
    path: Path = find("corpus") / "appfunctions" / name
    release, _, case = path.stem.removeprefix(PREFIX).split("__", 2)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".xsd":
        try:
            assert len(read_schema(text).types) == expected
        except IndexerError:
            assert expected == 0
        return
    of_version_1 = not case.startswith("parseIntoMapForGivenSchemas")
    limits = load_indexing().limits
    if "exceedMax" in case:
        limits = limits.model_copy(update={"documents_per_file": LIMIT_OF_THE_TEST})
    report = index_file(text, None if of_version_1 else schema_of_the_test(), release, limits=limits)
    assert len(report.documents) == expected
    assert bool(report.dropped_files) == (expected == 0)


@pytest.mark.requires("corpus")
def test_nested_documents_keep_their_values() -> None:
    base = f"{PREFIX}17__AppFunctionDocumentParserImplTest__parseIntoMapForGivenSchemas_singleAppFunctionWith"

    def parameters(case: str) -> object:
        text = (find("corpus") / "appfunctions" / f"{base}{case}.xml").read_text(encoding="utf-8")
        report = index_file(text, schema_of_the_test(), "17")
        return report.function_properties()["com.example.utils#print"]["appFunctionParameterMetadata"]

    assert parameters("DocumentProperties") == [{"parameterName": ["test"]}]
    assert parameters("RepeatedProperties") == [
        {"parameterName": ["test1", "test2"]},
        {"parameterName": ["test3"]},
    ]
    assert parameters("SelfReferencingSchema") == [
        {"parameterName": ["test"], "selfReference": [{"parameterName": ["selfReferencingParam"]}]}
    ]


@pytest.mark.requires("corpus")
def test_the_jetpack_schema_that_is_kept_as_data_is_the_one_that_jetpack_ships() -> None:
    name = "androidx__androidx__appfunctions__appfunctions__src__main__assets__app_functions_schema.xsd"
    text = (find("corpus") / "appfunctions" / name).read_text(encoding="utf-8")
    assert read_schema(text).types == jetpack_schema().types

"""The JSON Schemas that the package ships: they are what the types say, and documents keep to them."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import msgspec
import pytest

from made_plans import made_plan
from steelyard.engines.build import engine_folder
from steelyard.export.formats import results_document
from steelyard.export.schemas import SCHEMAS
from steelyard.session.results import read_results

FILES = resources.files("steelyard") / "schemas"


def _shipped(name: str) -> Any:
    return json.loads((FILES / f"{name}.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_shipped_is_what_the_types_say(name: str) -> None:
    assert _shipped(name) == json.loads(json.dumps(SCHEMAS[name]())), "run docs/generate.py"


def test_the_page_of_results_lists_each_key_of_the_document() -> None:
    page = (engine_folder().parent / "docs" / "reference" / "results.md").read_text(encoding="utf-8")
    assert [key for key in SCHEMAS["results"]()["required"] if f'"{key}": ' not in page] == []


def test_no_other_file_is_shipped() -> None:
    assert {path.name for path in FILES.iterdir()} == {f"{name}.schema.json" for name in SCHEMAS}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Those of a results folder that has rows of many kinds, models and findings."""
    folder = made_plan(tmp_path_factory.mktemp("schemas"), "openmp")
    results = msgspec.json.encode(results_document(read_results(folder).exported()))
    return {
        "results": json.loads(results),
        "campaign": json.loads((folder / "campaign.json").read_bytes()),
        "records": [
            json.loads(line) for path in folder.glob("records/*") for line in path.read_text().splitlines()
        ],
    }


def _complaints(name: str, documents: dict[str, Any]) -> list[str]:
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(_shipped(name))
    whole = documents[name] if isinstance(documents[name], list) else [documents[name]]
    return [f"{error.json_path}: {error.message}" for one in whole for error in check.iter_errors(one)]


@pytest.mark.parametrize("name", SCHEMAS)
def test_documents_keep_to_their_schemas(name: str, documents: dict[str, Any]) -> None:
    assert _complaints(name, documents) == []


def test_a_key_of_a_row_that_is_none_is_seen(documents: dict[str, Any]) -> None:
    """Each key has its type, and none may be missing."""
    (first, *_) = documents["results"]["points"]
    for change in ({"median": "fast"}, {"launches": 3}, {"roof": 5}):
        broken = {"results": {**documents["results"], "points": [{**first, **change}]}}
        assert len(_complaints("results", broken)) == 1
    shorter = {key: value for key, value in first.items() if key != "p99"}
    assert len(_complaints("results", {"results": {**documents["results"], "points": [shorter]}})) == 1


def test_each_key_of_a_row_is_in_the_schema(documents: dict[str, Any]) -> None:
    row = _shipped("results")["$defs"]["Row"]
    assert set(row["properties"]) == set(documents["results"]["points"][0]) == set(row["required"])

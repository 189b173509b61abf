"""JSON Schemas of what other programs read: records, campaign.json, and the documents of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

import msgspec

from steelyard.analyses.registry import ANALYSES
from steelyard.base.diagnostic import Diagnostic
from steelyard.records.campaign_file import CampaignFile
from steelyard.records.schema import SCHEMA, records_schema
from steelyard.results.facets import FACETS
from steelyard.results.row import Row, RowLaunch

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REF = "#/$defs/{name}"
_NOT_IN_ROWS = ("facets",)


def campaign_schema() -> dict[str, Any]:
    """Make the schema of campaign.json."""
    schema = msgspec.json.schema(CampaignFile)
    return {"$schema": _DRAFT, "title": f"Steelyard campaign.json, format {SCHEMA}", **schema}


def results_schema() -> dict[str, Any]:
    """Make the schema of results.json, which `run --json` and `show --json` of one folder print."""
    models = {
        analysis.key: get_type_hints(analysis.make).get("return", Any)
        for analysis in ANALYSES
        if analysis.is_written
    }
    kinds = [Row, RowLaunch, Diagnostic, *FACETS, *models.values()]
    schemas, defs = msgspec.json.schema_components(kinds, ref_template=_REF)
    row = _row(defs)
    for kind in FACETS:
        del defs[kind.__name__]
    document = {
        "schema": {"const": SCHEMA},
        "out": {"type": "string"},
        "points": {"type": "array", "items": {"$ref": _REF.format(name="Row")}},
        **dict(zip(models, schemas[len(kinds) - len(models) :], strict=True)),
        "doubts": {"type": "array", "items": {"$ref": _REF.format(name="Diagnostic")}},
    }
    return {
        "$schema": _DRAFT,
        "title": "Steelyard results.json: the rows, the models of them, and the diagnostics",
        "type": "object",
        "properties": document,
        "required": list(document),
        "$defs": {**defs, "Row": row},
    }


def _row(defs: Mapping[str, Any]) -> dict[str, Any]:
    """Make the schema of a row as it is written: with the keys of all facets, whether it has them or not."""
    own = {name: told for name, told in defs["Row"]["properties"].items() if name not in _NOT_IN_ROWS}
    facets = {name: told for kind in FACETS for name, told in defs[kind.__name__]["properties"].items()}
    launches = {"launches": {"type": "array", "items": {"$ref": _REF.format(name="RowLaunch")}}}
    properties = {**own, **facets, **launches}
    return {**defs["Row"], "properties": properties, "required": list(properties)}


# Name of a file in the folder `schemas` of the package -> what makes it.
SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "records": records_schema,
    "campaign": campaign_schema,
    "results": results_schema,
}

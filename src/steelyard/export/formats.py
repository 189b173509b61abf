"""Formats of results for other programs: a function and a row of `FORMATS` each."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import msgspec

from steelyard.analyses.registry import ANALYSES
from steelyard.base.files import write_whole
from steelyard.base.printable import visible
from steelyard.export.caliper import caliper_text
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.extrap import extrap_text
from steelyard.export.flat import cell, columns, flat, row_document
from steelyard.export.gbench import gbench_text
from steelyard.export.imb import IMB_TESTS, imb_text
from steelyard.export.influx import influx_text
from steelyard.export.junit import results_xml
from steelyard.export.markdown import markdown_tables
from steelyard.export.netpipe import NETPIPE_TESTS, netpipe_text
from steelyard.export.openmetrics import openmetrics_text
from steelyard.export.osu import osu_text
from steelyard.export.osu_tests import OSU_TESTS
from steelyard.export.table import parquet
from steelyard.records.schema import SCHEMA


def results_document(what: ExportedFolder) -> dict[str, Any]:
    """Make the document of `--json` and results.json: rows, models (`ANALYSES`), and `doubts`.

    `doubts` are the findings of the checks.
    """
    made = {model.key: msgspec.to_builtins(what.made(model)) for model in ANALYSES if model.is_written}
    points = [row_document(row) for row in what.rows]
    doubts = msgspec.to_builtins(what.found)
    return {"schema": SCHEMA, "out": visible(str(what.folder)), "points": points, **made, "doubts": doubts}


def _json(what: Export) -> bytes:
    """Make the document of a folder; for several, a list of theirs."""
    documents = [results_document(folder) for folder in what.folders]
    whole = documents[0] if len(documents) == 1 else documents
    return msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n"


def _csv(what: Export) -> bytes:
    """Write nested columns as words: `window=64`, `203.1:0.7`; launches as their medians.

    The rows of several folders begin with the folder.
    """
    text = io.StringIO()
    several = ["folder"] if len(what.folders) > 1 else []
    names = [*several, *columns(), "launch_medians"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for one in what.folders:
        folder = [str(one.folder)] if several else []
        for row in one.rows:
            medians = tuple(launch.median for launch in row.launches if launch.median is not None)
            values = (*folder, *flat(row).values(), medians)
            writer.writerow(
                [value if type(value) in _HARMLESS else _harmless(cell(value)) for value in values]
            )
    return text.getvalue().encode()


_HARMLESS = (float, int, bool, type(None))  # unchanged
# Wide forms count, too, and the text that remains after trimming.
_FORMULA, _NUMBERS = re.compile(r" *[=+\-@＝＋－＠]"), re.compile(r"[-+0-9.:e ]*")


def _harmless(value: Any) -> Any:
    """Make a cell that a spreadsheet does not take for a formula: a text that begins like one is quoted.

    Control characters are made visible, so it does not end a line.
    """
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBERS.fullmatch(text) else text


# Name, and its writer.
FORMATS: dict[str, Callable[[Export], bytes]] = {
    "json": _json,
    "csv": _csv,
    "parquet": parquet,
    "junit": results_xml,
    "osu": partial(osu_text, checked=True),
    "osu-plain": osu_text,
    "osu-full": partial(osu_text, full=True),
    "imb": imb_text,
    "netpipe": netpipe_text,
    "markdown": markdown_tables,
    "openmetrics": openmetrics_text,
    "influx": influx_text,
    "extrap": extrap_text,
    "gbench": gbench_text,
    "caliper": caliper_text,
}
# Formats of other suites, and their tests that each can hold.
PRINTS: dict[str, Collection[str]] = {
    **dict.fromkeys(("osu", "osu-plain", "osu-full"), OSU_TESTS),
    "imb": IMB_TESTS,
    "netpipe": NETPIPE_TESTS,
}
_KEPT = ("json", "csv")  # in each results folder, with their names as suffixes


def write_results(what: ExportedFolder) -> None:
    """Write results.json and results.csv into the folder, each at once: a reader never sees half a file."""
    for name in _KEPT:
        write_whole(what.folder / f"results.{name}", FORMATS[name](Export((what,))))

"""Formats of results for other programs: a function and a row of `FORMATS` each."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from steelyard.base.files import write_whole
from steelyard.export.flat import cell, columns, flat, row_document
from steelyard.models.efficiency import efficiencies
from steelyard.models.micro_macro import macro_of
from steelyard.models.overlap import curves
from steelyard.models.scaling import scaling_curves
from steelyard.records.schema import SCHEMA
from steelyard.results.row import Row


@dataclass(frozen=True, slots=True)
class Export:
    """What is exported: the rows of a results folder, and what the checks have found in them."""

    folder: Path
    rows: tuple[Row, ...]
    found: Sequence[msgspec.Struct] = ()


def results_document(what: Export) -> dict[str, Any]:
    """What `--json` prints and results.json holds: the rows, and what they make together.

    `overlap` are curves over work, `floor` MPI's efficiency against the layers below it, `macro` what
    messages say of kernels, `scaling` curves over ranks and threads, `doubts` what the checks have found.
    """
    rows = what.rows
    points = [row_document(row) for row in rows]
    overlap, floor = msgspec.to_builtins((curves(rows), efficiencies(rows)))
    found = msgspec.to_builtins(what.found)
    macro, scaling = msgspec.to_builtins((macro_of(rows), scaling_curves(rows)))
    made = {"overlap": overlap, "floor": floor, "macro": macro, "scaling": scaling, "doubts": found}
    return {"schema": SCHEMA, "out": str(what.folder), "points": points, **made}


def _json(what: Export) -> bytes:
    return msgspec.json.format(msgspec.json.encode(results_document(what)), indent=1) + b"\n"


def _csv(what: Export) -> bytes:
    """Nested columns as words: `window=64`, `203.1:0.7`; launches as their medians."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [*columns(), "launch_medians"], lineterminator="\n")
    writer.writeheader()
    for row in what.rows:
        medians = tuple(one.median for one in row.launches if one.median is not None)
        cells = {**flat(row), "launch_medians": medians}
        writer.writerow({name: _harmless(cell(value)) for name, value in cells.items()})
    return text.getvalue().encode()


_FORMULA, _NUMBERS = re.compile(r"[=+\-@\t\r]"), re.compile(r"[-+0-9.:e ]*")


def _harmless(value: Any) -> Any:
    """A cell that a spreadsheet does not take for a formula: one that begins like one is quoted."""
    looks_so = isinstance(value, str) and _FORMULA.match(value) and not _NUMBERS.fullmatch(value)
    return f"'{value}" if looks_so else value


# Name, which is the suffix of its files -> how it is made.
FORMATS: dict[str, Callable[[Export], bytes]] = {"json": _json, "csv": _csv}
_KEPT = ("json", "csv")  # in each results folder


def write_results(what: Export) -> None:
    """Write results.json and results.csv into the folder, each at once: a reader never sees half a file."""
    for name in _KEPT:
        write_whole(what.folder / f"results.{name}", FORMATS[name](what))

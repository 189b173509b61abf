"""Lines of JSON as Extra-P reads them: a measurement for each launch, over bytes, ranks and threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.export.export_input import Export
from steelyard.export.tagged_rows import TaggedRow, tagged_rows
from steelyard.results.row import Row

# Extra-P's parameters; those that are the same in all rows are none, for no model could depend on them.
_PARAMETERS: Mapping[str, Callable[[Row], int]] = {
    "bytes": lambda row: row.bytes,
    "ranks": lambda row: row.ranks,
    "threads": lambda row: row.threads,
}
_NOT_NAMED = ("op", *_PARAMETERS, "method")


def extrap_text(what: Export) -> bytes:
    """Write a line for each launch of a row. Raises InputError where no size, rank or thread count varies.

    Every line has the same parameters, as Extra-P requires.
    """
    told = [
        tagged_row
        for tagged_row in tagged_rows(what)
        if tagged_row.row.status == "ok" and tagged_row.row.sized
    ]
    told = told or [tagged_row for tagged_row in tagged_rows(what) if tagged_row.row.status == "ok"]
    varying = {
        name: value for name, value in _PARAMETERS.items() if len({value(one.row) for one in told}) > 1
    }
    if not varying:
        raise InputError(
            "Extra-P models how a time grows, and no size, number of ranks or of threads differs here; "
            "measure several, or give --to csv"
        )
    lines = [
        msgspec.json.encode(
            {
                "params": {name: value(one.row) for name, value in varying.items()},
                "callpath": _callpath(one),
                "metric": "time",
                "value": launch.median / 1e9,
            }
        )
        for one in told
        for launch in one.row.launches
        if launch.median is not None
    ]
    return b"".join(line + b"\n" for line in lines)


def _callpath(row: TaggedRow) -> str:
    """`mpi.bcast->mpich-5.0.2`: what tells it from others of its op; arrows part levels of Extra-P's tree."""
    others = [value for name, value in row.tags.items() if name not in _NOT_NAMED]
    return visible("->".join([row.row.op, *(value.replace("->", "-") for value in others)]))

"""Rows from flat keys, as results.json has them."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.records.legacy_kinds import method_kind, op_kind
from steelyard.results.facets import FACETS
from steelyard.results.row import Row, RowLaunch


def flat_row(**keys: Any) -> Row:
    """A row whose facets are made from the keys that they have. Raises TypeError for a key that none has.

    What its op and method are is found by their names, as for old records, where nothing else is said.
    """
    facets = []
    nature, bound = method_kind(keys["method"], keys["op"], keys["ranks"])
    keys = {**msgspec.structs.asdict(op_kind(keys["op"])), "nature": nature, "bound": bound, **keys}
    for kind in FACETS:
        own = {name: keys.pop(name) for name in kind.__struct_fields__ if name in keys}
        if own:
            facets.append(kind(**own))
    return Row(**keys, facets=tuple(facets))


def row_launch(number: int, median: float, communication_ns: float | None = None) -> RowLaunch:
    """A launch that went well, of which only the median is known."""
    return RowLaunch(
        launch=number,
        status="ok",
        why=None,
        flag="SETTLED",
        count=10,
        rejected=0,
        reps=1,
        time=median,
        median=median,
        ci_low=None,
        ci_high=None,
        lag1=None,
        drift=False,
        communication_ns=communication_ns,
    )


def made_row(**keys: object) -> Row:
    """A row of a broadcast that is as it should be, but for the keys."""
    values: dict[str, object] = {
        "point": 0,
        "op": "mpi.bcast",
        "method": "epoch",
        "bytes": 8,
        "sized": True,
        "ranks": 4,
        "threads": 1,
        "params": {},
        "placement": "0|1|2|3",
        "mpi": "mpich",
        "launch_count": 5,
        "count": 100,
        "rejected": 0,
        "median": 1000.0,
        "ci_low": 990.0,
        "ci_high": 1010.0,
        "ci_level": 0.95,
        "flag": "SETTLED",
    }
    return flat_row(**(values | keys))


def made_launch(number: int, **keys: Any) -> RowLaunch:
    """A launch of it that converged, but for the keys."""
    usual: dict[str, Any] = {
        "launch": number,
        "status": "ok",
        "why": None,
        "flag": "SETTLED",
        "count": 100,
        "rejected": 0,
        "reps": 1,
        "median": 1000.0,
        "ci_low": 990.0,
        "ci_high": 1010.0,
        "lag1": 0.0,
        "drift": False,
    }
    return RowLaunch(**(usual | keys))

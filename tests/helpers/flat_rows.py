"""Rows from flat keys, as results.json has them."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.records.older import method_kind, op_kind
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
        median=median,
        ci_low=None,
        ci_high=None,
        lag1=None,
        drift=False,
        communication_ns=communication_ns,
    )

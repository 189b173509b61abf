"""Methods held against each other: what can be true together, and what cannot."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from flat_rows import flat_row
from steelyard.diagnostics.results.contradictions import disagreements
from steelyard.records.campaign_file import Placement
from steelyard.results.facets import RowPath
from steelyard.results.row import Row

_PATH = RowPath(late=0, observer=3, late_ns=0.0, observer_ns=400.0, loops=6)


def _row(method: str, median: float, **more: Any) -> Row:
    given: dict[str, Any] = {
        "point": 0,
        "op": "mpi.bcast",
        "method": method,
        "bytes": 8,
        "ranks": 4,
        "threads": 1,
        "params": {},
        "placement": None,
        "mpi": "mpich",
        "launch_count": 10,
        "count": 1000,
        "rejected": 0,
        "median": median,
        "ci_low": 0.99 * median,
        "ci_high": 1.01 * median,
    }
    return flat_row(**given | more)


_EPOCH = _row("epoch", 1000.0, low_ns=980.0, clock_error_ns=30.0, error_ns=40.0)


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        # the others are early in ack, so it may read low, and as much above as the two state together
        (_row("bisected-ack", 600.0, path=_PATH), None),
        (_row("bisected-ack", 1040.0, path=_PATH), None),
        # its acknowledgement of 400 ns may take the round trip of 800 ns
        (_row("bisected-ack", 1440.0, path=_PATH), None),
        (
            _row("bisected-ack", 1600.0, path=_PATH),
            "epoch says 1.00 us ±40.0 ns, bisected-ack at least 1.18 us whatever its messages take",
        ),
        (_row("bounds", 2000.0, low_ns=400.0), None),
        (_row("bounds", 2000.0, low_ns=1200.0), "calls back to back take 1.20 us each"),
        (_row("bounds", 900.0, low_ns=400.0), "but with a barrier behind it at most 909 ns"),
        # not of one operation, or none that says anything about its latency
        (_row("bisected-ack", 1600.0, path=_PATH, bytes=16), None),
        (_row("bisected-ack", 1600.0, path=_PATH, mpi="openmpi"), None),
        (_row("bisected-ack", 1600.0, path=_PATH, params={"root": 1}), None),
        (_row("bisected-ack", 1600.0, path=_PATH, placed=Placement("same-cpu", (0, 0))), None),
        (_row("batch", 5000.0), None),
        (_row("barrier", 100.0), None),
        (msgspec.structs.replace(_row("bisected-ack", 0.0, path=_PATH), median=None), None),
    ],
)
def test_two_methods_may_contradict_each_other(other: Row, sentence: str | None) -> None:
    found = disagreements((_EPOCH, other))
    assert [one.sentence for one in found] == [] if sentence is None else sentence in found[0].sentence
    assert all((one.estimate, one.other) == (_EPOCH, other) for one in found)

"""Impact factors from rows of victims whose times are known."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from macro_rows import row
from steelyard.analyses.congestion.model import (
    CANNOT_TELL,
    NOT_SLOWED,
    P50,
    SLOWED,
    Congestion,
    congestions,
)
from steelyard.analyses.congestion.pictures import congestion_charts
from steelyard.analyses.congestion.tables import congestion_tables
from steelyard.render.svg import svg
from steelyard.render.terminal import Paper, table_text
from steelyard.results.facets import Tails
from steelyard.results.facets.tails import LaunchTail
from steelyard.results.row import Row

_QUIET = (1000.0, 1100.0, 900.0, 1050.0, 950.0, 1000.0)


def _row(traffic: str, times: Sequence[float], p99: float = 3e3, **more: object) -> Row:
    params = {"traffic": traffic, "traffic_bytes": 65536.0, "traffic_window": 4.0}
    plain = row("mpi.pattern.victim", "a", times, bytes=8, sized=True, ranks=4, params=params, **more)
    tails = Tails(tails=tuple(LaunchTail(i + 1, {"p99": p99 + i}) for i in range(len(times))))
    return msgspec.structs.replace(plain, facets=(*plain.facets, tails))


def _only(times: Sequence[float], p99: float = 3e3) -> Congestion:
    (found,) = congestions([_row("none", _QUIET), _row("all", times, p99)])
    return found


@pytest.mark.parametrize(
    ("factors", "verdict"),
    [
        ((2.0, 2.1, 1.9, 2.05, 1.95, 2.0), SLOWED),
        ((1.0, 1.01, 0.99, 1.02, 0.98, 1.0), NOT_SLOWED),
        ((0.5, 1.5, 0.9, 1.4, 0.8, 1.1), CANNOT_TELL),
        ((2.0,), CANNOT_TELL),
    ],
)
def test_a_victim_is_slowed_certainly_or_not(factors: Sequence[float], verdict: str) -> None:
    found = _only([factor * quiet for factor, quiet in zip(factors, _QUIET, strict=False)])
    assert found.verdict == verdict
    assert found.impact[P50].value == pytest.approx(float(np.median(factors)), rel=0.05)


def test_the_tail_has_an_impact_of_its_own() -> None:
    found = _only(_QUIET, p99=30e3)
    assert found.impact["p99"].value == pytest.approx(10, rel=0.01)
    assert found.impact[P50].value == 1.0
    assert "p99.9" not in found.impact


def test_a_victim_is_compared_with_itself() -> None:
    quiet, loaded = _row("none", _QUIET), _row("all", _QUIET)
    assert congestions([loaded]) == ()
    assert congestions([quiet]) == ()
    assert congestions([msgspec.structs.replace(quiet, bytes=64), loaded]) == ()
    again = msgspec.structs.replace(quiet, params={**quiet.params, "traffic_bytes": 1.0})
    assert [one.traffic for one in congestions([quiet, loaded, again])] == ["all", "none"]


def test_victims_of_several_settings_and_sizes_of_traffic_are_told_apart() -> None:
    rows = [_row("none", _QUIET), _row("all", _QUIET)]
    larger = msgspec.structs.replace(rows[1], params={**rows[1].params, "traffic_bytes": 1e6})
    tcp = [msgspec.structs.replace(one, env={"UCX_TLS": "tcp"}) for one in rows]
    (table,) = congestion_tables(congestions([*rows, larger, *tcp]))
    assert [line.cells[:2] for line in table.lines] == [("65536", ""), ("1000000", ""), ("65536", "tcp")]


def test_table_and_picture_have_each_congestor() -> None:
    rows = [_row("none", _QUIET), *(_row(word, [3 * time for time in _QUIET]) for word in ("all", "put"))]
    found = congestions(rows)
    (table,) = congestion_tables(found)
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert [line.cells[0] for line in table.lines] == ["all", "put"]
    (chart,) = congestion_charts(found)
    assert "<svg" in svg(chart)
    assert congestion_tables(()) == ()
    assert congestion_charts(()) == []

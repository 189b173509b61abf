"""Latencies over the rate at which messages are offered: quantiles, knees, tables and the picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from macro_rows import row
from make_records import FakePoint, steady, write_folder
from steelyard.analyses.open_loop.model import P50, P99, P999, OpenLoop, open_loops
from steelyard.analyses.open_loop.pictures import open_loop_charts
from steelyard.analyses.open_loop.tables import open_loop_tables
from steelyard.render.svg import svg
from steelyard.render.terminal import Paper, table_text
from steelyard.results.combined import Combined, combine
from steelyard.results.facets import OfferedLoad, Samples
from steelyard.results.load import load
from steelyard.results.row import Row
from steelyard.stats.autocorrelation import Likeness

_RATES = (1e4, 1e5, 1e6, 3e6)


def _row(rate: float | None, times: Sequence[float], p99: float = 900.0, p999: float | None = None) -> Row:
    offered = OfferedLoad(offered_rate=rate, came_rate=min(rate or 2e6, 2e6), p999=p999)
    plain = row(
        "mpi.pingpong",
        "a",
        times,
        bytes=8,
        sized=True,
        method="each" if rate is None else "open-loop",
        method_params={} if rate is None else {"rate": rate},
    )
    samples = Samples(p99=p99, p99_low=0.9 * p99, p99_high=1.1 * p99)
    others = (facet for facet in plain.facets if not isinstance(facet, Samples))
    return msgspec.structs.replace(plain, facets=(*others, samples, offered))


def _only(rows: Sequence[Row]) -> OpenLoop:
    (found,) = open_loops(rows)
    return found


_FLAT, _RISEN, _UNCLEAR = (300.0, 310.0, 320.0), (3e5, 3.1e5, 3.2e5), (400.0, 700.0, 900.0)


@pytest.mark.parametrize(
    ("times", "below", "above"),
    [
        ((_FLAT, _FLAT, _FLAT, _RISEN), 1e6, 3e6),
        ((_FLAT, _RISEN, _RISEN, _RISEN), 1e4, 1e5),
        ((_FLAT, _FLAT, _UNCLEAR, _RISEN), 1e5, 3e6),
        ((_FLAT, _FLAT, _FLAT, _FLAT), 3e6, None),
    ],
)
def test_a_knee_lies_between_rates_that_are_certain(
    times: Sequence[Sequence[float]], below: float, above: float | None
) -> None:
    rows = [_row(rate, each) for rate, each in zip(_RATES, times, strict=True)]
    found = _only(rows[::-1])  # rates are put in order
    knees = {knee.quantile: (knee.below, knee.above) for knee in found.knees}
    assert knees == {P50: (below, above), P99: (3e6, None)}
    assert [load.offered for load in found.loads] == list(_RATES)


def test_a_closed_loop_stands_beside_its_own_open_loop() -> None:
    opened = [_row(rate, _FLAT, p999=5e3) for rate in _RATES[:2]]
    found = _only([*opened, _row(None, _FLAT)])
    assert found.closed is not None
    assert (found.closed.offered, found.closed.quantiles[P50].value) == (None, 310.0)
    assert set(found.loads[0].quantiles) == {P50, P99, P999}
    other = msgspec.structs.replace(_row(None, _FLAT), bytes=64)
    assert _only([*opened, other]).closed is None
    assert open_loops(opened[:1]) == ()  # one rate has no knee
    assert open_loops([_row(None, _FLAT)]) == ()


def test_loops_of_several_settings_are_told_apart() -> None:
    rows = [
        msgspec.structs.replace(_row(rate, _FLAT), env={"UCX_TLS": way})
        for way in ("tcp", "shm")
        for rate in _RATES[:2]
    ]
    for table in open_loop_tables(open_loops(rows)):
        assert [line.cells[0] for line in table.lines] == ["tcp", "tcp", "shm", "shm"]


def _came(tmp_path: Path) -> Combined:
    """Six launches of messages that are timed one by one."""
    point = FakePoint(
        "mpi.pingpong",
        steady(900.0, count=50, between=0.1),
        method="open-loop",
        reps=1,
        report="message",
        partners=(1, 0),
    )
    folder = write_folder(tmp_path / "x", [point], launches=6)
    return combine(load(folder).points[0].cells, 0.95)


def test_the_rate_that_came_scatters_as_all_of_the_folder_does(tmp_path: Path) -> None:
    """Launches that are alike count for fewer, in each interval of the row."""
    one = _came(tmp_path)
    plain, alike = (OfferedLoad.of(msgspec.structs.replace(one, alike=Likeness(rho))) for rho in (0.0, 0.8))
    assert plain is not None
    assert alike is not None
    assert alike.came_rate == plain.came_rate
    assert (alike.came_high or 0) - (alike.came_low or 0) > (plain.came_high or 0) - (plain.came_low or 0)


def test_a_launch_of_one_message_has_no_rate_and_leaves_the_others_theirs(tmp_path: Path) -> None:
    one = _came(tmp_path)
    first, *rest = one.launches
    single = msgspec.structs.replace(first, taken=msgspec.structs.replace(first.taken, came_rate=None))
    groups = {"sittings": (0, 0, 0, 1, 1, 1)}
    found = OfferedLoad.of(msgspec.structs.replace(one, launches=(single, *rest), groups=groups))
    assert found is not None
    assert found.came_low is not None


def test_tables_fit_a_screen_and_the_picture_has_a_line_for_each_quantile() -> None:
    rows = [_row(rate, _FLAT, p999=5e3) for rate in _RATES]
    found = open_loops([*rows, _row(None, _FLAT)])
    tables = list(open_loop_tables(found))
    text = "\n".join(table_text(table, Paper(80, is_pipe=False)) for table in tables)
    assert max(map(len, text.splitlines())) <= 80
    assert [table.title for table in tables] == ["open loop", "knee of an open loop"]
    assert "closed" in text
    (chart,) = open_loop_charts(found)
    assert [key.label for key in chart.legend] == [P50, P99, P999]
    assert "<svg" in svg(chart)
    assert list(open_loop_tables(())) == []
    assert open_loop_charts(()) == []

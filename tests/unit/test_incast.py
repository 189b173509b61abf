"""Many senders to one receiver: rates that hold, that collapse, and of which one launch tells nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from macro_rows import row
from steelyard.analyses.incast.model import CANNOT_TELL, COLLAPSES, HOLDS, incasts
from steelyard.analyses.incast.tables import incast_tables
from steelyard.render.terminal import Paper, table_text
from steelyard.results.facets import Interfaces, Ranks, RowInterface
from steelyard.results.row import Row

SIZE, WINDOW, LINE = 65536, 16, 125e6
SPREAD = (0.98, 1.0, 1.01, 0.99, 1.02, 1.0)


def port(host: str, mbits: int, moved: float) -> RowInterface:
    told = {"host": host, "name": f"eth{mbits}", "kind": "net", "state": "up", "mbits": mbits}
    return RowInterface(**told, received=moved, sent=0.0, seconds=1.0)  # type: ignore[arg-type]


def senders(
    count: int,
    rate: float,
    spread: Sequence[float] = SPREAD,
    even: float | None = None,
    op: str = "mpi.pattern.fan_in",
) -> Row:
    """So many senders, each on a host, that reach `rate` bytes/s together."""
    times = [count * SIZE * WINDOW / (rate * factor) * 1e9 for factor in spread]
    made = row(
        op,
        "a",
        times,
        ranks=count + 1,
        hosts=count + 1,
        bytes=SIZE,
        sized=True,
        bandwidth=rate,
        params={"kind": "served", "window": float(WINDOW)},
        placement="|".join(f"h{i}:0" for i in range(count + 1)),
    )
    lines = [port("h0", 2000, 1e9), port("h0", 100, 1e3), port("h1", 1000, 2e9)]
    network = Interfaces(interfaces=tuple(lines), tcp_resent=0.02, tcp_resent_low=0.01, tcp_resent_high=0.03)
    shown: Row = replace(
        made, facets=(*made.facets, network, *([Ranks(rank_evenness=even)] if even is not None else []))
    )
    return shown


@pytest.mark.parametrize(
    ("rates", "verdict"),
    [
        ((LINE / 2, LINE, LINE, LINE), HOLDS),
        ((LINE, LINE, 0.9 * LINE, 0.85 * LINE), HOLDS),  # a full line
        ((LINE, LINE, LINE, 0.2 * LINE), COLLAPSES),
        ((LINE, 0.2 * LINE, 0.2 * LINE, 0.2 * LINE), COLLAPSES),
        ((0.2 * LINE, 0.2 * LINE, 0.2 * LINE, LINE), HOLDS),
    ],
)
def test_a_rate_that_falls_with_the_senders_collapses(rates: Sequence[float], verdict: str) -> None:
    measured = zip((1, 2, 4, 7), rates, strict=True)
    (incast,) = incasts([senders(count, rate) for count, rate in reversed([*measured])])
    assert [number.senders for number in incast.numbers] == [1, 2, 4, 7]
    assert incast.verdict == verdict


def test_one_launch_tells_nothing_and_one_number_is_no_curve() -> None:
    (incast,) = incasts([senders(count, rate, (1.0,)) for count, rate in ((1, LINE), (4, LINE / 10))])
    assert incast.verdict == CANNOT_TELL
    assert incasts([senders(4, LINE)]) == ()
    assert incast_tables(()) == ()


def test_the_table_names_the_collapse_how_even_it_is_and_what_was_lost() -> None:
    (table,) = incast_tables(incasts([senders(1, LINE, even=1.0), senders(4, LINE / 10, even=0.25)]))
    assert [line.cells[-5:] for line in table.lines] == [
        ("50 %", "-", "100 %", "2 %", ""),
        ("5 %", "10 %", "25 %", "2 %", "the rate collapses"),
    ]
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80


def test_one_to_many_is_a_curve_of_its_own() -> None:
    rows = [senders(count, LINE, op=f"mpi.pattern.fan_{way}") for way in ("in", "out") for count in (1, 4)]
    assert [(curve.op[-3:], curve.verdict) for curve in incasts(rows)] == [("_in", HOLDS), ("out", HOLDS)]
    (table,) = incast_tables(incasts(rows))
    assert [line.cells[0] for line in table.lines] == ["in", "in", "out", "out"]

"""Exchanges of applications from known rows: ratios, orders beside those of a halo, tables, pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from loaded import load_benchmark
from macro_rows import counts, row
from made_plans import made_plan
from steelyard.analyses.best_arms import AGREES, CANNOT_TELL, DISAGREES
from steelyard.analyses.halo_exchange.model import Exchanges, exchanges_of
from steelyard.analyses.halo_exchange.pictures import exchange_charts
from steelyard.analyses.halo_exchange.tables import exchange_tables
from steelyard.analyses.rma_support.model import functionality_of
from steelyard.analyses.rma_support.tables import functionality_tables
from steelyard.render.chart import Boxes
from steelyard.render.terminal import Paper, table_text
from steelyard.report import write_report
from steelyard.results.phases import RowPhase
from steelyard.results.row import Row

_FACTORS = [
    1.0,
    1.01,
    0.99,
    1.02,
    1.0,
    0.98,
    1.01,
    1.0,
    0.99,
    1.01,
    1.02,
    1.0,
]  # of launches: the same for all that take turns
_PLAIN = {"backend": "nonblocking", "movers": 1.0, "windows": "one", "comms": "one", "nx": 64.0}

_PHASES = tuple(
    RowPhase(name, name == "ghosts", 1.0, 1.0, 1.0, 1.0, share, 1.0)
    for name, share in (("force", 0.7), ("ghosts", 0.3))
)


def _app(ns: float, op: str = "app.hpccg", threads: int = 1, **params: float | str) -> Row:
    times = [ns * factor for factor in _FACTORS]
    talks = structs.replace(counts(messages=10, sent=10 * 30000.0), phases=_PHASES)
    return row(op, "a", times, params={**_PLAIN, **params}, threads=threads, phases=talks)


def _halo(back: str, ns: float, size: int = 32768, threads: int = 1, **params: float | str) -> Row:
    times = [ns * factor for factor in _FACTORS]
    words = {"back": back, "periodic": "no", "movers": 1.0, "windows": "one", "comms": "one", **params}
    return row("mpi.halo.3d7", "a", times, bytes=size, threads=threads, params=words)


def _one(*rows: Row) -> Exchanges:
    (found,) = exchanges_of(rows)
    return found


def test_ratios_are_to_nonblocking_messages_of_one_thread() -> None:
    found = _one(
        _app(1e6, backend="fence"),
        _app(2e6),
        _app(1.5e6, threads=2),
        _app(3e6, threads=2, movers=2.0, backend="flush", windows="thread"),
    )
    assert found.base.time == pytest.approx(2e6)
    assert [(way.backend, way.threads, way.movers, way.apart) for way in found.ways] == [
        ("fence", 1, 1, False),
        ("nonblocking", 1, 1, False),
        ("nonblocking", 2, 1, False),
        ("flush", 2, 2, True),
    ]
    assert [way.ratio.value for way in found.ways] == pytest.approx([0.5, 1.0, 0.75, 1.5])
    fence = found.ways[0].ratio  # in each launch the same: launches scatter, their ratio does not
    assert fence.low == pytest.approx(0.5)
    assert fence.high == pytest.approx(0.5)


def test_nothing_without_the_base_and_nothing_of_it_alone() -> None:
    assert exchanges_of([_app(1e6, backend="fence"), _app(1e6, backend="pscw")]) == ()
    assert exchanges_of([_app(1e6)]) == ()
    assert len(exchanges_of([_app(1e6), _app(2e6, backend="fence"), _app(1e6, nx=8.0)])) == 1


@pytest.mark.parametrize(
    ("fence", "pscw", "verdict", "tau"),
    [(1.0, 3.0, AGREES, 1.0), (3.0, 1.0, DISAGREES, -1.0), (1.999, 3.0, CANNOT_TELL, 1.0)],
)
def test_a_halo_agrees_where_it_names_the_same_exchange(
    fence: float, pscw: float, verdict: str, tau: float
) -> None:
    """In the application fence is best, then nonblocking, then pscw."""
    app = [_app(1e6, backend="fence"), _app(2e6), _app(3e6, backend="pscw")]
    micro = [_halo("fence", 1e3 * fence), _halo("nonblocking", 2e3), _halo("pscw", 1e3 * pscw)]
    other = [_halo("fence", 9e3, 8), _halo("nonblocking", 2e3, 8), _halo("pscw", 1e3, 8)]
    (order,) = _one(*app, *other, *micro).orders
    assert (order.op, order.bytes) == ("mpi.halo.3d7", 32768)  # nearest to its messages
    assert order.macro == ("fence", "nonblocking", "pscw")
    assert order.macro_best == ("fence",)
    assert order.tau == pytest.approx(tau)
    assert order.verdict == verdict


def test_names_of_halos_are_those_of_applications_and_two_are_too_few() -> None:
    app = [_app(1e6, backend="neighbour"), _app(2e6), _app(3e6, backend="blocking")]
    halos = [_halo("neighborw", 1e3), _halo("nonblocking", 2e3), _halo("sendrecv", 3e3)]
    (order,) = _one(*app, *halos).orders
    assert order.micro == ("neighbour", "nonblocking", "blocking")
    assert _one(*app, *halos[:2]).orders == ()


def test_ways_of_several_threads_are_held_against_halos_of_as_many() -> None:
    """Movers in the halo, too: each number of threads has an order of its own."""
    app = [
        _app(9e6),
        _app(3e6, threads=2),
        _app(2e6, threads=2, backend="fence", movers=2.0),
        _app(1e6, threads=2, backend="fence", movers=2.0, windows="thread"),
    ]
    halos = [
        _halo("fence", 1e3, threads=2, movers=2.0, windows="thread"),
        _halo("nonblocking", 2e3, threads=2),
        _halo("fence", 3e3, threads=2, movers=2.0),
        _halo("nonblocking", 1e3),
    ]
    found = _one(*app, *halos)
    (order,) = found.orders
    assert order.threads == 2
    assert order.macro == ("fence, 2 movers apart", "fence, 2 movers", "nonblocking")
    assert order.micro == ("fence, 2 movers apart", "nonblocking", "fence, 2 movers")
    assert exchange_tables([found])[-1].lines[0].cells[0] == "app.hpccg, 2 threads"


def test_tables_and_pictures_say_it_in_80_columns() -> None:
    rows = [_app(1e6, backend="fence"), _app(2e6), _app(3e6, backend="persistent", threads=2, movers=2.0)]
    rows += [_app(4e6, backend="pscw"), _app(1e6, op="app.minimd"), _app(1e6, op="app.minimd", movers=2.0)]
    rows += [_halo("fence", 1e3), _halo("nonblocking", 2e3), _halo("pscw", 4e3)]
    found = exchanges_of(rows)
    ways, *phases, orders = exchange_tables(found)
    assert [line.cells[:2] for line in ways.lines][:2] == [
        ("app.hpccg", "fence"),
        ("app.hpccg", "nonblocking"),
    ]
    assert ways.lines[2].cells[1] == "persistent, 2 movers"
    assert orders.lines[0].cells == ("app.hpccg", "1", "fence *", "fence *")
    assert orders.notes[0].startswith(
        "app.hpccg: the micro-benchmark would have named the best exchange. Best in mpi.halo.3d7"
    )
    assert [table.title for table in phases] == [
        "phases by exchange: app.hpccg",
        "phases by exchange: app.minimd",
    ]
    assert phases[0].lines[1].cells == ("nonblocking", "70", "30")
    for table in (ways, *phases, orders):
        assert max(map(len, table_text(table, Paper(width=80, is_pipe=False)).splitlines())) <= 80
    charts = exchange_charts(found)
    assert [chart.title for chart in charts] == [
        *("app.hpccg", "app.hpccg: where the time goes"),
        *("app.minimd", "app.minimd: where the time goes"),
    ]
    force, ghosts = charts[1].marks_of(Boxes)  # one behind the other, up to the time of each way
    assert list(force.x1) == list(ghosts.x0)
    assert list(ghosts.x1) == pytest.approx(
        [way.time for way in sorted(found[0].ways, key=lambda one: one.time)]
    )


def test_applications_and_halos_have_a_matrix_of_their_own() -> None:
    rows = [_app(1e6), _app(1e6, backend="fence", movers=2.0, threads=2, windows="thread")]
    rows += [_halo("fence", 1e3)]
    (matrix,) = functionality_tables(functionality_of(rows))
    assert [column.name for column in matrix.columns] == ["op", "backend", "1", "2 apart"]
    assert [line.cells for line in matrix.lines] == [
        ("app.hpccg", "nonblocking", "12/12", "-"),
        ("app.hpccg", "fence", "-", "12/12"),
        ("mpi.halo.3d7", "fence", "12/12", "-"),
    ]


def test_the_shipped_plan_makes_the_pictures_and_tables(tmp_path: Path) -> None:
    folder = made_plan(tmp_path, "rma-mt-apps")
    page = write_report([folder], folder / "report.html").read_text("utf-8")
    for title in (
        "Exchanges of applications",
        "would micro-benchmarks have named the best exchange",
        "do exchanges work",
    ):
        assert title in page
    told = "\n".join(load_benchmark("apps_page").page(folder))
    for title in ("Would micro-benchmarks have named the best exchange?", "Times", "Do exchanges work?"):
        assert f"\n## {title}\n" in told
    assert "A micro-benchmark would have named the best exchange in " in told
    cases = [line for line in told.splitlines() if line.startswith("| app.") and "| mpi.halo.3d7 " in line]
    assert [line.split(" | ")[3] for line in cases] == ["undecided"] * 6
    assert "| pscw, 2 movers apart | " in told
    assert "| app.minimd | nonblocking | 2/2 | 2/2 |" in told

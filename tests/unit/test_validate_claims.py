"""Claims, stated errors and tables of validation on made-up rows; each claim has rows on which it fails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from planted import planted
from steelyard.render.table import BAD, Table
from steelyard.render.terminal import Paper, table_text
from steelyard.results.load import PointLaunch
from steelyard.validate import (
    CLAIMS,
    Comparison,
    NotRun,
    SimulatedMachine,
    Simulation,
    biases,
    check_claims,
    report_lines,
    stated_error,
)
from steelyard.validate.rows import is_inside, row_of, skew_counts


def _row(**changes: Any) -> Comparison:
    """A row whose estimate is the truth, 1000 ns; `error` is put on top."""
    error = changes.pop("error", 0.0)
    stated = changes.pop("stated", 10.0)
    known: dict[str, Any] = {
        "op": "mpi.bcast", "method": "epoch", "bytes": 8, "ranks": 16, "selector": "mpich", "barrier": None,
        "platform": "flat", "truth_ns": 1000.0, "noise": False, "flat": True, "asymmetric": False,
        "certain": False, "ranks_per_host": 1, "seed": 1,
        "truth_error_ns": 0.5, "truth_first_ns": 1000.0, "truth_again_ns": 1000.0, "clock_error_ns": 4.0,
        "skew_ns": 1.0, "skew_counts": 3.0, "count": 64, "rejected": 0,
    }  # fmt: skip
    known |= changes
    estimate = known["truth_ns"] + error
    computed = {
        "estimate_ns": estimate,
        "error_pct": 100 * error / known["truth_ns"],
        "stated_error_ns": stated,
        "inside_stated_error": is_inside(error, stated, known["truth_error_ns"]),
        "low_ns": estimate - changes.get("half", 0.5),
        "high_ns": estimate + changes.get("half", 0.5),
    }
    known.pop("half", None)
    return Comparison(**{**computed, **known})


_HOST4: dict[str, Any] = {"ranks": 60, "ranks_per_host": 4}
_UNEVEN_REDUCE: dict[str, Any] = {
    "op": "mpi.reduce", "method": "trigger", "selector": "ompi", "bytes": 1024, "ranks": 10, "error": -40.0,
}  # fmt: skip
_BOUND_ABOVE = _row(method="bounds", low_ns=1030.0)


@pytest.mark.parametrize(
    ("claim", "rows", "holds"),
    [
        ("truth-repeats", [_row(truth_again_ns=1001.0)], True),
        ("truth-repeats", [_row(), _row(truth_again_ns=1020.0)], False),
        ("truth-repeats", [_row(truth_again_ns=1020.0, noise=True)], None),
        ("truth-repeats", [_row(truth_again_ns=None)], None),
        ("epoch-exact", [_row(error=-10.0, stated=1.0)], True),
        ("epoch-exact", [_row(error=15.0, stated=16.0)], True),
        ("epoch-exact", [_row(), _row(error=15.0, stated=1.0)], False),
        ("epoch-exact", [_row(error=15.0, stated=1.0, noise=True)], None),
        ("epoch-honest", [_row()] * 99 + [_row(error=11.0)], True),
        ("epoch-honest", [_row()] * 98 + [_row(error=11.0)] * 2, False),
        ("epoch-sharp", [_row(stated=500.0)], True),
        ("epoch-sharp", [_row(stated=501.0)], False),
        ("epoch-sharp", [_row(stated=3000.0, truth_ns=1e5)], True),
        ("epoch-sharp", [_row(stated=501.0, asymmetric=True)], None),
        ("epoch-in-time", [_row(count=95, rejected=5)], True),
        ("epoch-in-time", [_row(count=90, rejected=10)], False),
        ("epoch-noise", [_row(error=19.0, stated=1.0, noise=True)], True),
        ("epoch-noise", [_row(error=25.0, stated=20.0, truth_error_ns=20.0, noise=True)], True),
        ("epoch-noise", [_row(error=25.0, stated=1.0, noise=True)], False),
        ("batch-overlaps", [_row(method="batch"), _row(method="batch", error=-600.0)], True),
        ("batch-overlaps", [_row(method="batch", error=-400.0)], False),
        ("batch-overlaps", [_row(method="batch", op="mpi.allreduce")], None),
        ("batch-overlaps", [_row(method="batch", ranks=2)], None),
        ("barrier-skews", [_row(method="barrier", error=-80.0, **_HOST4)], True),
        ("barrier-skews", [_row(method="barrier", error=40.0, **_HOST4)], False),
        ("barrier-skews", [_row(method="barrier", error=80.0)], None),
        ("clock-free-exact", [_row(method="trigger", error=-20.0)], True),
        ("clock-free-exact", [_row(method="bisected-ack", error=-21.0)], False),
        ("clock-free-exact", [_row(method="bisected-ack", error=-21.0, **_HOST4)], None),
        ("clock-free-below", [_row(method="bisected-ack", error=-19.0, stated=1.0)], True),
        ("clock-free-exact", [_row(method="trigger", error=-21.0, platform="torus", flat=False)], None),
        ("clock-free-exact", [_row(method="trigger", error=-21.0, platform="topology=flat")], False),
        ("clock-free-exact", [_row(method="trigger", error=-21.0, selector="impi")], None),
        ("clock-free-exact", [_row(method="trigger", error=-21.0, ranks=10)], False),
        ("clock-free-exact", [_row(**_UNEVEN_REDUCE)], None),
        ("clock-free-exact", [_row(**_UNEVEN_REDUCE | {"ranks": 16})], False),
        ("clock-free-exact", [_row(**_UNEVEN_REDUCE | {"bytes": 8})], False),
        ("clock-free-below", [_row(method="trigger", error=1.9, stated=1.0)], True),
        ("clock-free-below", [_row(method="trigger", error=3.9, stated=1.0, truth_error_ns=3.0)], True),
        ("clock-free-below", [_row(method="trigger", error=2.1, stated=1.0)], False),
        ("clock-free-below", [_row(method="trigger", error=5.1, stated=1.0, truth_error_ns=4.2)], True),
        ("clock-free-below", [_row(method="trigger", error=5.3, stated=1.0, truth_error_ns=4.2)], False),
        ("clock-free-below", [_row(method="trigger", error=9.0, stated=1.0, asymmetric=True)], None),
        ("bounds-above", [_row(method="bounds", high_ns=1200.0)], True),
        ("bounds-above", [_row(method="bounds", error=-30.0, stated=1.0, high_ns=980.0)], False),
        ("bounds-below", [_row(method="bounds", low_ns=900.0)] * 19 + [_BOUND_ABOVE], True),
        ("bounds-below", [_row(method="bounds", low_ns=900.0)] * 18 + [_BOUND_ABOVE], False),
        ("bounds-below", [_row(method="bounds", low_ns=1030.0, asymmetric=True)], None),
    ],
)
def test_claims(claim: str, rows: Sequence[Comparison], holds: bool | None) -> None:
    verdict = next(one for one in check_claims(rows) if one.name == claim)
    assert verdict.holds is holds
    assert bool(verdict.failing) <= (holds is False)


def test_claims_have_names_of_their_own_and_no_rows_decide_nothing() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    assert {verdict.holds for verdict in check_claims([])} == {None}


def test_failing_rows_come_with_the_worst_first() -> None:
    rows = [_row(error=20.0, stated=1.0), _row(error=-90.0, stated=1.0), _row()]
    verdict = next(one for one in check_claims(rows) if one.name == "epoch-exact")
    assert [row.error_pct for row in verdict.failing] == [-9.0, 2.0]


@pytest.mark.parametrize(
    ("clock", "skew", "stated"), [(None, None, 1.5), (10.0, None, 11.5), (10.0, 3.0, 20.5)]
)
def test_stated_error(clock: float | None, skew: float | None, stated: float) -> None:
    assert math.isclose(stated_error(0.5, 1.0, clock, skew), stated)


def test_skew_counts_as_the_windows_show_and_thrice_at_least() -> None:
    skews = np.linspace(20.0, 40.0, 16)
    scatter = np.tile([-3.0, 1.0, 3.0, -1.0], 4)
    assert 9.5 < skew_counts(5000.0 + 10 * skews + scatter, skews) < 11.0
    assert skew_counts(5000.0 + skews, skews) == 3.0  # grows by less
    assert skew_counts(5000.0 + 100 * scatter, skews) == 3.0  # nothing is sure
    assert skew_counts(5000.0 - 10 * skews, skews) == 3.0
    assert skew_counts(5000.0 + scatter, np.full(16, 7.0)) == 3.0  # no two differ
    assert skew_counts(5000.0 + scatter, None) == 3.0  # a method without a clock
    assert math.isclose(stated_error(0.5, 1.0, 10.0, 3.0, counts=10.0), 41.5)


def _cell(*values: float) -> PointLaunch:
    (launch,) = planted([values], tick=1.0).cells
    return replace(launch, clock_error=4.0, clock_bound=400.0, by_closure=True)


@pytest.mark.parametrize(
    ("estimates", "truths", "why"),
    [
        ([1000.0] * 16, [1000.0] * 4, None),
        ([1000.0], [1000.0] * 4, "too few samples for an interval: 1, of the truth 4"),
        ([1000.0] * 16, [0.0] * 4, "the truth is 0 ns"),
    ],
)
def test_what_cannot_be_compared_is_no_row(
    estimates: Sequence[float], truths: Sequence[float], why: str | None
) -> None:
    simulation = Simulation("mpi.bcast", 2, 1, SimulatedMachine("m"), "mpich", None, (8,), ("epoch",), seed=1)
    row = row_of(simulation, "epoch", 8, _cell(*estimates), _cell(*truths), None)
    assert isinstance(row, Comparison) if why is None else isinstance(row, str) and why in row


@pytest.mark.parametrize(
    ("error", "stated", "truth", "inside"),
    [(5.0, 5.0, 0.0, True), (5.1, 5.0, 0.0, False), (-5.0, 3.0, 4.0, True), (7.0, 3.0, 4.0, False)],
)
def test_inside(error: float, stated: float, truth: float, inside: bool) -> None:
    assert is_inside(error, stated, truth) is inside


def test_biases_keep_noise_and_hosts_apart() -> None:
    rows = [_row(error=error, stated=5.0) for error in (-10.0, 0.0, 4.0)]
    rows += [_row(error=100.0, noise=True), _row(error=300.0, **_HOST4), _row(stated=900.0, asymmetric=True)]
    quiet, four, uneven, noisy = biases(rows)
    assert (quiet.min_pct, quiet.median_pct, quiet.max_pct) == (-1.0, 0.0, 0.4)
    assert math.isclose(quiet.inside_share, 2 / 3)
    assert (four.ranks_per_host, four.max_pct) == ("4", 30.0)
    assert (uneven.asymmetric, uneven.worst_stated_ns, quiet.worst_stated_ns) == (True, 900.0, 5.0)
    assert (noisy.noise, noisy.rows) == (True, 1)


def test_the_tables_say_what_fails_and_what_was_not_run() -> None:
    rows = [_row(error=90.0, stated=1.0), _row(platform="mine.xml", asymmetric=True, certain=True)]
    missing = [
        NotRun(
            op="mpi.scan", method=method, bytes=8, ranks=64, selector="ompi", barrier=None, platform="flat",
            why="too slow: not done within 5 s", kind="slow",
        )
        for method in ("batch", "epoch")
    ]  # fmt: skip
    lines = list(report_lines(rows, missing, check_claims(rows)))
    tables = [line for line in lines if isinstance(line, Table)]
    assert [table.title for table in tables] == ["error against the simulated truth", "claims"]
    verdicts = {line.cells[0]: (line.cells[1], line.tone) for line in tables[1].lines}
    assert verdicts["epoch-exact"] == ("FAILS", BAD)
    assert {"holds", "not tried"} >= {said for said, tone in verdicts.values() if tone != BAD}
    assert max(map(len, table_text(tables[0], Paper(80, is_pipe=False)).splitlines())) <= 80
    text = "\n".join(line for line in lines if isinstance(line, str))
    assert "mine.xml: some paths may take longer one way than back (asymmetric)" in text
    assert "flat: some paths" not in text
    assert (
        "epoch-exact: mpi.bcast 8 B, 16 ranks, 1 per host, flat, mpich, epoch: 1090.0 ns, truth 1000.0"
        in text
    )
    assert "not run: mpi.scan 8 B, 64 ranks, flat, ompi: too slow: not done within 5 s (2 methods)" in text

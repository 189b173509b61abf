"""A row in words."""

from __future__ import annotations

import pytest

from flat_rows import made_launch as launch
from flat_rows import made_row as row
from steelyard.records.parts import Hint
from steelyard.results.facets import RowPath
from steelyard.results.facets.modes import RowMode
from steelyard.results.row import Row
from steelyard.rows.method_words import shared_nature
from steelyard.rows.row_words import (
    bandwidth_words,
    details,
    rate_half_words,
    rate_words,
    remarks,
    time_half_words,
    value_words,
)
from steelyard.rows.words import half_words, interval_words, relative_words


def said(row: Row, launches: int = 0) -> str:
    return "; ".join(one.text for one in remarks(row, launches))


LOST = launch(2, status="failed", why="hang: no sample for 20 s", median=None)
MODES = (RowMode(1000.0, 0.83, low=980.0, high=1015.0), RowMode(1500.0, 0.17, low=1440.0, high=1550.0))
UNCLOSED = "closing: signal 11 (SIGSEGV) on rank 1"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({}, ""),
        (
            {"flags": ("NOISY",), "modes": MODES},
            "1.00 us ± 2.0 % in 83 % of the time, 1.50 us ± 4.0 % in 17 %",
        ),
        (
            {"flags": ("NOISY",), "modes": MODES, "typical_mode": 1},
            "1.50 us ± 4.0 % in 17 % of the time, 1.00 us ± 2.0 % in 83 %",
        ),
        (
            {
                "flags": ("NOISY",),
                "launch_count": 4,
                "modes": (RowMode(1e2, 0.5, launches=2), RowMode(1e4, 0.5, launches=2)),
            },
            "100 ns in 50 % of launches, 10.0 us in 50 %",
        ),
        ({"flags": ("NOISY",), "slow_share": 0.16}, "16 % of samples over 3 x the median"),
        ({"flags": ("SETTLED",), "modes": MODES}, ""),
        ({"flags": ("TIME", "DRIFT")}, "drifts"),
        ({"launch_count": 1, "launches": (launch(1, ending=UNCLOSED),)}, "launch ended badly"),
        (
            {"launch_count": 2, "launches": (launch(1), launch(2, ending=UNCLOSED))},
            "1/2 launches ended badly",
        ),
        ({"yields_per_op": 2.3}, "2.3 calls of sched_yield per operation"),
        ({"yields_per_op": 0.001}, ""),
        ({"ci_high": 1660.0}, "noisy: only 5 launches"),
        ({"ci_high": 1660.0, "launch_count": 10}, "noisy: launches differ"),
        ({"ci_high": 1660.0, "launch_count": 1}, ""),
        ({"ci_high": 1240.0}, ""),
        ({"method": "bounds", "low_ns": 126.0}, "at least 126 ns"),
        ({"low_ns": 126.0}, ""),
        (
            {"method": "ack", "path": RowPath(0, 3, 0.0, 400.0, 6)},
            "600 ns if its messages take whole round trips",
        ),
        ({"method": "ack", "path": RowPath(0, 3, 0.0, 200.0, 6)}, ""),
        ({"method": "trigger-ack", "path": RowPath(2, 3, 400.0, 400.0, 6)}, ""),
        (
            {"quantile": 0.99, "quantile_value": 4500.0, "quantile_low": 4100.0, "quantile_high": 4900.0},
            "p99 4.50 us (4.10 – 4.90 us)",
        ),
        ({"slowest_rank": 3, "slowest_share": 0.97}, "rank 3 last in 97 %"),
        ({"slowest_rank": 3, "slowest_share": 0.4}, ""),
        ({"slowest_rank": 3, "slowest_share": 0.97, "method": "bounds"}, ""),  # it waits in a barrier
        ({"rejected": 50}, ""),
        ({"transport": "shm", "layer": "shared memory"}, "by shm"),
        ({"transport": "tcp"}, ""),  # what variables leave an MPI
        ({"hint": Hint(key="no_locks", asked="true", has="true")}, ""),
        ({"hint": Hint(key="no_locks", asked="true")}, "the library says nothing of no_locks=true"),
        (
            {"hint": Hint(key="no_locks", asked="true", has="false")},
            "the library has false for no_locks=true",
        ),
        (
            {"status": "failed", "why": "x", "launches": (launch(1), LOST, launch(3))},
            "failed in 1 of 3 launches: hang: no sample for 20 s",
        ),
        (
            {"status": "failed", "why": "x", "median": None, "launches": (LOST,)},
            "failed: hang: no sample for 20 s",
        ),
    ],
)
def test_what_is_odd_with_a_row(keys: dict[str, object], text: str) -> None:
    assert said(row(**keys)) == text


def test_a_row_that_rests_on_fewer_launches_says_so() -> None:
    assert said(row(launch_count=3), launches=10) == "measured in 3 of 10 launches"
    assert said(row(launch_count=10), launches=10) == ""


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (990.0, 1010.0, "±1.0 %"),
        (600.0, 1400.0, "±40 %"),
        (990.0, 1400.0, "−1.0 +40 %"),
        (1000.0, 90000.0, "> 10x"),
        (999.9, 1000.1, "±0.01 %"),
        (1000.0, 1000.0, "±0 %"),
        (None, None, "-"),
    ],
)
def test_relative_words(low: float | None, high: float | None, text: str) -> None:
    assert relative_words(row(ci_low=low, ci_high=high)) == text


@pytest.mark.parametrize(
    ("low", "high", "value", "text"),
    [
        (198.0, 211.0, None, "198 – 211 ns"),
        (950.0, 1020.0, 990.0, "950 ns – 1.02 us"),
        (1e-4, 3e24, 200.0, "> 10x"),
        (1e-4, 2100.0, 200.0, "0.0001 ns – 2.10 us"),
        (-3.0, 5.0, -1.0, "-3.00 – 5.00 ns"),
        (None, 1.0, 1.0, "-"),
    ],
)
def test_interval_words(low: float | None, high: float, value: float | None, text: str) -> None:
    assert interval_words(low, high, value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (990.0, 1010.0, "1.0 %"),
        (600.0, 1050.0, "40 %"),  # the larger side
        (990.0, 1400.0, "40 %"),
        (1000.0, 90000.0, "> 10x"),
        (999.9, 1000.1, "0.01 %"),
        (None, None, "-"),
    ],
)
def test_half_words(low: float | None, high: float | None, text: str) -> None:
    assert half_words(1000.0, low, high) == text
    assert time_half_words(row(ci_low=low, ci_high=high)) == text


def test_the_interval_of_a_rate_is_that_of_its_time_turned_round() -> None:
    """1 / 800 is 25 % more than 1 / 1000, 1 / 1000 of 1050 is 4.8 % less."""
    assert rate_half_words(row(ci_low=800.0, ci_high=1050.0)) == "25 %"
    assert rate_half_words(row(ci_low=999.0, ci_high=2000.0)) == "50 %"
    assert rate_half_words(row(ci_low=None, ci_high=None)) == "-"
    assert rate_half_words(row(ci_low=-5.0)) == "-"


def test_rates() -> None:
    assert rate_words(row(mops=81.1)) == "81.1 Mop/s"
    assert rate_words(row(mops=0.0044, headline="messages")) == "4.40 k/s"
    assert rate_words(row(mops=4400.0, headline="messages")) == "4.40 G/s"
    assert rate_words(row(mops=1e-5, headline="messages")) == "10.0 /s"
    assert rate_words(row()) == "-"


PATH = RowPath(late=0, observer=15, late_ns=200.0, observer_ns=210.0, loops=8)
SYNCHRONISED = {"low_ns": 966.0, "error_ns": 23.0, "clock_error_ns": 13.0, "skew_ns": 14.0}


@pytest.mark.parametrize(
    ("keys", "value", "seen", "is_what"),
    [
        ({"method": "batch"}, "1.00 us", "", "throughput, not latency"),
        ({"method": "batch", "op": "mpi.pingpong"}, "1.00 us", "", ""),
        ({"method": "batch", "ranks": 1}, "1.00 us", "", ""),
        ({"method": "root"}, "1.00 us", "", "overhead, not a latency"),
        ({"method": "rank"}, "1.00 us", "", "overhead, not a latency"),
        ({"method": "barrier"}, "1.00 us", "", "includes barrier exit skew"),
        ({"method": "library-barrier"}, "1.00 us", "", "includes barrier exit skew"),
        ({"method": "epoch", **SYNCHRONISED}, "1.00 us", "966 ns – 1.00 us ±23.0 ns", ""),
        ({"method": "window", **SYNCHRONISED, "low_ns": 1001.0}, "1.00 us", "1.00 us ±23.0 ns", ""),
        ({"method": "epoch", **SYNCHRONISED, "error_ns": 1e12}, "1.00 us", "966 ns – 1.00 us", ""),
        ({"method": "round-time", "clock_error_ns": 13.0}, "1.00 us", "clocks ±13.0 ns", ""),
        (
            {"method": "each", "median": 256.0, "ways": (251.0, 262.0), "overhead": 22.0},
            "256 ns",
            "there 251 ns, back 262 ns; the clock costs 22.0 ns a message, subtracted",
            "",
        ),
        (
            {"method": "each", "ways": (990.0, 1010.0), "overhead": 2.0},
            "1.00 us",
            "there 990 ns, back 1.01 us",
            "",
        ),
        (
            {"method": "bisected-ack", "path": PATH},
            "≥ 1.00 us",
            "rank 0 → rank 15, 8 loops",
            "a lower bound",
        ),
        ({"method": "ack"}, "≥ 1.00 us", "", "a lower bound"),
        ({"method": "trigger"}, "≥ 1.00 us", "", "a lower bound"),
        ({"method": "trigger-ack"}, "1.00 us", "", "the time along one path"),
        (
            {"method": "bounds", "low_ns": 126.0},
            "≤ 1.00 us",
            "at least 126 ns, at most 1.00 us",
            "not an estimate",
        ),
        ({"method": "sundial", "clock_error_ns": 13.0}, "1.00 us", "clocks ±13.0 ns", ""),
        ({"method": "epoch", "median": None, "status": "failed", "why": "hang"}, "-", "", ""),
    ],
)
def test_what_a_method_says_of_a_row(keys: dict[str, object], value: str, seen: str, is_what: str) -> None:
    one = row(**keys)
    assert (value_words(one), details(one), one.nature or "") == (value, seen, is_what)


def test_what_all_numbers_of_a_table_are() -> None:
    assert shared_nature((row(method="batch"), row(method="batch", bytes=16))) == "throughput, not latency"
    assert shared_nature((row(method="batch"), row(method="bounds"))) == ""


def test_a_bound_of_a_time_is_one_of_the_bandwidth() -> None:
    assert bandwidth_words(row(method="bounds", bandwidth=8e6)) == "≥ 8.00 MB/s"
    assert bandwidth_words(row(method="ack", bandwidth=8e6)) == "≤ 8.00 MB/s"
    assert bandwidth_words(row(method="epoch", bandwidth=8e6)) == "8.00 MB/s"
    assert bandwidth_words(row(method="ack")) == "-"

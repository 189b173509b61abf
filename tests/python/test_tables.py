from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from make_records import FakePoint, regimes, steady, write_folder
from steelyard.engine import engine_folder
from steelyard.records import End
from steelyard.results import results
from steelyard.row import Row, RowPath
from steelyard.tables import results_tables, row_line
from steelyard.wording import METHODS, bandwidth_words, interval_words, notes, relative_words, value_words

HANG = End(point=0, status="failed", why="hang: no observation for 20 s")
ABSENT = End(point=0, status="skipped", why="needs MPI 4.0")


def row(**keys: object) -> Row:
    values: dict[str, object] = {
        "point": 0,
        "op": "mpi.bcast",
        "method": "epoch",
        "bytes": 8,
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
    return Row(**(values | keys))  # type: ignore[arg-type]


def shown(rows: tuple[Row, ...], width: int = 100, colour: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
    )
    for table in results_tables(rows):
        console.print(table)
    return out.getvalue()


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Row, ...]:
    points = [
        FakePoint(
            "mpi.pingpong", steady(220 * factor + size / 8, count=400), bytes=size, mpi=mpi, report="root"
        )
        for mpi, factor in (("mpich-4.0.2", 1.0), ("openmpi-4.1.4", 1.3))
        for size in (0, 8, 4096, 2**22)
    ]
    points += [
        FakePoint("mpi.barrier", regimes(600.0, 1400.0), bytes=0, yields_per_op=2.3),
        FakePoint("mpi.scan", steady(900.0), bytes=0, ends={2: HANG}),
        FakePoint("mpi.ibarrier", steady(900.0), bytes=0, ends=dict.fromkeys(range(9), ABSENT)),
        FakePoint("pthread.mutex", steady(18.0), bytes=0, mpi=None, ranks=1, reps=1000),
        FakePoint("pthread.create", steady(9000.0), bytes=0, mpi=None, ranks=1),
    ]
    return results(write_folder(tmp_path_factory.mktemp("campaign") / "out", points, launches=6))


def test_a_table_for_each_op_on_100_columns(campaign: tuple[Row, ...]) -> None:
    text = shown(campaign)
    titles = [line.split(",")[0] for line in text.splitlines() if " intervals" in line]
    assert titles == ["mpi.pingpong", "mpi.*", "pthread.*"]
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "\x1b" not in text
    assert "…" not in text


def test_no_column_is_lost_on_80_columns(campaign: tuple[Row, ...]) -> None:
    text = shown(campaign, width=80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "openmpi" in text


def test_what_all_share_stands_in_the_title(campaign: tuple[Row, ...]) -> None:
    first = shown(campaign).splitlines()[0]
    assert first.rstrip() == "mpi.pingpong, 2 ranks, batch, 6 launches, 96.9 % intervals"


def test_failures_modes_and_reasons_are_seen(campaign: tuple[Row, ...]) -> None:
    text = " ".join(shown(campaign).split())
    for words in ("failed", "skipped", "needs MPI 4.0", "2 modes", "2.3 yields/op", "4 MiB", "NOISY"):
        assert words in text


def test_nothing_to_show() -> None:
    assert results_tables([]) == []


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({}, "mpi.bcast 8 B on 4 ranks of mpich: 1.00 us ±1.0 % SETTLED"),
        ({"bandwidth": 8e6}, "mpi.bcast 8 B on 4 ranks of mpich: 1.00 us ±1.0 % 8.00 MB/s SETTLED"),
        ({"ci_low": None, "ci_high": None}, "mpi.bcast 8 B on 4 ranks of mpich: 1.00 us – SETTLED"),
        (
            {"ranks": 1, "mpi": None, "bytes": 0, "threads": 2},
            "mpi.bcast with 2 threads: 1.00 us ±1.0 % SETTLED",
        ),
        (
            {"median": None, "status": "skipped", "why": "no"},
            "mpi.bcast 8 B on 4 ranks of mpich: skipped, no",
        ),
        ({"rejected": 3}, "mpi.bcast 8 B on 4 ranks of mpich: 1.00 us ±1.0 % SETTLED; 3 rejected"),
        (
            {"status": "failed", "why": "hang (launch 1 of 2)"},
            "mpi.bcast 8 B on 4 ranks of mpich: 1.00 us ±1.0 % failed; hang (launch 1 of 2)",
        ),
    ],
)
def test_row_line(keys: dict[str, object], text: str) -> None:
    assert row_line(row(**keys)) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (990.0, 1010.0, "±1.0 %"),
        (600.0, 1400.0, "±40 %"),
        (990.0, 1400.0, "−1.0 +40 %"),
        (1000.0, 90000.0, "> 10x"),
        (999.9, 1000.1, "±0.01 %"),
        (1000.0, 1000.0, "±0 %"),
        (None, None, "–"),
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
        (None, 1.0, 1.0, "–"),
    ],
)
def test_interval_words(low: float | None, high: float, value: float | None, text: str) -> None:
    assert interval_words(low, high, value) == text


PATH = RowPath(late=0, observer=15, late_ns=200.0, observer_ns=210.0, loops=8)
SYNCHRONISED = {"low_ns": 966.0, "error_ns": 23.0, "clock_error_ns": 13.0, "skew_ns": 14.0}


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        ({"method": "batch"}, "1.00 us", ["throughput, not latency"]),
        ({"method": "batch", "op": "mpi.pingpong"}, "1.00 us", []),
        ({"method": "batch", "ranks": 1}, "1.00 us", []),
        ({"method": "root"}, "1.00 us", ["overhead, not a latency"]),
        ({"method": "rank"}, "1.00 us", ["overhead, not a latency"]),
        ({"method": "barrier"}, "1.00 us", ["biased by the barrier"]),
        ({"method": "library-barrier"}, "1.00 us", ["biased by the barrier"]),
        ({"method": "epoch", **SYNCHRONISED}, "1.00 us", ["966 ns – 1.00 us ±23.0 ns", "skew 14.0 ns"]),
        (
            {"method": "window", **SYNCHRONISED, "low_ns": 1001.0, "window_ns": (3400, 12000)},
            "1.00 us",
            ["1.00 us ±23.0 ns", "skew 14.0 ns", "windows grew from 3.40 us to 12.0 us"],
        ),
        (
            {"method": "epoch", **SYNCHRONISED, "error_ns": 1e12, "window_ns": (3400, 3500)},
            "1.00 us",
            ["966 ns – 1.00 us", "skew 14.0 ns"],
        ),
        ({"method": "round-time", "clock_error_ns": 13.0}, "1.00 us", ["clocks ±13.0 ns"]),
        (
            {"method": "each", "median": 256.0, "ways": (251.0, 262.0), "overhead": 22.0},
            "256 ns",
            ["there 251 ns, back 262 ns", "the clock costs 22.0 ns a message, taken off"],
        ),
        (
            {"method": "each", "ways": (990.0, 1010.0), "overhead": 2.0},
            "1.00 us",
            ["there 990 ns, back 1.01 us"],
        ),
        (
            {"method": "bisected-ack", "path": PATH},
            "≥ 1.00 us",
            ["a lower bound", "rank 0 → rank 15, 8 loops"],
        ),
        ({"method": "ack"}, "≥ 1.00 us", ["a lower bound"]),
        ({"method": "trigger"}, "≥ 1.00 us", ["a lower bound"]),
        ({"method": "trigger-ack"}, "≥ 1.00 us", ["a lower bound"]),
        (
            {"method": "bounds", "low_ns": 126.0},
            "≤ 1.00 us",
            ["not an estimate", "at least 126 ns, at most 1.00 us"],
        ),
        ({"method": "sundial", "clock_error_ns": 13.0}, "1.00 us", ["clocks ±13.0 ns"]),
        ({"method": "bounds", "median": None, "status": "failed", "why": "hang"}, "–", ["hang"]),
    ],
)
def test_what_a_method_says_of_a_row(keys: dict[str, object], value: str, words: list[str]) -> None:
    one = row(**keys)
    assert (value_words(one), notes(one)) == (value, words)


def test_each_method_of_the_engine_has_words() -> None:
    source = (engine_folder() / "core" / "method.c").read_text()
    table = source[source.index("*const methods[]") :]
    names = {name.replace("_", "-") for name in re.findall(r"&method_(\w+)", table[: table.index(";")])}
    assert names == set(METHODS)


def test_a_bound_of_a_time_is_one_of_the_bandwidth() -> None:
    assert bandwidth_words(row(method="bounds", bandwidth=8e6)) == "≥ 8.00 MB/s"
    assert bandwidth_words(row(method="ack", bandwidth=8e6)) == "≤ 8.00 MB/s"
    assert bandwidth_words(row(method="epoch", bandwidth=8e6)) == "8.00 MB/s"
    assert bandwidth_words(row(method="ack")) == "–"


def test_what_all_numbers_of_a_table_are_stands_in_its_title() -> None:
    """And with several methods, in the notes of each row."""
    text = shown((row(method="batch"), row(method="batch", bytes=16)))
    assert text.count("throughput, not latency") == 1
    assert "batch (throughput, not latency)" in text.splitlines()[0]
    text = shown((row(method="batch"), row(method="bounds", low_ns=126.0)), width=140)
    assert "throughput, not latency" not in text.splitlines()[0]
    assert "throughput, not latency" in text
    assert "at least 126 ns, at most 1.00 us" in text


def test_the_slowest_rank_is_named_when_it_is_always_the_same() -> None:
    assert notes(row(method="epoch", slowest_rank=3, slowest_share=0.97)) == ["rank 3 slowest in 97 %"]
    assert notes(row(method="epoch", slowest_rank=3, slowest_share=0.4)) == []
    said = notes(row(method="bounds", slowest_rank=3, slowest_share=0.97))  # it waits in a barrier
    assert not any("slowest" in words for words in said)


def test_flags_have_colours_where_there_are_some(campaign: tuple[Row, ...]) -> None:
    assert "\x1b" in shown(campaign, colour=True)

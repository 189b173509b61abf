"""After --like: the value that the other suite would print, in its own columns."""

from __future__ import annotations

from typing import Any

from flat_rows import flat_row
from steelyard.export.like_table import like_tables
from steelyard.export.suite_tests import Theirs, mean_us
from steelyard.render.table import NOTHING
from steelyard.results.row import Row

_FIXED: dict[str, Any] = {
    "method": "epoch", "threads": 1, "placement": None, "mpi": "mpich", "launch_count": 1,
    "rejected": 0, "ci_low": None, "ci_high": None, "ci_level": None, "ci_of": 1, "flags": (),
    "verified": True,
}  # fmt: skip


def _row(op: str, size: int, **more: Any) -> Row:
    usual = {
        "point": size,
        "ranks": 2,
        "count": 100,
        "median": 1.0,
        "status": "ok",
        "params": {},
        "why": None,
    }
    return flat_row(op=op, bytes=size, **{**_FIXED, **usual, **more})


def _cells(test: Theirs, *rows: Row) -> tuple[list[str], list[tuple[str, ...]]]:
    (table,) = like_tables([test], rows)
    return [column.name for column in table.columns], [line.cells for line in table.lines]


_OSU, _IMB = "OSU Micro-Benchmarks", "Intel MPI Benchmarks"


def test_a_latency_is_their_mean_in_microseconds_in_the_order_of_sizes() -> None:
    rows = (_row("mpi.pingpong", 8, mean=1234.0), _row("mpi.pingpong", 1, mean=500.0))
    found = _cells(Theirs(_OSU, "osu_latency", "mpi.pingpong", {}), *rows)
    assert found == (["Size", "Avg Latency(us)"], [("1", "0.50"), ("8", "1.23")])


def test_a_collective_has_the_least_and_the_greatest_of_the_ranks() -> None:
    row = _row("mpi.bcast", 8, mean=9.0, osu={"avg": 2000.0, "min": 1000.0, "max": 4000.0})
    osu = _cells(Theirs(_OSU, "osu_bcast", "mpi.bcast", {}), row)
    assert osu == (
        ["Size", "Avg Latency(us)", "Min Latency(us)", "Max Latency(us)", "Iterations"],
        [("8", "2.00", "1.00", "4.00", "100")],
    )
    imb = _cells(Theirs(_IMB, "Bcast", "mpi.bcast", {}), row)
    assert imb == (
        ["#bytes", "#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]"],
        [("8", "100", "1.00", "4.00", "2.00")],
    )


def test_a_bandwidth_is_in_millions_of_bytes_a_second_at_the_mean() -> None:
    row = _row("mpi.bandwidth", 8, median=1.0, mean=2.0, bandwidth=12.5e9, headline="bandwidth")
    found = _cells(Theirs(_OSU, "osu_bw", "mpi.bandwidth", {}), row)
    assert found == (["Size", "Bandwidth (MB/s)"], [("8", "6250.00")])


def test_only_rows_of_the_test_that_were_measured_are_in_it() -> None:
    rows = (
        _row("mpi.pingpong", 1, mean=1.0, params={"send": "start"}),
        _row("mpi.pingpong", 2, mean=1.0),
        _row("mpi.pingpong", 4, mean=1.0, params={"send": "start"}, status="failed"),
        _row("mpi.bcast", 8, mean=1.0),
    )
    _, lines = _cells(Theirs(_OSU, "osu_latency_persistent", "mpi.pingpong", {"send": "start"}), *rows)
    assert [line[0] for line in lines] == ["1"]


def test_a_suite_whose_columns_are_not_known_has_no_table() -> None:
    row = _row("mpi.pingpong", 1, mean=1.0)
    assert list(like_tables([Theirs("SKaMPI", "Pingpong_Send_Recv", "mpi.pingpong", {})], [row])) == []


def test_a_pattern_is_told_as_its_test_prints_it() -> None:
    """Its rows have times of all ranks; windows print a bandwidth, ping-pongs one way of who asks."""
    ranks = {"avg": 2000.0, "min": 1000.0, "max": 4000.0}
    row = _row("mpi.pattern.fan_in", 8, mean=2.0, bandwidth=12.5e9, osu=ranks, params={"kind": "window"})
    test = Theirs(_OSU, "osu_bw_fan_in", "mpi.pattern.fan_in", {"kind": "window"})
    assert _cells(test, row) == (["Size", "Bandwidth (MB/s)"], [("8", "6250.00")])
    row = _row("mpi.pattern.bisection", 8, mean=3000.0, osu=ranks, params={"kind": "pingpong"})
    test = Theirs(_OSU, "osu_multi_lat", "mpi.pattern.bisection", {"kind": "pingpong"})
    assert _cells(test, row) == (["Size", "Avg Latency(us)"], [("8", "2.00")])


def test_the_target_of_a_put_counts_for_nothing() -> None:
    row = _row("shmem.put", 8, mean=9.0, osu={"avg": 2000.0, "min": 0.0, "max": 4000.0})
    assert mean_us(row, Theirs(_OSU, "osu_oshm_put", "shmem.put", {})) == 4.0
    assert mean_us(row, Theirs(_OSU, "osu_oshm_barrier", "shmem.put", {})) == 2.0  # a collective's ranks do


def test_columns_are_those_of_the_export_and_no_others() -> None:
    """A target that does nothing counts for nothing; what our op has not is left open."""
    ranks = {"avg": 2000.0, "min": 0.0, "max": 4000.0}
    row = _row("shmem.put", 8, mean=9.0, osu=ranks)
    assert _cells(Theirs(_OSU, "osu_oshm_put", "shmem.put", {}), row) == (
        ["Size", "Latency (us)"],
        [("8", "4.00")],
    )
    columns, ((size, overall, *_, least, most, overlap),) = _cells(
        Theirs(_OSU, "osu_ibcast", "mpi.ibcast", {}), _row("mpi.ibcast", 8, mean=9.0, osu=ranks)
    )
    assert columns[:2] == ["Size", "Overall(us)"]
    assert (size, overall, least, most, overlap) == ("8", NOTHING, "0.00", "4.00", NOTHING)
    assert _cells(Theirs(_OSU, "osu_init", "mpi.init", {}), _row("mpi.init", 0, mean=5e6)) == (
        ["nprocs", "min", "max", "avg"],
        [("2", "5 ms", "5 ms", "5 ms")],
    )
    unknown = Theirs(_IMB, "Unidir_put", "mpi.put", {})
    assert list(like_tables([unknown], [_row("mpi.put", 8, mean=9.0)])) == []

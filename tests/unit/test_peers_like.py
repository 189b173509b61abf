"""The benchmark that holds --like against the originals: what it reads, and which programs it finds."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from loaded import load_benchmark
from scripts import script

peers_record = load_benchmark("peers_record")
peers_like = load_benchmark("peers_like")
_OSU = """
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation
1                       1.23              Pass
1024                 1000.00              Pass
"""
_OVERLAP = """
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait
# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
8                        nan               nan              2.00               nan
"""
_BARRIER = "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n             2.50\n"
_IMB = """
# Benchmarking Bcast
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8           30         1.00         4.00         2.00
"""


@pytest.mark.parametrize(
    ("text", "column", "sized", "expected"),
    [
        (_OSU, 1, True, {1: 1.23, 1024: 1000.0}),
        (_OVERLAP, 3, True, {8: 2.0}),
        (_BARRIER, 1, False, {0: 2.5}),
        ("# Size          Latency (us)\n1                       0.05\n", 1, False, {0: 0.05}),
        (_IMB, 3, True, {8: 4.0}),
        ("nothing\n", 1, True, {}),
    ],
)
def test_one_reader_reads_both(text: str, column: int, sized: bool, expected: dict[int, float]) -> None:
    assert peers_like.table_of(text, column, sized) == expected


def test_a_program_of_several_tests_has_a_line_for_each(tmp_path: Path) -> None:
    script(tmp_path / "osu_oshm_atomics", "")
    peers = {peer.row.name: peer for peer in peers_like.peers_of(tmp_path, None)}
    assert len(peers) == 16
    head = "# Operation       Million ops/s  Latency (us)\n"
    text = f"{head}shmem_int_fadd  66.30  0.02\nshmem_int_add  90.0  0.01\n"
    assert peers["shmem_int_fadd"].read(text) == {0: 0.02}
    assert peers["shmem_int_add"].read(text) == {0: 0.01}
    assert peers["shmem_int_set"].read(text) == {}
    assert peers["shmem_int_set"].words[1:] == ("heap",)


def test_installed_programs_are_found_by_their_names_and_compared(tmp_path: Path) -> None:
    script(tmp_path / "osu/c/mpi/pt2pt/osu_latency", "")
    script(tmp_path / "osu/osu_iallreduce", "")
    for name in ("osu_oshm_put", "osu_oshm_barrier"):
        script(tmp_path / "osu" / name, "")
    (tmp_path / "osu" / "osu_bw").write_text("no program")
    script(tmp_path / "imb/IMB-MPI1", "")
    found = {peer.row.name: peer for peer in peers_like.peers_of(tmp_path / "osu", tmp_path / "imb")}
    oshm = ["osu_oshm_put", "osu_oshm_barrier"]
    assert {name for name in found if name.startswith("osu_")} == {"osu_latency", "osu_iallreduce", *oshm}
    assert [found[name].words[1:] for name in oshm] == [("heap",), ()]
    assert (found["osu_iallreduce"].column, found["PingPong"].column, found["Bcast"].column) == (3, 2, 3)
    assert found["Bcast"].words[1:] == ("Bcast",)
    assert "Ibcast_pure" not in found  # of a program that is not there
    assert (found["osu_latency"].samples, found["Uniband"].samples) == (1000, 100)
    assert list(peers_like.peers_of(None, None)) == []


def place(suite: str = "OSU 7.4", mpi: str = "openmpi-4.1.4") -> Any:
    return peers_record.Place(suite, mpi, 2, "a processor, 2 cores", "2026-11-26", "0.1.0")


def lines(peer: Any, ours: list[dict[int, float]], theirs: list[dict[int, float]]) -> list[str]:
    found = peers_like.compared_of(peer, ours, theirs, peers_record.Way(), place())
    return [one.line for one in found]


def test_a_ratio_is_that_of_neighbours_with_its_interval(tmp_path: Path) -> None:
    script(tmp_path / "osu_latency", "")
    (peer,) = peers_like.peers_of(tmp_path, None)
    (line,) = lines(peer, [{8: 2.0}, {8: 4.0}], [{8: 1.0, 16: 1.0}] * 2)
    assert line.startswith("| osu_latency | 8 B | 3.00 | 1.00 | ")
    theirs = [{8: 1.0}, {8: 4.0}, {8: 2.0}]
    (line,) = lines(peer, [{8: 1.1}, {8: 4.4}, {8: 2.2}], theirs)
    assert line == "| osu_latency | 8 B | 2.20 | 2.00 | 1.100 [1.095, 1.105] |"
    (line,) = lines(peer, theirs[:1], theirs[:1])
    assert line == "| osu_latency | 8 B | 1.00 | 1.00 | 1.000 |"
    assert lines(peer, [{}], [{8: 1.0}]) == []
    assert "no size in both" in peers_like.nothing_line(peer, [{8: 1.0}], "")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            "\n[../utils/x.c:102] Error: 'Please run this benchmark on more than 1 node'\n---\n",
            "Error: 'Please run this benchmark on more than 1 node'",
        ),
        ("ERROR: the given radius is too large", "ERROR: the given radius is too large"),
        ("\nThis test requires two processes\nmpirun: ended\n", "This test requires two processes"),
        ("", "no word why"),
    ],
)
def test_an_original_that_refuses_is_quoted(said: str, why: str, tmp_path: Path) -> None:
    script(tmp_path / "osu_bw_fan_in", "")
    (peer,) = peers_like.peers_of(tmp_path, None)
    line = peers_like.nothing_line(peer, [{}], said)
    assert line == f"| osu_bw_fan_in | the original prints no number: {why} | | | |"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (_OSU, "OSU 7.4"),
        ("#    Intel(R) MPI Benchmarks 2021.10, MPI-1 part\n", "IMB 2021.10"),
        ("8 1.0\n", ""),
    ],
)
def test_the_version_is_that_of_the_text(text: str, version: str) -> None:
    assert peers_like.version_of(text) == version


def one(test: str, size: int | None, pairs: list[tuple[float, float]], **where: Any) -> Any:
    way = peers_record.Way(ours=where.pop("ours", ""))
    return peers_record.compare(test, size, pairs, way, structs.replace(place(), **where))


def test_launches_are_added_to_those_of_the_same_programs(tmp_path: Path) -> None:
    file = tmp_path / "peers.jsonl"
    assert peers_record.read_record(file) == []
    before = [one("osu_bcast", size, [(3.0, 2.0)]) for size in (8, 64, None)]
    peers_record.write_record(file, before)
    now = [
        one("osu_bcast", 64, [(2.0, 2.0), (2.2, 2.0)], day="2026-11-27"),
        one("osu_bcast", 8, [(2.1, 2.0)], ours="--method library-barrier"),
        one("osu_bcast", 8, [(2.1, 2.0)], mpi="mpich-4.0.2"),
    ]
    peers_record.write_record(file, peers_record.added(peers_record.read_record(file), now))
    found = peers_record.read_record(file)
    assert found == [before[0], found[1], before[2], *now[1:]]
    assert found[1].pairs == ((3.0, 2.0), (2.0, 2.0), (2.2, 2.0))
    assert (found[1].ratio, found[1].launches) == (1.1, 3)
    assert found[1].place.days == {"2026-11-26", "2026-11-27"}


@pytest.mark.parametrize("other", [{"suite": "OSU 7.5"}, {"samples": 1000}, {"machine": "another, 4 cores"}])
def test_launches_of_other_programs_stay_until_as_many_are_made(other: dict[str, Any]) -> None:
    """A night on another machine took the twelve launches of a line away for one."""
    before = one("osu_bcast", 8, [(3.0, 2.0)] * 3, **other)
    found = [before]
    for count in (1, 2):
        found = peers_record.added(found, [one("osu_bcast", 8, [(2.0, 2.0)])])
        assert [line.launches for line in found] == [3, count]
        assert peers_record.most_launches(found) == [before]
    (last,) = peers_record.added(found, [one("osu_bcast", 8, [(2.0, 2.0)])])
    assert (last.launches, last.ratio) == (3, 1.0)


def test_a_line_that_kept_no_launches_is_replaced() -> None:
    now = one("osu_bcast", 8, [(2.0, 2.0)])
    for where in ({}, {"suite": "OSU 7.5"}):
        old = structs.replace(one("osu_bcast", 8, [(3.0, 2.0)] * 6, **where), pairs=())
        assert peers_record.added([old], [now]) == [now]


def test_a_record_is_replaced_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is stopped while it is written keeps what was there."""
    file = tmp_path / "peers.jsonl"
    before = [one("osu_bcast", 8, [(3.0, 2.0)])]
    peers_record.write_record(file, before)

    def stopped(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(peers_record.os, "fsync", stopped)
    with pytest.raises(KeyboardInterrupt):
        peers_record.write_record(file, [])
    assert peers_record.read_record(file) == before


@pytest.mark.parametrize(
    ("pairs", "is_settled"),
    [
        ([(1.0, 1.0)] * 5, False),  # too few for an interval of order statistics
        ([(1.0, 1.0)] * 6, True),
        ([(1.0, 1.0)] * 7, False),  # between looks: to look at each launch would err more often
        ([(1.0, 1.0)] * 12, True),
        ([(1.0, 1.0)] * 5 + [(2.0, 1.0)], False),  # it cannot tell
        ([(2.0, 1.0)] * 6, True),
        ([(0.02, 0.02)] * 6, True),  # its decimals cannot tell, however many launches
    ],
)
def test_a_test_goes_on_until_it_tells(pairs: list[tuple[float, float]], is_settled: bool) -> None:
    assert one("osu_bcast", 8, pairs).is_settled is is_settled


class Benches:
    """In place of a machine: each pair of a test has the next of its ratios."""

    mpi, way, cores = "openmpi-4.1.4", peers_record.Way(), "a processor, 2 cores"

    def __init__(self, ratios: dict[str, list[float]]) -> None:
        self.ratios = ratios
        self.taken: list[str] = []

    def pair(self, peer: Any) -> tuple[list[Any], str]:
        """The next launch of both."""
        self.taken.append(peer.row.name)
        ratio = self.ratios[peer.row.name][self.taken.count(peer.row.name) - 1]
        where = {"samples": peer.samples}
        return ([one(peer.row.name, 8, [(ratio, 1.0)], **where)], "") if ratio else ([], "| it refuses |")


def given(record: Path, launches: int | None = None, budget: float = math.inf) -> argparse.Namespace:
    return argparse.Namespace(record=record, undecided=True, launches=launches, time_budget=budget)


def test_tests_take_turns_and_only_those_go_on_that_cannot_tell(tmp_path: Path) -> None:
    for name in ("osu_latency", "osu_bw", "osu_bw_fan_in"):
        script(tmp_path / name, "")
    peers = list(peers_like.peers_of(tmp_path, None))
    file = tmp_path / "peers.jsonl"
    bench = Benches({"osu_latency": [1.0] * 6, "osu_bw": [3.0, 0.3] + [1.0] * 10, "osu_bw_fan_in": [0.0]})
    assert list(peers_like.measure(peers, bench, given(file, 6, budget=-1.0))) == []
    said = list(peers_like.measure(peers, bench, given(file, 12)))
    assert bench.taken[:5] == ["osu_latency", "osu_bw", "osu_bw_fan_in", "osu_latency", "osu_bw"]
    assert [bench.taken.count(name) for name in ("osu_latency", "osu_bw", "osu_bw_fan_in")] == [6, 12, 1]
    assert [line.split(" | ")[-2:] for line in said] == [
        ["6", "within 10 % |"],
        ["12", "within 10 % |"],
        ["| it refuses |"],
    ]
    assert list(peers_like.measure(peers[:2], bench, given(file, 12))) == []


def test_the_tests_with_most_that_cannot_tell_are_measured_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Some turns were spent on all tests, and none reached its look."""
    names = ("osu_latency", "osu_bcast", "osu_allreduce")
    for name in names:
        script(tmp_path / name, "")
    peers = list(peers_like.peers_of(tmp_path, None))
    file = tmp_path / "peers.jsonl"
    wild = [(3.0, 1.0), (0.3, 1.0), (1.0, 1.0)]
    before = [
        one("osu_latency", 8, [(1.0, 1.0)] * 6, samples=1000),  # is settled
        one("osu_bcast", 8, wild, samples=1000),  # one size of it, three launches before its look
        *(one("osu_allreduce", size, wild, samples=1000) for size in (8, 64, 512)),
    ]
    peers_record.write_record(file, before)
    bench = Benches({name: [1.0] * 30 for name in names})
    peers_like._BY_TURNS, kept = 1, peers_like._BY_TURNS
    try:
        assert len(list(peers_like.measure(peers, bench, given(file, launches=3)))) == 4
    finally:
        peers_like._BY_TURNS = kept
    assert bench.taken == ["osu_allreduce"] * 3 + ["osu_bcast"] * 3
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "osu_allreduce: 3 launches here, 3 of 3 sizes cannot be told; 2 tests to go"
    assert len(told) == 6


def test_another_machine_has_launches_of_its_own(tmp_path: Path) -> None:
    script(tmp_path / "osu_bcast", "")
    peers = list(peers_like.peers_of(tmp_path, None))
    file = tmp_path / "peers.jsonl"
    there = one("osu_bcast", 8, [(3.0, 1.0), (0.3, 1.0)] * 3, machine="another, 4 cores", samples=1000)
    there = peers_record.compare("osu_bcast", 8, there.pairs * 2, there.way, there.place)
    peers_record.write_record(file, [there])
    bench = Benches({"osu_bcast": [1.0] * 30})
    list(peers_like.measure(peers, bench, given(file, launches=2)))
    assert [line.launches for line in peers_record.read_record(file)] == [12, 2]
    list(peers_like.measure(peers, bench, given(file)))
    (line,) = peers_record.read_record(file)
    assert (line.launches, line.verdict, line.place.machine) == (6, "within 10 %", Benches.cores)


def test_no_launch_begins_that_would_end_after_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each pair of osu_bw takes 40 s by a clock of ours, of osu_latency 3 s."""
    for name in ("osu_latency", "osu_bw"):
        script(tmp_path / name, "")
    peers = list(peers_like.peers_of(tmp_path, None))
    clock = [0.0]
    monkeypatch.setattr(peers_like.time, "monotonic", lambda: clock[0])
    bench = Benches({"osu_latency": [1.0] * 30, "osu_bw": [1.0] * 30})
    pair = bench.pair

    def slow(peer: Any) -> Any:
        clock[0] += 40.0 if peer.row.name == "osu_bw" else 3.0
        return pair(peer)

    bench.pair = slow  # type: ignore[method-assign]
    list(peers_like.measure(peers, bench, given(tmp_path / "peers.jsonl", budget=50.0)))
    assert [bench.taken.count(name) for name in ("osu_bw", "osu_latency")] == [1, 3]
    assert clock[0] <= 50.0

"""The benchmark that holds --like against the originals: what it reads, and which programs it finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
    assert line == "| osu_latency | 8 B | 2.20 | 2.00 | 1.100 [1.100, 1.100] |"
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


def test_what_is_measured_again_takes_the_place_of_what_was(tmp_path: Path) -> None:
    way, other = peers_record.Way(), peers_record.Way(ours="--method library-barrier")
    before = [
        peers_record.compare(test, size, [(3.0, 2.0)], way, place())
        for test, size in (("osu_bcast", 8), ("osu_bcast", 64), ("osu_barrier", None))
    ]
    file = tmp_path / "peers.jsonl"
    assert peers_record.read_record(file) == []
    peers_record.write_record(file, before)
    now = [
        peers_record.compare("osu_bcast", 64, [(2.0, 2.0)], way, place()),
        peers_record.compare("osu_bcast", 8, [(2.1, 2.0)], other, place()),
        peers_record.compare("osu_bcast", 8, [(2.1, 2.0)], way, place(mpi="mpich-4.0.2")),
    ]
    peers_record.write_record(file, peers_record.renewed(peers_record.read_record(file), now))
    assert peers_record.read_record(file) == [before[0], now[0], before[2], *now[1:]]

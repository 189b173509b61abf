"""The benchmark that holds --like against the originals: what it reads, and which programs it finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaded import load_benchmark
from scripts import script

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
    (tmp_path / "osu" / "osu_bw").write_text("no program")
    script(tmp_path / "imb/IMB-MPI1", "")
    found = {peer.row.name: peer for peer in peers_like.peers_of(tmp_path / "osu", tmp_path / "imb")}
    assert [name for name in found if name.startswith("osu_")] == ["osu_latency", "osu_iallreduce"]
    assert (found["osu_iallreduce"].column, found["PingPong"].column, found["Bcast"].column) == (3, 2, 3)
    assert found["Bcast"].words[1:] == ("Bcast",)
    assert "Ibcast_pure" not in found  # of a program that is not there
    assert list(peers_like.peers_of(None, None)) == []
    (line,) = peers_like.lines_of(found["osu_latency"], [{8: 2.0}, {8: 4.0}], [{8: 1.0, 16: 1.0}] * 2)
    assert line.startswith("| osu_latency | 8 B | 3.00 | 1.00 | ")


def test_a_ratio_is_that_of_neighbours_with_its_interval(tmp_path: Path) -> None:
    script(tmp_path / "osu_latency", "")
    (peer,) = peers_like.peers_of(tmp_path, None)
    theirs = [{8: 1.0}, {8: 4.0}, {8: 2.0}]
    (line,) = peers_like.lines_of(peer, [{8: 1.1}, {8: 4.4}, {8: 2.2}], theirs)
    assert line == "| osu_latency | 8 B | 2.20 | 2.00 | 1.100 [1.100, 1.100] |"
    (line,) = peers_like.lines_of(peer, theirs[:1], theirs[:1])
    assert line == "| osu_latency | 8 B | 1.00 | 1.00 | 1.000 |"
    (line,) = peers_like.lines_of(peer, [{}], [{8: 1.0}])
    assert "no size in both" in line


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
    (line,) = peers_like.lines_of(peer, [{8: 1.0}], [{}], said)
    assert line == f"| osu_bw_fan_in | the original prints no number: {why} | | | |"

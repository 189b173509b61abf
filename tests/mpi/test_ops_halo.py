"""Halos: every byte of every face, edge and corner, whatever way the messages go."""

from __future__ import annotations

from pathlib import Path

import pytest

from further import further
from points import engine_of, measure, points_of, points_once
from steelyard.engines.mpi import Mpi
from steelyard.records.schema import End

_GEOMETRIES = ("2d5", "2d9", "3d7", "3d27")
_ONE_SIDED = ("fence", "pscw", "lock", "flush")
_BACKS = ("nonblocking", "sendrecv", "persistent", "neighbor", "neighborw", "partitioned", *_ONE_SIDED)
_FIXED = "method=batch reps=1 rule=fixed count=1"


def _ends(mpi: Mpi, ranks: int, lines: list[str], out: Path) -> list[End]:
    records = measure(engine_of(mpi), ranks, 1, lines, out)
    ends = [record for record in records if isinstance(record, End)]
    assert len(ends) == len(lines)
    return ends


def _lacks(mpi: Mpi, line: str) -> bool:
    """Debian's Open MPI 4.1 is of MPI 3.1."""
    return "back=partitioned" in line and mpi.family == "openmpi" and mpi.version.startswith("4.")


def _fails(mpi: Mpi, ranks: int, line: str) -> bool:
    """Open MPI 4.1 has no window over memory of the user's on one rank: see points.py."""
    windows = any(f"back={back}" in line for back in _ONE_SIDED)
    return windows and ranks == 1 and mpi.family == "openmpi" and mpi.version.startswith("4.")


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 7, 8])
def test_every_byte_arrives(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    """With one rank it writes to itself; with two in a row both neighbours are the same rank."""
    lines = [
        f"op=mpi.halo.{geometry} {_FIXED} back={back} bytes=72 partitions=3 depth={1 + i % 2} "
        f"periodic={'no' if (i + j + ranks) % 3 == 0 else 'yes'}"
        for i, geometry in enumerate(_GEOMETRIES)
        for j, back in enumerate(_BACKS)
        if back in ("nonblocking", "neighbor") or (i + j + ranks) % 2 == 0
    ]
    lines += [
        f"op=mpi.halo.2d9 {_FIXED} bytes=70000 back={_BACKS[ranks % len(_BACKS)]} py={ranks}",
        f"op=mpi.halo.3d27 {_FIXED} bytes=70000 back={_BACKS[(ranks + 3) % len(_BACKS)]} cell=40 pz={ranks}",
        f"op=mpi.halo.3d27 {_FIXED} bytes=0 back={_BACKS[(ranks + 5) % len(_BACKS)]} px={ranks} py=1 pz=1",
    ]
    lines = points_of(mpi, ranks, lines)
    for line, end in zip(lines, _ends(mpi, ranks, lines, tmp_path / "out.jsonl"), strict=True):
        if _lacks(mpi, line):
            assert end.status == "skipped"
            assert "back=partitioned: needs MPI 4.0, which the MPI that this engine" in (end.why or "")
        elif _fails(mpi, ranks, line):
            assert (end.status, end.verified) == ("failed", False), line
            assert "MPI_Win_create" in (end.why or ""), line
        else:
            assert (end.status, end.why, end.verified) == ("ok", None, True), line


@pytest.mark.ours
def test_a_flipped_bit_is_found_on_a_corner_by_every_back(tmp_path: Path, mpi: Mpi) -> None:
    lines = [f"op=mpi.halo.3d27 {_FIXED} bytes=24 back={back} plant=4" for back in _BACKS]
    lines += [f"op=mpi.halo.2d5 {_FIXED} bytes=24 px=5 periodic=no plant=4"]
    lines = points_once(mpi, lines)
    for line, end in zip(lines, _ends(mpi, 5, lines, tmp_path / "out.jsonl"), strict=True):
        if not _lacks(mpi, line):
            assert (end.status, end.verified) == ("failed", False), line
            block = 25 if "3d27" in line else 3
            assert (end.why or "").startswith("wrong: rank 4: byte "), line
            assert f"of block {block} from rank" in (end.why or "") or "2d5" in line, line


def _moved(ranks: int) -> list[str]:
    """Each back end by two threads and by three, together and apart; every second combination at a time.

    A neighbourhood collective is a call of a whole communicator, so its threads need one each.
    """
    lines = []
    for i, back in enumerate(_BACKS):
        share = "windows" if back in _ONE_SIDED else "comms"
        for movers, own in ((2, "one"), (2, "thread"), (3, "one"), (3, "thread")):
            if (i + movers + ranks) % 2 == 0 and not (own == "one" and back.startswith("neighbor")):
                geometry = _GEOMETRIES[(i + movers) % len(_GEOMETRIES)]
                lines.append(
                    f"op=mpi.halo.{geometry} {_FIXED} back={back} bytes=1000 partitions=5 threads=3 "
                    f"movers={movers} {share}={own}"
                )
    return lines


@pytest.mark.parametrize("ranks", [2, further(1), further(3), further(4), further(7), further(8)])
def test_every_byte_arrives_that_several_threads_move(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    """A message is cut where there are more threads than neighbours."""
    lines = points_of(mpi, ranks, _moved(ranks))
    records = measure(engine_of(mpi), ranks, 3, lines, tmp_path / "out.jsonl")
    ends = [record for record in records if isinstance(record, End)]
    for line, end in zip(lines, ends, strict=True):
        if not _lacks(mpi, line) and not _fails(mpi, ranks, line):
            assert (end.status, end.why, end.verified) == ("ok", None, True), line


@pytest.mark.ours
def test_a_flipped_bit_is_found_that_one_of_several_threads_moved(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = [f"{line} plant=1" for line in _moved(2)]
    records = measure(engine_of(one_mpi), 2, 3, lines, tmp_path / "out.jsonl")
    ends = [record for record in records if isinstance(record, End)]
    for line, end in zip(lines, ends, strict=True):
        if not _lacks(one_mpi, line):
            assert (end.status, end.verified) == ("failed", False), line
            assert (end.why or "").startswith("wrong: rank 1: byte "), line


_REFUSED = {
    "op=mpi.halo.2d5 bytes=8 movers=2": "movers=2 needs as many threads in each rank, which has 1",
    "op=mpi.halo.2d5 bytes=8 windows=thread": "windows=thread is not for back=nonblocking",
    "op=mpi.halo.2d5 bytes=8 back=fence comms=thread": "comms=thread is not for back=fence",
    "op=mpi.halo.3d7 bytes=8 px=2": "px=2 x py=0 x pz=0 is no grid of 3 ranks; choose numbers whose product",
    "op=mpi.halo.2d5 bytes=8 px=3 py=3": "px=3 x py=3 is no grid of 3 ranks",
    "op=mpi.halo.2d5 bytes=8 px=1 py=1": "px=1 x py=1 is no grid of 3 ranks",
    "op=mpi.halo.2d5 bytes=8 px=1.5": "px=1.5 x py=0 is no grid of 3 ranks",
    "op=mpi.halo.2d5 bytes=100Ti": "more than MPI's int count can say",
    "op=mpi.halo.2d5 bytes=7 back=partitioned partitions=2": "no 2 equal partitions; give --bytes 6 or 8",
}


@pytest.mark.ours
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path: Path, one_mpi: Mpi) -> None:
    asked = _REFUSED
    lines = [f"{line} {_FIXED}" for line in (*asked, "op=mpi.halo.2d5 bytes=8")]
    ends = _ends(one_mpi, 3, lines, tmp_path / "out.jsonl")
    for end, why in zip(ends, asked.values(), strict=False):
        assert end.status == "skipped"
        assert why in (end.why or "")
    assert ends[-1].status == "ok"

"""Each way to die is told by a sentence of its own, by what was recorded of launchers and ranks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deaths import MPIS, RECORDINGS, START, WAYS, Way, mpi_of
from steelyard.campaign.cause_of_death import cause_of_death
from steelyard.records.parts import Place

_CASES = [(way, path) for way in WAYS for path in way.recordings()]


@pytest.mark.parametrize(("way", "path"), _CASES, ids=[path.stem for _, path in _CASES])
def test_the_cause_is_told_by_what_was_recorded(way: Way, path: Path) -> None:
    mpi = mpi_of(path)
    said, _, code = path.read_text().rstrip("\n").rpartition("\n")
    victim = re.search(r"PID (\d+) RUNNING", said)
    places = (Place(rank=1, host="vm", cpus="0", cpu=0, pid=int(victim[1])),) if victim else ()
    places = () if way.phase is START else places
    why = cause_of_death(int(code), said, [f"/usr/bin/{MPIS[mpi]}", "-n", "2"], places, phase=way.phase)
    assert way.fits(why, mpi), why


def test_each_recording_is_of_a_way_to_die() -> None:
    assert {path for _, path in _CASES} == set(RECORDINGS.iterdir())
    assert not [way.name for way in WAYS if not list(way.recordings())]

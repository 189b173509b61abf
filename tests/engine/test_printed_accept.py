"""Commands that an acceptance prints: what is odd or not known is measured by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from advice import FOLDER, Advice, types
from drawn_hosts import drawn_rounds
from make_records import FakePoint, steady, write_folder
from steelyard.engines.mpi import find_mpis

# What was left is not among them, so it stays unknown in however many launches.
_COUNTS = ("objects", "heap_held_bytes", "freed", "resident_held_bytes", "locked_held_bytes")


def _an_mpi() -> str:
    """One of this machine: the commands name it."""
    found = find_mpis()
    if not found:
        pytest.skip("no MPI was found")
    return found[0].name


@types("analyses/hosts/in_full.py: measured_in_full")
def test_a_slow_host_of_many_is_measured_with_each_of_a_few(
    advice: Advice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an allocation of these hosts, as PBS tells it."""
    hosts = [f"node{number}" for number in range(40)]
    points = [replace(point, mpi=_an_mpi()) for point in drawn_rounds(40, 17)]
    write_folder(tmp_path / FOLDER, points, launches=6, hosts=hosts.__getitem__, cpus=lambda rank: "0")
    nodes = tmp_path / "nodes"
    nodes.write_text("\n".join(hosts))
    monkeypatch.setenv("PBS_JOBID", "1.server")
    monkeypatch.setenv("PBS_NODEFILE", str(nodes))
    said = advice.steelyard("accept", FOLDER)
    assert "Host node17 is " in said.out
    planned = advice.type("analyses/hosts/in_full.py: measured_in_full", said, more="--dry-run")
    assert planned.code == 0, planned.err
    assert "7 test cases in 10 launches" in planned.out  # each of eight hosts with each other one


@types("judges/accept/library_memory.py: _more_objects")
def test_what_a_library_leaves_is_measured_well_enough(advice: Advice, tmp_path: Path) -> None:
    point = FakePoint("mpi.memory.comm_dup", steady(9e5, count=8), bytes=0, mpi=_an_mpi(), counts=_COUNTS)
    write_folder(tmp_path / FOLDER, [point], launches=5)
    said = advice.steelyard("accept", FOLDER)
    assert "leaves of each is not known well enough" in " ".join(said.out.replace("#", " ").split())
    planned = advice.type("judges/accept/library_memory.py: _more_objects", said, more="--dry-run")
    assert planned.code == 0, planned.err
    assert "1 test case in 10 launches" in planned.out

"""The topic files of an acceptance: a reference, hosts among each other, MPI-IO against its floor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flat_rows import made_row
from made_machine import CORES, machine, weighed
from make_records import FakePoint, steady
from steelyard.judges.accept import Weighed, accept
from steelyard.judges.accept.criterion import Candidate, Finding, Topic
from steelyard.judges.accept.files import files
from steelyard.plan.plan import read_plan
from steelyard.plan.shipped import shipped_plans
from steelyard.records.kinds import FILE
from steelyard.results.row import Row

_HOSTS, _SLOW = 8, 3


def _topic(found: Weighed, reference: Weighed | None = None, name: str = "files") -> Topic | None:
    return next((one for one in accept(found, reference).topics if one.topic == name), None)


def _files(times: float = 1.0, hosts: int = 1, slow_host: float = 1.0, op: str = "file.pwrite") -> FakePoint:
    """A file of each rank; writing it takes so many times as long, on one host more."""
    slow = np.ones(hosts * CORES)
    slow[_SLOW * CORES : (_SLOW + 1) * CORES] *= slow_host

    def paces(rng: np.random.Generator) -> tuple[float, ...]:
        return tuple(float(one * np.exp(0.01 * rng.standard_normal())) for one in slow)

    return FakePoint(
        op,
        steady(1e6 * times, count=50),
        bytes=1 << 20,
        ranks=hosts * CORES,
        mpi=None,
        reps=1,
        role=FILE,
        params={"file": "own"},
        paces=paces,
    )


def test_it_is_asked_only_where_files_were_measured(tmp_path: Path) -> None:
    assert _topic(weighed(tmp_path / "out", machine())) is None


def test_files_alone_cannot_tell(tmp_path: Path) -> None:
    found = _topic(weighed(tmp_path / "out", [*machine(), _files()]))
    assert found is not None
    assert found.verdict == "cannot tell"
    assert "--reference DIR" in found.remedy


@pytest.mark.parametrize("times", [1.0, 2.0])
def test_a_reference_judges_files_in_their_topic_alone(tmp_path: Path, times: float) -> None:
    base, own = (
        weighed(tmp_path / name, [*machine(), _files(value)])
        for name, value in (("base", 1.0), ("own", times))
    )
    found, others = _topic(own, base), _topic(own, base, "reference")
    assert found is not None
    assert others is not None
    assert (found.verdict == "not well") == (times > 1)
    assert others.verdict != "not well"
    assert ("file.pwrite 1 MiB takes" in found.evidence) == (times > 1)


@pytest.mark.parametrize(("slow", "verdict"), [(1.0, "well"), (1.6, "not well")])
def test_a_host_whose_files_are_slow_is_named(tmp_path: Path, slow: float, verdict: str) -> None:
    found = _topic(weighed(tmp_path / "out", [_files(hosts=_HOSTS, slow_host=slow)]))
    assert found is not None
    assert found.verdict == verdict
    assert ("File client node3 is " in found.evidence) == (slow > 1)


def _by_mpi(share: float) -> Row:
    return made_row(
        op="mpi.io.write_at_all",
        role=FILE,
        bytes=1 << 20,
        mpi="mpich-4.0.2",
        launch_count=6,
        below="file.pwrite",
        roof="file.pwrite",
        of_roof=share,
        of_roof_low=0.9 * share,
        of_roof_high=1.1 * share,
    )


def _finding(folder: Path, *rows: Row) -> Finding:
    read = weighed(folder / "out", machine())
    found = files.find(Candidate(Weighed(read.measured, rows)))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("shares", "verdict", "times"),
    [((0.8, 0.5), "well", "2 "), ((0.8, 0.1), "not well", "10"), ((0.8, 0.21), "cannot tell", "4.76")],
)
def test_mpi_io_far_from_its_floor_is_named(
    tmp_path: Path, shares: tuple[float, ...], verdict: str, times: str
) -> None:
    found = _finding(tmp_path, *map(_by_mpi, shares))
    assert found.verdict == verdict
    assert f"takes {times}" in found.evidence


def test_a_folder_whose_files_all_failed_cannot_tell(tmp_path: Path) -> None:
    found = _finding(tmp_path, made_row(op="file.pwrite", role=FILE, status="failed"))
    assert (found.verdict, found.evidence) == ("cannot tell", "No test case of files ended well.")


def test_the_plan_measures_files_only_if_folders_are_given() -> None:
    plan = read_plan(shipped_plans()["acceptance"])
    of_files = [one for one in plan.measure if one.ops[0].startswith("file.")]
    assert len(of_files) == 3
    assert all(one.if_files for one in of_files)

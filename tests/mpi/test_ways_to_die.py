"""Ways to die, planted in launches of two ranks: each has its sentence, and nothing is left running."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from campaigns import Orphans, plan_of, run_plan, setup_of, watch_orphans
from deaths import CLOSE, WAYS, Way
from further import further
from steelyard.engines.mpi import Mpi
from steelyard.records.read import read_folder
from steelyard.results.rows import results
from steelyard.system.process import run

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]

_LOST = "by mca_ess_pmi.so"  # the library's exit, without the words before it
_SILENT = ": it said nothing"
_SOURCE = Path(__file__).parents[1] / "data" / "deaths.c"


@pytest.fixture
def orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    return watch_orphans(monkeypatch)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The object that dies, to be loaded before an engine."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = tmp_path_factory.mktemp("deaths") / "deaths.so"
    argv = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), _SOURCE.name, "-ldl"]
    done = run(argv, cwd=_SOURCE.parent, timeout=600)
    assert done.code == 0, done.err
    return library


def _reasons(folder: Path) -> list[str | None]:
    """How test cases ended, and how the launch did after them."""
    files = list(read_folder(folder))
    whys = [run.end.why for file in files for run in file.points if run.end is not None]
    return [*whys, *(watch.ending for file in files for watch in file.watches if watch.ending)]


def _cases() -> list[Any]:
    """Those that need no mount, disk or program of their own; some of them in `make test`."""
    marks: dict[bool, Any] = {False: pytest.mark.further, True: ()}
    plantable = [way for way in WAYS if way.death or way.env or way.wrapper.startswith(("prlimit", "sh "))]
    return [pytest.param(way, id=way.name, marks=marks[way.run]) for way in plantable]


@pytest.mark.parametrize("way", _cases())
def test_a_way_to_die_is_told(
    way: Way, tmp_path: Path, mpi: Mpi, planted: Path, orphans: Orphans, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way.only and not mpi.name.startswith(way.only):
        pytest.skip(f"it is one of {', '.join(way.only)}")
    if way.name == "full-shm":
        pytest.skip("it needs a mount of its own")
    setup = setup_of(mpi)
    plan = plan_of("mpi.barrier", ranks=2, hang_after="30s")
    measure = msgspec.structs.replace(plan.measure[0], wrapper=way.wrapper or ())
    plan = msgspec.structs.replace(plan, measure=(measure,))
    for name, value in way.env.items():
        monkeypatch.setenv(name, value)
    if way.death:
        monkeypatch.setenv("DEATH", way.death)
        monkeypatch.setenv("LD_PRELOAD", ":".join(filter(None, [str(planted), os.environ.get("LD_PRELOAD")])))
    run_plan(tmp_path / "out", plan, setup)
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    reasons = _reasons(tmp_path / "out")
    assert orphans() == []
    if way.phase is CLOSE:
        assert reasons[0] is None
        del reasons[0]
    assert len(reasons) == 1
    if mpi.family == "openmpi" and _LOST in (reasons[0] or ""):
        pytest.skip("Open MPI 4 loses its own message at times, and says so by ORTE_ERROR_LOG")
    if mpi.family == "openmpi" and (reasons[0] or "").endswith(_SILENT):
        pytest.skip("Open MPI 4 loses all words of a death at times, also those of the rank")
    assert way.fits(reasons[0] or "", mpi.name), reasons


# What rank 0 does in a barrier, and how the test case ends; "": well, and so it says.
_MANNERS = [
    ("garbage:64", "damaged: "),
    ("small-files:0", "signal 25 (SIGXFSZ) on rank 0"),
    further("loud:20000", ""),
    further("deaf:32", ""),
    further("elsewhere:511", ""),
    further("child:600", ""),
]


@pytest.mark.parametrize(("manner", "why"), _MANNERS)
def test_a_library_that_misbehaves_harms_its_test_case_alone(
    manner: str,
    why: str,
    tmp_path: Path,
    mpi: Mpi,
    planted: Path,
    orphans: Orphans,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It writes into the records, takes rights away, prints, ignores signals, leaves its folder, forks."""
    if manner.startswith("elsewhere") and (mpi.family, mpi.version[:2]) == ("mpich", "5."):
        pytest.skip("without an environment a rank of MPICH 5 does not come out of the barrier")
    setup = setup_of(mpi)
    monkeypatch.setenv("DEATH", f"barrier:{manner}")
    monkeypatch.setenv("DEATH_RANK", "0")
    monkeypatch.setenv("LD_PRELOAD", ":".join(filter(None, [str(planted), os.environ.get("LD_PRELOAD")])))
    run_plan(tmp_path / "out", plan_of("mpi.barrier", "self.spin", ranks=2, hang_after="30s"), setup)
    monkeypatch.delenv("LD_PRELOAD")
    assert orphans() == []
    rows = {row.op: row for row in results(tmp_path / "out")}
    assert rows["self.spin"].status == "ok"
    assert rows["mpi.barrier"].status == ("failed" if why else "ok"), rows["mpi.barrier"].why
    assert (rows["mpi.barrier"].why or "").startswith(why)

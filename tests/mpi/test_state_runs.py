"""What was true while launches ran: a busy neighbour and a rank that is moved, both on purpose, are named."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from campaigns import plan_of, setup_of
from steelyard.base.diagnostic import Diagnostic
from steelyard.campaign.events import Event, PointEnded
from steelyard.campaign.folder import open_folder
from steelyard.campaign.run import run_campaign
from steelyard.diagnostics.results import diagnostics
from steelyard.diagnostics.results.interference import neighbour_words
from steelyard.engines.mpi import Mpi
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.read import read_records
from steelyard.records.schema import Obs
from steelyard.results.facets import Windows
from steelyard.results.load import Measured, load
from steelyard.results.rows import rows_of
from steelyard.system.machine import read_machine
from steelyard.system.process import Child

pytestmark = pytest.mark.ours

BURN = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"


def _measure(folder: Path, plan: Plan, mpis: tuple[Mpi, ...], listen: Callable[[Event], None]) -> Measured:
    setup = setup_of(*mpis)
    points = resolve(plan, setup.ops, [mpi.name for mpi in mpis], 2)
    run_campaign(folder, plan, open_folder(folder, plan, points, setup.machine), setup, listen)
    return load(folder)


def _found(measured: Measured) -> dict[str, Diagnostic]:
    return {one.name: one for one in diagnostics(measured, rows_of(measured))}


@contextmanager
def _burning(cpu: int) -> Iterator[int]:
    with Child([sys.executable, "-c", BURN, str(cpu)]) as child:
        yield child.pid


# ---- on purpose --------------------------------------------------------------------------------------------


def test_a_busy_neighbour_is_noticed_and_named(tmp_path: Path) -> None:
    """A process that wants the core of rank 0 for itself while some seconds of work are measured there."""
    cpu = read_machine().cores[0][0]
    plan = plan_of("noise.fwq", params={"count": 1500.0}, oversubscribe=False)
    with _burning(cpu) as pid:
        measured = _measure(tmp_path / "out", plan, (), lambda _: None)
    (words,) = [words for words in neighbour_words(measured.files) if f"(pid {pid})" in words]
    assert f"'{Path(sys.executable).resolve().name}'" in words  # not what it was told
    assert f"on CPU {cpu}, where rank 0 ran" in words
    assert "busy-neighbour" in _found(measured)


@pytest.mark.skipif(len(read_machine().cores) < 2, reason="needs another core to move a rank to")
def test_a_rank_that_was_moved_is_noticed_and_named(tmp_path: Path) -> None:
    """Somebody calls taskset -p after the first of three points."""
    (first, *_), (second, *_) = read_machine().cores[:2]
    pids: list[int] = []

    def move(event: Event) -> None:
        if isinstance(event, PointEnded) and not pids and event.file.launch:
            pids.append(event.file.launch.places[0].pid)
            os.sched_setaffinity(pids[0], {second})

    plan = plan_of("noise.fwq", "noise.selfish", "noise.ftq", params={"count": 1000.0}, oversubscribe=False)
    measured = _measure(tmp_path / "out", plan, (), move)
    evidence = _found(measured)["moved"].evidence
    assert f"Rank 0 (pid {pids[0]} on " in evidence
    assert f"was moved from CPU {first} to CPU {second} while noise." in evidence


@pytest.mark.further
@pytest.mark.skipif(len(read_machine().cores) < 2, reason="needs a core for each rank")
def test_a_rank_of_mpi_that_was_moved_is_named(mpi: Mpi, tmp_path: Path) -> None:
    """Rank 1 goes where rank 0 is; rank 0 is not blamed."""
    pids: list[int] = []

    def move(event: Event) -> None:
        if isinstance(event, PointEnded) and not pids and event.file.launch:
            pids.append(event.file.launch.places[1].pid)
            os.sched_setaffinity(pids[0], {read_machine().cores[0][0]})

    plan = plan_of("noise.*", ranks=2, mpi=(mpi.name,), params={"count": 300.0}, oversubscribe=False)
    evidence = _found(_measure(tmp_path / "out", plan, (mpi,), move))["moved"].evidence
    assert f"Rank 1 (pid {pids[0]} on " in evidence
    assert "ank 0" not in evidence


def test_states_are_recorded_around_each_point(tmp_path: Path) -> None:
    plan = plan_of("self.spin", "self.empty", oversubscribe=False)
    (file,) = _measure(tmp_path / "out", plan, (), lambda _: None).files
    before, *after = file.states
    assert before.point is None
    assert [state.point for state in after] == [run.index for run in file.points]
    for earlier, later in zip(file.states[:-1], file.states[1:], strict=True):
        assert later.at_ns[0] > earlier.at_ns[0]
        assert later.own_ns[0] >= earlier.own_ns[0]
        assert later.busy_ns[0] >= earlier.busy_ns[0]
        assert later.cpus == earlier.cpus == (file.launch.places[0].cpus if file.launch else "",)
        assert later.step_ps[0] > 0
    (watch,) = file.watches
    assert watch.host == read_machine().host
    assert watch.looks >= 2
    assert watch.cost_ns > 0
    assert file.job.settings["timer_slack_ns"] > 0


def test_waits_for_windows_say_what_they_saw(mpi: Mpi, tmp_path: Path) -> None:
    measure = Measure(ops=("mpi.barrier",), rule="fixed", ranks=2, method="window", params={"count": 200.0})
    plan = Plan(measure=(measure,), launches=1, oversubscribe=True, seed=1, mpi=(mpi.name,))
    measured = _measure(tmp_path / "out", plan, (mpi,), lambda _: None)
    (file,) = measured.files
    chunks = [record for record in read_records(file.path).records if isinstance(record, Obs)]
    assert all(len(chunk.spun_ns) == len(chunk.spun_lost_ns) == 2 for chunk in chunks)
    for chunk in chunks:
        for rank in range(2):
            assert chunk.spun_lost_ns[rank] <= chunk.spun_ns[rank]
            assert chunk.spun_longest_ns[rank] <= chunk.spun_ns[rank]
    (row,) = rows_of(measured)
    assert [one.rank for one in row.get(Windows).spun] == [0, 1]
    assert all(0 <= one.share <= 1 for one in row.get(Windows).spun)

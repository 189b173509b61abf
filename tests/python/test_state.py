"""What was true while launches ran: a busy neighbour and a rank that is moved, both on purpose, are named."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from campaigns import plan_of, setup_of
from make_records import MACHINE, FakePoint, steady, write_folder
from steelyard.campaign import Event, PointEnded, run_campaign
from steelyard.checks import Doubt, doubts
from steelyard.evidence_noise import neighbours
from steelyard.folder import open_folder
from steelyard.machine import read_machine
from steelyard.mpi import Mpi
from steelyard.observations import Measured, load
from steelyard.plan import Measure, Plan
from steelyard.process import Child
from steelyard.reading import read_records
from steelyard.records import Busy, Obs, State, Watch, append_records
from steelyard.resolve import resolve
from steelyard.results import rows_of
from steelyard.tail import Tail
from steelyard.watch import Watcher, family, processes

BURN = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"


def _measure(folder: Path, plan: Plan, mpis: tuple[Mpi, ...], listen: Callable[[Event], None]) -> Measured:
    setup = setup_of(*mpis)
    points = resolve(plan, setup.ops, [mpi.name for mpi in mpis], 2)
    run_campaign(folder, plan, open_folder(folder, plan, points, setup.machine), setup, listen)
    return load(folder)


def _doubts(measured: Measured) -> dict[str, Doubt]:
    return {doubt.name: doubt for doubt in doubts(measured, rows_of(measured))}


@contextmanager
def _burning(cpu: int) -> Iterator[int]:
    with Child([sys.executable, "-c", BURN, str(cpu)]) as child:
        yield child.pid


# ---- on purpose --------------------------------------------------------------------------------------------


def test_a_busy_neighbour_is_noticed_and_named(tmp_path: Path) -> None:
    """A process that wants the core of rank 0 for itself while some seconds of work are measured there."""
    cpu = read_machine().cores[0][0]
    plan = plan_of("noise.fwq", params={"count": 2500.0}, oversubscribe=False)
    with _burning(cpu) as pid:
        measured = _measure(tmp_path / "out", plan, (), lambda _: None)
    (words,) = [words for words in neighbours(measured.files) if f"(pid {pid})" in words]
    assert f"{sys.executable} -c import os" in words
    assert f"on cpu {cpu}, where rank 0 ran" in words
    assert "busy-neighbour" in _doubts(measured)


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
    evidence = _doubts(measured)["moved"].evidence
    assert f"rank 0 (pid {pids[0]} on " in evidence
    assert f"was moved from cpu {first} to cpu {second} while noise." in evidence


@pytest.mark.skipif(len(read_machine().cores) < 2, reason="needs a core for each rank")
def test_a_rank_of_mpi_that_was_moved_is_named(mpi: Mpi, tmp_path: Path) -> None:
    """Rank 1 goes where rank 0 is; rank 0 is not blamed."""
    pids: list[int] = []

    def move(event: Event) -> None:
        if isinstance(event, PointEnded) and not pids and event.file.launch:
            pids.append(event.file.launch.places[1].pid)
            os.sched_setaffinity(pids[0], {read_machine().cores[0][0]})

    plan = plan_of("noise.*", ranks=2, mpi=(mpi.name,), params={"count": 300.0}, oversubscribe=False)
    evidence = _doubts(_measure(tmp_path / "out", plan, (mpi,), move))["moved"].evidence
    assert f"rank 1 (pid {pids[0]} on " in evidence
    assert "rank 0" not in evidence


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
    assert [one.rank for one in row.spun] == [0, 1]
    assert all(0 <= one.share <= 1 for one in row.spun)


# ---- from made-up records ----------------------------------------------------------------------------------

SECOND = 10**9


def state(point: int | None, second: float, **more: Any) -> State:
    """Two ranks on cpus 0 and 1 that are busy all the time, with nothing beside them."""
    ns = round(second * SECOND)
    usual: dict[str, Any] = {
        "cpus": ("0", "1"),
        "cpu": (0, 1),
        "own_ns": (ns, ns),
        "busy_ns": (7 * SECOND + ns,) * 2,
        "steal_ns": (5 * SECOND,) * 2,
        "quota_stops": (3, 3),
        "throttles": (-1, -1),
        "step_ps": (1100, 1120),
    }
    return State(point=point, at_ns=(ns, ns), **(usual | more))


def watch(*found: Busy, host: str = "vm") -> Watch:
    return Watch(host=host, seconds=10.0, looks=6, cost_ns=10**7, load=(0.1, 0.2), processes=found)


def doubts_of(folder: Path, *records: State | Watch, point: FakePoint | None = None) -> dict[str, Doubt]:
    point = point or FakePoint("mpi.bcast", steady(1000.0, between=0.005))
    write_folder(folder / "out", [point], launches=10, machine=MACHINE)
    append_records(folder / "out/records/l03-mpich-4.0.2-n2.jsonl", records)
    return _doubts(load(folder / "out"))


QUIET = (state(None, 0.0), state(0, 10.0))


def test_a_quiet_launch_has_no_doubts(tmp_path: Path) -> None:
    idle = Busy(pid=7, command="daemon", cpu_ns=SECOND // 10, seconds=10.0, peak_share=0.03, cpus=(0,))
    assert doubts_of(tmp_path, *QUIET, watch(idle)) == {}


@pytest.mark.parametrize(
    ("name", "last", "words"),
    [
        (
            "busy-neighbour",
            {"own_ns": (10 * SECOND, 6 * SECOND)},
            "others took 40 % of cpu 1 of vm in launch 3",
        ),
        (
            "moved",
            {"cpus": ("1", "1"), "cpu": (1, 1)},
            "rank 0 (pid 0 on vm) of launch 3 was moved from cpu 0",
        ),
        (
            "stolen",
            {"steal_ns": (5 * SECOND, 6 * SECOND)},
            "cpu 1 of rank 1 (pid 0 on vm) of launch 3: 10.0 %",
        ),
        ("throttled", {"quota_stops": (3, 8)}, "rank 1 (pid 0 on vm) of launch 3 in 5 periods"),
        ("too-hot", {"throttles": (0, 2)}, None),
        ("frequency", {"step_ps": (1400, 1100)}, "rank 0 (pid 0 on vm) of launch 3: the slowest 1.27 times"),
    ],
)
def test_each_state_is_told(tmp_path: Path, name: str, last: dict[str, Any], words: str | None) -> None:
    found = doubts_of(tmp_path, QUIET[0], state(0, 10.0, **last))
    assert set(found) == ({name} if words else set())  # what was not told at first has not grown
    if words:
        assert words in found[name].evidence


@pytest.mark.parametrize(
    ("busy", "host", "words"),
    [
        (
            (5 * SECOND, 0.6, (0,)),
            "vm",
            "'burn' (pid 7) took 50 % of a CPU (5.00 s of 10.0 s) in launch 3, on cpu 0",
        ),
        ((4 * SECOND // 10, 0.3, (1,)), "vm", "where rank 1 ran"),  # 4 %, but all of it in a second
        ((5 * SECOND, 0.6, (4,)), "vm", None),  # on a CPU that no rank has
        ((5 * SECOND, 0.6, (0,)), "other", None),  # on a host that no rank is on
        ((SECOND // 50, 1.0, (0,)), "vm", None),  # two ticks
    ],
)
def test_a_neighbour_is_one_that_was_where_ranks_are(
    tmp_path: Path, busy: tuple[int, float, tuple[int, ...]], host: str, words: str | None
) -> None:
    cpu_ns, peak, cpus = busy
    one = Busy(pid=7, command="burn", cpu_ns=cpu_ns, seconds=10.0, peak_share=peak, cpus=cpus)
    found = doubts_of(tmp_path, *QUIET, watch(one, host=host))
    assert set(found) == ({"busy-neighbour"} if words else set())
    assert words is None or words in found["busy-neighbour"].evidence


def test_ranks_that_share_their_cpus_are_not_each_others_neighbours(tmp_path: Path) -> None:
    """Each may use both CPUs, and both together took all of one of them."""
    same = {"cpus": ("0-1", "0-1")}
    last = state(0, 10.0, own_ns=(5 * SECOND,) * 2, busy_ns=(17 * SECOND,) * 2, **same)
    assert "busy-neighbour" not in doubts_of(tmp_path, state(None, 0.0, **same), last)


def test_a_rank_seen_elsewhere_was_moved_and_back(tmp_path: Path) -> None:
    """Bound alike before and after, but a look between chunks saw it on another CPU."""
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1e3, between=0.005))], launches=10)
    path = folder / "records/l03-mpich-4.0.2-n2.jsonl"
    records = [
        replace(record, noise=(0.0, 0.0), cpu=(0, 5)) if isinstance(record, Obs) and record.first else record
        for record in read_records(path).records
    ]
    path.unlink()
    append_records(path, records)
    evidence = _doubts(load(folder))["moved"].evidence
    assert "rank 1 (pid 0 on vm) of launch 3 was seen on cpu 5, but bound to cpu 1" in evidence


def test_a_record_of_the_state_does_not_disturb_who_listens(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1e3))], launches=1)
    (path,) = (folder / "records").glob("*.jsonl")
    append_records(path, [*QUIET, watch()])
    ended, grew = Tail(path).advance()
    assert grew
    assert len(ended) == 1


def test_what_was_watched_is_read_after_a_line_that_was_cut(tmp_path: Path) -> None:
    """A launch that died in the middle of a record; the package writes down what it saw all the same."""
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1e3))], launches=1)
    (path,) = (folder / "records").glob("*.jsonl")
    path.write_text(path.read_text() + '{"record":"obs","point":0,"fir')
    append_records(path, [watch(Busy(pid=7, command="burn", cpu_ns=5 * SECOND, seconds=9.0, cpus=(0,)))])
    (file,) = load(folder).files
    assert file.cut_line
    assert file.watches[0].processes[0].pid == 7


# ---- the watcher -------------------------------------------------------------------------------------------


def _process(root: Path, pid: int, parent: int, ticks: int, cpu: int, name: str = "a b) c") -> None:
    """As proc(5): pid (name) state ppid, ten others, utime, stime, six others, start, sixteen others, cpu."""
    words = ["S", str(parent), *["0"] * 9, str(ticks), "0", *["0"] * 6, "99", *["0"] * 16, str(cpu), "0", "0"]
    folder = root / "proc" / str(pid)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stat").write_text(f"{pid} ({name}) {' '.join(words)}\n")
    (folder / "cmdline").write_text("burn\0-x\0")


def test_processes_are_read_whatever_their_names(tmp_path: Path) -> None:
    _process(tmp_path, 12, 1, ticks=50, cpu=3)
    (tmp_path / "proc/self").mkdir()
    (seen,) = processes(tmp_path).items()
    assert seen[0] == 12
    assert (seen[1].parent, seen[1].ticks, seen[1].cpu, seen[1].name) == (1, 50, 3, "a b) c")


def test_a_family_is_all_below_a_process(tmp_path: Path) -> None:
    for pid, parent in ((10, 1), (11, 10), (12, 11), (20, 1), (21, 20)):
        _process(tmp_path, pid, parent, 0, 0)
    seen = processes(tmp_path)
    assert family(seen, 10) == {10, 11, 12}
    assert family(seen, 99) == set()


def test_the_watcher_names_who_ran_since_and_spares_the_launch(tmp_path: Path) -> None:
    for pid, parent in ((10, 1), (11, 10), (20, 1), (21, 1)):
        _process(tmp_path, pid, parent, 1000, 0)
    watcher = Watcher(root=tmp_path)
    watcher.look()
    watcher.parent = 10
    _process(tmp_path, 11, 10, 9000, 0)  # a rank
    _process(tmp_path, 20, 1, 1100, 1)
    _process(tmp_path, 30, 1, 70, 0)  # began since
    watcher.look()
    _process(tmp_path, 11, 1, 9900, 0)  # its launcher died: still a rank
    watcher.look()
    found = watcher.busiest()
    tick_ns = SECOND // os.sysconf("SC_CLK_TCK")
    assert [(one.pid, one.cpu_ns, one.cpus) for one in found] == [
        (20, 100 * tick_ns, (1,)),
        (30, 70 * tick_ns, (0,)),
    ]
    assert found[0].command == "burn -x"
    assert watcher.record("vm", {20}).processes[0].pid == 30

"""What was true while launches ran, from made-up records and made-up trees of /proc."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from make_records import FakePoint, listed, steady, write_folder
from record_heads import MACHINE
from steelyard.base.diagnostic import Diagnostic
from steelyard.diagnostics.results import diagnostics
from steelyard.judges.accept.criterion import Candidate
from steelyard.judges.accept.measurement import Weighed
from steelyard.judges.accept.settings import quiet
from steelyard.records.follow import Tail
from steelyard.records.job_file import append_records
from steelyard.records.parts import Busy
from steelyard.records.read import read_records
from steelyard.records.schema import Obs, State, Watch
from steelyard.results.load import Measured, load
from steelyard.results.rows import rows_of
from steelyard.system.other_processes import Watcher
from steelyard.system.process_stat import family, process_stats


def _found(measured: Measured) -> dict[str, Diagnostic]:
    return {one.name: one for one in diagnostics(measured, rows_of(measured))}


# ---- from made-up records ----------------------------------------------------------------------------------

SECOND = 10**9


def state(point: int | None, second: float, **more: Any) -> State:
    """Two ranks on cpus 0 and 1 that are busy all the time, with nothing beside them."""
    ns = round(second * SECOND)
    usual: dict[str, Any] = {
        "at_ns": (ns, ns),
        "cpus": ("0", "1"),
        "cpu": (0, 1),
        "own_ns": (ns, ns),
        "busy_ns": (7 * SECOND + ns,) * 2,
        "steal_ns": (5 * SECOND,) * 2,
        "quota_stops": (3, 3),
        "throttles": (-1, -1),
        "step_ps": (1100, 1120),
    }
    return State(point=point, **(usual | more))


def watch(*found: Busy, host: str = "vm") -> Watch:
    return Watch(host=host, seconds=10.0, looks=6, cost_ns=10**7, load=(0.1, 0.2), processes=found)


def found_in(folder: Path, *records: State | Watch, point: FakePoint | None = None) -> dict[str, Diagnostic]:
    point = point or FakePoint("mpi.bcast", steady(1000.0, between=0.005))
    write_folder(folder / "out", [point], launches=10, machine=MACHINE)
    append_records(folder / "out/records/l03-mpich-4.0.2-n2.jsonl", records)
    return _found(load(folder / "out"))


QUIET = (state(None, 0.0), state(0, 10.0))


def test_a_quiet_launch_has_no_diagnostics(tmp_path: Path) -> None:
    idle = Busy(pid=7, command="daemon", cpu_ns=SECOND // 10, seconds=10.0, peak_share=0.03, cpus=(0,))
    assert found_in(tmp_path, *QUIET, watch(idle)) == {}


@pytest.mark.parametrize(
    ("watched", "busy", "verdict"),
    [("", 10, "well"), ("", 6, "cannot tell"), ("other", 6, "cannot tell"), ("vm", 6, "not well")],
)
def test_accept_cannot_tell_what_was_not_watched(
    tmp_path: Path, watched: str, busy: int, verdict: str
) -> None:
    """Rank 1 uses `busy` of 10 s of its CPU, others the rest."""
    last = state(0, 10.0, own_ns=(10 * SECOND, busy * SECOND))
    found_in(tmp_path, state(None, 0.0), last, *([watch(host=watched)] if watched else []))
    measured = load(tmp_path / "out")
    finding = quiet.find(Candidate(Weighed(measured, rows_of(measured))))
    assert finding is not None
    assert finding.verdict == verdict


@pytest.mark.parametrize(
    ("name", "last", "words"),
    [
        (
            "busy-unnamed",
            {"own_ns": (10 * SECOND, 6 * SECOND)},
            "In launch 3 others took 40 % of CPU 1 (rank 1) of vm, on a host whose processes were not",
        ),
        (
            "moved",
            {"cpus": ("1", "1"), "cpu": (1, 1)},
            "Rank 0 (pid 0 on vm) of launch 3 was moved from CPU 0",
        ),
        (
            "stolen",
            {"steal_ns": (5 * SECOND, 6 * SECOND)},
            "CPU 1 of rank 1 (pid 0 on vm) of launch 3: 10.0 %",
        ),
        ("stolen", {"steal_ns": (5 * SECOND, 5 * SECOND + 9 * SECOND // 100)}, None),  # 9 ticks are 0.9 %
        (
            "stolen",
            {"at_ns": (SECOND,) * 2, "steal_ns": (5 * SECOND, 5 * SECOND + SECOND // 20)},
            None,  # 5 ticks, which are 5 % of a second
        ),
        ("throttled", {"quota_stops": (3, 8)}, "Rank 1 (pid 0 on vm) of launch 3 in 5 periods"),
        ("too-hot", {"throttles": (0, 2)}, None),
        ("frequency", {"step_ps": (1400, 1100)}, "Rank 0 (pid 0 on vm) of launch 3: the slowest 1.27 times"),
    ],
)
def test_each_state_is_told(tmp_path: Path, name: str, last: dict[str, Any], words: str | None) -> None:
    found = found_in(tmp_path, QUIET[0], state(0, 10.0, **last))
    assert set(found) == ({name} if words else set())  # what was not told at first has not grown
    if words:
        assert words in found[name].evidence


@pytest.mark.parametrize(
    ("busy", "host", "words"),
    [
        (
            (5 * SECOND, 0.6, (0,)),
            "vm",
            "'burn' (pid 7) took 50 % of a CPU in launch 3, on CPU 0",
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
    found = found_in(tmp_path, *QUIET, watch(one, host=host))
    assert found.keys() - {"busy-beside"} == ({"busy-neighbour"} if words else set())
    assert words is None or words in found["busy-neighbour"].evidence


@pytest.mark.parametrize(("share", "found"), [(0.5, True), (0.1, False)])
def test_work_on_other_cores_is_told_by_what_it_takes_of_all(
    tmp_path: Path, share: float, found: bool
) -> None:
    """Two processes on CPUs 4 and 5, of a host of two cores that may be used: together a share of both."""
    busy = [
        Busy(pid=pid, command=f"burn-{pid}", cpu_ns=round(share * 10 * SECOND), seconds=10.0, cpus=(pid,))
        for pid in (4, 5)
    ]
    evidence = found_in(tmp_path, *QUIET, watch(*busy))
    assert set(evidence) == ({"busy-beside"} if found else set())
    words = "'burn-4' (pid 4) and 1 more took 50 % of 2 cores in launch 3."
    assert not found or evidence["busy-beside"].evidence == words


def test_who_ran_where_the_ranks_did_says_enough(tmp_path: Path) -> None:
    busy = [
        Busy(pid=pid, command="burn", cpu_ns=5 * SECOND, seconds=10.0, peak_share=0.6, cpus=(pid,))
        for pid in (0, 4)
    ]
    assert set(found_in(tmp_path, *QUIET, watch(*busy))) == {"busy-neighbour"}


def test_who_ran_too_briefly_is_a_sentence_where_others_were_named(tmp_path: Path) -> None:
    """CPU 1 went to others for 4 s of 10, and nobody was seen there; a process was seen on CPU 0."""
    one = Busy(pid=7, command="burn", cpu_ns=5 * SECOND, seconds=10.0, peak_share=0.6, cpus=(0,))
    last = state(0, 10.0, own_ns=(10 * SECOND, 6 * SECOND))
    found = found_in(tmp_path, state(None, 0.0), last, watch(one))
    assert set(found) == {"busy-neighbour"}
    assert found["busy-neighbour"].evidence.endswith(". In 1 launch others ran too briefly to be named.")


@pytest.mark.parametrize(
    ("own_s", "words"),
    [
        (0.0, "40 % of CPU 1 (rank 1)"),
        (1.0, "30 % of CPU 1 (rank 1)"),
        (3.8, None),  # the rest is less than every system uses
        (60.0, None),
    ],
)
def test_what_the_package_took_itself_is_no_others(tmp_path: Path, own_s: float, words: str | None) -> None:
    last = state(0, 10.0, own_ns=(10 * SECOND, 6 * SECOND))
    seen = replace(watch(), own_cpu_ns=round(own_s * SECOND))
    found = found_in(tmp_path, state(None, 0.0), last, seen)
    assert ("busy-unnamed" in found) == (words is not None)
    assert words is None or words in found["busy-unnamed"].evidence


def test_the_package_notes_its_own_time_between_two_instants() -> None:
    watcher = Watcher()
    assert watcher.record("vm").own_cpu_ns == 0
    watcher.note_own_time()
    before = time.process_time_ns()
    while time.process_time_ns() < before + 20_000_000:
        pass
    assert watcher.record("vm").own_cpu_ns == 0
    watcher.note_own_time()
    assert 20_000_000 <= watcher.record("vm").own_cpu_ns <= time.process_time_ns()


def test_ranks_that_share_their_cpus_are_not_each_others_neighbours(tmp_path: Path) -> None:
    """Each may use both CPUs, and both together took all of one of them."""
    same = {"cpus": ("0-1", "0-1")}
    last = state(0, 10.0, own_ns=(5 * SECOND,) * 2, busy_ns=(17 * SECOND,) * 2, **same)
    assert not {"busy-neighbour", "busy-unnamed"} & set(found_in(tmp_path, state(None, 0.0, **same), last))


def test_a_rank_seen_elsewhere_was_moved_and_back(tmp_path: Path) -> None:
    """Bound alike before and after, but a look between chunks saw it on another CPU."""
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1e3, between=0.005))], launches=10)
    path = folder / "records/l03-mpich-4.0.2-n2.jsonl"
    records = [listed(record) if isinstance(record, Obs) else record for record in read_records(path).records]
    records = [
        replace(record, noise=(0.0, 0.0), cpu=(0, 5)) if isinstance(record, Obs) and record.first else record
        for record in records
    ]
    path.write_bytes(b"")
    append_records(path, records)
    evidence = _found(load(folder))["moved"].evidence
    assert "Rank 1 (pid 0 on vm) of launch 3 was seen on CPU 5, but bound to CPU 1" in evidence


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
    (folder / "cmdline").write_text("burn\0--password=secret\0")
    if not (folder / "exe").is_symlink():
        (folder / "exe").symlink_to("/usr/bin/burn (deleted)")


def test_processes_are_read_whatever_their_names(tmp_path: Path) -> None:
    _process(tmp_path, 12, 1, ticks=50, cpu=3)
    (tmp_path / "proc/self").mkdir()
    (seen,) = process_stats(tmp_path).items()
    assert seen[0] == 12
    assert (seen[1].parent, seen[1].ticks, seen[1].cpu, seen[1].name) == (1, 50, 3, "a b) c")


@pytest.mark.parametrize(
    ("exe", "name", "told"),
    [
        ("/opt/x/burn\x1b]0;owned\x07", "burn", r"burn\x1b]0;owned\x07"),
        (None, "b\x1b[31m", r"b\x1b[31m"),  # another user's
    ],
)
def test_of_a_command_line_the_name_alone_is_kept(
    tmp_path: Path, exe: str | None, name: str, told: str
) -> None:
    """Its arguments may be secrets; and a name may hold what a terminal obeys."""
    _process(tmp_path, 20, 1, 1000, 0, name)
    watcher = Watcher(root=tmp_path)
    watcher.look()
    (tmp_path / "proc/20/exe").unlink()
    if exe is not None:
        (tmp_path / "proc/20/exe").symlink_to(exe)
    _process(tmp_path, 20, 1, 1100, 1, name) if exe else _grow(tmp_path, 20, name)
    watcher.look()
    assert [busy.command for busy in watcher.busiest()] == [told]


def _grow(root: Path, pid: int, name: str) -> None:
    stat = root / "proc" / str(pid) / "stat"
    stat.write_text(stat.read_text().replace(" 1000 ", " 1100 "))


def test_a_family_is_all_below_a_process(tmp_path: Path) -> None:
    for pid, parent in ((10, 1), (11, 10), (12, 11), (20, 1), (21, 20)):
        _process(tmp_path, pid, parent, 0, 0)
    seen = process_stats(tmp_path)
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
    assert found[0].command == "burn"
    assert watcher.record("vm", {20}).processes[0].pid == 30

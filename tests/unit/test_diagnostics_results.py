from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from make_records import FakePoint, regimes, steady, write_folder
from record_lines import unsealed
from steelyard.base.cpulist import cpu_set
from steelyard.base.diagnostic import SEVERITIES, Diagnostic
from steelyard.diagnostics.results import diagnostics
from steelyard.diagnostics.results.binding import MOST_CPUS, cores_by_cpus
from steelyard.diagnostics.results.evidence import Evidence
from steelyard.diagnostics.results.records import damaged
from steelyard.records.campaign_file import MODULES, WRAPPER, Placement
from steelyard.records.parts import Place, WatchedPath
from steelyard.records.schema import End, Watch
from steelyard.results.load import load
from steelyard.results.rows import rows_of

QUIET = FakePoint("mpi.bcast", steady(1000.0, between=0.005))
HANG = End(point=0, status="failed", why="hang: no observation for 20 s")
WRONG = End(point=0, status="failed", why="wrong: rank 1: byte 3 is 4, not 5", verified=False)
ABSENT = End(point=0, status="skipped", why="needs MPI 4.0")


def found_in(folder: Path, *points: FakePoint, **options: Any) -> dict[str, Diagnostic]:
    measured = load(write_folder(folder / "out", points or (QUIET,), **({"launches": 10} | options)))
    return {one.name: one for one in diagnostics(measured, rows_of(measured))}


def drifting(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
    return np.asarray(np.linspace(1000, 1200, 2000) + rng.normal(0, 10, 2000))


def drifting_away(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
    return np.asarray(1000 * 1.02**launch + rng.normal(0, 10, 2000))


def tailed(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
    return np.asarray(np.where(rng.random(2000) < 0.08, 5000.0, 1000.0) + rng.normal(0, 10, 2000))


def test_a_quiet_campaign_has_no_diagnostics(tmp_path: Path) -> None:
    assert found_in(tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "points", "options", "words"),
    [
        ("failed", [FakePoint("mpi.scan", steady(9.0), ends={2: HANG})], {}, "hang: no observation"),
        ("wrong-answer", [FakePoint("mpi.scan", steady(9.0), ends={2: WRONG})], {}, "byte 3 is 4"),
        (
            "wrong-answer-solo",
            [FakePoint("omp.nested", steady(9.0), ranks=1, mpi=None, ends={2: WRONG})],
            {},
            "byte 3 is 4",
        ),
        (
            "skipped",
            [FakePoint("mpi.scan", steady(9.0), ends=dict.fromkeys(range(11), ABSENT))],
            {},
            "MPI 4.0",
        ),
        ("not-positive", [FakePoint("mpi.scan", steady(-5.0), reps=1)], {}, "subtracting 27.4 ns"),
        (
            "oversubscribed",
            [FakePoint("mpi.bcast", steady(1e3), ranks=4)],
            {},
            "4 ranks and threads on 2 cores",
        ),
        ("oversubscribed", [QUIET], {"preset": "oversubscribed"}, "mpich-4.0.2"),
        ("shared-cores", [QUIET], {"cpus": lambda rank: "0-1"}, "Ranks 0 and 1 of mpich-4.0.2"),
        ("unbound", [QUIET], {"cpus": lambda rank: "0-1"}, "Rank 0 of mpich-4.0.2 may run on CPUs 0-1"),
        ("yielding", [FakePoint("mpi.bcast", steady(1e3), yields_per_op=2.3)], {}, "up to 2.3 times"),
        ("modes", [FakePoint("mpi.bcast", regimes(200.0, 450.0))], {}, "% of the time ("),
        ("unsettled", [FakePoint("mpi.bcast", steady(1e3), flag="TIME")], {"launches": 1}, "median 1"),
        ("drift", [FakePoint("mpi.bcast", drifting)], {}, "median 1.10 us"),
        ("tail", [FakePoint("mpi.bcast", tailed)], {}, "8 % of samples over 3 x the median, p99 5"),
        ("one-launch", [QUIET], {"launches": 1}, "1 of 1 test case rests on one launch"),
        ("few-launches", [QUIET, QUIET], {"launches": 3}, "2 of 2 test cases rest on 2 to 5"),
        ("wide", [FakePoint("mpi.bcast", steady(1e3, between=0.5))], {}, "±"),
        ("launches-alike", [FakePoint("mpi.bcast", drifting_away)], {}, "times as wide"),
        ("launches-differ", [FakePoint("mpi.bcast", steady(1e3, between=0.1))], {}, "times the fastest"),
        ("coarse-clock", [FakePoint("mpi.bcast", steady(100.0), reps=1)], {}, "tick 10 ns of"),
        ("dear-clock", [FakePoint("mpi.bcast", steady(100.0), reps=1)], {}, "27.4 ns subtracted"),
        ("impossible", [FakePoint("mpi.bcast", steady(0.005), reps=10**6)], {}, "(0.005"),
        (
            "write-timed",
            [FakePoint("mpi.pingpong", steady(1e3), params={"buffer": "written"})],
            {},
            "by batch",
        ),
        ("rejected", [FakePoint("mpi.bcast", steady(1e3), rejected=400)], {}, "17 % of 24000"),
    ],
)
def test_each_check_finds_its_evidence(
    tmp_path: Path, name: str, points: list[FakePoint], options: dict[str, Any], words: str
) -> None:
    found = found_in(tmp_path, *points, **options)
    assert words in found[name].evidence
    assert "mpi." in found[name].evidence or name not in ("failed", "modes", "wide", "tail")


def one_precise(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
    """Launches of 1000 and of 1130 ns that are not known by better than 70 ns, but for the first."""
    wide = 1.0 if launch == 1 else 800.0
    return np.asarray(1000.0 + 130 * (launch % 2) + rng.uniform(-wide, wide, 2000))


def test_launches_are_held_against_what_one_usually_knows(tmp_path: Path) -> None:
    assert "launches-differ" not in found_in(tmp_path, FakePoint("mpi.bcast", one_precise))


def test_each_leaves_the_writing_out(tmp_path: Path) -> None:
    timed_apart = FakePoint("mpi.pingpong", steady(1e3), method="each", params={"buffer": "written"})
    assert "write-timed" not in found_in(tmp_path, timed_apart)


def test_a_cut_line_is_told(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [QUIET], launches=1)
    path = next((folder / "records").glob("*.jsonl"))
    path.write_text(path.read_text() + '{"record":"obs"')
    measured = load(folder)
    assert (
        "l01-mpich-4.0.2-n2.jsonl"
        in {d.name: d for d in diagnostics(measured, rows_of(measured))}["cut-line"].evidence
    )


def test_a_failure_that_was_measured_again_is_noted(tmp_path: Path) -> None:
    hung = FakePoint("mpi.scan", steady(1000.0), ends={1: HANG})
    folder = write_folder(tmp_path / "out", [hung, QUIET], launches=1)
    (failed,) = (folder / "records").iterdir()
    first = failed.read_text()
    write_folder(tmp_path / "again", [FakePoint("mpi.scan", steady(1000.0)), QUIET], launches=1)
    (again,) = (tmp_path / "again/records").iterdir()
    (folder / "records" / failed.name.replace(".jsonl", ".2.jsonl")).write_text(again.read_text())
    measured = load(folder)
    found = {one.name: one for one in diagnostics(measured, rows_of(measured))}
    assert failed.read_text() == first
    assert "failed" not in found
    assert found["retried"].evidence.startswith("1 test case failed before: mpi.scan")
    assert HANG.why is not None
    assert HANG.why in found["retried"].evidence


def test_yield_none_is_a_what_if(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [QUIET], launches=1)
    path = next((folder / "records").glob("*.jsonl"))
    path.write_text(unsealed(path.read_text()).replace('"yield":"real"', '"yield":"none"'))
    measured = load(folder)
    assert "1 launch" in {d.name: d for d in diagnostics(measured, rows_of(measured))}["what-if"].evidence


def test_launches_that_were_placed_differently(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [QUIET], launches=2)
    path = folder / "records" / "l02-mpich-4.0.2-n2.jsonl"
    path.write_text(unsealed(path.read_text()).replace('"cpus":"0"', '"cpus":"7"'))
    measured = load(folder)
    assert "placements-vary" in {d.name for d in diagnostics(measured, rows_of(measured))}


@pytest.mark.parametrize(
    ("cores", "cpus", "found"),
    [
        ([[0, 2], [1, 3]], ["0,2", "1,3"], set()),  # both hardware threads of a core each
        ([[0, 2], [1, 3]], ["0", "2"], {"shared-cores"}),  # two threads of one core
        ([[0], [1], [2], [3]], ["0-1", "2-3"], {"unbound"}),
        ([], ["0", "1"], set()),  # a machine that does not tell its cores
    ],
)
def test_binding_is_judged_by_cores(
    tmp_path: Path, cores: list[list[int]], cpus: list[str], found: set[str]
) -> None:
    names = set(found_in(tmp_path, cpus=lambda rank: cpus[rank], machine={"cores": cores}))
    assert names & {"shared-cores", "unbound"} == found


def test_lists_of_cpus_of_a_launch_are_bounded() -> None:
    """A folder from elsewhere may hold 200,000 of them, of 4096 CPUs each."""
    places = [Place(rank=rank, host="vm", cpus=f"0-4094,{4095 + rank}") for rank in range(300)]
    assert len(cores_by_cpus(places, {})) == MOST_CPUS // 4096
    assert cores_by_cpus(places[:1] * 300, {7: 3, 8: 3}).keys() == {places[0].cpus}


def test_the_instrument_may_measure_next_to_nothing(tmp_path: Path) -> None:
    empty = FakePoint("self.empty", steady(1e-9), mpi=None, ranks=1, reps=1)
    assert not found_in(tmp_path, empty).keys() & {"not-positive", "coarse-clock", "dear-clock"}


def test_no_mpi_is_blamed_for_what_ran_without_one(tmp_path: Path) -> None:
    point = FakePoint("omp.nested", steady(9.0), ranks=1, mpi=None, ends={2: WRONG})
    found = found_in(tmp_path, point, cpus=lambda rank: "0-1", machine={"cores": [[0], [1]]})
    assert "wrong-answer" not in found
    texts = " ".join(str(one) for one in found.values())
    assert "makers of that MPI" not in texts
    assert "Rank 0 of a launch without MPI may run on CPUs 0-1" in texts


def test_many_points_are_counted_and_a_few_are_named(tmp_path: Path) -> None:
    points = [FakePoint("mpi.scan", steady(9.0), bytes=size, ends={1: HANG}) for size in range(9)]
    evidence = found_in(tmp_path, *points, launches=1)["failed"].evidence
    named = "mpi.scan 0 B on 2 ranks of mpich-4.0.2 and mpi.scan 1 B on 2 ranks of mpich-4.0.2 and 7 more"
    assert evidence == f"9 test cases failed: {named} ({HANG.why})."


def test_what_failed_otherwise_stands_apart(tmp_path: Path) -> None:
    ends = [{1: End(point=0, status="failed", why=f"signal {i // 2}")} for i in range(6)]
    points = [FakePoint("mpi.scan", steady(9.0), bytes=i, ends=end) for i, end in enumerate(ends)]
    evidence = found_in(tmp_path, *points, launches=1)["failed"].evidence
    name = "mpi.scan {} B on 2 ranks of mpich-4.0.2"
    firsts = " and ".join(map(name.format, (0, 1))), " and ".join(map(name.format, (2, 3)))
    assert evidence == f"6 test cases failed: {firsts[0]} (signal 0); {firsts[1]} (signal 1); and 2 more."


@pytest.mark.parametrize(
    ("other", "names"),
    [
        ({"method": "epoch"}, ["mpi.scan{}, method barrier", "mpi.scan{}, method epoch"]),
        ({"params": {"root": 0}}, ["mpi.scan{}, root=1", "mpi.scan{}, root=0"]),
        (
            {"method": "epoch", "params": {"root": 0}},
            ["mpi.scan{}, root=1, method barrier", "mpi.scan{}, root=0, method epoch"],
        ),
        ({"op": "mpi.bcast", "method": "epoch"}, ["mpi.scan{}", "mpi.bcast{}"]),
    ],
)
def test_points_of_one_name_are_told_apart(tmp_path: Path, other: dict[str, Any], names: list[str]) -> None:
    one = {"op": "mpi.scan", "values": steady(9.0), "method": "barrier", "params": {"root": 1}}
    points = [FakePoint(**{**one, "ends": {2: HANG}, **words}) for words in ({}, other)]
    evidence = found_in(tmp_path, *points)["failed"].evidence
    told = evidence.partition(": ")[2].partition(" (")[0].split(" and ")
    assert told == [name.format(" 8 B on 2 ranks of mpich-4.0.2") for name in names]


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 test case contradicts"), (2, "2 test cases contradict another")]
)
def test_methods_that_contradict_are_counted(tmp_path: Path, count: int, words: str) -> None:
    epoch = FakePoint("mpi.bcast", steady(1000.0, between=0.005), method="epoch", clock_error=10.0)
    path = WatchedPath(late=0, observer=1, late_ns=0.0, observer_ns=400.0, loops=6)
    others = [
        FakePoint("mpi.bcast", steady(5000.0, between=0.005), method=method, path=path)
        for method in ("bisected-ack", "trigger")[:count]
    ]
    assert words in found_in(tmp_path, epoch, *others)["methods-disagree"].evidence


def test_skipped_points_stand_together_by_reason(tmp_path: Path) -> None:
    points = [
        FakePoint(op, steady(9.0), bytes=b, ends={1: ABSENT}) for op in ("mpi.a", "mpi.b") for b in (1, 2)
    ]
    assert (
        found_in(tmp_path, *points, launches=1)["skipped"].evidence
        == "4 test cases of mpi.a, mpi.b (needs MPI 4.0)."
    )


def test_the_gravest_come_first_and_texts_are_sentences(tmp_path: Path) -> None:
    found = found_in(
        tmp_path,
        QUIET,
        FakePoint("mpi.scan", steady(9.0), yields_per_op=1, ends={1: HANG, 2: WRONG}),
        launches=3,
    )
    order = [SEVERITIES.index(one.severity) for one in found.values()]
    assert order == sorted(order)
    assert order[0] == 0
    assert all(one.evidence.endswith(".") for one in found.values())


@pytest.mark.parametrize(
    ("text", "cpus"), [("0", {0}), ("0-2,5", {0, 1, 2, 5}), ("", set()), ("none", set()), ("3,1", {1, 3})]
)
def test_cpu_set(text: str, cpus: set[int]) -> None:
    assert cpu_set(text) == cpus


def test_the_remedy_of_a_failure_is_a_command_to_copy(tmp_path: Path) -> None:
    """For the first one that failed, with its size and MPI."""
    points = [FakePoint("mpi.scan", steady(9.0), bytes=64, ends={1: HANG})]
    ops = {"mpi.scan": {"sized": True}}
    remedy = found_in(tmp_path, *points, launches=1, ops=ops)["failed"].remedy
    assert remedy.endswith("Measure it alone: steelyard run mpi.scan --bytes 64 -n 2 --mpi mpich-4.0.2")


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("node: mpiexec has lost n3", "Leave a lost host out"),
        ("memory: the kernel ended rank 1", "Give smaller messages"),
        ("start-up: mpiexec ended with code 1", "try the launcher alone: hostname; measure it alone: "),
        ("signal 11 (SIGSEGV) on rank 0", ""),
    ],
)
def test_what_helps_is_of_the_kind_of_failure(tmp_path: Path, why: str, words: str) -> None:
    ends = {1: End(point=0, status="failed", why=why)}
    remedy = found_in(tmp_path, FakePoint("mpi.scan", steady(9.0), ends=ends), launches=1)["failed"].remedy
    assert words in remedy
    assert "hang" not in remedy


def test_that_command_has_what_the_launch_was_given(tmp_path: Path) -> None:
    """Modules, the wrapper and variables among it, whole and quoted."""
    ops = {"mpi.scan": {"sized": True}}
    given = {MODULES: "gcc/12 ucx", WRAPPER: "bwrap --dev-bind / / --setenv A '1 2'", "UCX_TLS": "tcp,self"}
    point = FakePoint("mpi.scan", steady(9.0), bytes=64, threads=2, ends={1: HANG})
    measured = load(write_folder(tmp_path / "out", (point,), launches=1, ops=ops))
    (planned,) = measured.points
    there = {"hosts": 2, "placement": Placement("other-host", hosts=("n1", "n2"))}
    how = {"method_params": {"gap": 0.5}, "omp": {"proc_bind": "close"}, "thread_level": "multiple"}
    plan = replace(planned.plan, env=given, params={"root": 1.0, "who": "all"}, **there, **how)
    campaign = replace(measured.campaign, plan={"measure": [{"method": ["barrier"]}]}, points=(plan,))
    measured = replace(measured, points=(replace(planned, plan=plan),), campaign=campaign)
    found = {one.name: one for one in diagnostics(measured, rows_of(measured))}
    words = shlex.split(found["failed"].remedy.partition("Measure it alone: ")[2])
    assert words == [
        *(
            "steelyard",
            "run",
            "mpi.scan",
            "--bytes",
            "64",
            "-n",
            "2",
            "--mpi",
            "mpich-4.0.2",
            "--hosts",
            "2",
            "--placement",
            "n1,n2",
            "--threads",
            "2",
            "--thread-level",
            "multiple",
            "--method",
            "batch",
        ),
        *(
            "--param",
            "root=1",
            "--param",
            "who=all",
            "--param",
            "gap=0.5",
            "--omp",
            "proc_bind=close",
            "--modules",
            given[MODULES],
            "--wrapper",
            given[WRAPPER],
        ),
        *("--env", "UCX_TLS=tcp,self"),
    ]


@pytest.mark.parametrize(("stopped", "found"), [(False, True), (True, False)])
def test_a_launch_that_was_stopped_as_its_last_test_case_ended_is_not_damaged(
    tmp_path: Path, stopped: bool, found: bool
) -> None:
    """The time was over in the same moment: its ranks were ended before they wrote how they end."""
    folder = write_folder(tmp_path, [FakePoint("mpi.pingpong", steady(300.0))], launches=1)
    measured = load(folder)
    (file,) = measured.files
    host = file.launch.places[0].host if file.launch else ""
    file = replace(
        file,
        job=replace(file.job, points=(0,)),
        watches=(Watch(host=host, seconds=1.0, looks=2, cost_ns=1, stopped=stopped),),
        closes=(),
    )
    seen = Evidence(replace(measured, files=(file,)), rows_of(measured))
    evidence = damaged.find(seen)
    assert (evidence is not None) is found
    assert not found or "no record 'close' of ranks 0, 1" in str(evidence)


@pytest.mark.parametrize(("stop_ns", "found"), [(9, True), (0, False)])
def test_a_launch_that_died_in_its_last_test_case_is_not_damaged(
    tmp_path: Path, stop_ns: int, found: bool
) -> None:
    """Nobody was left to write how the ranks end; wrong answers end no rank."""
    end = End(point=0, status="failed", why="signal 11 (SIGSEGV) on rank 1", stop_ns=stop_ns)
    folder = write_folder(tmp_path, [FakePoint("mpi.pingpong", steady(300.0), ends={1: end})], launches=1)
    measured = load(folder)
    (file,) = measured.files
    watch = Watch(host="vm", seconds=1.0, looks=2, cost_ns=1)
    file = replace(file, job=replace(file.job, points=(0,)), watches=(watch,), closes=())
    told = damaged.find(Evidence(replace(measured, files=(file,)), rows_of(measured))) or ""
    assert ("no record 'close' of ranks 0, 1" in told) is found

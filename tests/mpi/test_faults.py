"""Calls of MPI that a preloaded library spoils are caught and told apart, and end no campaign.

What such faults can be seen by, and by what not, stands in docs/ops/onesided.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from campaigns import run_plan, setup_of
from further import further
from points import engine_of, measure, mpi_or_skip
from preloaded import build_preloaded, fault_words
from steelyard.analyses.rma_support.model import HANG, PASSED, SIGNAL, WRONG, outcome_of
from steelyard.engines.mpi import Mpi
from steelyard.plan.plan import Measure, Plan
from steelyard.records.schema import End
from steelyard.results.rows import results
from steelyard.session.results import read_results

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]


@pytest.fixture(autouse=True)
def ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open MPI kills what is left of a launch at once, in place of a second in which ranks wait in a loop.

    It may lose the last words of ranks then, which no test here reads.
    """
    monkeypatch.setenv("OMPI_MCA_odls_base_sigkill_timeout", "0")


_SOURCE = Path(__file__).parent.parent / "data" / "faults.c"

# The op with its parameters, the call of rank 0 that is spoiled, how, which one -> what becomes of it.
_BYTES = 72
# 50: amid the warm-up, in which repetitions are looked at one by one for a while.
_FIRST, _THIRD, _FOURTH = 1, 3, 4  # the first is before all repetitions; a check of messages sends one, too
_Case = tuple[str, str, str, int, str]
_CASES: list[_Case] = [
    ("mpi.put", "MPI_Put", "drop", _FIRST, WRONG),
    ("mpi.put", "MPI_Put", "corrupt", _THIRD, WRONG),
    ("mpi.put", "MPI_Put", "shift", 50, WRONG),
    ("mpi.accumulate", "MPI_Accumulate", "drop", 50, WRONG),
    ("mpi.fetch_and_op type=float", "MPI_Fetch_and_op", "duplicate", 50, WRONG),
    ("mpi.put", "MPI_Put", "kill", 50, SIGNAL),
    ("mpi.put", "MPI_Put", "delay", 2, PASSED),
    ("mpi.put.bandwidth", "MPI_Put", "truncate", 3, WRONG),
    ("mpi.put.bibandwidth", "MPI_Put", "shift", 2, WRONG),
    ("mpi.rput", "MPI_Rput", "late", _FIRST, WRONG),
    ("mpi.get", "MPI_Get", "corrupt", _FIRST, WRONG),
    ("mpi.get", "MPI_Get", "drop", _THIRD, WRONG),
    ("mpi.rget", "MPI_Rget", "truncate", _FIRST, WRONG),
    ("mpi.rget.bandwidth", "MPI_Rget", "shift", 2, WRONG),
    ("mpi.accumulate", "MPI_Accumulate", "drop", _FIRST, WRONG),
    ("mpi.accumulate", "MPI_Accumulate", "duplicate", _FIRST, WRONG),
    ("mpi.raccumulate", "MPI_Raccumulate", "corrupt", _FIRST, WRONG),
    ("mpi.get_accumulate", "MPI_Get_accumulate", "late", _FIRST, WRONG),
    ("mpi.rget_accumulate", "MPI_Rget_accumulate", "truncate", _FIRST, WRONG),
    ("mpi.fetch_and_op", "MPI_Fetch_and_op", "duplicate", _FIRST, WRONG),
    ("mpi.compare_and_swap window=create", "MPI_Compare_and_swap", "drop", _FIRST, WRONG),  # see points.py
    ("mpi.pingpong", "MPI_Send", "corrupt", _FIRST, WRONG),
    ("mpi.pingpong", "MPI_Send", "truncate", _FOURTH, WRONG),
    ("mpi.bandwidth", "MPI_Isend", "shift", 64, WRONG),  # the last of the first window
]
# Each is waited for, and ends its launch.
_HANGS: list[_Case] = [
    ("mpi.put", "MPI_Put", "hang", 50, HANG),  # one rank sleeps
    ("mpi.pingpong", "MPI_Send", "drop", 50, HANG),
]
# A call of several threads, which of them alone is spoiled, how, which of its own -> what becomes of it.
_OF_THREADS: list[_Case] = [
    (
        "mpi.mt.put",
        "MPI_Put",
        "corrupt",
        2,
        WRONG,
    ),  # the next put repairs it; few are looked at alone
    ("mpi.mt.get", "MPI_Get", "drop", _FIRST, WRONG),
    ("mpi.mt.accumulate", "MPI_Accumulate", "drop", 50, WRONG),
    ("mpi.mt.put", "MPI_Put", "kill", 50, SIGNAL),
]
_HANGS_OF_THREADS: list[_Case] = [("mpi.mt.put", "MPI_Put", "hang", 50, HANG)]
# Bytes of the elements of calls that move one.
_ELEMENTS = {
    "mpi.fetch_and_op": 8,
    "mpi.fetch_and_op type=float": 4,
    "mpi.compare_and_swap window=create": 8,
}


def _size(cases: Sequence[_Case], number: int) -> int:
    """How many bytes a case moves: those of no other, and of no message of the engine itself."""
    return _ELEMENTS.get(cases[number][0], _BYTES + 16 * number)


def _measures(library: Path, cases: Sequence[_Case], threads: int = 1, **more: int) -> list[Measure]:
    """The test cases, and one without a fault: as one launch, which goes on with the others after each."""
    faults = [
        fault_words(call, kind, at=at, rank=0, bytes=_size(cases, number), **more)
        for number, (_, call, kind, at, _) in enumerate(cases)
    ]
    env: dict[str, str | tuple[str, ...]] = {"LD_PRELOAD": str(library), "FAULTS": ";".join(faults)}
    sound = "mpi.pingpong" if threads == 1 else "mpi.mt.pingpong"
    usual = Measure(
        ops=(sound,), bytes=8, ranks=2, threads=threads, engine="mpi", rule="fixed", env=env,
        params={"count": 3.0, "reps": 20.0},
    )  # fmt: skip
    measures = [usual]
    for number, (words, *_) in enumerate(cases):
        op, *given = words.split()
        params = {**usual.params, **dict(word.split("=") for word in given)}
        size = None if words in _ELEMENTS else _size(cases, number)
        measures.append(replace(usual, ops=(op,), bytes=size, params=params))
    return measures


def _plan(measures: Sequence[Measure], hang_after: str) -> Plan:
    return Plan(measure=tuple(measures), launches=1, seed=1, oversubscribe=True, hang_after=hang_after)


def _are_caught(folder: Path, mpi: Mpi, cases: Sequence[_Case], plan: Plan) -> None:
    run_plan(folder, plan, setup_of(mpi))
    sound, *found = results(folder)
    assert sound.status == "ok"
    for (words, call, kind, at, outcome), row in zip(cases, found, strict=True):
        assert row.op == words.split()[0]
        assert outcome_of(row.launches[0]) == outcome, (words, call, kind, at, row.why)
        if outcome == WRONG and row.threads > 1:
            assert re.search(r"^wrong: rank [01]: thread [01]: .* should be ", row.why or ""), row.why


def test_every_fault_is_caught_and_told_from_others(tmp_path: Path, mpi: Mpi) -> None:
    """Those that do not hang have time to start on a machine that is busy."""
    library = build_preloaded(engine_of(mpi), _SOURCE, tmp_path)
    _are_caught(tmp_path / "out", mpi, _CASES, _plan(_measures(library, _CASES), "60s"))


@pytest.mark.parametrize("case", [*map(further, _HANGS)])
def test_a_call_that_never_ends_is_a_hang(tmp_path: Path, mpi: Mpi, case: _Case) -> None:
    library = build_preloaded(engine_of(mpi), _SOURCE, tmp_path)
    _are_caught(tmp_path / "out", mpi, [case], _plan(_measures(library, [case]), "4s"))


@pytest.mark.parametrize("cases", [_OF_THREADS, further(_HANGS_OF_THREADS)])
def test_a_fault_of_one_thread_is_caught(tmp_path: Path, cases: Sequence[_Case]) -> None:
    """Of two of a rank; where data are wrong the sentence says whose."""
    mpi = mpi_or_skip("openmpi")
    library = build_preloaded(engine_of(mpi), _SOURCE, tmp_path)
    measures = _measures(library, cases, threads=2, thread=1)
    _are_caught(tmp_path / "out", mpi, cases, _plan(measures, "10s" if cases is _HANGS_OF_THREADS else "60s"))


# Rank 0 has a wrong bit in each sum, from one call on.
_LYING_SUMS = """
#include <mpi.h>
#include <stdlib.h>
int MPI_Allreduce(const void *out, void *data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    static long calls;
    int rank, size, rc = PMPI_Allreduce(out, data, count, type, op, comm);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Type_size(type, &size);
    if (++calls >= atol(getenv("LIES_FROM")) && rank == 0 && (long)count * size > 0)
        ((char *)data)[(long)count * size - 1] ^= 64;
    return rc;
}
"""
_TRUE = ("mpi.barrier", "mpi.bcast", "mpi.scan", "mpi.pingpong")


def test_sums_that_lie_spoil_their_test_case_and_never_the_folder(tmp_path: Path, one_mpi: Mpi) -> None:
    """From the first one on, and when the check before the first sample is over: samples are there then."""
    (tmp_path / "lying_sums.c").write_text(_LYING_SUMS)
    library = build_preloaded(engine_of(one_mpi), tmp_path / "lying_sums.c", tmp_path)
    env: dict[str, str | tuple[str, ...]] = {"LD_PRELOAD": str(library), "LIES_FROM": (str(_FIRST), "3")}
    ops = ("mpi.allreduce", *_TRUE)
    methods = Measure(ops=ops, ranks=2, bytes=8, rule="fixed", params={"count": 40.0}, env=env)
    run_plan(tmp_path / "out", _plan([methods], "60s"), setup_of(one_mpi))
    outcome = read_results(tmp_path / "out")
    read, found = outcome.read, outcome.diagnostics
    assert "damaged" not in {one.name for one in found}
    rows = {(row.op, row.env["LIES_FROM"]): row for row in read.rows}
    assert len(rows) == 2 * len(ops)
    for (op, _), row in rows.items():
        is_true = op in _TRUE
        assert (row.status, row.median is not None) == (("ok", True) if is_true else ("failed", False)), (
            row.why
        )
        assert is_true or (row.why or "").startswith("wrong: rank 0: element 0 of the sum is "), row.why


# Returns at once: it has no data that would be wrong.
_NO_BARRIER = """
#include <mpi.h>
int MPI_Barrier(MPI_Comm comm)
{
    (void)comm;
    return MPI_SUCCESS;
}
int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_Barrier(comm);
}
"""


def test_a_barrier_that_waits_for_nobody_is_wrong(tmp_path: Path, mpi: Mpi) -> None:
    (tmp_path / "no_barrier.c").write_text(_NO_BARRIER)
    engine = engine_of(mpi)
    before = ("env", f"LD_PRELOAD={build_preloaded(engine, tmp_path / 'no_barrier.c', tmp_path)}")
    lines = [f"op={op} rule=fixed count=4" for op in ("mpi.barrier", "mpi.ibarrier")]
    records = measure(engine, 2, 1, lines, tmp_path / "out.jsonl", before)
    whys = [record.why or "" for record in records if isinstance(record, End)]
    assert len(whys) == len(lines)
    for why in whys:
        assert re.search(r"^wrong: rank \d: a rank left the barrier before rank \d had entered$", why), why


# What completes calls returns at once.
_COMPLETES_NOTHING = """
#include <mpi.h>
int MPI_Win_flush(int rank, MPI_Win win)
{
    (void)rank, (void)win;
    return MPI_SUCCESS;
}
int MPI_Win_wait(MPI_Win win)
{
    (void)win;
    return MPI_SUCCESS;
}
"""


def test_what_is_seen_of_a_call_that_completes_nothing(tmp_path: Path, mpi: Mpi) -> None:
    """Nothing of a flush, after which an epoch is closed before anybody looks at the data. MPICH hangs where
    nobody waits, which takes its time.
    """
    (tmp_path / "completes_nothing.c").write_text(_COMPLETES_NOTHING)
    engine = engine_of(mpi)
    library = build_preloaded(engine, tmp_path / "completes_nothing.c", tmp_path)
    flushed = ["op=mpi.put", "op=mpi.get", "op=mpi.accumulate"]
    waited = ["op=mpi.put sync=pscw complete=close"] if mpi.family == "openmpi" else []
    lines = [f"{line} bytes=4096 rule=fixed count=4" for line in (*flushed, *waited)]
    records = measure(engine, 2, 1, lines, tmp_path / "out.jsonl", ("env", f"LD_PRELOAD={library}"))
    ends = [record for record in records if isinstance(record, End)]
    assert [end.status for end in ends] == [*("ok" for _ in flushed), *("failed" for _ in waited)]
    assert all((end.why or "").startswith("wrong: rank 1: ") for end in ends[len(flushed) :])


# A line -> the call of rank 0 that is corrupted, how many of them a repetition has, and how many repetitions
# there are from one that is timed or warms up to the next: messages are also sent once after each check.
_TIMED = {
    "op=mpi.put": ("MPI_Put", 1, 1),
    "op=mpi.pingpong": ("MPI_Send", 1, 2),
    "op=mpi.pingpong buffer=written send=isend recv=irecv": ("MPI_Isend", 1, 2),
    "op=mpi.bandwidth window=3 buffers=3": ("MPI_Isend", 3, 2),
    "op=mpi.message_rate form=allstart messages=3": ("MPI_Isend", 3, 2),
    "op=mpi.mt.pingpong threads=2": ("MPI_Send", 2, 2),
}
_BEFORE = 1 + 20  # repetitions: of the check before the first sample, and of the warm-up


def _spoiled(
    tmp_path: Path,
    line: str,
    call: str,
    at: int,
    words: str = f"bytes={_BYTES} method=barrier",
    kind: str = "corrupt",
) -> End:
    """How the test case ends of which rank 0's at-th call is spoiled."""
    engine = engine_of(mpi_or_skip("openmpi"))
    library = build_preloaded(engine, _SOURCE, tmp_path)
    sized = {name: int(number) for name, number in re.findall(r"(bytes)=(\d+)", words)}
    before = ("env", f"FAULTS={fault_words(call, kind, at=at, rank=0, **sized)}", f"LD_PRELOAD={library}")
    line = f"{line} {words} rule=fixed count=10 check=sample"
    threads = 2 if "threads=2" in line else 1
    records = measure(engine, 2, threads, [line], tmp_path / f"{at}.jsonl", before)
    (end,) = (record for record in records if isinstance(record, End))
    return end


@pytest.mark.parametrize("line", [next(iter(_TIMED)), *map(further, list(_TIMED)[1:])])
def test_with_a_check_after_each_sample_every_timed_call_is_checked(tmp_path: Path, line: str) -> None:
    """A fault is tried in each repetition from one timed one to the next; that of the timed one is seen."""
    call, calls, period = _TIMED[line]
    at = [1 + calls * repetition for repetition in range(_BEFORE + 4, _BEFORE + 4 + period)]
    seen = [_spoiled(tmp_path, line, call, one) for one in at]
    assert sorted(end.status for end in seen) == ["failed", *["ok"] * (period - 1)]
    assert [(end.why or "").startswith("wrong: rank 1: ") for end in seen].count(True) == 1


@pytest.mark.parametrize("at", [2, 4, 7])
def test_with_a_check_after_each_sample_no_call_is_unchecked(tmp_path: Path, at: int) -> None:
    """In the warm-up, and back to back, where a repetition that is not timed would stand before a sample."""
    end = _spoiled(tmp_path, "op=mpi.put", "MPI_Put", at, f"bytes={_BYTES} method=batch reps=1")
    assert end.status == "failed"
    assert (end.why or "").startswith("wrong: rank 1: ")


# At one word of all threads: the op, the call of which one is lost, how the samples are.
_AT_WORD = [
    ("mpi.mt.accumulate", "MPI_Accumulate", "bytes=8 method=barrier"),
    ("mpi.mt.get_accumulate", "MPI_Get_accumulate", "bytes=8 method=batch reps=1"),
    ("mpi.mt.get", "MPI_Get", "bytes=8 method=batch reps=1"),
    ("mpi.mt.fetch_and_op", "MPI_Fetch_and_op", "method=batch reps=1"),
    ("mpi.mt.compare_and_swap window=create", "MPI_Compare_and_swap", "method=batch reps=1"),
    ("mpi.mt.fetch_and_op windows=one sync=lock complete=close", "MPI_Fetch_and_op", "method=barrier"),
]


@pytest.mark.parametrize(("op", "call", "words"), [_AT_WORD[0], *(further(*case) for case in _AT_WORD[1:])])
def test_a_timed_call_that_is_lost_at_a_word_of_all_threads_is_seen(
    tmp_path: Path, op: str, call: str, words: str
) -> None:
    at = 12 if "batch" in words else 2 * (_BEFORE + 4)
    end = _spoiled(tmp_path, f"op={op} target=word threads=2", call, at, words, "drop")
    assert end.status == "failed"
    assert (end.why or "").startswith("wrong: rank ")

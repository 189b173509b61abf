"""Calls of MPI that a preloaded library spoils are caught and told apart, and end no campaign.

What such faults can be seen by, and by what not, stands in docs/ops/onesided.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from campaigns import run_plan, setup_of
from further import further
from points import engine_of, measure
from preloaded import build_preloaded
from steelyard.base.errors import InputError
from steelyard.engines.mpi import Mpi, choose_mpi
from steelyard.models.functionality import HANG, PASSED, SIGNAL, WRONG, outcome_of
from steelyard.plan.plan import Measure, Plan
from steelyard.records.schema import End
from steelyard.results.rows import results

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]

_SOURCE = Path(__file__).parent.parent / "data" / "faults.c"

# The op, the call of rank 0 that is spoiled, how, which one -> what becomes of the test case.
_BYTES = 72
# 50: amid the warm-up, in which repetitions are looked at one by one for a while.
_FIRST, _THIRD, _FOURTH = 1, 3, 4  # the first is before all repetitions; a check of messages sends one, too
_Case = tuple[str, str, str, int, str]
_CASES: list[_Case] = [
    ("mpi.put", "MPI_Put", "drop", _FIRST, WRONG),
    ("mpi.put", "MPI_Put", "corrupt", _THIRD, WRONG),
    ("mpi.put", "MPI_Put", "shift", 50, WRONG),
    ("mpi.accumulate", "MPI_Accumulate", "drop", 50, WRONG),
    ("mpi.fetch_and_op", "MPI_Fetch_and_op", "duplicate", 50, WRONG),
    ("mpi.put", "MPI_Put", "kill", 50, SIGNAL),
    ("mpi.put", "MPI_Put", "hang", 50, HANG),
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
    ("mpi.compare_and_swap", "MPI_Compare_and_swap", "drop", _FIRST, WRONG),
    ("mpi.pingpong", "MPI_Send", "corrupt", _FIRST, WRONG),
    ("mpi.pingpong", "MPI_Send", "truncate", _FOURTH, WRONG),
    ("mpi.pingpong", "MPI_Send", "drop", 50, HANG),
    ("mpi.bandwidth", "MPI_Isend", "shift", 64, WRONG),  # the last of the first window
]


def _measure(library: Path, op: str, call: str, kind: str, at: int) -> Measure:
    """The op and one after it, in a launch of their own."""
    params: dict[str, float | str] = {"count": 3.0, "reps": 20.0}
    if op == "mpi.compare_and_swap":
        params["window"] = "create"  # see BROKEN_IN_OPENMPI_4
    fault = {"FAULT_CALL": call, "FAULT_KIND": kind, "FAULT_AT": str(at), "FAULT_RANK": "0"}
    if call in ("MPI_Send", "MPI_Isend"):
        fault["FAULT_BYTES"] = str(_BYTES)  # and no message of the engine itself
    return Measure(
        ops=(op, "self.empty"),
        bytes=_BYTES,
        ranks=2,
        engine="mpi",
        rule="fixed",
        params=params,
        env={"LD_PRELOAD": str(library), **fault},
    )


def _plan(measures: Sequence[Measure], hang_after: str) -> Plan:
    return Plan(measure=tuple(measures), launches=1, seed=1, oversubscribe=True, hang_after=hang_after)


def _cases_for(mpi: Mpi) -> list[_Case]:
    """All under one MPI, every third under others: what is tested is ours, and a launch takes its time."""
    return _CASES if mpi.family == "openmpi" else _CASES[len(mpi.name) % 3 :: 3]


def test_every_fault_is_caught_and_told_from_others(tmp_path: Path, mpi: Mpi) -> None:
    """Those that hang are waited for; for the others there is time to start on a machine that is busy."""
    library = build_preloaded(engine_of(mpi), _SOURCE, tmp_path)
    for hangs, hang_after in ((True, "5s"), (False, "60s")):
        cases = [case for case in _cases_for(mpi) if (case[-1] == HANG) is hangs]
        if not cases:
            continue
        plan = _plan([_measure(library, *case[:-1]) for case in cases], hang_after)
        out = tmp_path / hang_after
        run_plan(out, plan, setup_of(mpi))
        rows = results(out)
        assert [row.status for row in rows if row.op == "self.empty"] == ["ok"] * len(cases)
        found = [row for row in rows if row.op != "self.empty"]
        for (op, call, kind, at, outcome), row in zip(cases, found, strict=True):
            assert (row.op, row.env["FAULT_CALL"]) == (op, call)
            assert outcome_of(row.launches[0]) == outcome, (op, call, kind, at, row.why)


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


def _spoiled(tmp_path: Path, line: str, call: str, at: int, method: str = "barrier") -> End:
    """How the test case ends of which rank 0's at-th call is corrupted."""
    try:
        engine = engine_of(choose_mpi("openmpi"))
    except InputError as error:
        pytest.skip(str(error))
    library = build_preloaded(engine, _SOURCE, tmp_path)
    fault = (f"FAULT_CALL={call}", "FAULT_KIND=corrupt", "FAULT_RANK=0", f"FAULT_AT={at}")
    before = ("env", *fault, f"FAULT_BYTES={_BYTES}", f"LD_PRELOAD={library}")
    line = f"{line} bytes={_BYTES} method={method} rule=fixed count=10 check=sample"
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
    end = _spoiled(tmp_path, "op=mpi.put", "MPI_Put", at, "batch reps=1")
    assert end.status == "failed"
    assert (end.why or "").startswith("wrong: rank 1: ")

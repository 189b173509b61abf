"""Threads of one-sided calls under the sanitizer of threads, with an MPI that is not built with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from cbuild import built
from ends import all_are_right, ends_of
from points import engine_of, measure
from steelyard.engines.mpi import Mpi

_CALLS = (
    "put",
    "get",
    "accumulate",
    "fetch_and_op",
    "rput.bandwidth calls=3",
    "rget_accumulate.bibandwidth calls=3",
)
_WAYS = (
    "sync=lock_all complete=flush windows=one",
    "sync=lock_shared complete=close windows=one target=line",
    "sync=lock_all complete=flush_local windows=thread phases=on",
    "sync=lock complete=close windows=thread comms=one",
)
_FENCED = ("windows=one", "windows=one target=line phases=on", "windows=thread")
_SHORT = "threads=2 method=batch reps=2 rule=fixed count=2 check=sample"
# What the library does inside is not looked at: calls of pthread and of memory that it makes are not known.
_OPTIONS = "ignore_noninstrumented_modules=1 detect_deadlocks=0 report_mutex_bugs=0 report_thread_leaks=0"


@pytest.mark.further  # it takes an engine of its own; races are looked for before a release
def test_threads_of_a_rank_race_nowhere(tmp_path: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    if mpi.family != "openmpi" or shutil.which("mpicc.openmpi") is None:
        pytest.skip("the preset tsan-mpi is for mpicc.openmpi")
    sizes = {call: "" if call == "fetch_and_op" else " bytes=40" for call in _CALLS}
    lines = [f"op=mpi.mt.{call} {way}{sizes[call]} {_SHORT}" for call in _CALLS for way in _WAYS]
    lines += [f"op=mpi.mt.put sync=fence complete=close {way} bytes=40 {_SHORT}" for way in _FENCED]
    lines += [f"op=mpi.mt.get sync=pscw complete=close {way} bytes=40 {_SHORT}" for way in _FENCED]
    monkeypatch.setenv("TSAN_OPTIONS", _OPTIONS)
    engine = msgspec.structs.replace(engine_of(mpi), path=str(built("tsan-mpi") / "steelyard-mpi"))
    records = measure(engine, 2, 2, lines, tmp_path / "out.jsonl")
    all_are_right(lines, ends_of(records, len(lines)))

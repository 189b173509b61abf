"""One byte of one message or put of an application's halo is wrong: its own verification says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernels import ends_of, kernel_lines
from points import engine_of, measure
from preloaded import build_preloaded
from steelyard.base.errors import InputError
from steelyard.engines.mpi import choose_mpi

_SOURCE = Path(__file__).parent.parent / "data" / "faults.c"
_FACE = 5 * 4 * 8  # bytes of the halo of a brick of 5 x 4 x 3 cells
_SIXTH = 6  # byte of a number: its exponent and the first digits


@pytest.mark.parametrize(
    ("backend", "call"), [("nonblocking", "MPI_Isend"), ("fence", "MPI_Put"), ("flush", "MPI_Put")]
)
def test_one_wrong_byte_of_one_message_is_a_wrong_answer(tmp_path: Path, backend: str, call: str) -> None:
    try:
        engine = engine_of(choose_mpi("openmpi"))
    except InputError as error:
        pytest.skip(str(error))
    library = build_preloaded(engine, _SOURCE, tmp_path)
    case = f"app.hpccg nx=5 ny=4 nz=3 iterations=60 backend={backend}"
    fault = (f"FAULT_CALL={call}", f"FAULT_BYTES={_FACE}", f"FAULT_BYTE={_SIXTH}", "FAULT_RANK=0")
    for kind, status in (("none", "ok"), ("corrupt", "failed")):
        before = ("env", *fault, f"FAULT_KIND={kind}", "FAULT_AT=7", f"LD_PRELOAD={library}")
        out = tmp_path / f"{kind}.jsonl"
        (end,) = ends_of(measure(engine, 2, 1, kernel_lines([case]), out, before))
        assert end.status == status, end.why
        if kind == "corrupt":
            assert (end.why or "").startswith("wrong: rank 0: app.hpccg: after 60 iterations x is off by")

"""What the tests of ops share: one launch that measures points, and the ops that are sound under an MPI."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.engines.build import Engine, mpi_engine
from steelyard.engines.build import describe as ask
from steelyard.engines.description import Description, Op
from steelyard.engines.mpi import Mpi, choose_mpi
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.records.campaign_file import Placement
from steelyard.records.kinds import FILE
from steelyard.records.read import read_records
from steelyard.records.schema import Record
from steelyard.system.machine import read_machine
from steelyard.system.process import run

_SECONDS = 900.0  # far more than a launch takes, also where others use the cores

# Persistent collectives of MPICH 4 that answer wrongly from the first or second start on, or end the launch
# -> where that is known from.
BROKEN_IN_MPICH_4 = {
    "mpi.gather_init": "github.com/pmodels/mpich/issues/7078",
    "mpi.allgather_init": "github.com/pmodels/mpich/issues/6423",
    "mpi.scatter_init": "github.com/pmodels/mpich/pull/7550",
    "mpi.win_allocate": "windows of no multiple of 16 bytes overlap; see docs/ops/management.md",
}
# Do not run on one rank, or with their defaults.
BROKEN_IN_OPENMPI_4 = {
    "mpi.win_create": "github.com/open-mpi/ompi/issues/10726",
    "mpi.compare_and_swap": "github.com/open-mpi/ompi/issues/11349",
    "mpi.mt.compare_and_swap": "github.com/open-mpi/ompi/issues/11349",
    "mpi.compare_and_swap.pattern": "github.com/open-mpi/ompi/issues/11349",
    "mpi.compare_and_swap.halo": "github.com/open-mpi/ompi/issues/11349",
}


def measure(
    engine: Engine,
    ranks: int,
    threads: int,
    lines: Sequence[str],
    out: Path,
    before: Sequence[str] = (),
    placement: Placement | None = None,
    words: Sequence[str] = (),
) -> tuple[Record, ...]:
    """One launch that measures all points, hardly warmed up; `before` stands between launcher and engine.

    `words` are further options of the engine.

    On a core each ranks keep it: those that yield after each poll lose it to other tests for milliseconds.
    """
    if engine.mpi is not None:
        _spare(engine.mpi, ranks)
    keeps = engine.mpi is not None and placement is None and ranks * threads <= len(read_machine().cores)
    request = LaunchRequest(
        ranks, threads, oversubscribe=True, placement=placement, yield_mode="none" if keeps else "real"
    )
    launch = plan_launch(engine, read_machine(), request)
    points = out.with_suffix(".points")
    points.write_text("".join(f"point={i} {line} warm_up=brief\n" for i, line in enumerate(lines)))
    argv = [*launch.argv_prefix, *before, engine.path, "run", *launch.engine_args]
    argv += ["--points", str(points), "--out", str(out)]
    argv += ["--thread-level", "multiple"] if threads > 1 and engine.mpi else []
    argv += words
    done = run(argv, env=os.environ | launch.environment, timeout=_SECONDS)
    assert done.code == 0, done.err + done.out
    return read_records(out).records


def _spare(mpi: Mpi, ranks: int) -> None:
    """Skip what takes minutes: ranks of MPICH 4 that take turns on a core spin while others wait for it."""
    if mpi.family == "mpich" and mpi.version.startswith("4.") and ranks > len(read_machine().cores):
        pytest.skip(f"{ranks} ranks of {mpi.name} spin on fewer cores; the other MPIs and simulation do this")


@functools.cache
def describe(engine: Engine, libraries: tuple[str, ...] = ()) -> Description:
    """What an engine says of itself, asked once: it is the same for all tests."""
    return ask(engine, libraries=libraries)


def mpi_or_skip(name: str) -> Mpi:
    """The MPI of that name; skips, with the reason, where it is not here."""
    try:
        return choose_mpi(name)
    except InputError as error:
        pytest.skip(str(error))


@functools.cache
def engine_of(mpi: Mpi) -> Engine:
    try:
        return mpi_engine(mpi)
    except InputError as error:
        pytest.skip(str(error))


_WORDS_OF_MPI_4 = ("back=partitioned",)  # which ops have that Open MPI 4 has otherwise


@functools.cache
def _sound_in_openmpi() -> frozenset[str]:
    """The ops that Open MPI has and does right, if it is there."""
    try:
        mpi = choose_mpi("openmpi")
        ops = describe(mpi_engine(mpi)).ops
    except InputError:
        return frozenset()
    broken = BROKEN_IN_OPENMPI_4 if mpi.version.startswith("4.") else {}
    return frozenset(op.name for op in ops if op.available).difference(broken)


def points_once(mpi: Mpi, lines: Sequence[str]) -> list[str]:
    """The points of this MPI where one MPI is enough: Open MPI has all that it can, the others the rest.

    Ranks of Open MPI that take turns on a core yield, those of MPICH spin. Skips where nothing is left.
    """
    there = _sound_in_openmpi()
    left = [
        line
        for line in lines
        if mpi.family == "openmpi"
        or line.split()[0].removeprefix("op=") not in there
        or not set(_WORDS_OF_MPI_4).isdisjoint(line.split())
    ]
    if lines and not left:
        pytest.skip("one MPI is enough for this, and Open MPI has it all")
    return left


def points_of(mpi: Mpi, ranks: int, lines: Sequence[str]) -> list[str]:
    """The points that this MPI is to measure: all on a core each, those of `points_once` on more ranks."""
    return points_once(mpi, lines) if ranks > len(read_machine().cores) else list(lines)


# What threads do is each rank's own, and is tested without MPI: in ranks these stand for the others.
_THREADS_IN_RANKS = (
    *("pthread.mutex", "pthread.create", "pthread.barrier", "atomic.cas"),
    *("omp.parallel", "omp.barrier", "omp.for"),
)


# One-sided calls without MPI are the same in each engine: see test_direct.
_DIRECT = tuple(
    f"{library}.{call}" for library in ("shm", "ucx", "ofi") for call in ("put", "get", "fetch_add", "mt.")
)


def sound_ops(engine: Engine) -> dict[str, Op]:
    """All but kernels, ops of files, most of threads, and those that fail on purpose or by a known bug."""
    fails = {"self.fail", "mpi.spawn", "mpi.connect"}  # these hang on the launcher: see test_ops_mgmt
    if engine.mpi is not None and engine.mpi.version.startswith("4."):
        fails |= (BROKEN_IN_MPICH_4 if engine.mpi.family == "mpich" else BROKEN_IN_OPENMPI_4).keys()
    ops = {op.name: op for op in describe(engine).ops}
    elsewhere = ("omp.",) if engine.mpi is None else ("pthread.", "atomic.", "omp.", *_DIRECT)
    fails |= {name for name in ops if name.startswith(elsewhere)}.difference(_THREADS_IN_RANKS)
    ops = {name: op for name, op in ops.items() if not op.lasts and op.role != FILE}  # see test_files
    ops = {name: op for name, op in ops.items() if not op.first}  # each has a launch: see test_first_uses
    return {name: op for name, op in ops.items() if name.replace(".overlap", "") not in fails}

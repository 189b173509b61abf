"""Faults that are planted in this machine and its MPI are found and named by an acceptance."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from campaigns import run_plan, setup_of
from points import engine_of
from preloaded import build_preloaded
from steelyard.engines.mpi import choose_mpi
from steelyard.judges.accept import Acceptance, Topic, Weighed, accept
from steelyard.plan.plan import Measure, Plan
from steelyard.results.load import load
from steelyard.results.rows import rows_of

# A message of more bytes than the eager limit waits for an answer: here as long as one from far away takes.
_RENDEZVOUS = """
#include <mpi.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int MPI_Send(const void *s, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)
{
    int size = 0;
    PMPI_Type_size(t, &size);
    const double end = now() + 200e-6;
    while (n * size > 100 && now() < end) { }
    return PMPI_Send(s, n, t, to, tag, c);
}
"""
_SPIN = "import os; os.sched_setaffinity(0, {{{cpu}}})\nprint(flush=True)\nwhile True: pass"


@contextmanager
def neighbour(cpu: int) -> Iterator[None]:
    """Another process that takes what it can get of a CPU."""
    words = [sys.executable, "-c", _SPIN.format(cpu=cpu)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as spinning:
        try:
            assert spinning.stdout is not None
            spinning.stdout.readline()
            yield
        finally:
            spinning.kill()


def accepted(folder: Path) -> Acceptance:
    """What is said of a folder."""
    measured = load(folder)
    return accept(Weighed(measured, rows_of(measured)))


def topic(found: Acceptance, name: str) -> Topic:
    """What is said of a topic."""
    return next(one for one in found.topics if one.topic == name)


def test_a_core_with_a_neighbour_is_named(tmp_path: Path) -> None:
    """The neighbour has half of the core: fifty times what may be lost. Others may take more of a launch."""
    cpu = min(os.sched_getaffinity(0))
    measure = Measure(ops=("noise.fwq",), rule="fixed", params={"count": 100.0})
    with neighbour(cpu):
        run_plan(tmp_path / "out", Plan(measure=(measure,), launches=5), setup_of())
    found = topic(accepted(tmp_path / "out"), "noise")
    assert found.verdict == "not well"
    assert found.evidence.startswith(f"Core {cpu} loses ")


@pytest.mark.further
def test_a_wrong_eager_limit_is_found_and_named(tmp_path: Path) -> None:
    mpi = choose_mpi("openmpi")
    source = tmp_path / "rendezvous.c"
    source.write_text(_RENDEZVOUS)
    library = build_preloaded(engine_of(mpi), source, tmp_path)
    measure = Measure(
        ops=("mpi.pingpong",),
        bytes=(32, 64, 128),
        env={"OMPI_MCA_btl_vader_eager_limit": "100", "LD_PRELOAD": str(library)},
        rule="fixed",
        params={"count": 50.0},
    )
    run_plan(tmp_path / "out", Plan(measure=(measure,), launches=10, oversubscribe=True), setup_of(mpi))
    found = topic(accepted(tmp_path / "out"), "protocol")
    assert found.verdict == "not well"
    assert "128 B take " in found.evidence
    assert "as long as 2 messages of 64 B in mpi.pingpong" in found.evidence
    assert "OMPI_MCA_btl_vader_eager_limit=100" in found.evidence

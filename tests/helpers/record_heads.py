"""What stands before the samples of made-up records: the machine, the planned test cases, job and launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_stamps import COST_NS, TICK_NS
from steelyard.records.parts import Clock, JobMpi, LaunchMpi, Place
from steelyard.records.schema import Job, Launch

MACHINE: dict[str, Any] = {
    "host": "vm",
    "kernel": "6.1.0",
    "os": "Debian GNU/Linux 12 (bookworm)",
    "cpu_model": "AMD EPYC 7B13",
    "online": [0, 1],
    "cpus": [0, 1],
    "cores": [[0], [1]],
    "sockets": 1,
    "numa_nodes": 1,
    "caches": [
        {"level": 1, "type": "Data", "bytes": 32768, "instances": 2},
        {"level": 2, "type": "Unified", "bytes": 524288, "instances": 2},
        {"level": 3, "type": "Unified", "bytes": 33554432, "instances": 1},
    ],
    "memory_bytes": 8 * 2**30,
    "governor": None,
    "smt": "notsupported",
    "thp": "madvise",
    "hypervisor": "KVM",
    "load": [0.1, 0.2, 0.3],
    "cpu_quota": None,
}


def heads(
    name: str,
    launch: int,
    mpi: str | None,
    ranks: int,
    cpus: Callable[[int], str],
    hosts: Callable[[int], str],
    preset: str | None,
) -> tuple[Job, Launch]:
    """Make the first two records of a file: the job, and the launch on its hosts and CPUs."""
    family, _, version = (mpi or "").rpartition("-")
    job = Job(
        schema=1,
        job=name,
        launch=launch,
        ranks=ranks,
        mpi=JobMpi(name=mpi, family=family, version=version, mpiexec="/usr/bin/mpiexec") if mpi else None,
        engine="/opt/steelyard-mpi",
        command=("mpiexec", "-n", str(ranks)),
        preset=preset,
        cores=2,
    )
    start = Launch(
        schema=1,
        engine="mpi" if mpi else "solo",
        version="0.1.0",
        ranks=ranks,
        clock=Clock(name="monotonic", cost_ns=COST_NS, tick_ns=TICK_NS),
        places=tuple(
            Place(
                rank=rank,
                host=hosts(rank),
                cpus=cpus(rank),
                cpu=rank,
                clock_cost_ns=COST_NS,
                clock_tick_ns=TICK_NS,
            )
            for rank in range(ranks)
        ),
        build={"compiler": "gcc 12.2.0", "flags": "-O2"},
        mpi=LaunchMpi(library=f"{family} {version}", version="4.0", thread_level="single") if mpi else None,
        seed=42,
    )
    return job, start

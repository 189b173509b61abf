"""Jobs for batch systems that nobody submits."""

from __future__ import annotations

from pathlib import Path

import msgspec

from described import described
from few_ops import METHODS, MPI, RULES, SOLO
from steelyard.campaign.batch import BatchJob, BatchOptions, batch_job
from steelyard.campaign.jobs import CampaignSetup
from steelyard.engines.description import ops_of
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.system.machine import read_machine

OPS = ops_of(described(SOLO, METHODS, RULES), described(MPI, METHODS, RULES))


def fake_job(
    out: Path, command: tuple[str, ...] = ("true",), plan: Plan | None = None, **given: str
) -> BatchJob:
    """Make the job of a plan, or of a collective on two hosts; `given` are options of the batch system."""
    plan = plan or Plan(measure=(Measure(ops=("mpi.bcast",), hosts=2, ranks_per_host=1, bytes=8),))
    points = resolve(plan, OPS, ("mpich",), 4)
    machine = msgspec.structs.replace(read_machine(), cores=((0,), (1,), (2,), (3,)))
    setup = CampaignSetup({}, OPS, machine)
    return batch_job(plan, points, setup, 2, out, command, BatchOptions(**given), {"PATH": "/bin:$(id)'"})  # type: ignore[arg-type]

"""What stands for a campaign in tests of whole commands: records that are made up, or few that are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from made_plans import COUNTS
from make_records import BEGAN_NS, FakePoint, steady, write_job
from steelyard.base.files import make_folder
from steelyard.campaign.folder import finished
from steelyard.campaign.jobs import CampaignSetup, PlannedJob, plan_jobs
from steelyard.campaign.run import run_campaign
from steelyard.engines.build import Engine
from steelyard.plan.plan import Plan
from steelyard.records.campaign_file import WRAPPER, CampaignFile, PlannedPoint
from steelyard.records.parts import JobMpi

_DAY_NS = 86_400 * 10**9
_MOST_LAUNCHES = 3  # are made
_CORES = 2  # that are used where it is measured


class MadeCampaigns:
    """Stands for `run_campaign`: writes what engines would have recorded, a day later each time.

    Campaigns all of whose test cases are `is_measured` are, in one launch and a second.
    """

    def __init__(self, is_measured: Callable[[PlannedPoint, CampaignSetup], bool] = lambda *_: False) -> None:
        self._is_measured = is_measured
        self._began_ns = BEGAN_NS

    def __call__(
        self,
        folder: Path,
        plan: Plan,
        campaign: CampaignFile,
        setup: CampaignSetup,
        listener: Callable[[Any], None],
        **more: Any,
    ) -> None:
        if all(self._is_measured(point, setup) for point in campaign.points):
            plan = msgspec.structs.replace(plan, launches=1, time_budget="1s")
            run_campaign(folder, plan, campaign, setup, listener, **more)
            return
        self._began_ns += _DAY_NS
        make_folder(folder / "records")
        rng = np.random.default_rng(campaign.seed)
        for job in plan_jobs(campaign, min(plan.most_launches, _MOST_LAUNCHES), finished(folder)):
            path = _free(folder / "records" / f"{job.name}.jsonl")
            members = [(point.point, _made(point, setup)) for point in job.points]
            known = _known(setup.engines[job.group.mpi])
            write_job(path, rng, job.launch, members, hosts=_hosts(job), began_ns=self._began_ns, known=known)


def _free(path: Path) -> Path:
    """The file of a job, or of what continues it."""
    paths = [path, *(path.with_stem(f"{path.stem}.{number}") for number in range(2, 10))]
    return next(one for one in paths if not one.exists())


def _known(engine: Engine) -> dict[str, Any]:
    """What a job's record says of an engine and its MPI."""
    names = JobMpi.__struct_fields__
    mpi = engine.mpi and JobMpi(**{name: getattr(engine.mpi, name) for name in names})
    return {"engine": engine.path, "mpi": mpi}


def _hosts(job: PlannedJob) -> Callable[[int], str]:
    ranks, hosts = job.group.ranks, job.group.hosts or 1
    return lambda rank: f"n{rank * hosts // ranks + 1}" if hosts > 1 else "vm"


def _made(point: PlannedPoint, setup: CampaignSetup) -> FakePoint:
    """A test case that takes longer with more bytes."""
    op, is_message = setup.ops.all[point.op], point.method == "each"
    return FakePoint(
        point.op,
        steady(150.0 + point.bytes / 8, count=40),
        bytes=point.bytes,
        ranks=point.ranks,
        threads=point.threads,
        mpi=point.mpi,
        method=point.method,
        rule=point.rule,
        params=point.params,
        rule_params=point.rule_params,
        omp=point.omp,
        placement=point.placement,
        role=op.role,
        counts=COUNTS.get(point.op, ()),
        report="message" if is_message else "slowest",
        partners=tuple(rank ^ 1 for rank in range(point.ranks)) if is_message else None,
        clock_error=20.0 if point.method == "epoch" else None,
        low=50.0 if point.method == "bounds" else None,
    )


def is_small(point: PlannedPoint, setup: CampaignSetup) -> bool:
    """Has it a core for each rank and thread here, and no kernel, which lasts?"""
    cpus = () if point.placement is None else point.placement.cpus
    return (
        point.ranks * point.threads <= _CORES
        and point.hosts is None
        and not (point.placement and point.placement.hosts)
        and all(cpu < _CORES for cpu in cpus)
        and not setup.ops.all[point.op].lasts
        and WRAPPER not in point.env
    )

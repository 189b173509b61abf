"""What the tests of campaigns share: engines, small plans, a run with its events, what a run left."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from points import describe
from steelyard.base.errors import InputError
from steelyard.campaign.events import Event, PointEnded
from steelyard.campaign.folder import open_folder, topology_for
from steelyard.campaign.jobs import CampaignSetup
from steelyard.campaign.run import run_campaign
from steelyard.engines.build import Engine, mpi_engine, solo_engine
from steelyard.engines.description import ops_of
from steelyard.engines.mpi import Mpi
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.records.job_file import JobFile
from steelyard.system.machine import read_machine

Orphans = Callable[[], list[int]]


def bytes_of(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with what it holds, and every folder with None."""
    found = ((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*"))
    return {name: path.read_bytes() if path.is_file() else None for name, path in found}


def setup_of(*mpis: Mpi) -> CampaignSetup:
    """The engines; skips where there is none."""
    try:
        engines: dict[str | None, Engine] = {None: solo_engine()} | {
            mpi.name: mpi_engine(mpi) for mpi in mpis
        }
    except InputError as error:
        pytest.skip(str(error))
    solo, *others = (describe(engine) for engine in engines.values())
    return CampaignSetup(engines, ops_of(solo, others[0] if others else None), read_machine())


_AXES = ("bytes", "threads", "placement", "wrapper", "method")


def plan_of(*ops: str, **more: Any) -> Plan:
    """Two observations of each op, on two cores or none."""
    ranks, params = more.pop("ranks", 1), {"count": 2.0, **more.pop("params", {})}
    axes = {axis: more.pop(axis) for axis in _AXES if axis in more}
    measure = Measure(ops=ops, rule="fixed", ranks=ranks, params=params, **axes)
    usual: dict[str, Any] = {"launches": 1, "oversubscribe": True, "seed": 1}
    return Plan(measure=(measure,), **usual | more)


def run_plan(folder: Path, plan: Plan, setup: CampaignSetup) -> list[Event]:
    events: list[Event] = []
    mpis = [name for name in setup.engines if name is not None]
    topology = topology_for(folder, plan)
    points = resolve(plan, setup.ops, mpis, 2, topology)
    campaign = open_folder(folder, plan, points, setup.machine, topology)
    run_campaign(folder, plan, campaign, setup, events.append)
    return events


def ended(events: list[Event]) -> list[tuple[str, str]]:
    return [(e.plan.op, _status(e.file)) for e in events if isinstance(e, PointEnded)]


def _status(file: JobFile) -> str:
    (run,) = file.points
    return run.end.status if run.end else "unfinished"


def watch_orphans(monkeypatch: pytest.MonkeyPatch) -> Orphans:
    """Processes that a test has started and that still run, found by a mark in their environment."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(
        "STEELYARD_TEST_MARK", mark
    )  # /proc shows it of what is started from now on, not of us

    def find() -> list[int]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark.encode() in (process / "environ").read_bytes():
                    found.append(int(process.name))
        return found

    return find

"""Measured campaigns from samples, in memory: what rows are made of, without records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from steelyard.records.campaign_file import CampaignFile, PlannedPoint
from steelyard.records.parts import Clock, Place
from steelyard.records.schema import Job, Launch
from steelyard.results.load import Measured, PointLaunch, PointLaunches
from steelyard.results.values import Values

HOUR_NS = 3_600_000_000_000
BEGAN_NS = 1_795_000_000_000_000_000


def planted(
    samples: Sequence[ArrayLike],
    *,
    tick: float = 0.0,
    point: int = 0,
    began_ns: Sequence[int] = (),
    hosts: Sequence[str] = (),
    env: dict[str, str] | None = None,
    size: int = 8,
) -> PointLaunches:
    """A test case of which launch i has the values `samples[i]` in ns, began then, and was on that host.

    Without begins, launches begin a second apart.
    """
    began = began_ns or [BEGAN_NS + k * 1_000_000_000 for k in range(len(samples))]
    places = hosts or ["vm"] * len(samples)
    plan = PlannedPoint(point=point, op="mpi.bcast", bytes=size, ranks=2, mpi="mpich-4.0.2", env=env or {})
    cells = tuple(
        PointLaunch(
            launch=number,
            job=Job(schema=1, job=f"l{number:02}", launch=number, ranks=2),
            start=Launch(
                schema=1,
                engine="mpi",
                version="0.1.0",
                ranks=2,
                clock=Clock(name="monotonic", cost_ns=20, tick_ns=1),
                places=tuple(Place(rank=rank, host=host) for rank in range(2)),
                start_unix_ns=at,
            ),
            point=None,
            status="ok",
            why=None,
            flag="SETTLED",
            rejected=0,
            verified=True,
            taken=Values(ranks=2, values=np.asarray(values, dtype=np.float64), tick=tick),
            clock_error=None,
            clock_bound=None,
            by_closure=False,
        )
        for number, (values, at, host) in enumerate(zip(samples, began, places, strict=True), 1)
    )
    return PointLaunches(plan, cells)


def measured(points: Sequence[PointLaunches]) -> Measured:
    """A results folder of test cases."""
    campaign = CampaignFile(points=tuple(point.plan for point in points))
    return Measured(Path("planted"), campaign, (), tuple(points))

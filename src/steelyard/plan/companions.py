"""Test cases that others need beside them: the same work alone, and what is left without what is measured."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.engines.description import Op, Ops
from steelyard.records.campaign_file import PlannedPoint
from steelyard.records.kinds import WORK

_WORK_PARAMS = ("work_us", "skew_us")  # the amount of work in an op


def axes_of(point: PlannedPoint) -> tuple[Any, ...]:
    """Key of all that distinguishes a point."""
    params = (point.params, point.method_params, point.rule_params, point.omp, point.env)
    words = [tuple(sorted(values.items())) if values else () for values in params]
    axes = (point.op, point.bytes, point.ranks, point.threads, point.thread_level, point.method, point.rule)
    return (*axes, point.hosts, point.mpi, point.placement, point.arm, *words)


def with_work(points: dict[tuple[Any, ...], PlannedPoint], ops: Ops) -> dict[tuple[Any, ...], PlannedPoint]:
    """Add, for each amount of work in an op, a point with the same work alone, which overlap needs."""
    planned = dict(points)
    work = next((op for op in ops.all.values() if op.role == WORK), None)
    others = [point for point in points.values() if ops.all[point.op].role != WORK]
    for point in others if work is not None else ():
        for amount in {point.params.get(name, 0.0) for name in _WORK_PARAMS}:
            if work is None or not isinstance(amount, float | int) or amount <= 0:
                continue
            wanted = msgspec.structs.replace(
                point,
                point=len(planned),
                op=work.name,
                bytes=0,
                threads=point.threads if work.max_threads == 0 else min(point.threads, work.max_threads),
                method=work.default_method,
                params={"work_us": amount},
                method_params={},
            )
            planned.setdefault(axes_of(wanted), wanted)
    return planned


def with_references(points: dict[tuple[Any, ...], PlannedPoint], ops: Ops) -> tuple[PlannedPoint, ...]:
    """Add the references of ops that have one: the same axes, and the parameters that both have."""
    planned = dict(points)
    for key, point in points.items():
        name = ops.all[point.op].reference
        if name is None or 0 < ops.all[name].max_threads < point.threads:
            continue
        wanted = _reference(point, ops.all[point.op], ops.all[name], len(planned))
        found = planned.setdefault(axes_of(wanted), wanted)
        planned[key] = msgspec.structs.replace(point, reference=found.point)
    return tuple(planned.values())


def _reference(point: PlannedPoint, op: Op, reference: Op, number: int) -> PlannedPoint:
    """Make the reference of a point; its parameters are given only if they are not the defaults."""
    usual = {row.name: row.default for row in reference.params}
    given = {row.name: point.params.get(row.name, row.default) for row in op.params}
    params = {key: value for key, value in given.items() if key in usual and value != usual[key]}
    size = point.bytes if reference.sized else 0
    return msgspec.structs.replace(point, point=number, op=reference.name, bytes=size, params=params)

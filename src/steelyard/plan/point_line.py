"""A point as the engine reads it."""

from __future__ import annotations

from steelyard.engines.description import Ops
from steelyard.records.campaign_file import PlannedPoint


def point_line(point: PlannedPoint, ops: Ops, most_seconds: float | None) -> str:
    """Write a point for the engine, `point=3 op=mpi.bcast bytes=8 ...`.

    It measures for `most_seconds`, None: as long as its rule says.
    """
    words: dict[str, object] = {"point": point.point, "op": point.op}
    if ops.all[point.op].sized:
        words["bytes"] = point.bytes
    words |= {"threads": point.threads, "method": point.method, "rule": point.rule}
    usual = {row.name: row.default for row in ops.rules[point.rule].params}
    if most_seconds is not None and "most_seconds" in usual:  # the point's own, below, comes later and wins
        words["most_seconds"] = f"{most_seconds:.6g}"
        if most_seconds < float(usual.get("least_seconds", 0.0)):  # which outweighs it
            words["least_seconds"] = words["most_seconds"]
    params = {**point.params, **point.method_params, **point.rule_params}
    words |= {key: value if isinstance(value, str) else repr(float(value)) for key, value in params.items()}
    return " ".join(f"{key}={value}" for key, value in words.items())

"""Which ops of a plan have files: those of measures to which folders are given."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from steelyard.base.errors import InputError
from steelyard.engines.description import Ops
from steelyard.plan.plan import Measure, Plan
from steelyard.records.campaign_file import FILES, PlannedPoint
from steelyard.records.kinds import FILE


def _no_files(name: str) -> str:
    return f"{name} has no files; leave files out: they are for file.* and mpi.io.*"


def without_unasked(plan: Plan) -> Plan:
    """Leave out the measures that are meant only where folders for files are given.

    Raises InputError if there are no others.
    """
    kept = tuple(measure for measure in plan.measure if measure.files or not measure.if_files)
    if not kept:
        raise InputError(
            f"all measures of the plan {plan.name} need a folder for their files; give one, as --files /tmp"
        )
    return msgspec.structs.replace(plan, measure=kept)


def ops_with_files(measure: Measure, selected: Sequence[str], ops: Ops, *, is_alone: bool) -> tuple[str, ...]:
    """Leave out the ops of files of a measure without a folder for them.

    Raises InputError if it has no others, or if it has a folder and no ops of files, and no other measure
    that the folder may be meant for.
    """
    others = tuple(name for name in selected if ops.all[name].role != FILE)
    if measure.files:
        if is_alone and len(others) == len(selected):
            raise InputError(_no_files(selected[0]))
        return tuple(selected)
    if not others:
        raise InputError(f"{selected[0]} needs a folder for its files; give one, as --files /tmp")
    return others


def check_used(plan: Plan, points: Collection[PlannedPoint]) -> None:
    """Raise InputError for folders that no test case of a plan uses."""
    if any(measure.files for measure in plan.measure) and all(FILES not in point.env for point in points):
        raise InputError(_no_files(plan.measure[0].ops[0]))

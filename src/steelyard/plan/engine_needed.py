"""The engines that a plan needs, and whether it has the clock that the plan asks for."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping

from steelyard.base.engine_kinds import SHMEM
from steelyard.base.errors import InputError
from steelyard.engines.description import Description, Op, by_name
from steelyard.plan.own_ops import is_meant
from steelyard.plan.own_words import parts_of
from steelyard.plan.plan import Measure, Plan, nearest
from steelyard.plan.teams import hosts_of, is_one
from steelyard.records.kinds import FILE


def needs_mpi(plan: Plan, solo: Description, cores: int = 2) -> bool:
    """Does any measure of the plan need an MPI: an op that the solo engine lacks, or several ranks?

    `cores`: how many this process may use; a collective has a rank on each, unless the plan says otherwise.
    """
    known = by_name(solo.ops)
    return any(
        measure.engine != "solo" and _measure_needs_mpi(measure, known, cores) for measure in plan.measure
    )


def needs_shmem(plan: Plan) -> bool:
    """Does any measure of the plan need an OpenSHMEM: an op of it, or a pattern that begins as one?"""
    return any(measure.engine == SHMEM or any(map(_is_of_shmem, measure.ops)) for measure in plan.measure)


def _is_of_shmem(pattern: str) -> bool:
    return pattern.startswith(f"{SHMEM}.")


def _measure_needs_mpi(measure: Measure, known: Mapping[str, Op], cores: int) -> bool:
    """Does the measure need an MPI? `known`: the ops of the solo engine by name."""
    if measure.engine == SHMEM:  # an op of MPI is refused by name, so it must be known
        return any(pattern.startswith("mpi.") for pattern in measure.ops)
    if measure.engine is None and all(map(_is_of_shmem, measure.ops)):
        return False
    if measure.engine == "mpi" or any(_is_unknown(pattern, known) for pattern in measure.ops):
        return True
    if max(hosts_of(measure) or (1,)) > 1:
        return True
    chosen = {name for pattern in measure.ops for name in known if _means(pattern, known[name])}
    ranks = measure.ranks_per_host if measure.ranks is None else measure.ranks  # of one host
    if ranks is None:
        return cores > 1 and any(_meets(known[name]) for name in chosen)
    if is_one(ranks):
        return False
    return any(known[name].class_ != "p2p" and known[name].role != FILE for name in chosen)


def _meets(op: Op) -> bool:
    """Do its ranks need an MPI to meet? Those that share files do not."""
    return op.class_ == "collective" and op.role != FILE


def _means(pattern: str, op: Op) -> bool:
    if parts_of(pattern) is not None:
        return is_meant(op, pattern)
    return fnmatch.fnmatchcase(op.name, pattern)


def _is_unknown(pattern: str, known: Mapping[str, Op]) -> bool:
    """Is a pattern of ops that the solo engine has not, nor any of their family?"""
    if parts_of(pattern) is not None:
        return not any(is_meant(op, pattern) for op in known.values())
    families = {name.partition(".")[0] for name in known}
    return pattern not in known and not _is_of_shmem(pattern) and pattern.partition(".")[0] not in families


def clock_lacks(plan: Plan, description: Description) -> str | None:
    """Explain in one sentence why an engine cannot use the clock of a plan; None if it can.

    Raises InputError for an unknown name.
    """
    clocks = by_name(description.clocks)
    usable = ", ".join(name for name, clock in clocks.items() if clock.available)
    if plan.clock is not None and plan.clock not in clocks:
        others = ", ".join(name for name, clock in clocks.items() if not clock.available)
        raise InputError(
            f"there is no clock '{plan.clock}'{nearest(plan.clock, clocks) or ';'} give one of {usable}"
            + (f", or {others} where an engine can use it" if others else "")
        )
    if plan.clock is None or clocks[plan.clock].available:
        return None
    return f"the clock {plan.clock} cannot be used here: {clocks[plan.clock].why_not}; give one of {usable}"

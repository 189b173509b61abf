"""Arms: a plan that is measured under several values of one factor, as neighbours, to be compared."""

from __future__ import annotations

import re

from msgspec.structs import replace

from steelyard.base.engine_kinds import engine_kind
from steelyard.base.errors import InputError
from steelyard.base.factors import FACTORS
from steelyard.base.units import parse_value
from steelyard.plan.plan import Measure, Plan, Value
from steelyard.records.campaign_file import AROUND, PlannedPoint

USUAL = "-"  # of an arm: the default engine, or no such variable
_LIBRARIES = {"mpi": "MPIs", "shmem": "OpenSHMEM libraries"}


_FACTOR = re.compile(
    r"[,;]\s*(?=(?:mpi|shmem|engine|placement|modules|wrapper|files|(?:param|omp|env)\.\w+)=)"
)


def each_factor(word: str) -> tuple[str, ...]:
    """Split `env.A=1,2,env.B=1,2` into the words of one factor each; a variable with one value is set in one
    arm, and not in the other.
    """
    parts = [part.strip() for part in _FACTOR.split(word)]
    if len(parts) < 2:
        return (word,)
    names_and_values = [part.partition("=") for part in parts]
    return tuple(
        f"{factor}={USUAL},{values}" if factor.startswith("env.") and "," not in values else part
        for part, (factor, _, values) in zip(parts, names_and_values, strict=True)
    )


def read_arms(word: str) -> dict[str, tuple[Value, ...]]:
    """Read the arms that `FACTOR=A,B` names. Raises InputError."""
    if len(each := each_factor(word)) > 1:
        raise InputError(
            f"--arms compares the values of 1 factor, not of {len(each)}; measure one after the other: "
            f"{', '.join(each)}"
        )
    factor, equals, text = word.partition("=")
    # CPUs of a placement and words of a command have commas: semicolons separate their arms
    values = [value.strip() for value in text.split(";" if factor in ("placement", "wrapper") else ",")]
    if not equals or not factor or not all(values):
        raise InputError(f"--arms {word} is not of the form FACTOR=A,B, as in --arms mpi=openmpi,embedded")
    return {factor: tuple(parse_value(value) if factor.startswith("param.") else value for value in values)}


def factor_of(plan: Plan) -> str | None:
    """Return the factor of a plan's arms, None if it has none."""
    return next(iter(plan.arms), None)


def with_arms(plan: Plan) -> Plan:
    """Turn the arms of a plan into axes. Raises InputError for an unknown factor, or one given twice."""
    if not plan.arms:
        return plan
    if len(plan.arms) > 1:
        raise InputError(f"'arms' has one factor, not {' and '.join(plan.arms)}; measure one after the other")
    ((factor, values),) = plan.arms.items()
    words = tuple(dict.fromkeys(str(value) for value in values))
    if len(words) < 2:
        raise InputError(f"'arms' has one value, {factor}={','.join(words)}; give two values or more")
    if factor in _LIBRARIES:
        if getattr(plan, factor):
            raise InputError(f"'arms' names the {_LIBRARIES[factor]}; leave --{factor} out")
        return replace(plan, **{factor: words})
    if factor == "engine" and len(plan.mpi) > 1:
        raise InputError("'arms' names engines for one MPI; give one with --mpi")
    return replace(
        plan, measure=tuple(_with_arm(measure, factor, tuple(values), words) for measure in plan.measure)
    )


def _with_arm(measure: Measure, factor: str, values: tuple[Value, ...], words: tuple[str, ...]) -> Measure:
    kind, _, name = factor.partition(".")
    if factor == "engine":
        if measure.engine is not None:
            raise InputError("'arms' names the engines; leave the engine out")
        return replace(measure, engine="mpi")
    if factor == "placement":
        if measure.placement is not None:
            raise InputError("'arms' names the placements; leave the placement out")
        return replace(measure, placement=words)
    if factor in AROUND:
        if getattr(measure, factor):
            raise InputError(f"'arms' names the {factor}; leave {factor} out")
        try:
            return replace(measure, **{factor: words})
        except ValueError as error:
            raise InputError(f"'arms' cannot be used: {error}") from None
    if not name or kind not in ("param", "omp", "env"):
        raise InputError(f"'arms' has no factor '{factor}'; give {FACTORS}")
    key = {"param": "params"}.get(kind, kind)
    known = getattr(measure, key)
    if name in known:
        raise InputError(f"'arms' names {factor}; leave it out of the plan")
    try:
        return replace(measure, **{key: {**known, name: values if kind == "param" else words}})
    except ValueError as error:
        raise InputError(f"'arms' cannot be used: {error}") from None


def arm_of(point: PlannedPoint, factor: str | None) -> str | None:
    """Find the arm of a test case; None if the factor does not apply, as an MPI to local ops."""
    if factor is None:
        return None
    if factor in _LIBRARIES:
        return point.mpi if engine_kind(point.mpi) == factor else None
    if factor == "engine":
        return point.mpi  # an engine of the user is an MPI of its own
    if factor == "placement":
        return point.placement.text if point.placement else "default"
    if factor in AROUND:
        return point.env.get(AROUND[factor])
    kind, _, name = factor.partition(".")
    if kind == "param":
        found = {**point.params, **point.method_params, **point.rule_params}.get(name)
    else:
        found = (point.omp if kind == "omp" else point.env).get(name)
    return None if found is None else str(found)

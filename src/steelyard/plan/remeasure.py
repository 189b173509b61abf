"""A plan that measures some test cases of a campaign again, by turns with something else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from steelyard.base.engine_kinds import MPI, SHMEM, engine_kind
from steelyard.base.errors import InputError
from steelyard.base.secret import MASK
from steelyard.plan.plan import Measure, Plan, Value
from steelyard.plan.settings import words_of
from steelyard.records.campaign_file import AROUND, CampaignFile, PlannedPoint


def plan_again(
    campaign: CampaignFile,
    points: Sequence[PlannedPoint],
    arms: Mapping[str, tuple[Value, ...]],
    launches: int,
) -> Plan:
    """Plan those points of a campaign with `arms`, as neighbours. Raises InputError if it holds no plan."""
    plan = plan_of(campaign)
    factor = next(iter(arms))
    return replace(
        plan,
        name="confirm",
        summary="",
        measure=tuple(_measure(point, campaign, factor) for point in points),
        launches=launches,
        **{kind: () if factor == kind else _libraries(points, kind) for kind in (MPI, SHMEM)},
        arms=arms,
        precision=None,
        detect=None,
        time_budget=None,
        seed=None,
    )


def _libraries(points: Sequence[PlannedPoint], kind: str) -> tuple[str, ...]:
    return tuple({point.mpi for point in points if point.mpi and engine_kind(point.mpi) == kind})


def plan_of(campaign: CampaignFile) -> Plan:
    """Return the plan of a campaign, with the seed that it drew. Raises InputError if it holds none."""
    try:
        plan = msgspec.convert(campaign.plan, Plan)
    except msgspec.ValidationError as error:
        raise InputError(
            f"the campaign '{campaign.name}' holds no plan ({error}), so nothing can be measured again"
        ) from None
    if isinstance(plan.arrivals, str):  # a plan's file may name one beside it; a campaign has what was in it
        raise InputError(
            f"the campaign '{campaign.name}' names a file of arrivals and does not hold them, so nothing can "
            "be measured again"
        )
    return replace(plan, seed=campaign.seed)


def with_secrets(plan: Plan, environ: Mapping[str, str] = os.environ) -> Plan:
    """Take what the plan of a folder masks from our environment. Raises InputError for what is not there."""
    arms = {
        factor: tuple(
            _known(factor.removeprefix("env."), value, environ) if isinstance(value, str) else value
            for value in values
        )
        for factor, values in plan.arms.items()
    }
    return replace(
        plan, measure=tuple(_measure_with_secrets(measure, environ) for measure in plan.measure), arms=arms
    )


def _measure_with_secrets(measure: Measure, environ: Mapping[str, str]) -> Measure:
    for words in words_of(measure.wrapper):
        _known("wrapper", words, {})
    env = {
        name: tuple(_known(name, value, environ) for value in words_of(values))
        for name, values in measure.env.items()
    }
    return replace(measure, env={name: one[0] if len(one) == 1 else one for name, one in env.items()})


def _known(name: str, value: str, environ: Mapping[str, str]) -> str:
    if MASK not in value:
        return value
    if value == MASK and name in environ:
        return environ[name]
    remedy = f"set {name} in the environment" if value == MASK else "give the command of the run again"
    raise InputError(f"results do not keep secrets, such as that in {name}; {remedy}")


def _measure(point: PlannedPoint, campaign: CampaignFile, factor: str) -> Measure:
    planned = campaign.ops.get(point.op)
    sized = point.bytes > 0 or (planned is not None and planned.sized)  # older folders do not have it
    place = point.placement
    kind, _, name = factor.partition(".")
    around = {key: point.env[word] for key, word in AROUND.items() if word in point.env and key != factor}
    return Measure(
        ops=(planned.word(point.op) if planned else point.op,),
        bytes=(point.bytes,) if sized else None,
        ranks=(point.ranks,),
        hosts=None if point.hosts is None or (place is not None and place.hosts) else (point.hosts,),
        threads=(point.threads,),
        thread_level=point.thread_level,
        method=point.method or None,
        rule=point.rule or None,
        placement=None if place is None else place.words,
        engine=None if factor == "engine" else engine_kind(point.mpi),
        params={**point.params, **point.method_params, **point.rule_params},
        omp=point.omp,
        env={
            key: value
            for key, value in point.env.items()
            if (kind != "env" or key != name) and key not in AROUND.values()
        },
        modules=around.get("modules", ()),
        wrapper=around.get("wrapper", ()),
        files=around.get("files", ()),
    )

"""Check that records agree with each other, once, as they are read, so that no later code has to.

The types of fields limit their values (`schema`). The relations between fields and records are checked here:
a value for each rank, indices that exist, instants in order, the same point in each launch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from steelyard.base.printable import longest_text
from steelyard.records.campaign_file import PlannedPoint
from steelyard.records.fields import MOST_LETTERS
from steelyard.records.job_file import PointRun
from steelyard.records.reduced import RanksTold, Reduced
from steelyard.records.schema import (
    Close,
    End,
    Job,
    Lanes,
    Launch,
    Obs,
    Phases,
    Point,
    Record,
    State,
    Sync,
    Watch,
)

# For each kind of record the fields with an item for each rank, always or if they hold anything.
_ALWAYS_BY_RANK: dict[type, tuple[str, ...]] = {
    Obs: ("start_ns", "stop_ns"),
    Lanes: ("start_ns", "stop_ns"),
    Sync: ("at_ns", "offset_ns", "drift_ppm", "error_ns", "bound_ns"),
    State: ("at_ns", "cpus"),
}
_BY_RANK: dict[type, tuple[str, ...]] = {
    Obs: ("yields", "cpu", "noise", "spun_ns", "spun_lost_ns", "spun_longest_ns"),
    Phases: ("messages", "bytes", "collectives", "collective_bytes", "memory", "resident"),
    Point: ("partners",),
    Sync: ("true_ns",),
    State: (
        "cpu", "migrations", "voluntary", "involuntary", "own_ns", "busy_ns", "steal_ns", "khz", "throttles",
        "quota_stops", "step_ps", "lanes", "lanes_meant",
    ),
}  # fmt: skip
# The same by kind of record: fields, and whether each may be empty.
_ITEMS = {
    kind: tuple(
        (name, may_be_empty)
        for names, may_be_empty in ((_ALWAYS_BY_RANK, False), (_BY_RANK, True))
        for name in names.get(kind, ())
    )
    for kind in (_ALWAYS_BY_RANK.keys() | _BY_RANK.keys())
}


def contradiction(record: Record, job: Job | None, launch: Launch | None, point: Point | None) -> str | None:
    """Find a contradiction inside a record, or with those before it; None if there is none.

    `point` is the one that the record is about, as it began.
    """
    ranks = point.ranks if point is not None else launch.ranks if launch is not None else None
    if ranks is None and job is not None:
        ranks = job.ranks
    items = len(record.ranks) if isinstance(record, State) and record.ranks else ranks
    if items is not None and (found := _lengths(record, items)):
        return found
    return next((found for found in _CHECKS.get(type(record), _nothing)(record, ranks or 0) if found), None)


def _lengths(record: Record, ranks: int) -> str | None:
    for name, may_be_empty in _ITEMS.get(type(record), ()):
        items: Sequence[Any] = getattr(record, name) or ()
        if len(items) != ranks and (items or not may_be_empty):
            return f"{name} has {len(items)} items for {ranks} ranks"
    return None


def _nothing(_record: Any, _ranks: int) -> Iterator[str | None]:
    return iter(())


def _of_job(job: Job, _ranks: int) -> Iterator[str | None]:
    yield _unless(job.ranks > 0 and job.launch > 0, "it has no rank or no launch")
    yield _unless(longest_text(job.settings) <= MOST_LETTERS, "a text of its settings is too long")
    yield _unless(job.placement is None or bool(job.placement.strip()), "its placement is blank")


def _of_launch(launch: Launch, _ranks: int) -> Iterator[str | None]:
    yield _unless(launch.ranks > 0, "it has no rank")
    yield _unless(longest_text(launch.build) <= MOST_LETTERS, "a text of its build is too long")
    seen = [place.rank for place in launch.places]
    yield _unless(len(set(seen)) == len(seen), "a rank has two places")
    yield _within("places", seen, launch.ranks)


def _of_point(point: Point, ranks: int) -> Iterator[str | None]:
    yield _unless(point.ranks > 0, "it has no rank")
    if point.partners is not None:
        yield _within("partners", [partner for partner in point.partners if partner != -1], ranks)
    if point.path is not None:
        yield _within("path", (point.path.late, point.path.observer), ranks)
    if point.report == "message":
        pairs = point.partners or (1, 0)
        yield _unless(ranks >= 2 and any(other >= 0 for other in pairs), "no rank has a partner")
    if point.rule == "quantile":
        share = point.rule_params.get("q")
        yield _unless(isinstance(share, int | float) and 0 < share < 1, "q is no share")


def _of_obs(obs: Obs, ranks: int) -> Iterator[str | None]:
    yield _within("low", obs.low, obs.count)
    yield _within("late", obs.late, obs.count)
    yield _unless((obs.sync_before is None) == (obs.sync_after is None), "one synchronisation is missing")
    yield _unless(obs.target_ns is None or len(obs.target_ns) == obs.count, "a target is missing")
    spun = {len(obs.spun_ns), len(obs.spun_lost_ns), len(obs.spun_longest_ns)}
    yield _unless(len(spun) == 1, "a rank's waits are not told in full")
    for name, rows in obs.counts.items():
        yield _unless(len(rows) == ranks, f"counts of {name} are missing")


def _of_reduced(reduced: Reduced, ranks: int) -> Iterator[str | None]:
    for name in (
        "start_ns",
        "stop_ns",
        "took_ns",
        "cost_ns",
        "slowest",
        "skew_ns",
        "imbalance_ns",
        "target_ns",
    ):
        items = getattr(reduced, name)
        yield _unless(
            items is None or len(items) == reduced.count, f"{name} is not of {reduced.count} samples"
        )
    yield _within("low", reduced.low, reduced.count)
    yield _within("late", reduced.late, reduced.count)
    yield _within("slowest", reduced.slowest, ranks)
    synchronised = [one is not None for one in (reduced.sync_before, reduced.sync_after, reduced.skew_ns)]
    yield _unless(all(synchronised) or not any(synchronised), "one synchronisation, or the skew, is missing")
    if (kept := reduced.kept) is not None:
        yield _within("kept", (kept.sample,), reduced.count)
        yield _within("kept", kept.ranks, ranks)
        sides = (len(kept.start_ns), len(kept.stop_ns))
        yield _unless(sides == (len(kept.ranks),) * 2, "a kept rank has no timestamp")


def _of_told(ranks_told: RanksTold, ranks: int) -> Iterator[str | None]:
    yield _within("kept", ranks_told.kept, ranks)
    lengths = {len(ranks_told.kept), len(ranks_told.medians_ns), len(ranks_told.means_ns)}
    yield _unless(len(lengths) == 1, "a kept rank has no median or no mean")
    yield _unless(sum(count for _, count in ranks_told.sketch) == ranks, f"sketch is not of {ranks} ranks")
    yield _unless(ranks_told.sketch_width > 1, "sketch_width is no width")


def _of_phases(phases: Phases, ranks: int) -> Iterator[str | None]:
    yield _unless(phases.count > 0, "it is about no sample")
    yield _within("kept", phases.kept, ranks)
    yield _unless(phases.ranks in (0, ranks), f"it is of {phases.ranks} ranks, not of {ranks}")
    given = len(phases.kept) or ranks
    for phase in phases.phases:
        lengths = {len(phase.ns), len(phase.calls)}
        yield _unless(lengths == {given}, f"the phase {phase.name} is not of {given} ranks")


def _of_lanes(lanes: Lanes, _ranks: int) -> Iterator[str | None]:
    pairs = [
        pair
        for rows in zip(lanes.start_ns, lanes.stop_ns, strict=True)
        for pair in zip_longest(*rows, fillvalue=-1)
    ]
    yield _unless(all(0 <= start <= stop for start, stop in pairs), "a thread is done before it begins")


def _of_state(state: State, ranks: int) -> Iterator[str | None]:
    yield _within("ranks", state.ranks, ranks)
    of_hosts = [host.rank for host in state.interfaces]
    with_state = state.ranks or range(ranks)
    yield _unless(all(rank in with_state for rank in of_hosts), "interfaces are of a rank without a state")
    yield _unless(len(state.ports) in (0, len(with_state)), "ports are not those of its ranks")
    shapes = [[len(threads) for threads in lanes] for lanes in (state.lanes, state.lanes_meant)]
    yield _unless(shapes[0] == shapes[1], "lanes and lanes_meant are not of the same threads")


def _of_watch(watch: Watch, _ranks: int) -> Iterator[str | None]:
    for busy in watch.processes:
        yield _unless(busy.seconds > 0, f"process {busy.pid} took CPU time in no time")


def _of_close(close: Close, ranks: int) -> Iterator[str | None]:
    yield _within("rank", (close.rank,), ranks)


_CHECKS: dict[type, Callable[[Any, int], Iterator[str | None]]] = {
    Job: _of_job,
    Launch: _of_launch,
    Point: _of_point,
    Obs: _of_obs,
    Reduced: _of_reduced,
    RanksTold: _of_told,
    Phases: _of_phases,
    Lanes: _of_lanes,
    State: _of_state,
    Watch: _of_watch,
    Close: _of_close,
}


def _unless(holds: bool, otherwise: str) -> str | None:
    return None if holds else otherwise


def _within(name: str, indices: Iterable[int], size: int) -> str | None:
    outside = [index for index in indices if not 0 <= index < size]
    return f"{name} names {outside[0]} of {size}" if outside else None


_OF_TRUE_TIME = "truth"  # the method whose samples are in the simulator's time, not on rank 0's clock


def end_contradiction(run: PointRun, end: End) -> str | None:
    """Find a contradiction in a point that ended well: other phases, or samples after its end."""
    point = run.point
    if point is None:
        return None
    kinds: tuple[tuple[str, set[Any]], ...] = (
        ("phases", {tuple(phase.name for phase in chunk.phases) for chunk in run.phases}),
        ("counts", {tuple(chunk.counts) for chunk in run.obs}),
        ("ranks", {len(chunk.start_ns) for chunk in run.obs}),
    )
    if changing := [name for name, seen in kinds if len(seen) > 1]:
        return f"the {changing[0]} of point {point.point} are not those of its first samples"
    for chunks in (run.obs, run.reduced):
        if chunks and (found := _gap(chunks, end.count)):
            return found
    if end.stop_ns > point.start_ns and run.chunks and point.method != _OF_TRUE_TIME:
        of_rank_0 = [chunk.stop_ns[0] for chunk in run.obs] or [chunk.stop_ns for chunk in run.reduced]
        last = max(map(_latest, of_rank_0))
        if last > end.stop_ns:
            return f"samples of point {point.point} end after it"
    return None


def _gap(chunks: Sequence[Obs | Reduced], count: int) -> str | None:
    """Find samples that are missing or doubled: chunks follow each other, up to the `count` that the end of
    their point says (0: nothing).
    """
    there = 0
    for chunk in chunks:
        if chunk.first > there:
            return f"samples {there} to {chunk.first - 1} are missing"
        if chunk.first < there:
            return f"samples from {chunk.first} on are there twice"
        there += chunk.count
    return f"{there} samples are there, and {count} were written" if count not in (0, there) else None


def _latest(stamps: Sequence[int]) -> int:
    """Find the greatest of timestamps, 0 of none; arrays are faster than Python lists here."""
    if isinstance(stamps, memoryview):
        import numpy as np

        return int(np.asarray(stamps).max()) if len(stamps) else 0  # a clock may be below zero
    return max(stamps, default=0)


def kind_of_point(point: Point, phases: Sequence[Phases]) -> tuple[object, ...]:
    """List what is the same for a point in all its launches."""
    names = {tuple((phase.name, phase.communicates) for phase in chunk.phases) for chunk in phases}
    return (
        point.op,
        point.bytes,
        point.ranks,
        point.threads,
        point.method,
        point.rule,
        point.report,
        point.parts,
        tuple(sorted(point.params.items())),
        *sorted(names),
    )


def plan_contradiction(point: Point, plan: PlannedPoint) -> str | None:
    """Find what is another in the record of a point than in campaign.json."""
    for name in ("op", "bytes", "ranks", "threads"):
        told, asked = getattr(point, name), getattr(plan, name)
        if told != asked:
            return f"has {name} {told}, and campaign.json {asked}"
    return None

"""Writes results folders from given distributions: what an engine would have recorded of such times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from made_stamps import TICK_NS, stamps
from record_heads import MACHINE, heads
from steelyard.records.campaign_file import Placement
from steelyard.records.fields import Params
from steelyard.records.kernel_answer import KernelAnswer
from steelyard.records.parts import WatchedPath
from steelyard.records.schema import End, Obs, Point, Record, Sync
from steelyard.records.sealing import sealed

CHUNK = 500
REPS = 100  # operations of a sample
BEGAN_NS = 1_795_000_000_000_000_000

# (generator, values of a chunk) -> canary in ns, share of time lost by each rank: a look after that chunk
Look = Callable[[np.random.Generator, NDArray[np.float64]], tuple[float | None, tuple[float, ...]]]
Series = Callable[[np.random.Generator, int], NDArray[np.float64]]  # (generator, launch) -> ns per operation


@dataclass(frozen=True, slots=True)
class FakePoint:
    """A point and the times it takes. `ends` maps a launch to an end record that is not `ok`.

    `pace` is what each rank takes relative to the values; without it the last rank takes them, the others a
    tenth less. With `clock_error` ns the method is synchronised. Rank r starts `skew` r ns late. `windows`
    are the widths of the windows, chunk by chunk. `low` is what a call of the lower bound takes, of bounds.
    `partners` are whom each rank exchanges messages with; `pace` is then the same for both of a pair.
    `counts` names what the op counts: a few in each observation. `answers` maps a launch to what it answered.
    `paces` draws the pace anew in each launch.
    `params` are those that the plan sets, `usual` all others, which the engine alone knows. `at_ns` is when
    its first sample began, since its launch did; chunks follow each other by as much.
    """

    op: str
    values: Series
    bytes: int = 8
    ranks: int = 2
    mpi: str | None = "mpich-4.0.2"
    reps: int = REPS
    parts: int = 1
    report: Literal["root", "slowest", "message"] = "slowest"
    method: str = "batch"
    pace: tuple[float, ...] = ()
    paces: Callable[[np.random.Generator], tuple[float, ...]] | None = None
    clock_error: float | None = None
    skew: float = 0.0
    windows: tuple[int, ...] = ()
    path: WatchedPath | None = None
    partners: tuple[int, ...] | None = None
    low: float | None = None
    flag: Literal["SETTLED", "UNSETTLED", "TIME"] = "SETTLED"
    yields_per_op: float = 0.0
    counts: tuple[str, ...] = ()
    look: Look | None = None
    rule: str = "median"
    rule_params: Params = field(default_factory=dict)
    params: Params = field(default_factory=dict)
    usual: Params = field(default_factory=dict)
    role: str | None = None
    work: float = 0.0
    threads: int = 1
    omp: dict[str, str] = field(default_factory=dict)
    rejected: int = 0
    placement: Placement | None = None
    ends: dict[int, End] = field(default_factory=dict)
    at_ns: int = 0
    answers: dict[int, KernelAnswer] = field(default_factory=dict)


def steady(median: float, spread: float = 0.05, count: int = 2000, between: float = 0.02) -> Series:
    """Lognormal times around a launch median that itself varies by `between`."""

    def draw(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        centre = median * np.exp(between * rng.standard_normal())
        return np.asarray(centre * np.exp(spread * rng.standard_normal(count)))

    return draw


def regimes(fast: float, slow: float, dwell: int = 330, count: int = 2000) -> Series:
    """Two regimes that take turns every `dwell` observations, each 4 % wide."""

    def draw(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        phase = ((np.arange(count) + rng.integers(2 * dwell)) // dwell) % 2
        return np.asarray(np.where(phase == 0, fast, slow) * np.exp(0.04 * rng.standard_normal(count)))

    return draw


def either(fast: float, slow: float) -> Series:
    """Each launch in one of two regimes, three in five in the fast one, 4 % wide."""

    def draw(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        centre = fast if launch % 5 in (0, 1, 3) else slow
        return np.asarray(centre * np.exp(0.04 * rng.standard_normal(2000)))

    return draw


def listed(record: Obs) -> Obs:
    """A chunk that was read, with lists of timestamps, which can be written again."""
    return msgspec.structs.replace(
        record, start_ns=[list(row) for row in record.start_ns], stop_ns=[list(row) for row in record.stop_ns]
    )


def write_folder(
    folder: Path,
    points: Sequence[FakePoint],
    launches: int = 5,
    seed: int = 1,
    cpus: Callable[[int], str] = str,
    preset: str | None = None,
    machine: dict[str, Any] | None = None,
    plan: dict[str, Any] | None = None,
    ops: dict[str, dict[str, Any]] | None = None,
    began_ns: int = BEGAN_NS,
    clock: str = "monotonic",
    name: str = "made",
    hosts: Callable[[int], str] = lambda rank: "vm",
    topology: dict[str, Any] | None = None,
) -> Path:
    """Writes campaign.json and a file for each launch, MPI, ranks and placement. Returns the folder.

    Launches begin a minute apart, the first a minute after `began_ns`. `name` is that of the plan, `cpus` and
    `hosts` say where each rank is.
    """
    (folder / "records").mkdir(parents=True)
    rng = np.random.default_rng(seed)
    jobs: dict[tuple[int, str | None, int, int, str, Placement | None], list[tuple[int, FakePoint]]] = {}
    for launch in range(1, launches + 1):
        for index, point in enumerate(points):
            omp = "".join(f"-{name}_{value}" for name, value in point.omp.items())
            key = (launch, point.mpi, point.ranks, point.threads, omp, point.placement)
            jobs.setdefault(key, []).append((index, point))
    for (launch, mpi, ranks, threads, omp, placement), members in jobs.items():
        job_name = f"l{launch:02d}-{mpi or 'solo'}-n{ranks}{f'-t{threads}' if threads > 1 else ''}{omp}"
        if placement is not None:
            job_name += f"-{placement.name}"
        path = folder / "records" / f"{job_name}.jsonl"
        write_job(path, rng, launch, members, cpus, hosts, preset, began_ns, clock)
    campaign = {
        "schema": 1,
        "name": name,
        "seed": seed,
        "created": "2026-11-21T22:00:00Z",
        "plan": plan or {},
        "ops": ops or {},
        "points": [_planned(index, point) for index, point in enumerate(points)],
        "machine": machine if machine is not None else MACHINE,
        "topology": topology,
    }
    (folder / "campaign.json").write_bytes(msgspec.json.encode(campaign))
    return folder


def write_job(
    path: Path,
    rng: np.random.Generator,
    launch: int,
    members: Sequence[tuple[int, FakePoint]],
    cpus: Callable[[int], str] = str,
    hosts: Callable[[int], str] = lambda rank: "vm",
    preset: str | None = None,
    began_ns: int = BEGAN_NS,
    clock: str = "monotonic",
    known: dict[str, Any] | None = None,
    tick_ns: float = TICK_NS,
) -> None:
    """Writes the file of one launch, named after the job: points with their numbers, all started alike.

    `known` are keys of the job's record that are not made up; `tick_ns` is what the clock says of itself.
    """
    first = members[0][1]
    placement, where = first.placement, cpus
    if placement is not None and placement.cpus:
        where = [str(cpu) for cpu in placement.cpus].__getitem__
    job, start = heads(path.stem, launch, first.mpi, first.ranks, where, hosts, preset)
    job = msgspec.structs.replace(job, threads=first.threads, **known or {})
    start = msgspec.structs.replace(
        start,
        start_unix_ns=began_ns + launch * 60_000_000_000,
        clock=msgspec.structs.replace(start.clock, name=clock, tick_ns=tick_ns),
        places=tuple(msgspec.structs.replace(place, clock_tick_ns=tick_ns) for place in start.places),
    )
    if placement is not None:
        job = msgspec.structs.replace(job, placement=placement.text, cpus=placement.cpus)
    if placement is not None and placement.hosts:
        half = first.ranks // 2
        places = tuple(
            msgspec.structs.replace(place, host=placement.hosts[place.rank >= half]) for place in start.places
        )
        start = msgspec.structs.replace(start, places=places)
        job = msgspec.structs.replace(job, hosts=tuple(dict.fromkeys(placement.hosts)))
    records: list[Record] = [job, start]
    for index, point in members:
        records += _point_records(rng, launch, index, point)
    write_records(path, records)


def write_records(path: Path, records: Sequence[Record]) -> None:
    """A file as package and engine write it: the job's line, and lines with numbers."""
    lines = [msgspec.json.encode(record) for record in records]
    numbered = [sealed(line, number or None) for number, line in enumerate(lines)]
    path.write_bytes(b"".join(line + b"\n" for line in numbered))


def _planned(index: int, point: FakePoint) -> dict[str, Any]:
    return {
        "point": index,
        "op": point.op,
        "bytes": point.bytes,
        "ranks": point.ranks,
        "threads": point.threads,
        "omp": point.omp,
        "method": point.method,
        "rule": point.rule,
        "params": point.params,
        "mpi": point.mpi,
        "placement": msgspec.to_builtins(point.placement),
        "hosts": len(set(point.placement.hosts)) if point.placement and point.placement.hosts else None,
    }


LOW_REPS = 50


def _point_records(rng: np.random.Generator, launch: int, index: int, point: FakePoint) -> list[Record]:
    head = Point(
        point=index,
        op=point.op,
        bytes=point.bytes,
        ranks=point.ranks,
        threads=point.threads,
        method=point.method,
        rule=point.rule,
        params=point.usual | point.params,
        role=point.role,
        work=point.work,
        rule_params=point.rule_params,
        reps=point.reps,
        parts=point.parts,
        report=point.report,
        moved_bytes=point.bytes * point.parts,
        low_reps=1 if point.low is None else LOW_REPS,
        path=point.path,
        partners=point.partners,
    )
    if launch in point.ends:
        return [head, msgspec.structs.replace(point.ends[launch], point=index)]
    values = point.values(rng, launch)
    if point.paces is not None:
        point = replace(point, pace=point.paces(rng))
    records: list[Record] = [head]
    if point.clock_error is not None:
        records += [_sync(2 * index + after, point, at_ns=after * 10**15) for after in (0, 1)]
    records += [
        _obs(rng, index, point, number, values[first : first + CHUNK])
        for number, first in enumerate(range(0, values.size, CHUNK))
    ]
    end = End(
        point=index,
        status="ok",
        flag=point.flag,
        count=values.size * (1 if point.low is None else 2),
        rejected=point.rejected,
        verified=True,
        answer=point.answers.get(launch),
    )
    return [*records, end]


def _sync(index: int, point: FakePoint, at_ns: int) -> Sync:
    """Clocks that agree, and state an error."""
    zeros, errors = (0.0,) * point.ranks, (point.clock_error or 0.0,) * point.ranks
    return Sync(
        index=index,
        algorithm="tree",
        domains=1,
        at_ns=(at_ns,) * point.ranks,
        offset_ns=zeros,
        drift_ppm=zeros,
        error_ns=errors,
        bound_ns=errors,
    )


def _obs(
    rng: np.random.Generator, index: int, point: FakePoint, number: int, values: NDArray[np.float64]
) -> Obs:
    """Chunk `number` of a point."""
    scale = point.reps * point.parts
    shown = values * scale
    if point.path is not None:
        shown = shown + point.path.late_ns + point.path.observer_ns
    if point.low is not None:  # the two kinds take turns
        shown = np.stack([shown, np.full(shown.size, point.low * LOW_REPS)], axis=1).ravel()
    start, stop = (
        own + point.at_ns * (number + 1) for own in stamps(rng, shown, point.ranks, point.pace, point.skew)
    )
    if point.report == "root":
        start, stop = start[::-1], stop[::-1]
    if point.report == "message":  # an instant on each rank: the sender's is the first
        sender = (np.arange(shown.size) + number * CHUNK) % 2
        partners = point.partners or (1, 0)
        side = np.array([rank > partner for rank, partner in enumerate(partners)])
        instants = np.where(sender == side[:, None], start, stop if point.partners else stop[-1])
        start = stop = instants
    yields = [round(point.yields_per_op * shown.size * scale / point.ranks)] * point.ranks
    is_synchronised = point.clock_error is not None
    canary, noise = point.look(rng, values) if point.look else (None, ())
    return Obs(
        point=index,
        first=number * CHUNK * (1 if point.low is None else 2),
        count=shown.size,
        start_ns=start.tolist(),
        stop_ns=stop.tolist(),
        yields=yields,
        sync_before=2 * index if is_synchronised else None,
        sync_after=2 * index + 1 if is_synchronised else None,
        window_ns=point.windows[min(number, len(point.windows) - 1)] if point.windows else None,
        low=tuple(range(1, shown.size, 2)) if point.low is not None else (),
        counts={name: rng.poisson(3.0, start.shape).tolist() for name in point.counts},
        canary_ns=canary,
        noise=noise,
    )

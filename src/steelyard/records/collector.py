"""Group the records of a file by point, as they come."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.records.consistency import contradiction, end_contradiction, kind_of_point
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.older import completed
from steelyard.records.reduced import RanksTold, Reduced, ReducedSync
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

Kinds = dict[int, tuple[Path, tuple[object, ...]]]  # the definition of each point, and the file that has it
_OfPoint = Obs | Reduced | RanksTold | Phases | Lanes
REMEDY = "restore the file, or delete it and measure again"


@dataclass(slots=True)
class _Open:
    """A point that has begun and has no end yet."""

    point: Point
    obs: list[Obs] = field(default_factory=list)
    phases: list[Phases] = field(default_factory=list)
    reduced: list[Reduced] = field(default_factory=list)
    told: RanksTold | None = None
    lanes: Lanes | None = None


@dataclass(slots=True)
class Collector:
    """Groups the records of one file by point, as they come.

    It holds samples from a point's record to its end, and then hands them over.
    """

    path: Path
    kinds: Kinds = field(default_factory=dict)
    job: Job | None = None
    launch: Launch | None = None
    states: list[State] = field(default_factory=list)
    watches: list[Watch] = field(default_factory=list)
    closes: list[Close] = field(default_factory=list)
    _syncs: dict[int, Sync] = field(default_factory=dict)
    _reduced_syncs: dict[int, ReducedSync] = field(default_factory=dict)
    _open: dict[int, _Open] = field(default_factory=dict)
    _ended: set[int] = field(default_factory=set)

    def take(self, record: Record) -> PointRun | None:
        """Take the next record; return the point that it ends, or None. Raises InputError."""
        if self.job is None and not isinstance(record, Job):
            raise InputError(
                f"{self.path} does not begin with a job record; give a folder that steelyard run wrote"
            )
        if found := contradiction(record, self.job, self.launch, self._point_of(record)):
            raise InputError(
                f"{self.path} contradicts itself in a record '{_name(record)}': {found}; {REMEDY}"
            )
        match record:
            case Job():
                if self.job is not None:
                    raise InputError(f"{self.path} holds two job records; each job needs a file of its own")
                self.job = record
            case Launch():
                self.launch = record
            case Point():
                self._begin(record)
            case Obs():
                self._begun(record).obs.append(record)
            case Phases():
                self._begun(record).phases.append(record)
            case Reduced():
                self._begun(record).reduced.append(record)
            case RanksTold():
                self._begun(record).told = record
            case ReducedSync():
                self._reduced_syncs[record.index] = record
            case Lanes():
                self._begun(record).lanes = record
            case Sync():
                self._syncs[record.index] = record
            case State():
                self.states.append(record)
            case Watch():
                self.watches.append(record)
            case Close():
                self.closes.append(record)
            case End():
                return self._end(record)
        return None

    def unfinished(self) -> Iterator[PointRun]:
        """List the points that have begun and not ended, each once, with what they have. Raises
        InputError.
        """
        while self._open:
            index = next(iter(self._open))
            yield self._run(index, None)

    def head(self) -> JobFile:
        """Make the file without points, states and watches: what a point needs to be read."""
        assert self.job is not None
        return JobFile(self.path, self.job, self.launch, (), False)

    def whole(self, points: Sequence[PointRun], cut_line: bool) -> JobFile:
        """Make the file with `points` and all states of the launch."""
        return replace(
            self.head(),
            points=tuple(points),
            cut_line=cut_line,
            states=tuple(self.states),
            watches=tuple(self.watches),
            closes=tuple(self.closes),
        )

    def _point_of(self, record: Record) -> Point | None:
        """Find the point of a record, if it has begun and not ended."""
        if isinstance(record, Point):
            return record
        seen = self._open.get(record.point) if isinstance(record, _OfPoint | End) else None
        return seen.point if seen is not None else None

    def _begin(self, point: Point) -> None:
        if point.point in self._open or point.point in self._ended:
            raise InputError(f"{self.path}: point {point.point} begins twice; delete the file, measure again")
        self._open[point.point] = _Open(completed(point))

    def _begun(self, record: _OfPoint) -> _Open:
        if record.point not in self._open:
            raise InputError(
                f"{self.path}: point {record.point} has samples without a point record before them; "
                "measure again"
            )
        return self._open[record.point]

    def _end(self, end: End) -> PointRun:
        if end.point in self._ended:
            raise InputError(f"{self.path}: point {end.point} ends twice; delete the file, measure again")
        self._ended.add(end.point)
        run = self._run(end.point, end)
        self._forget_syncs()
        if run.point is not None and end.status == "ok":
            if found := end_contradiction(run, end):
                raise InputError(f"{self.path} contradicts itself: {found}; {REMEDY}")
            check_kind(self.kinds, run.index, self.path, kind_of_point(run.point, run.phases))
        return run

    def _forget_syncs(self) -> None:
        """Forget older ones: points follow each other, and the next begins at the latest synchronisation or
        after it.
        """
        for syncs in (self._syncs, self._reduced_syncs):
            for index in list(syncs)[:-1] if not self._open else ():
                del syncs[index]

    def _run(self, index: int, end: End | None) -> PointRun:
        seen = self._open.pop(index, None)
        if seen is None:
            return PointRun(index, None, (), end)
        run = PointRun(
            index, seen.point, (), end, phases=tuple(seen.phases), lanes=seen.lanes, told=seen.told
        )
        if seen.obs or not seen.reduced:
            return with_obs(run, seen.obs, self._syncs)
        used = _used_syncs(index, seen.reduced, self._reduced_syncs)
        syncs = tuple(self._reduced_syncs[number] for number in used)
        return replace(run, reduced=tuple(seen.reduced), reduced_syncs=syncs)


def check_kind(kinds: Kinds, point: int, path: Path, kind: tuple[object, ...]) -> None:
    """Note in `kinds` the definition of a point. Raises InputError if another file defines it differently."""
    first, other = kinds.setdefault(point, (path, kind))
    if kind != other:
        raise InputError(f"point {point} is not the same in {first} and {path}; {REMEDY}")


def _name(record: Record) -> str:
    """Name the kind of a record, such as `obs`."""
    return str(type(record).__struct_config__.tag)


def _used_syncs(point: int, chunks: Sequence[Obs | Reduced], syncs: Collection[int]) -> list[int]:
    """List the synchronisations that chunks name, in order. Raises InputError if one has no record."""
    used = {one for chunk in chunks for one in (chunk.sync_before, chunk.sync_after) if one is not None}
    if missing := used.difference(syncs):
        raise InputError(f"point {point} names synchronisation {min(missing)}, which has no record")
    return sorted(used)


def with_obs(run: PointRun, obs: Sequence[Obs], syncs: Mapping[int, Sync]) -> PointRun:
    """Make the point with its samples and their synchronisations. Raises InputError."""
    used = _used_syncs(run.index, obs, syncs)
    for chunk in obs:
        if chunk.sync_before is not None and chunk.sync_after not in (None, chunk.sync_before):
            before, after = syncs[chunk.sync_before], syncs[chunk.sync_after]
            if any(last <= first for first, last in zip(before.at_ns, after.at_ns, strict=True)):
                raise InputError(
                    f"synchronisation {after.index} of point {run.index} is not after {before.index}; "
                    f"{REMEDY}"
                )
    return replace(run, obs=tuple(obs), syncs=tuple(syncs[index] for index in used))

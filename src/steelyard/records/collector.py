"""Group the records of a file by point, as they come, and find what is damaged.

Damage spoils the point that is open at its line, or that its record names, and nothing else of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.records.consistency import contradiction, end_contradiction
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.legacy_kinds import completed
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

_OfPoint = Obs | Reduced | RanksTold | Phases | Lanes
_AFTER_A_CUT = End | Watch | Close  # those whose writers outlive one that died in the middle of a line


@dataclass(slots=True)
class _Open:
    """A point that has begun and has no end yet. `cut`: the line in which its writer died."""

    point: Point
    obs: list[Obs] = field(default_factory=list)
    phases: list[Phases] = field(default_factory=list)
    reduced: list[Reduced] = field(default_factory=list)
    told: RanksTold | None = None
    lanes: Lanes | None = None
    damage: str | None = None
    cut: str | None = None


@dataclass(slots=True)
class Collector:
    """Groups the records of one file by point, as they come.

    It holds samples from a point's record to its end, and then hands them over. `damage` is what spoils no
    point, in sentences.
    """

    path: Path
    job: Job
    launch: Launch | None = None
    damage: list[str] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    watches: list[Watch] = field(default_factory=list)
    closes: list[Close] = field(default_factory=list)
    _syncs: dict[int, Sync] = field(default_factory=dict)
    _reduced_syncs: dict[int, ReducedSync] = field(default_factory=dict)
    _open: dict[int, _Open] = field(default_factory=dict)
    _ended: set[int] = field(default_factory=set)
    _astray: dict[int, str] = field(default_factory=dict)  # points with records that are out of place
    _lines: int = 0  # the number of the engine's last line
    _unread: int = 0  # lines since then that are no record
    _cut: str | None = None
    _foreign: str | None = None  # why all that follows belongs to something else

    def take(self, record: Record, number: int, line: int | None = None) -> PointRun | None:
        """Take the next record, from line `number` of the file; return the point that it ends, or None.

        `line` is the number that the engine gave to it.
        """
        where = f"line {number} of {self.path.name}"
        if self._cut is not None and not isinstance(record, _AFTER_A_CUT):
            self.damage.append(self._cut)
            self._cut = None
        if line is not None and not isinstance(record, Close) and not self._is_next(line, where):
            return None
        if found := contradiction(record, self.job, self.launch, self._point_of(record)):
            self._refuse(record, f"{where} contradicts itself: {found}")
            return None
        match record:
            case Job() | Launch():
                self._head(record, where)
            case Point():
                self._begin(record, where)
            case ReducedSync():
                self._reduced_syncs[record.index] = record
            case Sync():
                self._syncs[record.index] = record
            case State():
                self.states.append(record)
            case Watch() if all(record.host != watch.host for watch in self.watches):
                self.watches.append(record)
            case Close() if all(record.rank != close.rank for close in self.closes):
                self.closes.append(record)
            case Watch() | Close():
                self.damage.append(f"{where} is there twice")
            case End():
                return self._end(record, where)
            case _:
                self._take_samples(record, where)
        return None

    def skip(self, number: int, what: str, is_cut: bool) -> None:
        """Note a line that is no record: what is wrong with it, and whether its writer died in it."""
        self._unread += 1
        where = f"line {number} of {self.path.name} {what}"
        if not is_cut:
            self._spoil(where)
            return
        self._cut = where
        for seen in self._open.values():
            seen.cut = seen.cut or where

    def unfinished(self) -> Iterator[PointRun]:
        """List the points that have begun and not ended, each once, with what they have; and those with
        records out of place.
        """
        while self._open:
            yield self._run(next(iter(self._open)), None)
        while self._astray:
            index, damage = self._astray.popitem()
            yield PointRun(index, None, (), None, damage=damage)

    def head(self) -> JobFile:
        """Make the file without points, states and watches: what a point needs to be read."""
        return JobFile(self.path, self.job, self.launch, (), False)

    def whole(self, points: Sequence[PointRun]) -> JobFile:
        """Make the file with `points` and all states of the launch."""
        return replace(
            self.head(),
            points=tuple(points),
            cut_line=self._cut is not None,
            states=tuple(self.states),
            watches=tuple(self.watches),
            closes=tuple(self.closes),
            damage=tuple(self.damage),
        )

    def _is_next(self, line: int, where: str) -> bool:
        """Hold the number of an engine's line against that of its last one; may its record be taken?"""
        missing = line - self._lines - 1 - self._unread
        self._unread = 0
        if line <= self._lines:
            self._spoil(f"{where} is there twice, or at another place than it was written")
            return False
        if missing > 0:
            lines = "line is" if missing == 1 else "lines are"
            self._spoil(f"{missing} {lines} missing before {where}")
        self._lines = line
        return True

    def _spoil(self, what: str, points: Collection[int] = ()) -> None:
        """Note damage of these points, else of those that are open; else of none."""
        for index in points or tuple(self._open):
            if (seen := self._open.get(index)) is not None:
                seen.damage = seen.damage or what
            else:
                self._astray.setdefault(index, what)
        if not points and not self._open:
            self.damage.append(what)

    def _refuse(self, record: Record, what: str) -> None:
        """Leave out a record that contradicts others."""
        if isinstance(record, Sync | ReducedSync):
            self._spoil(what)
        elif isinstance(record, Point | _OfPoint | End):
            self._spoil(what, (record.point,))
        else:
            self.damage.append(what)

    def _head(self, record: Job | Launch, where: str) -> None:
        """Take what the rest of the file is read by: it comes once."""
        known = self.job if isinstance(record, Job) else self.launch
        if known is None and isinstance(record, Launch):
            self.launch = record
            return
        what = f"{where} is a second record '{_name(record)}'"
        self._spoil(what)
        if record != known:
            self._foreign = what

    def _point_of(self, record: Record) -> Point | None:
        """Find the point of a record, if it has begun and not ended."""
        if isinstance(record, Point):
            return record
        seen = self._open.get(record.point) if isinstance(record, _OfPoint | End) else None
        return seen.point if seen is not None else None

    def _begin(self, point: Point, where: str) -> None:
        if point.point in self._open or point.point in self._ended:
            self._spoil(f"point {point.point} begins twice, in {where}", (point.point,))
            return
        self._open[point.point] = _Open(completed(point), damage=self._foreign)

    def _take_samples(self, record: _OfPoint, where: str) -> None:
        seen = self._open.get(record.point)
        if seen is None:
            self._spoil(f"{where} has samples without a point record before them", (record.point,))
            return
        match record:
            case Obs():
                seen.obs.append(record)
            case Phases():
                seen.phases.append(record)
            case Reduced():
                seen.reduced.append(record)
            case RanksTold():
                seen.told = record
            case Lanes():
                seen.lanes = record

    def _end(self, end: End, where: str) -> PointRun | None:
        if end.point in self._ended:
            self._spoil(f"point {end.point} ends twice, in {where}", (end.point,))
            return None
        self._ended.add(end.point)
        run = self._run(end.point, end)
        self._forget_syncs()
        if end.status != "ok" or run.damage is not None:
            return run
        found = end_contradiction(run, end) if run.point is not None else "it has no point record"
        if run.chunks and self.launch is None:
            found = "it has samples, and no launch record tells of their clock"
        return replace(run, damage=f"{where} contradicts others: {found}") if found else run

    def _forget_syncs(self) -> None:
        """Forget older ones: points follow each other, and the next begins at the latest synchronisation or
        after it.
        """
        for syncs in (self._syncs, self._reduced_syncs):
            for index in list(syncs)[:-1] if not self._open else ():
                del syncs[index]

    def _run(self, index: int, end: End | None) -> PointRun:
        """Make a point of what it has. Damage matters where it is believed, and where its end may be lost."""
        seen, damage = self._open.pop(index, None), self._astray.pop(index, None)
        is_good = end is not None and end.status == "ok"
        if seen is None:
            return PointRun(index, None, (), end, damage=damage if is_good else None)
        damage = damage or seen.damage or (seen.cut if is_good else None)
        run = PointRun(
            index, seen.point, (), end, phases=tuple(seen.phases), lanes=seen.lanes, told=seen.told
        )
        if damage is not None:
            return replace(run, damage=damage if is_good or end is None else None)
        try:
            if seen.obs or not seen.reduced:
                return with_obs(run, seen.obs, self._syncs)
            used = _used_syncs(index, seen.reduced, self._reduced_syncs)
        except InputError as error:
            return replace(run, damage=f"{self.path.name}: {error}")
        syncs = tuple(self._reduced_syncs[number] for number in used)
        return replace(run, reduced=tuple(seen.reduced), reduced_syncs=syncs)


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
                    f"synchronisation {after.index} of point {run.index} is not after {before.index}"
                )
    return replace(run, obs=tuple(obs), syncs=tuple(syncs[index] for index in used))

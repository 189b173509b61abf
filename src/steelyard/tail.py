"""Reading a file of records while the engine still writes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from steelyard.reading import with_obs
from steelyard.records import End, Job, JobFile, Launch, Obs, Point, PointRun, Record, Sync

_decoder = msgspec.json.Decoder(Record)


@dataclass(slots=True)
class Tail:
    """What has been read of a growing file. Of points, only the one in flight is kept."""

    path: Path
    job: Job | None = None
    launch: Launch | None = None
    _point: Point | None = None
    _obs: list[Obs] = field(default_factory=list)
    _syncs: dict[int, Sync] = field(default_factory=dict)
    _offset: int = 0

    def advance(self) -> tuple[list[JobFile], bool]:
        """Read the whole lines that were added.

        Returns each point that has ended, as a file that holds nothing else, and whether anything was added.
        """
        with self.path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data.rpartition(b"\n")[0]
        self._offset += len(whole) + 1 if whole else 0
        ended: list[JobFile] = []
        for line in whole.splitlines():
            try:
                record = _decoder.decode(line)
            except msgspec.DecodeError:
                continue  # the cut last line of a launch that died; readers of the whole file say so
            match record:
                case Job():
                    self.job = record
                case Launch():
                    self.launch = record
                case Point():
                    self._point, self._obs = record, []
                case Obs():
                    self._obs.append(record)
                case Sync():
                    self._syncs[record.index] = record
                case End() if self.job is not None:
                    mine = (
                        self._point if self._point is not None and self._point.point == record.point else None
                    )
                    run = with_obs(
                        PointRun(record.point, mine, (), record), self._obs if mine else [], self._syncs
                    )
                    ended.append(JobFile(self.path, self.job, self.launch, (run,), False))
        return ended, bool(whole)

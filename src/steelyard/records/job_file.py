"""The file of records of a job, JSON Lines: its records by test case, and lines added to it."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from steelyard.base.files import create, open_to_append
from steelyard.base.printable import all_visible
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
from steelyard.records.sealing import sealed


class PointRun(Struct, frozen=True):
    """One point in one file: parts may be missing if the launch was cut short or never started.

    `damage`: why its records cannot be believed, and where that is.
    """

    index: int
    point: Point | None
    obs: tuple[Obs, ...]
    end: End | None
    syncs: tuple[Sync, ...] = ()  # those around the samples
    phases: tuple[Phases, ...] = ()  # of each chunk of an op with phases
    lanes: Lanes | None = None  # of an op whose threads note their own times
    reduced: tuple[Reduced, ...] = ()  # replaces `obs` if not every rank's timestamps were kept
    reduced_syncs: tuple[ReducedSync, ...] = ()
    told: RanksTold | None = None
    damage: str | None = None

    @property
    def chunks(self) -> Sequence[Obs | Reduced]:
        """Its samples, as they were kept."""
        return self.obs or self.reduced


class JobFile(Struct, frozen=True):
    """One file of records, its points in the order of measurement.

    `damage` is what is wrong and spoils none of its points, in sentences.
    """

    path: Path
    job: Job
    launch: Launch | None
    points: tuple[PointRun, ...]
    cut_line: bool
    states: tuple[State, ...] = ()  # at the launch's beginning, and after each point
    watches: tuple[Watch, ...] = ()
    closes: tuple[Close, ...] = ()  # one for each rank, in any order
    damage: tuple[str, ...] = ()


_encoder = msgspec.json.Encoder()


def create_records(folder: Path, name: str) -> Path:
    """Create JOB.jsonl, or JOB.2.jsonl and so on if the job continues. Raises OSError."""
    for part in itertools.count(1):
        path = folder / (f"{name}.jsonl" if part == 1 else f"{name}.{part}.jsonl")
        with contextlib.suppress(FileExistsError):
            create(path)
            break
    return path


def _encoded(record: Record) -> bytes:
    """Encode a record; what UTF-8 cannot carry, such as in the name of a folder, is shown as an escape."""
    try:
        return _encoder.encode(record)
    except UnicodeEncodeError:
        return _encoder.encode(all_visible(msgspec.to_builtins(record)))


def append_records(path: Path, records: Iterable[Record]) -> None:
    """Append records to a file, one line each, on a new line even if the last one was cut off.

    Raises OSError, which names the file, also if it is gone: a new one would lack the job's first record.
    """
    lines = b"".join(sealed(_encoded(record)) + b"\n" for record in records)
    try:
        with open_to_append(path, new=False) as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    lines = b"\n" + lines
            file.write(lines)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None

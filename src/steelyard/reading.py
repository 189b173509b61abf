"""Reads files of records, checks them, and groups them by point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steelyard.errors import InputError
from steelyard.records import (
    SCHEMA,
    Close,
    End,
    Job,
    JobFile,
    Launch,
    Obs,
    Phases,
    Point,
    PointRun,
    Record,
    State,
    Sync,
    Watch,
)

Visit = Callable[[JobFile, PointRun], None]


class Reading(Struct, frozen=True):
    """What a file holds. `cut_line`: its writer died in the middle of a line, which is left out."""

    path: Path
    records: tuple[Record, ...]
    cut_line: bool


class _Head(Struct):
    """What every version of the format has: enough to say which version a line is."""

    record: str = ""
    schema: int = SCHEMA


_decoder = msgspec.json.Decoder(Record)
_head_decoder = msgspec.json.Decoder(_Head)


def read_records(path: Path) -> Reading:
    """All records of one file.

    A last line that was cut off is left out and reported in `cut_line`; `end` records that a watchdog added
    after it are read. Raises InputError for a file that cannot be read, a broken line, or another version of
    the format.
    """
    records = list(_iterate(path))
    return Reading(path, tuple(one for one in records if one is not None), None in records)


def _iterate(path: Path) -> Iterator[Record | None]:
    """The records of a file one by one, so that no file need be in memory as a whole; None for a cut line."""
    is_cut = False
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                line = line.rstrip()
                if not line:
                    continue
                record = _decode(path, number, line)
                if is_cut and not isinstance(record, End | Watch):
                    raise InputError(
                        f"{path}, line {number - 1} is cut off; delete the file and measure again"
                    )
                is_cut = is_cut or record is None
                yield record
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}); give a folder that steelyard run wrote"
        ) from error


def _decode(path: Path, number: int, line: bytes) -> Record | None:
    """One line; None when its writer died before its end. Raises InputError."""
    try:
        record: Record = _decoder.decode(line)
    except msgspec.ValidationError as error:
        raise InputError(_complaint(path, number, line, error)) from error
    except msgspec.DecodeError as error:
        if not _is_cut(line, error):
            raise InputError(_complaint(path, number, line, error)) from error
        return None
    if isinstance(record, Job | Launch) and record.schema != SCHEMA:
        raise InputError(_version_complaint(path, number, record.schema))
    return record


def _is_cut(line: bytes, error: msgspec.DecodeError) -> bool:
    """Whether the writer of a line died before its end: a whole record ends with a brace that matches."""
    return "truncated" in str(error) or not line.endswith(b"}")


def _complaint(path: Path, number: int, line: bytes, error: msgspec.DecodeError) -> str:
    """One sentence on a line that is not a record: another version, or damage."""
    try:
        head = _head_decoder.decode(line)
    except msgspec.DecodeError:
        head = _Head()
    if head.schema != SCHEMA:
        return _version_complaint(path, number, head.schema)
    return f"{path}, line {number} is not a record ({error}); restore the file or delete it and measure again"


def _version_complaint(path: Path, number: int, schema: int) -> str:
    return (
        f"{path}, line {number} is of records format {schema}, this version of steelyard reads {SCHEMA}; "
        f"use the version of steelyard that wrote it"
    )


def read_job(path: Path, visit: Visit | None = None) -> JobFile | None:
    """One file, grouped by point; None when not even its first line is whole.

    With `visit`, each point is handed over with its observations as soon as it is complete, and the
    observations are not kept: files may be larger than memory. The JobFile that `visit` gets has no points.
    Raises InputError.
    """
    records = _iterate(path)
    job = next(records, None)
    if job is None:
        return None
    if not isinstance(job, Job):
        raise InputError(f"{path} does not begin with a job record; give a folder that steelyard run wrote")
    head = JobFile(path, job, None, (), False)
    runs: dict[int, PointRun] = {}
    chunks: dict[int, list[Obs]] = {}
    phases: dict[int, list[Phases]] = {}
    syncs: dict[int, Sync] = {}

    def close(run: PointRun) -> None:
        run = replace(run, phases=tuple(phases.pop(run.index, ())))
        whole = with_obs(run, chunks.pop(run.index, []), syncs)
        if visit is not None:
            visit(head, whole)
        runs[run.index] = run if visit is not None else whole

    for record in records:
        match record:
            case Launch():
                head = replace(head, launch=record)
            case Point():
                runs[record.point] = PointRun(record.point, record, (), None)
            case Obs() if record.point not in runs:
                raise InputError(
                    f"{path}: point {record.point} has observations and no point record; measure again"
                )
            case Sync():
                syncs[record.index] = record
            case Obs():
                chunks.setdefault(record.point, []).append(record)
            case State():
                head = replace(head, states=(*head.states, record))
            case Watch():
                head = replace(head, watches=(*head.watches, record))
            case Phases():
                phases.setdefault(record.point, []).append(record)
            case End():
                run = runs.get(record.point, PointRun(record.point, None, (), None))
                close(replace(run, end=record))
            case Job():
                raise InputError(f"{path} holds two job records; each job needs a file of its own")
            case Close():
                head = replace(head, closes=(*head.closes, record))
            case None:
                head = replace(head, cut_line=True)
    for run in list(runs.values()):
        if run.end is None:
            close(run)
    return replace(head, points=tuple(runs.values()))


def with_obs(run: PointRun, obs: list[Obs], syncs: Mapping[int, Sync]) -> PointRun:
    """The point with its observations and the synchronisations that they name. Raises InputError."""
    used = {index for chunk in obs for index in (chunk.sync_before, chunk.sync_after) if index is not None}
    if missing := used - syncs.keys():
        raise InputError(
            f"point {run.index} names synchronisation {min(missing)}, of which there is no record"
        )
    return replace(run, obs=tuple(obs), syncs=tuple(syncs[index] for index in sorted(used)))


def read_folder(folder: Path, visit: Visit | None = None) -> tuple[JobFile, ...]:
    """All files of `folder`/records, sorted by launch, then name, then age (a resumed job has several files).

    `visit` as for `read_job`, in no particular order of files. Raises InputError when there is no such folder
    or a file is broken.
    """
    records = folder / "records"
    if not records.is_dir():
        raise InputError(f"{folder} holds no records; give a folder that steelyard run wrote")
    files = [job for path in records.glob("*.jsonl") if (job := read_job(path, visit)) is not None]
    return tuple(sorted(files, key=lambda file: (file.job.launch, file.job.job, part_number(file))))


def part_number(file: JobFile) -> int:
    """`JOB.jsonl` is part 1, `JOB.2.jsonl`, written when the job was resumed, part 2."""
    part = file.path.stem.removeprefix(file.job.job + ".")
    return int(part) if part.isdigit() else 1

"""Records: what an engine measured, as JSON Lines, one file per job. Reads, checks and appends them.

History of the format (`SCHEMA`):

1. `job` (written by the package), then `launch`, `point`, `obs`, `end` (written by the engine). Keys may be
   added without a new version: readers ignore those that they do not know. A key never changes its name or
   its meaning.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from steelyard.errors import InputError

SCHEMA = 1

Number = int | float
Params = dict[str, Number | str]  # of an op, a method or a rule: numbers, and words where it chooses
Count = Annotated[int, Meta(ge=0)]
Stamps = list[list[int]]  # [rank][observation], ns on that rank's own clock since the launch began


class _Part(Struct, frozen=True, kw_only=True):
    """Base of what stands inside a record."""


class JobMpi(_Part, frozen=True):
    """The MPI that a job was asked to use; `prefix` is None for an MPI of the system."""

    name: str
    family: str = ""
    version: str = ""
    mpiexec: str = ""
    prefix: str | None = None


class LaunchMpi(_Part, frozen=True):
    """The MPI library that the engine really ran with, in its own words."""

    library: str
    version: str = ""
    thread_level: str = ""
    wtick_ns: float | None = None  # the step of MPI_Wtime, as the library says
    wtime_is_global: bool | None = None
    cvars: dict[str, Number | str] = {}  # control variables of protocols, from its tools interface
    pvars: tuple[str, ...] = ()  # names of those that count what waits to be matched


class Clock(_Part, frozen=True):
    """A source of stamps: what one reading costs and the smallest step it can show, both in ns."""

    name: str
    cost_ns: float
    tick_ns: float
    summary: str = ""
    forced: bool = False  # asked for by name, not chosen
    hz: float | None = None  # of a counter: how fast rank 0's runs; for certain known to hz_ppm
    hz_ppm: float | None = None


class Place(_Part, frozen=True):
    """Where a rank ran: `cpus` is the set it was bound to (`0`, `0-1`), `cpu` where it was seen.

    `lanes` are the sets of the threads of its pool, of a rank of several. `refused` is why the kernel did not
    bind it or them.
    """

    rank: Count
    host: str
    pid: int = 0
    cpus: str = ""
    cpu: int = -1
    lanes: tuple[str, ...] = ()
    refused: str | None = None
    clock_cost_ns: float = 0.0
    clock_tick_ns: float = 0.0
    clock_base_ns: int = 0  # what the source said when stamps were 0
    clock_doubt: str | None = None  # why it is not sound
    exec_to_main_ns: int | None = None  # from the process's start, in Linux's steps of 10 ms
    main_to_init_ns: Count | None = None  # from there until MPI_Init_thread returned
    init_ns: Count | None = None  # MPI_Init_thread alone


class WatchedPath(_Part, frozen=True):
    """What a method without a common clock watched: rank `late` started last, `observer` reported.

    `late_ns` and `observer_ns` are what the messages from and to rank 0 take, one way; they are in the stamps
    and not of the operation. `loops` of a few calls each found the two ranks.
    """

    late: Count
    observer: Count
    late_ns: float
    observer_ns: float
    loops: Count = 0


class _Record(Struct, frozen=True, kw_only=True, tag_field="record"):
    """Base of the five records; the key `record` says which it is."""


class Job(_Record, frozen=True, tag="job"):
    """The planned launch: first line of each file. `mpi` is None without MPI."""

    schema: int
    job: str
    launch: Count
    ranks: Count
    threads: Count = 1
    mpi: JobMpi | None = None
    engine: str = ""
    command: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    preset: str | None = None
    cores: int = 0
    placement: str | None = None  # asked for: `unbound`, `shared-l3 0,1`; None: the default
    cpus: tuple[int, ...] = ()  # asked for: of the threads of rank 0, then of rank 1, ...
    notes: tuple[str, ...] = ()


class Launch(_Record, frozen=True, tag="launch"):
    """One start of the engine, as the engine itself saw it."""

    schema: int
    engine: str
    version: str
    ranks: Count
    clock: Clock
    places: tuple[Place, ...]
    build: dict[str, Any] = {}
    mpi: LaunchMpi | None = None
    seed: int = 0
    yield_: str = field(name="yield", default="real")
    start_unix_ns: int = 0
    environment: dict[str, str] = {}


class Point(_Record, frozen=True, tag="point"):
    """One value on every axis. `reps` repetitions make an observation, `parts` operations a repetition.

    `low_reps` make one of the lower bound. `report` says what stands for the operation: rank 0's duration,
    the longest, or a message from rank 0 to rank 1 and the answer by turns.
    """

    point: Count
    op: str
    bytes: Count
    ranks: Count
    threads: Count
    method: str
    rule: str
    reps: Annotated[int, Meta(ge=1)]
    parts: Annotated[int, Meta(ge=1)]
    report: Literal["root", "slowest", "message"]
    moved_bytes: Annotated[float, Meta(ge=0)] = 0.0
    params: Params = {}
    method_params: Params = {}
    rule_params: Params = {}
    low_reps: Annotated[int, Meta(ge=1)] = 1
    warm_up_reps: Count | None = None  # run before the first observation and left out
    partners: tuple[int, ...] | None = None  # of each rank: whom it exchanges the messages with, -1: nobody
    path: WatchedPath | None = None
    start_ns: int = 0


class Obs(_Record, frozen=True, tag="obs", gc=False):
    """A chunk of observations: `start_ns[rank][i]`, `stop_ns[rank][i]`; `yields[rank]` counts sched_yield.

    After some chunks the engine looks at the machine: `canary_ns` is what a cache line takes one way between
    two ranks of a host, without MPI (None: no two ranks could), `noise[rank]` the share of time lost to
    others; empty where nobody looked.
    """

    point: Count
    first: Count
    count: Count
    start_ns: Stamps
    stop_ns: Stamps
    yields: list[int] | None = None
    sync_before: int | None = None  # index of the synchronisation before the chunk, of a synchronised method
    sync_after: int | None = None
    target_ns: list[int] | None = None  # when each was to start, on the reference clock
    window_ns: int | None = None  # how wide the windows were
    late: tuple[int, ...] = ()  # those that some rank started too late
    low: tuple[int, ...] = ()  # those of the lower bound
    canary_ns: Annotated[float, Meta(ge=0)] | None = None
    noise: tuple[Annotated[float, Meta(ge=0, le=1)], ...] = ()

    def __post_init__(self) -> None:
        """Each rank has `count` stamps of each kind. msgspec turns the ValueError into its own."""
        if len(self.start_ns) != len(self.stop_ns) or not self.start_ns:
            raise ValueError("start_ns and stop_ns have different numbers of ranks")
        if any(len(row) != self.count for row in (*self.start_ns, *self.stop_ns)):
            raise ValueError(f"a rank has not the {self.count} stamps that count promises")


class Sync(_Record, frozen=True, tag="sync"):
    """How each rank's clock differs from rank 0's: `offset_ns[r]` at local time `at_ns[r]`.

    `error_ns` says how well that is known: what the closure saw between pairs, or the certain `bound_ns`.
    """

    index: Count
    algorithm: str
    domains: int  # clocks that differ
    at_ns: tuple[int, ...]
    offset_ns: tuple[float, ...]
    drift_ppm: tuple[float, ...]
    error_ns: tuple[float, ...]
    bound_ns: tuple[float, ...]
    error_basis: Literal["closure", "bound"] = "closure"
    cost_ns: int = 0
    true_ns: tuple[int, ...] | None = None  # with clocks skewed for a test: the true time of `at_ns`


class End(_Record, frozen=True, tag="end"):
    """How a point ended, written by the engine or by the watchdog of the package."""

    point: Count
    status: Literal["ok", "failed", "skipped"]
    why: str | None = None
    flag: Literal["SETTLED", "UNSETTLED", "TIME"] | None = None
    count: Count = 0
    rejected: Count = 0
    verified: bool | None = None
    stop_ns: int = 0


Record = Job | Launch | Point | Obs | Sync | End


class Reading(Struct, frozen=True):
    """What a file holds. `cut_line`: its writer died in the middle of a line, which is left out."""

    path: Path
    records: tuple[Record, ...]
    cut_line: bool


class PointRun(Struct, frozen=True):
    """One point in one file: any part may be missing when the launch was cut short or never started."""

    index: int
    point: Point | None
    obs: tuple[Obs, ...]
    end: End | None
    syncs: tuple[Sync, ...] = ()  # those around the observations


class JobFile(Struct, frozen=True):
    """One file of records, its points in the order in which they were measured."""

    path: Path
    job: Job
    launch: Launch | None
    points: tuple[PointRun, ...]
    cut_line: bool


Visit = Callable[[JobFile, PointRun], None]


class _Head(Struct):
    """What every version of the format has: enough to say which version a line is."""

    record: str = ""
    schema: int = SCHEMA


_decoder = msgspec.json.Decoder(Record)
_head_decoder = msgspec.json.Decoder(_Head)
_encoder = msgspec.json.Encoder()


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
                if is_cut and not isinstance(record, End):
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
    syncs: dict[int, Sync] = {}

    def close(run: PointRun) -> None:
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
            case End():
                run = runs.get(record.point, PointRun(record.point, None, (), None))
                close(replace(run, end=record))
            case Job():
                raise InputError(f"{path} holds two job records; each job needs a file of its own")
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


def append_records(path: Path, records: Iterable[Record]) -> None:
    """Appends records to a file, one line each, on a new line even when the last one was cut off."""
    lines = b"".join(_encoder.encode(record) + b"\n" for record in records)
    with path.open("ab+") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                lines = b"\n" + lines
        file.write(lines)


def records_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of one line of a record file."""
    schema = msgspec.json.schema(Record)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Steelyard records, format {SCHEMA}: one line of a JSON Lines file",
        **schema,
    }

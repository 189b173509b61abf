"""Records: what an engine measured, as JSON Lines, one file per job; `reading` reads them.

History of the format (`SCHEMA`):

1. `job` (written by the package), then `launch`, `point`, `obs`, `sync`, `end`, `close` (written by the
   engine). Keys may be added without a new version: readers ignore those that they do not know. A key never
   changes its name or its meaning.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

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


class Core(_Part, frozen=True):
    """Cycles of rank 0's core in a second when the launch began: `counter` (the core's own) or `additions`.

    Additions that wait for each other take a cycle each: an inference, where nothing counts cycles.
    """

    hz: float | None = None
    by: str | None = None


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


class Busy(_Part, frozen=True):
    """A process that was none of the launch's, and the CPU time it took in the `seconds` it was watched.

    `peak_share` is the most of a CPU that it took between two looks, `cpus` where it was at looks after it
    had run.
    """

    pid: int
    command: str
    cpu_ns: Count
    seconds: float
    peak_share: float = 0.0
    cpus: tuple[int, ...] = ()


class _Record(Struct, frozen=True, kw_only=True, tag_field="record"):
    """Base of the records; the key `record` says which it is."""


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
    settings: dict[str, Any] = {}  # of the system, when the job began: see `settings.Settings`


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
    core: Core | None = None
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
    work: Annotated[float, Meta(ge=0)] = 0.0  # operations of a repetition; 0: they are not counted
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

    What the op counted in each observation is `counts[name][rank][i]`. Of the waits for windows,
    `spun_ns[rank]` were spent reading the clock, `spun_lost_ns` of that in gaps longer than any reading, the
    longest of `spun_longest_ns`.

    After some chunks the engine looks at the machine: `canary_ns` is what a cache line takes one way between
    two ranks of a host, without MPI (None: no two ranks could), `noise[rank]` the share of time lost to
    others, `cpu[rank]` where it was then; empty where nobody looked.
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
    cpu: tuple[int, ...] = ()
    counts: dict[str, Stamps] = {}
    spun_ns: tuple[Count, ...] = ()
    spun_lost_ns: tuple[Count, ...] = ()
    spun_longest_ns: tuple[Count, ...] = ()

    def __post_init__(self) -> None:
        """Each rank has `count` stamps of each kind. msgspec turns the ValueError into its own."""
        if len(self.start_ns) != len(self.stop_ns) or not self.start_ns:
            raise ValueError("start_ns and stop_ns have different numbers of ranks")
        if any(len(row) != self.count for row in (*self.start_ns, *self.stop_ns)):
            raise ValueError(f"a rank has not the {self.count} stamps that count promises")
        if any(len(row) != self.count for rows in self.counts.values() for row in rows):
            raise ValueError(f"a rank has not counted the {self.count} observations that count promises")


class Phase(_Part, frozen=True):
    """A part of an op: ns and calls of each rank, summed over a chunk. Some are communication."""

    name: str
    communicates: bool
    ns: tuple[Count, ...]
    calls: tuple[Count, ...]


class Phases(_Record, frozen=True, tag="phases", gc=False):
    """Where the time of a chunk of observations went, inside the op; all by rank, summed over the chunk.

    `messages` and `bytes` are what a rank sent from point to point, `collectives` its calls of collectives
    and `collective_bytes` what it gave to them; `memory` bytes the op has allocated, `resident` bytes the
    process has in memory.
    """

    point: Count
    first: Count
    count: Count
    phases: tuple[Phase, ...]
    messages: tuple[Count, ...] = ()
    bytes: tuple[Count, ...] = ()
    collectives: tuple[Count, ...] = ()
    collective_bytes: tuple[Count, ...] = ()
    memory: tuple[Count, ...] = ()
    resident: tuple[Count, ...] = ()


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


class State(_Record, frozen=True, tag="state"):
    """What was true of each rank when `point` had ended, or (None) when the launch began.

    An item for each rank; -1, or nothing at all, where the system does not tell. `cpus` is what the rank was
    bound to, `cpu` where it was. Since the process began: `migrations` of its main thread, `voluntary` and
    `involuntary` context switches, `own_ns` of CPU time. Since the host began: `busy_ns` of CPU time by
    whatever ran on `cpus`, `steal_ns` that the hypervisor gave to others. `khz` of the CPU, `throttles` of
    its core, `quota_stops` of the control group; `step_ps` is what a step of the same work took, undisturbed.
    `lanes` is where each thread of a rank of several was when the point had ended, `lanes_meant` where it was
    bound ("": it was not).
    """

    at_ns: tuple[int, ...]
    cpus: tuple[str, ...]
    point: Count | None = None
    cpu: tuple[int, ...] = ()
    migrations: tuple[int, ...] = ()
    voluntary: tuple[int, ...] = ()
    involuntary: tuple[int, ...] = ()
    own_ns: tuple[int, ...] = ()
    busy_ns: tuple[int, ...] = ()
    steal_ns: tuple[int, ...] = ()
    khz: tuple[int, ...] = ()
    throttles: tuple[int, ...] = ()
    quota_stops: tuple[int, ...] = ()
    step_ps: tuple[int, ...] = ()
    lanes: tuple[tuple[str, ...], ...] = ()
    lanes_meant: tuple[tuple[str, ...], ...] = ()


class Watch(_Record, frozen=True, tag="watch"):
    """What else ran on this host while a launch did, as the package saw it from outside, in `looks` looks.

    `processes` are those that took most CPU time, the busiest first, none of the launch's own; `cost_ns` is
    what looking took. `load` is the mean of the last minute, when it began and when it ended.
    """

    host: str
    seconds: float
    looks: Count
    cost_ns: Count
    load: tuple[float, ...] = ()
    processes: tuple[Busy, ...] = ()


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


class Close(_Record, frozen=True, tag="close"):
    """How a rank ended: of the ranks on rank 0's host, for after MPI_Finalize none can tell another.

    `pvars` are what the library counted of queues when all points were done: of a high-water mark the highest
    over the peers, of all else the sum.
    """

    rank: Count
    finalize_ns: Count  # MPI_Finalize alone
    pvars: dict[str, float | None] = {}


Record = Job | Launch | Point | Obs | Phases | Sync | State | Watch | End | Close


class PointRun(Struct, frozen=True):
    """One point in one file: any part may be missing when the launch was cut short or never started."""

    index: int
    point: Point | None
    obs: tuple[Obs, ...]
    end: End | None
    syncs: tuple[Sync, ...] = ()  # those around the observations
    phases: tuple[Phases, ...] = ()  # of each chunk of an op that has some


class JobFile(Struct, frozen=True):
    """One file of records, its points in the order in which they were measured."""

    path: Path
    job: Job
    launch: Launch | None
    points: tuple[PointRun, ...]
    cut_line: bool
    states: tuple[State, ...] = ()  # the launch's beginning, and after each point
    watches: tuple[Watch, ...] = ()
    closes: tuple[Close, ...] = ()  # one a rank, in any order


_encoder = msgspec.json.Encoder()


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

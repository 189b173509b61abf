"""Records: the lines that an engine writes; `job_file` is a file of them.

History of the format (`SCHEMA`):

1. `job` (written by the package), then `launch`, `point`, `obs`, `sync`, `end`, `close` (written by the
   engine). Keys may be added without a new version: readers ignore those that they do not know. A key never
   changes its name or its meaning.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct, field

from steelyard.records.fields import (
    FEW,
    Amount,
    Count,
    Counts,
    Environment,
    Free,
    Name,
    Params,
    RankCount,
    Real,
    Seed,
    Several,
    Share,
    Text,
    ThreadCount,
    Timestamps,
    Whole,
)
from steelyard.records.kernel_answer import KernelAnswer
from steelyard.records.parts import (
    Busy,
    Clock,
    Core,
    FileSystem,
    Hint,
    HostInterfaces,
    JobMpi,
    LaunchMpi,
    LaunchShmem,
    Library,
    Phase,
    Place,
    StuckRank,
    Transport,
    WatchedPath,
)
from steelyard.records.reduced import RanksTold, Reduced, ReducedSync

SCHEMA = 1


class _Record(Struct, frozen=True, kw_only=True, tag_field="record"):
    """Base of the records; the key `record` names the kind."""


class Job(_Record, frozen=True, tag="job"):
    """The planned launch: first line of each file. `mpi` is None without MPI."""

    schema: int
    job: Name
    launch: Count
    ranks: RankCount
    threads: ThreadCount = 1
    mpi: JobMpi | None = None
    engine: Text = ""
    command: tuple[Text, ...] = ()
    environment: Environment = {}
    preset: Name | None = None
    cores: Count = 0
    placement: Text | None = None  # asked for: `unbound`, `shared-l3 0,1`; None: the default
    cpus: tuple[Whole, ...] = ()  # asked for: of the threads of rank 0, then of rank 1, ...
    launcher: Name | None = None  # `hydra`, `srun-pmi2`; None without MPI, and in older records
    hosts: tuple[Name, ...] = ()  # given to the launcher; none without an allocation
    notes: tuple[Text, ...] = ()
    points: tuple[Count, ...] = ()  # test cases that this file was begun for; none in older records
    settings: Free = {}  # of the system, when the job began: see `SystemSettings`
    given: tuple[Name, ...] = ()  # names of variables for MPI and OpenMP that the user or the plan set


class Launch(_Record, frozen=True, tag="launch"):
    """One start of the engine, as the engine itself saw it."""

    schema: int
    engine: Text
    version: Name
    ranks: RankCount
    clock: Clock
    places: tuple[Place, ...]
    build: Free = {}
    mpi: LaunchMpi | None = None
    shmem: LaunchShmem | None = None
    seed: Seed = 0
    core: Core | None = None
    yield_: Name = field(name="yield", default="real")
    start_unix_ns: Whole = 0
    environment: Environment = {}  # variables that MPI, OpenMP and the C library read; secrets are "***"
    libraries: tuple[Library, ...] = ()  # of rank 0, the program first
    tick_most_ns: Amount | None = None  # of any rank, where `places` are of chosen ranks


class Point(_Record, frozen=True, tag="point"):
    """A test case: one value on every axis. A sample has `reps` repetitions, a repetition `parts` operations.

    A sample of the lower bound has `low_reps`. `report` says which duration counts for the operation: rank
    0's, the longest, or that of a message from rank 0 to rank 1 and the answer, alternately. `base`, `form`,
    `role`, `layer` are the kind of the op, `nature` and `bound` the meaning of the method's value, as in the
    engine's `describe`; None in older records.
    """

    point: Count
    op: Name
    bytes: Count
    ranks: RankCount
    threads: ThreadCount
    method: Name
    rule: Name
    reps: Several
    parts: Several
    report: Literal["root", "slowest", "message"]
    moved_bytes: Amount = 0.0
    work: Amount = 0.0  # operations of a repetition; 0: they are not counted
    below: Name | None = None  # the op that does the same without a library
    params: Params = {}
    method_params: Params = {}
    rule_params: Params = {}
    base: Name | None = None
    form: Name | None = None
    role: Name | None = None
    layer: Name | None = None
    nature: Name | None = None
    bound: Name | None = None
    low_reps: Several = 1
    warm_up_reps: Count | None = None  # run before the first sample, and left out
    partners: tuple[Whole, ...] | None = None  # of each rank: its partner in messages, -1: none
    path: WatchedPath | None = None
    start_ns: Whole = 0


class Obs(_Record, frozen=True, tag="obs", gc=False):
    """A chunk of samples: `start_ns[rank][i]`, `stop_ns[rank][i]`; `yields[rank]` counts sched_yield.

    `counts[name][rank][i]` is the op's count in each sample. Waits for windows spent `spun_ns[rank]` reading
    the clock, `spun_lost_ns` of that in gaps longer than any reading; the longest is `spun_longest_ns`.

    After some chunks the engine probes the machine: `canary_ns` is the one-way time of a cache line between
    two ranks of a host, without MPI (None: no two ranks could), `noise[rank]` the fraction of time lost to
    others, `cpu[rank]` the CPU of the rank; empty if there was no probe.

    `used[name][rank]` is what the process used from before the first sample to after the last, with what lies
    between samples: `took_ns`; `user_ns` and `system_ns` of CPU time, `voluntary` and `involuntary` context
    switches of all its threads; `yields` of the main one; `cycles`, `instructions`, `cache_misses`,
    `tlb_misses` of the same outside the kernel; `energy_uj` of all packages of its host. -1, or no name: the
    system does not tell.
    """

    point: Count
    first: Count
    count: Count
    start_ns: Timestamps
    stop_ns: Timestamps
    yields: list[Count] | None = None
    sync_before: Whole | None = (
        None  # index of the synchronisation before the chunk, of a synchronised method
    )
    sync_after: Whole | None = None
    target_ns: list[Whole] | None = None  # when each was to start, on the reference clock
    window_ns: Count | None = None  # the width of the windows
    late: tuple[Whole, ...] = ()  # those that some rank started too late
    low: tuple[Whole, ...] = ()  # those of the lower bound
    canary_ns: Amount | None = None
    noise: tuple[Share, ...] = ()
    cpu: tuple[Whole, ...] = ()
    counts: Counts = {}
    spun_ns: tuple[Count, ...] = ()
    spun_lost_ns: tuple[Count, ...] = ()
    spun_longest_ns: tuple[Count, ...] = ()
    used: Annotated[dict[Name, tuple[Whole, ...]], FEW] = {}

    def __post_init__(self) -> None:
        """Check that each rank has `count` timestamps of each kind; msgspec converts the ValueError into its
        own.
        """
        if len(self.start_ns) != len(self.stop_ns) or not self.start_ns:
            raise ValueError("start_ns and stop_ns have different numbers of ranks")
        if any(len(row) != self.count for row in (*self.start_ns, *self.stop_ns)):
            raise ValueError(f"a rank does not have the {self.count} timestamps that count gives")
        if any(len(row) != self.count for rows in self.counts.values() for row in rows):
            raise ValueError(f"a rank has not counted the {self.count} samples that count gives")
        if any(len(amounts) != len(self.start_ns) for amounts in self.used.values()):
            raise ValueError("used does not have an amount for each rank")


class Phases(_Record, frozen=True, tag="phases", gc=False):
    """The phases of a chunk of samples inside the op; all by rank, summed over the chunk.

    RankCount are all, or the chosen ones that `kept` names of so many `ranks`, in its order. A rank sent
    `messages` of `bytes` together from point to point. It made `collectives` calls and gave them
    `collective_bytes`. The op has allocated `memory` bytes; the process has `resident` bytes in memory.
    """

    point: Count
    first: Count
    count: Count
    phases: tuple[Phase, ...]
    ranks: Count = 0  # 0: all are there
    kept: tuple[Count, ...] = ()
    messages: tuple[Count, ...] = ()
    bytes: tuple[Count, ...] = ()
    collectives: tuple[Count, ...] = ()
    collective_bytes: tuple[Count, ...] = ()
    memory: tuple[Count, ...] = ()
    resident: tuple[Count, ...] = ()


class Lanes(_Record, frozen=True, tag="lanes"):
    """The begin and end of each thread's own calls, `[rank][thread]`, in ns.

    Sums over `reps` repetitions of all samples. Each run counts from the instant at which the rank's threads
    were started. A rank whose threads had nothing to do has zeros.
    """

    point: Count
    reps: Several
    start_ns: tuple[tuple[Count, ...], ...]
    stop_ns: tuple[tuple[Count, ...], ...]


class Sync(_Record, frozen=True, tag="sync"):
    """The difference of each rank's clock from rank 0's: `offset_ns[r]` at local time `at_ns[r]`.

    `error_ns` is the stated error: from the closure between pairs, or the guaranteed `bound_ns`.
    """

    index: Count
    algorithm: Name
    domains: Several  # clocks that differ
    at_ns: tuple[Whole, ...]
    offset_ns: tuple[Real, ...]
    drift_ppm: tuple[Real, ...]
    error_ns: tuple[Amount, ...]
    bound_ns: tuple[Amount, ...]
    error_basis: Literal["closure", "bound"] = "closure"
    cost_ns: Whole = 0
    true_ns: tuple[Whole, ...] | None = None  # with clocks skewed for a test: the true time of `at_ns`


class State(_Record, frozen=True, tag="state"):
    """The state of each rank when `point` had ended, or (None) when the launch began.

    Each key has an item for each rank of the record; -1, or no item, if the system does not show it. `cpus`
    is the set that the rank was bound to, `cpu` where it was. Since the process began: `migrations` of its
    main thread, `voluntary` and `involuntary` context switches, `own_ns` of CPU time. Since the host began:
    `busy_ns` of CPU time by anything on `cpus`, `steal_ns` that the hypervisor gave to others. `khz` of the
    CPU, `throttles` of its core, `quota_stops` of the control group; `step_ps` is the undisturbed time of a
    step of fixed work. A rank of several threads has `lanes`, the place of each thread when the point had
    ended, and `lanes_meant`, where it was bound ("": it was not). Where ranks are on several hosts,
    `interfaces` are the network interfaces of each host that one of the ranks is on, once, and `ports` the
    names of those by which each rank is connected to others ("eth0", "eth0,eth1", "").
    """

    at_ns: tuple[Whole, ...]
    cpus: tuple[Name, ...]
    point: Count | None = None
    ranks: tuple[Count, ...] = ()  # chosen ranks that it is of; none named: all
    cpu: tuple[Whole, ...] = ()
    migrations: tuple[Whole, ...] = ()
    voluntary: tuple[Whole, ...] = ()
    involuntary: tuple[Whole, ...] = ()
    own_ns: tuple[Whole, ...] = ()
    busy_ns: tuple[Whole, ...] = ()
    steal_ns: tuple[Whole, ...] = ()
    khz: tuple[Whole, ...] = ()
    throttles: tuple[Whole, ...] = ()
    quota_stops: tuple[Whole, ...] = ()
    step_ps: tuple[Whole, ...] = ()
    lanes: tuple[tuple[Name, ...], ...] = ()
    lanes_meant: tuple[tuple[Name, ...], ...] = ()
    interfaces: tuple[HostInterfaces, ...] = ()
    ports: tuple[Name, ...] = ()

    def rank(self, index: int) -> int:
        """Find the rank of an item."""
        return self.ranks[index] if self.ranks else index


class Watch(_Record, frozen=True, tag="watch"):
    """Other work on this host during a launch, as the package saw it from outside, in `looks` looks.

    `processes` are those outside the launch that used most CPU time, the busiest first. `cost_ns` is the cost
    of looking, `own_cpu_ns` the CPU time that the package itself took while test cases were measured.
    `load` is the mean of the last minute, when the launch began and when it ended. `ending` is
    what went wrong after the last test case had ended, as in MPI_Finalize; `remark` the same of a library
    that is known to end so. `stopped`: the package ended it, because the time was over.
    """

    host: Name
    seconds: Amount
    looks: Count
    cost_ns: Count
    own_cpu_ns: Count = 0
    load: tuple[Amount, ...] = ()
    processes: tuple[Busy, ...] = ()
    ending: Name | None = None
    remark: Name | None = None
    stopped: bool = False
    complaints: Annotated[
        dict[Name, Name], FEW
    ] = {}  # what the launch said of variables of `Job.given`: {name: line}


class End(_Record, frozen=True, tag="end"):
    """The end of a test case, written by the engine or by the watchdog of the package.

    `where` is set for a hang: the ranks that could still say where they were.
    """

    point: Count
    status: Literal["ok", "failed", "skipped"]
    why: Text | None = None
    flag: Literal["SETTLED", "UNSETTLED", "TIME"] | None = None
    count: Count = 0
    rejected: Count = 0
    verified: bool | None = None
    stop_ns: Whole = 0
    answer: KernelAnswer | None = None
    where: tuple[StuckRank, ...] = ()
    hint: Hint | None = None  # if something was promised to the library
    window_model: Name | None = None  # of a window's memory, as the library says: unified, separate
    reordered: Count | None = None  # ranks that got another number from a library that may choose them
    mapping: tuple[Count, ...] = ()  # their old numbers in the order of the new ones; none: of many ranks
    transport: Transport | None = None  # of an op that leaves it to a library
    files: FileSystem | None = None  # of an op of files

    @property
    def is_of_the_dead(self) -> bool:
        """Did the engine die or hang there? The package then wrote this, and knows no time of it."""
        return self.status == "failed" and self.stop_ns == 0


class Close(_Record, frozen=True, tag="close"):
    """The end of a rank on rank 0's host. Each rank writes its own, because it cannot send after
    MPI_Finalize.

    `pvars` are the library's counters of queues when all points were done: for a high-water mark the highest
    over the peers, for all others the sum.
    """

    rank: Count
    finalize_ns: Count  # MPI_Finalize alone
    pvars: Annotated[dict[Name, float | None], FEW] = {}


_OfSamples = Point | Obs | Reduced | RanksTold | Phases | Lanes | Sync | ReducedSync | End
Record = Job | Launch | _OfSamples | State | Watch | Close


# The last keys of each line: see `sealing`.
_SEAL = {
    "line": {"type": "integer", "minimum": 1, "description": "number among the lines of its writer"},
    "crc": {"type": "string", "pattern": "^[0-9a-f]{8}$", "description": "CRC-32 of all before this key"},
}


def records_schema() -> dict[str, Any]:
    """Make the JSON schema (draft 2020-12) of one line of a record file."""
    schema = msgspec.json.schema(Record)
    for path in schema["discriminator"]["mapping"].values():
        schema["$defs"][path.rpartition("/")[2]]["properties"] |= _SEAL
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Steelyard records, format {SCHEMA}: one line of a JSON Lines file",
        **schema,
    }

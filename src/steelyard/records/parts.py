"""Parts of records: what a record has several of, or what has several keys."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from steelyard.base.printable import executable_name
from steelyard.records.fields import (
    FEW,
    Amount,
    Count,
    Name,
    Real,
    Share,
    Text,
    Whole,
)


class RecordPart(Struct, frozen=True, kw_only=True):
    """Base of the parts of a record."""


class JobMpi(RecordPart, frozen=True):
    """The MPI that a job was asked to use; `prefix` is None for an MPI of the system."""

    name: Name
    family: Name = ""
    version: Name = ""
    mpiexec: Text = ""
    prefix: Text | None = None


class LaunchMpi(RecordPart, frozen=True):
    """The MPI library that the engine ran with, in its own words."""

    library: Text
    version: Name = ""
    thread_level: Name = ""
    wtick_ns: Amount | None = None  # the step of MPI_Wtime, as the library says
    wtime_is_global: bool | None = None
    cvars: Annotated[
        dict[Name, int | float | Text], FEW
    ] = {}  # control variables of protocols, from its tools interface
    pvars: tuple[Name, ...] = ()  # names of those that count messages waiting to be matched
    given: Annotated[
        dict[Name, int | float | Text], FEW
    ] = {}  # the value that it has for each variable of the environment
    unknown: tuple[Name, ...] = ()  # variables of the environment that it has no control variable for


class LaunchShmem(RecordPart, frozen=True):
    """The OpenSHMEM library that the engine ran with, in its own words; `heap` is the size of the symmetric
    heap that the environment asks for.
    """

    library: Text
    version: Name = ""  # of the standard
    thread_level: Name = ""
    heap: Text | None = None


class Clock(RecordPart, frozen=True):
    """A timer: the cost of one reading and its smallest step, both in ns."""

    name: Name
    cost_ns: Amount
    tick_ns: Amount
    summary: Text = ""
    forced: bool = False  # asked for by name, not chosen
    hz: Amount | None = None  # rate of rank 0's counter; guaranteed to hz_ppm
    hz_ppm: Amount | None = None


class Core(RecordPart, frozen=True):
    """Cycles per second of rank 0's core when the launch began: by `counter` (the core's own) or `additions`.

    Dependent additions take a cycle each. They are used if nothing counts cycles.
    """

    hz: Amount | None = None
    by: Name | None = None


class Library(RecordPart, frozen=True):
    """A file that is loaded in a process: `path` is empty for the program, `build_id` is the
    linker's hash. If the linker made none, `hash` is one of its code and constants.
    """

    path: Text
    build_id: Name | None = None
    hash: Name | None = None


class Place(RecordPart, frozen=True):
    """The place of a rank: `cpus` is the set it was bound to (`0`, `0-1`), `cpu` where it was seen.

    A rank of several threads has `lanes`, the sets of the threads of its pool. `refused` is the reason if the
    kernel did not bind it or them.
    """

    rank: Count
    host: Name
    pid: Whole = 0
    cpus: Name = ""
    cpu: Whole = -1
    lanes: tuple[Name, ...] = ()
    refused: Text | None = None
    clock_cost_ns: Amount = 0.0
    clock_tick_ns: Amount = 0.0
    clock_base_ns: Whole = 0  # the reading of the source at timestamp 0
    clock_doubt: Text | None = None  # why it is not sound
    clock_passed: Text | None = None  # a better clock that this rank found doubtful, and why: `tsc: ...`
    launch_ns: Count | None = None  # from the start of the launcher to main, by the clocks of day
    exec_to_main_ns: Whole | None = None  # from the process's start, in Linux's steps of 10 ms
    other_libraries: bool = False  # its program or libraries differ from those of rank 0
    machine: Text = ""  # of rank 0, and of ranks on another kind of machine: model, CPUs, kernel
    main_to_init_ns: Count | None = None  # from there until MPI_Init_thread returned
    init_ns: Count | None = None  # MPI_T_init_thread and MPI_Init_thread


class WatchedPath(RecordPart, frozen=True):
    """The two ranks that a method without a common clock watched: `late` started last, `observer` reported.

    `late_ns` and `observer_ns` are one-way times of the messages from and to rank 0. The timestamps contain
    them, but they are no part of the operation. `loops` of a few calls each found the two ranks.
    """

    late: Count
    observer: Count
    late_ns: Real
    observer_ns: Real
    loops: Count = 0


class Hint(RecordPart, frozen=True):
    """An info key that promises something to the library; `has`: the library's value for it, if
    it gives one.
    """

    key: Name
    asked: Text
    has: Text | None = None


class FileSystem(RecordPart, frozen=True):
    """What the files of a test case are on: the `folder` of the campaign's files on rank 0, the type of the
    file system in the kernel's words (`ext4`, `nfs4`), its kind (`memory`, `local`, `network`), the options
    of its mount, and its bytes when the test case began. None: the kernel does not tell.
    """

    folder: Text
    type: Name | None = None
    kind: Name | None = None
    options: Text | None = None
    free_bytes: Count | None = None
    total_bytes: Count | None = None


class Transport(RecordPart, frozen=True):
    """What carried messages that an op gave to a library, in the library's words: `tcp`, `posix, cma`.

    `layer` is its layer of the floor, instead of the op's.
    """

    name: Name
    layer: Name
    library: Text


class Busy(RecordPart, frozen=True):
    """A process outside the launch, and the CPU time that it used in the `seconds` it was watched.

    `peak_share` is the largest fraction of a CPU that it used between two looks. `cpus` are its CPUs at looks
    after it had run.
    """

    pid: Whole
    command: Text
    cpu_ns: Count
    seconds: Amount
    peak_share: Amount = 0.0
    cpus: tuple[Whole, ...] = ()

    @property
    def name(self) -> str:
        """The name of the executable; earlier versions kept the whole command line."""
        return executable_name(self.command)


class Phase(RecordPart, frozen=True):
    """A part of an op: ns and calls of each rank, summed over a chunk. Some are communication.

    `work_share` is its share of the op's counted work; None if work is not counted. `moved` are bytes of the
    data that each rank read and wrote in it, each array once, as STREAM counts; empty if they are not
    counted.
    """

    name: Name
    communicates: bool
    ns: tuple[Count, ...]
    calls: tuple[Count, ...]
    work_share: Share | None = None
    moved: tuple[Count, ...] = ()


class Interface(RecordPart, frozen=True):
    """A network interface of a host: bytes that it has received and sent since it was made, its line rate in
    Mbit/s, its state in the kernel's words, and the CPUs near its device. `kind` is net or infiniband. None:
    the system does not tell, or the device is made by software.
    """

    name: Name
    kind: Name
    rx_bytes: Count
    tx_bytes: Count
    mbits: Count | None = None
    state: Name | None = None
    cpus: Name | None = None


class HostInterfaces(RecordPart, frozen=True):
    """The network interfaces of a host, as one of its ranks saw them; segments of TCP that the host has sent,
    and those that it has sent again, because none said that they had come (None: the system does not tell).
    """

    rank: Count
    host: Name
    interfaces: tuple[Interface, ...] = ()
    tcp_sent: Count | None = None
    tcp_resent: Count | None = None


class StuckRank(RecordPart, frozen=True):
    """The place of a rank in the code when its launch hung, after it had begun so many samples.

    `calls` are its functions, the innermost first; those without a name are places in a file.
    """

    rank: Count
    host: Name
    op: Name
    phase: Name
    sample: Count
    calls: tuple[Text, ...] = ()

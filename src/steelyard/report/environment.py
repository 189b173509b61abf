"""Where a campaign ran: machine, MPI, clock and the verified binding, in words and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from steelyard.analyses.hosts.tables import seen_tables
from steelyard.base.cpulist import cpu_set, cpu_words
from steelyard.base.plural import counted
from steelyard.base.units import format_time
from steelyard.diagnostics.results.binding import strays
from steelyard.records.job_file import JobFile
from steelyard.records.parts import Place
from steelyard.records.schema import Launch
from steelyard.render.sections import facts, plain_table
from steelyard.render.table import Table
from steelyard.report.provenance import provenance_table
from steelyard.report.setting_words import machine_words, setting_words
from steelyard.results.hosts import hosts_seen
from steelyard.results.load import Measured
from steelyard.results.states import changes_of, shared_by
from steelyard.results.threads import seen_lanes

MOST_BINDINGS = 12  # bindings that are shown singly, if they are where a placement put them
CORE_WIDTH, CORE_HEIGHT, CORES_IN_ROW = 64, 46, 12  # of the picture, in CSS pixels


@dataclass(frozen=True, slots=True)
class CoreRow:
    """A core in the picture of a binding: its box, its hardware threads, the ranks that may run there."""

    x: int
    y: int
    cpus: str
    ranks: str


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding that `launches` share: rank, host, CPUs bound to, CPU seen; cores if there is one host.

    If a rank has several threads, the CPUs of each thread follow its own: `0-1: 1, 0`.
    """

    title: str
    launches: str
    table: Table
    cores: tuple[CoreRow, ...]
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class HostSetting:
    """The place of a campaign as tables, and its bindings; `states`: the events of each launch."""

    machine: Table
    hosts: tuple[Table, ...]
    engines: Table
    bindings: tuple[Binding, ...]
    notes: tuple[str, ...]
    settings: Table  # of the system, when the first launch began
    provenance: Table
    states: Table


# Settings that a launch makes together -> what they are.
_PRESETS = {
    "oversubscribed": "more ranks and threads than cores: they are not bound, and give way while they wait",
    "shared-cpus": "a placement on shared CPUs: ranks and threads give way while they wait",
}
STATE_COLUMNS = (
    "MPI",
    "launch",
    "rank",
    "CPUs",
    "took",
    "others",
    "stolen",
    "involuntary",
    "voluntary",
    "migrations",
)
MOST_STATES = 40  # rows; if there are more, those whose CPUs others used most


def settings_of(measured: Measured) -> HostSetting:
    """Collect what the records and campaign.json say about the place."""
    notes = dict.fromkeys(note for file in measured.files for note in file.job.notes)
    bindings, left_out = _bindings(measured)
    if left_out:
        notes[f"{left_out} more placements are where they were asked to be, and are not shown below"] = None
    return HostSetting(
        machine=facts(machine_words(measured.campaign.machine)),
        hosts=tuple(replace(table, title="") for table in seen_tables(hosts_seen(measured))),
        engines=facts(_engines(measured)),
        bindings=bindings,
        notes=tuple(notes),
        settings=facts(_settings(measured)),
        provenance=provenance_table(measured.files),
        states=_states(measured),
    )


def _settings(measured: Measured) -> tuple[tuple[str, str], ...]:
    """List the settings that the machine's table does not have."""
    told = next((file.job.settings for file in measured.files if file.job.settings), {})
    words = ((name, value) for name, value in told.items() if name not in measured.campaign.machine)
    return tuple(pair for name, value in words if (pair := setting_words(name, value))[1])


def _states(measured: Measured) -> Table:
    """List what happened between the first and the last point of each launch, for each rank."""
    found: list[tuple[float, tuple[str, ...]]] = []
    for file in measured.files:
        shares = {change.rank: group.share for group in shared_by(file) for change in group.changes}
        for change in changes_of(file):
            seconds = change.passed_ns / 1e9
            if seconds > 0 and change.cpus:
                share = shares.get(change.rank)
                cells = (
                    file.job.mpi.name if file.job.mpi else "none",
                    str(file.job.launch),
                    str(change.rank),
                    cpu_words(change.cpus),
                    f"{seconds:.2f} s",
                    f"{100 * share:.1f} %" if share is not None else "",
                    f"{100 * change.stolen:.1f} %",
                    f"{change.involuntary / seconds:.3g}/s",
                    f"{change.voluntary / seconds:.3g}/s",
                    str(change.migrations),
                )
                found.append((share or 0.0, cells))
    notes: tuple[str, ...] = ()
    if len(found) > MOST_STATES:
        notes = (f"The {MOST_STATES} of {len(found)} rows whose CPUs others used most.",)
        found = sorted(found, key=lambda one: -one[0])[:MOST_STATES]
    table = plain_table("", STATE_COLUMNS, tuple(cells for _, cells in found), ("MPI", "CPUs"))
    return replace(table, notes=notes)


def _begin_and_end(file: JobFile) -> Iterator[tuple[str, int]]:
    """Find the times of start-up and MPI_Finalize on the slowest known rank of a launch, in ns."""
    begins = [place.init_ns for place in (file.launch.places if file.launch else ()) if place.init_ns]
    if begins:
        yield "MPI_Init_thread", max(begins)
    if file.closes:
        yield "MPI_Finalize", max(close.finalize_ns for close in file.closes)


def _spans(measured: Measured) -> Iterator[tuple[str, str]]:
    """Write the range of these times over the launches."""
    times: dict[tuple[str, str], list[int]] = {}
    for file in measured.files:
        for name, took in _begin_and_end(file):
            times.setdefault((name, file.job.mpi.name if file.job.mpi else ""), []).append(took)
    for (name, mpi), all_took in times.items():
        span = " to ".join(dict.fromkeys(format_time(end) for end in (min(all_took), max(all_took))))
        yield name, f"{mpi}: {span}, slowest rank, {counted(len(all_took), 'launch')}"


def _engines(measured: Measured) -> tuple[tuple[str, str], ...]:
    """List engine, MPI, clock and yielding of all launches, each text once."""
    found: dict[tuple[str, str], None] = {}
    for file in measured.files:
        if (start := file.launch) is None:
            continue
        build = ", ".join(
            str(start.build[key]) for key in ("compiler", "flags", "added") if start.build.get(key)
        )
        found["engine", f"steelyard-{start.engine} {start.version}" + (f" ({build})" if build else "")] = None
        if file.job.mpi:
            library = start.mpi.library.splitlines()[0].strip() if start.mpi and start.mpi.library else ""
            level = f", thread level {start.mpi.thread_level}" if start.mpi and start.mpi.thread_level else ""
            found["MPI", f"{file.job.mpi.name}: {library}{level}"] = None
        found["clock", _clock_words(start)] = None
        if start.yield_ != "real":
            found["sched_yield", start.yield_] = None
        if file.job.preset:
            found["set for that", _PRESETS.get(file.job.preset, file.job.preset)] = None
    found["seed", str(measured.campaign.seed)] = None
    order = ("engine", "MPI", "clock", "sched_yield", "set for that", "seed")
    return (*sorted(found, key=lambda pair: order.index(pair[0])), *_spans(measured))


def _clock_words(start: Launch) -> str:
    """Name the clock, its cost and its tick; the cost varies between launches and is rounded to 5 ns."""
    cost = 5 * round(start.clock.cost_ns / 5) if start.clock.cost_ns >= 5 else round(start.clock.cost_ns, 1)
    words = f"a reading costs about {format_time(cost)}, tick {format_time(start.clock.tick_ns)}"
    return f"{start.clock.name}, {words}"


def _bindings(measured: Measured) -> tuple[tuple[Binding, ...], int]:
    """Group launches with the same MPI, number of ranks and binding; count those that are left out.

    If many placements are where they were asked to be, the first ones are enough.
    """
    same: dict[tuple[str, tuple[tuple[str, str, str], ...]], list[tuple[int, Launch]]] = {}
    left_out: set[object] = set()
    for file in measured.files:
        if file.launch is None:
            continue
        mpi = file.job.mpi.name if file.job.mpi else "no MPI"
        places = sorted(file.launch.places, key=lambda place: place.rank)
        key = (mpi, tuple((str(place.rank), place.host, _bound(file, place)) for place in places))
        if key not in same and len(same) >= MOST_BINDINGS and not any(strays(file)):
            left_out.add(key)
        else:
            same.setdefault(key, []).append((file.job.launch, file.launch))
    groups = measured.campaign.machine.get("cores")
    cores = groups if isinstance(groups, list) else []
    return tuple(_binding(mpi, where, found, cores) for (mpi, where), found in same.items()), len(left_out)


def _bound(file: JobFile, place: Place) -> str:
    """Format the CPUs of a rank, and of each of several threads, `0-1: 1, 0`, or of teams that differed."""
    teams = seen_lanes(file, place.rank) or ([place.lanes] if place.lanes else [])
    return f"{place.cpus}: {' or '.join(', '.join(lanes) for lanes in teams)}" if teams else place.cpus


def _binding(
    mpi: str,
    where: tuple[tuple[str, str, str], ...],
    found: list[tuple[int, Launch]],
    groups: list[list[int]],
) -> Binding:
    seen: dict[int, set[int]] = {}
    for _, start in found:
        for place in start.places:
            seen.setdefault(place.rank, set()).add(place.cpu)
    rows = tuple((rank, host, cpus, cpu_words(seen[int(rank)])) for rank, host, cpus in where)
    table = plain_table("", ("rank", "host", "bound to CPUs", "seen on CPU"), rows, ("host", "bound to CPUs"))
    several_hosts = len({host for _, host, _ in where}) > 1
    cores: list[CoreRow] = []
    for number, group in enumerate([] if several_hosts else groups):
        ranks = [rank for rank, _, cpus in where if cpu_set(cpus.partition(":")[0]) & set(group)]
        y, x = divmod(number, CORES_IN_ROW)
        label = ", ".join(ranks) if len(ranks) <= 3 else counted(len(ranks), "rank")
        cores.append(CoreRow(x * CORE_WIDTH, y * CORE_HEIGHT, cpu_words(group), label))
    columns = min(len(cores), CORES_IN_ROW)
    rows_high = -(-len(cores) // CORES_IN_ROW)
    count = counted(len(where), "rank")
    launches = cpu_words(number for number, _ in found)
    return Binding(
        f"{mpi}, {count}", launches, table, tuple(cores), columns * CORE_WIDTH, rows_high * CORE_HEIGHT
    )

"""Hosts: what the records of a campaign over several hosts say about each one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from steelyard.records.parts import Place
from steelyard.results.load import Measured
from steelyard.results.row import Row
from steelyard.results.states import beside, changes_of, neighbours, shared_by

_MOST_NAMED = 3  # processes


class HostSeen(Struct, frozen=True, kw_only=True):
    """A host over all launches; None if neither the system nor a rank shows it.

    `launches` had at most `ranks` ranks of it. `clock_cost_ns` and `clock_tick_ns` are the largest of its
    ranks. `others` is the share of its ranks' CPU time that others took in the worst launch, `stolen` what
    the hypervisor took. `processes` are those seen to take CPU time; only the host that ran the campaign
    looks for them.
    """

    host: str
    machine: str
    launches: int
    ranks: int
    clock_cost_ns: float
    clock_tick_ns: float
    others: float | None
    stolen: float | None
    is_watched: bool
    processes: tuple[str, ...]


def hosts_seen(measured: Measured) -> tuple[HostSeen, ...]:
    """Describe each host, in the order in which ranks were on it; none if there is only one."""
    places: dict[str, list[list[Place]]] = {}
    machines: dict[str, str] = {}
    others: dict[str, list[float]] = {}
    stolen: dict[str, list[float]] = {}
    processes: dict[str, dict[str, None]] = {}
    for file in measured.files:
        found: dict[str, list[Place]] = {}
        for place in file.launch.places if file.launch else ():
            found.setdefault(place.host, []).append(place)
        first = _machine_of(place for own in found.values() for place in own if place.rank == 0)
        where = {place.rank: host for host, own in found.items() for place in own}
        for host, own in found.items():
            places.setdefault(host, []).append(own)
            machines.setdefault(host, _machine_of(own) or first)
        for group in shared_by(file):
            others.setdefault(group.host, []).append(group.share)
        for change in changes_of(file):
            if change.rank in where:
                stolen.setdefault(where[change.rank], []).append(change.stolen)
        for watch in file.watches:
            seen = [one for one, _ in neighbours(file)] + list(beside(file))
            processes.setdefault(watch.host, {}).update(dict.fromkeys(one.name for one in seen))
    if len(places) < 2:
        return ()
    return tuple(
        HostSeen(
            host=host,
            machine=machines[host],
            launches=len(launches),
            ranks=max(map(len, launches)),
            clock_cost_ns=max(place.clock_cost_ns for launch in launches for place in launch),
            clock_tick_ns=max(place.clock_tick_ns for launch in launches for place in launch),
            others=max(others.get(host, ()), default=None),
            stolen=max(stolen.get(host, ()), default=None),
            is_watched=host in processes,
            processes=_few(list(processes.get(host, ()))),
        )
        for host, launches in places.items()
    )


def _machine_of(places: Iterable[Place]) -> str:
    return next((place.machine for place in places if place.machine), "")


def _few(names: Sequence[str]) -> tuple[str, ...]:
    more = len(names) - _MOST_NAMED
    return (*names[:_MOST_NAMED], *((f"{more} more",) if more > 0 else ()))


def hosts_of_ranks(row: Row) -> tuple[str, ...]:
    """List the host of each rank, if all are known and different; else none."""
    if row.placed is not None and len(row.placed.hosts) <= 2:
        return ()
    hosts = tuple(part.rpartition(":")[0] for part in (row.placement or "").split("|"))
    return hosts if len(set(hosts)) == row.ranks and all(hosts) else ()

"""Tables of hosts, a line for each: message times from host to host, and the state of each host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.hosts.in_full import measured_in_full
from steelyard.analyses.hosts.model import HostMatrix, HostTimes
from steelyard.base.units import format_bytes, format_ratio, format_time
from steelyard.render.table import NOTHING, Line, Table, number, plain_lines, remark, words
from steelyard.results.hosts import HostSeen
from steelyard.rows.labels import rows_facts
from steelyard.stats.peer_outliers import LEAST_LAUNCHES, LEAST_PLACES

_EXPLAINED = (
    "each host with the others: the median of its pairs, its ratio to the median host's, and the nearest and "
    "farthest host"
)
_NOTE = (
    f"With fewer than {LEAST_PLACES} hosts, or {LEAST_LAUNCHES} launches of all their pairs, nothing shows "
    "which is the odd one."
)


_MOST_LINES = 64  # of hosts; of more, the slowest are shown
_SLOWEST = 16


def host_tables(matrices: Sequence[HostMatrix]) -> Iterator[Table]:
    """Make a table for each test case whose pairs of hosts were measured."""
    without = ("bytes", "placement", "round")
    facts = rows_facts([matrix.row for matrix in matrices], without=without)
    for matrix, told in zip(matrices, facts, strict=True):
        row = matrix.row
        said = [row.op, *([format_bytes(row.bytes)] if row.sized else [])]
        said += [fact.said for name, fact in told.items() if not fact.is_usual and "round" not in name]
        times, notes = matrix.times, () if matrix.can_tell else (_NOTE,)
        slow = [time.host for time in times if time.is_slower]
        if matrix.is_drawn and (again := measured_in_full(slow, matrix.hosts, row)):
            notes = (*notes, f"To measure each slow one with each of a few others: {again}")
        if len(times) > _MOST_LINES:
            by_ratio = sorted(times, key=lambda one: (not one.is_slower, -one.ratio))
            times = tuple(by_ratio[: max(_SLOWEST, len(slow))])
            notes = (f"The {len(times)} slowest of {len(matrix.hosts)} hosts.", *notes)
        yield Table(
            "from host to host",
            f"{_EXPLAINED}; {', '.join(word for word in said if word)}",
            (
                words("host"),
                number("time", strong=True),
                number("ratio"),
                words("nearest"),
                words("farthest"),
                remark(),
            ),
            tuple(Line(_cells(time)) for time in times),
            notes=notes,
        )


def _cells(times: HostTimes) -> tuple[str, ...]:
    ends = (f"{host}, {format_time(ns)}" for host, ns in (times.nearest, times.farthest))
    verdict = "slower than the others" if times.is_slower else ""
    return times.host, format_time(times.median), format_ratio(times.ratio), *ends, verdict


_SEEN = (
    "reading, tick: of the timer; others: the largest fraction of the ranks' CPU time that others took in a "
    "launch; stolen: by the hypervisor; processes: the busy ones of others"
)
_UNWATCHED = "Processes are watched only on the host that ran the campaign."


def seen_tables(hosts: Sequence[HostSeen], folder: str = "", most: int | None = None) -> Iterator[Table]:
    """Make a line for each host if there are several; `folder` names the folder if there are several.

    If there are more than `most`, those are shown whose CPUs others used most.
    """
    if not hosts:
        return
    machines = {host.machine or "not told" for host in hosts}
    common = machines.pop() if len(machines) == 1 else ""
    shown = hosts
    notes: tuple[str, ...] = (_UNWATCHED,)
    if most is not None and len(hosts) > most:
        shown = sorted(hosts, key=lambda one: -(one.others or 0.0))[:most]
        notes = (f"The {most} of {len(hosts)} hosts whose CPUs others used most; the report has all.", *notes)
    yield Table(
        f"hosts ({folder})" if folder else "hosts",
        f"{_SEEN}; all: {common}" if common else _SEEN,
        (
            words("host"),
            *map(number, ("launches", "ranks", "reading", "tick", "others", "stolen")),
            words("processes"),
            *([] if common else [words("machine")]),
        ),
        plain_lines((*_seen_cells(one), *([] if common else [one.machine or "not told"])) for one in shown),
        notes=notes,
    )


def _seen_cells(host: HostSeen) -> tuple[str, ...]:
    shares = (NOTHING if share is None else f"{100 * share:.1f} %" for share in (host.others, host.stolen))
    timer = map(format_time, (host.clock_cost_ns, host.clock_tick_ns))
    processes = ", ".join(host.processes) or ("none" if host.is_watched else "not watched")
    return host.host, str(host.launches), str(host.ranks), *timer, *shares, processes

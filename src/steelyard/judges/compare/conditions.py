"""Conditions that all arms must share, so that only the factor makes the difference.

A placement, a timer, a transport or a way to wait changes times more than most factors do. An arm with
another one is not compared, unless that follows from the factor, or the reader asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from steelyard.base.errors import InputError
from steelyard.results.facets import Ranks, Setup
from steelyard.results.row import Row

HARDLY, OFTEN = 0.01, 1.0  # calls of sched_yield per operation: a rank that spins, and one that yields

# Consequences of a factor, which may differ between its values.
_CONSEQUENCES = {
    "mpi": ("transport", "yields"),
    "shmem": ("transport", "yields"),
    "engine": ("clock",),
    "placement": ("placement", "yields"),
    "param": ("yields",),
    "omp": ("placement", "yields"),
    "env": ("transport", "yields"),
    "modules": ("transport", "yields"),
    "wrapper": ("transport", "yields"),
    "files": (),
    "threads": ("placement", "yields"),
    "thread_level": ("yields",),
    "ranks": ("placement", "transport", "yields"),
    "hosts": ("placement", "transport", "yields"),
    "method": ("yields",),
}


def consequences(factor: str) -> tuple[str, ...]:
    """List the conditions that may differ because of this factor: `param.root` is one of `param`."""
    return _CONSEQUENCES[factor.partition(".")[0]]


def differing(case: Sequence[Row]) -> dict[str, str]:
    """Find the conditions in which the arms of a test case differ, and their values: `0|1 against 0-1|0-1`.

    Conditions that the records of an arm do not have are ignored.
    """
    found = {name: told(case) for name, told in _TOLD.items()}
    return {name: text for name, text in found.items() if text}


def check_conditions(names: Collection[str]) -> None:
    """Raise InputError for a name that is no condition."""
    for name in names:
        if name not in CONDITIONS:
            raise InputError(f"--despite {name} is no condition; give {', '.join(CONDITIONS)}")


def _placement(case: Sequence[Row]) -> str:
    return _against([_binding(row) for row in case])


def _binding(row: Row) -> str | None:
    """List the CPUs of the ranks, with hosts by their order: other nodes of the same kind are as good."""
    if row.placement is None:
        return None
    hosts: dict[str, int] = {}
    parts = [one.rpartition(":") for one in row.placement.split("|")]
    return "|".join(
        f"host {hosts.setdefault(host, len(hosts)) + 1}:{cpus}" if host else cpus for host, _, cpus in parts
    )


def _clock(case: Sequence[Row]) -> str:
    return _against([row.get(Setup).clock for row in case])


def _transport(case: Sequence[Row]) -> str:
    """Compare transports. None is a value: the MPI chooses, within a host rarely TCP."""
    return _against([row.transport or ("the library's choice" if row.mpi else None) for row in case])


def _yields(case: Sequence[Row]) -> str:
    """Compare whether waiting ranks yield, by their settings or their counts."""
    if settings := _against([row.get(Setup).sched_yield for row in case]):
        return settings
    counts = [row.get(Ranks).yields_per_op for row in case]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts) or min(known) >= HARDLY or max(known) < OFTEN:
        return ""
    return f"{' against '.join(f'{count:.3g}' for count in known)} calls of sched_yield per operation"


def _against(values: Sequence[str | None]) -> str:
    known = dict.fromkeys(value for value in values if value is not None)
    return " against ".join(known) if len(known) > 1 else ""


_TOLD: dict[str, Callable[[Sequence[Row]], str]] = {
    "placement": _placement,
    "clock": _clock,
    "transport": _transport,
    "yields": _yields,
}
CONDITIONS = tuple(_TOLD)

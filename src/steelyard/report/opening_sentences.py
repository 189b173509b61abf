"""First answers, in a sentence each: what was measured where, how rivals compare, what held."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.base.plural import counted, counted_range, joined
from steelyard.results.load import Measured
from steelyard.results.row import Row
from steelyard.rows.host_words import host_names, hosts_words

MOST_NAMED = 3  # operations that a title names, and that have a sentence of their own


def title_words(folders: Mapping[str, Measured], rows: Sequence[Row]) -> str:
    """Write the title, `mpi.pingpong, openmpi-4.1.4 against mpich-5.0.2, node7, 23 Nov 2026`.

    Hosts are named; if there are many, only the first.
    """
    ops = list(dict.fromkeys(row.op for row in rows))
    names = list(dict.fromkeys(folder.campaign.name for folder in folders.values() if folder.campaign.name))
    families = list(dict.fromkeys(op.partition(".")[0] + ".*" for op in ops))
    if len(ops) > 1 and len(names) == 1 and names[0] != "run":
        what = names[0]
    elif len(ops) <= MOST_NAMED:
        what = joined(ops)
    else:
        what = f"{len(ops)} operations of {', '.join(families)}"
    mpis = list(dict.fromkeys(row.mpi for row in rows if row.mpi))
    rivals = list(folders) if len(folders) > 1 else mpis
    days = dict.fromkeys(day_words(folder.campaign.created) for folder in folders.values())
    parts = [
        what,
        " against ".join(filter(None, (rivals[0], joined(rivals[1:])))) if rivals else "",
        hosts_words(name for folder in folders.values() for name in host_names(folder)),
        " and ".join(filter(None, days)),
    ]
    return ", ".join(part for part in parts if part)


def day_words(created: str) -> str:
    """Format a date, `23 Nov 2026`; other text stays as it is."""
    try:
        return f"{datetime.datetime.fromisoformat(created):%-d %b %Y}"
    except ValueError:
        return created


def place_words(measured: Measured, rows: Sequence[Row]) -> str:
    """Describe CPU, cores, kernel, MPIs, ranks, threads and launches in one line."""
    machine: Mapping[str, Any] = measured.campaign.machine
    cores, kernel = machine.get("cores"), machine.get("kernel")
    mpis = list(dict.fromkeys(row.mpi for row in rows if row.mpi))
    launches = sorted({row.launch_count for row in rows if row.launch_count})
    threads = sorted({row.threads for row in rows})
    parts = [
        str(machine.get("cpu_model") or ""),
        counted(len(cores), "core") if isinstance(cores, list) else "",
        f"Linux {kernel}" if kernel else "",
        ", ".join(mpis),
        counted_range((row.ranks for row in rows), "rank"),
        counted_range(threads, "thread") if threads != [1] and threads else "",
        counted_range(launches, "launch"),
    ]
    return " · ".join(part for part in parts if part)


def interval_level(rows: Sequence[Row]) -> str:
    """Write the level of the rows' intervals, `at least 95 %`; nothing if there is none."""
    levels = [row.time_level for row in rows if row.time_level is not None]
    return f"at least {100 * min(levels):.3g} %" if levels else ""

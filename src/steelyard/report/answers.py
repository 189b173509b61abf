"""First answers, in a sentence each: what was measured where, how rivals compare, what held."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steelyard.base.plural import counted, counted_range, joined
from steelyard.base.units import format_bytes, format_factor
from steelyard.models.ratios import Ratio
from steelyard.report.section import rows_in
from steelyard.results.facets import Rate
from steelyard.results.load import Measured
from steelyard.results.row import NOT_YET, Row
from steelyard.show.figure_groups import FigureGroup
from steelyard.show.host_sheets import host_names, hosts_words
from steelyard.show.row_words import bandwidth_words, value_words

MOST_NAMED = 3  # operations that a title names, and that have a sentence of their own


def title_words(folders: Mapping[str, Measured], rows: Sequence[Row]) -> str:
    """Write the title, `mpi.pingpong, openmpi-4.1.4 against mpich-5.0.2, node7, 23 Nov 2026`.

    Hosts are named; if there are many, only the first.
    """
    ops = list(dict.fromkeys(row.op for row in rows))
    names = list(dict.fromkeys(one.campaign.name for one in folders.values() if one.campaign.name))
    families = list(dict.fromkeys(op.partition(".")[0] + ".*" for op in ops))
    if len(ops) <= MOST_NAMED:
        what = joined(ops)
    elif len(names) == 1 and names[0] != "run":
        what = names[0]
    else:
        what = f"{len(ops)} operations of {', '.join(families)}"
    mpis = list(dict.fromkeys(row.mpi for row in rows if row.mpi))
    rivals = list(folders) if len(folders) > 1 else mpis
    days = dict.fromkeys(day_words(one.campaign.created) for one in folders.values())
    parts = [
        what,
        " against ".join(filter(None, (rivals[0], joined(rivals[1:])))) if rivals else "",
        hosts_words(name for one in folders.values() for name in host_names(one)),
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


def outcome_words(rows: Sequence[Row]) -> str:
    """Count the test cases that converged, failed or were skipped, in one sentence."""
    count = {status: sum(1 for row in rows if row.status == status) for status in ("ok", "failed", "skipped")}
    settled = sum(1 for row in rows if row.status == "ok" and not {"UNSETTLED", "TIME"} & set(row.flags))
    cases = "test case" if len(rows) == 1 else "test cases"
    words = [f"{settled} of {len(rows)} {cases} converged in all launches"]
    if unsettled := count["ok"] - settled:
        words.append(f"{unsettled} did not")
    if count["failed"]:
        words.append(f"{count['failed']} failed")
    to_come = sum(1 for row in rows if row.why == NOT_YET)
    if skipped := count["skipped"] - to_come:
        words.append(f"{skipped} {'was' if skipped == 1 else 'were'} skipped")
    if to_come:
        words.append(f"{to_come} {'is' if to_come == 1 else 'are'} not measured yet")
    return ", ".join(words) + "."


def answers(groups: Sequence[FigureGroup], ratios: Mapping[int, Ratio]) -> Iterator[str]:
    """Write a sentence for each operation and rival if things are compared, else for each operation."""
    if not ratios:
        for group in groups if len(groups) <= MOST_NAMED else ():
            if words := _span_words(group):
                yield f"{group.title}: {words}."
        return
    compared = [
        (group.title, own)
        for group in groups
        if (own := [ratios[id(row)] for row in rows_in(group) if id(row) in ratios])
    ]
    if len(compared) > MOST_NAMED:
        compared = [(f"{len(compared)} operations", [one for _, own in compared for one in own])]
    for name, own in compared:
        for rival in dict.fromkeys(ratio.name for ratio in own):
            yield f"{name}: {_rival_words([ratio for ratio in own if ratio.name == rival])}."


def _rival_words(ratios: Sequence[Ratio]) -> str:
    """Write `b takes 0.9 to 8 times as long as a; by the intervals it is slower in 4 of 5 test cases and
    cannot be distinguished in 1`: an interval above 1, below it, or around it.
    """
    low, high = (format_factor(end(ratio.value for ratio in ratios)) for end in (min, max))
    span = low if low == high else f"{low} to {high}"
    words = f"{ratios[0].name} takes {span} times as long as {ratios[0].base_name}"
    told = [ratio for ratio in ratios if ratio.low is not None]
    if not told:
        return f"{words}; a single launch has no interval"
    above = sum(1 for ratio in told if ratio.low is not None and ratio.low > 1)
    below = sum(1 for ratio in told if ratio.high is not None and ratio.high < 1)
    counts = (
        (above, "is slower"),
        (below, "is faster"),
        (len(told) - above - below, "cannot be distinguished"),
    )
    parts = [(verdict, count) for count, verdict in counts if count]
    if len(told) == 1:
        return f"{words}; by the interval it {parts[0][0]}"
    said = [f"{verdict} in {count}" for verdict, count in parts]
    said[0] += f" of {len(told)} test cases"
    return f"{words}; by the intervals it {joined(said)}"


def _span_words(group: FigureGroup) -> str:
    """Write `138 ns at 0 B to 87.1 us at 1 MiB`; nothing for several lines, which the picture compares."""
    rows = [row for row in rows_in(group) if (row.median or 0) > 0]
    if len(group.lines) != 1 or not rows:
        return ""
    first, last = rows[0], rows[-1]
    if first is last:
        return value_words(first)
    best = max(rows, key=lambda row: row.get(Rate).bandwidth or 0.0)
    rate = (
        f", up to {bandwidth_words(best)} at {format_bytes(best.bytes)}" if best.get(Rate).bandwidth else ""
    )
    ends = (f"{value_words(row)} at {format_bytes(row.bytes)}" for row in (first, last))
    return " to ".join(ends) + rate


def interval_level(rows: Sequence[Row]) -> str:
    """Write the level of the rows' intervals, `at least 95 %`; nothing if there is none."""
    levels = [row.time_level for row in rows if row.time_level is not None]
    return f"at least {100 * min(levels):.3g} %" if levels else ""

"""Rows in words: how sentences, tables and pictures name points and what they say of them."""

from __future__ import annotations

from steelyard.results import Row
from steelyard.units import format_bytes, format_rate, format_time

YIELDS = 0.01  # sched_yield per operation: fewer are not worth a word


def row_name(row: Row, mpi: bool = True) -> str:
    """How a sentence names a point: `mpi.bcast 8 B on 4 ranks of mpich-4.0.2`."""
    size = f" {format_bytes(row.bytes)}" if row.bytes else ""
    team = f" on {row.ranks} ranks" if row.ranks > 1 else ""
    team += f" with {row.threads} threads" if row.threads > 1 else ""
    return f"{row.op}{size}{team}" + (f" of {row.mpi}" if row.mpi and mpi else "")


def mode_words(row: Row) -> str:
    """`70 % at 203 ns, 30 % at 450 ns`."""
    return ", ".join(f"{100 * mode.share:.0f} % at {format_time(mode.value)}" for mode in row.modes)


def blame_words(row: Row) -> str | None:
    """What the looks at the machine make of several modes; None where they tell nothing."""
    if row.blame is None or len(row.modes) < 2:
        return None
    fast, slow = row.modes[0], row.modes[-1]
    canary = (format_time(one.canary_ns or 0) for one in (fast, slow))
    noise = (f"{100 * (one.noise or 0):.0f} %" for one in (fast, slow))
    if row.blame == "noise":
        return "from outside: a rank lost {} of its time in the fast mode and {} in the slow one".format(
            *noise
        )
    where = "below MPI" if row.blame == "below" else "in the MPI library or its processes"
    return where + ": a cache line took {} in the fast mode and {} in the slow one".format(*canary)


def interval_words(low: float | None, high: float | None) -> str:
    """`198 – 211 ns`, `950 ns – 1.02 us`, a dash where there is no interval."""
    if low is None or high is None:
        return "–"
    first, last = format_time(low), format_time(high)
    number, _, unit = first.partition(" ")
    return f"{number if last.endswith(' ' + unit) else first} – {last}"


def relative_words(row: Row) -> str:
    """The interval relative to the median, `±1.2 %`, `−3.0 +40 %` where lopsided; a dash without one."""
    if row.median is None or row.ci_low is None or row.ci_high is None or row.median <= 0:
        return "–"
    below = 100 * (row.median - row.ci_low) / row.median
    above = 100 * (row.ci_high - row.median) / row.median
    if above > 999:
        return "> 10x"
    larger, smaller = max(above, below), min(above, below)
    if larger - smaller <= max(0.3 * larger, 0.5):  # as good as symmetric
        return f"±{_figures(larger)} %"
    return f"−{_figures(below)} +{_figures(above)} %"


def _figures(percent: float) -> str:
    return f"{percent:.0f}" if percent >= 9.5 else f"{percent:.1f}" if percent >= 0.095 else f"{percent:.1g}"


def time_words(value: float | None) -> str:
    """A time, a dash where there is none."""
    return "–" if value is None else format_time(value)


def rate_words(value: float | None) -> str:
    """A bandwidth, a dash where there is none."""
    return "–" if value is None else format_rate(value)


def notes(row: Row) -> list[str]:
    """What to know of a row beside its numbers: reason, modes, yields, slowest rank, rejected."""
    found = []
    if row.why:
        found.append(row.why)
    if len(row.modes) > 1:
        layer = {"below": " (below MPI)", "noise": " (from outside)", "above": " (in MPI)"}
        found.append(f"{len(row.modes)} modes{layer.get(row.blame or '', '')}: {mode_words(row)}")
    if row.quantile is not None and row.quantile_value is not None:
        interval = interval_words(row.quantile_low, row.quantile_high)
        found.append(f"p{100 * row.quantile:g} {format_time(row.quantile_value)} ({interval})")
    if row.clock_error_ns is not None:
        found.append(f"clocks ±{format_time(row.clock_error_ns)}")
    if "NOISY" in row.flags and len(row.modes) == 1 and row.slow_share is not None:
        found.append(f"{100 * row.slow_share:.0f} % above 3 medians")
    if "DRIFT" in row.flags and row.flag != "DRIFT":
        found.append("drifts")
    if row.yields_per_op is not None and row.yields_per_op >= YIELDS:
        found.append(f"{row.yields_per_op:.3g} yields/op")
    if row.slowest_share is not None and row.ranks > 2 and row.slowest_share > 0.9:
        found.append(f"rank {row.slowest_rank} slowest in {100 * row.slowest_share:.0f} %")
    if row.rejected:
        found.append(f"{row.rejected} rejected")
    return found


def row_line(row: Row) -> str:
    """A row as one plain line, for progress: `mpi.bcast 8 B on 4 ranks: 1.42 us ±2.1 % SETTLED`."""
    if row.median is None:
        return f"{row_name(row)}: {row.status}" + (f", {row.why}" if row.why else "")
    words = [f"{row_name(row)}: {format_time(row.median)}", relative_words(row)]
    if row.bandwidth is not None:
        words.append(format_rate(row.bandwidth))
    words.append(row.status if row.status != "ok" else row.flag or "")
    return " ".join(words) + "".join(f"; {note}" for note in notes(row))

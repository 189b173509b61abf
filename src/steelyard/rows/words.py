"""Rows in words: the names and values of points in sentences, tables and pictures."""

from __future__ import annotations

import re

from steelyard.base.units import (
    format_bytes,
    format_duration,
    format_rate,
    format_ratio,
    format_time,
    format_values,
)
from steelyard.render.table import NOTHING
from steelyard.results.facets import Modes, ReferenceOverhead
from steelyard.results.facets.modes import RowMode
from steelyard.results.row import Row, half_of
from steelyard.stats import Interval

_KIND = re.compile(r"^(unsupported|input): (rank \d+: )?")  # what precedes the reason in a skipped test case


def why_words(row: Row) -> str:
    """Say why a test case was skipped, without the kind of the reason and who gave it."""
    return _KIND.sub("", row.why or "no reason given")


def row_name(row: Row, mpi: bool = True) -> str:
    """Name a point in a sentence: `mpi.bcast 8 B on 4 ranks of mpich-4.0.2`."""
    size = f" {format_bytes(row.bytes)}" if row.sized else ""
    team = f" on {row.ranks} ranks" if row.ranks > 1 else ""
    team += f" with {row.threads} threads" if row.threads > 1 else ""
    team += f" placed {row.placed.text}" if row.placed else ""
    told = {**row.omp, **row.env, **row.method_params}
    given = f" with {format_values(told)}" if told else ""
    return f"{row.op}{size}{team}" + (f" of {row.mpi}" if row.mpi and mpi else "") + given


def overhead_words(beyond: ReferenceOverhead) -> tuple[str, str]:
    """Format the overhead beyond the reference, and its interval: `4.32 ns`, `4.10 – 4.51 ns`.

    If the interval holds 0, the upper bound: `≤ 21.6 us`. `none` if all of it is below 0, `unknown` if it has
    no upper end.
    """
    low, high = beyond.corrected_low, beyond.corrected_high
    if beyond.corrected is None or beyond.above is not None:
        return time_words(beyond.corrected), interval_words(low, high)
    if high is None:
        return "unknown", NOTHING
    return f"≤ {format_time(high)}" if high > 0 else "none", NOTHING


SPANNED = 100  # times: an end of an interval that is further from its ratio says that nothing is known there


def ratio_span(ratio: float | None, low: float | None, high: float | None) -> tuple[str, str, str]:
    """Format a ratio and its interval, a dash for what is missing: `1.023`, `0.981`, `1.066`.

    An end more than `SPANNED` times away is `< 1/100` or `> 100`; if both are, the ratio is unknown, too.
    """
    if ratio is None or low is None or high is None:
        first, last, value = (NOTHING if one is None else format_ratio(one) for one in (low, high, ratio))
        return value, first, last
    is_low, is_high = low * SPANNED < min(ratio, 1.0), high > SPANNED * max(ratio, 1.0)
    first = f"< 1/{SPANNED}" if is_low else format_ratio(low)
    last = f"> {SPANNED}" if is_high else format_ratio(high)
    return NOTHING if is_low and is_high else format_ratio(ratio), first, last


def cycles_words(ns: float | None, hz: float | None) -> str:
    """Convert a time to cycles of a clock of `hz`; a dash if that is not known."""
    if ns is None or hz is None:
        return NOTHING
    cycles = ns * hz / 1e9
    return f"{cycles:.3g}" if abs(cycles) < 1000 else f"{cycles:.0f}"


# Kind of a placement -> its words in sentences and tables.
PLACEMENT_WORDS = {
    "unbound": "not bound to any CPU",
    "same-cpu": "same CPU",
    "same-core": "same core",
    "shared-l2": "shared L2",
    "shared-l3": "shared L3",
    "same-node": "same NUMA node",
    "same-package": "same package",
    "other-package": "other package",
    "other-host": "other host",
    "same-host": "same host",
    "same-switch": "same switch",
    "other-switch": "other switch",
}


def cpus_words(placement: str) -> str:
    """Name the CPUs of each rank: `CPU 0`, `CPUs 0,1`."""
    return f"{'CPU' if placement.isdigit() else 'CPUs'} {','.join(placement.split('|'))}"


def pair_words(row: Row) -> str:
    """Describe the placement of a pair: `shared L3, CPU 1 takes the interrupts`."""
    if row.placed is None:
        return f"CPUs {row.placement}" if row.placement else ""
    words = PLACEMENT_WORDS.get(row.placed.kind, row.placed.kind)
    taking = " and ".join(map(str, row.placed.interrupts))
    verb = "take" if len(row.placed.interrupts) > 1 else "takes"
    return f"{words}, CPU {taking} {verb} the interrupts" if taking else words


def mode_words(row: Row) -> str:
    """`203 ns ± 2 % in 70 % of launches (35 to 93 %), 450 ns ± 3 % in 30 % (7 to 65 %)`."""
    unit = f" of {mode_unit(row)}"
    told = []
    for mode in row.get(Modes).modes:
        low, high = mode.share_low, mode.share_high
        span = f" ({100 * low:.0f} to {100 * high:.0f} %)" if low is not None and high is not None else ""
        told.append(f"{mode_value_words(mode)} in {100 * mode.share:.0f} %{unit}{span}")
        unit = ""
    return ", ".join(told)


def mode_value_words(mode: RowMode) -> str:
    """`203 ns ± 2 %`: the value of a mode, with half of its own interval."""
    half = half_words(mode.value, mode.low, mode.high)
    return format_time(mode.value) + ("" if half == NOTHING else f" ± {half}")


def mode_unit(row: Row) -> str:
    """Name the unit of modes' shares: `launches` if each was in one mode only, else `the time`."""
    modes = row.get(Modes).modes
    whole = row.launch_count > 1 and sum(mode.launches for mode in modes) == row.launch_count
    return "launches" if whole else "the time"


def blame_words(row: Row) -> str | None:
    """Say why there are several modes, by looks at the machine; None if they do not show it."""
    found = row.get(Modes)
    if found.blame is None or len(found.modes) < 2:
        return None
    fast, slow = found.modes[0], found.modes[-1]
    if found.blame == "noise":
        lost = [f"{100 * (one.noise or 0):.0f} %" for one in (fast, slow)]
        return (
            f"from outside: a rank lost {lost[0]} of its time in the fast mode and {lost[1]} in the slow one"
        )
    where = "below MPI" if found.blame == "below" else "in the MPI library or its processes"
    took = [format_time(one.canary_ns or 0) for one in (fast, slow)]
    words = f"{where}: a cache line took {took[0]} in the fast mode and {took[1]} in the slow one"
    ratio = found.canary_ratio
    return f"{words} ({ratio.low:.2f} to {ratio.high:.2f} times as long)" if ratio else words


BEYOND = "> 10x"  # the half of such an interval, see render/table.py
_SAYS_NOTHING = 999  # % by which an interval may exceed its value; a few launches may leave it wider


def interval_words(low: float | None, high: float | None, value: float | None = None) -> str:
    """Format an interval: `198 – 211 ns`, `950 ns – 1.02 us`, a dash for none; `> 10x` if it is too wide to
    say anything about `value`.
    """
    if low is None or high is None:
        return NOTHING
    if value is not None and value > 0 and 100 * (high - value) / value > _SAYS_NOTHING:
        return BEYOND
    first, last = format_time(low), format_time(high)
    number, _, unit = first.partition(" ")
    return f"{number if last.endswith(' ' + unit) else first} – {last}"


def relative_words(row: Row) -> str:
    """Format the interval relative to the time, `±1.2 %`, `−3.0 +40 %` if lopsided; a dash without one."""
    if row.time is None or row.time_low is None or row.time_high is None or row.time <= 0:
        return NOTHING
    below = 100 * (row.time - row.time_low) / row.time
    above = 100 * (row.time_high - row.time) / row.time
    if above > _SAYS_NOTHING:
        return BEYOND
    larger, smaller = max(above, below), min(above, below)
    if larger - smaller <= max(0.3 * larger, 0.5):  # nearly symmetric
        return f"±{_figures(larger)} %"
    return f"−{_figures(below)} +{_figures(above)} %"


def half_words(value: float | None, low: float | None, high: float | None) -> str:
    """Format that half, `3 %`; a dash without one."""
    half = half_of(value, low, high)
    if half is None:
        return NOTHING
    return BEYOND if 100 * half > _SAYS_NOTHING else f"{_figures(100 * half)} %"


def _figures(percent: float) -> str:
    return f"{percent:.0f}" if percent >= 9.5 else f"{percent:.1f}" if percent >= 0.095 else f"{percent:.1g}"


def percent_words(fraction: float) -> str:
    """Write `2 %`, `0.5 %`."""
    return f"{100 * fraction:.3g} %"


def rounded(count: int) -> int:
    """Round up to two figures: 1063 becomes 1100."""
    unit = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // unit) * unit


def needs_words(asked: float, launches: int | None, seconds: float | None) -> str:
    """Write `2 % needs about 40 launches (3 min)`."""
    if launches is None:
        return f"{percent_words(asked)} is out of reach"
    time = f" ({format_duration(seconds)})" if seconds else ""
    return f"{percent_words(asked)} needs about {rounded(launches)} launches{time}"


def time_words(value: float | None) -> str:
    """Format a time; a dash for none."""
    return NOTHING if value is None else format_time(value)


def rate_words(value: float | None) -> str:
    """Format a bandwidth; a dash for none."""
    return NOTHING if value is None else format_rate(value)


def number_interval(span: Interval) -> str:
    """`0.12 to 0.15`, a dash without an interval."""
    if span.low is None or span.high is None:
        return NOTHING
    return f"{span.low:.3g} to {span.high:.3g}"

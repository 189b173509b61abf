"""A row in words: its value, remarks on what is wrong or odd, and details."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.base.units import format_count_rate, format_factor, format_mops, format_rate, format_time
from steelyard.records.kinds import FILE, MPI
from steelyard.render.table import NOTHING
from steelyard.results.facets import (
    LaunchGrouping,
    LibraryHints,
    Modes,
    PrecisionGoal,
    Ranks,
    Rate,
    Roof,
    RuleQuantile,
    Samples,
    Watched,
    Windows,
)
from steelyard.results.row import Row, half_of
from steelyard.rows.method_words import AT_LEAST, AT_MOST, bound_sign, method_details, sees_ranks
from steelyard.rows.words import (
    half_words,
    interval_words,
    mode_unit,
    mode_value_words,
    needs_words,
    percent_words,
)

YIELDS = 0.01  # sched_yield per operation: fewer are not mentioned
ALIKE = 0.01  # p that launches are in random order: by chance, one row in a hundred is named
OFTEN = 0.9  # a rank that is last in a larger share of the samples is named
NOISY = 0.25  # half an interval relative to its value; above it, the value says little
FEW = 6  # launches: with fewer, the interval is Student's t, and wide because they are few
FAR = 0.25  # a message to or from rank 0, relative to a lower bound that depends on it; less is not mentioned
OTHER = ""  # a remark that has nothing in common with those of other rows


@dataclass(frozen=True, slots=True)
class Remark:
    """A few words on what is odd with a row; rows with remarks of one `kind` may share a note."""

    kind: str
    text: str


def value_words(row: Row) -> str:
    """Format the time, `480 ns`, or `≤ 1.18 us` for a bound; a dash for none."""
    sign = bound_sign(row)
    if row.time is None:
        return NOTHING
    return f"{sign} {format_time(row.time)}" if sign else format_time(row.time)


def bandwidth_words(row: Row) -> str:
    """Format the bandwidth, `≥ 1.20 GB/s` if its time is an upper bound; a dash for none."""
    sign = {AT_MOST: AT_LEAST, AT_LEAST: AT_MOST}.get(bound_sign(row))
    bandwidth = row.get(Rate).bandwidth
    if bandwidth is None:
        return NOTHING
    return f"{sign} {format_rate(bandwidth)}" if sign and bandwidth else format_rate(bandwidth)


def rate_words(row: Row) -> str:
    """Format operations per second, `81.1 Mop/s`; messages, names or pieces of files, `3.95 M/s`; a dash if
    none are counted.
    """
    mops = row.get(Rate).mops
    if mops is None:
        return NOTHING
    is_count = row.headline == "messages" or row.role == FILE
    return format_count_rate(1e6 * mops) if is_count else format_mops(mops)


def time_half_words(row: Row) -> str:
    """Format half the interval of the time, its larger side, `3 %`; a dash without one."""
    return half_words(row.time, row.time_low, row.time_high)


def rate_half_words(row: Row) -> str:
    """Do the same for rates: bandwidth, operations."""
    if row.time is None or not row.time_low or not row.time_high or min(row.time_low, row.time) <= 0:
        return NOTHING
    return half_words(1 / row.time, 1 / row.time_high, 1 / row.time_low)


def remarks(row: Row, launches: int = 0) -> tuple[Remark, ...]:
    """List what is wrong or odd with a row, in a few words each.

    `launches` is the number of launches of its neighbours: a row with fewer says so.
    """
    return tuple(_remarks(row, launches))


def _remarks(row: Row, launches: int) -> Iterator[Remark]:
    if row.status == "failed":
        yield Remark(OTHER, failed_words(row))
    elif row.why:
        yield Remark(OTHER, row.why)
    if row.median is None:
        return
    yield from _precise_words(row)
    yield from _mode_words(row)
    if row.alike_p is not None and row.alike_p <= ALIKE:
        yield Remark("alike", "neighbouring launches alike")
    if row.apart:
        yield Remark("modes unseen", f"± reaches to a mode {format_factor(row.apart)}x apart")
    yield from _group_words(row)
    if "DRIFT" in row.flags:
        yield Remark("drift", "drifts")
    if 0 < row.launch_count < launches and row.status == "ok" and row.get(PrecisionGoal).precision is None:
        yield Remark("fewer", f"measured in {row.launch_count} of {launches} launches")
    if unclosed := ended_badly(row):
        yield Remark("ending", _unclosed_words(row, unclosed))
    yield from _noisy_words(row)
    if row.transport is not None and row.layer not in (None, MPI):
        yield Remark("transport", f"by {row.transport}")
    hint, reordered = row.get(LibraryHints).hint, row.get(LibraryHints).reordered
    if reordered is not None:
        yield Remark("reordered", f"the library gave {reordered or 'no'} of {row.ranks} ranks another number")
    if hint is not None and hint.has != hint.asked:
        has = "says nothing of" if hint.has is None else f"has {hint.has} for"
        yield Remark(f"hint {hint.key}", f"the library {has} {hint.key}={hint.asked}")
    if no_roof := row.get(Roof).no_roof:
        yield Remark("roof", f"no roof: {no_roof}")
    low, asked, ranks = row.get(Windows).low_ns, row.get(RuleQuantile), row.get(Ranks)
    if bound_sign(row) == AT_MOST and low is not None:
        yield Remark(OTHER, f"at least {format_time(low)}")
    yield from _path_words(row)
    if asked.quantile is not None and asked.quantile_value is not None:
        interval = interval_words(asked.quantile_low, asked.quantile_high)
        yield Remark(OTHER, f"p{100 * asked.quantile:g} {format_time(asked.quantile_value)} ({interval})")
    if (ranks.yields_per_op or 0) >= YIELDS:
        yield Remark("yields", f"{ranks.yields_per_op:.3g} calls of sched_yield per operation")
    seen = ranks.slowest_share if row.ranks > 2 and sees_ranks(row) else None
    if seen is not None and seen > OFTEN:
        yield Remark(OTHER, f"rank {ranks.slowest_rank} last in {100 * seen:.0f} %")


def _path_words(row: Row) -> Iterator[Remark]:
    """Say what is left of a lower bound if its messages take longer than half of a round trip."""
    path = row.get(Watched).path
    away = path.late_ns + path.observer_ns if path else 0.0
    if bound_sign(row) == AT_LEAST and row.time and away > FAR * row.time:
        sure = max(0.0, row.time - away)
        yield Remark(OTHER, f"{format_time(sure)} if its messages take whole round trips")


def failed_words(row: Row) -> str:
    """`failed in 3 of 10 launches: wrong data on rank 1`."""
    failed = [launch for launch in row.launches if launch.status == "failed"]
    reasons = "; ".join(dict.fromkeys(case.why or "no reason given" for case in failed)) or row.why or "?"
    some = f" in {len(failed)} of {len(row.launches)} launches" if len(failed) < len(row.launches) else ""
    return f"failed{some}: {reasons}"


def ended_badly(row: Row) -> int:
    """Count the launches that measured a row and then ended badly, as in MPI_Finalize."""
    return sum(1 for launch in row.launches if launch.status == "ok" and launch.ending is not None)


def _unclosed_words(row: Row, count: int) -> str:
    """`launch ended badly`, `2/10 launches ended badly`."""
    if row.launch_count == 1:
        return "launch ended badly"
    return f"{count}/{row.launch_count} launches ended badly"


def _group_words(row: Row) -> Iterator[Remark]:
    """`2 sittings only`, where their number makes the interval wide; `9 sittings`."""
    found = row.get(LaunchGrouping)
    counts = (("sittings", found.sittings, "sittings"), ("hosts", found.host_sets, "hosts by turns"))
    for kind, count, words in counts:
        if count:
            yield Remark(kind, f"{count} {words}{' only' if count < FEW else ''}")


def _precise_words(row: Row) -> Iterator[Remark]:
    """Say `reached`, or `2 % needs about 40 launches (3 min)`, where a precision is asked for."""
    found = row.get(PrecisionGoal)
    if found.precision is None:
        return
    if found.precision_reached:
        yield Remark("reached", f"{percent_words(found.precision)} reached")
    else:
        yield Remark(OTHER, needs_words(found.precision, found.precision_launches, found.precision_seconds))


def _noisy_words(row: Row) -> Iterator[Remark]:
    """`noisy: only 3 launches`, if launches are few and ± is so wide that the value says little."""
    half = half_of(row.time, row.time_low, row.time_high)
    if half is None or half <= NOISY or row.launch_count < 2:
        return
    if row.launch_count < FEW:
        yield Remark("few", f"noisy: only {row.launch_count} launches")
    elif "NOISY" not in row.flags:
        yield Remark("differ", "noisy: launches differ")


def _mode_words(row: Row) -> Iterator[Remark]:
    """`131 us ± 4 % in 83 % of launches, 262 us ± 4 % in 17 %`, the typical mode first; or how many samples
    were slow.
    """
    modes, typical = row.get(Modes).modes, row.get(Modes).typical_mode
    slow = row.get(Samples).slow_share
    if "NOISY" not in row.flags:
        return
    if len(modes) < 2:
        if slow is not None:
            yield Remark("slow", f"{100 * slow:.0f} % of samples over 3 x the median")
        return
    own, others = modes[typical], (*modes[:typical], *modes[typical + 1 :])
    told = [f"{mode_value_words(mode)} in {100 * mode.share:.0f} %" for mode in (own, *others)]
    told[0] += f" of {mode_unit(row)}"
    yield Remark(OTHER, ", ".join(told))


def details(row: Row) -> str:
    """List details that the method adds: messages there and back, the path, the error of clocks."""
    return "; ".join(method_details(row)) if row.median is not None else ""

"""A row in words: its value, what is wrong or odd with it, and what else there is to know of it."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.base.units import format_count_rate, format_mops, format_rate, format_time
from steelyard.results.facets import Modes, Ranks, Rate, RuleQuantile, Samples, Windows
from steelyard.results.row import Row
from steelyard.show.method_words import AT_LEAST, AT_MOST, bound_sign, method_details, sees_ranks
from steelyard.show.sheet import NOTHING
from steelyard.show.words import half_words, interval_words

YIELDS = 0.01  # sched_yield per operation: fewer are not worth a word
OFTEN = 0.9  # a rank that is last in more of the samples is named
SAME_MODE = 1.22  # the median is in a mode where their ratio is less: modes are a factor of 1.5 apart
FLAG_WORDS = {"UNSETTLED": "not converged", "TIME": "time limit"}


def value_words(row: Row) -> str:
    """The median, `480 ns`, or `≤ 1.18 us` where it is a bound and no estimate; a dash for none."""
    sign = bound_sign(row)
    if row.median is None:
        return NOTHING
    return f"{sign} {format_time(row.median)}" if sign else format_time(row.median)


def bandwidth_words(row: Row) -> str:
    """The bandwidth, `≥ 1.20 GB/s` where its time is an upper bound; a dash where there is none."""
    sign = {AT_MOST: AT_LEAST, AT_LEAST: AT_MOST}.get(bound_sign(row))
    bandwidth = row.get(Rate).bandwidth
    if bandwidth is None:
        return NOTHING
    return f"{sign} {format_rate(bandwidth)}" if sign and bandwidth else format_rate(bandwidth)


def rate_words(row: Row) -> str:
    """Operations a second, `81.1 Mop/s`, or messages, `3.95 M/s`; a dash where none are counted."""
    mops = row.get(Rate).mops
    if mops is None:
        return NOTHING
    return format_count_rate(1e6 * mops) if row.headline == "messages" else format_mops(mops)


def time_half_words(row: Row) -> str:
    """Half the interval of the median, the larger side, `3 %`; a dash without one."""
    return half_words(row.median, row.ci_low, row.ci_high)


def rate_half_words(row: Row) -> str:
    """The same of what is made in that time: bandwidth, operations."""
    if row.median is None or not row.ci_low or not row.ci_high or min(row.ci_low, row.median) <= 0:
        return NOTHING
    return half_words(1 / row.median, 1 / row.ci_high, 1 / row.ci_low)


def remarks(row: Row, launches: int = 0) -> str:
    """What is wrong or odd with a row, in a few words; nothing of one that is as it should be.

    `launches` is how many its neighbours rest on: a row that rests on fewer says so.
    """
    return "; ".join(_remarks(row, launches))


def _remarks(row: Row, launches: int) -> Iterator[str]:
    if row.status == "failed":
        yield failed_words(row)
    elif row.why:
        yield row.why
    if row.median is None:
        return
    yield from (_flag_words(row, flag) for flag in row.flags if flag in FLAG_WORDS)
    yield from _mode_words(row)
    if "DRIFT" in row.flags:
        yield "drifts"
    if 0 < row.launch_count < launches and row.status == "ok":
        yield f"{row.launch_count} of {launches} launches"
    low, asked, ranks = row.get(Windows).low_ns, row.get(RuleQuantile), row.get(Ranks)
    if bound_sign(row) == AT_MOST and low is not None:
        yield f"at least {format_time(low)}"
    if asked.quantile is not None and asked.quantile_value is not None:
        interval = interval_words(asked.quantile_low, asked.quantile_high)
        yield f"p{100 * asked.quantile:g} {format_time(asked.quantile_value)} ({interval})"
    if (ranks.yields_per_op or 0) >= YIELDS:
        yield f"{ranks.yields_per_op:.3g} yields/op"
    seen = ranks.slowest_share if row.ranks > 2 and sees_ranks(row) else None
    if seen is not None and seen > OFTEN:
        yield f"rank {ranks.slowest_rank} last in {100 * seen:.0f} %"


def failed_words(row: Row) -> str:
    """`failed in 3 of 10 launches: wrong data on rank 1`."""
    failed = [one for one in row.launches if one.status == "failed"]
    reasons = "; ".join(dict.fromkeys(one.why or "no reason given" for one in failed)) or row.why or "?"
    some = f" in {len(failed)} of {len(row.launches)} launches" if len(failed) < len(row.launches) else ""
    return f"failed{some}: {reasons}"


def _flag_words(row: Row, flag: str) -> str:
    """`not converged`, `time limit in 3 of 10 launches`."""
    good = [one for one in row.launches if one.status == "ok"]
    count = sum(1 for one in good if one.flag == flag)
    return FLAG_WORDS[flag] + (f" in {count} of {len(good)} launches" if 0 < count < len(good) else "")


def _mode_words(row: Row) -> Iterator[str]:
    """`83 % of the time; 17 %: 131 us`, of a median in no mode all modes; or how many samples were slow."""
    modes, median = row.get(Modes).modes, row.median or 0.0
    slow = row.get(Samples).slow_share
    if "NOISY" not in row.flags:
        return
    if len(modes) < 2:
        if slow is not None:
            yield f"{100 * slow:.0f} % of samples over 3 x the median"
        return
    own = [mode for mode in modes if mode.value < SAME_MODE * median and median < SAME_MODE * mode.value]
    others = [mode for mode in modes if mode not in own]
    told = ", ".join(f"{100 * mode.share:.0f} %: {format_time(mode.value)}" for mode in others)
    yield (
        f"{100 * sum(mode.share for mode in own):.0f} % of the time; {told}" if own else f"of the time {told}"
    )


def details(row: Row) -> str:
    """What its method has seen beside the value: messages there and back, the path, the clocks' error."""
    return "; ".join(method_details(row)) if row.median is not None else ""

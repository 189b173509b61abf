"""Rows in words: how sentences, tables and pictures name points and what they say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from steelyard.groups import COLLECTIVES, base_op
from steelyard.noise import fundamentals
from steelyard.row import Row
from steelyard.units import format_bytes, format_mops, format_rate, format_time, format_values

YIELDS = 0.01  # sched_yield per operation: fewer are not worth a word
OFTEN = 0.9  # a rank that is last in more of the observations is named
LEAST_PAID = 0.02  # of a message, from which what its clock cost is named
GREW = 2.0  # times: windows that grew less may have been as wide in another launch from the first
MOST_ERROR = 10.0  # medians: of a wider error the interval beside it says enough
AT_MOST, AT_LEAST = "≤", "≥"


def row_name(row: Row, mpi: bool = True) -> str:
    """How a sentence names a point: `mpi.bcast 8 B on 4 ranks of mpich-4.0.2`."""
    size = f" {format_bytes(row.bytes)}" if row.bytes else ""
    team = f" on {row.ranks} ranks" if row.ranks > 1 else ""
    team += f" with {row.threads} threads" if row.threads > 1 else ""
    team += f" placed {row.placed.text}" if row.placed else ""
    told = {**row.omp, **row.method_params}
    given = f" with {format_values(told)}" if told else ""
    return f"{row.op}{size}{team}" + (f" of {row.mpi}" if row.mpi and mpi else "") + given


def overhead_name(row: Row, among: Iterable[Row]) -> str:
    """How a table of overheads names a point: with all that tells it from `among`, others of its op."""
    others = [one.params for one in among if one.op == row.op]
    params = {k: v for k, v in row.params.items() if any(one.get(k) != v for one in others)}
    size = format_bytes(row.bytes) if row.bytes else ""
    ranks = f"{row.ranks} ranks" if row.ranks > 1 else ""
    threads = f"{row.threads} thread{'s' if row.threads > 1 else ''}"
    words = (row.op, size, row.mpi or "", ranks, threads, format_values(row.omp), format_values(params))
    return ", ".join(word for word in words if word)


def cycles_words(ns: float | None, hz: float | None) -> str:
    """A time in cycles of something that makes `hz` of them in a second; a dash where that is not known."""
    if ns is None or hz is None:
        return "–"
    cycles = ns * hz / 1e9
    return f"{cycles:.3g}" if abs(cycles) < 1000 else f"{cycles:.0f}"


# What sentences and tables call the kinds of placements.
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
}


def pair_words(row: Row) -> str:
    """What to know of where a row was placed: `shared L3, CPU 1 takes the interrupts`."""
    if row.placed is None:
        return f"CPUs {row.placement}" if row.placement else ""
    words = PLACEMENT_WORDS.get(row.placed.kind, row.placed.kind)
    taking = " and ".join(map(str, row.placed.interrupts))
    verb = "take" if len(row.placed.interrupts) > 1 else "takes"
    return f"{words}, CPU {taking} {verb} the interrupts" if taking else words


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


_SAYS_NOTHING = 999  # % by which an interval is above its value: as few launches leave it


def interval_words(low: float | None, high: float | None, value: float | None = None) -> str:
    """`198 – 211 ns`, `950 ns – 1.02 us`, a dash where there is no interval; `> 10x` where it says as good
    as nothing of `value`.
    """
    if low is None or high is None:
        return "–"
    if value is not None and value > 0 and 100 * (high - value) / value > _SAYS_NOTHING:
        return "> 10x"
    first, last = format_time(low), format_time(high)
    number, _, unit = first.partition(" ")
    return f"{number if last.endswith(' ' + unit) else first} – {last}"


def relative_words(row: Row) -> str:
    """The interval relative to the median, `±1.2 %`, `−3.0 +40 %` where lopsided; a dash without one."""
    if row.median is None or row.ci_low is None or row.ci_high is None or row.median <= 0:
        return "–"
    below = 100 * (row.median - row.ci_low) / row.median
    above = 100 * (row.ci_high - row.median) / row.median
    if above > _SAYS_NOTHING:
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


def value_words(row: Row) -> str:
    """The median, `480 ns`, or `≤ 1.18 us` where it is a bound and no estimate; a dash for none."""
    sign = method_words(row).sign
    return f"{sign} {format_time(row.median)}" if sign and row.median is not None else time_words(row.median)


def bandwidth_words(row: Row) -> str:
    """The bandwidth, `≥ 1.20 GB/s` where its time is an upper bound; a dash where there is none."""
    sign = {AT_MOST: AT_LEAST, AT_LEAST: AT_MOST}.get(method_words(row).sign)
    return f"{sign} {format_rate(row.bandwidth)}" if sign and row.bandwidth else rate_words(row.bandwidth)


def is_collective(row: Row) -> bool:
    """Whether the op is a collective, in any form, of several ranks."""
    return row.ranks > 1 and base_op(row.op)[0].rpartition(".")[2] in COLLECTIVES


def _nothing(_: Row) -> Iterator[str]:
    return iter(())


def _synchronised_words(row: Row) -> Iterator[str]:
    """`466 – 480 ns ±23 ns`, `skew 14 ns`, `windows grew from 3.40 us to 12.0 us`."""
    if row.median is not None and row.low_ns is not None and row.error_ns is not None:
        low, high = format_time(min(row.low_ns, row.median)), format_time(row.median)
        took = high if low == high else interval_words(min(row.low_ns, row.median), row.median)
        if row.error_ns <= MOST_ERROR * row.median:
            took += f" ±{format_time(row.error_ns)}"
        yield took
    else:
        yield from _clock_words(row)
    if row.skew_ns is not None:
        yield f"skew {format_time(row.skew_ns)}"
    if row.window_ns is not None and row.window_ns[1] >= GREW * row.window_ns[0]:
        first, widest = map(format_time, row.window_ns)
        yield f"windows grew from {first} to {widest}"


def _clock_words(row: Row) -> Iterator[str]:
    if row.clock_error_ns is not None:
        yield f"clocks ±{format_time(row.clock_error_ns)}"


def _message_words(row: Row) -> Iterator[str]:
    """`there 251 ns, back 262 ns`, `clocks ±23 ns`, `the clock costs 22 ns a message, taken off`."""
    if row.pairs:
        medians = [pair.median for pair in row.pairs]
        slow = max(row.pairs, key=lambda pair: pair.median)
        yield (
            f"pairs from {format_time(min(medians))} to {format_time(max(medians))}, "
            f"the slowest {slow.low}-{slow.high}"
        )
    if row.ways is not None:
        there, back = map(format_time, row.ways)
        yield f"there {there}, back {back}"
    yield from _clock_words(row)
    if row.overhead and row.median is not None and row.overhead >= LEAST_PAID * row.median:
        yield f"the clock costs {format_time(row.overhead)} a message, taken off"


def _path_words(row: Row) -> Iterator[str]:
    """`rank 0 → rank 15, 8 loops`."""
    if row.path is not None:
        loops = f"{row.path.loops} loop{'' if row.path.loops == 1 else 's'}"
        yield f"rank {row.path.late} → rank {row.path.observer}, {loops}"


def _bounds_words(row: Row) -> Iterator[str]:
    """`at least 126 ns, at most 1.18 us`."""
    if row.median is not None:
        least = f"at least {format_time(row.low_ns)}, " if row.low_ns is not None else ""
        yield f"{least}at most {format_time(row.median)}"


@dataclass(frozen=True, slots=True)
class MethodWords:
    """What the number of a method is.

    `meaning` is for a reader who has never heard of it; `nature` says in a few words why it is not simply
    what the operation takes, of collectives alone where `is_of_collectives`; `sign` is that of a bound;
    `details` says more of a row. Where a method is blind to which rank is last, `sees_ranks` is false.
    """

    meaning: str
    nature: str = ""
    is_of_collectives: bool = False
    sign: str = ""
    details: Callable[[Row], Iterator[str]] = _nothing
    sees_ranks: bool = True


_LATENCY = "From when the first rank starts until the last has completed, on one clock"
_PATH = "One rank starts last, one reports that it is done, without a common clock; their messages are off."
METHODS = {
    "batch": MethodWords(
        "Repetitions back to back between two stamps. A collective overlaps with itself there: what is "
        "measured is its throughput.",
        nature="throughput, not latency",
        is_of_collectives=True,
    ),
    "root": MethodWords(
        "What the call costs rank 0 when it is repeated back to back.", nature="overhead, not a latency"
    ),
    "rank": MethodWords(
        "What the call costs the rank that pays most when it is repeated back to back.",
        nature="overhead, not a latency",
    ),
    "barrier": MethodWords(
        "One call after each barrier of our own, the longest of the ranks' own times: off by as much as "
        "ranks leave the barrier apart.",
        nature="biased by the barrier",
    ),
    "library-barrier": MethodWords(
        "One call after each MPI_Barrier, as OSU and IMB do it, the longest of the ranks' own times: off by "
        "as much as ranks leave the library's barrier apart.",
        nature="biased by the barrier",
    ),
    "truth": MethodWords("In simulation: all ranks enter at one true instant, until the last has left."),
    "epoch": MethodWords(
        f"{_LATENCY} that is set before and after each block, at random instants. Written as from the last "
        "start, to from the first start, ± what sample and clocks leave open.",
        details=_synchronised_words,
    ),
    "window": MethodWords(
        f"{_LATENCY} that is set once and goes stale, in windows side by side.", details=_synchronised_words
    ),
    "round-time": MethodWords(
        f"{_LATENCY}; rank 0 tells all the instant before each call.", details=_synchronised_words
    ),
    "each": MethodWords(
        "Every message by itself, one way, from the sender's stamp to the receiver's on one clock. Where "
        "there and back differ by less than the clocks may be off, they may well be alike.",
        details=_message_words,
        sees_ranks=False,
    ),
    "ack": MethodWords(
        f"{_PATH} Each rank was tried. A lower bound of the latency.",
        nature="a lower bound",
        sign=AT_LEAST,
        details=_path_words,
        sees_ranks=False,
    ),
    "bisected-ack": MethodWords(
        f"{_PATH} The rank that reports last was sought by halving. A lower bound of the latency.",
        nature="a lower bound",
        sign=AT_LEAST,
        details=_path_words,
        sees_ranks=False,
    ),
    "trigger": MethodWords(
        f"{_PATH} The rank whose late start matters most was sought by halving. A lower bound of the "
        "latency.",
        nature="a lower bound",
        sign=AT_LEAST,
        details=_path_words,
        sees_ranks=False,
    ),
    "trigger-ack": MethodWords(
        f"{_PATH} Both ranks were sought by turns. A lower bound of the latency.",
        nature="a lower bound",
        sign=AT_LEAST,
        details=_path_words,
        sees_ranks=False,
    ),
    "bounds": MethodWords(
        "At most what a call and a barrier take together, at least what calls back to back take each. The "
        "truth lies between; neither end is an estimate.",
        nature="not an estimate",
        sign=AT_MOST,
        details=_bounds_words,
        sees_ranks=False,
    ),
}
_UNKNOWN = MethodWords("A method that this version has no words for.", details=_clock_words)


def method_words(row: Row) -> MethodWords:
    """The line of the table for a row's method."""
    return METHODS.get(row.method, _UNKNOWN)


def nature(row: Row) -> str:
    """Why a row's number is not simply what the operation takes: `throughput, not latency`; or nothing."""
    words = method_words(row)
    fits = is_collective(row) if words.is_of_collectives else row.ranks > 1
    return words.nature if fits else ""


def shared_nature(rows: Iterable[Row]) -> str:
    """The nature of all rows, of one method, where they have one and the same; else nothing."""
    natures = {(row.method, nature(row)) for row in rows}
    return natures.pop()[1] if len(natures) == 1 else ""


def notes(row: Row, known: str = "") -> list[str]:
    """What to know of a row beside its numbers: reason, what the method says, modes, yields, ranks, rejected.

    `known` is a nature that the reader has been told already.
    """
    found = []
    if row.why:
        found.append(row.why)
    if row.median is not None:
        found += [nature(row)] if nature(row) not in ("", known) else []
        found += method_words(row).details(row)
    if row.cores:
        worst = max(row.cores, key=lambda core: core.share)
        found.append(f"{100 * worst.share:.3g} % lost, {worst.per_second:.3g}/s (cpu {worst.cpus})")
    if len(row.modes) > 1:
        layer = {"below": " (below MPI)", "noise": " (from outside)", "above": " (in MPI)"}
        found.append(f"{len(row.modes)} modes{layer.get(row.blame or '', '')}: {mode_words(row)}")
    if row.quantile is not None and row.quantile_value is not None:
        interval = interval_words(row.quantile_low, row.quantile_high)
        found.append(f"p{100 * row.quantile:g} {format_time(row.quantile_value)} ({interval})")
    if "NOISY" in row.flags and len(row.modes) == 1 and row.slow_share is not None:
        found.append(f"{100 * row.slow_share:.0f} % above 3 medians")
    if "DRIFT" in row.flags and row.flag != "DRIFT":
        found.append("drifts")
    if row.yields_per_op is not None and row.yields_per_op >= YIELDS:
        found.append(f"{row.yields_per_op:.3g} yields/op")
    seen = row.slowest_share is not None and row.ranks > 2 and method_words(row).sees_ranks
    if seen and row.slowest_share is not None and row.slowest_share > OFTEN:
        found.append(f"rank {row.slowest_rank} slowest in {100 * row.slowest_share:.0f} %")
    if row.rejected:
        found.append(f"{row.rejected} rejected")
    return found


CORE_COLUMNS = ("op", "rank", "cpus", "observed", "lost", "per second", "longest", "periods")


def core_cells(row: Row) -> Iterator[tuple[str, ...]]:
    """The noise of each rank's core, in the columns of `CORE_COLUMNS`."""
    for core in row.cores:
        periods = ", ".join(
            f"{peak.hz:.4g} Hz" + (f" and {multiples} multiples" if multiples else "")
            for peak, multiples in fundamentals(core.peaks)
        )
        yield (
            f"{row.op} {format_values(row.params)}",
            str(core.rank),
            core.cpus,
            f"{core.seconds:.3g} s",
            f"{100 * core.share:.3g} %",
            f"{core.per_second:.4g}",
            format_time(core.longest_ns),
            periods,
        )


def row_line(row: Row) -> str:
    """A row as one plain line, for progress: `mpi.bcast 8 B on 4 ranks: 1.42 us ±2.1 % SETTLED`."""
    if row.median is None:
        return f"{row_name(row)}: {row.status}" + (f", {row.why}" if row.why else "")
    words = [f"{row_name(row)}: {value_words(row)}", relative_words(row)]
    if row.bandwidth is not None:
        words.append(bandwidth_words(row))
    if row.mops is not None:
        words.append(format_mops(row.mops))
    words.append(row.status if row.status != "ok" else row.flag or "")
    return " ".join(words) + "".join(f"; {note}" for note in notes(row))

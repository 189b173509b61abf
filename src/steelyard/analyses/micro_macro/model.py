"""Micro against macro: the best MPI in each test, and whether messages alone would have named it.

A test is a message there and back, a stream of messages, or a kernel. Best is the MPI with the least median
over launches, together with all that a test over pairs of launches cannot distinguish from it. The order of
the MPIs in a kernel is compared with their order in a micro-benchmark, and in a model of LogGP and the
messages that the kernel counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from steelyard.analyses.best_arms import Best, Times, bests_of, verdict_of
from steelyard.analyses.loggp.model import LEAST_SIZES, LogModel, communication_ns, log_models
from steelyard.records.fields import Params
from steelyard.records.kinds import BANDWIDTH, LATENCY, MPI
from steelyard.results.facets import Inside, Rate
from steelyard.results.key import key_of
from steelyard.results.row import Row, any_row, launch_medians, modes_of
from steelyard.results.row_kinds import is_kernel
from steelyard.stats import Interval, kendall, span_of

LATENCY_MOST = 1024  # bytes: messages there and back are times up to here, rates above
PINGPONG, STREAM = "ping-pong", "stream"
_MICRO = {LATENCY: PINGPONG, BANDWIDTH: STREAM}  # the role of a micro-benchmark of MPI -> its name
_TCP = "sock.tcp"  # prefix of the layer that is shown beside MPI


class TestValue(Struct, frozen=True):
    """A test under one MPI, or over raw TCP (`mpi` None), in the unit of its line; None for no interval."""

    mpi: str | None
    value: float
    low: float | None
    high: float | None


class MacroTest(Struct, frozen=True, kw_only=True):
    """A test: a figure for each MPI, and the best of them.

    `unit` is us, MB/s, or Mop/s. `best` holds the MPI with the least median time and those that cannot be
    distinguished from it: all of them in a tie; it is empty with one MPI. `p` are the adjusted p of the pairs
    `a, b`. `tells` is False if launches are too few to show even the greatest difference.
    """

    test: str
    bytes: int
    ranks: int
    threads: int
    params: Params
    unit: str
    figures: tuple[TestValue, ...]
    tcp: TestValue | None = None
    best: tuple[str, ...] = ()
    p: dict[str, float] = {}
    tells: bool = True


class Prediction(Struct, frozen=True, kw_only=True):
    """A kernel under one MPI: the predicted time of its messages, and the measured time of its communication.

    Times in ns per repetition. `communication` is the time in the kernel's phases of communication, waiting
    included. `compute` is the rest, the median over all MPIs; `total_predicted` is that and the messages.
    Ratios are predicted / measured.
    """

    kernel: str
    params: Params
    ranks: int
    threads: int
    mpi: str
    messages: float
    bytes: float
    collectives: float
    collective_bytes: float
    compute: float
    predicted: Interval
    communication: Interval
    ratio: Interval
    total_predicted: Interval
    total: Interval
    total_ratio: Interval


class Agreement(Struct, frozen=True, kw_only=True):
    """Whether a figure would have named the best MPI for a kernel.

    `tau` is Kendall's, of medians, with its exact `p`; of two MPIs it can only be 1 or -1, and has no p.
    `verdict`: `agrees` if the same single MPI is best in both, `disagrees` if none is best in both, else
    `cannot tell`.
    """

    kernel: str
    params: Params
    ranks: int
    threads: int
    figure: str
    tau: float
    p: float | None
    verdict: str


class Macro(Struct, frozen=True):
    """The whole comparison; `notes` say in sentences what could not be made, and why."""

    lines: tuple[MacroTest, ...] = ()
    models: tuple[LogModel, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    notes: tuple[str, ...] = ()


def _is_message(row: Row) -> bool:
    """Is it a row of a micro-benchmark of MPI?"""
    return row.layer == MPI and row.role in _MICRO


def macro_of(rows: Sequence[Row]) -> Macro:
    """Make the table, the models and their predictions; nothing without a kernel and a message
    under an MPI.
    """
    good = [row for row in rows if row.status == "ok" and row.median is not None and row.median > 0]
    by_test: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in good:
        if row.mpi is not None and (_is_message(row) or is_kernel(row)):
            by_test.setdefault(key_of(row, ("mpi",)), {}).setdefault(row.mpi, row)
    tests = sorted(by_test.values(), key=_place)
    if not any(is_kernel(any_row(test)) for test in tests) or all(is_kernel(any_row(test)) for test in tests):
        return Macro()
    models = log_models(good)
    by_mpi = {model.mpi: model for model in models}
    totals = [_predicted_totals(test, by_mpi) if is_kernel(any_row(test)) else {} for test in tests]
    found = bests_of([*map(_times, tests), *totals])
    lines, predicted = found[: len(tests)], found[len(tests) :]
    return Macro(
        lines=tuple(_line(test, best, good) for test, best in zip(tests, lines, strict=True)),
        models=models,
        predictions=tuple(_predictions(tests, by_mpi)),
        agreements=tuple(_agreements(tests, lines, totals, predicted)),
        notes=tuple(_notes(tests, lines, models)),
    )


def _times(test: Mapping[str, Row]) -> dict[str, dict[int, float]]:
    return {mpi: launch_medians(row) for mpi, row in test.items()}


def _place(test: Mapping[str, Row]) -> tuple[object, ...]:
    """Sort messages before streams before kernels, short ones first; kernels stay in their order."""
    row = any_row(test)
    return (list(_MICRO).index(row.role) if _is_message(row) else len(_MICRO), row.bytes)


def _line(test: Mapping[str, Row], best: Best, rows: Sequence[Row]) -> MacroTest:
    """List the figures of a test; rates are those of the median time and of the ends of its interval."""
    row = any_row(test)
    name = _MICRO[row.role] if _is_message(row) else row.op
    is_time = name == PINGPONG and row.bytes <= LATENCY_MOST
    has_rate = all(one.get(Rate).mops is not None for one in test.values())
    unit = ("us" if is_time else "MB/s") if _is_message(row) else "Mop/s" if has_rate else "us"
    beside = [one for one in rows if one.op.startswith(_TCP) and _is_alike(one, row)]
    tcp = min(beside, key=lambda one: one.median or 0.0) if beside else None
    return MacroTest(
        test=name,
        bytes=row.bytes,
        ranks=row.ranks,
        threads=row.threads,
        params=row.params,
        unit=unit,
        figures=tuple(_figure(one, mpi, unit) for mpi, one in test.items()),
        tcp=_figure(tcp, None, unit) if tcp else None,
        best=best.best,
        p=best.p,
        tells=best.tells,
    )


def _is_alike(tcp: Row, row: Row) -> bool:
    """Are these the same bytes by the same method, there and back or in streams with as many in flight?"""
    is_same = (tcp.role, tcp.bytes, tcp.method) == (row.role, row.bytes, row.method)
    return is_same and tcp.params.get("window") == row.params.get("window")


def _figure(row: Row, mpi: str | None, unit: str) -> TestValue:
    """Convert a row to a unit: the time itself, or a rate."""
    if unit == "us":
        low, high = (None if end is None else end / 1e3 for end in (row.time_low, row.time_high))
        return TestValue(mpi, (row.time or 0.0) / 1e3, low, high)
    rate = row.get(Rate).mops if unit == "Mop/s" else (row.get(Rate).bandwidth or 0.0) / 1e6
    done = (rate or 0.0) * (row.time or 0.0)  # the amount of work in the time of the rate
    ends = (row.time_high, row.time_low)
    low, high = (done / end if end is not None and end > 0 else None for end in ends)
    return TestValue(mpi, rate or 0.0, low, high)


# ---- prediction -----------------------------------------------------------------------------------------


def _shares(test: Mapping[str, Row]) -> dict[str, dict[int, tuple[float, float]]]:
    """Map a kernel under each MPI, for each launch: its time and that of its communication, in ns."""
    return {
        mpi: {
            launch.launch: (launch.median, launch.communication_ns)
            for launch in row.launches
            if launch.status == "ok" and launch.median and launch.communication_ns is not None
        }
        for mpi, row in test.items()
    }


def _predictions(tests: Sequence[Mapping[str, Row]], models: Mapping[str, LogModel]) -> Iterator[Prediction]:
    """Predict each kernel under each MPI that has a model and records its messages."""
    for test in tests:
        shares = _shares(test)
        compute = _compute(shares)
        for mpi, row in test.items():
            launches = sorted(shares[mpi].keys() & models[mpi].launches.keys()) if mpi in models else []
            counts = row.get(Inside).phases
            if not is_kernel(row) or counts is None or not launches:
                continue
            predicted = [
                communication_ns(models[mpi].launches[launch], counts, row.ranks) for launch in launches
            ]
            totals, talks = zip(*(shares[mpi][launch] for launch in launches), strict=True)
            whole = [compute + one for one in predicted]
            yield Prediction(
                kernel=row.op,
                params=row.params,
                ranks=row.ranks,
                threads=row.threads,
                mpi=mpi,
                messages=counts.messages,
                bytes=counts.bytes,
                collectives=counts.collectives,
                collective_bytes=counts.collective_bytes,
                compute=compute,
                predicted=span_of(predicted, alike=row.likeness),
                communication=span_of(talks, alike=row.likeness),
                ratio=_ratio(predicted, talks, row),
                total_predicted=span_of(whole, alike=row.likeness),
                total=span_of(totals, alike=row.likeness),
                total_ratio=_ratio(whole, totals, row),
            )


def _compute(shares: Mapping[str, Mapping[int, tuple[float, float]]]) -> float:
    """Find the computing time of a kernel in ns: the median over MPIs of the medians over their launches."""
    own = [[total - talk for total, talk in launches.values()] for launches in shares.values() if launches]
    return float(np.median([np.median(values) for values in own])) if own else 0.0


def _ratio(predicted: Sequence[float], measured: Sequence[float], row: Row) -> Interval:
    """Divide launch by launch; a communication that took no time has no ratio."""
    ratios = [one / other for one, other in zip(predicted, measured, strict=True) if other > 0]
    return span_of(ratios, alike=modes_of(row)) if ratios else Interval(float("nan"))


# ---- agreement ------------------------------------------------------------------------------------------


def _agreements(
    tests: Sequence[Mapping[str, Row]],
    lines: Sequence[Best],
    totals: Sequence[Times],
    predicted: Sequence[Best],
) -> Iterator[Agreement]:
    """Compare each kernel with each figure of messages; `totals` are the model's."""
    figures = _figures_of(tests, lines)
    for test, own, total, of_model in zip(tests, lines, totals, predicted, strict=True):
        row, kernel = any_row(test), _times(test)
        if not is_kernel(row) or len(test) < 2:
            continue
        for name, (times, best) in {**figures, "model": (total, of_model)}.items():
            if kernel.keys() <= times.keys():
                tau, p = kendall(
                    *(
                        [float(np.median(list(one[mpi].values()))) for mpi in kernel]
                        for one in (times, kernel)
                    )
                )
                yield Agreement(
                    kernel=row.op,
                    params=row.params,
                    ranks=row.ranks,
                    threads=row.threads,
                    figure=name,
                    tau=tau,
                    p=p if len(kernel) > 2 else None,
                    verdict=verdict_of(best.best, own.best),
                )


def _figures_of(tests: Sequence[Mapping[str, Row]], lines: Sequence[Best]) -> dict[str, tuple[Times, Best]]:
    """Give the figures of messages alone: the shortest there and back, the longest, the longest stream."""
    found: dict[str, tuple[Times, Best]] = {}
    for role, name in _MICRO.items():
        sized = [
            (_times(test), line)
            for test, line in zip(tests, lines, strict=True)
            if len(test) > 1 and _is_message(any_row(test)) and any_row(test).role == role
        ]
        if sized and name == PINGPONG:
            found |= {"latency": sized[0], "throughput": sized[-1]}
        elif sized:
            found[name] = sized[-1]
    return found


def _predicted_totals(test: Mapping[str, Row], models: Mapping[str, LogModel]) -> dict[str, dict[int, float]]:
    """Predict the total time of a kernel in each launch, by MPI; only if all MPIs have a model.

    The computing time is the launch's median over MPIs, because a constant would hide its scatter.
    """
    shares = _shares(test)
    computed: dict[int, list[float]] = {}
    for launches in shares.values():
        for launch, (total, talk) in launches.items():
            computed.setdefault(launch, []).append(total - talk)
    return {
        mpi: {
            launch: float(np.median(computed[launch])) + communication_ns(lines, phases, row.ranks)
            for launch, lines in models[mpi].launches.items()
            if launch in computed
        }
        for mpi, row in test.items()
        if (phases := row.get(Inside).phases) is not None and mpi in models and shares[mpi]
    }


def _notes(
    tests: Sequence[Mapping[str, Row]], lines: Sequence[Best], models: Sequence[LogModel]
) -> Iterator[str]:
    """Say what could not be made, and what would help."""
    mpis = list(dict.fromkeys(mpi for test in tests for mpi in test))
    if len(mpis) == 1:
        yield f"{mpis[0]} is the only MPI: give --mpi several times to compare."
    known = {model.mpi for model in models}
    if lacking := [mpi for mpi in mpis if mpi not in known]:
        yield (
            f"Nothing is predicted for {', '.join(lacking)}: a line through messages needs mpi.pingpong at "
            f"{LEAST_SIZES} sizes or more, in the same launches."
        )
    silent = {
        row.op for test in tests for row in test.values() if is_kernel(row) and row.get(Inside).phases is None
    }
    if silent:
        named = ", ".join(sorted(silent))
        yield f"Nothing is predicted for {named}, which recorded no phases: leave phases=on."
    if any(not line.tells for line in lines):
        yield (
            f"So few launches cannot distinguish {len(mpis)} MPIs, however much they differ: each such line "
            "is a tie. Add launches with --launches."
        )
    if len(mpis) == 2:
        yield "Two MPIs have only two orders, so a figure agrees with a kernel half of the time by chance."

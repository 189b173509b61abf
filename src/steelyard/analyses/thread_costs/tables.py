"""The cost of threads, as tables: a line for each curve, and a line for each number of threads."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from steelyard.analyses.thread_costs.model import ThreadCurve, ThreadPoint
from steelyard.base.units import format_bytes, format_count_rate
from steelyard.render.table import NOTHING, Table, number, plain_lines, without_empty
from steelyard.rows.labels import Fact, Facts, Labels, count_fact, differing, labels_of, param_facts

_EXPLAINED = (
    "calls per second of all threads; kept: the fraction of its rate that each thread keeps, 1 if threads do "
    "not slow each other, 1/T if T threads take turns"
)
_FAIR = "; max/min: the rate of the first thread to finish over that of the last"
_SCATTER = "; scatter: the standard deviation of all threads' own times over their mean"
_EPOCH = ("sync", "complete")  # named once if all that have epochs have the same
LAYOUT = ("windows", "channel")  # what threads share, or each have for themselves


def thread_tables(curves: Sequence[ThreadCurve]) -> tuple[Table, ...]:
    """Make a line for each curve, for its most threads; none without curves."""
    if not curves:
        return ()
    labels = labels_of(
        [{**facts, **_threads_fact(one)} for one, facts in zip(curves, _facts(curves), strict=True)]
    )
    return (
        without_empty(
            Table(
                title="what threads cost",
                explained=_explained_words(curves, labels),
                columns=(
                    *(axis.column for axis in labels.varying),
                    number("rate"),
                    number("kept", strong=True),
                    *map(number, ("interval", "max/min", "scatter")),
                ),
                lines=plain_lines((*labels.cells(i), *_last_cells(one)) for i, one in enumerate(curves)),
                grouped=len(labels.varying) - 1,
            )
        ),
    )


def all_threads_table(curves: Sequence[ThreadCurve]) -> Table:
    """Make a line for each number of threads of each curve."""
    labels = thread_labels(curves)
    return without_empty(
        Table(
            title="all numbers of threads",
            explained="max/min, half done: of the rank whose threads differ most; half done: the time until "
            "half of them were done over that until the last was; slowest to scatter: of each thread's own "
            "rate, from its first call to its last",
            columns=(
                *(axis.column for axis in labels.varying),
                *map(number, ("threads", "rate", "interval")),
                number("kept", strong=True),
                *map(number, ("interval", "max/min", "interval", "half done")),
                *map(number, ("slowest", "fastest", "ratio", "interval", "scatter", "interval")),
            ),
            lines=plain_lines(
                (*labels.cells(i), *_cells(point)) for i, one in enumerate(curves) for point in one.points
            ),
            grouped=len(labels.varying),
        )
    )


def thread_labels(curves: Sequence[ThreadCurve]) -> Labels:
    """Find what curves have in common, and what distinguishes them."""
    return labels_of(_facts(curves))


def _facts(curves: Sequence[ThreadCurve]) -> list[Facts]:
    told = differing((curve.op, curve.params) for curve in curves)
    return [_own_facts(curve, told) for curve in curves]


def _own_facts(curve: ThreadCurve, told: Collection[str]) -> Facts:
    size = format_bytes(curve.bytes)
    return {
        "mpi": Fact("MPI", curve.mpi, curve.mpi),
        "ranks": count_fact("rank", curve.ranks),
        "op": Fact("op", curve.op, curve.op),
        "bytes": Fact("bytes", size, size),
        **param_facts({name: value for name, value in curve.params.items() if name in told}),
        "method": Fact("method", curve.method, f"method {curve.method}", is_usual=True),
    }


def _threads_fact(curve: ThreadCurve) -> Facts:
    """Say from how many threads to how many; a start of one thread is not mentioned."""
    first, last = curve.points[0].threads, curve.points[-1].threads
    span = str(last) if first == 1 else f"{first} to {last}"
    return {"threads": Fact("threads", span, f"{span} threads")}


def _explained_words(curves: Sequence[ThreadCurve], labels: Labels) -> str:
    """Explain the numbers, and what all curves have in common."""
    fair = any(point.fairness is not None for curve in curves for point in curve.points)
    told = {axis.key for axis in labels.varying}
    epochs = [
        str(value)
        for name in _EPOCH
        if f"param {name}" not in told
        for value in dict.fromkeys(curve.params[name] for curve in curves if name in curve.params)
    ]
    common = (*labels.common.values(), *epochs)
    each = any(point.thread_scatter is not None for curve in curves for point in curve.points)
    return (
        _EXPLAINED
        + (_FAIR if fair else "")
        + (_SCATTER if each else "")
        + (f"; {', '.join(common)}" if common else "")
    )


def _last_cells(curve: ThreadCurve) -> tuple[str, ...]:
    last = curve.points[-1]
    kept = _interval(last.kept_low, last.kept_high)
    return (
        format_count_rate(last.rate),
        f"{last.kept:.2g}",
        kept,
        _ratio(last.fairness),
        _share(last.thread_scatter),
    )


def _cells(point: ThreadPoint) -> tuple[str, ...]:
    return (
        str(point.threads),
        format_count_rate(point.rate),
        _rate_interval(point),
        f"{point.kept:.2g}",
        _interval(point.kept_low, point.kept_high),
        _ratio(point.fairness),
        _interval(_inverse(point.fairness_high), _inverse(point.fairness_low)),
        NOTHING if point.half_done is None else f"{point.half_done:.2f}",
        *(NOTHING if rate is None else format_count_rate(rate) for rate in _ends(point.thread_rates)),
        NOTHING if point.thread_ratio is None else f"{point.thread_ratio:.2f}",
        _interval(point.thread_ratio_low, point.thread_ratio_high),
        _share(point.thread_scatter),
        _interval(point.thread_scatter_low, point.thread_scatter_high),
    )


def _ends(rates: Sequence[float] | None) -> tuple[float | None, float | None]:
    return (min(rates), max(rates)) if rates else (None, None)


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2g}"


def _rate_interval(point: ThreadPoint) -> str:
    if point.rate_low is None or point.rate_high is None:
        return NOTHING
    return f"{format_count_rate(point.rate_low)} – {format_count_rate(point.rate_high)}"


def _inverse(value: float | None) -> float | None:
    return 1.0 / value if value else None


def _ratio(fairness: float | None) -> str:
    """Divide the fastest rate of threads by the slowest."""
    return f"{1.0 / fairness:.2f}" if fairness else NOTHING


def _interval(low: float | None, high: float | None) -> str:
    return NOTHING if low is None or high is None else f"{low:.2g} – {high:.2g}"

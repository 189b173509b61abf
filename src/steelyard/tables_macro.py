"""Micro against macro, and scaling, as cells of tables: for a terminal and for the report alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.macro import (
    AGREES,
    CANNOT_TELL,
    DISAGREES,
    PINGPONG,
    STREAM,
    Agreement,
    Figure,
    Line,
    Macro,
    Prediction,
)
from steelyard.overlap import Span
from steelyard.scaling import OTHER, WEAK, Curve, Fit, ScalingPoint, Term
from steelyard.units import format_bytes, format_time, format_values

_TOLD = ("class", "backend")  # of a kernel's parameters


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of texts. The first `words` columns are words, the others numbers; `notes` stand below."""

    title: str
    explained: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    words: int = 1
    notes: tuple[str, ...] = ()


def macro_sheets(macro: Macro) -> tuple[Sheet, ...]:
    """The table of tests and MPIs, the models, the predictions and the verdicts; none without tests."""
    if not macro.lines:
        return ()
    sheets = [_tests(macro)]
    if macro.models:
        sheets.append(_models(macro))
    if macro.predictions:
        sheets.append(_predictions(macro.predictions))
    if macro.agreements:
        sheets.append(_agreements(macro.agreements))
    return tuple(sheets)


def _tests(macro: Macro) -> Sheet:
    """A line for each test, a column for each MPI, and the best."""
    names = _Names(macro.lines)
    mpis = list(dict.fromkeys(one.mpi for line in macro.lines for one in line.figures if one.mpi))
    has_tcp = any(line.tcp for line in macro.lines)
    lines = []
    for line in macro.lines:
        by_mpi = {one.mpi: one for one in line.figures}
        cells = [_figure_words(by_mpi.get(mpi)) for mpi in mpis]
        tcp = [_figure_words(line.tcp)] if has_tcp else []
        lines.append((names(line), line.unit, *tcp, *cells, best_words(line)))
    return Sheet(
        title=_titled("micro against macro", names),
        explained="the median over launches and its interval; best: the MPI with the least time, and those "
        "that a rank test over launches does not tell from it (Mann-Whitney, exact; Holm over pairs; 5 %)",
        columns=("test", "unit", *(["raw TCP"] if has_tcp else []), *mpis, "best"),
        lines=tuple(lines),
        notes=macro.notes,
    )


def best_words(line: Line) -> str:
    """The best MPI, `a or b` where a test does not tell them apart, `tie` where it tells none."""
    if not line.best:
        return ""
    if len(line.best) == len(line.figures):
        return "tie" if line.tells else "tie (few launches)"
    return " or ".join(line.best)


class _Names:
    """How lines of kernels are told apart: by what differs among them. `common` is what does not."""

    def __init__(self, items: Sequence[Line | Prediction | Agreement]) -> None:
        kernels = [one for one in items if not (isinstance(one, Line) and one.test in (PINGPONG, STREAM))]
        axes = [self._axes(one) for one in kernels]
        self._varying = {name for axis in axes for name in axis if len({one.get(name) for one in axes}) > 1}
        backends: dict[str, set[str]] = {}
        for one, axis in zip(kernels, axes, strict=True):
            backends.setdefault(_kernel(one), set()).add(axis["backend"])
        if all(len(words) == 1 for words in backends.values()):
            self._varying.discard("backend")  # each kernel has its own: its name says it
        shared = (word for name, word in (axes[0] if axes else {}).items() if name not in self._varying)
        self.common = ", ".join(word for word in shared if word and not word.startswith("backend"))

    @staticmethod
    def _axes(one: Line | Prediction | Agreement) -> dict[str, str]:
        told = {key: format_values({key: one.params[key]}) if key in one.params else "" for key in _TOLD}
        threads = f"{one.threads} threads" if one.threads > 1 else ""
        return {**told, "ranks": f"{one.ranks} rank{'' if one.ranks == 1 else 's'}", "threads": threads}

    def __call__(self, one: Line | Prediction | Agreement) -> str:
        """`ping-pong 8 B`, `npb.cg`, `npb.cg class=S`."""
        if isinstance(one, Line) and one.test in (PINGPONG, STREAM):
            return f"{one.test} {format_bytes(one.bytes)}"
        words = (word for name, word in self._axes(one).items() if name in self._varying)
        return " ".join(word for word in (_kernel(one), *words) if word)


def _kernel(one: Line | Prediction | Agreement) -> str:
    return one.test if isinstance(one, Line) else one.kernel


def _figure_words(figure: Figure | None) -> str:
    """`1.23 ±4 %`: the unit stands in a column of its own."""
    if figure is None:
        return "–"
    value = f"{figure.value:.3g}" if figure.value < 1000 else f"{figure.value:.0f}"
    if figure.low is None or figure.high is None or not figure.value:
        return value
    half = 50 * (figure.high - figure.low) / figure.value
    return f"{value} " + ("±>10x" if half >= 1000 else f"±{half:.0f} %" if half >= 10 else f"±{half:.2g} %")


def _models(macro: Macro) -> Sheet:
    """A line for each protocol of each MPI."""
    lines = []
    for model in macro.models:
        for i, piece in enumerate(model.pieces):
            words = (
                "" if i else model.mpi,
                f"from {format_bytes(piece.least)}",
                *_time_cells(piece.start),
                f"{piece.gap.value:.3g}",
                _number_interval(piece.gap),
                "" if i else f"{100 * model.missed:.0f} %",
            )
            lines.append(words)
    return Sheet(
        title="LogGP of each MPI",
        explained="a message of s bytes takes L + 2 o + s G; a new line where the protocol changes; from "
        "ping-pong, fitted to each launch by itself",
        columns=("MPI", "messages", "L + 2 o", "interval", "G, ns/byte", "interval", "off by, at most"),
        lines=tuple(lines),
        words=2,
    )


def _predictions(predictions: Sequence[Prediction]) -> Sheet:
    """What messages would take, and what communication took."""
    names = _Names(predictions)
    return Sheet(
        title=_titled("communication predicted from messages", names),
        explained="messages x (L + 2 o) + bytes x G, a collective as log2 P rounds, per repetition and rank, "
        "against the time in phases that communicate, waiting included; the total is that and the "
        "computation, the median over MPIs; ratios are predicted / measured",
        columns=("kernel", "MPI", "predicted", "measured", "ratio", "interval", "total ratio", "interval"),
        lines=tuple(
            (
                names(one),
                one.mpi,
                format_time(one.predicted.value),
                format_time(one.communication.value),
                f"{one.ratio.value:.2g}",
                _number_interval(one.ratio),
                f"{one.total_ratio.value:.2g}",
                _number_interval(one.total_ratio),
            )
            for one in predictions
        ),
        words=2,
    )


def _agreements(agreements: Sequence[Agreement]) -> Sheet:
    """A line for each kernel, a column for each figure."""
    names = _Names(agreements)
    figures = list(dict.fromkeys(one.figure for one in agreements))
    kernels: dict[str, dict[str, Agreement]] = {}
    for one in agreements:
        kernels.setdefault(names(one), {})[one.figure] = one
    return Sheet(
        title=_titled("would messages have named the best MPI", names),
        explained="agrees: an MPI is best by both; Kendall's tau of the two orders, and its exact p where "
        "there are three MPIs or more",
        columns=("kernel", *figures),
        lines=tuple(
            (words, *(_agreement_words(by_figure.get(figure)) for figure in figures))
            for words, by_figure in kernels.items()
        ),
        notes=tuple(_score_words(figure, agreements) for figure in figures),
    )


def _score_words(figure: str, agreements: Sequence[Agreement]) -> str:
    """`latency: agrees with 3 of 8 kernels, disagrees with 2, cannot tell of 3`."""
    verdicts = [one.verdict for one in agreements if one.figure == figure]
    agree, disagree, open_ = (verdicts.count(word) for word in (AGREES, DISAGREES, CANNOT_TELL))
    noun = "kernel" if len(verdicts) == 1 else "kernels"
    counted = f"agrees with {agree} of {len(verdicts)} {noun}, disagrees with {disagree}"
    return f"{figure}: {counted}, cannot tell of {open_}"


def _titled(title: str, names: _Names) -> str:
    """With what all kernels of a table share."""
    return f"{title} ({names.common})" if names.common else title


def _agreement_words(one: Agreement | None) -> str:
    if one is None:
        return "–"
    p = "" if one.p is None else f", p {one.p:.2g}"
    return f"{one.verdict} (tau {one.tau:+.2g}{p})"


def _time_cells(span: Span) -> tuple[str, str]:
    if span.low is None or span.high is None:
        return format_time(span.value), "–"
    return format_time(span.value), f"{format_time(span.low)} – {format_time(span.high)}"


def _number_interval(span: Span) -> str:
    if span.low is None or span.high is None:
        return "–"
    return f"{span.low:.3g} to {span.high:.3g}"


def scaling_sheets(curves: Sequence[Curve]) -> tuple[Sheet, ...]:
    """A line for each count of each curve, and a line for each fitted model."""
    if not curves:
        return ()
    names = curve_names(curves)
    points = tuple(
        (
            "" if i else name,
            _on_words(curve, point),
            format_time(point.time.value),
            f"{point.speedup.value:.3g}",
            _number_interval(point.speedup),
            f"{point.efficiency.value:.3g}",
            _number_interval(point.efficiency),
        )
        for name, curve in zip(names, curves, strict=True)
        for i, point in enumerate(curve.points)
    )
    fits = tuple(
        (name, fit.name, _fit_words(fit), "exact" if fit.is_exact else f"{100 * fit.missed:.1f} %")
        for name, curve in zip(names, curves, strict=True)
        for fit in curve.fits
    )
    scaling = Sheet(
        title="scaling",
        explained="speed-up and efficiency against the fewest ranks or threads; weak scaling by the rate, so "
        "that the work need not grow exactly as they do; intervals are those of ratios inside launches",
        columns=("what", "on", "time", "speed-up", "interval", "efficiency", "interval"),
        lines=points,
        words=2,
    )
    models = Sheet(
        title="models of scaling",
        explained="fitted to each launch by itself, with the interval over launches; off by: the greatest "
        "relative distance of a median from its model; exact: as many counts as factors, "
        "so that nothing checks it",
        columns=("what", "model", "parameters", "off by, at most"),
        lines=fits,
        words=3,
    )
    return (scaling, models) if fits else (scaling,)


def curve_names(curves: Sequence[Curve]) -> tuple[str, ...]:
    """`npb.cg class=S, openmpi-4.1.4, strong`: each with what differs among them."""
    axes = [
        {
            "op": curve.op,
            **{name: format_values({name: curve.params[name]}) for name in _TOLD if name in curve.params},
            "mpi": curve.mpi or "no MPI",
            "fixed": f"{curve.fixed} {OTHER[curve.axis]}" if curve.fixed > 1 else "",
            "kind": curve.kind,
            "axis": f"over {curve.axis}",
        }
        for curve in curves
    ]
    varying = {name for axis in axes for name in axis if len({one.get(name) for one in axes}) > 1} | {"kind"}
    told = {(axis["op"], axis.get("backend")) for axis in axes}
    if len(told) == len({op for op, _ in told}):
        varying.discard("backend")  # each kernel has its own: its name says it
    return tuple(
        ", ".join(word for name, word in axis.items() if word and (name == "op" or name in varying))
        for axis in axes
    )


def _on_words(curve: Curve, point: ScalingPoint) -> str:
    noun = curve.axis if point.count != 1 else curve.axis.removesuffix("s")
    return f"{point.count} {noun}" + (f", class {point.size}" if curve.kind == WEAK else "")


def _fit_words(fit: Fit) -> str:
    """`serial fraction 0.031 (0.02 to 0.04); each doubling adds 3.1 us (2.9 us to 3.3 us)`."""
    return "; ".join(_term_words(one) for one in fit.terms)


def _term_words(one: Term) -> str:
    def words(value: float) -> str:
        return format_time(value) if one.is_time else f"{value:.3g}"

    if one.span.low is None or one.span.high is None:
        return f"{one.name} {words(one.span.value)}"
    return f"{one.name} {words(one.span.value)} ({words(one.span.low)} to {words(one.span.high)})"

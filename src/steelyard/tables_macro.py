"""Micro against macro, and scaling, as cells of tables: for a terminal and for the report alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.macro import STREAM, Agreement, Figure, Line, Macro, Prediction
from steelyard.overlap import Span
from steelyard.records import Params
from steelyard.scaling import Curve, Fit
from steelyard.units import format_bytes, format_half_width, format_time, format_values

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
    mpis = list(dict.fromkeys(one.mpi for line in macro.lines for one in line.figures if one.mpi))
    has_tcp = any(line.tcp for line in macro.lines)
    lines = []
    for line in macro.lines:
        by_mpi = {one.mpi: one for one in line.figures}
        cells = [_figure_words(by_mpi.get(mpi)) for mpi in mpis]
        tcp = [_figure_words(line.tcp)] if has_tcp else []
        lines.append((_test_words(line), line.unit, *tcp, *cells, best_words(line)))
    return Sheet(
        title="micro against macro",
        explained="the median over launches and its interval; best: the MPI with the least time, and "
        "those that "
        "a rank test over launches does not tell from it (Mann-Whitney, exact; Holm over pairs; 5 %)",
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


def _test_words(line: Line) -> str:
    size = f" {format_bytes(line.bytes)}" if line.bytes or line.test == STREAM else ""
    return f"{line.test}{size}{_team_words(line.params, line.ranks, line.threads)}"


def _team_words(params: Params, ranks: int, threads: int) -> str:
    """What tells lines of one kernel apart: ` class=S backend=blocking, 2 ranks of 4 threads`."""
    told = format_values({key: value for key, value in params.items() if key in _TOLD})
    team = f"{ranks} rank{'' if ranks == 1 else 's'}" + (f" of {threads} threads" if threads > 1 else "")
    return f" {told}, {team}" if told else f", {team}" if ranks != 2 or threads > 1 else ""


def _figure_words(figure: Figure | None) -> str:
    """`1.23 ±4 %`: the unit stands in a column of its own."""
    if figure is None:
        return "–"
    value = f"{figure.value:.3g}" if figure.value < 1000 else f"{figure.value:.0f}"
    if figure.low is None or figure.high is None:
        return value
    return f"{value} {_wide(format_half_width(figure.value, figure.low, figure.high))}"


def _wide(half_width: str) -> str:
    """An interval wider than ten times its value says no more than that."""
    number = half_width.strip("±% ")
    return half_width if number != "∞" and float(number) < 1000 else "±>10x"


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
        "ping-pong, "
        "fitted to each launch by itself",
        columns=("MPI", "messages", "L + 2 o", "interval", "G, ns/byte", "interval", "off by, at most"),
        lines=tuple(lines),
        words=2,
    )


def _predictions(predictions: Sequence[Prediction]) -> Sheet:
    """What messages would take, and what communication took."""
    return Sheet(
        title="communication predicted from messages",
        explained="messages x (L + 2 o) + bytes x G, a collective as log2 P rounds, per repetition and "
        "rank, against "
        "the time in phases that communicate, waiting included; ratios are predicted / measured; the total "
        "is that and the computation, the median over MPIs",
        columns=("kernel", "MPI", "predicted", "measured", "ratio", "interval", "total ratio", "interval"),
        lines=tuple(
            (
                f"{one.kernel}{_team_words(one.params, one.ranks, one.threads)}",
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
    figures = list(dict.fromkeys(one.figure for one in agreements))
    kernels: dict[str, dict[str, Agreement]] = {}
    for one in agreements:
        words = f"{one.kernel}{_team_words(one.params, one.ranks, one.threads)}"
        kernels.setdefault(words, {})[one.figure] = one
    return Sheet(
        title="would messages have named the best MPI?",
        explained="agrees: an MPI is best by both; Kendall's tau of the two orders, and its exact p "
        "where there are "
        "three MPIs or more",
        columns=("kernel", *figures),
        lines=tuple(
            (words, *(_agreement_words(by_figure.get(figure)) for figure in figures))
            for words, by_figure in kernels.items()
        ),
    )


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
    points = tuple(
        (
            "" if i else curve_words(curve),
            _on_words(curve, point.count),
            format_time(point.time.value),
            f"{point.speedup.value:.3g}",
            _number_interval(point.speedup),
            f"{point.efficiency.value:.3g}",
            _number_interval(point.efficiency),
        )
        for curve in curves
        for i, point in enumerate(curve.points)
    )
    fits = tuple(
        (curve_words(curve), fit.name, _fit_words(fit), f"{100 * fit.missed:.1f} %")
        for curve in curves
        for fit in curve.fits
    )
    sheets = [
        Sheet(
            title="scaling",
            explained="speed-up and efficiency against the fewest ranks or threads; weak scaling by the "
            "rate, so "
            "that the work need not grow exactly as they do; intervals are those of ratios inside launches",
            columns=("what", "on", "time", "speed-up", "interval", "efficiency", "interval"),
            lines=points,
            words=2,
        )
    ]
    if fits:
        sheets.append(
            Sheet(
                title="models of scaling",
                explained="fitted to each launch by itself, with the interval over launches; off by: the "
                "greatest "
                "relative distance of a median from its model",
                columns=("what", "model", "parameters", "off by, at most"),
                lines=fits,
                words=3,
            )
        )
    return tuple(sheets)


def curve_words(curve: Curve) -> str:
    """`npb.cg class=S backend=blocking, openmpi-4.1.4, strong over ranks`."""
    told = format_values({key: value for key, value in curve.params.items() if key in _TOLD})
    fixed = f"{curve.fixed} {'threads' if curve.axis == 'ranks' else 'ranks'}" if curve.fixed > 1 else ""
    words = (f"{curve.op} {told}".rstrip(), curve.mpi, fixed, f"{curve.kind} over {curve.axis}")
    return ", ".join(word for word in words if word)


def _on_words(curve: Curve, count: int) -> str:
    noun = curve.axis if count != 1 else curve.axis.removesuffix("s")
    size = next(point.size for point in curve.points if point.count == count)
    return f"{count} {noun}" + (f", class {size}" if curve.kind == "weak" else "")


def _fit_words(fit: Fit) -> str:
    """`serial fraction 0.031 (0.02 to 0.04)`; exact models say that nothing checks them."""
    words = []
    for one in fit.terms:
        value = format_time(one.span.value) if one.is_time else f"{one.span.value:.3g}"
        ends = (one.span.low, one.span.high)
        if ends[0] is None or ends[1] is None:
            words.append(f"{one.name} {value}")
        elif one.is_time:
            words.append(f"{one.name} {value} ({format_time(ends[0])} to {format_time(ends[1])})")
        else:
            words.append(f"{one.name} {value} ({ends[0]:.3g} to {ends[1]:.3g})")
    return "; ".join(words) + ("; as many counts as parameters: nothing checks it" if fit.is_exact else "")

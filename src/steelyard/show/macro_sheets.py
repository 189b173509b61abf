"""Micro against macro, and scaling, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.base.units import format_bytes, format_time
from steelyard.models.micro_macro import (
    AGREES,
    CANNOT_TELL,
    DISAGREES,
    PINGPONG,
    STREAM,
    Agreement,
    Macro,
    MacroTest,
    Prediction,
    TestValue,
)
from steelyard.models.scaling import OTHER, WEAK, Fit, ScalingCurve, ScalingPoint, Term
from steelyard.records.fields import Params
from steelyard.show.labels import Fact, Facts, VaryingFact, count_fact, differing, labels_of, param_facts
from steelyard.show.log_sheets import log_sheet, number_interval
from steelyard.show.sheet import NOTHING, Sheet, number, plain_lines, words

_TOLD = ("class", "backend")  # parameters of a kernel that are shown
BACKEND = "param backend"
RAW_TCP = "raw TCP"
MOST_BESIDE = 3  # values of a test that fit side by side


def macro_sheets(macro: Macro) -> tuple[Sheet, ...]:
    """Make the tables of tests, models, predictions and verdicts; none without tests."""
    if not macro.lines:
        return ()
    sheets = [_tests(macro)]
    if macro.models:
        sheets.append(log_sheet(macro.models))
    if macro.predictions:
        sheets.append(_predictions(macro.predictions))
    if macro.agreements:
        sheets.append(_agreements(macro.agreements))
    return tuple(sheets)


def _tests(macro: Macro) -> Sheet:
    """Make a line for each test, with a column for each MPI and the best; if MPIs are many, a
    line for each.
    """
    names = _Names(macro.lines)
    mpis = list(dict.fromkeys(one.mpi for line in macro.lines for one in line.figures if one.mpi))
    arms = [*([RAW_TCP] if any(line.tcp for line in macro.lines) else []), *mpis]
    is_listed = len(arms) > MOST_BESIDE
    lines: list[tuple[str, ...]] = []
    for line in macro.lines:
        values = {RAW_TCP: line.tcp, **{one.mpi or "": one for one in line.figures}}
        first = (names(line), line.unit)
        if is_listed:
            told = [(arm, _figure_words(value)) for arm in arms if (value := values.get(arm)) is not None]
            lines += [(*first, *one, "best" if one[0] in line.best else "") for one in told]
        else:
            lines.append((*first, *(_figure_words(values.get(arm)) for arm in arms), best_words(line)))
    return Sheet(
        title=_titled("micro against macro", names),
        explained="the median over launches and its interval; best: the MPI with the least time, and those "
        "that swaps of whole launches cannot distinguish from it (all lines together; pairs of MPIs "
        "share the 5 % by Bonferroni)",
        columns=(
            words("test"),
            words("unit"),
            *((words("MPI"), number("median")) if is_listed else map(number, arms)),
            words("best"),
        ),
        lines=plain_lines(lines),
        notes=macro.notes,
        grouped=2 if is_listed else 0,
    )


def best_words(line: MacroTest) -> str:
    """Name the best MPI: `a or b` if a test does not distinguish them, `tie` if it distinguishes none."""
    if not line.best:
        return ""
    if len(line.best) == len(line.figures):
        return "tie" if line.tells else "tie (few launches)"
    return " or ".join(line.best)


class _Names:
    """Names of kernels by what differs among them; `common` is what they share."""

    def __init__(self, items: Sequence[MacroTest | Prediction | Agreement]) -> None:
        kernels = [one for one in items if not _is_message(one)]
        facts = [_kernel_facts(_kernel(one), one.params, one.ranks, one.threads) for one in kernels]
        labels = labels_of(facts)
        self._names = {id(one): kernel_name(labels.varying, i, _kernel(one)) for i, one in enumerate(kernels)}
        self.common = ", ".join(said for key, said in labels.common.items() if key != BACKEND)

    def __call__(self, one: MacroTest | Prediction | Agreement) -> str:
        """`ping-pong 8 B`, `npb.cg`, `npb.cg class=S`."""
        if isinstance(one, MacroTest) and _is_message(one):
            return f"{one.test} {format_bytes(one.bytes)}"
        return self._names[id(one)]


def _is_message(one: MacroTest | Prediction | Agreement) -> bool:
    return isinstance(one, MacroTest) and one.test in (PINGPONG, STREAM)


def _kernel_facts(kernel: str, params: Params, ranks: int, threads: int) -> Facts:
    told = param_facts({key: params[key] for key in _TOLD if key in params})
    teams = {"ranks": count_fact("rank", ranks), "threads": count_fact("thread", threads)}
    return {"op": Fact("kernel", kernel, "", is_usual=True), **told, **teams}


def kernel_name(varying: Sequence[VaryingFact], i: int, kernel: str) -> str:
    """`npb.cg class=S`: a kernel with what distinguishes it; a backend only if a kernel has several."""
    told = [axis.facts[i].said for axis in varying if axis.key not in ("op", BACKEND)]
    backends = next((axis for axis in varying if axis.key == BACKEND), None)
    ops = next((axis.facts for axis in varying if axis.key == "op"), None)
    if backends and len({*zip(ops or backends.facts, backends.facts, strict=True)}) > len({*(ops or ())}):
        told.append(backends.facts[i].said)
    return " ".join(word for word in (kernel, *told) if word)


def _kernel(one: MacroTest | Prediction | Agreement) -> str:
    return one.test if isinstance(one, MacroTest) else one.kernel


def _figure_words(figure: TestValue | None) -> str:
    """`1.23 ±4 %`: the unit is in a column of its own."""
    if figure is None:
        return NOTHING
    value = f"{figure.value:.3g}" if figure.value < 1000 else f"{figure.value:.0f}"
    if figure.low is None or figure.high is None or not figure.value:
        return value
    half = 50 * (figure.high - figure.low) / figure.value
    return f"{value} " + ("± > 10x" if half >= 1000 else f"±{half:.0f} %" if half >= 10 else f"±{half:.2g} %")


def _predictions(predictions: Sequence[Prediction]) -> Sheet:
    """Compare the predicted time of messages with the measured time of communication."""
    names = _Names(predictions)
    return Sheet(
        title=_titled("communication predicted from messages", names),
        explained="predicted: messages x (L + 2 o) + bytes x G per repetition and rank, collectives log2 P "
        "rounds; measured: the time in phases that communicate, with waiting; total: with computation, "
        "the median over MPIs; ratios are predicted / measured",
        columns=(
            words("kernel"),
            words("MPI"),
            *map(number, ("predicted", "measured", "ratio", "interval", "total ratio", "interval")),
        ),
        lines=plain_lines(
            (
                names(one),
                one.mpi,
                format_time(one.predicted.value),
                format_time(one.communication.value),
                f"{one.ratio.value:.2g}",
                number_interval(one.ratio),
                f"{one.total_ratio.value:.2g}",
                number_interval(one.total_ratio),
            )
            for one in predictions
        ),
        grouped=1,
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
        explained="agrees: the same MPI is best by both; Kendall's tau of the two orders, with its exact p "
        "from three MPIs on",
        columns=(words("kernel"), *map(words, figures)),
        lines=plain_lines(
            (kernel, *(_agreement_words(by_figure.get(figure)) for figure in figures))
            for kernel, by_figure in kernels.items()
        ),
        notes=tuple(_score_words(figure, agreements) for figure in figures),
    )


def _score_words(figure: str, agreements: Sequence[Agreement]) -> str:
    """`latency: agrees with 3 of 8 kernels, disagrees with 2, undecided for 3`."""
    verdicts = [one.verdict for one in agreements if one.figure == figure]
    agree, disagree, open_ = (verdicts.count(word) for word in (AGREES, DISAGREES, CANNOT_TELL))
    noun = "kernel" if len(verdicts) == 1 else "kernels"
    counted = f"agrees with {agree} of {len(verdicts)} {noun}, disagrees with {disagree}"
    return f"{figure}: {counted}, undecided for {open_}"


def _titled(title: str, names: _Names) -> str:
    """Add to a title what all kernels of a table share."""
    return f"{title} ({names.common})" if names.common else title


def _agreement_words(one: Agreement | None) -> str:
    if one is None:
        return NOTHING
    p = "" if one.p is None else f" (p {one.p:.2g})"
    return f"{one.verdict} {one.tau:+.2g}{p}"


def scaling_sheets(curves: Sequence[ScalingCurve]) -> tuple[Sheet, ...]:
    """Make a line for each count of each curve, and a line for each fitted model."""
    if not curves:
        return ()
    names = curve_names(curves)
    points = tuple(
        (
            name,
            _on_words(curve, point),
            format_time(point.time.value),
            f"{point.speedup.value:.3g}",
            number_interval(point.speedup),
            f"{point.efficiency.value:.3g}",
            number_interval(point.efficiency),
        )
        for name, curve in zip(names, curves, strict=True)
        for point in curve.points
    )
    fits = tuple(
        (name, fit.name, _fit_words(fit), "exact" if fit.is_exact else f"{100 * fit.missed:.1f} %")
        for name, curve in zip(names, curves, strict=True)
        for fit in curve.fits
    )
    scaling = Sheet(
        title="scaling",
        explained="speed-up and efficiency against the fewest ranks or threads; weak scaling compares rates, "
        "because work need not grow exactly as ranks do; intervals are those of ratios inside launches",
        columns=(
            words("what"),
            words("on"),
            *map(number, ("time", "speed-up", "interval", "efficiency", "interval")),
        ),
        lines=plain_lines(points),
        grouped=1,
    )
    models = Sheet(
        title="models of scaling",
        explained="fitted to each launch by itself, with the interval over launches; fit error: the greatest "
        "relative distance of a median from its model; exact: as many factors as counts, so the fit is not "
        "checked",
        columns=(*map(words, ("what", "model", "parameters")), number("fit error, at most")),
        lines=plain_lines(fits),
        grouped=1,
    )
    return (scaling, models) if fits else (scaling,)


def curve_names(curves: Sequence[ScalingCurve]) -> tuple[str, ...]:
    """`npb.cg class=S, openmpi-4.1.4, strong`: each with what differs among them, and its kind."""
    told = sorted(differing((one.op, one.params) for one in curves) - {*_TOLD})
    facts = [
        {
            **_kernel_facts(curve.op, curve.params, 1, 1),
            **param_facts({key: curve.params[key] for key in told if key in curve.params}),
            "mpi": Fact("MPI", curve.mpi or "", curve.mpi or "no MPI"),
            "fixed": count_fact(OTHER[curve.axis].removesuffix("s"), curve.fixed),
            "axis": Fact("axis", curve.axis, f"over {curve.axis}"),
        }
        for curve in curves
    ]
    varying = labels_of(facts).varying
    kernel_keys = ("op", *(f"param {key}" for key in _TOLD))
    others = [axis for axis in varying if axis.key not in kernel_keys]
    return tuple(
        ", ".join(
            (
                kernel_name([axis for axis in varying if axis.key in kernel_keys], i, curve.op),
                *(axis.facts[i].said for axis in others if axis.facts[i].said),
                curve.kind,
            )
        )
        for i, curve in enumerate(curves)
    )


def _on_words(curve: ScalingCurve, point: ScalingPoint) -> str:
    noun = curve.axis if point.count != 1 else curve.axis.removesuffix("s")
    return f"{point.count} {noun}" + (f", class {point.size}" if curve.kind == WEAK and point.size else "")


def _fit_words(fit: Fit) -> str:
    """`serial fraction 0.031 (0.02 to 0.04); each doubling adds 3.1 us (2.9 us to 3.3 us)`."""
    return "; ".join(_term_words(one) for one in fit.terms)


def _term_words(one: Term) -> str:
    def words(value: float) -> str:
        return format_time(value) if one.is_time else f"{value:.3g}"

    if one.span.low is None or one.span.high is None:
        return f"{one.name} {words(one.span.value)}"
    return f"{one.name} {words(one.span.value)} ({words(one.span.low)} to {words(one.span.high)})"

"""Speed-up and efficiency over ranks and threads, and models of them, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.scaling.model import OTHER, SERIAL, WEAK, Fit, ScalingCurve, ScalingPoint, Term
from steelyard.base.units import format_time
from steelyard.render.table import Table, number, plain_lines, words
from steelyard.rows.kernel_names import KERNEL_PARAMS, kernel_facts, kernel_name
from steelyard.rows.labels import Fact, count_fact, differing, labels_of, param_facts
from steelyard.rows.words import number_interval


def scaling_tables(curves: Sequence[ScalingCurve]) -> tuple[Table, ...]:
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
    scaling = Table(
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
    models = Table(
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
    told = sorted(differing((curve.op, curve.params) for curve in curves) - {*KERNEL_PARAMS})
    facts = [
        {
            **kernel_facts(curve.op, curve.params, 1, 1),
            **param_facts({key: curve.params[key] for key in told if key in curve.params}),
            "mpi": Fact("MPI", curve.mpi or "", curve.mpi or "no MPI"),
            "fixed": count_fact(OTHER[curve.axis].removesuffix("s"), curve.fixed),
            "axis": Fact("axis", curve.axis, f"over {curve.axis}"),
        }
        for curve in curves
    ]
    varying = labels_of(facts).varying
    kernel_keys = ("op", *(f"param {key}" for key in KERNEL_PARAMS))
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
    return "; ".join(_term_words(term) for term in fit.terms)


def _term_words(term: Term) -> str:
    def words(value: float) -> str:
        return format_time(value) if term.is_time else f"{value:.3g}"

    low, high = term.span.low, term.span.high
    interval = "" if low is None or high is None else f" ({words(low)} to {words(high)})"
    is_slower = term.name == SERIAL and (term.span.value if low is None else low) > 1
    return f"{term.name} {words(term.span.value)}{interval}{', no speed-up' if is_slower else ''}"

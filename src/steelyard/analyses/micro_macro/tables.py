"""Micro against macro as tables: tests, predictions, and whether both name the same MPI."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.answer_words import sure_words
from steelyard.analyses.best_arms import AGREES, CANNOT_TELL, DISAGREES
from steelyard.analyses.loggp.tables import log_table
from steelyard.analyses.micro_macro.model import (
    PINGPONG,
    STREAM,
    Agreement,
    Macro,
    MacroTest,
    Prediction,
    TestValue,
)
from steelyard.base.units import format_bytes, format_time
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.rows.kernel_names import BACKEND, kernel_facts, kernel_name
from steelyard.rows.labels import labels_of
from steelyard.rows.words import number_interval

RAW_TCP = "raw TCP"
MOST_BESIDE = 3  # values of a test that fit side by side


def macro_tables(macro: Macro) -> tuple[Table, ...]:
    """Make the tables of tests, models, predictions and verdicts; none without tests."""
    if not macro.lines:
        return ()
    tables = [_tests(macro)]
    if macro.models:
        tables.append(log_table(macro.models))
    if macro.predictions:
        tables.append(_predictions(macro.predictions))
    if macro.agreements:
        tables.append(_agreements(macro.agreements))
    return tuple(tables)


def _tests(macro: Macro) -> Table:
    """Make a line for each test, with a column for each MPI and the best; if MPIs are many, a
    line for each.
    """
    names = _Names(macro.lines)
    mpis = list(dict.fromkeys(figure.mpi for line in macro.lines for figure in line.figures if figure.mpi))
    arms = [*([RAW_TCP] if any(line.tcp for line in macro.lines) else []), *mpis]
    is_listed = len(arms) > MOST_BESIDE
    lines: list[tuple[str, ...]] = []
    for line in macro.lines:
        values = {RAW_TCP: line.tcp, **{figure.mpi or "": figure for figure in line.figures}}
        first = (names(line), line.unit)
        if is_listed:
            told = [(arm, _figure_words(value)) for arm in arms if (value := values.get(arm)) is not None]
            lines += [(*first, *one, "best" if one[0] in line.best else "") for one in told]
        else:
            lines.append((*first, *(_figure_words(values.get(arm)) for arm in arms), best_words(line)))
    return Table(
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
        kernels = [item for item in items if not _is_message(item)]
        facts = [
            kernel_facts(_kernel(kernel), kernel.params, kernel.ranks, kernel.threads) for kernel in kernels
        ]
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


def _predictions(predictions: Sequence[Prediction]) -> Table:
    """Compare the predicted time of messages with the measured time of communication."""
    names = _Names(predictions)
    return Table(
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
                names(prediction),
                prediction.mpi,
                sure_words(prediction.predicted, format_time),
                sure_words(prediction.communication, format_time),
                f"{prediction.ratio.value:.2g}",
                number_interval(prediction.ratio),
                f"{prediction.total_ratio.value:.2g}",
                number_interval(prediction.total_ratio),
            )
            for prediction in predictions
        ),
        grouped=1,
    )


def _agreements(agreements: Sequence[Agreement]) -> Table:
    """A line for each kernel, a column for each figure."""
    names = _Names(agreements)
    figures = list(dict.fromkeys(agreement.figure for agreement in agreements))
    kernels: dict[str, dict[str, Agreement]] = {}
    for agreement in agreements:
        kernels.setdefault(names(agreement), {})[agreement.figure] = agreement
    return Table(
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
    verdicts = [agreement.verdict for agreement in agreements if agreement.figure == figure]
    agree, disagree, open_ = (verdicts.count(word) for word in (AGREES, DISAGREES, CANNOT_TELL))
    noun = "kernel" if len(verdicts) == 1 else "kernels"
    counted = f"agrees with {agree} of {len(verdicts)} {noun}, disagrees with {disagree}"
    return f"{figure}: {counted}, undecided for {open_}"


def _titled(title: str, names: _Names) -> str:
    """Add to a title what all kernels of a table share."""
    return f"{title} ({names.common})" if names.common else title


def _agreement_words(agreement: Agreement | None) -> str:
    if agreement is None:
        return NOTHING
    p = "" if agreement.p is None else f" (p {agreement.p:.2g})"
    return f"{agreement.verdict} {agreement.tau:+.2g}{p}"

"""What layers cost, in a sentence for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from steelyard.analyses.answer_words import each_alone, of_mpi, span_words
from steelyard.analyses.layers.model import (
    CANNOT_TELL,
    COSTS,
    ENGINE,
    LAYERS,
    NOT_IN,
    NOT_SEEN,
    SAVES,
    LayerCost,
)
from steelyard.base.plural import counted
from steelyard.base.units import format_bytes, format_time
from steelyard.records.campaign_file import WRAPPER
from steelyard.results.row import Row
from steelyard.stats import Interval

_MOST = 3  # test cases that a sentence names
# Layer -> its words; `{}` is the last part of its value.
_NAMES = {
    "LD_PRELOAD": "The preloaded library {}",
    "LD_AUDIT": "The auditing library {}",
    "OMP_TOOL": "The interface for tools of OpenMP",
    "OMP_TOOL_LIBRARIES": "The tool {} of OpenMP",
    "OMPI_MCA_mpi_param_check": "The check of arguments",
    "OMPI_MCA_pml_monitoring_enable": "The count of messages",
    "OMPI_MCA_mpi_ft_enable": "Readiness for the death of ranks",
    "MPIR_CVAR_ERROR_CHECKING": "The check of arguments",
    WRAPPER: "The wrapper {}",
    ENGINE: "The engine {}",
}


def has_layer(row: Row) -> bool:
    """Is it a row that sets a layer, or sets that it has none?"""
    return any(layer in row.env for layer in LAYERS)


def layer_answers(costs: Sequence[LayerCost]) -> Iterator[str]:
    """`The check of arguments of Open MPI 4.1.4 adds 12 ns (10 ns to 15 ns) to mpi.pingpong 8 B.`"""
    by_layer: dict[tuple[str, str, str | None], list[LayerCost]] = {}
    for cost in costs:
        by_layer.setdefault((cost.layer, cost.value, cost.mpi), []).append(cost)
    for (layer, value, mpi), cases in by_layer.items():
        word = value.split()[0] if layer == WRAPPER else value  # the program, of a command
        judged = sum(cost.verdict not in (CANNOT_TELL, NOT_IN) for cost in cases)
        who = f"{_NAMES[layer].format(PurePath(word).name)}{of_mpi(mpi)}"
        yield f"{who}{_cost_words(cases)}{each_alone(judged)}."


def _cost_words(costs: Sequence[LayerCost]) -> str:
    by_verdict = {verdict: [cost for cost in costs if cost.verdict == verdict] for verdict in _SAID}
    parts = [words(cases) for verdict, words in _SAID.items() if (cases := by_verdict[verdict])]
    return ";".join(parts)


def _adds(costs: Sequence[LayerCost]) -> str:
    sentences = ", ".join(
        f"{span_words(cost.cost, format_time)} to {_case(cost, costs)}" for cost in costs[:_MOST]
    )
    return f" adds {sentences}{_more(costs)}"


def _saves(costs: Sequence[LayerCost]) -> str:
    sentences = ", ".join(
        f"{span_words(_negative(cost.cost), format_time)} of {_case(cost, costs)}" for cost in costs[:_MOST]
    )
    return f" saves {sentences}{_more(costs)}"


def _negative(span: Interval) -> Interval:
    if span.low is None or span.high is None:
        return Interval(-span.value, None, None)
    return Interval(-span.value, -span.high, -span.low)


def _unseen(costs: Sequence[LayerCost]) -> str:
    """The end of the interval is what the layer costs at most."""
    sentences = ", ".join(
        f"{_case(cost, costs)} (at most {format_time(cost.cost.high or 0.0)})" for cost in costs[:_MOST]
    )
    return f" is not seen in {sentences}{_more(costs)}"


def _untold(costs: Sequence[LayerCost]) -> str:
    return f": one launch cannot tell what it adds to {counted(len(costs), 'test case')}"


def _not_in(_: Sequence[LayerCost]) -> str:
    return " was not put in: the library does not know the variable, or has another value for it"


def _more(costs: Sequence[LayerCost]) -> str:
    return f" and {len(costs) - _MOST} more" if len(costs) > _MOST else ""


def _case(cost: LayerCost, among: Sequence[LayerCost]) -> str:
    size = f" {format_bytes(cost.bytes)}" if cost.sized else ""
    team = f" on {counted(cost.ranks, 'rank')}" if len({one.ranks for one in among}) > 1 else ""
    return f"{cost.op}{size}{team}"


_SAID = {COSTS: _adds, SAVES: _saves, NOT_SEEN: _unseen, CANNOT_TELL: _untold, NOT_IN: _not_in}

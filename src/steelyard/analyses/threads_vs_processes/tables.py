"""Threads or processes: rates of streams of messages between the same number of cores, and their ratios."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.ranking.model import OPTIONS
from steelyard.analyses.threads_vs_processes.model import Stream
from steelyard.base.units import format_bytes, format_count_rate, format_ratio
from steelyard.render.table import NOTHING, Line, Table, number, remark, words
from steelyard.rows.labels import Fact, Facts, labels_of, param_facts

_EXPLAINED = (
    "messages per second of all pairs of cores; ratio: over the rate of two-sided calls of processes on as "
    "many cores (base), below 1 is slower; the interval is over pairs of launches"
)
_TOLD = (*OPTIONS, "target", "channel", "who")  # parameters whose words distinguish ways
_EPOCH = ("sync", "complete")  # named once if all that have epochs have the same


def stream_tables(found: Sequence[Stream]) -> tuple[Table, ...]:
    """Make a line for each way to move the same messages, in groups of as many cores; none
    without threads.
    """
    if not found:
        return ()
    things = labels_of([_thing_facts(one) for one in found])
    names = [name for name in _TOLD if len(_values(found, name)) > 1]
    ways = labels_of([param_facts({name: one.params.get(name, "") for name in names}) for one in found])
    epochs = [value for name in _EPOCH if name not in names for value in _values(found, name)]
    common = ", ".join((*things.common.values(), *epochs))
    return (
        Table(
            title="threads or processes",
            explained=f"{_EXPLAINED}; {common}" if common else _EXPLAINED,
            columns=(
                *(axis.column for axis in things.varying),
                words("op"),
                words("ranks x threads"),
                *(axis.column for axis in ways.varying),
                number("rate"),
                number("ratio", strong=True),
                number("interval"),
                remark(),
            ),
            lines=tuple(
                Line(
                    (
                        *things.cells(i),
                        one.op,
                        f"{one.ranks} x {one.threads}",
                        *ways.cells(i),
                        format_count_rate(one.rate),
                        format_ratio(one.ratio),
                        _interval_words(one),
                        _verdict(one),
                    )
                )
                for i, one in enumerate(found)
            ),
            grouped=len(things.varying),
        ),
    )


def _thing_facts(one: Stream) -> Facts:
    size = format_bytes(one.bytes)
    return {
        "mpi": Fact("MPI", one.mpi, one.mpi),
        "bytes": Fact("bytes", size, size),
        "flight": Fact("in flight", str(one.in_flight), f"{one.in_flight} in flight"),
        "cores": Fact("cores", str(one.against), f"{one.against} cores"),
    }


def _values(found: Sequence[Stream], name: str) -> list[str]:
    """List the words of a parameter among the streams that have it."""
    return list(
        dict.fromkeys(str(one.params[name]) for one in found if isinstance(one.params.get(name), str))
    )


def _interval_words(one: Stream) -> str:
    if one.low is None or one.high is None:
        return NOTHING
    return f"{format_ratio(one.low)} – {format_ratio(one.high)}"


def _verdict(one: Stream) -> str:
    """Say whether the interval is above or below 1; nothing if it holds 1."""
    if one.is_base:
        return "base"
    if one.low is None or one.high is None or one.low <= 1 <= one.high:
        return ""
    return "slower" if one.high < 1 else "faster"

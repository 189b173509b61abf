"""Threads or processes: rates of streams of messages between the same number of cores, and their ratios."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.threads_vs_processes.model import Stream
from steelyard.base.units import format_bytes, format_count_rate, format_ratio
from steelyard.render.table import NOTHING, Line, Table, number, remark, words
from steelyard.results.row_kinds import CALL_OPTIONS
from steelyard.rows.labels import Fact, Facts, labels_of, param_facts

_EXPLAINED = (
    "messages per second of all pairs of cores; ratio: over the rate of two-sided calls of processes on as "
    "many cores (base), below 1 is slower; the interval is over pairs of launches"
)
_TOLD = (*CALL_OPTIONS, "target", "channel", "who")  # parameters whose words distinguish ways
_EPOCH = ("sync", "complete")  # named once if all that have epochs have the same


def stream_tables(streams: Sequence[Stream]) -> tuple[Table, ...]:
    """Make a line for each way to move the same messages, in groups of as many cores; none
    without threads.
    """
    if not streams:
        return ()
    things = labels_of([_thing_facts(stream) for stream in streams])
    names = [name for name in _TOLD if len(_values(streams, name)) > 1]
    ways = labels_of(
        [param_facts({name: stream.params.get(name, "") for name in names}) for stream in streams]
    )
    epochs = [value for name in _EPOCH if name not in names for value in _values(streams, name)]
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
                for i, one in enumerate(streams)
            ),
            grouped=len(things.varying),
        ),
    )


def _thing_facts(stream: Stream) -> Facts:
    size = format_bytes(stream.bytes)
    return {
        "mpi": Fact("MPI", stream.mpi, stream.mpi),
        "bytes": Fact("bytes", size, size),
        "flight": Fact("in flight", str(stream.in_flight), f"{stream.in_flight} in flight"),
        "cores": Fact("cores", str(stream.against), f"{stream.against} cores"),
    }


def _values(streams: Sequence[Stream], name: str) -> list[str]:
    """List the words of a parameter among the streams that have it."""
    return list(
        dict.fromkeys(
            str(stream.params[name]) for stream in streams if isinstance(stream.params.get(name), str)
        )
    )


def _interval_words(stream: Stream) -> str:
    if stream.low is None or stream.high is None:
        return NOTHING
    return f"{format_ratio(stream.low)} – {format_ratio(stream.high)}"


def _verdict(stream: Stream) -> str:
    """Say whether the interval is above or below 1; nothing if it holds 1."""
    if stream.is_base:
        return "base"
    if stream.low is None or stream.high is None or stream.low <= 1 <= stream.high:
        return ""
    return "slower" if stream.high < 1 else "faster"

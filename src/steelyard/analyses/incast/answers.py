"""What many senders to one reach, in a sentence for each way and size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.answer_words import is_certain, span_words
from steelyard.analyses.incast.model import COLLAPSES, HOLDS, INCAST_OPS, Incast
from steelyard.base.units import format_bytes, format_rate
from steelyard.results.row import Row
from steelyard.rows.op_facts import mpi_words

_FROM_ONE = "mpi.pattern.fan_out"


def is_incast(row: Row) -> bool:
    """Is it one of many to one, or of one to many?"""
    return row.base in INCAST_OPS


def incast_answers(curves: Sequence[Incast]) -> Iterator[str]:
    """`1 to 15 senders of 64 KiB to one, Open MPI 4.1.4: up to 1.17 GB/s, with 7, and the rate holds.`"""
    for incast in curves:
        many = "receivers of" if incast.op == _FROM_ONE else "senders of"
        numbers = f"{incast.numbers[0].senders} to {incast.numbers[-1].senders}"
        end = "from one" if incast.op == _FROM_ONE else "to one"
        mpi = f", {mpi_words(incast.mpi)}" if incast.mpi else ""
        yield f"{numbers} {many} {format_bytes(incast.bytes)} {end}{mpi}: {_said(incast)}."


def _said(incast: Incast) -> str:
    sure = [senders for senders in incast.numbers if is_certain(senders.rate)]
    best = max(sure, key=lambda senders: senders.rate.value, default=None)
    line = f", {100 * best.of_line:.3g} % of the line" if best and best.of_line else ""
    reached = f"up to {format_rate(best.rate.value)}, with {best.senders}{line}; " if best else ""
    last = incast.numbers[-1]
    if incast.verdict == COLLAPSES and last.relative:
        share = span_words(last.relative, lambda value: f"{100 * value:.0f} %")
        return f"{reached}that of {last.senders} collapses to {share} of the best of fewer"
    if incast.verdict == HOLDS:
        return f"{reached}the rate holds"
    return f"{reached}cannot tell whether the rate of {last.senders} holds, without more launches"

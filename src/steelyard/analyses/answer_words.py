"""Words that the answers of several analyses share, and when a number is certain enough to be told."""

from __future__ import annotations

import math
from collections.abc import Callable

from steelyard.results.row import half_of
from steelyard.rows.op_facts import mpi_words
from steelyard.rows.rivals import MOST, ratio_words
from steelyard.rows.row_words import NOISY
from steelyard.rows.words import BEYOND
from steelyard.stats import Interval


def is_certain(span: Interval | None) -> bool:
    """Is the interval no wider than `NOISY`, as those of rows that are told?"""
    half = None if span is None else half_of(span.value, span.low, span.high)
    return half is not None and half <= NOISY


def is_certain_ratio(span: Interval | None) -> bool:
    """Is the interval narrower than what the ratio claims: `NOISY`, or half the difference to 1?"""
    if span is None or span.low is None or span.high is None or min(span.low, span.value) <= 0:
        return False
    half = max(math.log(span.high / span.value), math.log(span.value / span.low))
    return half <= max(math.log1p(NOISY), abs(math.log(span.value)) / 2)


def span_words(span: Interval, words: Callable[[float], str] = ratio_words) -> str:
    """`12 ns (10 ns to 15 ns)`; a value alone without an interval."""
    if span.low is None or span.high is None:
        return words(span.value)
    return f"{words(span.value)} ({words(span.low)} to {words(span.high)})"


def sure_words(span: Interval, words: Callable[[float], str]) -> str:
    """`12 ns`; its interval alone, `5 ns – 30 ns`, where that is wide; a sign beyond tenfold."""
    if span.low is None or span.high is None or is_certain(span):
        return words(span.value)
    if span.high > MOST * span.value:
        return BEYOND
    return f"{words(span.low)} – {words(span.high)}"


def each_alone(cases: int) -> str:
    """`, each by its own 95 % interval`, where a sentence judges several cases; nothing of one."""
    return ", each by its own 95 % interval" if cases > 1 else ""


def of_mpi(mpi: str | None) -> str:
    """` of Open MPI 4.1.4`; nothing without an MPI."""
    return f" of {mpi_words(mpi)}" if mpi else ""

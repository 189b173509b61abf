"""Matrices of patterns: the time of each rank with each rank that it calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.base.units import format_bytes, format_values
from steelyard.records.kinds import PATTERN
from steelyard.results.facets import Messages, Ranks
from steelyard.results.hosts import hosts_of_ranks
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row
from steelyard.stats.arrays import FloatArray

# Parameters of a pair, a shift, a round: each value gives other cells of one matrix.
OWN_PARAMS = ("a", "b", "d", "round")


LEAST_CELLS = 3  # in a matrix that deserves a picture


@dataclass(frozen=True, slots=True)
class Matrix:
    """`ns[a, b]`: the time of rank a with rank b that it calls, NaN if there is none.

    `hosts` are those of the ranks, if each has one of its own.
    """

    title: str
    ns: FloatArray
    hosts: tuple[str, ...] = ()


def matrices(rows: Sequence[Row]) -> tuple[Matrix, ...]:
    """Make matrices of patterns: shifts by each d, pairs of ranks a and b, or rounds.

    In a shift by d each rank a calls rank a + d, and its own median is the cell (a, a + d): all pairs of a
    shift communicate at once. In a pair only the two do. In a round each rank is in one pair: if messages are
    timed one by one, their median is the cell, whichever rank sent them.
    """
    cells: dict[RowKey, tuple[Row, FloatArray]] = {}
    for row in rows:
        is_pair, is_shift = {"a", "b"} <= row.params.keys(), "d" in row.params
        is_round = "round" in row.params
        if (
            row.role != PATTERN
            or not (is_pair or is_shift or is_round)
            or row.status != "ok"
            or row.time is None
        ):
            continue
        key = key_of(row, [f"param.{name}" for name in OWN_PARAMS])
        _, ns = cells.setdefault(key, (row, np.full((row.ranks, row.ranks), np.nan)))
        if is_pair:
            ns[int(row.params["a"]) % row.ranks, int(row.params["b"]) % row.ranks] = row.time
        elif is_round:
            for pair in row.get(Messages).pairs:
                ns[pair.low, pair.high] = ns[pair.high, pair.low] = pair.median
        elif len(row.get(Ranks).rank_medians) == row.ranks:
            callers = np.arange(row.ranks)
            ns[callers, (callers + int(row.params["d"])) % row.ranks] = row.get(Ranks).rank_medians
    return tuple(
        Matrix(_matrix_title(row), ns, hosts_of_ranks(row))
        for row, ns in cells.values()
        if np.isfinite(ns).sum() >= LEAST_CELLS
    )


def _matrix_title(row: Row) -> str:
    rest = format_values({key: value for key, value in row.params.items() if key not in OWN_PARAMS})
    return f"{row.op}, {row.method}, {format_bytes(row.bytes)}, {row.ranks} ranks, {row.mpi}: {rest}"

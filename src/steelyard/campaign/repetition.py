"""How long a repetition of an op may last: a guess within a factor of three or so, before it is measured."""

from __future__ import annotations

import math

from steelyard.engines.description import Op, Work
from steelyard.records.campaign_file import PlannedPoint

# Operations a second of a core, as an op counts its work: a modest one of 2022. Others: floating-point sums.
_OPERATIONS_PER_S = {
    "npb.ep": 1.2e8,  # random numbers
    "npb.is": 1.4e8,  # keys
    "npb.cg": 6e8,
    "npb.ft": 2.5e9,
    "npb.mg": 3e9,
    "npb.sp": 5e9,
    "npb.bt": 8e9,
    "npb.lu": 1e10,
    "app.hpccg": 7e8,
    "app.minife": 7e8,
    "app.minimd": 2e6,  # steps of an atom
}
_USUAL_PER_S = 1e9
# Bytes a second: of a copy by one core, of messages between two ranks, of all ranks of a collective.
_BYTES_PER_S = {"local": 1e10, "p2p": 4e9, "collective": 2e9}
SINGLE_MESSAGES = "each"  # the method that times them, between pairs of ranks at once
_MANY = ("window", "calls")  # parameters that count messages in a repetition
_SHORTEST = 1e-7
# What a rank fills its buffers with and compares, a second: bytes that are like no others, and numbers of a
# reduction, one to fill and one of each rank to compare. CPU time of data.c, reduction.c on a 2.1 GHz Xeon.
_CHECKED_BYTES_PER_S = 1.7e9
_CHECKED_NUMBERS_PER_S = 1.3e8
_USUAL_NUMBER_BYTES = 8


def repetition_seconds(point: PlannedPoint, op: Op, cores: int) -> float:
    """Guess the time of a repetition from the work that the engine describes, or from the bytes that move."""
    if op.work is not None:
        return max(_SHORTEST, _work_seconds(point, op, op.work, cores))
    # a window may be a word, too
    many = [row for row in op.params if row.name in _MANY and not row.words]
    parts = [float(point.params.get(row.name, row.default)) for row in many]
    moved = point.bytes * math.prod(parts) * _parties(point, op)
    return max(_SHORTEST, moved / _BYTES_PER_S[op.class_])


def check_seconds(point: PlannedPoint, op: Op, each: float) -> float:
    """Guess the time of a check of the answer: buffers are filled, a repetition runs, all bytes are compared.

    `each` is the time of the repetition.
    """
    if op.work is not None:
        return each
    if any(row.name == "operator" for row in op.params):
        parties = point.ranks if op.class_ == "collective" else 2
        return each + point.bytes / _number_bytes(point, op) * (1 + parties) / _CHECKED_NUMBERS_PER_S
    return each + point.bytes * _parties(point, op) / _CHECKED_BYTES_PER_S


def _number_bytes(point: PlannedPoint, op: Op) -> int:
    """The bytes of a number of a reduction."""
    for row in op.params:
        word = str(point.params.get(row.name, row.default))
        if row.word_bytes and word in row.words:
            return row.word_bytes[row.words.index(word)] or _USUAL_NUMBER_BYTES
    return _USUAL_NUMBER_BYTES


def _parties(point: PlannedPoint, op: Op) -> int:
    """Count the ranks whose bytes a rank has: all in a collective."""
    return 1 if op.class_ != "collective" or point.method == SINGLE_MESSAGES else point.ranks


def _work_seconds(point: PlannedPoint, op: Op, work: Work, cores: int) -> float:
    """Divide the work among the cores that do it; ranks without a core of their own take turns."""
    operations: float = work.usual * work.two_ranks ** math.log2(point.ranks)
    for row in op.params:
        value, factors = point.params.get(row.name), work.factors.get(row.name, ())
        if value is None or not factors:
            continue
        if row.words:
            operations *= factors[row.words.index(str(value))] if str(value) in row.words else 1.0
        elif float(row.default) > 0 and float(value) > 0:
            operations *= (float(value) / float(row.default)) ** math.log2(factors[0])
    busy = min(point.ranks * point.threads, max(1, cores))
    return operations / (_OPERATIONS_PER_S.get(op.name, _USUAL_PER_S) * busy)

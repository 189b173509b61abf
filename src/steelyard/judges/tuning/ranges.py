"""Ranges of sizes: what was chosen at some sizes, said of those between them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.base.units import format_bytes
from steelyard.judges.tuning.choices import Choice


class SizeRange(Struct, frozen=True):
    """The bytes `low`..`high`, both within, get `algorithm`; empty for the library's own table."""

    low: int
    high: int
    algorithm: str


Ranges = dict[str, dict[int, tuple[SizeRange, ...]]]  # by collective, then by the number of ranks


def ranges_of(choices: Sequence[Choice]) -> Ranges:
    """Join the choices at neighbouring sizes, those of one MPI.

    Between two measured sizes of unlike choices the border is their geometric mean, where a factor is as
    large to either side. Nothing is said of sizes below the smallest and above the largest. Raises InputError
    for two choices at one size, which no file can tell apart.
    """
    ranges_by: Ranges = {}
    for collective in dict.fromkeys(choice.collective for choice in choices):
        of_this = [choice for choice in choices if choice.collective == collective]
        ranges_by[collective] = {
            ranks: _joined(
                sorted(
                    (choice for choice in of_this if choice.ranks == ranks), key=lambda choice: choice.bytes
                )
            )
            for ranks in sorted({choice.ranks for choice in of_this})
        }
    return ranges_by


def _joined(sizes: Sequence[Choice]) -> tuple[SizeRange, ...]:
    ranges = [SizeRange(sizes[0].bytes, sizes[0].bytes, sizes[0].algorithm)]
    for choice in sizes[1:]:
        last = ranges[-1]
        if choice.bytes == last.high:
            raise InputError(
                f"the sweep has mpi.{choice.collective} of {format_bytes(choice.bytes)} on {choice.ranks} "
                "ranks more than once, and no file can tell these test cases apart; measure one of them"
            )
        if choice.algorithm == last.algorithm:
            ranges[-1] = SizeRange(last.low, choice.bytes, last.algorithm)
        else:
            border = math.isqrt(max(last.high, 1) * choice.bytes)
            ranges[-1] = SizeRange(last.low, border, last.algorithm)
            ranges.append(SizeRange(border + 1, choice.bytes, choice.algorithm))
    return tuple(ranges)

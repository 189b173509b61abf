"""The values of nights: a number for each test case and night, less modes and what all have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.nights.store import Pool
from steelyard.records.kinds import INSTRUMENT, SHARED_MEMORY
from steelyard.results.row import Row
from steelyard.stats.swaps import GAPS, LEAST_IN_MODE, mode_parts

FloatArray = NDArray[np.float64]

LEAST_CONTROLS = 3  # of which a median is taken: one or two would add their own noise to all others
_RARE = 0.01  # probability below which it is odd that all of a night's launches are in one mode


@dataclass(frozen=True, slots=True)
class Levels:
    """`values`: (n, P), logarithms, nan where a night lacks a test case; `common`: (n,), what was taken off.

    `modes`: (P,); `odd`: (P,), words where tonight's launches are all in a mode that was rare before.
    """

    values: FloatArray
    common: FloatArray | None
    modes: NDArray[np.int64]
    odd: tuple[str, ...]


def levels_of(pool: Pool) -> Levels:
    """The night values of a pool: medians over launches of their logarithms."""
    found = [night_values(_launches(rows)) for rows in pool.cases]
    values = np.stack([one for one, _, _ in found], axis=1)
    controls = [j for j, rows in enumerate(pool.cases) if rows[-1] and _is_control(rows[-1])]
    common = None
    if LEAST_CONTROLS <= len(controls) < len(pool.cases):
        own = values[:, controls]
        with np.errstate(all="ignore"):
            common = np.nan_to_num(np.nanmedian(own - np.nanmedian(own, axis=0), axis=1))
        others = [j for j in range(len(pool.cases)) if j not in controls]
        values[:, others] -= common[:, None]
    return Levels(values, common, np.array([modes for _, modes, _ in found]), tuple(odd for *_, odd in found))


def _is_control(row: Row) -> bool:
    """No MPI, no network and no other library takes part in it: what it shows is the machine."""
    return row.role == INSTRUMENT or (row.layer == SHARED_MEMORY and row.transport is None)


def _launches(rows: Sequence[Row | None]) -> FloatArray:
    """Logarithms of launch medians, (n, most launches), nan beyond those that a night has."""
    each = [
        [math.log(one.median) for one in row.launches if one.median and one.median > 0] if row else []
        for row in rows
    ]
    table = np.full((len(each), max(map(len, each), default=0) or 1), np.nan)
    for night, values in enumerate(each):
        table[night, : len(values)] = values
    return table


def night_values(launches: FloatArray) -> tuple[FloatArray, int, str]:
    """A value for each night, (n,), how many modes launches have, and whether tonight's are oddly in one.

    launches: (n, m), logarithms. Gaps above a ratio of 1.25 in all launches of all nights part modes. A part
    is a mode where two nights at least have it beside another: what only some nights are is a change.
    """
    flat = launches.ravel()
    night_of = np.repeat(np.arange(launches.shape[0]), launches.shape[1])
    parts = mode_parts(flat, GAPS[-1])
    members = [set(night_of[part].tolist()) for part in parts]
    several = {night for night in range(launches.shape[0]) if sum(night in nights for nights in members) > 1}
    modes = [
        part
        for part, nights in zip(parts, members, strict=True)
        if part.size >= LEAST_IN_MODE and len(nights & several) > 1
    ]
    if len(modes) < 2:
        return _medians(launches), 1, ""
    middles = np.array([np.median(flat[part]) for part in modes])
    left = flat.copy()
    for part in parts:
        left[part] -= middles[np.argmin(np.abs(middles - np.median(flat[part])))]
    return _medians(left.reshape(launches.shape)), len(modes), _odd(launches, middles)


def _medians(launches: FloatArray) -> FloatArray:
    known = np.isfinite(launches).any(axis=1)
    values = np.full(launches.shape[0], np.nan)
    values[known] = np.nanmedian(launches[known], axis=1)
    return values


def _odd(launches: FloatArray, middles: FloatArray) -> str:
    """Words where all launches of tonight are in a mode of which there were few before."""
    near = np.argmin(np.abs(launches[..., None] - middles), axis=-1)
    known = np.isfinite(launches)
    tonight = set(near[-1][known[-1]].tolist())
    before = near[:-1][known[:-1]]
    if len(tonight) != 1 or not before.size:
        return ""
    share = float((before == tonight.pop()).mean())
    if share ** int(known[-1].sum()) > _RARE:
        return ""
    return f"all launches are in a mode that {100 * share:.0f} % were in before"
